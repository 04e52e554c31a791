/* The input of the compiler wrapper: command lines, dependency files, compile_commands.json. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "collect/source/compile/build.h"
#include "collect/source/compile/database.h"
#include "collect/source/compile/dependencies.h"
#include "collect/source/compile/words.h"

static void read_line(struct compile_words *words, const char *line)
{
	char *copy = strdup(line);
	char *list[64] = { NULL };
	size_t count = 0;
	for (char *at = copy, *word; count < 63 && (word = strsep(&at, " "));)
		list[count++] = word;
	assert_int_equal(compile_words_read(words, list), 0);
	free(copy);
}

static void test_command_lines(void **state)
{
	(void)state;
	static const struct {
		const char *line;
		enum compile_mode mode;
		const char *sources; /* joined by blanks */
		const char *output;
		const char *why; /* a part of the message; NULL: no message */
	} rows[] = {
		{ "gcc -c a.c", COMPILE_OBJECT, "a.c", NULL, NULL },
		{ "gcc -c a.c -oa.o", COMPILE_OBJECT, "a.c", "a.o", NULL },
		{ "gcc -O2 -o p a.c b.cc c.o -lm", COMPILE_LINK, "a.c b.cc", "p", NULL },
		{ "gcc -S -c a.c", COMPILE_ASSEMBLY, "a.c", NULL, NULL },
		{ "gcc -o p a.o", COMPILE_LINK, "", "p", NULL },
		{ "gcc -shared -o p -lfoo", COMPILE_LINK, "", "p", NULL },
		{ "ccache gcc -c a.c", COMPILE_OBJECT, "a.c", NULL, NULL },
		{ "env X=1 ccache g++ -c a.cpp", COMPILE_OBJECT, "a.cpp", NULL, NULL },
		{ "gcc -include a.c -I b.c -D c.c -isystem d.c -MF e.c -MT f.c -Xlinker g.c --param h.c -c i.c",
		  COMPILE_OBJECT, "i.c", NULL, NULL },
		{ "gcc --include a.c --define-macro b.c -T c.c -z d.c -rpath e.c -Xclang f.c -specs g.c -l h.c -c i.c",
		  COMPILE_OBJECT, "i.c", NULL, NULL },
		{ "gcc -x c a.txt -x none b.o -o p", COMPILE_LINK, "a.txt", "p", NULL },
		{ "gcc -xc++ - -c", COMPILE_OBJECT, "-", NULL, NULL },
		{ "gcc -E a.c", COMPILE_PASS, "a.c", NULL, NULL },
		{ "gcc -M a.c", COMPILE_PASS, "a.c", NULL, NULL },
		{ "gcc -fsyntax-only a.c", COMPILE_PASS, "a.c", NULL, NULL },
		{ "gcc --version", COMPILE_PASS, "", NULL, NULL },
		{ "gcc -v", COMPILE_PASS, "", NULL, NULL },
		{ "gcc", COMPILE_PASS, "", NULL, NULL },
		{ "gcc -print-file-name=libc.so a.c", COMPILE_PASS, "a.c", NULL, NULL },
		{ "gcc -c a.s b.S", COMPILE_PASS, "", NULL, NULL },
		{ "gcc -c a.h", COMPILE_PASS, "", NULL, NULL },
		{ "gcc -x c++-header a.c", COMPILE_PASS, "", NULL, NULL },
		{ "gcc -x assembler a.c", COMPILE_PASS, "", NULL, NULL },
		{ "gcc -c a.c b.c -o c.o", COMPILE_PASS, "a.c b.c", "c.o", NULL },
		{ "gcc -m32 -c a.c", COMPILE_PASS, "a.c", NULL, "64 bits" },
		{ "gcc -c a.c -ffreestanding", COMPILE_PASS, "a.c", NULL, "freestanding" },
		{ "gcc -nostdlib a.c", COMPILE_PASS, "a.c", NULL, "nostdlib" },
		{ "arm-linux-gnueabihf-gcc -c a.c", COMPILE_PASS, "a.c", NULL, "another processor" },
		{ "clang --target=aarch64-linux-gnu -c a.c", COMPILE_PASS, "a.c", NULL, "another processor" },
		{ "x86_64-linux-gnu-gcc-12 -c a.c", COMPILE_OBJECT, "a.c", NULL, NULL },
		{ "gcc -save-temps -c a.c", COMPILE_PASS, "a.c", NULL, "save-temps" },
		{ "gcc --coverage a.c", COMPILE_PASS, "a.c", NULL, "in one go" },
		{ "gcc --coverage -c a.c", COMPILE_OBJECT, "a.c", NULL, NULL },
		{ "gcc -c a.c -MD -MF -", COMPILE_PASS, "a.c", NULL, "standard output" },
	};
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct compile_words words;
		char sources[256] = "";
		read_line(&words, rows[i].line);
		for (size_t k = 0; k < words.source_count; k++) {
			size_t used = strlen(sources);
			snprintf(sources + used, sizeof(sources) - used, "%s%s", k ? " " : "", words.sources[k].path);
		}
		if (words.mode != rows[i].mode)
			fail_msg("%s: mode %d", rows[i].line, (int)words.mode);
		assert_string_equal(sources, rows[i].sources);
		assert_int_equal(words.output == NULL, rows[i].output == NULL);
		if (words.output)
			assert_string_equal(words.output, rows[i].output);
		assert_int_equal(words.why == NULL, rows[i].why == NULL);
		if (words.why)
			assert_non_null(strstr(words.why, rows[i].why));
		compile_words_release(&words);
	}
}

