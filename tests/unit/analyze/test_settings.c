/* analyze/settings.c: the table of settings, and their values from the texts of a user. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "analyze/settings.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

static struct settings settings;
static struct error error;

/* Reads a value as a command of `explore` does. */
static int read_text(const char *command, const char *value)
{
	return setting_read(setting_of_command(command), &settings, NULL, &value, 1, &error);
}

static void assert_shown(const char *command, const char *value)
{
	struct buffer text;
	buffer_init(&text);
	setting_show(setting_of_command(command), &settings, NULL, &text);
	buffer_append_byte(&text, 0);
	assert_string_equal((const char *)text.bytes, value);
	buffer_release(&text);
}

static void thresholds_are_fractions(void **state)
{
	static const struct {
		const char *text;
		double value;
	} good[] = { { "0", 0 },        { "0.25", 0.25 }, { "1", 1 },       { "50%", 0.5 }, { "100%", 1 },
		     { "0.5%", 0.005 }, { ".5", 0.5 },    { "1e-2", 0.01 }, { "01", 1 },    { "1.", 1 } };
	static const char *const bad[] = { "",      "1.01",   "101%", "-0.1", "nan",   "inf", "0x1", "0X1",  "%",
					   "0.5%%", "0.5 %%", "0.5x", "+1",   "1e-2x", ".",   "..",  "1e999" };
	(void)state;
	for (size_t i = 0; i < COUNT(good); i++) {
		assert_int_equal(read_text("threshold", good[i].text), 0);
		assert_float_equal(settings.threshold, good[i].value, 1e-12);
	}
	for (size_t i = 0; i < COUNT(bad); i++) {
		settings.threshold = -1;
		if (read_text("threshold", bad[i]) != ERROR_USAGE)
			fail_msg("'%s' is read", bad[i]);
		assert_float_equal(settings.threshold, -1, 0);
	}
	assert_string_equal(error.message, "threshold '1e999' is not a fraction from 0 to 1 (as 0.01 or 1%)");
}

static void limits_are_numbers(void **state)
{
	static const char *const bad[] = { "4x", "", "-1", "1.5", "99999999999999999999" };
	(void)state;
	assert_int_equal(read_text("limit", "0"), 0);
	assert_int_equal(settings.limit, 0);
	assert_shown("limit", "0 (all)");
	assert_int_equal(read_text("limit", "40"), 0);
	assert_int_equal(settings.limit, 40);
	for (size_t i = 0; i < COUNT(bad); i++)
		assert_int_equal(read_text("limit", bad[i]), ERROR_USAGE);
	assert_int_equal(settings.limit, 40);
	assert_shown("limit", "40");
	assert_string_equal(error.message, "limit '99999999999999999999' is not a number of entries (0: all)");
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
	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		settings.view.by = VIEW_FRAME;
		assert_int_equal(read_text("by", rows[i].text), 0);
		assert_int_equal(settings.view.by, rows[i].by);
	}
	for (size_t i = 0; i < COUNT(bad); i++)
		assert_int_equal(read_text("by", bad[i]), ERROR_USAGE);
	assert_int_equal(settings.view.by, VIEW_GROUP);
	assert_shown("by", "group");
	assert_string_equal(error.message, "unknown kind of frame 'F' (function, callsite, line, module or group)");
	assert_string_equal(view_by_word(VIEW_GROUP), "group");
	assert_null(view_by_word(VIEW_FRAME));
}

static void switches_have_words(void **state)
{
	static const char *const on[] = { "on", "yes", "1" }, *const off[] = { "off", "no", "0" };
	(void)state;
	for (size_t i = 0; i < COUNT(on); i++) {
		assert_int_equal(read_text("native", on[i]), 0);
		assert_true(settings.view.native_frames);
		assert_shown("native", "on");
		assert_int_equal(read_text("native", off[i]), 0);
		assert_false(settings.view.native_frames);
		assert_shown("native", "off");
	}
	assert_int_equal(read_text("native", "o"), ERROR_USAGE);
	assert_string_equal(error.message, "'o' is not a switch (on or off)");
}

