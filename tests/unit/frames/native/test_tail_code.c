/* Targets of calls, and tail calls, in the code of compiled programs. */
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "frames/jail/tail_calls.h"
#include "frames/native/tail_code.h"
#include "support/alloc_fail.h"
#include "support/symbols_lab.h"

/* The builds of the source: position independent, with a PLT or without, static, without symbols; and with other() in the same file, but called
 * through a slot that the dynamic linker, or the linker, has filled. */
static const struct build {
	const char *name, *options;
	bool is_stripped, has_other;
} builds[] = {
	{ "pie", "-fPIE -pie other.so", false, false },
	{ "no-pie", "-fno-PIE -no-pie other.so", false, false },
	{ "no-plt", "-fPIE -pie -fno-plt other.so", false, false },
	{ "static", "-static other.o", false, true },
	{ "stripped", "-fPIE -pie other.so", true, false },
	{ "own-slot", "-fPIE -pie -fno-plt -Wa,-mrelax-relocations=no other.o", false, true },
	{ "static-slot", "-static -fno-plt -Wa,-mrelax-relocations=no other.o", false, true },
};

static const char text_of_other[] =
	"int other(int n) { return n + 4; } int second(int n) { return n + 5; } int third(int n) { return n + 6; }";

static void build(const struct build *build)
{
	lab_run("printf '%s' > other.c && $CC -O2 -c other.c && $CC -O2 -fPIC -shared -o other.so other.c && "
		"$CC -O2 -g -o full $S/tails.c %s && cp full %s && { [ %d = 0 ] || strip %s; }",
		text_of_other, build->options, build->name, build->is_stripped, build->name);
}

static void open_file(struct module_file *file, const char *name)
{
	struct error error;
	int fd = open(lab_path(name), O_RDONLY | O_CLOEXEC);
	assert_true(fd >= 0);
	assert_int_equal(module_file_open(file, fd, lab_path(name), &error), 0);
}

/* Returns the address in each call of a function, in the order of the code. */
static size_t calls_of(const char *function, uint64_t *calls, size_t most)
{
	char *text = lab_output("objdump -d --no-show-raw-insn --disassemble=%s full | "
				"sed -n '/[[:space:]]call/{n;s/^ *\\([0-9a-f]*\\):.*/\\1/p}'",
				function);
	size_t count = 0;
	for (char *line = text, *end; count < most; line = end) {
		uint64_t after = strtoull(line, &end, 16);
		if (end == line)
			break;
		calls[count++] = after - 1;
	}
	free(text);
	return count;
}

/* Returns the number of a function, or TAIL_CODE_NONE. */
static uint32_t number_of(const struct tail_code *code, const char *function)
{
	uint64_t start = lab_symbol("full", function);
	for (uint32_t i = 0; i < code->start_count; i++)
		if (code->starts[i] == start)
			return i;
	return TAIL_CODE_NONE;
}

/* Returns the number of jumps from one function to another one or, if `to` is NULL, to a name. */
static size_t jumps(const struct tail_code *code, const char *from, const char *to, const char *name)
{
	size_t count = 0;
	for (size_t i = 0; i < code->jump_count; i++) {
		const struct tail_jump *jump = &code->jumps[i];
		if (jump->from != number_of(code, from))
			continue;
		if (to ? jump->to != TAIL_CODE_NONE && jump->to == number_of(code, to)
		       : jump->name != TAIL_CODE_NONE && strcmp(strings_get(&code->names, jump->name), name) == 0)
			count++;
	}
	return count;
}

static void check(const struct build *build_of, const struct tail_code *code)
{
	const struct tail_found *found = code->found;
	/* A callee that is not the target: the functions on the way are read. */
	assert_int_equal(found[0].target, number_of(code, "through"));
	assert_int_equal(found[0].callee, number_of(code, "burn"));
	assert_int_equal(jumps(code, "through", "direct", NULL), 1);
	assert_int_equal(jumps(code, "direct", "burn", NULL), 1);
	assert_int_equal(found[1].target, number_of(code, "twice"));
	assert_true(jumps(code, "twice", "burn", NULL) >= 1);
	assert_int_equal(found[2].target, number_of(code, "away"));
	assert_int_equal(found[2].callee, TAIL_CODE_NONE);
	assert_int_equal(jumps(code, "away", build_of->has_other ? "other" : NULL, "other"), 1);
	if (build_of->has_other) {
		assert_int_equal(found[3].target, number_of(code, "other"));
	} else {
		assert_int_equal(found[3].target, TAIL_CODE_NONE);
		assert_string_equal(strings_get(&code->names, found[3].name), "other");
	}
	/* A callee that is the target: nothing is read. */
	assert_int_equal(found[4].target, number_of(code, "plain"));
	assert_int_equal(found[4].target, found[4].callee);
	assert_int_equal(jumps(code, "plain", "burn", NULL), 0);
	/* An indirect jump at the end of a function, and one of a switch. */
	assert_int_equal(found[5].target, number_of(code, "indirect"));
	assert_int_equal(jumps(code, "indirect", NULL, ""), 1);
	assert_int_equal(found[6].target, number_of(code, "chosen"));
	assert_int_equal(jumps(code, "chosen", NULL, ""), 0);
	assert_int_equal(found[7].target, number_of(code, "report"));
	assert_int_equal(jumps(code, "report", "burn", NULL), 1);
	static const char *const unknown[] = { "pointed", "hooked", "one_of_both" };
	for (size_t i = 0; i < sizeof(unknown) / sizeof(unknown[0]); i++) {
		assert_int_equal(found[8 + i].target, number_of(code, unknown[i]));
		assert_int_equal(jumps(code, unknown[i], NULL, ""), 1);
		assert_int_equal(jumps(code, unknown[i], NULL, "other"), 0);
	}
	assert_int_equal(found[11].target, number_of(code, "leaf_switch"));
	assert_int_equal(jumps(code, "leaf_switch", NULL, ""), 0);
	assert_int_equal(jumps(code, "leaf_switch", "direct", NULL), 1);
	assert_int_equal(found[12].target, number_of(code, "unreadable"));
	assert_int_equal(jumps(code, "unreadable", NULL, ""), 2);
}

