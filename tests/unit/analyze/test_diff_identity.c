/* analyze/identity.c: which labels of several profiles mean the same function, and how it is displayed. */
#include "analyze/identity.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "support/alloc_fail.h"
#include "support/paths_profile.h"

enum { VIEWS = 2 };

/* A function of one of the profiles. */
struct row {
	int profile;
	const char *name, *module, *file;
	uint32_t line; /* that executes */
};

static uint32_t module_of(struct paths *paths, const char *path)
{
	for (uint32_t i = 0; i < paths->profile->module_count; i++)
		if (strcmp(profile_string(paths->profile, paths->profile->modules[i].path), path) == 0)
			return i;
	return paths_module(paths, path);
}

/* Returns the identities as text: the names in their order, each with the labels of both views that have it,
 * "name = label of 0 | label of 1". Labels of one view are separated by ' '. */
static const char *identities_text(const struct row *rows, size_t count, enum view_by by)
{
	static char text[1024];
	struct paths paths[VIEWS];
	struct view *views[VIEWS];
	struct strings texts;
	struct identities identities;
	size_t used = 0;
	for (int i = 0; i < VIEWS; i++)
		paths_start(&paths[i], RESOURCE_SAMPLED);
	for (size_t i = 0; i < count; i++) {
		struct paths *in = &paths[rows[i].profile];
		char name[16];
		uint32_t module = *rows[i].module ? module_of(in, rows[i].module) : PROFILE_NONE;
		uint32_t function = paths_function(in, rows[i].name, module, rows[i].file, 1, ROLE_NONE);
		snprintf(name, sizeof(name), "%zu", i);
		paths_define(in, name, module == PROFILE_NONE ? 0 : module, &function, &rows[i].line, 1);
		paths_add(in, name, 1);
	}
	for (int i = 0; i < VIEWS; i++)
		views[i] = paths_view(&paths[i], by);
	assert_int_equal(strings_init(&texts), 0);
	assert_int_equal(identities_init(&identities, (const struct view *const *)views, VIEWS, &texts), 0);
	for (size_t id = 0; id < identities.count; id++) {
		used += (size_t)snprintf(text + used, sizeof(text) - used, "%s%s =", id ? "; " : "",
					 identities.names[id]);
		for (int i = 0; i < VIEWS; i++) {
			for (size_t label = 0; label < views[i]->label_count; label++)
				if (identities.of_label[i][label] == id)
					used += (size_t)snprintf(text + used, sizeof(text) - used, " %s",
								 views[i]->labels[label].text);
			used += (size_t)snprintf(text + used, sizeof(text) - used, "%s", i ? "" : " |");
		}
	}
	identities_release(&identities);
	strings_release(&texts);
	ALLOC_FAIL_EACH({
		if (strings_init(&texts) == 0) {
			if (identities_init(&identities, (const struct view *const *)views, VIEWS, &texts) == 0)
				identities_release(&identities);
			strings_release(&texts);
		}
	});
	for (int i = 0; i < VIEWS; i++) {
		view_free(views[i]);
		paths_end(&paths[i]);
	}
	return text;
}

#define TEXT(by, ...)                                        \
	identities_text((const struct row[]){ __VA_ARGS__ }, \
			sizeof((const struct row[]){ __VA_ARGS__ }) / sizeof(struct row), by)

static void names_are_enough_where_they_are_unique(void **state)
{
	(void)state;
	assert_string_equal(TEXT(VIEW_FUNCTION, { 0, "f", "/bin/old", "a.c", 1 }, { 1, "f", "/bin/new", "b.c", 1 },
				 { 0, "only", "/bin/old", "", 0 }, { 1, "new", "/bin/new", "", 0 }),
			    "f = f | f; new = | new; only = only |");
}

/* One profile has two functions of this name: then the module counts in both, and the longer name is displayed. */
static void modules_count_where_names_are_ambiguous(void **state)
{
	(void)state;
	assert_string_equal(TEXT(VIEW_FUNCTION, { 0, "main", "/bin/gzip", "a.c", 1 },
				 { 0, "main", "/bin/tar", "b.c", 1 }, { 1, "main", "/usr/bin/gzip", "c.c", 1 }),
			    "main@gzip = main@gzip | main; main@tar = main@tar |");
	assert_string_equal(TEXT(VIEW_FUNCTION, { 1, "main", "/bin/gzip", "a.c", 1 },
				 { 1, "main", "/bin/tar", "b.c", 1 }, { 0, "main", "/usr/bin/gzip", "c.c", 1 },
				 { 0, "z", "/usr/bin/gzip", "c.c", 1 }, { 1, "z", "/bin/tar", "c.c", 1 }),
			    "main@gzip = main | main@gzip; main@tar = | main@tar; z = z | z");
}

