/* Functions of the interactive loop that need no view: lines, words and the user's selections. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "analyze/lookup.h"
#include "base/quote.h"
#include "ui/explore/words.h"

static void expect_line(const char *text, const char *command, const char *arguments, const char *shell)
{
	char line[256];
	snprintf(line, sizeof(line), "%s", text);
	struct line_parts parts = line_split(line);
	assert_string_equal(parts.command, command);
	assert_string_equal(parts.arguments, arguments);
	if (shell)
		assert_string_equal(parts.shell, shell);
	else
		assert_null(parts.shell);
}

static void test_line(void **state)
{
	(void)state;
	expect_line("", "", "", NULL);
	expect_line("  \t ", "", "", NULL);
	expect_line("# functions", "", "", NULL);
	expect_line("  down   ns::f(int, char)  \r", "down", "ns::f(int, char)", NULL);
	expect_line("functions | head -1 | wc", "functions", "", "head -1 | wc");
	expect_line("down main |less", "down", "main", "less");
	expect_line("down operator|(A, B)", "down", "operator|(A, B)", NULL);
	expect_line("down operator||(A, B) | cat", "down", "operator||(A, B)", "cat");
	expect_line("down a || b", "down", "a || b", NULL);
	expect_line("| less", "", "", "less");
	expect_line("info |", "info", "", "");
}

static void expect_words(int (*split)(struct words *, const char *, struct error *), const char *text,
			 const char *joined)
{
	struct words words;
	struct error error = { 0 };
	char got[256] = "";
	assert_int_equal(split(&words, text, &error), 0);
	for (size_t i = 0; i < words.count; i++)
		snprintf(got + strlen(got), sizeof(got) - strlen(got), "[%s]", words.items[i]);
	assert_string_equal(got, joined);
	words_release(&words);
}

static void test_words(void **state)
{
	(void)state;
	expect_words(words_split, "", "");
	expect_words(words_split, " a  b\tc ", "[a][b][c]");
	expect_words(words_split, "'a b' \"c 'd'\"", "[a b][c 'd']");
	expect_words(words_split, "''", "[]");
	expect_words(words_split, "'lambda'() x", "['lambda'()][x]");
	expect_words(words_split_terms, "main;f=0 main;ns::g(int, char)=0.5", "[main;f=0][main;ns::g(int, char)=0.5]");
	expect_words(words_split_terms, "a;operator==(A, B)=50% b=1", "[a;operator==(A, B)=50%][b=1]");
	expect_words(words_split_terms, "'a; b = 0' c", "[a; b = 0][c]");

	struct words words;
	struct error error = { 0 };
	assert_int_equal(words_split(&words, "a 'b c", &error), ERROR_USAGE);
	assert_non_null(strstr(error.message, "'b c'"));
}

static void test_last_name(void **state)
{
	(void)state;
	assert_int_equal(words_last_name(""), 0);
	assert_int_equal(words_last_name("ma"), 0);
	assert_int_equal(words_last_name("main;f(int, c"), 5);
	assert_int_equal(words_last_name("main; f"), 6);
	assert_int_equal(words_last_name("main=0 so"), 7);
	assert_int_equal(words_last_name("main=0"), 0);
}

static void test_quote(void **state)
{
	(void)state;
	assert_string_equal(QUOTE("a\x1b[0mb"), "'a?[0mb'");
	char long_text[400];
	memset(long_text, 'x', sizeof(long_text) - 1);
	long_text[sizeof(long_text) - 1] = '\0';
	char shown[QUOTE_BYTES];
	quote_text(shown, long_text, strlen(long_text));
	assert_int_equal(strlen(shown), QUOTE_BYTES - 1);
	assert_string_equal(shown + QUOTE_BYTES - 6, "x...'");
	/* The text is not truncated inside a two-byte character. */
	for (size_t i = 0; i + 2 < sizeof(long_text); i += 2)
		memcpy(long_text + i, "\xc3\xa9", 2);
	quote_text(shown, long_text + 1, strlen(long_text + 1));
	quote_text(shown, long_text, strlen(long_text));
	char *dots = strstr(shown, "...");
	assert_non_null(dots);
	assert_int_equal((unsigned char)dots[-1], 0xa9);
}

static struct profile *profile_of_threads(void)
{
	struct profile *profile = profile_new();
	static const struct {
		uint32_t tid;
		const char *name;
	} rows[] = {
		{ 10, "main" }, { 11, "worker" }, { 12, "worker" }, { 13, "10" }, { 14, "twice" }, { 14, "again" }
	};
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		struct profile_thread thread = { .tid = rows[i].tid,
						 .name = (uint32_t)profile_add_string(profile, rows[i].name) };
		assert_true(profile_add_thread(profile, &thread) >= 0);
	}
	static const char *const resources[][2] = { { "cpu", "CPU Time" },
						    { "page-faults", "Page Faults" },
						    { "page-faults-major", "Major" } };
	for (size_t i = 0; i < sizeof(resources) / sizeof(*resources); i++) {
		struct profile_resource resource = { .name = (uint32_t)profile_add_string(profile, resources[i][0]),
						     .title = (uint32_t)profile_add_string(profile, resources[i][1]),
						     .interval = 1 };
		assert_true(profile_add_resource(profile, &resource) >= 0);
	}
	return profile;
}

