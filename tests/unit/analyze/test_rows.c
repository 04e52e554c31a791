/* Rows of results: the errors of rows with equal paths, the lines with most hits of their own, and the path of the largest
 * children, on random stacks, against their definitions. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "analyze/hot_path.h"
#include "analyze/path_errors.h"
#include "support/alloc_fail.h"
#include "support/paths_profile.h"
#include "support/sample_profile.h"

enum { ROUNDS = 40, DEPTH = 6, PATH_BYTES = 4 * DEPTH * DEPTH };

static void random_stacks(struct paths *paths, struct random *random, const char *names)
{
	paths_start(paths, RESOURCE_MERGED);
	for (uint64_t left = random_below(random, 25); left > 0; left--) {
		char stack[2 * DEPTH + 2] = "";
		size_t length = 0;
		for (uint64_t depth = 1 + random_below(random, DEPTH); depth > 0; depth--) {
			stack[length++] = names[random_below(random, strlen(names))];
			stack[length++] = depth > 1 ? ';' : '\0';
		}
		paths_add(paths, stack, 1 + random_below(random, 9));
	}
}

/* --- errors --- */

static size_t count_of(const struct path_rows *rows)
{
	return rows->list ? rows->list->count : rows->view->node_count;
}

static uint64_t hits_of(const struct path_rows *rows, size_t row)
{
	return rows->list ? rows->list->entries[row].hits : rows->view->weight[row];
}

/* Writes the labels of a row, outermost first. */
static void path_of(const struct path_rows *rows, size_t row, char *text)
{
	const struct view *view = rows->view;
	size_t used = 0;
	text[0] = 0;
	if (rows->list) {
		const uint32_t *labels = path_labels(rows->list, &rows->list->entries[row]);
		for (uint32_t i = 0; i < rows->list->entries[row].length; i++)
			used += (size_t)snprintf(text + used, PATH_BYTES - used, "%s;", view->labels[labels[i]].text);
		return;
	}
	uint32_t nodes[PATH_BYTES];
	size_t count = 0;
	for (uint32_t at = (uint32_t)row; at != 0; at = view->parent[at])
		nodes[count++] = at;
	while (count-- > 0)
		used += (size_t)snprintf(text + used, PATH_BYTES - used, "%s;",
					 view->labels[view->label[nodes[count]]].text);
}

static void check_errors(const struct path_rows *rows, const struct path_rows *errors)
{
	uint64_t *found = path_errors(rows, errors, NULL);
	assert_non_null(found);
	for (size_t row = 0; row < count_of(rows); row++) {
		char path[PATH_BYTES], other[PATH_BYTES];
		uint64_t expected = 0;
		path_of(rows, row, path);
		for (size_t error = 0; error < count_of(errors); error++) {
			path_of(errors, error, other);
			if (strcmp(path, other) == 0)
				expected = hits_of(errors, error);
		}
		assert_int_equal(found[row], expected);
	}
	free(found);
}

static struct path_list *list_of(const struct view *view, unsigned kind)
{
	if (kind == 0)
		return analyze_functions(view, NULL);
	if (kind == 1)
		return analyze_body(view, NULL);
	uint32_t labels[] = { 0, 1 };
	struct label_set roots = { .labels = labels, .count = view->label_count < 2 ? view->label_count : 2 };
	return kind == 2 ? analyze_down(view, &roots, NULL) : analyze_up(view, &roots, NULL);
}

static void errors_belong_to_equal_paths(void **state)
{
	(void)state;
	struct random random = { .state = 5 };
	for (unsigned round = 0; round < ROUNDS; round++) {
		struct paths rows, errors;
		random_stacks(&rows, &random, "abcde");
		random_stacks(&errors, &random, "bcdef");
		struct path_rows of_rows = { .view = paths_view(&rows, VIEW_FUNCTION) };
		struct path_rows of_errors = { .view = paths_view(&errors, VIEW_FUNCTION) };
		check_errors(&of_rows, &of_errors);
		for (unsigned kind = 0; kind < 4; kind++) {
			struct path_list *lists[] = { list_of(of_rows.view, kind), list_of(of_errors.view, kind) };
			of_rows.list = lists[0];
			of_errors.list = lists[1];
			check_errors(&of_rows, &of_errors);
			path_list_free(lists[0]);
			path_list_free(lists[1]);
		}
		view_free((struct view *)of_rows.view);
		view_free((struct view *)of_errors.view);
		paths_end(&rows);
		paths_end(&errors);
	}
}

static void errors_of_no_rows(void **state)
{
	(void)state;
	struct paths paths;
	paths_start(&paths, RESOURCE_SAMPLED);
	paths_add(&paths, "main;f", 1);
	struct view *view = paths_view(&paths, VIEW_FUNCTION);
	struct path_list *list = analyze_functions(view, NULL);
	struct path_list none = { 0 };
	check_errors(&(struct path_rows){ .view = view, .list = &none },
		     &(struct path_rows){ .view = view, .list = list });
	check_errors(&(struct path_rows){ .view = view, .list = list },
		     &(struct path_rows){ .view = view, .list = &none });
	path_list_free(list);
	view_free(view);
	paths_end(&paths);
}

static void try_errors(const struct path_rows *rows)
{
	struct error error = { 0 };
	uint64_t *found = path_errors(rows, rows, &error);
	assert_int_equal(error.code, found ? 0 : ERROR_MEMORY);
	free(found);
}

