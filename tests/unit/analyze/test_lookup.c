/* analyze/lookup_*.c: the rows that a name means, and what the messages list if it means none or several. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "analyze/lookup.h"
#include "support/alloc_fail.h"
#include "support/paths_profile.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

static uint32_t text(struct profile *profile, const char *text)
{
	return (uint32_t)profile_add_string(profile, text);
}

/* --- resources --- */

static void resources_are_found(void **state)
{
	static const struct {
		const char *name, *title;
	} rows[] = { { "cpu", "CPU Time" },
		     { "page-faults", "Page Faults" },
		     { "page-outs", "Outs" },
		     { "page", "" },
		     { "real", "Real Time" } };
	static const struct {
		const char *text;
		uint32_t found;
	} good[] = { { "cpu", 0 },       { "c", 0 },    { "CPU time", 0 }, { "page-f", 1 },   { "page faults", 1 },
		     { "page-outs", 2 }, { "page", 3 }, { "r", 4 },        { "REAL TIME", 4 } };
	struct profile *profile = profile_new();
	struct error error;
	uint32_t found = 99;
	(void)state;
	assert_int_equal(lookup_resource(profile, "cpu", &found, &error), ERROR_NOT_FOUND);
	assert_string_equal(error.message, "the profile has no resources");
	for (size_t i = 0; i < COUNT(rows); i++)
		profile_add_resource(profile, &(struct profile_resource){ .name = text(profile, rows[i].name),
									  .title = text(profile, rows[i].title) });
	for (size_t i = 0; i < COUNT(good); i++) {
		assert_int_equal(lookup_resource(profile, good[i].text, &found, &error), 0);
		assert_int_equal(found, good[i].found);
	}
	assert_int_equal(lookup_resource(profile, "page-", &found, &error), ERROR_AMBIGUOUS);
	assert_string_equal(error.message, "resource 'page-' may be page-faults, page-outs");
	assert_int_equal(lookup_resource(profile, "", &found, &error), ERROR_NOT_FOUND);
	assert_string_equal(error.message,
			    "no resource '' in this profile; it has cpu, page-faults, page-outs, page, real");
	assert_int_equal(lookup_resource(profile, "cpus", &found, &error), ERROR_NOT_FOUND);
	assert_int_equal(found, 4);
	profile_free(profile);
}

/* --- threads and processes --- */

static struct profile *threads_profile(void)
{
	static const struct {
		uint32_t tid;
		const char *name;
	} threads[] = {
		{ 10, "main" }, { 11, "worker" }, { 12, "worker" }, { 13, "11" }, { 10, "late" }, { 14, "99" }
	};
	static const struct {
		uint32_t pid;
		const char *name, *cgroup;
	} processes[] = { { 1, "init", "/init.scope" },
			  { 2, "cron", "/system.slice/cron.service" },
			  { 3, "sh", "/system.slice/cron.service" },
			  { 2, "cron", "/user.slice/app\\x2dbar.scope" },
			  { 5, "kernel", "" } };
	struct profile *profile = profile_new();
	for (size_t i = 0; i < COUNT(processes); i++)
		profile_add_process(profile, &(struct profile_process){ .pid = processes[i].pid,
									.name = text(profile, processes[i].name),
									.cgroup = text(profile, processes[i].cgroup) });
	for (size_t i = 0; i < COUNT(threads); i++)
		profile_add_thread(profile, &(struct profile_thread){ .tid = threads[i].tid,
								      .name = text(profile, threads[i].name) });
	return profile;
}

