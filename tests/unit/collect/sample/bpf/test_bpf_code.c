/* Unwind rows and maps in the kernel (collect/sample/stacks/code_loader.h): stored in maps like the maps of the eBPF
 * programs, and looked up as these programs do (collect/sample/bpf/programs/sample.bpf.h). */
#include <bpf/bpf.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include "collect/sample/bpf/access.h"
#include "collect/sample/bpf/code.h"
#include "collect/sample/bpf/programs/shared.h"
#include "support/alloc_fail.h"

enum { FEW_CHUNKS = 4, PROCESSES = 64, SLOT_BYTES = 8, CHUNK_BYTES = CODE_CHUNK_SLOTS * SLOT_BYTES, LOOK_UPS = 5000 };

struct world {
	struct bpf_code_maps maps;
	struct code_loader *loader;
	const struct walk_code *codes;
	const uint64_t *chunks[FEW_CHUNKS];
};

static struct unwind_table *libc, *linker;
static struct unwind_table large; /* more rows than fit into a chunk */

/* --- set-up --- */

static struct unwind_table *table_of(const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	struct elf_file *file = elf_file_open(fd, path, NULL);
	assert_non_null(file);
	close(fd);
	struct unwind_table *table = unwind_table_new(file, NULL);
	assert_non_null(table);
	elf_file_free(file);
	return table;
}

/* Makes rows and pages with the layout of unwind_table_new. */
static void make_large(void)
{
	enum { ROWS = CODE_CHUNK_SLOTS + CODE_CHUNK_SLOTS / 2, SHIFT = 8 };
	large = (struct unwind_table){ .base = 0x400000, .row_count = ROWS, .page_shift = SHIFT };
	large.rows = calloc(ROWS, sizeof(*large.rows));
	uint32_t pc = 0;
	for (uint32_t i = 0; i < ROWS; i++, pc += 1 + (uint32_t)rand() % 100)
		large.rows[i] = (struct unwind_row){ .pc = pc,
						     .cfa = (int16_t)rand(),
						     .kind = (uint8_t)(i + 1 < ROWS ? UNWIND_SP : UNWIND_NO_RULE) };
	large.text_size = large.rows[ROWS - 1].pc;
	large.page_count = (large.rows[ROWS - 1].pc >> SHIFT) + 1;
	large.pages = calloc(large.page_count + (size_t)1, sizeof(*large.pages));
	uint32_t row = 0;
	for (uint32_t page = 0; page < large.page_count; page++) {
		while (row + 1 < ROWS && large.rows[row + 1].pc <= page << SHIFT)
			row++;
		large.pages[page] = row;
	}
	large.pages[large.page_count] = ROWS - 1;
}

static int set_up_tables(void **state)
{
	(void)state;
	srand(1);
	libc = table_of("/lib/x86_64-linux-gnu/libc.so.6");
	linker = table_of("/lib64/ld-linux-x86-64.so.2");
	make_large();
	return 0;
}

static int tear_down_tables(void **state)
{
	(void)state;
	unwind_table_free(libc);
	unwind_table_free(linker);
	free(large.rows);
	free(large.pages);
	return 0;
}

static int make_map(enum bpf_map_type type, uint32_t value_bytes, uint32_t entries, uint32_t flags, int inner)
{
	LIBBPF_OPTS(bpf_map_create_opts, options, .map_flags = flags, .inner_map_fd = (uint32_t)inner);
	int fd = bpf_map_create(type, "test", sizeof(uint32_t), value_bytes, entries, &options);
	assert_true(fd >= 0);
	return fd;
}

static const void *look_into(int fd, size_t bytes)
{
	void *memory = mmap(NULL, bytes, PROT_READ, MAP_SHARED, fd, 0);
	assert_true(memory != MAP_FAILED);
	return memory;
}