static void ask(const char *name, const struct tail_query *queries, size_t count, struct tail_code *code)
{
	struct module_file file;
	open_file(&file, name);
	assert_int_equal(tail_code_read(code, &file, queries, count), 0);
	module_file_close(&file);
}

static void test_builds(void **state)
{
	(void)state;
	enum { CALLS = 13 };
	for (size_t i = 0; i < sizeof(builds) / sizeof(builds[0]); i++) {
		uint64_t calls[CALLS];
		struct tail_code code;
		struct tail_query queries[CALLS];
		build(&builds[i]);
		assert_int_equal(calls_of("calls", calls, CALLS), CALLS);
		uint64_t burn = lab_symbol("full", "burn"), plain = lab_symbol("full", "plain");
		const uint64_t callees[CALLS] = { burn, burn, 0,    0,    plain + 1, burn, burn,
						  burn, burn, burn, burn, burn,      burn };
		for (size_t q = 0; q < CALLS; q++)
			queries[q] = (struct tail_query){ .caller = calls[q], .callee = callees[q], .name = "" };
		ask(builds[i].name, queries, CALLS, &code);
		check(&builds[i], &code);
		tail_code_release(&code);
	}
}

/* A function that another file calls is found by its name. */
static void test_exports(void **state)
{
	(void)state;
	struct tail_code code;
	build(&builds[0]);
	char *text = lab_output("nm -D other.so | sed -n 's/ T other//p'");
	const uint64_t other = strtoull(text, NULL, 16);
	free(text);
	const struct tail_query queries[] = {
		{ .callee = other + 1, .name = "other" },
		{ .name = "other" },
		{ .name = "another" },
		{ .callee = other + 1, .name = "" },
	};
	ask("other.so", queries, 4, &code);
	assert_int_equal(code.starts[code.found[0].target], other);
	assert_int_equal(code.found[0].target, code.found[0].callee);
	assert_int_equal(code.found[1].target, code.found[0].target);
	assert_int_equal(code.found[2].target, TAIL_CODE_NONE);
	assert_int_equal(code.found[3].target, TAIL_CODE_NONE);
	assert_int_equal(code.found[3].callee, code.found[0].target);
	tail_code_release(&code);
}

/* Names and addresses of a file without symbols of its own, whose functions are found in .eh_frame. */
static void test_stripped_exports(void **state)
{
	(void)state;
	static const char *const names[] = { "other", "second", "third" };
	struct tail_query queries[6];
	struct tail_code code;
	build(&builds[0]);
	for (size_t i = 0; i < 3; i++) {
		char *text = lab_output("nm -D other.so | sed -n 's/ T %s$//p'", names[i]);
		queries[i] = (struct tail_query){ .name = names[i] };
		queries[i + 3] = (struct tail_query){ .callee = strtoull(text, NULL, 16) + 1, .name = names[i] };
		free(text);
	}
	lab_run("strip --strip-all other.so");
	ask("other.so", queries, 6, &code);
	for (size_t i = 0; i < 3; i++) {
		assert_int_equal(code.starts[code.found[i].target], queries[i + 3].callee - 1);
		assert_int_equal(code.found[i + 3].target, code.found[i + 3].callee);
	}
	tail_code_release(&code);
}

/* Addresses that follow no call, or are in no code, have no target. */
static void test_no_calls(void **state)
{
	(void)state;
	struct tail_code code;
	build(&builds[0]);
	uint64_t burn = lab_symbol("full", "burn");
	const struct tail_query queries[] = { { .caller = burn, .callee = burn, .name = "" },
					      { .caller = 3, .callee = 1, .name = "" },
					      { .caller = UINT64_MAX, .callee = UINT64_MAX, .name = "" } };
	ask("full", queries, 3, &code);
	for (size_t i = 0; i < 3; i++)
		assert_int_equal(code.found[i].target, TAIL_CODE_NONE);
	assert_int_equal(code.found[1].callee, TAIL_CODE_NONE);
	tail_code_release(&code);
}