static void threads_are_found(void **state)
{
	static const struct {
		const char *text;
		uint32_t found;
	} good[] = { { "main", 0 }, { "11", 1 }, { "12", 2 }, { "#1", 0 },        { "#6", 5 },
		     { "late", 4 }, { "99", 5 }, { "#3", 2 }, { "all", VIEW_ANY } };
	struct profile *profile = threads_profile(), *empty = profile_new();
	struct error error;
	uint32_t found;
	(void)state;
	for (size_t i = 0; i < COUNT(good); i++) {
		found = 99;
		assert_int_equal(lookup_thread(profile, good[i].text, &found, &error), 0);
		assert_int_equal(found, good[i].found);
	}
	assert_int_equal(lookup_thread(profile, "worker", &found, &error), ERROR_AMBIGUOUS);
	assert_string_equal(error.message, "'worker' fits 2 threads: #2 (TID 11), #3 (TID 12)");
	assert_int_equal(lookup_thread(profile, "10", &found, &error), ERROR_AMBIGUOUS);
	assert_string_equal(error.message, "'10' fits 2 threads: #1 (TID 10), #5 (TID 10)");
	assert_int_equal(lookup_thread(profile, "#0", &found, &error), ERROR_NOT_FOUND);
	assert_int_equal(lookup_thread(profile, "#7", &found, &error), ERROR_NOT_FOUND);
	assert_string_equal(error.message, "no thread '#7'; the profile has 6");
	profile->thread_count = 2;
	assert_int_equal(lookup_thread(profile, "x", &found, &error), ERROR_NOT_FOUND);
	assert_string_equal(error.message, "no thread 'x'; there are 10 (main), 11 (worker)");
	profile->thread_count = 1;
	assert_int_equal(lookup_thread(profile, "#", &found, &error), ERROR_NOT_FOUND);
	assert_string_equal(error.message, "no thread '#'; there is 10 (main)");
	assert_int_equal(lookup_thread(empty, "x", &found, &error), ERROR_NOT_FOUND);
	assert_string_equal(error.message, "the profile has no threads");
	assert_int_equal(found, VIEW_ANY);
	profile_free(profile);
	profile_free(empty);
}

/* Compares the chosen rows with a text of one digit for each. */
static void assert_chosen(const bool *chosen, const char *expected)
{
	for (size_t i = 0; expected[i]; i++)
		if (chosen[i] != (expected[i] == '1'))
			fail_msg("row %zu of %s", i, expected);
}

static void processes_are_found(void **state)
{
	static const struct {
		const char *text, *chosen;
	} rows[] = { { "init", "10000" }, { "2", "01010" }, { "cron", "01010" }, { "#3", "00100" }, { "#5", "00001" } };
	struct profile *profile = threads_profile();
	struct error error;
	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		bool chosen[5] = { false };
		assert_int_equal(lookup_process(profile, rows[i].text, chosen, &error), 0);
		assert_chosen(chosen, rows[i].chosen);
	}
	bool chosen[5] = { true, false };
	assert_int_equal(lookup_process(profile, "sh", chosen, &error), 0); /* keeps earlier choices */
	assert_chosen(chosen, "10100");
	assert_int_equal(lookup_process(profile, "4", chosen, &error), ERROR_NOT_FOUND);
	profile_free(profile);
}

static void control_groups_are_found(void **state)
{
	static const struct {
		const char *pattern, *chosen;
	} rows[] = { { "/system.slice/cron.service", "01100" },
		     { "/system.slice", "01100" },
		     { "/system.slice/", "01100" },
		     { "/system.slice//", "01100" },
		     { "cron.service", "01100" },
		     { "system.slice", "01100" },
		     { "/", "11110" },
		     { "*", "11110" },
		     { "*cron*", "01100" },
		     { "*.scope", "10010" },
		     { "app\\x2dbar.scope", "00010" },
		     { "/user.slice/app\\x2dbar.scope", "00010" },
		     { "init.scope", "10000" } };
	static const char *const bad[] = {
		"/cron.service", "cron", "/system", "slice", "system.slic", "/init.scope/x"
	};
	struct profile *profile = threads_profile();
	struct error error;
	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		bool chosen[5] = { false };
		if (lookup_cgroup(profile, rows[i].pattern, chosen, &error) != 0)
			fail_msg("%s", error.message);
		assert_chosen(chosen, rows[i].chosen);
	}
	bool chosen[5] = { false };
	for (size_t i = 0; i < COUNT(bad); i++)
		if (lookup_cgroup(profile, bad[i], chosen, &error) != ERROR_NOT_FOUND)
			fail_msg("%s is found", bad[i]);
	assert_string_equal(error.message, "no process in a control group '/init.scope/x'; there are /init.scope, "
					   "/system.slice/cron.service, /user.slice/app\\x2dbar.scope");
	assert_chosen(chosen, "00000");
	assert_int_equal(lookup_cgroup(profile, "", chosen, &error), ERROR_USAGE);
	profile->process_count = 1;
	assert_int_equal(lookup_cgroup(profile, "x", chosen, &error), ERROR_NOT_FOUND);
	assert_string_equal(error.message, "no process in a control group 'x'; there is /init.scope");
	profile->processes[0].cgroup = 0;
	assert_int_equal(lookup_cgroup(profile, "x", chosen, &error), ERROR_NOT_FOUND);
	assert_string_equal(error.message, "the profile has no control groups ('record -a' records them)");
	profile->processes[0].cgroup = text(profile, "/");
	assert_int_equal(lookup_cgroup(profile, "x", chosen, &error), ERROR_NOT_FOUND);
	assert_chosen(chosen, "00000");
	assert_int_equal(lookup_cgroup(profile, "/", chosen, &error), 0);
	assert_chosen(chosen, "10000");
	profile_free(profile);
}