/* The file counts, too, where a module has several functions of this name. */
static void files_count_where_modules_are_ambiguous(void **state)
{
	(void)state;
	assert_string_equal(TEXT(VIEW_FUNCTION, { 0, "parse", "/bin/x", "s/json.c", 1 },
				 { 0, "parse", "/bin/x", "s/xml.c", 1 }, { 1, "parse", "/opt/x", "t/xml.c", 1 },
				 { 1, "parse", "/opt/y", "t/xml.c", 1 }),
			    "parse@json.c = parse@json.c |; parse@xml.c = parse@xml.c | parse@x; "
			    "parse@y = | parse@y");
	assert_string_equal(TEXT(VIEW_FUNCTION, { 0, "parse", "/bin/x", "s/json.c", 1 },
				 { 0, "parse", "/bin/x", "s/xml.c", 1 }, { 1, "parse", "/opt/x", "t/xml.c", 1 }),
			    "parse@json.c = parse@json.c |; parse@x:xml.c = parse@xml.c | parse");
	assert_string_equal(TEXT(VIEW_FUNCTION, { 0, "parse", "", "s/json.c", 1 }, { 0, "parse", "", "s/xml.c", 1 },
				 { 1, "parse", "", "t/xml.c", 1 }),
			    "parse@json.c = parse@json.c |; parse@xml.c = parse@xml.c | parse");
	assert_string_equal(TEXT(VIEW_FUNCTION, { 0, "parse", "/bin/x", "s/json.c", 1 },
				 { 0, "parse", "/bin/x", "s/xml.c", 1 }, { 1, "parse", "/bin/x", "", 0 }),
			    "parse@json.c = parse@json.c |; parse@x = | parse; parse@xml.c = parse@xml.c |");
}

/* Functions without a module are told apart by their files; those that have no file either, by their labels. */
static void texts_are_the_last_resort(void **state)
{
	(void)state;
	assert_string_equal(TEXT(VIEW_FUNCTION, { 0, "g", "", "a.c", 1 }, { 0, "g", "", "b.c", 1 },
				 { 1, "g", "", "b.c", 1 }, { 0, "h", "/a/x", "", 0 }, { 0, "h", "/b/x", "", 0 },
				 { 1, "h", "/a/x", "", 0 }),
			    "g@a.c = g@a.c |; g@b.c = g@b.c | g; h = | h; h@/a/x = h@/a/x |; h@/b/x = h@/b/x |");
}

/* Lines and call sites are part of the identity. */
static void lines_are_told_apart(void **state)
{
	(void)state;
	assert_string_equal(TEXT(VIEW_LINE, { 0, "f", "/bin/x", "a.c", 10 }, { 0, "f", "/bin/x", "a.c", 11 },
				 { 1, "f", "/bin/y", "a.c", 11 }, { 1, "f", "/bin/y", "a.c", 12 }),
			    "f:10 = f:10 |; f:11 = f:11 | f:11; f:12 = | f:12");
	assert_string_equal(TEXT(VIEW_LINE, { 0, "f", "/bin/x", "a.c", 10 }, { 0, "f", "/bin/z", "a.c", 10 },
				 { 1, "f", "/usr/x", "a.c", 10 }),
			    "f@x:10 = f@x:10 | f:10; f@z:10 = f@z:10 |");
	assert_string_equal(TEXT(VIEW_MODULE, { 0, "f", "/bin/x", "a.c", 10 }, { 1, "f", "/usr/x", "a.c", 10 }),
			    "x = x | x");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(names_are_enough_where_they_are_unique),
		cmocka_unit_test(modules_count_where_names_are_ambiguous),
		cmocka_unit_test(files_count_where_modules_are_ambiguous),
		cmocka_unit_test(texts_are_the_last_resort),
		cmocka_unit_test(lines_are_told_apart),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