/* A command may be the opposite of the option: "inlines off" is "--no-inlines". */
static void options_may_invert_commands(void **state)
{
	static const struct {
		const char *option, *command;
		size_t member;
		bool inverts;
	} rows[] = { { "no-inlines", "inlines", offsetof(struct settings, view.no_inlines), true },
		     { "untrimmed", "trim", offsetof(struct settings, view.untrimmed), true },
		     { "no-stitch", "stitch", offsetof(struct settings, view.no_stitch), true },
		     { "native-frames", "native", offsetof(struct settings, view.native_frames), false },
		     { "long", "long", offsetof(struct settings, is_long), false } };
	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		const bool *member = (const bool *)((const char *)&settings + rows[i].member);
		const struct setting_text given = { setting_of_option(rows[i].option), "on" };
		assert_ptr_equal(given.setting, setting_of_command(rows[i].command));
		assert_int_equal(read_text(rows[i].command, "on"), 0);
		assert_shown(rows[i].command, "on");
		assert_int_equal(*member, !rows[i].inverts);
		assert_int_equal(read_text(rows[i].command, "off"), 0);
		assert_shown(rows[i].command, "off");
		assert_int_equal(*member, rows[i].inverts);
		settings_init(&settings);
		assert_false(*member);
		assert_int_equal(settings_read(&settings, NULL, &given, 1, &error), 0);
		assert_true(*member);
	}
	assert_ptr_equal(setting_of_option("no_inlines"), setting_of_option("no-inlines"));
	assert_null(setting_of_option("inlines"));
	assert_null(setting_of_option("no"));
	assert_null(setting_of_option("no-inlines-"));
	assert_null(setting_of_command("no-inlines"));
}

/* Each use of an option is read, and the last one counts. Without values, a setting is reset. */
static void all_uses_are_read(void **state)
{
	const struct setting *threshold = setting_of_option("threshold"), *by = setting_of_option("by");
	const struct setting_text good[] = { { threshold, "0.5" }, { by, "line" }, { threshold, "0.25" } };
	const struct setting_text bad[] = { { threshold, "x" }, { threshold, "0.75" } };
	(void)state;
	settings_init(&settings);
	assert_int_equal(settings_read(&settings, NULL, good, COUNT(good), &error), 0);
	assert_float_equal(settings.threshold, 0.25, 0);
	assert_int_equal(settings.view.by, VIEW_LINE);
	assert_int_equal(settings_read(&settings, NULL, bad, COUNT(bad), &error), ERROR_USAGE);
	assert_float_equal(settings.threshold, 0.25, 0);
	assert_int_equal(setting_read(threshold, &settings, NULL, NULL, 0, &error), 0);
	assert_float_equal(settings.threshold, 0.005, 0);
	assert_int_equal(setting_read(by, &settings, NULL, NULL, 0, &error), 0);
	assert_int_equal(settings.view.by, VIEW_FUNCTION);
}

static void add_process(struct profile *profile, const char *name, const char *cgroup)
{
	struct profile_process process = { .name = (uint32_t)profile_add_string(profile, name),
					   .cgroup = (uint32_t)profile_add_string(profile, cgroup) };
	process.pid = 10 + (uint32_t)profile->process_count;
	assert_true(profile_add_process(profile, &process) >= 0);
}

/* A command takes the place of the last one; options of both kinds choose what both match. A failed one changes nothing. */
static void processes_are_chosen(void **state)
{
	const struct setting *process = setting_of_option("process"), *cgroup = setting_of_option("cgroup");
	const struct setting_text both[] = { { cgroup, "/a" }, { process, "x" } };
	const struct setting_text none[] = { { cgroup, "/b" }, { process, "y" } };
	const char *value = "x";
	struct profile *profile = profile_new();
	(void)state;
	add_process(profile, "x", "/a");
	add_process(profile, "x", "/b");
	add_process(profile, "y", "/a");
	settings_init(&settings);
	assert_int_equal(settings_read(&settings, profile, both, COUNT(both), &error), 0);
	assert_ptr_equal(settings.view.processes, settings.processes);
	assert_true(settings.processes[0] && !settings.processes[1] && !settings.processes[2]);
	assert_int_equal(setting_read(process, &settings, profile, &value, 1, &error), 0);
	assert_true(settings.processes[0] && settings.processes[1] && !settings.processes[2]);
	value = "/b";
	assert_int_equal(setting_read(cgroup, &settings, profile, &value, 1, &error), 0);
	assert_true(!settings.processes[0] && settings.processes[1] && !settings.processes[2]);
	value = "nothing";
	assert_int_equal(setting_read(process, &settings, profile, &value, 1, &error), ERROR_NOT_FOUND);
	assert_true(!settings.processes[0] && settings.processes[1] && !settings.processes[2]);
	assert_int_equal(setting_read(cgroup, &settings, profile, NULL, 0, &error), 0);
	assert_null(settings.processes);
	assert_null(settings.view.processes);
	assert_int_equal(settings_read(&settings, profile, none, COUNT(none), &error), ERROR_NOT_FOUND);
	assert_string_equal(error.message, "no selected process is in that control group");
	settings_release(&settings);
	profile_free(profile);
}

