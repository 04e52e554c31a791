/* The machine code in a page: which functions are chosen, and that their code comes back as it was. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "support/alloc_fail.h"
#include "support/paths_profile.h"
#include "ui/page/stored_code.h"

/* Each address begins a function of so many instructions of one byte; only module 0 has a file. */
static int decode(void *context, const struct profile *profile, uint32_t module, const uint64_t *addresses,
		  size_t count, struct code_list *list, struct error *error)
{
	const uint32_t instructions = *(const uint32_t *)context, ranges = (uint32_t)count;
	struct buffer bytes;
	(void)profile;
	if (module != 0)
		return error_set(error, ERROR_NOT_FOUND, "no such file");
	buffer_init(&bytes);
	buffer_append(&bytes, &ranges, sizeof(ranges));
	for (size_t i = 0; i < count; i++) {
		code_range_write(&bytes, addresses[i], addresses[i] + instructions, instructions);
		for (uint32_t k = 0; k < instructions; k++)
			code_instruction_write(&bytes,
					       &(struct code_instruction){ .text = "nop", .bytes = 1, .line = k });
	}
	int status = buffer_error(&bytes);
	if (status == 0)
		status = code_list_read(list, module, cursor_over(bytes.bytes, bytes.size));
	buffer_release(&bytes);
	return status < 0 ? error_set(error, status, "no code") : 0;
}

static struct paths paths;

static uint64_t address_of(uint32_t location)
{
	return (uint64_t)(location + 1) << 20;
}

/* main calls f0, f1, ..., which have 1, 2, ... hits; h is of another module. main is location 0, f0 location 1 and so on; h is the last. */
static void start_functions(uint32_t count)
{
	paths_start(&paths, RESOURCE_SAMPLED);
	for (uint32_t i = 0; i < count; i++) {
		char stack[48];
		snprintf(stack, sizeof(stack), "main;f%u", i);
		paths_add(&paths, stack, i + 1);
	}
	uint32_t function = paths_function(&paths, "h", paths_module(&paths, "/lib/h.so"), "", 0, ROLE_NONE);
	paths_define(&paths, "h", 1, &function, (uint32_t[]){ 0 }, 1);
	paths_add(&paths, "main;h", 1);
	for (size_t i = 0; i < paths.profile->location_count; i++)
		paths.profile->locations[i].address = address_of((uint32_t)i);
}

static struct buffer bytes;
static struct stored_code *stored;
static struct error error;

/* Writes the code of the functions and reads it. */
static struct stored_code_written store(uint32_t instructions, bool has_all)
{
	const struct code_source source = { .decode = decode, .context = &instructions };
	struct stored_code_written written;
	buffer_init(&bytes);
	error = (struct error){ 0 };
	assert_int_equal(stored_code_write(paths.profile, &source, has_all, &bytes, &written, &error), 0);
	stored = stored_code_read(paths.profile, bytes.bytes, bytes.size, &error);
	assert_non_null(stored);
	return written;
}

static void end_functions(void)
{
	stored_code_free(stored);
	buffer_release(&bytes);
	paths_end(&paths);
}

/* Returns the status of the code of one location. */
static int find(struct stored_code *code, uint32_t module, uint32_t location, struct code_list *list)
{
	const uint64_t address = address_of(location);
	error = (struct error){ 0 };
	assert_int_equal(code_list_init(list), 0);
	return stored_code_decode(code, paths.profile, module, &address, 1, list, &error);
}

static bool has_code(uint32_t location)
{
	struct code_list list;
	int status = find(stored, 0, location, &list);
	bool is_found = status == 0 && list.range_count == 1 && list.count > 0;
	code_list_release(&list);
	return is_found;
}

static void assert_reason(struct stored_code *code, uint32_t module, uint32_t location, const char *part)
{
	struct code_list list;
	assert_int_equal(find(code, module, location, &list), ERROR_NOT_FOUND);
	assert_int_equal(list.range_count, 0);
	code_list_release(&list);
	if (!strstr(error.message, part))
		fail_msg("%s is not in %s", part, error.message);
}

/* Functions with hits and their callers come back; other modules have reasons. */
static void test_whole_code(void **state)
{
	struct code_list list;
	(void)state;
	start_functions(3);
	struct stored_code_written written = store(5, true);
	assert_int_equal(written.functions, 4);
	assert_int_equal(written.left_out, 1);
	assert_int_equal(find(stored, 0, 2, &list), 0);
	assert_int_equal(list.count, 5);
	assert_int_equal(list.ranges[0].start, address_of(2));
	assert_int_equal(list.instructions[4].line, 4);
	assert_string_equal(list.instructions[4].text, "nop");
	code_list_release(&list);
	assert_true(has_code(0));
	assert_reason(stored, 1, 4, "no such file");
	assert_reason(stored, 0, 9, "the page has the code of 4 functions");
	assert_reason(NULL, 0, 1, "without machine code");
	end_functions();
}

/* Without a user who is known, no file is the reader's own. */
static void test_foreign_code(void **state)
{
	(void)state;
	start_functions(1);
	assert_int_equal(store(5, false).functions, 0);
	assert_reason(stored, 0, 1, "other users");
	end_functions();
}

/* The functions with fewest hits are left out. */
static void test_many_functions(void **state)
{
	const uint32_t count = STORED_FUNCTIONS_MOST + 20;
	(void)state;
	start_functions(count);
	struct stored_code_written written = store(5, true);
	assert_int_equal(written.functions, STORED_FUNCTIONS_MOST);
	assert_int_equal(written.left_out, count + 2 - STORED_FUNCTIONS_MOST);
	assert_true(has_code(count));
	assert_true(has_code(0));  /* main: it calls all of them */
	assert_false(has_code(1)); /* f0: one hit */
	end_functions();
}

static void test_long_functions(void **state)
{
	(void)state;
	start_functions(3);
	assert_int_equal(store(STORED_INSTRUCTIONS_MOST / 2, true).functions, 2);
	assert_true(has_code(3) && has_code(2));
	assert_false(has_code(1) || has_code(0));
	end_functions();
}

/* Bytes that are cut anywhere are refused. */
static void test_cut_code(void **state)
{
	(void)state;
	start_functions(2);
	store(3, true);
	for (size_t size = 0; size < bytes.size; size++) {
		error = (struct error){ 0 };
		assert_null(stored_code_read(paths.profile, bytes.bytes, size, &error));
		assert_int_equal(error.code, ERROR_CORRUPT);
	}
	end_functions();
}

static void write_and_read(void)
{
	uint32_t instructions = 3;
	const struct code_source source = { .decode = decode, .context = &instructions };
	struct stored_code_written written;
	struct stored_code *code = NULL;
	struct buffer own;
	buffer_init(&own);
	error = (struct error){ 0 };
	int status = stored_code_write(paths.profile, &source, true, &own, &written, &error);
	if (status == 0 && !(code = stored_code_read(paths.profile, own.bytes, own.size, &error)))
		status = error.code;
	assert_true(status == 0 || status == ERROR_MEMORY);
	stored_code_free(code);
	buffer_release(&own);
}

static void test_failing_allocations(void **state)
{
	(void)state;
	start_functions(2);
	ALLOC_FAIL_EACH(write_and_read());
	paths_end(&paths);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_whole_code),     cmocka_unit_test(test_foreign_code),
		cmocka_unit_test(test_many_functions), cmocka_unit_test(test_long_functions),
		cmocka_unit_test(test_cut_code),       cmocka_unit_test(test_failing_allocations),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