static void test_response_file(void **state)
{
	(void)state;
	char path[] = "/tmp/cpprof-response-XXXXXX", line[128];
	static const char text[] = "-O2 '-DA=\"x y\"'\n -DB=a\\ b\t\"a c.c\"\n@/nowhere -c";
	int fd = mkstemp(path);
	assert_true(fd >= 0 && write(fd, text, sizeof(text) - 1) == (ssize_t)sizeof(text) - 1);
	close(fd);
	struct compile_words words;
	snprintf(line, sizeof(line), "gcc @%s -Wall", path);
	read_line(&words, line);
	static const char *const expected[] = { "gcc",   "-O2",       "-DA=\"x y\"", "-DB=a b",
						"a c.c", "@/nowhere", "-c",          "-Wall" };
	assert_int_equal(words.count, sizeof(expected) / sizeof(expected[0]));
	for (size_t i = 0; i < words.count; i++)
		assert_string_equal(words.words[i], expected[i]);
	assert_int_equal(words.source_count, 1);
	assert_true(words.had_response_file);
	compile_words_release(&words);
	unlink(path);
}

static void test_probes(void **state)
{
	(void)state;
	static const struct {
		const char *line;
		bool is_probe;
	} rows[] = {
		{ "gcc -c conftest.c", true },
		{ "gcc -o conftest conftest.o -lm", true },
		{ "gcc -o x /b/CMakeFiles/CMakeTmp/src.c", true },
		{ "gcc /b/meson-private/tmpx/testfile.c -o y", true },
		{ "gcc -c a.c -o /dev/null", true },
		{ "gcc -c a.c -DX=conftest.c", false },
		{ "gcc -c CMakeFiles/t.dir/a.c", false },
		{ "gcc -c myconftest.c", false },
	};
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct compile_words words;
		read_line(&words, rows[i].line);
		if (compile_words_is_probe(&words) != rows[i].is_probe)
			fail_msg("%s", rows[i].line);
		compile_words_release(&words);
	}
}

static void test_dependencies(void **state)
{
	(void)state;
	static const char before[] = "a.o: /tmp/c-1/0/a\\ b.c /usr/include/cpprof/profiler.h /usr/include/cpprof/cpu.h "
				     "\\\n inc/a.h /tmp/c-1/0-2/x.h\n"
				     "/usr/include/cpprof/profiler.h:\n/usr/include/cpprof/cpu.h:\n/tmp/c-1/0-2/x.h:\n";
	static const char after[] = "a.o: src/a\\ b.c   \\\n inc/a.h inc/x.h\ninc/x.h:\n";
	static const struct path_change changes[] = { { "/tmp/c-1/0/", "src/" }, { "/tmp/c-1/0-2/", "./inc/" } };
	static const char *const dropped[] = { "/usr/include/cpprof/profiler.h", "/usr/include/cpprof/cpu.h", NULL };
	char path[] = "/tmp/cpprof-rules-XXXXXX";
	int fd = mkstemp(path);
	assert_true(fd >= 0 && write(fd, before, sizeof(before) - 1) == (ssize_t)sizeof(before) - 1);
	close(fd);
	struct error error = { 0 };
	assert_int_equal(dependencies_restore(path, changes, 2, dropped, &error), 0);
	size_t size = 0;
	char *text = text_read(path, &size);
	assert_non_null(text);
	assert_string_equal(text, after);
	free(text);
	unlink(path);
	/* A path that is not a regular file is ignored. */
	assert_int_equal(dependencies_restore("/dev/null", changes, 2, dropped, &error), 0);
	assert_int_equal(dependencies_restore("/nowhere", changes, 2, dropped, &error), 0);
}

static int parse(struct database *database, const char *text, struct error *error)
{
	return database_parse(database, "db.json", text, strlen(text), error);
}