static void times_have_units(void **state)
{
	static const struct {
		const char *text;
		uint64_t ns;
	} good[] = { { "1.5", 1500000000 }, { "2s", 2000000000 }, { "200ms", 200000000 },
		     { "3us", 3000 },       { "7ns", 7 },         { "0", 0 },
		     { "0.4ns", 0 },        { "0.6ns", 1 },       { "8000000000", UINT64_C(8000000000000000000) } };
	static const char *const bad[] = { "s", "1m", "1h", "1e300", "1 s", "-1", "9e9", "9000000000", "1sx", "nan" };
	struct view_options options = { 0 };
	(void)state;
	for (size_t i = 0; i < COUNT(good); i++) {
		options.from_ns = 1;
		assert_int_equal(settings_read_time(good[i].text, NULL, &options, &error), 0);
		assert_int_equal(options.from_ns, good[i].ns);
	}
	for (size_t i = 0; i < COUNT(bad); i++) {
		options.from_ns = 99;
		if (settings_read_time(bad[i], NULL, &options, &error) != ERROR_USAGE)
			fail_msg("'%s' is read", bad[i]);
		assert_int_equal(options.from_ns, 99);
	}
	assert_string_equal(error.message, "'nan' is not a time in seconds (as 1.5 or 200ms)");
}

static void time_ranges_are_not_empty(void **state)
{
	struct view_options options = { 0 };
	(void)state;
	assert_int_equal(settings_read_time("1", "2.5", &options, &error), 0);
	assert_int_equal(options.from_ns, 1000000000);
	assert_int_equal(options.to_ns, 2500000000);
	assert_int_equal(settings_read_time("2", NULL, &options, &error), 0);
	assert_int_equal(options.from_ns, 2000000000);
	assert_int_equal(options.to_ns, 0);
	assert_int_equal(settings_read_time("", "3", &options, &error), 0);
	assert_int_equal(options.from_ns, 0);
	assert_int_equal(options.to_ns, 3000000000);
	assert_int_equal(settings_read_time(NULL, "", &options, &error), 0);
	assert_int_equal(options.to_ns, 0);
	assert_int_equal(settings_read_time("2", "2", &options, &error), ERROR_USAGE);
	assert_string_equal(error.message, "the time range from 2 s to 2 s is empty (its end comes after its start)");
	assert_int_equal(settings_read_time("2", "1", &options, &error), ERROR_USAGE);
	assert_int_equal(settings_read_time("0", "0", &options, &error), ERROR_USAGE);
	assert_int_equal(settings_read_time("x", "1", &options, &error), ERROR_USAGE);
	assert_int_equal(settings_read_time("1", "x", &options, &error), ERROR_USAGE);
	assert_int_equal(options.from_ns, 0);
	assert_int_equal(settings_read_time("0", "1ns", &options, &error), 0);
	assert_int_equal(options.to_ns, 1);
}

/* On a command line, each end is an option, in any order. */
static void times_are_two_options(void **state)
{
	const struct setting *from = setting_of_option("from"), *to = setting_of_option("to");
	const struct setting_text good[] = { { to, "2" }, { from, "500ms" } };
	const struct setting_text empty[] = { { to, "0" } };
	const struct setting_text bad[] = { { to, "1" }, { from, "2" } };
	const struct setting_text missing[] = { { from, "" } };
	(void)state;
	assert_int_equal(from->bit, setting_of_command("time")->bit);
	settings_init(&settings);
	assert_int_equal(settings_read(&settings, NULL, good, COUNT(good), &error), 0);
	assert_int_equal(settings.view.from_ns, 500000000);
	assert_int_equal(settings.view.to_ns, 2000000000);
	assert_shown("time", "0.5 s to 2 s");
	settings_init(&settings);
	assert_int_equal(settings_read(&settings, NULL, empty, COUNT(empty), &error), ERROR_USAGE);
	assert_int_equal(settings_read(&settings, NULL, bad, COUNT(bad), &error), ERROR_USAGE);
	assert_string_equal(error.message, "the time range from 2 s to 1 s is empty (its end comes after its start)");
	assert_int_equal(settings_read(&settings, NULL, missing, COUNT(missing), &error), ERROR_USAGE);
	assert_string_equal(error.message, "missing time in seconds (as 1.5 or 200ms)");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(thresholds_are_fractions),    cmocka_unit_test(limits_are_numbers),
		cmocka_unit_test(kinds_of_frames_have_names),  cmocka_unit_test(switches_have_words),
		cmocka_unit_test(options_may_invert_commands), cmocka_unit_test(all_uses_are_read),
		cmocka_unit_test(processes_are_chosen),        cmocka_unit_test(times_have_units),
		cmocka_unit_test(time_ranges_are_not_empty),   cmocka_unit_test(times_are_two_options),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
