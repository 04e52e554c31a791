/* collect/shared/time_offset.h: the text of /proc/self/timens_offsets. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "collect/shared/time_offset.h"

static void test_offsets(void **state)
{
	static const struct {
		const char *text;
		int64_t ns;
	} rows[] = {
		{ "monotonic           0         0\nboottime            0         0\n", 0 },
		{ "monotonic      100000         0\nboottime       100000         0\n", 100000000000000 },
		{ "monotonic        -500         0\nboottime           12         0\n", -500000000000 },
		{ "monotonic          -1 250000000\n", -750000000 },
		{ "monotonic           1 500000000", 1500000000 },
		{ "boottime          100         0\n", 0 },
		{ "", 0 },
		{ "monotonic ", 0 },
		{ "monotonic x y\n", 0 },
		{ "monotonic 7", 7000000000 },
	};
	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		assert_int_equal(time_offset_parse(rows[i].text), rows[i].ns);
	time_offset_parse("monotonic 99999999999999999999999999 9999999999999999999999999\n"); /* no overflow */
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(test_offsets) };
	return cmocka_run_group_tests(tests, NULL, NULL);
}