static void test_database(void **state)
{
	(void)state;
	struct database database;
	struct error error = { 0 };
	static const char text[] = "[ {\"directory\": \"/b\", \"command\": \"gcc -DA=\\\\\\\"x y\\\\\\\" '-DB=\\\\n' "
				   "-c a\\\\ b.c\", \"file\": \"a b.c\"},\n"
				   "  {\"file\": \"/\\u00fc\\ud83d\\ude00.c\", \"output\": [1, {\"x\": null}, -2.5e3], "
				   "\"arguments\": [\"cc\", \"-c\"]}]\n";
	if (parse(&database, text, &error) < 0)
		fail_msg("%s", error.message);
	assert_int_equal(database.entry_count, 2);
	static const char *const words[] = { "gcc", "-DA=\"x", "y\"", "-DB=\\n", "-c", "a b.c" };
	assert_int_equal(database.entries[0].word_count, 6);
	for (size_t i = 0; i < 6; i++)
		assert_string_equal(database.entries[0].words[i], words[i]);
	assert_string_equal(database.entries[0].directory, "/b");
	assert_string_equal(database.entries[1].file, "/\xc3\xbc\xf0\x9f\x98\x80.c");
	assert_int_equal(database.entries[1].word_count, 2);
	database_release(&database);
	static const struct {
		const char *text, *what;
	} rows[] = {
		{ "", "db.json: not JSON at byte " },
		{ "{}", "db.json: it is no list of entries" },
		{ "[1]", "db.json: entry 1: it is no object" },
		{ "[{\"file\": \"a\", \"command\": \"cc\"}, {\"file\": \"a\"}]",
		  "db.json: entry 2: it has no 'file', or neither 'command' nor 'arguments'" },
		{ "[{\"command\": \"cc\"}]", "it has no 'file'" },
		{ "[{\"file\": 1}]", "entry 1: 'file' or 'directory' is no string" },
		{ "[{\"file\": \"a\\u0000\"}]", "'file' or 'directory' is no string" },
		{ "[{\"command\": []}]", "'command' is no string" },
		{ "[{\"arguments\": \"cc\"}]", "'arguments' is no list" },
		{ "[{\"arguments\": [1]}]", "an argument is no string" },
		{ "[] []", "db.json: not JSON at byte " },
	};
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		int code = parse(&database, rows[i].text, &error);
		if (code != ERROR_FORMAT || !strstr(error.message, rows[i].what))
			fail_msg("%s: %s", rows[i].text, error.message);
		database_release(&database);
	}
	char deep[512] = "[{\"x\": ";
	memset(deep + 7, '[', 400);
	assert_int_equal(parse(&database, deep, &error), ERROR_FORMAT);
	database_release(&database);
}

/* --- what the compiler rejects --- */

/* Functions f (line 2), g (line 7, with a hook) and h (line 12, with a hook) of a.c, each of 4 lines. */
static const struct source_point rejectable[] = {
	{ .file = "a.c", .name = "f", .line = 2, .end_line = 5 },
	{ .file = "a.c", .name = "g", .line = 7, .end_line = 10, .hook = "count, n" },
	{ .file = "a.c", .name = "h", .line = 12, .end_line = 15, .hook = "count , n" },
};
enum { REJECTABLE = sizeof(rejectable) / sizeof(rejectable[0]) };

static void test_rejected_points(void **state)
{
	(void)state;
	static const struct {
		const char *messages;
		const char *points, *hooks; /* what is excluded */
		const char *mistake;
	} rows[] = {
		{ "", "", "", NULL },
		{ "a.c:3:1: error: no\n", "f", "", NULL },
		{ "a.c:2:1: error: no\na.c:13:1: error: no\n", "f", "", NULL },
		{ "a.c:7:9: error: 'count_enter' undeclared\nint g()\n", "", "g",
		  "its hook 'count' is not called: 'count_enter' undeclared" },
		/* Warnings and notes name functions that the compiler accepts. */
		{ "a.c:2:1: warning: no\na.c:12:9: error: bad\na.c:7:1: note: here\n", "", "h",
		  "its hook 'count' is not called: bad" },
		{ "a.c:14:9: error: bad\na.c:7:1: note: here\n", "h", "", NULL },
		/* Another language, and a template whose header has the error. */
		{ "a.c:12:9: Fehler: schlecht\n", "", "h", "its hook 'count' is not called: 9: Fehler: schlecht" },
		{ "x.h:1:1: error: bad\na.c:2:9:   required from here\n", "f", "", NULL },
		{ "aa.c:20:1: error: bad\na.c:72:1: error: bad\n", "", "", NULL },
	};
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct source_point points[REJECTABLE];
		memcpy(points, rejectable, sizeof(points));
		struct instrument_result result = { .points = points, .point_count = REJECTABLE };
		struct selection *selection = selection_new();
		bool has_any = rejected_points_except(selection, &result, rows[i].messages);
		for (size_t k = 0; k < REJECTABLE; k++) {
			bool had_hook = points[k].hook != NULL;
			selection_decide(selection, &points[k]);
			bool is_unhooked = had_hook && !points[k].hook;
			assert_int_equal(points[k].skipped != NULL, strchr(rows[i].points, *points[k].name) != NULL);
			assert_int_equal(is_unhooked, strchr(rows[i].hooks, *points[k].name) != NULL);
			if (is_unhooked)
				assert_string_equal(points[k].mistake, rows[i].mistake);
		}
		assert_int_equal(has_any, rows[i].points[0] || rows[i].hooks[0]);
		selection_free(selection);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_command_lines), cmocka_unit_test(test_response_file),
		cmocka_unit_test(test_probes),        cmocka_unit_test(test_dependencies),
		cmocka_unit_test(test_database),      cmocka_unit_test(test_rejected_points),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