static int set_up(void **state)
{
	struct error error = { 0 };
	*state = NULL;
	if (bpf_access(&error) < 0) {
		print_message("skipped: %s\n", error.message);
		return 0;
	}
	struct world *world = calloc(1, sizeof(*world));
	assert_non_null(world);
	world->maps.processes =
		make_map(BPF_MAP_TYPE_HASH, sizeof(struct walk_process), PROCESSES, BPF_F_NO_PREALLOC, 0);
	world->maps.codes = make_map(BPF_MAP_TYPE_ARRAY, sizeof(struct walk_code), WALK_CODES, BPF_F_MMAPABLE, 0);
	world->maps.first_chunk = make_map(BPF_MAP_TYPE_ARRAY, SLOT_BYTES, CODE_CHUNK_SLOTS, BPF_F_MMAPABLE, 0);
	world->maps.chunks =
		make_map(BPF_MAP_TYPE_ARRAY_OF_MAPS, sizeof(uint32_t), FEW_CHUNKS, 0, world->maps.first_chunk);
	world->codes = look_into(world->maps.codes, WALK_CODES * sizeof(struct walk_code));
	world->chunks[0] = look_into(world->maps.first_chunk, CHUNK_BYTES);
	world->loader = bpf_code_loader_new(&world->maps, &error);
	assert_non_null(world->loader);
	*state = world;
	return 0;
}

static int tear_down(void **state)
{
	struct world *world = *state;
	if (!world)
		return 0;
	code_loader_free(world->loader);
	munmap((void *)world->codes, WALK_CODES * sizeof(struct walk_code));
	for (int i = 0; i < FEW_CHUNKS; i++)
		if (world->chunks[i])
			munmap((void *)world->chunks[i], CHUNK_BYTES);
	close(world->maps.processes);
	close(world->maps.codes);
	close(world->maps.first_chunk);
	close(world->maps.chunks);
	free(world);
	return 0;
}

#define WORLD(state) (*(state) ? *(state) : (skip(), NULL)) /* set_up printed the reason */

/* --- lookups as in the eBPF programs --- */

static const uint64_t *slot_at(struct world *world, uint32_t number)
{
	uint32_t chunk = number >> CODE_CHUNK_SHIFT;
	assert_true(chunk < FEW_CHUNKS);
	if (!world->chunks[chunk]) {
		uint32_t id;
		assert_int_equal(bpf_map_lookup_elem(world->maps.chunks, &chunk, &id), 0);
		int fd = bpf_map_get_fd_by_id(id);
		assert_true(fd >= 0);
		world->chunks[chunk] = look_into(fd, CHUNK_BYTES);
		close(fd);
	}
	return &world->chunks[chunk][number & (CODE_CHUNK_SLOTS - 1)];
}

static struct walk_process process_of(const struct world *world, uint32_t pid)
{
	struct walk_process process = { 0 };
	return bpf_map_lookup_elem(world->maps.processes, &pid, &process) == 0 ? process : (struct walk_process){ 0 };
}

static const struct walk_code *find_code(const struct world *world, uint32_t pid, uint64_t pc)
{
	struct walk_process process = process_of(world, pid);
	uint32_t low = process.first, high = process.first + process.count;
	while (low < high) {
		uint32_t middle = low + (high - low) / 2;
		const struct walk_code *code = &world->codes[middle];
		if (pc >= code->start && pc < code->end)
			return code;
		if (pc < code->start)
			high = middle;
		else
			low = middle + 1;
	}
	return NULL;
}

static uint32_t page_start(struct world *world, uint32_t pages, uint32_t page)
{
	return ((const uint32_t *)slot_at(world, pages + page / 2))[page & 1];
}

static const struct unwind_row *find_row(struct world *world, const struct walk_code *code, uint32_t pc)
{
	uint32_t page = pc >> code->page_shift;
	uint32_t low = code->row_count - 1, high = low;
	if (page < code->page_count) {
		low = page_start(world, code->pages, page);
		high = page_start(world, code->pages, page + 1);
	}
	while (low < high) {
		uint32_t middle = low + (high - low + 1) / 2;
		const struct unwind_row *row = (const struct unwind_row *)slot_at(world, code->rows + middle);
		if (row->pc <= pc)
			low = middle;
		else
			high = middle - 1;
	}
	const struct unwind_row *row = (const struct unwind_row *)slot_at(world, code->rows + low);
	return row->pc <= pc ? row : NULL;
}

/* Checks that random pcs of this code have the same rule in the kernel as in its table. */
static void assert_rules(struct world *world, uint32_t pid, const struct backend_code *expected)
{
	for (unsigned i = 0; i < LOOK_UPS; i++) {
		uint64_t random = (uint64_t)rand() << 31 ^ (uint64_t)rand();
		uint64_t pc = i == 0   ? expected->start
			      : i == 1 ? expected->end - 1
				       : expected->start + random % (expected->end - expected->start);
		const struct walk_code *code = find_code(world, pid, pc);
		assert_non_null(code);
		assert_int_equal(code->start, expected->start);
		assert_int_equal(code->end, expected->end);
		assert_int_equal(code->row_count, expected->table ? expected->table->row_count : 0);
		if (!expected->table)
			continue;
		const struct unwind_row *row = find_row(world, code, (uint32_t)(pc - code->base));
		const struct unwind_row *right = unwind_table_row(expected->table, pc - expected->bias);
		bool has_rule = row && row->kind != UNWIND_NO_RULE;
		assert_int_equal(has_rule, right && right->kind != UNWIND_NO_RULE);
		if (has_rule)
			assert_memory_equal(row, right, sizeof(*row));
	}
}

