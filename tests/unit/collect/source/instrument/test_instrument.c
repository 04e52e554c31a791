/* The source instrumenter's text functions: the edit list, annotations, words. And the whole instrumenter, also
 * when memory runs short. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "collect/source/instrument/edits.h"
#include "collect/source/instrument/instrument.h"
#include "collect/source/instrument/parts.h"
#include "support/alloc_fail.h"

/* --- edits --- */

static void assert_copy(struct edits *edits, const char *original, const char *wanted)
{
	struct buffer copy;
	buffer_init(&copy);
	assert_int_equal(edits_apply(edits, original, strlen(original), &copy), 0);
	buffer_append_byte(&copy, 0);
	assert_string_equal((const char *)copy.bytes, wanted);
	buffer_release(&copy);
	edits_release(edits);
}

static void test_what_is_inserted_first_is_outermost(void **state)
{
	(void)state;
	struct edits edits;
	edits_init(&edits);
	edits_insert(&edits, 1, "F ");
	edits_wrap(&edits, 1, "{A ", 12, "}");
	edits_wrap(&edits, 8, "{B ", 12, "}");
	edits_wrap(&edits, 12, "{C ", 16, "}");
	assert_copy(&edits, "{for(;;)f();g();}", "{F {A for(;;){B f();}}{C g();}}");
}

static void test_edits_in_any_order(void **state)
{
	(void)state;
	struct edits edits;
	edits_init(&edits);
	edits_insert(&edits, 3, "3");
	edits_insert(&edits, 0, "0");
	edits_insert(&edits, 6, "6");
	assert_copy(&edits, "abcdef", "0abc3def6");
	edits_init(&edits);
	assert_copy(&edits, "", "");
}

static void test_an_edit_behind_the_end(void **state)
{
	(void)state;
	struct edits edits;
	struct buffer copy;
	edits_init(&edits);
	buffer_init(&copy);
	edits_insert(&edits, 4, "x");
	assert_int_equal(edits_apply(&edits, "abc", 3, &copy), ERROR_CORRUPT);
	edits_release(&edits);
	buffer_release(&copy);
}

static void test_replaced_parts(void **state)
{
	(void)state;
	struct edits edits;
	struct buffer copy;
	edits_init(&edits);
	edits_insert(&edits, 4, "<");
	edits_replace(&edits, 4, 3, "g_1");
	edits_replace(&edits, 0, 1, "");
	assert_copy(&edits, "ab, old(c)", "b, <g_1(c)");
	/* parts that overlap, and one that the text does not have */
	static const uint32_t wrong[][2] = { { 2, 3 }, { 8, 4 } };
	for (size_t i = 0; i < 2; i++) {
		edits_init(&edits);
		buffer_init(&copy);
		edits_replace(&edits, 0, 3, "x");
		edits_replace(&edits, wrong[i][0], wrong[i][1], "y");
		assert_int_equal(edits_apply(&edits, "0123456789", 10, &copy), ERROR_CORRUPT);
		edits_release(&edits);
		buffer_release(&copy);
	}
}

static int make_many_edits(void)
{
	struct edits edits;
	struct buffer copy;
	edits_init(&edits);
	buffer_init(&copy);
	for (uint32_t i = 0; i < 40; i++)
		edits_wrap(&edits, i, "{", i + 1, "}");
	int code = edits_apply(&edits, "0123456789012345678901234567890123456789", 40, &copy);
	assert_true(code == ERROR_MEMORY || (code == 0 && copy.size == 120));
	edits_release(&edits);
	buffer_release(&copy);
	return code;
}

static void test_edits_without_memory(void **state)
{
	(void)state;
	ALLOC_FAIL_EACH(make_many_edits());
	assert_int_equal(make_many_edits(), 0);
}

/* --- annotations --- */

struct parsed {
	struct annotation annotation;
	struct instrument_arena *arena;
	bool is_ours;
};

static struct parsed parse(const char *text)
{
	struct parsed parsed = { .arena = instrument_arena_new() };
	assert_non_null(parsed.arena);
	parsed.is_ours = annotation_parse(&parsed.annotation, text, strlen(text), parsed.arena);
	return parsed;
}