static void test_threads(void **state)
{
	(void)state;
	struct error error;
	struct profile *profile = profile_of_threads();
	uint32_t thread = 99;
	assert_int_equal(lookup_thread(profile, "11", &thread, &error), 0);
	assert_int_equal(thread, 1);
	assert_int_equal(lookup_thread(profile, "10", &thread, &error), 0); /* a number is tried before a name */
	assert_int_equal(thread, 0);
	assert_int_equal(lookup_thread(profile, "main", &thread, &error), 0);
	assert_int_equal(thread, 0);
	assert_int_equal(lookup_thread(profile, "all", &thread, &error), 0);
	assert_true(thread == VIEW_ANY);
	assert_int_equal(lookup_thread(profile, "worker", &thread, &error), ERROR_AMBIGUOUS);
	assert_non_null(strstr(error.message, "#2 (TID 11), #3 (TID 12)"));
	assert_int_equal(lookup_thread(profile, "#3", &thread, &error), 0);
	assert_int_equal(thread, 2);
	assert_int_equal(lookup_thread(profile, "14", &thread, &error), ERROR_AMBIGUOUS);
	assert_int_equal(lookup_thread(profile, "#0", &thread, &error), ERROR_NOT_FOUND);
	assert_int_equal(lookup_thread(profile, "#7", &thread, &error), ERROR_NOT_FOUND);
	assert_int_equal(lookup_thread(profile, "nobody", &thread, &error), ERROR_NOT_FOUND);
	assert_non_null(strstr(error.message, "10 (main), 11 (worker)"));
	assert_int_equal(thread, 2);
	profile_free(profile);
}

static void test_processes(void **state)
{
	(void)state;
	static const struct {
		uint32_t pid;
		const char *name, *cgroup;
	} rows[] = { { 1, "init", "/init.scope" },
		     { 20, "sh", "/system.slice/cron.service" },
		     { 21, "sh", "/system.slice/docker-77.scope/inner" },
		     { 22, "kthreadd", "/" },
		     { 20, "cc", "" } };
	static const struct {
		bool by_group;
		const char *text, *chosen;
	} cases[] = {
		{ false, "1", "1...." },
		{ false, "20", ".1..1" },
		{ false, "sh", ".11.." },
		{ false, "#3", "..1.." },
		{ false, "nobody", NULL },
		{ false, "#6", NULL },
		{ true, "/", "1111." },
		{ true, "/system.slice", ".11.." },
		{ true, "/system.slice/", ".11.." },
		{ true, "/system", NULL },
		{ true, "system.slice", ".11.." },
		{ true, "cron.service", ".1..." },
		{ true, "*docker*", "..1.." },
		{ true, "docker-*.scope", "..1.." },
		{ true, "docker-*.scope/*", "..1.." },
		{ true, "/cron.service", NULL },
		{ true, "[si]*", "111.." },
		{ true, "/[si]*", "111.." },
		{ true, "", NULL },
	};
	struct profile *profile = profile_new();
	for (size_t i = 0; i < 5; i++) {
		struct profile_process process = { .pid = rows[i].pid,
						   .name = (uint32_t)profile_add_string(profile, rows[i].name),
						   .cgroup = (uint32_t)profile_add_string(profile, rows[i].cgroup) };
		assert_true(profile_add_process(profile, &process) >= 0);
	}
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct error error = { 0 };
		bool chosen[5] = { false };
		char shown[6] = ".....";
		int status = cases[i].by_group ? lookup_cgroup(profile, cases[i].text, chosen, &error)
					       : lookup_process(profile, cases[i].text, chosen, &error);
		for (size_t k = 0; k < 5; k++)
			shown[k] = chosen[k] ? '1' : '.';
		if (status < 0 ? cases[i].chosen != NULL : !cases[i].chosen || strcmp(shown, cases[i].chosen) != 0)
			fail_msg("%s chooses %s: %s", cases[i].text, shown, error.message);
	}
	profile_free(profile);
	profile = profile_of_threads();
	struct error error;
	assert_int_equal(lookup_cgroup(profile, "/", (bool[8]){ 0 }, &error), ERROR_NOT_FOUND);
	assert_non_null(strstr(error.message, "record -a"));
	profile_free(profile);
}

static void test_resources(void **state)
{
	(void)state;
	struct error error;
	struct profile *profile = profile_of_threads();
	uint32_t resource = 99;
	assert_int_equal(lookup_resource(profile, "c", &resource, &error), 0);
	assert_int_equal(resource, 0);
	assert_int_equal(lookup_resource(profile, "page-faults", &resource, &error), 0);
	assert_int_equal(resource, 1);
	assert_int_equal(lookup_resource(profile, "page faults", &resource, &error), 0);
	assert_int_equal(resource, 1);
	assert_int_equal(lookup_resource(profile, "page", &resource, &error), ERROR_AMBIGUOUS);
	assert_int_equal(lookup_resource(profile, "", &resource, &error), ERROR_NOT_FOUND);
	assert_int_equal(lookup_resource(profile, "cycles", &resource, &error), ERROR_NOT_FOUND);
	assert_non_null(strstr(error.message, "it has cpu, page-faults, page-faults-major"));
	assert_int_equal(resource, 1);
	profile_free(profile);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_line),      cmocka_unit_test(test_words),   cmocka_unit_test(test_last_name),
		cmocka_unit_test(test_quote),     cmocka_unit_test(test_threads), cmocka_unit_test(test_processes),
		cmocka_unit_test(test_resources),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