/* Returns the code of a table mapped at `start`, up to the end of its last page. */
static struct backend_code code_of(const struct unwind_table *table, uint64_t start)
{
	uint64_t bias = start - table->base;
	uint64_t bytes = (table->text_size + UINT64_C(0xfff)) & ~UINT64_C(0xfff);
	return (struct backend_code){ .start = start, .end = start + bytes, .bias = bias, .table = table };
}

static void test_rows(void **state)
{
	struct world *world = WORLD(state);
	const struct backend_code code[] = {
		code_of(libc, 0x10000000),
		code_of(linker, 0x20000000),
		{ .start = 0x30000000, .end = 0x30001000 },
	};
	assert_int_equal(code_loader_load(world->loader, 7, code, 3), 0);
	for (int i = 0; i < 3; i++)
		assert_rules(world, 7, &code[i]);
	assert_null(find_code(world, 7, code[0].start - 1));
	assert_null(find_code(world, 7, code[0].end));
	assert_null(find_code(world, 7, 0x30001000));
	assert_null(find_code(world, 8, code[0].start));
	assert_int_equal(code_loader_rows(world->loader), libc->row_count + linker->row_count);
	assert_int_equal(code_loader_index_bytes(world->loader), (libc->page_count + linker->page_count + 2) * 4);
}

static void test_processes(void **state)
{
	struct world *world = WORLD(state);
	uint64_t rows = 0;
	for (uint32_t pid = 1; pid <= 40; pid++) {
		/* Each process has the two files at other addresses. */
		const struct backend_code code[] = {
			code_of(linker, 0x10000000 + pid * UINT64_C(0x1000)),
			code_of(libc, 0x20000000 + pid * UINT64_C(0x3000)),
		};
		assert_int_equal(code_loader_load(world->loader, pid, code + pid % 2, 2 - pid % 2), 0);
		if (pid == 2)
			rows = code_loader_rows(world->loader);
	}
	assert_int_equal(code_loader_rows(world->loader), rows); /* all processes share the rows */
	for (uint32_t pid = 1; pid <= 40; pid++) {
		const struct backend_code code = code_of(libc, 0x20000000 + pid * UINT64_C(0x3000));
		assert_rules(world, pid, &code);
		assert_int_equal(process_of(world, pid).count, 2 - pid % 2);
	}
	/* A process exits. */
	assert_int_equal(code_loader_load(world->loader, 3, NULL, 0), 0);
	assert_int_equal(process_of(world, 3).count, 0);
	assert_int_equal(code_loader_load(world->loader, 3, NULL, 0), 0);
	assert_int_equal(code_loader_load(world->loader, 99, NULL, 0), 0); /* an unknown process */
	const struct backend_code code = code_of(libc, 0x40000000);
	assert_int_equal(code_loader_load(world->loader, 3, &code, 1), 0);
	assert_rules(world, 3, &code);
}

static uint64_t now_ms(void)
{
	struct timespec time;
	clock_gettime(CLOCK_MONOTONIC, &time);
	return (uint64_t)time.tv_sec * 1000 + (uint64_t)time.tv_nsec / 1000000;
}

/* The time for which a replaced run is not reused, as in stacks/code_loader.c. */
enum { QUARANTINE_MS = 2000 };

static void wait_for_quarantine(void)
{
	nanosleep(&(struct timespec){ .tv_sec = QUARANTINE_MS / 1000, .tv_nsec = 10 * 1000 * 1000 }, NULL);
}