static void test_annotation(void **state)
{
	(void)state;
	struct parsed all = parse(" cpprof: group(io), level(3) hook(f, (a), \"b)\") off ");
	assert_true(all.is_ours && all.annotation.is_off);
	assert_string_equal(all.annotation.group, "io");
	assert_string_equal(all.annotation.hook, "f, (a), \"b)\"");
	assert_int_equal(all.annotation.level, 3);
	assert_null(all.annotation.wrong);
	instrument_arena_free(all.arena);

	struct parsed starred = parse("*\n * What it does.\n * cpprof: group(\"a b\")\n *   level(1)\n ");
	assert_true(starred.is_ours);
	assert_string_equal(starred.annotation.group, "a b");
	assert_int_equal(starred.annotation.level, 1);
	assert_null(starred.annotation.wrong);
	instrument_arena_free(starred.arena);
}

static void test_annotation_that_is_none(void **state)
{
	(void)state;
	static const char *const others[] = { "", "cpprof", "see cpprof: it is off", "* * *", "\n\n", "cppro:" };
	for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++) {
		struct parsed parsed = parse(others[i]);
		assert_false(parsed.is_ours);
		instrument_arena_free(parsed.arena);
	}
}

static void test_annotation_that_is_wrong(void **state)
{
	(void)state;
	static const char *const wrong[] = {
		"cpprof: grop(io)",        "cpprof: group",       "cpprof: group(",
		"cpprof: group()",         "cpprof: level(5)",    "cpprof: level(12)",
		"cpprof: hook(1)",         "cpprof: hook(f, //)", "cpprof: hook(f,\n#define x)",
		"cpprof: group(a\nb) off", "cpprof: (",           "cpprof: hook(f, /* a)"
	};
	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		struct parsed parsed = parse(wrong[i]);
		assert_true(parsed.is_ours);
		assert_non_null(parsed.annotation.wrong);
		assert_false(parsed.annotation.is_off || parsed.annotation.group || parsed.annotation.hook ||
			     parsed.annotation.level);
		instrument_arena_free(parsed.arena);
	}
}

/* Returns the group of the function in `text` that begins at '@' and whose body begins at '{'. */
static const char *group_found(const char *text, struct instrument_arena *arena)
{
	struct annotation annotation = { 0 };
	const char *start = strchr(text, '@'), *open = strchr(start, '{');
	annotation_find(&annotation, text, (size_t)(start - text), (size_t)(open - text), arena);
	return annotation.group;
}

static void test_where_annotations_are(void **state)
{
	(void)state;
	struct instrument_arena *arena = instrument_arena_new();
	assert_non_null(arena);
	static const char *const near[] = { "/* cpprof: group(x) */@int f() {", "// cpprof: group(x)\n\n@int f()\n{",
					    "  // cpprof: group(x)\n  // other\n/* more */ @int f() {",
					    "@int f() /* cpprof: group(x) */ {", "@int f() // cpprof: group(x)\n{" };
	for (size_t i = 0; i < sizeof(near) / sizeof(near[0]); i++) {
		const char *group = group_found(near[i], arena);
		assert_non_null(group);
		assert_string_equal(group, "x");
	}
	static const char *const far[] = { "/* cpprof: group(x) */ int g;\n@int f() {",
					   "@int f() { /* cpprof: group(x) */",
					   "int g; // cpprof: group(x)\n@int f() {",
					   "*/@{",
					   "/@{",
					   "cpprof: group(x) */@{" };
	for (size_t i = 0; i < sizeof(far) / sizeof(far[0]); i++)
		assert_null(group_found(far[i], arena));
	instrument_arena_free(arena);
}

/* --- the whole instrumenter --- */

static char source_path[] = "/tmp/test_instrument_XXXXXX.c";

static int write_source(const char *text)
{
	memcpy(strrchr(source_path, '.') - 6, "XXXXXX", 6);
	int file = mkstemps(source_path, 2);
	assert_true(file >= 0);
	assert_int_equal(write(file, text, strlen(text)), (ssize_t)strlen(text));
	return close(file);
}

static int instrument(const char *text, const char *word, struct instrument_result *result, struct error *error)
{
	write_source(text);
	const char *const words[] = { word, "-fno-such-option", "-o", "x.c", "-Wall" };
	const struct instrument_source source = { .path = source_path,
						  .compiler = "cc",
						  .words = words,
						  .word_count = sizeof(words) / sizeof(words[0]),
						  .profiler = "p.h",
						  .shown = "a \"b\".c" };
	int code = instrument_file(&source, result, error);
	unlink(source_path);
	return code;
}