/* A stub is no function: neither the function to which it leads, nor one with the other stubs. */
static void test_in_stub(void **state)
{
	(void)state;
	struct tail_code code;
	uint64_t call = 0;
	build(&builds[0]);
	assert_int_equal(calls_of("through_stub", &call, 1), 1);
	char *text = lab_output("objdump -d full | sed -n 's/^0*\\([0-9a-f]*\\) <other@plt>:.*/\\1/p'");
	const uint64_t stub = strtoull(text, NULL, 16);
	free(text);
	const struct tail_query queries[] = { { .caller = call, .callee = stub, .name = "" },
					      { .caller = call, .callee = stub + 4, .name = "" } };
	assert_true(stub != 0);
	ask("full", queries, 2, &code);
	for (size_t i = 0; i < 2; i++) {
		assert_string_equal(strings_get(&code.names, code.found[i].name), "other");
		assert_int_equal(code.found[i].callee, TAIL_CODE_NONE);
	}
	tail_code_release(&code);
}

static void test_no_memory(void **state)
{
	(void)state;
	uint64_t calls[2] = { 0 };
	build(&builds[0]);
	assert_int_equal(calls_of("calls", calls, 2), 2);
	const struct tail_query queries[] = { { .caller = calls[0], .callee = lab_symbol("full", "burn"), .name = "" },
					      { .name = "main" } };
	struct module_file file;
	struct tail_code code;
	for (unsigned long number = 1, more = 1; more; number++) {
		open_file(&file, "full");
		alloc_fail_start(number);
		int status = tail_code_read(&code, &file, queries, 2);
		more = alloc_fail_stop();
		assert_true(status == 0 || status == ERROR_MEMORY);
		tail_code_release(&code);
		module_file_close(&file);
	}
}

/* The answer of the jail is read as it was written; each of its prefixes, and what refers to things that it lacks, is refused. */
static void test_answer(void **state)
{
	(void)state;
	uint64_t starts[] = { 16, 32 };
	struct tail_jump jump[] = { { 0, 1, TAIL_CODE_NONE, 20 }, { 1, TAIL_CODE_NONE, 1, 40 } };
	struct tail_found found[] = { { 0, TAIL_CODE_NONE, 1 }, { TAIL_CODE_NONE, 1, TAIL_CODE_NONE } };
	struct tail_code code = {
		.starts = starts, .start_count = 2, .jumps = jump, .jump_count = 2, .found = found, .found_count = 2
	};
	struct tail_code read;
	struct buffer answer;
	buffer_init(&answer);
	assert_int_equal(strings_init(&code.names), 0);
	assert_int_equal(strings_add(&code.names, "other", 5), 1);
	tail_calls_write(&answer, &code);
	struct cursor cursor = cursor_over(answer.bytes, answer.size);
	assert_int_equal(tail_calls_read(&cursor, 2, &read), 0);
	assert_memory_equal(read.starts, starts, sizeof(starts));
	assert_memory_equal(read.jumps, jump, sizeof(jump));
	assert_memory_equal(read.found, found, sizeof(found));
	assert_string_equal(strings_get(&read.names, 1), "other");
	tail_code_release(&read);
	for (size_t size = 0; size < answer.size; size++) {
		cursor = cursor_over(answer.bytes, size);
		assert_int_equal(tail_calls_read(&cursor, 2, &read), ERROR_CORRUPT);
	}
	cursor = cursor_over(answer.bytes, answer.size);
	assert_int_equal(tail_calls_read(&cursor, 3, &read), ERROR_CORRUPT);
	uint32_t *const wrong[] = { &jump[0].from,    &jump[0].to,      &jump[1].name,
				    &found[0].target, &found[0].callee, &found[1].name };
	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		uint32_t right = *wrong[i];
		*wrong[i] = 2;
		buffer_clear(&answer);
		tail_calls_write(&answer, &code);
		cursor = cursor_over(answer.bytes, answer.size);
		assert_int_equal(tail_calls_read(&cursor, 2, &read), ERROR_CORRUPT);
		*wrong[i] = right;
	}
	/* Nothing is known about no query. */
	code = (struct tail_code){ .names = code.names };
	code.names.count = 1;
	buffer_clear(&answer);
	tail_calls_write(&answer, &code);
	cursor = cursor_over(answer.bytes, answer.size);
	assert_int_equal(tail_calls_read(&cursor, 0, &read), 0);
	tail_code_release(&read);
	strings_release(&code.names);
	buffer_release(&answer);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_builds, lab_setup, lab_teardown),
		cmocka_unit_test_setup_teardown(test_exports, lab_setup, lab_teardown),
		cmocka_unit_test_setup_teardown(test_stripped_exports, lab_setup, lab_teardown),
		cmocka_unit_test_setup_teardown(test_no_calls, lab_setup, lab_teardown),
		cmocka_unit_test_setup_teardown(test_in_stub, lab_setup, lab_teardown),
		cmocka_unit_test_setup_teardown(test_no_memory, lab_setup, lab_teardown),
		cmocka_unit_test(test_answer),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