/* A walk may still use a run that was replaced. Its memory is therefore not reused for QUARANTINE_MS. */
static void test_quarantine(void **state)
{
	enum { PATIENCE_MS = 10000 };
	struct world *world = WORLD(state);
	const struct backend_code first = code_of(linker, 0x10000000), second = code_of(linker, 0x20000000);
	assert_int_equal(code_loader_load(world->loader, 1, &first, 1), 0);
	uint32_t given_up = process_of(world, 1).first;
	uint64_t start = now_ms();
	assert_int_equal(code_loader_load(world->loader, 1, &second, 1), 0);
	assert_null(find_code(world, 1, first.start));
	assert_rules(world, 1, &second);
	/* No process gets the run before that time, and one gets it afterwards. */
	uint32_t pid = 2;
	for (;; pid++) {
		assert_int_equal(code_loader_load(world->loader, pid % PROCESSES, &first, 1), 0);
		assert_rules(world, pid % PROCESSES, &first);
		if (process_of(world, pid % PROCESSES).first == given_up)
			break;
		assert_int_equal(world->codes[given_up].start, first.start);
		assert_true(now_ms() - start < PATIENCE_MS);
		nanosleep(&(struct timespec){ .tv_nsec = 20 * 1000 * 1000 }, NULL);
	}
	assert_true(now_ms() - start >= QUARANTINE_MS - 1);
}

/* No two processes share a run, whatever is loaded and replaced. */
static void test_runs_do_not_overlap(void **state)
{
	enum { ROUNDS = 600, LIVE = 20, MAPS_MAX = 60 };
	struct world *world = WORLD(state);
	size_t counts[LIVE] = { 0 };
	for (unsigned round = 0; round < ROUNDS; round++) {
		struct backend_code code[MAPS_MAX];
		uint32_t pid = (uint32_t)rand() % LIVE;
		counts[pid] = (size_t)rand() % MAPS_MAX;
		for (uint64_t i = 0; i < counts[pid]; i++)
			code[i] = (struct backend_code){ .start = (pid + 1) << 16 | i << 4,
							 .end = ((pid + 1) << 16 | i << 4) + 8 };
		assert_int_equal(code_loader_load(world->loader, pid, code, counts[pid]), 0);
		if (round == ROUNDS / 2)
			wait_for_quarantine();
		for (uint32_t other = 0; other < LIVE; other++) {
			struct walk_process process = process_of(world, other);
			assert_int_equal(process.count, counts[other]);
			for (uint32_t i = 0; i < process.count; i++)
				assert_int_equal(world->codes[process.first + i].start, (other + 1) << 16 | i << 4);
		}
	}
}

static void test_large_tables(void **state)
{
	struct world *world = WORLD(state);
	const struct backend_code code[] = { code_of(linker, 0x10000000), code_of(&large, 0x20000000),
					     code_of(libc, UINT64_C(0x100000000)) };
	assert_int_equal(code_loader_load(world->loader, 1, code, 3), 0);
	for (int i = 0; i < 3; i++)
		assert_rules(world, 1, &code[i]);
	const struct walk_code *loaded = find_code(world, 1, code[1].start);
	/* Rows around the end of a chunk. */
	for (uint32_t i = 0; i < 100; i++) {
		uint32_t row = CODE_CHUNK_SLOTS - loaded->rows - 50 + i;
		const struct unwind_row *found = find_row(world, loaded, large.rows[row].pc);
		assert_memory_equal(found, &large.rows[row], sizeof(*found));
	}
}

/* --- limits and failures --- */

static void test_no_room_for_rows(void **state)
{
	struct world *world = WORLD(state);
	struct unwind_table more[2] = { large, large };
	const struct backend_code code[] = { code_of(libc, 0x10000000), code_of(&large, 0x20000000),
					     code_of(&more[0], 0x40000000), code_of(&more[1], 0x60000000) };
	/* Four chunks hold two of the large tables. The last table has no rows in the kernel. */
	int result = code_loader_load(world->loader, 1, code, 4);
	assert_true(result == ERROR_LIMIT || result == ERROR_SYSTEM);
	assert_rules(world, 1, &code[0]);
	assert_rules(world, 1, &code[1]);
	assert_int_equal(find_code(world, 1, code[3].start)->row_count, 0);
	/* Another process can still use the rows that are loaded. */
	assert_int_equal(code_loader_load(world->loader, 2, code, 2), 0);
	assert_rules(world, 2, &code[1]);
}

