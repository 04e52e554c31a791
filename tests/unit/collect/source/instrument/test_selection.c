/* Instrumentation filters: rules of cpprof, of TAU and of Score-P, and errors in a filter file. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "collect/source/instrument/selection.h"
#include "collect/source/instrument/selection_expression.h"
#include "collect/source/instrument/selection_rules.h"
#include "support/alloc_fail.h"

/* Reads a copy, since the reader writes into the text. */
static int read_rules(struct selection *selection, const char *text, struct error *error)
{
	size_t size = strlen(text);
	char *copy = strdup(text);
	assert_non_null(copy);
	int code = selection_read_text(selection, "my.select", copy, size, error);
	free(copy);
	return code;
}

static struct selection *rules(const char *text)
{
	struct error error = { 0 };
	struct selection *selection = selection_new();
	assert_non_null(selection);
	if (read_rules(selection, text, &error) < 0)
		fail_msg("%s", error.message);
	return selection;
}

static struct source_point function(const char *file, const char *name, const char *signature)
{
	return (struct source_point){ .kind = PROBE_FUNCTION,
				      .level = PROBE_LEVEL_FUNCTION,
				      .name = name,
				      .signature = signature,
				      .file = file,
				      .line = 7,
				      .statements = 5 };
}

static bool takes_point(const char *text, struct source_point point)
{
	struct selection *selection = rules(text);
	selection_decide(selection, &point);
	bool is_in = point.skipped == NULL;
	selection_free(selection);
	return is_in;
}

/* Returns whether a function is instrumented. */
static bool takes(const char *text, const char *file, const char *name, const char *signature)
{
	return takes_point(text, function(file, name, signature));
}

static void test_without_rules(void **state)
{
	(void)state;
	assert_true(takes("", "a.c", "f", "f()"));
	assert_true(takes("# nothing\n\n   # at all\n", "a.c", "f", "f()"));
	struct selection *selection = selection_new();
	struct source_point point = function("a.h", "f", "f()");
	point.is_header = true;
	selection_decide(selection, &point);
	assert_string_equal(point.skipped, "in a header");
	point = function("a.c", "f", "f()");
	point.skipped = "naked";
	selection_decide(selection, &point);
	assert_string_equal(point.skipped, "naked");
	assert_int_equal(selection_level(selection), PROBE_LEVEL_FUNCTION);
	selection_free(selection);
}

static void test_includes_then_excludes(void **state)
{
	(void)state;
	static const char text[] = "exclude function parse_debug\n"
				   "include function parse*   # a comment\n"
				   "include file core/*.c\n";
	assert_true(takes(text, "a.c", "parse_line", NULL));
	assert_false(takes(text, "a.c", "parse_debug", NULL));
	assert_false(takes(text, "a.c", "main", NULL));
	assert_true(takes(text, "../src/core/x.c", "main", NULL));
	assert_false(takes(text, "/src/core/x.c", "parse_debug", NULL));
	assert_false(takes(text, "hardcore/x.c", "main", NULL));
	assert_true(takes("include parse*", "a.c", "parse_line", NULL));
	assert_false(takes("exclude file <\\.h$>", "inc/a.h", "f", NULL));
	assert_true(takes("exclude file <\\.h$>", "inc/a.hpp", "f", NULL));
}