/* --- labels of the program --- */

static void add_set(struct profile *profile, const char *const *words, size_t count)
{
	struct profile_label labels[4];
	for (size_t i = 0; i < count; i++)
		labels[i] = (struct profile_label){ .key = text(profile, words[2 * i]),
						    .value = text(profile, words[2 * i + 1]) };
	assert_true(profile_add_label_set(profile, labels, count) > 0);
}

static struct profile *labels_profile(void)
{
	struct profile *profile = profile_new();
	add_set(profile, (const char *[]){ "tenant", "acme" }, 1);
	add_set(profile, (const char *[]){ "tenant", "zeta", "kind", "new" }, 2);
	add_set(profile, (const char *[]){ "tenant", "acme", "kind", "old" }, 2);
	add_set(profile, (const char *[]){ "kin", "old" }, 1);
	return profile;
}

static void label_sets_are_found(void **state)
{
	static const struct {
		const char *words[3];
		const char *chosen; /* the first set is the empty one */
	} rows[] = { { { "tenant" }, "01110" },
		     { { "tenant=acme" }, "01010" },
		     { { "tenant=acme", "tenant=zeta" }, "01110" },
		     { { "kind" }, "00110" },
		     { { "kin" }, "00001" },
		     { { "kind=old" }, "00010" },
		     { { "tenant=acme", "kind=old" }, "00010" },
		     { { "tenant", "kind=new" }, "00100" },
		     { { "tenant=zeta", "kind", "tenant=acme" }, "00110" } };
	struct profile *profile = labels_profile();
	struct error error;
	bool chosen[5];
	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		size_t count = 0;
		while (count < 3 && rows[i].words[count])
			count++;
		assert_int_equal(lookup_label_sets(profile, rows[i].words, count, chosen, &error), 0);
		assert_chosen(chosen, rows[i].chosen);
	}
	assert_int_equal(lookup_label_sets(profile, NULL, 0, chosen, &error), 0);
	assert_chosen(chosen, "11111");
	static const struct {
		const char *words[2], *message;
	} bad[] = {
		{ { "kin", "kind" }, "no hit has all these labels" },
		{ { "tenant=acme", "x" }, "no label 'x' in this profile; it has kin, kind, tenant" },
		{ { "x", "tenant=acme" }, "no label 'x' in this profile; it has kin, kind, tenant" },
		{ { "tenan=acme", "kind" }, "no label 'tenan=acme' in this profile; it has kin, kind, tenant" },
		{ { "kind", "tenant=x" }, "no hits with the label 'tenant=x'; the values of tenant are acme, zeta" },
		{ { "kind=", "kin" }, "no hits with the label 'kind='; the values of kind are new, old" },
	};
	for (size_t i = 0; i < COUNT(bad); i++) {
		assert_int_equal(lookup_label_sets(profile, bad[i].words, 2, chosen, &error), ERROR_NOT_FOUND);
		assert_string_equal(error.message, bad[i].message);
	}
	ALLOC_FAIL_EACH(lookup_label_sets(profile, bad[4].words, 2, chosen, &error));
	profile_free(profile);
}