static void test_no_room_for_maps(void **state)
{
	enum { MAPS = WALK_CODES / 4 };
	struct world *world = WORLD(state);
	struct backend_code *code = calloc(WALK_CODES + 1, sizeof(*code));
	assert_non_null(code);
	for (uint64_t i = 0; i <= WALK_CODES; i++)
		code[i] = (struct backend_code){ .start = i << 12, .end = (i + 1) << 12 };
	assert_int_equal(code_loader_load(world->loader, 1, code, WALK_CODES + 1), ERROR_LIMIT);
	for (uint32_t pid = 1; pid <= 4; pid++)
		assert_int_equal(code_loader_load(world->loader, pid, code, MAPS), 0);
	assert_int_equal(code_loader_load(world->loader, 5, code, 1), ERROR_LIMIT);
	assert_int_equal(process_of(world, 5).count, 0);
	assert_int_equal(code_loader_load(world->loader, 4, NULL, 0), 0);
	wait_for_quarantine();
	assert_int_equal(code_loader_load(world->loader, 5, code, MAPS), 0);
	assert_int_equal(find_code(world, 5, (uint64_t)(MAPS - 1) << 12)->start, (uint64_t)(MAPS - 1) << 12);
	free(code);
}

static void test_no_room_for_processes(void **state)
{
	struct world *world = WORLD(state);
	const struct backend_code code = code_of(linker, 0x10000000);
	for (uint32_t pid = 1; pid <= PROCESSES; pid++)
		assert_int_equal(code_loader_load(world->loader, pid, &code, 1), 0);
	assert_true(code_loader_load(world->loader, PROCESSES + 1, &code, 1) < 0);
	assert_rules(world, 1, &code);
	assert_int_equal(code_loader_load(world->loader, 1, NULL, 0), 0);
	assert_int_equal(code_loader_load(world->loader, PROCESSES + 1, &code, 1), 0);
	assert_rules(world, PROCESSES + 1, &code);
}

static void test_out_of_memory(void **state)
{
	struct world *world = WORLD(state);
	struct error error = { 0 };
	ALLOC_FAIL_EACH({
		struct code_loader *loader = bpf_code_loader_new(&world->maps, &error);
		if (!loader)
			assert_int_equal(error.code, ERROR_MEMORY);
		code_loader_free(loader);
	});
	const struct backend_code code[] = { code_of(linker, 0x10000000), code_of(libc, 0x20000000) };
	unsigned number = 0;
	for (bool failed = true; failed;) {
		code_loader_free(world->loader);
		world->loader = bpf_code_loader_new(&world->maps, &error);
		assert_non_null(world->loader);
		alloc_fail_start(++number);
		int result = code_loader_load(world->loader, 1, code, 2);
		failed = alloc_fail_stop();
		assert_int_equal(result, failed ? ERROR_MEMORY : 0);
		/* The next load, with memory, succeeds. */
		assert_int_equal(code_loader_load(world->loader, 1, code, 2), 0);
		assert_rules(world, 1, &code[0]);
		assert_rules(world, 1, &code[1]);
	}
	assert_true(number > 3);
}

/* If the kernel refuses an update, its programs still use the old run, which must not be overwritten. */
static void test_not_taken(void **state)
{
	struct world *world = WORLD(state);
	const struct backend_code first = code_of(linker, 0x10000000), other = code_of(libc, 0x30000000);
	assert_int_equal(code_loader_load(world->loader, 1, &first, 1), 0);
	assert_int_equal(bpf_map_freeze(world->maps.processes), 0);
	for (uint32_t pid = 1; pid <= 2; pid++)
		assert_true(code_loader_load(world->loader, pid, &other, 1) < 0);
	wait_for_quarantine();
	for (uint32_t pid = 2; pid <= 6; pid++)
		assert_true(code_loader_load(world->loader, pid, &other, 1) < 0);
	assert_rules(world, 1, &first);
}

static void test_bad_maps(void **state)
{
	struct world *world = WORLD(state);
	struct error error = { 0 };
	struct bpf_code_maps maps = world->maps;
	maps.codes = -1;
	assert_null(bpf_code_loader_new(&maps, &error));
	assert_int_equal(error.code, ERROR_SYSTEM);
}

int main(void)
{
#define T(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
	const struct CMUnitTest tests[] = {
		T(test_rows),
		T(test_processes),
		T(test_not_taken),
		T(test_quarantine),
		T(test_runs_do_not_overlap),
		T(test_large_tables),
		T(test_no_room_for_rows),
		T(test_no_room_for_maps),
		T(test_no_room_for_processes),
		T(test_out_of_memory),
		T(test_bad_maps),
	};
	return cmocka_run_group_tests_name("bpf_code", tests, set_up_tables, tear_down_tables);
}