static void test_names(void **state)
{
	(void)state;
	assert_true(takes("include function ns::C<int>::f", "a.cc", "ns::C<int>::f", "f(int)"));
	assert_true(takes("include function f", "a.cc", "ns::C<a::b>::f", "f(int)"));
	assert_false(takes("include function C", "a.cc", "ns::C<a::b>::f", "f(int)"));
	assert_true(takes("include function ns::*", "a.cc", "ns::C::f", "f(int)"));
	assert_false(takes("include function ns::?", "a.cc", "ns::C::f", "f(int)"));
	assert_true(takes("include function f(int, char*)", "a.cc", "ns::f", "f(int, char *)"));
	assert_true(takes("include function ns::f( int )", "a.cc", "ns::f", "f(int)"));
	assert_true(takes("include function f(unsigned int)", "a.cc", "f", "f(unsigned int)"));
	assert_false(takes("include function f(int)", "a.cc", "f", "f(unsigned int)"));
	assert_true(takes("include function f(*)", "a.cc", "f", "f(unsigned int)"));
	assert_true(takes("include kernel::<local>", "a.cc", "kernel::is_local", "is_local()"));
	assert_false(takes("include kernel::<local>", "a.cc", "user::is_local", "is_local()"));
	assert_true(takes("include <^get|^set>", "a.cc", "set_x", NULL));
	assert_false(takes("include <^get|^set>", "a.cc", "reset_x", NULL));
	assert_true(takes("include function operator<", "a.cc", "ns::operator<", "operator<(C, C)"));
	assert_true(takes("include function [a-c]x", "a.c", "bx", NULL));
	assert_false(takes("include function [!a-c]x", "a.c", "bx", NULL));
	assert_true(takes("include function \"operator new\"", "a.cc", "operator new", "operator new(unsigned long)"));
	assert_true(takes("include function f.g", "a.c", "f.g", NULL));
	assert_false(takes("include function f.g", "a.c", "fxg", NULL));
}

static void test_size(void **state)
{
	(void)state;
	static const struct {
		const char *text;
		bool tiny, always, small; /* whether each is instrumented */
	} rows[] = {
		{ "", false, false, true },
		{ "tiny on", true, false, true },
		{ "always-inline on", false, true, true },
		{ "statements 3", false, false, false },
		{ "include function g*\nstatements 3", false, false, false },
		{ "include function get\nstatements 3", true, true, true },
		{ "tiny on\nalways-inline on\ntiny off", false, true, true },
	};
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct selection *selection = rules(rows[i].text);
		struct source_point tiny = function("a.c", "get", "get()");
		struct source_point always = tiny, small = tiny;
		tiny.is_inline = true;
		tiny.statements = 1;
		always.is_always_inline = true;
		small.statements = 2;
		selection_decide(selection, &tiny);
		selection_decide(selection, &always);
		selection_decide(selection, &small);
		assert_int_equal(tiny.skipped == NULL, rows[i].tiny);
		assert_int_equal(always.skipped == NULL, rows[i].always);
		assert_int_equal(small.skipped == NULL, rows[i].small);
		selection_free(selection);
	}
}

static void test_groups_and_levels(void **state)
{
	(void)state;
	struct selection *selection = rules("group io function read_*\n"
					    "group disk function read_block\n"
					    "level loops file hot.c\n"
					    "level calls function inner\n");
	struct source_point point = function("a.c", "read_line", NULL);
	assert_int_equal(selection_level(selection), PROBE_LEVEL_CALL);
	selection_decide(selection, &point);
	assert_string_equal(point.group, "io");
	point = function("a.c", "read_block", NULL);
	selection_decide(selection, &point);
	assert_string_equal(point.group, "disk");
	point = function("a.c", "inner: loop at 12", NULL);
	point.kind = PROBE_LOOP;
	point.level = PROBE_LEVEL_LOOP;
	selection_decide(selection, &point);
	assert_null(point.skipped);
	point.name = "outer: loop at 12";
	selection_decide(selection, &point);
	assert_non_null(point.skipped);
	point.skipped = NULL;
	point.file = "src/hot.c";
	selection_decide(selection, &point);
	assert_null(point.skipped);
	selection_free(selection);
}

/* A pattern fits the last component of a qualified name, too. */
static void test_components(void **state)
{
	(void)state;
	static const struct {
		const char *rule, *name;
		bool fits;
	} cases[] = {
		{ "exclude function f", "ns::C<a::b>::f", true },
		{ "exclude function f", "ns::C<(a::b > 1)>::f", true },
		{ "exclude function b>::f", "ns::C<a::b>::f", false },
		{ "exclude function operator<", "ns::operator<", true },
		{ "exclude function operator->", "ns::C<int>::operator->", true },
		{ "exclude function f", "ns::f::g", false },
	};
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		if (takes(cases[i].rule, "a.cc", cases[i].name, NULL) == cases[i].fits)
			fail_msg("'%s' and '%s'", cases[i].rule, cases[i].name);
}