static void label_keys_are_found(void **state)
{
	struct profile *profile = labels_profile(), *empty = profile_new();
	struct error error;
	uint32_t key = 0;
	(void)state;
	assert_int_equal(lookup_label_key(profile, "tenant", &key, &error), 0);
	assert_string_equal(profile_string(profile, key), "tenant");
	assert_int_equal(lookup_label_key(profile, "kin", &key, &error), 0);
	assert_string_equal(profile_string(profile, key), "kin");
	assert_int_equal(lookup_label_key(profile, "acme", &key, &error), ERROR_NOT_FOUND);
	assert_string_equal(profile_string(profile, key), "kin");
	assert_int_equal(lookup_label_key(empty, "tenant", &key, &error), ERROR_NOT_FOUND);
	assert_string_equal(error.message, "the profile has no labels (cpprof_label sets them, in a program that is "
					   "recorded with --backend preload)");
	profile_free(profile);
	profile_free(empty);
}

/* --- functions --- */

static void assert_missing(const struct view *view, const char *name, int code, const char *message)
{
	struct label_set labels;
	struct error error;
	assert_int_equal(lookup_functions(view, name, &labels, &error), code);
	assert_string_equal(error.message, message);
	label_set_release(&labels);
}

static void assert_found(const struct view *view, const char *name, const char *label)
{
	struct label_set labels;
	struct error error;
	if (lookup_functions(view, name, &labels, &error) != 0)
		fail_msg("%s", error.message);
	assert_int_equal(labels.count, 1);
	assert_string_equal(view->labels[labels.labels[0]].text, label);
	label_set_release(&labels);
}

static void functions_are_found(void **state)
{
	char long_name[48], message[256];
	struct paths paths;
	(void)state;
	memset(long_name, 'y', sizeof(long_name) - 1);
	long_name[sizeof(long_name) - 1] = 0;
	paths_start(&paths, RESOURCE_SAMPLED);
	paths_function(&paths, "unused", 0, "", 0, ROLE_NONE);
	paths_add(&paths, "main;a::work;qsort", 3);
	paths_add(&paths, "main;b::work", 2);
	paths_add(&paths, long_name, 1);
	struct view *view = paths_view(&paths, VIEW_FUNCTION);
	assert_found(view, "qsort", "qsort");
	assert_found(view, "'qsort'", "qsort");
	assert_found(view, "a::work", "a::work");
	assert_missing(view, "", ERROR_USAGE, "missing function name");
	assert_missing(view, "work", ERROR_AMBIGUOUS, "'work' fits 2 functions: a::work, b::work (give one of them)");
	assert_missing(view, "qsrot", ERROR_NOT_FOUND, "no function 'qsrot' (did you mean qsort?)");
	assert_missing(view, "#", ERROR_NOT_FOUND, "no function '#'");
	assert_missing(view, "unused", ERROR_NOT_FOUND, "function 'unused' has no hits in this selection");
	snprintf(message, sizeof(message), "no function 'y%s' (did you mean %s?)", long_name, long_name);
	snprintf(long_name, sizeof(long_name), "%s", "");
	view_free(view);
	view = paths_view(&paths, VIEW_MODULE);
	assert_found(view, "app", "app");
	assert_missing(view, "qsort", ERROR_USAGE, "'qsort' is a function, not a module (give a module, as 'app')");
	assert_missing(view, "#", ERROR_NOT_FOUND, "no module '#'");
	view_free(view);
	view = paths_view(&paths, VIEW_GROUP);
	assert_missing(view, "#", ERROR_NOT_FOUND, "no group '#'");
	view_free(view);
	profile_clear_hits(paths.profile);
	view = paths_view(&paths, VIEW_FUNCTION);
	assert_missing(view, "x", ERROR_NOT_FOUND, "no function 'x': nothing was recorded in this selection");
	view_free(view);
	paths_end(&paths);
}