static void assert_instrumented(const char *text, const char *wanted)
{
	struct instrument_result result;
	struct error error;
	if (instrument(text, "-O2", &result, &error) != 0)
		fail_msg("%s", error.message);
	assert_int_equal(result.copy_count, 1);
	assert_int_equal(result.copies[0].size, strlen(result.copies[0].text));
	assert_string_equal(result.copies[0].text, wanted);
	instrument_release(&result);
}

#define HEAD "#include \"p.h\"\n#line 1 \"a \\\"b\\\".c\"\n"

static void test_copies(void **state)
{
	(void)state;
	assert_instrumented("int f(void)\n{ return 1; }\n",
			    HEAD "int f(void)\n{CPPROF_TOOL_FUNCTION(1,1,1,0)  return 1; }\n");
	/* Without a function, the text stays the same in every byte. */
	assert_instrumented("int x;\r\n", "int x;\r\n");
	assert_instrumented("\xef\xbb\xbfint x;", "\xef\xbb\xbfint x;");
	assert_instrumented("\xef\xbb\xbf"
			    "void f(void){}",
			    HEAD "void f(void){CPPROF_TOOL_FUNCTION(1,1,1,0) }");
	assert_instrumented("#define B {\nvoid f(void) B }\nvoid g(void) <% %>",
			    HEAD "#define B {\nvoid f(void) B }\nvoid g(void) <%CPPROF_TOOL_FUNCTION(1,1,3,0)  %>");
}

/* The long forms of -D, -U and -include take the next word, which must reach the parser with them. */
static void test_long_options(void **state)
{
	(void)state;
	static const char *const words[] = { "--define-macro", "TYPE=int", "--undefine-macro", "__linux__",
					     "--include",      "stdint.h", "-Xopenmp-target",  "-DTYPE=nothing" };
	static const char text[] = "#ifndef __linux__\nTYPE f(uint8_t x) { return x; }\n#endif\n";
	struct instrument_result result;
	struct error error = { 0 };
	write_source(text);
	const struct instrument_source source = { .path = source_path,
						  .compiler = "cc",
						  .words = words,
						  .word_count = sizeof(words) / sizeof(words[0]),
						  .profiler = "p.h" };
	if (instrument_file(&source, &result, &error) != 0)
		fail_msg("%s", error.message);
	unlink(source_path);
	assert_int_equal(result.point_count, 1);
	instrument_release(&result);
}

static void test_source_that_does_not_parse(void **state)
{
	(void)state;
	struct instrument_result result;
	struct error error;
	assert_int_equal(instrument("int x;\nint f(void) {}\nint = 3;\n", "-O0", &result, &error), ERROR_FORMAT);
	assert_non_null(strstr(error.message, ".c:3: "));
	instrument_release(&result);
	assert_int_equal(instrument("#include \"no/such.h\"\n", "-O0", &result, &error), ERROR_FORMAT);
	assert_non_null(strstr(error.message, "no/such.h"));
	instrument_release(&result);
	assert_int_equal(instrument("int x;\n", "-xassembler", &result, &error), ERROR_UNSUPPORTED);
	instrument_release(&result);
	/* An error inside a function prevents the instrumentation of only that function. */
	assert_int_equal(
		instrument("int f(void) { return nothing; }\nint g(void) { return 1; }\n", "-O0", &result, &error), 0);
	assert_int_equal(result.point_count, 2);
	assert_non_null(result.points[0].skipped);
	assert_null(result.points[1].skipped);
	instrument_release(&result);
}

static void test_without_memory(void **state)
{
	(void)state;
	struct instrument_result result;
	struct error error;
	int code = 0;
	ALLOC_FAIL_EACH({
		code = instrument("/* cpprof: group(g) */ int f(int n) { while (n--) f(n); return 0; }\n", "-O2",
				  &result, &error);
		assert_true(code == 0 || code == ERROR_MEMORY);
		instrument_release(&result);
	});
	assert_int_equal(code, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_what_is_inserted_first_is_outermost),
		cmocka_unit_test(test_edits_in_any_order),
		cmocka_unit_test(test_an_edit_behind_the_end),
		cmocka_unit_test(test_replaced_parts),
		cmocka_unit_test(test_edits_without_memory),
		cmocka_unit_test(test_annotation),
		cmocka_unit_test(test_annotation_that_is_none),
		cmocka_unit_test(test_annotation_that_is_wrong),
		cmocka_unit_test(test_where_annotations_are),
		cmocka_unit_test(test_copies),
		cmocka_unit_test(test_long_options),
		cmocka_unit_test(test_source_that_does_not_parse),
		cmocka_unit_test(test_without_memory),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
