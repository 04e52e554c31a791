/* Names of frames that stand for one of several functions. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "frames/tail_choice.h"

static void assert_written(const char *expected, const char **names, size_t count, uint64_t more, const char *others)
{
	struct buffer text;
	buffer_init(&text);
	tail_choice_write(&text, names, count, more, others);
	assert_int_equal(buffer_error(&text), 0);
	assert_string_equal((const char *)text.bytes, expected);
	buffer_release(&text);
}

static void names_are_written(void **state)
{
	(void)state;
	const char *names[] = { "d", "b", "a", "b", "c" };
	assert_int_equal(tail_choice_unify(names, 5), 4);
	assert_written("[tail calls: a or b]", names, 2, 0, NULL);
	assert_written("[tail calls: a, b or c]", names, 3, 0, NULL);
	assert_written("[tail calls: a, b or 2 others]", names, 4, 0, NULL);
	assert_written("[tail calls: a or none]", names, 1, 0, "none");
	assert_written("[tail calls: a, b, c or unknown]", names, 3, 0, "unknown");
	assert_written("[tail calls: a, b, 2 others or unknown]", names, 4, 0, "unknown");
	assert_written("[tail calls: a or 3 others]", names, 1, 3, NULL);
	assert_written("[tail calls: a, b or 4 others]", names, 3, 3, NULL);
	assert_int_equal(tail_choice_unify(names, 0), 0);
}

/* All that is written is read, also with names of C++. */
static void names_are_read_again(void **state)
{
	(void)state;
	static const char *const texts[] = {
		"[tail calls: a or b]",
		"[tail calls: a, b or c]",
		"[tail calls: a, b or 2 others]",
		"[tail calls: a or none]",
		"[tail calls: a, b, c or unknown]",
		"[tail calls: a, b, 2 others or unknown]",
		"[tail calls: a]",
		"[tail calls: ns::f(int, char) or std::map<int, a or b>::g]",
	};
	static const size_t counts[] = { 2, 3, 2, 1, 3, 2, 1, 2 };
	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		char *copy = strdup(texts[i]);
		struct tail_choice choice;
		assert_true(tail_choice_read(&choice, copy));
		assert_int_equal(choice.count, counts[i]);
		assert_written(texts[i], choice.names, choice.count, choice.more, choice.others);
		free(copy);
	}
}

static void other_names_are_refused(void **state)
{
	(void)state;
	static const char *const texts[] = {
		"",
		"main",
		"[tail calls: ",
		"[tail calls: a",
		"[tail calls: none]",
		"[tail calls: 2 others]",
		"[tail calls: a, b, c, d or e]",
		"[tail calls: a, b, c, d, e or f]",
		"[tail calls: operator<(a, b) or c]",
		"[tail calls: operator> or c]",
	};
	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		char *copy = strdup(texts[i]);
		struct tail_choice choice;
		assert_false(tail_choice_read(&choice, copy));
		free(copy);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(names_are_written),
		cmocka_unit_test(names_are_read_again),
		cmocka_unit_test(other_names_are_refused),
	};
	return cmocka_run_group_tests_name("tail_choice", tests, NULL, NULL);
}