/* The messages list five functions, and at most 77 bytes of each name. */
static void long_lists_are_cut(void **state)
{
	struct paths paths;
	char name[96], message[256];
	(void)state;
	paths_start(&paths, RESOURCE_SAMPLED);
	for (char c = 'a'; c < 'f'; c++)
		paths_add(&paths, (char[]){ c, ':', ':', 'w', 0 }, 1);
	struct view *view = paths_view(&paths, VIEW_FUNCTION);
	assert_missing(view, "w", ERROR_AMBIGUOUS,
		       "'w' fits 5 functions: a::w, b::w, c::w, d::w, e::w (give one of them)");
	view_free(view);
	paths_add(&paths, "f::w", 1);
	view = paths_view(&paths, VIEW_FUNCTION);
	assert_missing(view, "w", ERROR_AMBIGUOUS,
		       "'w' fits 6 functions: a::w, b::w, c::w, d::w, e::w, ... (give one of them)");
	view_free(view);
	paths_end(&paths);
	for (int length = 80; length <= 81; length++) {
		paths_start(&paths, RESOURCE_SAMPLED);
		memset(name, 'x', (size_t)length);
		name[length] = 0;
		uint32_t function = paths_function(&paths, name, 0, "", 0, ROLE_NONE);
		paths_define(&paths, "long", 0, &function, (uint32_t[]){ 0 }, 1);
		paths_add(&paths, "long", 1);
		view = paths_view(&paths, VIEW_FUNCTION);
		name[length - 1] = 0; /* a name that is one byte shorter */
		snprintf(message, sizeof(message), "no function '%s' (did you mean %.*s%s?)", name,
			 length > 80 ? 77 : length - 1, name, length > 80 ? "..." : "x");
		assert_missing(view, name, ERROR_NOT_FOUND, message);
		view_free(view);
		paths_end(&paths);
	}
}

/* The name of all mains of several programs means all of them. */
static void mains_are_found(void **state)
{
	struct paths paths;
	struct label_set labels;
	struct error error;
	(void)state;
	paths_start(&paths, RESOURCE_SAMPLED);
	uint32_t modules[] = { 0, paths_module(&paths, "/usr/bin/other") };
	for (int i = 0; i < 2; i++) {
		uint32_t function = paths_function(&paths, "main", modules[i], "", 0, ROLE_MAIN);
		paths_define(&paths, i ? "main2" : "main1", modules[i], &function, (uint32_t[]){ 0 }, 1);
	}
	paths_add(&paths, "main1", 1);
	paths_add(&paths, "main2", 2);
	struct view *view = paths_view(&paths, VIEW_FUNCTION);
	assert_int_equal(lookup_functions(view, "main", &labels, &error), 0);
	assert_int_equal(labels.count, 2);
	label_set_release(&labels);
	view_free(view);
	paths_end(&paths);
}

/* --- what-if terms --- */

static void assert_term(const struct view *view, const char *term, const char *steps, double factor)
{
	struct lookup_what_if what_if;
	struct error error;
	char shown[128] = "";
	if (lookup_what_if_init(&what_if, view, &term, 1, &error) != 0)
		fail_msg("%s", error.message);
	assert_int_equal(what_if.count, 1);
	for (size_t i = 0, used = 0; i < what_if.paths[0].length; i++)
		used += (size_t)snprintf(shown + used, sizeof(shown) - used, "%s%s", i ? "|" : "",
					 view->labels[what_if.paths[0].steps[i].labels[0]].text);
	assert_string_equal(shown, steps);
	assert_float_equal(what_if.paths[0].factor, factor, 1e-12);
	lookup_what_if_release(&what_if);
	assert_null(what_if.paths);
}