/* An expression behind a scope or folder applies to the rest, whose ends are '^' and '$'. */
static void test_expressions_behind_a_scope(void **state)
{
	(void)state;
	static const struct {
		const char *rule, *name, *signature;
		bool fits;
	} rows[] = {
		{ "exclude core::<^loop>", "core::loop_once", "loop_once()", true },
		{ "exclude core::<^loop>", "core::main_loop", "main_loop()", false },
		{ "exclude core::<^loop>", "user::loop", "loop()", false },
		{ "exclude core::<^loop>", "score::loop", "loop()", false },
		{ "exclude core::<loop$>", "core::main_loop", NULL, true },
		{ "exclude core::<loop$>", "core::loop_once", NULL, false },
		{ "exclude core::<^(run|loop)$>", "core::loop", NULL, true },
		{ "exclude core::<^(run|loop)$>", "core::looping", NULL, false },
		{ "exclude core::<^a|b$>", "core::xb", NULL, true },
		{ "exclude core::<^a|b$>", "core::xa", NULL, false },
		{ "exclude *::<^loop>", "a::b::loop", NULL, true },
		{ "exclude a::<^b::loop>", "a::b::loop", NULL, true },
		{ "exclude C<int>::<^get>", "C<int>::get", "get()", true },
		{ "exclude C<int>::<^get>", "C<long>::get", "get()", false },
		{ "exclude core::<^loop>x", "core::loop_x", NULL, true },
		{ "exclude core::<^loop>x", "core::loop_y", NULL, false },
		{ "exclude <^loop>", "core::loop", NULL, true },
		{ "exclude file src/core/<^[a-m].*\\.c$>", "f", NULL, true },
		{ "exclude file src/core/<^[n-z]>", "f", NULL, false },
		{ "exclude file core/<^e>.c", "f", NULL, true },
	};
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		if (takes(rows[i].rule, "src/core/each.c", rows[i].name, rows[i].signature) == rows[i].fits)
			fail_msg("'%s' and '%s'", rows[i].rule, rows[i].name);
}

static void test_tau(void **state)
{
	(void)state;
	static const struct {
		const char *name, *signature, *result, *canonical;
		const char *fitting, *other; /* names in a list, separated by ';' */
	} rows[] = {
		{ "sort", "sort(int *, int)", "int", "int",
		  "int sort(int *, int) C;sort;sort(int *,int);int sort#;int sort;\"# sort(#)\"",
		  "long sort(int *, int) C;"
		  "int sort(long *, int);int * sort(int *, int);unsigned int sort;\"# *sort(#)\";sort(long);\"# "
		  "C::sort(#)\"" },
		{ "begin", "begin()", "void", "void", "void begin(void) C;void begin();void #;\"#begin#\"", "int #" },
		{ "petscDestroyAll", NULL, "int", "int", "\"#Destroy#\"", "\"#Create#\";Destroy#" },
		{ "ns::K<int>::get", "get(char)", "void", "void", "void ns::K<int>::get(#);get",
		  "void ns::K<long>::get(#)" },
		{ "handler", "handler(int)", "std::function<void (int)>", "std::function<void (int)>",
		  "std::function<void (int)> handler(int);std::#", "std::function<int (int)> handler(int)" },
		{ "ns::all", "all()", "std::map<int, char *> &", "std::map<int, char *> &",
		  "std::map<int, char *> &ns::all()", "std::map<int, char *> ns::all()" },
		{ "tight", "tight()", "const T *", "const int *", "const T*tight();const int *#",
		  "T *tight();int *tight()" },
		{ "ns::C::operator*", "operator*(int)", "A &", "A &", "A &ns::C::operator*(int);A &#",
		  "B &ns::C::operator*(int)" },
		{ "count", "count()", "size_t", "unsigned long", "size_t count();unsigned long count() C",
		  "int count()" },
		{ "C::C", "C(int)", NULL, NULL, "C::C(int);\"#C(int)\"", "void C::C(int)" },
		{ "pointer", "pointer()", "int *", "int *", "int *#;int *pointer();int #", "int pointer();integer #" },
	};
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct source_point point = function("a.cc", rows[i].name, rows[i].signature);
		point.results[0] = rows[i].result;
		point.results[1] = rows[i].canonical;
		for (int is_other = 0; is_other < 2; is_other++) {
			char *list = strdup(is_other ? rows[i].other : rows[i].fitting), *rest = list, text[256];
			for (char *entry; (entry = strsep(&rest, ";"));) {
				snprintf(text, sizeof(text), "BEGIN_EXCLUDE_LIST\n# a comment\n%s\nEND_EXCLUDE_LIST\n",
					 entry);
				if (takes_point(text, point) != is_other)
					fail_msg("'%s' and %s", entry, rows[i].name);
			}
			free(list);
		}
	}
	/* Both the function and its file must be included. */
	static const char includes[] = "BEGIN_INCLUDE_LIST\n  int main#\nEND_INCLUDE_LIST\n"
				       "BEGIN_FILE_INCLUDE_LIST\n*.cpp\nmain.?\nEND_FILE_INCLUDE_LIST\n";
	struct source_point main = function("src/main.c", "main", "main(int, char **)");
	main.results[0] = main.results[1] = "int";
	assert_true(takes_point(includes, main));
	assert_false(takes(includes, "src/other.c", "main", "main(int, char **)"));
	assert_false(takes(includes, "src/main.c", "other", "other()"));
	assert_false(takes("BEGIN_FILE_EXCLUDE_LIST\nfoo*\nEND_FILE_EXCLUDE_LIST", "src/foo.c", "main", NULL));
	struct selection *selection = rules("BEGIN_INSTRUMENT_SECTION\nloops file=\"hot.c\" routine=\"#\"\n"
					    "END_INSTRUMENT_SECTION\n");
	assert_int_equal(selection_level(selection), PROBE_LEVEL_LOOP);
	selection_free(selection);
}

