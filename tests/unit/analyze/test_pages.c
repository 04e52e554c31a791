/* Lists that are not of paths: the memory that faults touched (pages.c), and the counts of lines (line_counts.c). */
#include "analyze/pages.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "support/alloc_fail.h"
#include "support/paths_profile.h"

static struct view *view_of(const struct paths *paths, struct view_options options)
{
	struct error error = { 0 };
	struct view *view = view_new(paths->profile, &options, &error);
	if (!view)
		fail_msg("%s", error.message);
	return view;
}

/* Adds a hit at the stack, and the address that it touched. */
static void touch(struct paths *paths, const char *stack, const char *mapping, uint64_t address, uint32_t count)
{
	struct profile *profile = paths->profile;
	paths_add(paths, stack, count);
	const struct profile_hit *hit = &profile->hits[profile->hit_count - 1];
	struct profile_touch touch = { .time_ns = hit->time_ns,
				       .address = address,
				       .node = hit->node,
				       .thread = hit->thread,
				       .resource = hit->resource,
				       .count = count,
				       .mapping = (uint32_t)profile_add_string(profile, mapping) };
	assert_true(profile_add_touch(profile, &touch) >= 0);
}

/* Returns the list as text: "name hits/pages lowest-highest: hits/pages innermost, ...; ...". */
static const char *pages_text(const struct view *view, const struct page_list *list)
{
	static char text[1024];
	size_t used = 0;
	text[0] = 0;
	for (size_t i = 0; i < list->count; i++) {
		const struct page_mapping *mapping = &list->mappings[i];
		used += (size_t)snprintf(text + used, sizeof(text) - used, "%s%s %d/%d %#x-%#x:", i ? "; " : "",
					 profile_string(view->profile, mapping->name), (int)mapping->hits,
					 (int)mapping->pages, (unsigned)mapping->lowest, (unsigned)mapping->highest);
		for (size_t k = 0; k < mapping->path_count; k++) {
			const struct page_path *path = &list->paths[mapping->first_path + k];
			used += (size_t)snprintf(text + used, sizeof(text) - used, " %d/%d %s", (int)path->hits,
						 (int)path->pages, view->labels[view->label[path->node]].text);
		}
	}
	return text;
}

static void add_touches(struct paths *paths)
{
	paths_start(paths, RESOURCE_SAMPLED);
	struct profile *profile = paths->profile;
	profile_add_resource(profile, &(struct profile_resource){ .interval = 1 });
	for (uint32_t i = 0; i < 2; i++) {
		profile_add_process(profile, &(struct profile_process){ .pid = i });
		profile_add_thread(profile, &(struct profile_thread){ .process = i });
	}
	paths->thread = 0;
	touch(paths, "main;f", "[heap]", 0x1000, 1);
	touch(paths, "main;g", "[stack]", 0x9fff, 2);
	touch(paths, "main;f", "[heap]", 0x1fff, 4); /* the same page */
	touch(paths, "main;f", "[heap]", 0x2000, 8);
	touch(paths, "main;g", "[heap]", 0x1004, 16);
	paths->thread = 1;
	touch(paths, "main;f", "[heap]", 0x1000, 32); /* the page of another process */
	touch(paths, "main;h", "libx", 0x5000, 63);
	paths->thread = PROFILE_NONE;
	touch(paths, "main;h", "libx", 0x5001, 1);
	touch(paths, "main;a", "[tie]", 0x7000, 2);
	paths->resource = 1;
	touch(paths, "main;h", "other", 0x6000, 128);
	paths->resource = 0;
	paths_add(paths, "main;h", 5); /* a hit without an address */
}

static void pages_are_listed(void **state)
{
	struct paths paths;
	struct error error;
	(void)state;
	add_touches(&paths);
	struct view *view = view_of(&paths, (struct view_options){ .thread = VIEW_ANY, .keep_view_nodes = true });
	struct page_list *list = analyze_pages(view, &error);
	assert_non_null(list);
	assert_string_equal(pages_text(view, list), "libx 64/2 0x5000-0x5001: 64/2 h; "
						    "[heap] 61/3 0x1000-0x2000: 45/3 f 16/1 g; "
						    "[stack] 2/1 0x9fff-0x9fff: 2/1 g; [tie] 2/1 0x7000-0x7000: 2/1 a");
	assert_int_equal(list->hits, 129);
	page_list_free(list);
	ALLOC_FAIL_EACH({
		list = analyze_pages(view, &error);
		if (!list)
			assert_int_equal(error.code, ERROR_MEMORY);
		page_list_free(list);
	});
	view_free(view);
	view = view_of(&paths, (struct view_options){ .thread = 0, .keep_view_nodes = true });
	list = analyze_pages(view, &error);
	assert_string_equal(pages_text(view, list),
			    "[heap] 29/2 0x1000-0x2000: 16/1 g 13/2 f; [stack] 2/1 0x9fff-0x9fff: 2/1 g");
	page_list_free(list);
	view_free(view);
	view = view_of(&paths, (struct view_options){ .resource = 1, .thread = VIEW_ANY, .keep_view_nodes = true });
	list = analyze_pages(view, &error);
	assert_string_equal(pages_text(view, list), "other 128/1 0x6000-0x6000: 128/1 h");
	page_list_free(list);
	view_free(view);
	paths_end(&paths);
}