static void terms_are_read(void **state)
{
	static const char *const bad[] = { "main",     "main=",    "main=-1",  "main=x",    "main=1000001", "main=+1",
					   "main=1 2", "main=1%%", "main=nan", "main=0x1",  "main= ",       "main=%",
					   "main=.",   "main=5 %", "main\\=1", "main=1\\=2" };
	static const char *const unknown[] = { "nothing;main=1", "main;nothing=1", "main;nothing;qsort=1" };
	struct paths paths;
	struct lookup_what_if what_if;
	struct error error;
	(void)state;
	paths_start(&paths, RESOURCE_SAMPLED);
	paths_add(&paths, "main;qsort", 3);
	uint32_t odd = paths_function(&paths, "a;b=c\\d\\", 0, "", 0, ROLE_NONE);
	paths_define(&paths, "odd", 0, &odd, (uint32_t[]){ 0 }, 1);
	paths_add(&paths, "main;odd", 1);
	uint32_t equals = paths_function(&paths, "operator==", 0, "", 0, ROLE_NONE);
	paths_define(&paths, "eq", 0, &equals, (uint32_t[]){ 0 }, 1);
	paths_add(&paths, "main;eq", 1);
	struct view *view = paths_view(&paths, VIEW_FUNCTION);
	assert_term(view, "main=0", "main", 0);
	assert_term(view, "main;qsort=0.5", "main|qsort", 0.5);
	assert_term(view, "main;qsort;main=50%", "main|qsort|main", 0.5);
	assert_term(view, " main ; 'qsort' = 1e2 ", "main|qsort", 100);
	assert_term(view, "main=1000000", "main", 1e6);
	assert_term(view, "main=100000000%", "main", 1e6);
	assert_term(view, "operator===0", "operator==", 0);
	assert_term(view, "main;a\\;b\\=c\\d\\\\=2", "main|a;b=c\\d\\", 2);
	for (size_t i = 0; i < COUNT(bad); i++)
		if (lookup_what_if_init(&what_if, view, &bad[i], 1, &error) != ERROR_USAGE)
			fail_msg("%s is read", bad[i]);
	for (size_t i = 0; i < COUNT(unknown); i++)
		assert_int_equal(lookup_what_if_init(&what_if, view, &unknown[i], 1, &error), ERROR_NOT_FOUND);
	const char *step = "main;;qsort=1", *term = "main=-1", *none = "main";
	assert_int_equal(lookup_what_if_init(&what_if, view, &step, 1, &error), ERROR_USAGE);
	assert_string_equal(error.message, "missing function name");
	assert_int_equal(lookup_what_if_init(&what_if, view, &term, 1, &error), ERROR_USAGE);
	assert_string_equal(error.message,
			    "what-if 'main=-1': after '=' comes a factor, from 0 to 1000000 (as in 'main;qsort=0.5')");
	assert_int_equal(lookup_what_if_init(&what_if, view, &none, 1, &error), ERROR_USAGE);
	assert_string_equal(error.message, "what-if 'main': a factor is missing (as in 'main;qsort=0.5')");
	assert_int_equal(lookup_what_if_init(&what_if, view, NULL, 0, &error), ERROR_USAGE);
	assert_string_equal(error.message, "missing term (as 'main;qsort=0.5')");
	const char *const terms[] = { "main=1", "main;qsort=0", "nothing=1" };
	assert_int_equal(lookup_what_if_init(&what_if, view, terms, 2, &error), 0);
	assert_int_equal(what_if.count, 2);
	assert_float_equal(what_if.paths[1].factor, 0, 0);
	lookup_what_if_release(&what_if);
	assert_int_equal(lookup_what_if_init(&what_if, view, terms, 3, &error), ERROR_NOT_FOUND);
	ALLOC_FAIL_EACH({
		int result = lookup_what_if_init(&what_if, view, terms, 2, &error);
		assert_true(result == 0 || result == ERROR_MEMORY);
		if (result == 0)
			lookup_what_if_release(&what_if);
	});
	view_free(view);
	paths_end(&paths);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(resources_are_found),  cmocka_unit_test(threads_are_found),
		cmocka_unit_test(processes_are_found),  cmocka_unit_test(control_groups_are_found),
		cmocka_unit_test(label_sets_are_found), cmocka_unit_test(label_keys_are_found),
		cmocka_unit_test(functions_are_found),  cmocka_unit_test(long_lists_are_cut),
		cmocka_unit_test(mains_are_found),      cmocka_unit_test(terms_are_read),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
