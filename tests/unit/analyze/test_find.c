/* analyze/find.c and lookup_functions.c: the functions that a name means, and those whose names are similar. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "analyze/build.h"
#include "analyze/lookup.h"
#include "base/near_names.h"
#include "support/paths_profile.h"

static struct view *view_of(const struct paths *paths, struct view_options options)
{
	struct error error = { 0 };
	struct view *view = view_new(paths->profile, &options, &error);
	if (!view)
		fail_msg("%s", error.message);
	return view;
}

/* `name` finds this number of functions, with these labels. */
static void assert_finds(const struct view *view, const char *name, int64_t functions, const char *labels)
{
	struct label_set found = { 0 };
	char texts[256] = "";
	assert_int_equal(view_find(view, name, &found), functions);
	for (size_t i = 0, used = 0; i < found.count; i++)
		used += (size_t)snprintf(texts + used, sizeof(texts) - used, "%s%s", i ? " " : "",
					 view->labels[found.labels[i]].text);
	assert_string_equal(texts, labels);
	label_set_release(&found);
}

/* The parts and copies that gcc makes of a function have its name and a suffix. */
static void clones_are_found(void **state)
{
	(void)state;
	static const char *const suffixes[] = { ".part.0", ".constprop.3", ".isra.0", ".cold", ".lto_priv.1" };
	for (size_t i = 0; i < sizeof(suffixes) / sizeof(suffixes[0]); i++) {
		struct paths paths;
		char name[32];
		snprintf(name, sizeof(name), "work%s", suffixes[i]);
		paths_start(&paths, RESOURCE_SAMPLED);
		paths_add(&paths, name, 1);
		paths_add(&paths, "work.other", 1);
		paths_add(&paths, "worker.part.0", 1);
		struct view *view = paths_view(&paths, VIEW_FUNCTION);
		assert_finds(view, "work", 1, name);
		assert_finds(view, "wor", 0, "");
		view_free(view);
		paths_end(&paths);
	}
}

/* A name of several functions means those with hits in the selection. If none has, all are. */
static void functions_with_hits_are_preferred(void **state)
{
	(void)state;
	struct paths paths;
	paths_start(&paths, RESOURCE_SAMPLED);
	profile_add_resource(paths.profile, &(struct profile_resource){ .interval = 1 });
	profile_add_resource(paths.profile, &(struct profile_resource){ .interval = 1 });
	paths_add(&paths, "a::f", 1);
	paths_add(&paths, "c::f", 1);
	paths.resource = 1;
	paths_add(&paths, "b::f", 1);
	paths.resource = 2;
	paths_add(&paths, "main", 1);
	struct view *view = view_of(&paths, (struct view_options){ .thread = VIEW_ANY });
	assert_finds(view, "f", 2, "a::f c::f");
	view_free(view);
	view = view_of(&paths, (struct view_options){ .thread = VIEW_ANY, .resource = 1 });
	assert_finds(view, "f", 1, "b::f");
	view_free(view);
	view = view_of(&paths, (struct view_options){ .thread = VIEW_ANY, .resource = 2 });
	assert_finds(view, "f", 3, "a::f b::f c::f");
	view_free(view);
	paths_end(&paths);
}

/* A name means several mains only if each of them is one. */
static void mains_are_recognized(void **state)
{
	(void)state;
	struct paths paths;
	paths_start(&paths, RESOURCE_SAMPLED);
	static const enum function_role roles[] = { ROLE_MAIN, ROLE_NONE, ROLE_MAIN };
	for (uint32_t i = 0; i < 3; i++) {
		char name[2] = { (char)('a' + i), 0 };
		uint32_t function = paths_function(&paths, name, 0, "", 0, roles[i]);
		paths_define(&paths, name, 0, &function, (uint32_t[]){ 0 }, 1);
		paths_add(&paths, name, 1);
	}
	struct view *view = view_of(&paths, (struct view_options){ .thread = VIEW_ANY, .untrimmed = true });
	static const struct {
		uint32_t labels[2];
		size_t count;
		bool are_mains;
	} rows[] = { { { 0 }, 0, false },   { { 0 }, 1, true },     { { 1 }, 1, false },
		     { { 0, 2 }, 2, true }, { { 0, 1 }, 2, false }, { { 1, 2 }, 2, false } };
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct label_set set = { .labels = (uint32_t *)rows[i].labels, .count = rows[i].count };
		assert_int_equal(view_are_mains(view, &set), rows[i].are_mains);
	}
	struct error error;
	assert_int_equal(label_set_check(view, &(struct label_set){ 0 }, &error), 0);
	assert_int_equal(label_set_check(view, &(struct label_set){ .labels = (uint32_t[]){ 2 }, .count = 1 }, &error),
			 0);
	assert_int_equal(label_set_check(view, &(struct label_set){ .labels = (uint32_t[]){ 3 }, .count = 1 }, &error),
			 ERROR_NOT_FOUND);
	view_free(view);
	paths_end(&paths);
}

