/* analyze/options_read.c: the values of view options, from the texts of a user. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "analyze/options_read.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

static void thresholds_are_fractions(void **state)
{
	static const struct {
		const char *text;
		double value;
	} good[] = { { "0", 0 },        { "0.25", 0.25 }, { "1", 1 },       { "50%", 0.5 }, { "100%", 1 },
		     { "0.5%", 0.005 }, { ".5", 0.5 },    { "1e-2", 0.01 }, { "01", 1 },    { "1.", 1 } };
	static const char *const bad[] = { "",      "1.01",   "101%", "-0.1", "nan",   "inf", "0x1", "0X1",  "%",
					   "0.5%%", "0.5 %%", "0.5x", "+1",   "1e-2x", ".",   "..",  "1e999" };
	struct error error;
	double value;
	(void)state;
	for (size_t i = 0; i < COUNT(good); i++) {
		value = -1;
		assert_int_equal(options_read_threshold(good[i].text, &value, &error), 0);
		assert_float_equal(value, good[i].value, 1e-12);
	}
	for (size_t i = 0; i < COUNT(bad); i++) {
		value = -1;
		if (options_read_threshold(bad[i], &value, &error) != ERROR_USAGE)
			fail_msg("'%s' is read", bad[i]);
		assert_float_equal(value, -1, 0);
	}
	assert_string_equal(error.message, "threshold '1e999' is not a fraction from 0 to 1 (as 0.01 or 1%)");
}

static void limits_are_numbers(void **state)
{
	struct error error;
	size_t limit = 7;
	(void)state;
	assert_int_equal(options_read_limit("0", &limit, &error), 0);
	assert_int_equal(limit, 0);
	assert_int_equal(options_read_limit("40", &limit, &error), 0);
	assert_int_equal(limit, 40);
	assert_int_equal(options_read_limit("4x", &limit, &error), ERROR_USAGE);
	assert_int_equal(limit, 40);
	assert_string_equal(error.message, "limit '4x' is not a number of entries (0: all)");
}

static void kinds_of_frames_have_names(void **state)
{
	static const struct {
		const char *text;
		enum view_by by;
	} rows[] = { { "function", VIEW_FUNCTION }, { "f", VIEW_FUNCTION }, { "callsite", VIEW_CALLSITE },
		     { "call", VIEW_CALLSITE },     { "line", VIEW_LINE },  { "module", VIEW_MODULE },
		     { "m", VIEW_MODULE },          { "group", VIEW_GROUP } };
	static const char *const bad[] = { "", "x", "functions", "frame", "F" };
	struct error error;
	enum view_by by;
	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		by = VIEW_FRAME;
		assert_int_equal(options_read_by(rows[i].text, &by, &error), 0);
		assert_int_equal(by, rows[i].by);
	}
	for (size_t i = 0; i < COUNT(bad); i++)
		assert_int_equal(options_read_by(bad[i], &by, &error), ERROR_USAGE);
	assert_int_equal(by, VIEW_GROUP);
	assert_string_equal(error.message, "unknown kind of frame 'F' (function, callsite, line, module or group)");
	assert_string_equal(view_by_name(VIEW_FUNCTION), "function");
	assert_string_equal(view_by_name(VIEW_GROUP), "group");
	assert_string_equal(view_by_name(VIEW_FRAME), "?");
	assert_string_equal(view_by_word(VIEW_GROUP), "group");
	assert_null(view_by_word(VIEW_FRAME));
}

static void switches_have_words(void **state)
{
	static const char *const on[] = { "on", "yes", "1" }, *const off[] = { "off", "no", "0" };
	struct error error;
	bool value;
	(void)state;
	for (size_t i = 0; i < COUNT(on); i++) {
		value = false;
		assert_int_equal(options_read_switch(on[i], &value, &error), 0);
		assert_true(value);
		assert_int_equal(options_read_switch(off[i], &value, &error), 0);
		assert_false(value);
	}
	assert_int_equal(options_read_switch("o", &value, &error), ERROR_USAGE);
	assert_string_equal(error.message, "'o' is not a switch (on or off)");
}

static void times_have_units(void **state)
{
	static const struct {
		const char *text;
		uint64_t ns;
	} good[] = { { "1.5", 1500000000 }, { "2s", 2000000000 }, { "200ms", 200000000 },
		     { "3us", 3000 },       { "7ns", 7 },         { "0", 0 },
		     { "0.4ns", 0 },        { "0.6ns", 1 },       { "8000000000", UINT64_C(8000000000000000000) } };
	static const char *const bad[] = { "", "s", "1m", "1 s", "-1", "9e9", "9000000000", "1sx", "nan" };
	struct error error;
	(void)state;
	for (size_t i = 0; i < COUNT(good); i++) {
		uint64_t ns = 1;
		assert_int_equal(options_read_seconds(good[i].text, &ns, &error), 0);
		assert_int_equal(ns, good[i].ns);
	}
	for (size_t i = 0; i < COUNT(bad); i++) {
		uint64_t ns = 99;
		if (options_read_seconds(bad[i], &ns, &error) != ERROR_USAGE)
			fail_msg("'%s' is read", bad[i]);
		assert_int_equal(ns, 99);
	}
	assert_string_equal(error.message, "'nan' is not a time in seconds (as 1.5 or 200ms)");
}

static void time_ranges_are_not_empty(void **state)
{
	struct view_options options = { 0 };
	struct error error;
	(void)state;
	assert_int_equal(options_read_time("1", "2.5", &options, &error), 0);
	assert_int_equal(options.from_ns, 1000000000);
	assert_int_equal(options.to_ns, 2500000000);
	assert_int_equal(options_read_time("2", NULL, &options, &error), 0);
	assert_int_equal(options.from_ns, 2000000000);
	assert_int_equal(options.to_ns, 0);
	assert_int_equal(options_read_time("", "3", &options, &error), 0);
	assert_int_equal(options.from_ns, 0);
	assert_int_equal(options.to_ns, 3000000000);
	assert_int_equal(options_read_time(NULL, "", &options, &error), 0);
	assert_int_equal(options.to_ns, 0);
	assert_int_equal(options_read_time("2", "2", &options, &error), ERROR_USAGE);
	assert_string_equal(error.message, "the time range from 2 s to 2 s is empty (its end comes after its start)");
	assert_int_equal(options_read_time("2", "1", &options, &error), ERROR_USAGE);
	assert_int_equal(options_read_time("0", "0", &options, &error), ERROR_USAGE);
	assert_int_equal(options_read_time("x", "1", &options, &error), ERROR_USAGE);
	assert_int_equal(options_read_time("1", "x", &options, &error), ERROR_USAGE);
	assert_int_equal(options.from_ns, 0);
	assert_int_equal(options_read_time("0", "1ns", &options, &error), 0);
	assert_int_equal(options.to_ns, 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(thresholds_are_fractions),   cmocka_unit_test(limits_are_numbers),
		cmocka_unit_test(kinds_of_frames_have_names), cmocka_unit_test(switches_have_words),
		cmocka_unit_test(times_have_units),           cmocka_unit_test(time_ranges_are_not_empty),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
