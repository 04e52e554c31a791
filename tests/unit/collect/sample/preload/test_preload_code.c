/* Code tables in the channel (collect/sample/preload/code.h): the content that a walk in the target finds, and its
 * versions. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cmocka.h>

#include "collect/sample/preload/code.h"
#include "support/alloc_fail.h"

enum { PID = 77, SLOT = 5, COUNT_SHIFT = 32 };

static struct channel *channel;
static struct code_loader *loader;

static struct channel_process *find(void *context, uint32_t pid)
{
	assert_ptr_equal(context, &channel);
	return pid == PID ? &channel->processes[SLOT] : NULL;
}

static int set_up(void **state)
{
	struct error error;
	(void)state;
	channel = mmap(NULL, CHANNEL_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	assert_true(channel != MAP_FAILED);
	loader = preload_code_loader_new(channel, find, &channel, &error);
	assert_non_null(loader);
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	code_loader_free(loader);
	return munmap(channel, CHANNEL_BYTES);
}

static const struct walk_code *codes(void)
{
	return (const struct walk_code *)((const uint8_t *)channel + CHANNEL_CODES);
}

static const void *slot_at(uint32_t number)
{
	return (const uint8_t *)channel + CHANNEL_CHUNKS_AT + (uint64_t)number * CODE_SLOT_BYTES;
}

static struct unwind_row rows[] = {
	{ .pc = 0, .cfa = 1, .kind = UNWIND_SP },
	{ .pc = 8, .cfa = 2, .kind = UNWIND_SP },
	{ .pc = 64, .kind = UNWIND_NO_RULE },
};
static uint32_t pages[] = { 0, 2 };
static const struct unwind_table table = {
	.base = 0x1000, .rows = rows, .row_count = 3, .pages = pages, .page_count = 1, .page_shift = 8
};

static struct backend_code code_at(uint64_t start)
{
	return (struct backend_code){ .start = start, .end = start + 64, .bias = start - 0x1000, .table = &table };
}

static void test_found(void **state)
{
	(void)state;
	const struct backend_code code[] = { code_at(0x10000), code_at(0x20000) };
	assert_int_equal(code_loader_load(loader, PID, code, 2), 0);
	uint64_t word = channel->processes[SLOT].code;
	assert_int_equal(word >> COUNT_SHIFT, 2);
	for (uint32_t i = 0; i < 2; i++) {
		const struct walk_code *found = &codes()[(uint32_t)word + i];
		assert_int_equal(found->start, code[i].start);
		assert_int_equal(found->base, code[i].start);
		assert_memory_equal(slot_at(found->rows), rows, sizeof(rows));
		assert_memory_equal(slot_at(found->pages), pages, sizeof(pages));
	}
}

/* Each change makes a new version, which is even after the change. */
static void test_versions(void **state)
{
	(void)state;
	struct channel_process *process = &channel->processes[SLOT];
	const struct backend_code first = code_at(0x10000), second = code_at(0x20000);
	assert_int_equal(code_loader_load(loader, PID, &first, 1), 0);
	uint64_t version = process->code_version, word = process->code;
	assert_true(version > 0 && version % 2 == 0);
	assert_int_equal(code_loader_load(loader, PID, &second, 1), 0);
	assert_int_equal(process->code_version, version + 2);
	/* A walk that still uses the old run finds it unchanged. */
	assert_int_not_equal((uint32_t)process->code, (uint32_t)word);
	assert_int_equal(codes()[(uint32_t)word].start, first.start);
	assert_int_equal(code_loader_load(loader, PID, NULL, 0), 0);
	assert_int_equal(process->code, 0);
	assert_int_equal(process->code_version, version + 4);
	/* A version that the target made odd becomes even with the next change. */
	process->code_version = 7;
	assert_int_equal(code_loader_load(loader, PID, &first, 1), 0);
	assert_int_equal(process->code_version % 2, 0);
	assert_true(process->code_version > 7);
}