/* Names that no demangler prints cause neither an endless loop nor an overrun. */
static void broken_names_are_survived(void **state)
{
	(void)state;
	struct paths paths;
	paths_start(&paths, RESOURCE_SAMPLED);
	static const char *const names[] = { "a(((",       "b<<<<", "c>>>",   "operator",   "operator<", "x::",
					     "::",         " ",     "f(a)::", "f(a) const", "[[[",       "g<h(>",
					     "operator\"", "{",     "}",      "~x",         "a b c(",    ")" };
	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
		paths_add(&paths, names[i], 1);
	char nested[1024];
	memset(nested, '<', sizeof(nested) - 1);
	nested[sizeof(nested) - 1] = 0;
	uint32_t function = paths_function(&paths, nested, 0, "", 0, ROLE_NONE);
	paths_define(&paths, "nested", 0, &function, (uint32_t[]){ 0 }, 1);
	paths_add(&paths, "nested", 1);
	struct view *view = paths_view(&paths, VIEW_FUNCTION);
	for (size_t i = 0; i < view->label_count; i++) {
		struct label_set set;
		struct near_names near;
		assert_true(view_find(view, view->labels[i].text, &set) == 1 && set.labels[0] == i);
		label_set_release(&set);
		near_names_init(&near, view->labels[i].text);
		for (size_t k = 0; k < view->label_count; k++)
			near_names_offer_function(&near, view->labels[k].text, view->labels[k].name_length,
						  view->labels[k].text);
	}
	view_free(view);
	paths_end(&paths);
}

/* Looks for a function that does not exist; `near` is what the error proposes, or "". */
static void assert_near(const struct view *view, const char *typed, const char *near)
{
	struct label_set set;
	struct error error = { 0 };
	char expected[256];
	snprintf(expected, sizeof(expected), "no function '%s'%s%s%s", typed, *near ? " (did you mean " : "", near,
		 *near ? "?)" : "");
	assert_int_equal(lookup_functions(view, typed, &set, &error), ERROR_NOT_FOUND);
	assert_string_equal(error.message, expected);
}

/* The most similar names come first, of equally similar names the first in the order of their texts; each function once. */
static void near_names_are_in_order(void **state)
{
	(void)state;
	struct paths paths;
	static const char *const names[] = { "sort_rows",  "sort_row", "sort_rowz",   "sort_rowx",
					     "qsort_rows", "sort",     "resort_rows", "sort_rowsx" };
	static const char *const typed[][2] = { { "sort_rowy",
						  "sort_row, sort_rows, sort_rowx, sort_rowz, sort_rowsx" },
						{ "sortrows", "sort_rows, sort_rowsx, qsort_rows, sort, sort_row" },
						{ "rows", "sort_rows, qsort_rows, sort_rowsx, resort_rows" },
						{ "sorted", "sort" } };
	enum { NAMES = sizeof(names) / sizeof(names[0]) };
	paths_start(&paths, RESOURCE_SAMPLED);
	for (uint32_t i = 0; i < NAMES; i++) { /* each function with two lines */
		uint32_t function = paths_function(&paths, names[i], 0, "a.c", 1, ROLE_NONE);
		for (uint32_t line = 1; line < 3; line++) {
			char name[8];
			snprintf(name, sizeof(name), "%u.%u", i, line);
			paths_define(&paths, name, 0, &function, &line, 1);
			paths_add(&paths, name, 1);
		}
	}
	static const enum view_by kinds[] = { VIEW_FUNCTION, VIEW_LINE };
	for (size_t k = 0; k < 2; k++) {
		struct view *view = paths_view(&paths, kinds[k]);
		assert_int_equal(view->label_count, (k + 1) * NAMES);
		for (size_t i = 0; i < sizeof(typed) / sizeof(typed[0]); i++)
			assert_near(view, typed[i][0], typed[i][1]);
		view_free(view);
	}
	paths_end(&paths);
}

static void near_names_are_offered(void **state)
{
	(void)state;
	struct paths paths;
	paths_start(&paths, RESOURCE_SAMPLED);
	static const char *const names[] = { "uniquify_db", "build_pointers", "ns::Klass<int>::compare(int)",
					     "qsort",       "main",           "print_statistics" };
	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
		paths_add(&paths, names[i], 1);
	struct view *view = paths_view(&paths, VIEW_FUNCTION);
	assert_near(view, "uniqify_db", "uniquify_db");
	assert_near(view, "QSORT", "qsort");
	assert_near(view, "qsrot", "qsort");
	assert_near(view, "comapre", "ns::Klass<int>::compare(int)");
	assert_near(view, "statistics", "print_statistics");
	assert_near(view, "mian", "main");
	assert_near(view, "zzzzzz", "");
	view_free(view);
	paths_end(&paths);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(clones_are_found),       cmocka_unit_test(functions_with_hits_are_preferred),
		cmocka_unit_test(mains_are_recognized),   cmocka_unit_test(broken_names_are_survived),
		cmocka_unit_test(near_names_are_offered), cmocka_unit_test(near_names_are_in_order),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