static void errors_without_memory(void **state)
{
	(void)state;
	struct paths paths;
	paths_start(&paths, RESOURCE_SAMPLED);
	paths_add(&paths, "main;f", 1);
	struct view *view = paths_view(&paths, VIEW_FUNCTION);
	struct path_list *list = analyze_functions(view, NULL);
	ALLOC_FAIL_EACH(try_errors(&(struct path_rows){ .view = view }));
	ALLOC_FAIL_EACH(try_errors(&(struct path_rows){ .view = view, .list = list }));
	path_list_free(list);
	view_free(view);
	paths_end(&paths);
}

/* --- lines --- */

/* Returns whether `a` is before `b`: most hits of its own, then most hits, then the file and the line. */
static bool is_before(const struct profile *profile, const struct line_entry *a, const struct line_entry *b)
{
	if (a->body != b->body)
		return a->body > b->body;
	if (a->total != b->total)
		return a->total > b->total;
	int order = strcmp(profile_string(profile, a->file), profile_string(profile, b->file));
	return order ? order < 0 : a->line < b->line;
}

static void hot_lines_are_sorted(void **state)
{
	(void)state;
	struct random random = { .state = 6 };
	for (unsigned round = 0; round < ROUNDS; round++) {
		struct paths paths;
		paths_start(&paths, RESOURCE_MERGED);
		for (unsigned i = 0; i < 12; i++) {
			uint32_t function = paths_function(&paths, (char[]){ (char)('a' + i % 4), 0 }, 0,
							   i % 2 ? "x.c" : "y.c", 1, ROLE_NONE);
			uint32_t line = (uint32_t)random_below(&random, 4);
			paths_define(&paths, (char[]){ (char)('a' + i), 0 }, 0, &function, &line, 1);
		}
		for (unsigned i = 0; i < 30; i++) {
			char stack[] = "a;b;c";
			for (unsigned k = 0; k < 5; k += 2)
				stack[k] = (char)('a' + random_below(&random, 12));
			stack[1 + 2 * random_below(&random, 2)] = i % 3 ? '\0' : ';';
			paths_add(&paths, stack, 1 + random_below(&random, 3));
		}
		struct view *view = paths_view(&paths, VIEW_FUNCTION);
		uint32_t labels[12];
		for (uint32_t i = 0; i < view->label_count; i++)
			labels[i] = i;
		struct label_set all = { .labels = labels, .count = view->label_count };
		struct line_list *lines = analyze_lines(view, &all, NULL), *hot = analyze_hot_lines(view, NULL);
		size_t expected = 0;
		uint64_t body = 0;
		for (size_t i = 0; i < lines->count; i++) {
			bool is_listed = false;
			for (size_t k = 0; k < hot->count; k++)
				is_listed |= memcmp(&hot->entries[k], &lines->entries[i], sizeof(hot->entries[k])) == 0;
			assert_int_equal(is_listed, lines->entries[i].body > 0);
			expected += lines->entries[i].body > 0;
			body += lines->entries[i].body;
		}
		assert_int_equal(body, view->total); /* each sample is at one line */
		assert_int_equal(hot->count, expected);
		assert_int_equal(hot->total, view->total);
		for (size_t i = 1; i < hot->count; i++)
			assert_true(is_before(paths.profile, &hot->entries[i - 1], &hot->entries[i]));
		line_list_free(hot);
		line_list_free(lines);
		view_free(view);
		paths_end(&paths);
	}
}

static void try_hot_lines(const struct view *view)
{
	struct error error = { 0 };
	struct line_list *list = analyze_hot_lines(view, &error);
	assert_int_equal(error.code, list ? 0 : ERROR_MEMORY);
	line_list_free(list);
}

static void hot_lines_without_memory(void **state)
{
	(void)state;
	struct paths paths;
	paths_start(&paths, RESOURCE_SAMPLED);
	paths_add(&paths, "main;f", 1);
	struct view *view = paths_view(&paths, VIEW_FUNCTION);
	ALLOC_FAIL_EACH(try_hot_lines(view));
	view_free(view);
	paths_end(&paths);
}

/* --- the hot path --- */

/* The first of the largest children, if it has at least half of the hits; below the root, always. */
static void hot_paths_follow_the_largest_child(void **state)
{
	(void)state;
	struct random random = { .state = 7 };
	for (unsigned round = 0; round < ROUNDS; round++) {
		struct paths paths;
		random_stacks(&paths, &random, round % 2 ? "ab" : "abcd");
		struct view *view = paths_view(&paths, VIEW_FUNCTION);
		for (uint32_t node = 0; node < view->node_count; node++) {
			uint32_t expected = PROFILE_NONE;
			uint64_t most = 0;
			for (uint32_t child = 1; child < view->node_count; child++) {
				if (view->parent[child] != node || view->weight[child] <= most)
					continue;
				most = view->weight[child];
				expected = child;
			}
			if (node > 0 && 2 * most < view->weight[node])
				expected = PROFILE_NONE;
			assert_int_equal(hot_path_next(view, node), expected);
		}
		view_free(view);
		paths_end(&paths);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(errors_belong_to_equal_paths), cmocka_unit_test(errors_of_no_rows),
		cmocka_unit_test(errors_without_memory),        cmocka_unit_test(hot_lines_are_sorted),
		cmocka_unit_test(hot_lines_without_memory),     cmocka_unit_test(hot_paths_follow_the_largest_child),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