static void test_scorep(void **state)
{
	(void)state;
	static const char text[] = "SCOREP_REGION_NAMES_BEGIN\n"
				   "  EXCLUDE *          # all,\n"
				   "  INCLUDE solve_? main\n"
				   "          bar\n"
				   "  EXCLUDE solve_x MANGLED _Z3barv foo\n"
				   "SCOREP_REGION_NAMES_END\n";
	assert_true(takes(text, "a.c", "solve_1", NULL));
	assert_true(takes(text, "a.c", "main", NULL));
	assert_true(takes(text, "a.c", "bar", NULL));
	assert_false(takes(text, "a.c", "solve_x", NULL));
	assert_false(takes(text, "a.c", "other", NULL));
	assert_false(takes(text, "a.c", "foo", NULL)); /* in C */
	static const char *const linker_names[] = { "_ZN3Bar1zC1Ev", "_Z3barv", NULL };
	struct source_point bar = function("a.cc", "bar", "bar()"), foo = function("a.cc", "foo", "foo()");
	bar.is_cxx = foo.is_cxx = true;
	bar.linker_names = linker_names;
	assert_false(takes_point(text, bar));
	assert_true(takes_point("SCOREP_REGION_NAMES_BEGIN\nEXCLUDE MANGLED _Z3bar foo bar\nSCOREP_REGION_NAMES_END\n",
				bar));
	assert_true(
		takes_point("SCOREP_REGION_NAMES_BEGIN\nEXCLUDE MANGLED _Z3foov foo\nSCOREP_REGION_NAMES_END\n", foo));
	static const char includes[] =
		"SCOREP_REGION_NAMES_BEGIN\nEXCLUDE *\nINCLUDE MANGLED *Bar*\nSCOREP_REGION_NAMES_END\n";
	assert_true(takes_point(includes, bar));
	assert_false(takes_point(includes, foo));
	static const char files[] =
		"SCOREP_FILE_NAMES_BEGIN\nEXCLUDE */filtering/filter*\nINCLUDE */filtering/filter.c\n"
		"SCOREP_FILE_NAMES_END\n";
	assert_false(takes(files, "x/filtering/filter_a.c", "f", NULL));
	assert_true(takes(files, "x/filtering/filter.c", "f", NULL));
}

