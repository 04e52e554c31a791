/* Descriptions of interpreted functions, and the places of their frames in a path. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "collect/sample/stacks/interpreted.h"
#include "support/alloc_fail.h"

enum { PID = 7, CODE = 0x1000 };

static struct profile *profile;
static struct interpreted *interpreted;
static struct interpreted_code code;

static int set_up(void **state)
{
	(void)state;
	profile = profile_new();
	interpreted = interpreted_new(profile);
	return profile && interpreted ? 0 : -1;
}

static int tear_down(void **state)
{
	(void)state;
	interpreted_free(interpreted);
	profile_free(profile);
	return 0;
}

static void set_text(struct interpreted_text *text, uint8_t *content, const char *from)
{
	*text = (struct interpreted_text){ .characters = (uint32_t)strlen(from), .width = 1 };
	memcpy(content, from, strlen(from));
}

/* Describes a function at line 10 of app.py, whose instructions are all of that line. */
static int describe(uint64_t address, uint32_t check, const char *name)
{
	static const uint8_t table[] = { 0x80 | 13 << 3 | 7, 0 };
	memset(&code, 0, sizeof(code));
	code.code = address;
	code.check = check;
	code.kind = INTERPRETER_PYTHON;
	code.first_line = 10;
	set_text(&code.name, code.name_content, name);
	set_text(&code.file, code.file_content, "app.py");
	code.table_bytes = sizeof(table);
	memcpy(code.table, table, sizeof(table));
	return interpreted_describe(interpreted, PID, &code, INTERPRETED_FIXED_BYTES + sizeof(table));
}

static struct interpreted_frame frame(uint64_t address, uint32_t check)
{
	return (struct interpreted_frame){ .code = address, .check = check };
}

static struct interpreted_frame end(uint64_t stack)
{
	return (struct interpreted_frame){ .stack = stack };
}

static int begin(const struct interpreted_frame *entries, size_t count, const uint64_t *sps, size_t frames,
		 struct interpreted_path *path)
{
	const struct backend_sample sample = { .pid = PID, .interpreted = entries, .interpreted_count = count };
	return interpreted_begin(interpreted, &sample, sps, frames, path);
}

static const char *name_of(uint32_t node)
{
	const struct profile_location *location = &profile->locations[profile->nodes[node].location];
	const struct profile_frame *row = &profile->frames[location->first_frame];
	assert_int_equal(row->kind, FRAME_INTERPRETER);
	return profile_string(profile, profile->functions[row->function].name);
}

static void runs_are_below_their_native_frames(void **state)
{
	(void)state;
	describe(CODE, 1, "inner");
	describe(2 * CODE, 1, "outer");
	describe(3 * CODE, 1, "main");
	const struct interpreted_frame entries[] = { frame(CODE, 1), frame(2 * CODE, 1), end(150), frame(3 * CODE, 1),
						     end(1000) };
	const uint64_t sps[] = { 100, 120, 200, 300 };
	struct interpreted_path path;
	assert_int_equal(begin(entries, 5, sps, 4, &path), 0);
	assert_int_equal(path.count, 2);
	uint32_t node = PROFILE_ROOT;
	static const char *const last[] = { "inner", "inner", "main", "main" }; /* after native frame 0, 1, ... */
	for (size_t native = 4; native-- > 0;) {
		node = (uint32_t)interpreted_add(&path, native, node);
		assert_string_equal(name_of(node), last[native]);
	}
	assert_string_equal(name_of(profile->nodes[node].parent), "outer");
	assert_int_equal(path.left, 0);
}

/* A broken path has only inner native frames. */
static void runs_without_a_native_frame_are_skipped(void **state)
{
	(void)state;
	describe(CODE, 1, "inner");
	describe(2 * CODE, 1, "main");
	const struct interpreted_frame entries[] = { frame(CODE, 1), end(100), frame(2 * CODE, 1), end(300) };
	const uint64_t sps[] = { 100, 300 };
	struct interpreted_path path;
	assert_int_equal(begin(entries, 4, sps, 2, &path), 0);
	assert_string_equal(name_of((uint32_t)interpreted_add(&path, 0, PROFILE_ROOT)), "inner");
}

static void entries_that_do_not_fit_are_refused(void **state)
{
	(void)state;
	describe(CODE, 1, "inner");
	const uint64_t sps[] = { 100, 200 };
	struct interpreted_path path;
	const struct interpreted_frame outside[] = { frame(CODE, 1), end(50) };
	assert_int_equal(begin(outside, 2, sps, 2, &path), ERROR_CORRUPT);
	assert_int_equal(path.left, 0);
	const struct interpreted_frame same[] = { frame(CODE, 1), end(100), frame(CODE, 1), end(150) };
	assert_int_equal(begin(same, 4, sps, 2, &path), ERROR_CORRUPT);
	const struct interpreted_frame open[] = { frame(CODE, 1) };
	assert_int_equal(begin(open, 1, sps, 2, &path), ERROR_CORRUPT);
	const struct interpreted_frame unknown[] = { frame(CODE, 2), end(100) };
	assert_int_equal(begin(unknown, 2, sps, 2, &path), ERROR_NOT_FOUND);
	const struct interpreted_frame elsewhere[] = { frame(2 * CODE, 1), end(100) };
	assert_int_equal(begin(elsewhere, 2, sps, 2, &path), ERROR_NOT_FOUND);
}