static void test_not_connected(void **state)
{
	(void)state;
	const struct backend_code code = code_at(0x10000);
	assert_int_equal(code_loader_load(loader, PID + 1, &code, 1), 0);
	assert_int_equal(code_loader_load(loader, PID + 1, NULL, 0), 0);
	for (size_t i = 0; i < CHANNEL_PROCESSES; i++)
		assert_int_equal(channel->processes[i].code, 0);
}

/* Code with more rows than the channel holds gets none, and nothing is written beyond the channel. */
static void test_full(void **state)
{
	(void)state;
	enum { ROWS = 20 * 1024 * 1024 };
	const struct unwind_table huge = {
		.rows = calloc(ROWS, sizeof(struct unwind_row)), .row_count = ROWS, .pages = pages, .page_count = 1
	};
	assert_non_null(huge.rows);
	const struct backend_code code[] = { code_at(0x10000), { .start = 0x20000, .end = 0x21000, .table = &huge } };
	assert_true(code_loader_load(loader, PID, code, 2) < 0);
	uint64_t word = channel->processes[SLOT].code;
	assert_int_equal(word >> COUNT_SHIFT, 2);
	assert_int_equal(codes()[(uint32_t)word].row_count, 3);
	assert_int_equal(codes()[(uint32_t)word + 1].row_count, 0);
	free(huge.rows);
}

/* Tables with one key are loaded once, wherever they are. */
static void test_keys(void **state)
{
	(void)state;
	struct unwind_table part = table, same = table, other = table;
	part.key = same.key = UINT64_C(1) << 63;
	other.key = part.key + 1;
	const struct unwind_table *const tables[] = { &table, &part, &same, &other };
	struct backend_code code[4];
	for (uint64_t i = 0; i < 4; i++) {
		code[i] = code_at(0x10000 * (i + 1));
		code[i].table = tables[i];
	}
	assert_int_equal(code_loader_load(loader, PID, code, 4), 0);
	assert_int_equal(code_loader_rows(loader), 3 * 3);
	const struct walk_code *found = &codes()[(uint32_t)channel->processes[SLOT].code];
	assert_int_equal(found[1].rows, found[2].rows);
	assert_int_not_equal(found[1].rows, found[3].rows);
}

/* The runs of a process whose code grows are used again together, two seconds after it has left them. */
static void test_runs_are_joined(void **state)
{
	(void)state;
	enum { COUNT = 4000, LONG = 3 * COUNT };
	struct backend_code *code = calloc(LONG, sizeof(*code));
	assert_non_null(code);
	for (uint64_t i = 0; i < LONG; i++)
		code[i] = (struct backend_code){ .start = i * 16, .end = i * 16 + 16 };
	for (int i = 0; i < WALK_CODES / COUNT; i++)
		assert_int_equal(code_loader_load(loader, PID, code, COUNT), 0);
	assert_int_equal(code_loader_load(loader, PID, code, LONG), ERROR_LIMIT);
	sleep(3);
	assert_int_equal(code_loader_load(loader, PID, code, LONG), 0);
	assert_int_equal(channel->processes[SLOT].code >> COUNT_SHIFT, LONG);
	free(code);
}

static void test_out_of_memory(void **state)
{
	(void)state;
	struct error error = { 0 };
	ALLOC_FAIL_EACH({
		struct code_loader *other = preload_code_loader_new(channel, find, &channel, &error);
		if (!other)
			assert_int_equal(error.code, ERROR_MEMORY);
		code_loader_free(other);
	});
}

int main(void)
{
#define T(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
	const struct CMUnitTest tests[] = {
		T(test_found), T(test_versions),        T(test_not_connected), T(test_full),
		T(test_keys),  T(test_runs_are_joined), T(test_out_of_memory),
	};
	return cmocka_run_group_tests_name("preload_code", tests, NULL, NULL);
}