/* A function is excluded if any of the lists excludes it. */
static void test_together(void **state)
{
	(void)state;
	static const char text[] = "include function a*\n"
				   "BEGIN_EXCLUDE_LIST\nab\nEND_EXCLUDE_LIST\n"
				   "SCOREP_REGION_NAMES_BEGIN EXCLUDE\n"
				   "exclude function ac\n";
	struct error error = { 0 };
	struct selection *selection = selection_new();
	assert_int_equal(read_rules(selection, text, &error), ERROR_FORMAT);
	assert_non_null(strstr(error.message, "my.select:5:"));
	selection_free(selection);
	static const char good[] = "include function a*\n"
				   "BEGIN_EXCLUDE_LIST\nab\nEND_EXCLUDE_LIST\n"
				   "SCOREP_REGION_NAMES_BEGIN\nEXCLUDE ad\nSCOREP_REGION_NAMES_END\n"
				   "exclude function ac\n";
	assert_true(takes(good, "a.c", "aa", NULL));
	assert_false(takes(good, "a.c", "ab", NULL));
	assert_false(takes(good, "a.c", "ac", NULL));
	assert_false(takes(good, "a.c", "ad", NULL));
	assert_false(takes(good, "a.c", "b", NULL));
}

/* Expressions for which the C library may need excessive time or memory are refused, others are not. */
static void test_excess(void **state)
{
	(void)state;
	static const struct {
		const char *expression, *excess;
	} rows[] = {
		{ "get.*", NULL },
		{ "^(a|b)+_x$", NULL },
		{ "([a-z]+_)+", NULL },
		{ "(a+b*c?)+(d+)*", NULL },
		{ "[]+*?]+[^]^]*[[:alpha:]+*]+[[.].][=]=]]*", NULL },
		{ "\\*\\+\\{+", NULL },
		{ "(^|_)x{2,20}\\b", NULL },
		{ "*a|+b", NULL },
		{ "a)+", NULL },
		{ "a{12", NULL },
		{ "a++", "repeats another" },
		{ "a?+", "repeats another" },
		{ "a{2}*", "repeats another" },
		{ "[+]++", "repeats another" },
		{ "((a+)+b)*", "repeats another" },
		{ "(((a)*)|c)?", "repeats another" },
		{ "(^a)*", "an anchor" },
		{ "((x|$)y)+", "an anchor" },
		{ "(a\\b)?", "an anchor" },
		{ "^*", "an anchor" },
		{ "a{5000}", "too many rep" },
		{ "(a{255}){255}", "too many rep" },
		{ "a+b+c+d+e+f+g+h+i+j+k+l+m+", "too many rep" },
		{ "a{99999999999999999999999}", "too many rep" },
	};
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		const char *excess = selection_expression_excess(rows[i].expression);
		bool is_so = rows[i].excess ? excess && strstr(excess, rows[i].excess) : !excess;
		if (!is_so)
			fail_msg("%s: %s", rows[i].expression, excess ? excess : "may be");
	}
	char deep[200];
	memset(deep, '(', sizeof(deep) - 1);
	deep[sizeof(deep) - 1] = 0;
	assert_non_null(selection_expression_excess(deep));
}