/* Another function at the same address is another one; the same function of two processes is one. */
static void functions_are_distinct_by_text(void **state)
{
	(void)state;
	describe(CODE, 1, "one");
	describe(CODE, 2, "two");
	describe(2 * CODE, 1, "one");
	describe(CODE, 1, "one");
	assert_int_equal(profile->function_count, 2);
	assert_int_equal(profile->module_count, 1);
	assert_string_equal(profile_string(profile, profile->modules[0].path), "[Python]");
}

static void bad_descriptions_are_ignored(void **state)
{
	(void)state;
	describe(CODE, 1, "one");
	struct interpreted_code good = code;
	good.check = 2;
	const size_t bytes = INTERPRETED_FIXED_BYTES + good.table_bytes;
	assert_int_equal(interpreted_describe(interpreted, PID, &good, INTERPRETED_FIXED_BYTES - 1), 0);
	assert_int_equal(interpreted_describe(interpreted, PID, &good, bytes - 1), 0);
	struct interpreted_code bad = good;
	bad.name.width = 3;
	assert_int_equal(interpreted_describe(interpreted, PID, &bad, bytes), 0);
	bad = good;
	bad.file.width = 0;
	assert_int_equal(interpreted_describe(interpreted, PID, &bad, bytes), 0);
	bad = good;
	bad.kind = UINT32_MAX;
	assert_int_equal(interpreted_describe(interpreted, PID, &bad, bytes), 0);
	const struct interpreted_frame entries[] = { frame(CODE, 2), end(100) };
	const uint64_t sps[] = { 100 };
	struct interpreted_path path;
	assert_int_equal(begin(entries, 2, sps, 1, &path), ERROR_NOT_FOUND);
	assert_int_equal(interpreted_describe(interpreted, PID, &good, bytes), 0);
	assert_int_equal(begin(entries, 2, sps, 1, &path), 0);
}

/* Texts have characters of 1, 2 and 4 bytes, and end in "..." if they are longer than their room. */
static void texts_become_utf8(void **state)
{
	(void)state;
	static const uint16_t two[] = { 0x540d, 0x524d, 'a' };
	static const uint32_t four[] = { 0x1f40d, 0xe9 };
	describe(CODE, 1, "x");
	code.check = 2;
	code.name = (struct interpreted_text){ .characters = 3, .width = 2 };
	memcpy(code.name_content, two, sizeof(two));
	interpreted_describe(interpreted, PID, &code, INTERPRETED_FIXED_BYTES + code.table_bytes);
	assert_string_equal(profile_string(profile, profile->functions[1].name), "\xe5\x90\x8d\xe5\x89\x8d"
										 "a");
	code.check = 3;
	code.name = (struct interpreted_text){ .characters = 2, .width = 4 };
	memcpy(code.name_content, four, sizeof(four));
	interpreted_describe(interpreted, PID, &code, INTERPRETED_FIXED_BYTES + code.table_bytes);
	assert_string_equal(profile_string(profile, profile->functions[2].name), "\xf0\x9f\x90\x8d\xc3\xa9");
	code.check = 4;
	code.name = (struct interpreted_text){ .characters = 1000, .width = 1 };
	memset(code.name_content, 'n', sizeof(code.name_content));
	interpreted_describe(interpreted, PID, &code, INTERPRETED_FIXED_BYTES + code.table_bytes);
	const char *cut = profile_string(profile, profile->functions[3].name);
	assert_int_equal(strlen(cut), INTERPRETED_NAME_BYTES + 3);
	assert_string_equal(cut + INTERPRETED_NAME_BYTES, "...");
}

static void try_all(void)
{
	struct profile *own_profile = profile_new();
	struct interpreted *own = own_profile ? interpreted_new(own_profile) : NULL;
	const struct interpreted_frame entries[] = { frame(CODE, 1), end(100) };
	const uint64_t sps[] = { 100 };
	const struct backend_sample sample = { .pid = PID, .interpreted = entries, .interpreted_count = 2 };
	struct interpreted_path path;
	if (own) {
		interpreted_describe(own, PID, &code, INTERPRETED_FIXED_BYTES + code.table_bytes);
		if (interpreted_begin(own, &sample, sps, 1, &path) == 0)
			interpreted_add(&path, 0, PROFILE_ROOT);
	}
	interpreted_free(own);
	profile_free(own_profile);
}

static void failing_allocations_are_errors(void **state)
{
	(void)state;
	describe(CODE, 1, "one");
	ALLOC_FAIL_EACH(try_all());
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(runs_are_below_their_native_frames, set_up, tear_down),
		cmocka_unit_test_setup_teardown(runs_without_a_native_frame_are_skipped, set_up, tear_down),
		cmocka_unit_test_setup_teardown(entries_that_do_not_fit_are_refused, set_up, tear_down),
		cmocka_unit_test_setup_teardown(functions_are_distinct_by_text, set_up, tear_down),
		cmocka_unit_test_setup_teardown(bad_descriptions_are_ignored, set_up, tear_down),
		cmocka_unit_test_setup_teardown(texts_become_utf8, set_up, tear_down),
		cmocka_unit_test_setup_teardown(failing_allocations_are_errors, set_up, tear_down),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
