/* Machine code as bytes: whole, cut, written again, and of failing allocations. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "profile/code.h"
#include "support/alloc_fail.h"

static const uint8_t two_instructions[] =
	"\1\0\0\0"                                 /* one range */
	"\0\x10\0\0\0\0\0\0"                       /* its start */
	"\3\x10\0\0\0\0\0\0"                       /* its end */
	"\2\0\0\0"                                 /* two instructions */
	"\2\0\0\0\0\0\0\0\0\0\7\0\0\0a b\0f.c\0\0" /* two bytes, no target, line 7 */
	"\1\3\0\x20\0\0\0\0\0\0\0\0\0\0c\0\0g\0";  /* one byte, reached, leaves the range to g at 0x2000 */

static struct cursor answer(void)
{
	return cursor_over(two_instructions, sizeof(two_instructions) - 1);
}

static void test_answer(void **state)
{
	struct code_list list;
	(void)state;
	assert_int_equal(code_list_init(&list), 0);
	assert_int_equal(code_list_read(&list, 3, answer()), 0);
	assert_int_equal(list.range_count, 1);
	assert_int_equal(list.count, 2);
	const struct code_instruction *first = &list.instructions[0], *second = &list.instructions[1];
	assert_string_equal(first->text, "a b");
	assert_string_equal(first->file, "f.c");
	assert_int_equal(first->line, 7);
	assert_null(first->callee);
	assert_false(first->is_reached || first->leaves_range);
	assert_string_equal(second->callee, "g");
	assert_int_equal(second->target, 0x2000);
	assert_int_equal(second->address, 0x1002);
	assert_null(second->file);
	assert_true(second->is_reached && second->leaves_range);
	assert_int_equal(code_list_find(&list, 3, 0x1001), 0);
	assert_int_equal(code_list_find(&list, 3, 0x1002), 1);
	assert_true(code_list_find(&list, 3, 0x1003) == SIZE_MAX);
	assert_true(code_list_find(&list, 2, 0x1001) == SIZE_MAX);
	code_list_release(&list);
}

/* An answer that is cut anywhere leaves the list as it was. */
static void test_cut_answers(void **state)
{
	struct code_list list;
	(void)state;
	assert_int_equal(code_list_init(&list), 0);
	for (size_t size = 0; size < sizeof(two_instructions) - 1; size++) {
		assert_int_equal(code_list_read(&list, 3, cursor_over(two_instructions, size)), ERROR_CORRUPT);
		assert_int_equal(list.range_count, 0);
		assert_int_equal(list.count, 0);
	}
	code_list_release(&list);
}

/* The same ranges are the same bytes, whoever writes them. */
static void test_written_again(void **state)
{
	struct code_list list;
	struct buffer bytes;
	(void)state;
	buffer_init(&bytes);
	assert_int_equal(code_list_init(&list), 0);
	assert_int_equal(code_list_read(&list, 3, answer()), 0);
	buffer_append(&bytes, "\1\0\0", 4);
	code_list_write_range(&bytes, &list, 0);
	assert_int_equal(bytes.size, sizeof(two_instructions) - 1);
	assert_memory_equal(bytes.bytes, two_instructions, bytes.size);
	buffer_release(&bytes);
	code_list_release(&list);
}

static void read_once(void)
{
	struct code_list list;
	if (code_list_init(&list) == 0) {
		int status = code_list_read(&list, 3, answer());
		assert_true(status == 0 || status == ERROR_MEMORY);
		assert_int_equal(list.count, status == 0 ? 2 : 0);
	}
	code_list_release(&list);
}

static void test_failing_allocations(void **state)
{
	(void)state;
	ALLOC_FAIL_EACH(read_once());
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_answer),
		cmocka_unit_test(test_cut_answers),
		cmocka_unit_test(test_written_again),
		cmocka_unit_test(test_failing_allocations),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