static void test_errors(void **state)
{
	(void)state;
	static const struct {
		const char *text, *where, *what;
	} rows[] = {
		{ "include function a\nexlude b\n", "my.select:2:", "'exlude' is not a rule" },
		{ "include\n", "my.select:1:", "needs a pattern" },
		{ "\n\nexclude file\n", "my.select:3:", "needs a pattern" },
		{ "group io\n", "my.select:1:", "needs a name and a pattern" },
		{ "level fine\n", "my.select:1:", "not 'fine'" },
		{ "statements -1\n", "my.select:1:", "whole number" },
		{ "statements 99999999999999999999\n", "my.select:1:", "whole number" },
		{ "tiny maybe\n", "my.select:1:", "on or off" },
		{ "include function <(>\n", "my.select:1:", "<(>" },
		{ "a\n", "my.select:1:", "not a rule" },
		{ "BEGIN_EXCLUDE_LIST\nx\n", "my.select:1:", "END_EXCLUDE_LIST" },
		{ "BEGIN_INSTRUMENT_SECTION\nmemory file=\"x\"\nEND_INSTRUMENT_SECTION", "my.select:2:", "memory" },
		{ "SCOREP_REGION_NAMES_BEGIN\nfoo\n", "my.select:2:", "before any" },
	};
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct error error = { 0 };
		struct selection *selection = selection_new();
		assert_int_equal(read_rules(selection, rows[i].text, &error), ERROR_FORMAT);
		assert_ptr_equal(strstr(error.message, rows[i].where), error.message);
		assert_non_null(strstr(error.message, rows[i].what));
		selection_free(selection);
	}
	struct error error = { 0 };
	struct selection *selection = selection_new();
	char zero[] = "include function a\0b";
	assert_int_equal(selection_read_text(selection, "z", zero, sizeof(zero) - 1, &error), ERROR_FORMAT);
	char greedy[] = "include <^c+++++++++++++++++++>\n";
	assert_int_equal(selection_read_text(selection, "g", greedy, sizeof(greedy) - 1, &error), ERROR_FORMAT);
	assert_non_null(strstr(error.message, "a repetition repeats another one"));
	assert_int_equal(selection_read(selection, "/nowhere/at/all", &error), ERROR_NOT_FOUND);
	int code = selection_read(selection, "/", &error);
	assert_true(code < 0 && code == error.code);
	assert_int_equal(selection_add(selection, "incude x", &error), ERROR_FORMAT);
	assert_int_equal(selection_add(selection, "include x", &error), 0);
	selection_free(selection);
}

static void test_exceptions(void **state)
{
	(void)state;
	struct selection *selection = rules("include function f");
	struct source_point point = function("a.c", "f", NULL);
	assert_int_equal(selection_except(selection, "b.c", 7), 0);
	assert_int_equal(selection_except(selection, "a.c", 8), 0);
	selection_decide(selection, &point);
	assert_null(point.skipped);
	assert_int_equal(selection_except(selection, "a.c", 7), 0);
	selection_decide(selection, &point);
	assert_non_null(point.skipped);
	selection_free(selection);
}

static void test_exceptions_of_hooks(void **state)
{
	(void)state;
	struct selection *selection = rules("include function f");
	struct source_point point = function("a.c", "f", NULL);
	point.hook = "count, n";
	assert_int_equal(selection_except_hook(selection, "a.c", 8, "another line's"), 0);
	selection_decide(selection, &point);
	assert_string_equal(point.hook, "count, n");
	assert_null(point.mistake);
	assert_int_equal(selection_except_hook(selection, "a.c", 7, "its reason"), 0);
	selection_decide(selection, &point);
	assert_null(point.hook);
	assert_string_equal(point.mistake, "its reason");
	assert_null(point.skipped);
	selection_free(selection);
}

static void test_memory(void **state)
{
	(void)state;
	static const char text[] = "include function a*\nexclude file <b>\ngroup g function c\n"
				   "BEGIN_INSTRUMENT_SECTION\nloops routine=\"x\"\nEND_INSTRUMENT_SECTION\n";
	ALLOC_FAIL_EACH({
		struct error error = { 0 };
		struct selection *selection = selection_new();
		char copy[sizeof(text)];
		memcpy(copy, text, sizeof(text));
		if (selection) {
			int code = selection_read_text(selection, "m", copy, sizeof(text) - 1, &error);
			assert_true(code == 0 || error.code < 0);
			code = selection_except_hook(selection, "a.c", 7, "its reason");
			assert_true(code == 0 || code == ERROR_MEMORY);
		}
		selection_free(selection);
	});
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_without_rules), cmocka_unit_test(test_includes_then_excludes),
		cmocka_unit_test(test_names),         cmocka_unit_test(test_expressions_behind_a_scope),
		cmocka_unit_test(test_size),          cmocka_unit_test(test_groups_and_levels),
		cmocka_unit_test(test_components),    cmocka_unit_test(test_tau),
		cmocka_unit_test(test_scorep),        cmocka_unit_test(test_together),
		cmocka_unit_test(test_excess),        cmocka_unit_test(test_errors),
		cmocka_unit_test(test_exceptions),    cmocka_unit_test(test_exceptions_of_hooks),
		cmocka_unit_test(test_memory),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