/* Equal hits are listed by path, the mappings by name. */
static void equal_pages_are_in_order(void **state)
{
	struct paths paths;
	struct error error;
	(void)state;
	paths_start(&paths, RESOURCE_SAMPLED);
	touch(&paths, "main;z", "y", 0x1000, 1);
	touch(&paths, "main;a", "y", 0x1000, 1);
	touch(&paths, "main;m", "x", 0x2000, 1);
	touch(&paths, "main;b", "x", 0x1000, 1);
	touch(&paths, "main;c", "w", 0x1000, 2);
	struct view *view = view_of(&paths, (struct view_options){ .thread = VIEW_ANY, .keep_view_nodes = true });
	struct page_list *list = analyze_pages(view, &error);
	assert_string_equal(pages_text(view, list), "w 2/1 0x1000-0x1000: 2/1 c; x 2/2 0x1000-0x2000: 1/1 b 1/1 m; "
						    "y 2/1 0x1000-0x1000: 1/1 a 1/1 z");
	page_list_free(list);
	view_free(view);
	paths_end(&paths);
}

static void pages_may_be_unknown(void **state)
{
	struct paths paths;
	struct error error;
	(void)state;
	paths_start(&paths, RESOURCE_SAMPLED);
	profile_add_resource(paths.profile, &(struct profile_resource){ .interval = 1 });
	paths_add(&paths, "main", 1);
	assert_false(pages_are_known(paths.profile, 0));
	struct view *view = view_of(&paths, (struct view_options){ .thread = VIEW_ANY, .keep_view_nodes = true });
	struct page_list *list = analyze_pages(view, &error);
	assert_non_null(list);
	assert_int_equal(list->count, 0);
	assert_int_equal(list->hits, 0);
	page_list_free(list);
	page_list_free(NULL);
	view_free(view);
	touch(&paths, "main", "x", 0, 1);
	assert_true(pages_are_known(paths.profile, 0));
	assert_false(pages_are_known(paths.profile, 1));
	paths.resource = 1;
	touch(&paths, "main", "x", 0, 1);
	assert_true(pages_are_known(paths.profile, 1));
	view = view_of(&paths, (struct view_options){ .thread = VIEW_ANY });
	assert_null(analyze_pages(view, &error));
	assert_int_equal(error.code, ERROR_USAGE);
	view_free(view);
	paths_end(&paths);
}

/* --- counts of lines --- */

static const char *lines_text(const struct view *view, const struct label_set *functions)
{
	static char text[512];
	struct error error;
	struct line_list *list = analyze_line_counts(view, functions, &error);
	size_t used = 0;
	assert_non_null(list);
	text[0] = 0;
	for (size_t i = 0; i < list->count; i++) {
		const struct line_entry *entry = &list->entries[i];
		assert_int_equal(entry->body, entry->total);
		used += (size_t)snprintf(text + used, sizeof(text) - used, "%s%s:%u %d", i ? ", " : "",
					 profile_string(view->profile, entry->file), entry->line, (int)entry->total);
	}
	assert_int_equal(list->total, view->total);
	line_list_free(list);
	return text;
}

/* Resource 0 counts lines, resource 1 something else. Line 30 was never executed. */
static void lines_are_counted(void **state)
{
	static const struct {
		const char *name, *file;
		uint32_t line, resource;
		uint64_t hits;
	} rows[] = { { "two", "b.c", 20, 0, 2 },          { "one", "b.c", 10, 0, 1 },
		     { "again", "b.c", 20, 0, 4 },        { "other", "b.c", 40, 1, 8 },
		     { "unknown", "b.c", 0, 0, 16 },      { "header", "a.h", 99, 0, 32 },
		     { "high", "b.c", UINT32_MAX, 0, 64 } };
	struct paths paths;
	struct error error;
	(void)state;
	paths_start(&paths, RESOURCE_EXACT);
	profile_add_resource(paths.profile, &(struct profile_resource){ .interval = 1 });
	uint32_t f = paths_function(&paths, "f", 0, "b.c", 1, ROLE_NONE),
		 g = paths_function(&paths, "g", 0, "b.c", 50, ROLE_NONE);
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		uint32_t file = (uint32_t)profile_add_string(paths.profile, rows[i].file);
		paths_define(&paths, rows[i].name, 0, &f, &rows[i].line, 1);
		paths.profile->frames[paths.profile->frame_count - 1].file = file;
		paths.resource = rows[i].resource;
		paths_add(&paths, rows[i].name, rows[i].hits);
	}
	paths.resource = 0;
	uint32_t line = 30, line_of_g = 60;
	paths_define(&paths, "never", 0, &f, &line, 1);
	uint32_t never = paths.names[paths.name_count - 1].location;
	assert_true(profile_add_node(paths.profile, PROFILE_ROOT, never) > 0);
	paths_define(&paths, "of g", 0, &g, &line_of_g, 1);
	paths_add(&paths, "of g", 128);
	paths_add(&paths, "one;two", 256); /* a path of two frames is no line */
	paths_define_bare(&paths, "bare", 0, 7);
	paths_add(&paths, "bare", 512);
	struct view *view = paths_view(&paths, VIEW_FUNCTION);
	uint32_t labels[] = { paths_label(view, "f"), paths_label(view, "g") };
	assert_string_equal(lines_text(view, &(struct label_set){ .labels = labels, .count = 1 }),
			    "a.h:99 32, b.c:10 1, b.c:20 6, b.c:30 0, b.c:4294967295 64");
	assert_string_equal(lines_text(view, &(struct label_set){ .labels = labels + 1, .count = 1 }), "b.c:60 128");
	assert_string_equal(lines_text(view, &(struct label_set){ 0 }), "");
	ALLOC_FAIL_EACH({
		struct line_list *list =
			analyze_line_counts(view, &(struct label_set){ .labels = labels, .count = 1 }, &error);
		if (!list)
			assert_int_equal(error.code, ERROR_MEMORY);
		line_list_free(list);
	});
	view_free(view);
	paths_end(&paths);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(pages_are_listed),
		cmocka_unit_test(equal_pages_are_in_order),
		cmocka_unit_test(pages_may_be_unknown),
		cmocka_unit_test(lines_are_counted),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
