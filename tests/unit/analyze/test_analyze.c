/* The analyses, and the tree that they walk. tests/cases/test_definitions.py compares them with the definitions on
 * random trees. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "analyze/instructions.h"
#include "analyze/lookup.h"
#include "support/alloc_fail.h"
#include "support/paths_profile.h"
#include "support/sample_profile.h"

static void the_worked_examples(void **state)
{
	(void)state;
	struct paths paths;
	paths_start(&paths, RESOURCE_SAMPLED);
	paths_add(&paths, "main;f;g;f;g", 3);
	struct view *view = paths_view(&paths, VIEW_FUNCTION);
	assert_string_equal(paths_text(view, analyze_functions(view, NULL)), "3 f, 3 g, 3 main");
	assert_string_equal(paths_text(view, analyze_body(view, NULL)), "3 g");
	assert_string_equal(paths_text(view, paths_down(view, "main")), "3 main, 3 main f, 3 main f g, 3 main f g f");
	assert_string_equal(paths_text(view, paths_up(view, "g")), "3 f g, 3 g, 3 g f g, 3 main f g");
	view_free(view);
	paths_end(&paths);
}

static void entries_are_in_order(void **state)
{
	(void)state;
	struct paths paths;
	paths_start(&paths, RESOURCE_MERGED);
	paths_add(&paths, "main;z", 5000);
	paths_add(&paths, "main;y", 70000);
	paths_add(&paths, "main;b", 4);
	paths_add(&paths, "main;a;c", 4);
	paths_add(&paths, "main;x", UINT64_C(5000000000));
	struct view *view = paths_view(&paths, VIEW_FUNCTION);
	assert_string_equal(paths_text(view, paths_down(view, "main")),
			    "5000075008 main, 5000000000 main x, 70000 main y, 5000 main z, 4 main a, 4 main a c, "
			    "4 main b");
	view_free(view);
	paths_end(&paths);
}

static void the_tree_is_sound(void **state)
{
	(void)state;
	struct paths paths;
	paths_start(&paths, RESOURCE_SAMPLED);
	paths_add(&paths, "main;b;c", 1);
	paths_add(&paths, "main;a", 2);
	paths_add(&paths, "main;b;a;a", 4);
	paths_add(&paths, "other", 8);
	struct view *view = paths_view(&paths, VIEW_FUNCTION);
	assert_int_equal(view->node_count, 8);
	assert_int_equal(view->depth, 4);
	assert_int_equal(view->total, 15);
	assert_int_equal(view->samples, 4);
	assert_int_equal(view->weight[0], 15);
	assert_int_equal(view->end[0], 8);
	size_t listed = 0;
	for (uint32_t i = 0; i < view->node_count; i++) {
		uint64_t sum = view->hits[i];
		for (uint32_t k = view->child_start[i]; k < view->child_start[i + 1]; k++, listed++) {
			uint32_t child = view->child[k];
			assert_int_equal(view->parent[child], i);
			assert_true(child > i && view->end[child] <= view->end[i]);
			if (k > view->child_start[i])
				assert_true(view->label[child] > view->label[view->child[k - 1]]);
			sum += view->weight[child];
		}
		assert_int_equal(view->weight[i], sum);
	}
	assert_int_equal(listed, view->node_count - 1);
	view_free(view);
	paths_end(&paths);
}

/* A set of one label. */
#define STEP(label)                                         \
	{                                                   \
		.labels = (uint32_t[]){ label }, .count = 1 \
	}
static const struct label_set first = STEP(0);

/* An empty selection has no nodes and empty lists, and causes no division by zero. */
static void nothing_is_fine(void **state)
{
	(void)state;
	struct paths paths;
	paths_start(&paths, RESOURCE_SAMPLED);
	struct view *view = paths_view(&paths, VIEW_FUNCTION);
	assert_int_equal(view->node_count, 1);
	assert_string_equal(paths_text(view, analyze_functions(view, NULL)), "");
	assert_string_equal(paths_text(view, analyze_body(view, NULL)), "");
	assert_null(analyze_down(view, &first, NULL));
	view_free(view);

	/* A function without hits in the selection exists, with an empty result. */
	paths_add(&paths, "main", 1);
	paths_add(&paths, "f", 1);
	paths.profile->hits[1].node = 1;
	view = paths_view(&paths, VIEW_FUNCTION);
	assert_string_equal(paths_text(view, paths_down(view, "f")), "");
	assert_string_equal(paths_text(view, paths_up(view, "f")), "");
	struct label_set f = STEP(paths_label(view, "f"));
	struct what_if what_if = { .steps = &f, .length = 1 };
	struct what_if_result result;
	assert_int_equal(analyze_what_if(view, &what_if, 1, &result, NULL), 0);
	assert_float_equal(result.predicted, 1, 1e-12);
	assert_int_equal(result.affected[0], 0);
	free(result.affected);
	view_free(view);
	paths_end(&paths);
}

static void what_if_takes_the_largest_saving(void **state)
{
	(void)state;
	struct paths paths;
	paths_start(&paths, RESOURCE_MERGED);
	paths_add(&paths, "main;a;b", 10);
	paths_add(&paths, "main;a;c", 10);
	paths_add(&paths, "main;d", 20);
	struct view *view = paths_view(&paths, VIEW_FUNCTION);
	struct label_set steps[] = { STEP(paths_label(view, "main")), STEP(paths_label(view, "a")),
				     STEP(paths_label(view, "b")) };
	struct what_if what_if[] = { { .steps = steps, .length = 2, .factor = 0.5 },
				     { .steps = steps, .length = 3, .factor = 0 } };
	struct what_if_result result;
	assert_int_equal(analyze_what_if(view, what_if, 2, &result, NULL), 0);
	assert_float_equal(result.predicted, 0.625, 1e-12);
	assert_int_equal(result.affected[0], 20);
	assert_int_equal(result.affected[1], 10);
	free(result.affected);
	/* A factor above 1 makes the total larger, unless another path with a saving covers the same hits: then
	 * the saving counts. */
	what_if[1].factor = 3;
	assert_int_equal(analyze_what_if(view, what_if + 1, 1, &result, NULL), 0);
	assert_float_equal(result.predicted, 1.5, 1e-12);
	free(result.affected);
	assert_int_equal(analyze_what_if(view, what_if, 2, &result, NULL), 0);
	assert_float_equal(result.predicted, 0.75, 1e-12);
	free(result.affected);
	struct error error;
	what_if[0].factor = -1;
	assert_int_equal(analyze_what_if(view, what_if, 2, &result, &error), ERROR_USAGE);
	what_if[0].factor = NAN;
	assert_int_equal(analyze_what_if(view, what_if, 2, &result, &error), ERROR_USAGE);
	view_free(view);
	paths_end(&paths);
}

/* Newcombe, Statistics in Medicine 17 (1998), table I: 81 of 263 gives 0.2553
 * to 0.3662; 15 of 148: 0.0624 to 0.1605; 0 of 20: 0 to 0.1611; 1 of 29: 0.0061
 * to 0.1718. */
static void errors_are_wilsons(void **state)
{
	(void)state;
	assert_float_equal(analyze_error(81, 263, 263), (0.3662 - 0.2553) / 2, 1e-4);
	assert_float_equal(analyze_error(15, 148, 148), (0.1605 - 0.0624) / 2, 1e-4);
	assert_float_equal(analyze_error(0, 20, 20), 0.1611 / 2, 1e-4);
	assert_float_equal(analyze_error(1, 29, 29), (0.1718 - 0.0061) / 2, 1e-4);
	/* The qsort example of the paper: 1820 of 2676. */
	assert_float_equal(analyze_error(1820, 2676, 2676), 0.0177, 5e-5);
	/* The error depends on the number of samples, not of hits. */
	assert_true(analyze_error(500, 1000, 10) > 3 * analyze_error(500, 1000, 1000));
	assert_float_equal(analyze_error(5, 10, 0), 0, 0);
	assert_float_equal(analyze_error(0, 0, 0), 0, 0);
}

static void samples_depend_on_the_kind(void **state)
{
	(void)state;
	static const struct {
		enum resource_kind kind;
		uint64_t samples;
	} kinds[] = { { RESOURCE_SAMPLED, 2 }, { RESOURCE_MERGED, 12 }, { RESOURCE_EXACT, 0 } };
	for (size_t i = 0; i < 3; i++) {
		struct paths paths;
		paths_start(&paths, kinds[i].kind);
		paths_add(&paths, "main", 5);
		paths_add(&paths, "main", 7);
		struct view *view = paths_view(&paths, VIEW_FUNCTION);
		assert_int_equal(view->total, 12);
		assert_int_equal(view->samples, kinds[i].samples);
		view_free(view);
		paths_end(&paths);
	}
}

/* m = H^2 / (sum of h^2) samples of CPU time; otherwise each row is one sample, however large its event. */
static void late_ticks_count_less(void **state)
{
	static const struct {
		const char *unit;
		double independent;
	} rows[] = { { "ns", 144.0 / (25 + 49) }, { "exception", 2 }, { "us", 2 }, { "byte", 2 } };
	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct paths paths;
		paths_start(&paths, RESOURCE_SAMPLED);
		paths.profile->resources[0].unit = (uint32_t)profile_add_string(paths.profile, rows[i].unit);
		paths_add(&paths, "main;f", 5);
		paths_add(&paths, "main;g", 7);
		struct view *view = paths_view(&paths, VIEW_FUNCTION);
		assert_float_equal(view->independent, rows[i].independent, 1e-12);
		assert_int_equal(view->samples, 2);
		view_free(view);
		paths_end(&paths);
	}
}

/* Ticks that come late, so that most samples have 1 hit and some have many: of 300 recordings, 95 % of the intervals contain the
 * truth. With one sample for each row, it would be fewer. */
static void intervals_hold_with_unequal_hits(void **state)
{
	enum { RECORDINGS = 300, ROWS = 400 };
	static const double truth = 0.3;
	struct random random = { .state = 11 };
	size_t right = 0, right_by_rows = 0;
	(void)state;
	for (int i = 0; i < RECORDINGS; i++) {
		struct paths paths;
		paths_start(&paths, RESOURCE_SAMPLED);
		paths.profile->resources[0].unit = (uint32_t)profile_add_string(paths.profile, "ns");
		uint64_t hits = 0;
		for (int row = 0; row < ROWS; row++) {
			uint64_t count = random_below(&random, 5) ? 1 : 8;
			bool is_f = random_below(&random, 1000) < 1000 * truth;
			paths_add(&paths, is_f ? "main;f" : "main;g", count);
			hits += is_f ? count : 0;
		}
		struct view *view = paths_view(&paths, VIEW_FUNCTION);
		double off = fabs((double)hits / (double)view->total - truth);
		right += off <= analyze_error(hits, view->total, view->independent);
		right_by_rows += off <= analyze_error(hits, view->total, (double)view->samples);
		view_free(view);
		paths_end(&paths);
	}
	/* With 95 %, fewer than 262 of 300 have a probability of 1e-7. */
	assert_true(right >= 262);
	assert_true(right_by_rows < 262);
}

static struct diff_list *compare(uint64_t a_f, uint64_t b_f, enum resource_kind kind, struct error *error)
{
	struct view *views[2];
	struct path_list *lists[2];
	struct paths sides[2];
	for (int i = 0; i < 2; i++) {
		paths_start(&sides[i], kind);
		paths_add(&sides[i], "main;f", i ? b_f : a_f);
		paths_add(&sides[i], i ? "main;new" : "main;old", 100);
		views[i] = paths_view(&sides[i], VIEW_FUNCTION);
		lists[i] = paths_down(views[i], "main");
	}
	const struct diff_run runs[] = { { .view = views[0], .paths = lists[0], .spread = 0.05 },
					 { .view = views[1], .paths = lists[1], .spread = 0.05 } };
	struct diff_list *list = analyze_diff(runs, (size_t[]){ 1, 1 }, error);
	if (list)
		assert_int_equal(diff_mark(&list, 1, DIFF_CHANCE), 0);
	for (int i = 0; i < 2; i++) {
		path_list_free(lists[i]);
		view_free(views[i]);
		paths_end(&sides[i]);
	}
	return list;
}

static const char *diff_text(const struct diff_list *list, const struct diff_entry *entry)
{
	static char text[256];
	size_t size = 0;
	const uint32_t *names = path_labels(list->paths, &entry->path);
	for (uint32_t i = 0; i < entry->path.length && size < sizeof(text); i++)
		size += (size_t)snprintf(text + size, sizeof(text) - size, "%s%s", i ? " " : "", list->names[names[i]]);
	return text;
}

static const struct diff_entry *diff_of(const struct diff_list *list, const char *path)
{
	for (size_t i = 0; i < list->count; i++)
		if (strcmp(diff_text(list, &list->entries[i]), path) == 0)
			return &list->entries[i];
	fail_msg("no difference of %s", path);
	return NULL;
}

static void differences_are_tested(void **state)
{
	(void)state;
	struct diff_list *list = compare(300, 100, RESOURCE_MERGED, NULL);
	assert_non_null(list);
	assert_int_equal(list->count, 4);
	/* By the change of the amount: 200 each, then 100 each, in the order of the paths. */
	assert_string_equal(diff_text(list, &list->entries[0]), "main");
	assert_string_equal(diff_text(list, &list->entries[1]), "main f");
	assert_string_equal(diff_text(list, &list->entries[2]), "main new");
	assert_float_equal(diff_total_change(list), 200.0 / 400 - 1, 1e-12);
	/* Computed by hand: 1.959964 times half of the root of 0.05^2 + 0.05^2. */
	assert_float_equal(list->total_error, 0.0692952, 1e-6);
	const struct diff_entry *f = diff_of(list, "main f");
	assert_int_equal(f->hits[DIFF_A], 300);
	assert_int_equal(f->hits[DIFF_B], 100);
	assert_float_equal(f->fraction[DIFF_A], 0.75, 1e-12);
	assert_float_equal(f->fraction[DIFF_B], 0.5, 1e-12);
	/* Computed by hand: 200 by the root of 75 + 50 (samples) and 0.05^2 (300^2 + 100^2) (runs). */
	assert_float_equal(f->z, -10.327956, 1e-5);
	assert_true(f->significant);
	assert_int_equal(diff_of(list, "main old")->hits[DIFF_B], 0);
	assert_true(diff_of(list, "main")->significant);
	diff_list_free(list);

	list = compare(300, 310, RESOURCE_MERGED, NULL);
	assert_false(diff_of(list, "main f")->significant);
	diff_list_free(list);
	list = compare(300, 301, RESOURCE_EXACT, NULL);
	assert_true(diff_of(list, "main f")->significant);
	assert_float_equal(diff_of(list, "main f")->z, 0, 0);
	diff_list_free(list);
}

/* Makes a chain of `depth` nodes that cycles through `period` functions, with a hit row at each node or, with
 * `leaves`, at a leaf function below each node. */
static void make_chain(struct paths *paths, uint32_t depth, uint32_t period, bool leaves)
{
	paths_start(paths, RESOURCE_SAMPLED);
	char name[16];
	uint32_t locations[PATHS_NAMES];
	for (uint32_t i = 0; i < period; i++) {
		snprintf(name, sizeof(name), "f%u", i);
		paths_add(paths, name, 1);
		locations[i] = paths->names[i].location;
	}
	paths_add(paths, "leaf", 1);
	uint32_t leaf = paths->names[period].location;
	paths->profile->hit_count = 0;
	uint32_t node = PROFILE_ROOT;
	for (uint32_t i = 0; i < depth; i++) {
		int64_t next = profile_add_node(paths->profile, node, locations[i % period]);
		assert_true(next > 0);
		node = (uint32_t)next;
		int64_t below = leaves ? profile_add_node(paths->profile, node, leaf) : node;
		assert_true(below > 0);
		assert_int_equal(profile_add_hit(paths->profile, 0, PROFILE_NONE, (uint32_t)below, 0, 1), 0);
	}
}

/* An analysis may neither recurse on the C stack nor take time quadratic in the depth. */
static void deep_recursion_is_fine(void **state)
{
	(void)state;
	enum { DEPTH = 200000 };
	struct paths paths;
	make_chain(&paths, DEPTH, 3, false);
	struct view *view = paths_view(&paths, VIEW_FUNCTION);
	assert_int_equal(view->depth, DEPTH);
	uint32_t f0 = paths_label(view, "f0");
	assert_string_equal(paths_text(view, analyze_functions(view, NULL)), "200000 f0, 199999 f1, 199998 f2");
	assert_string_equal(paths_text(view, paths_down(view, "f0")),
			    "200000 f0, 199999 f0 f1, 199998 f0 f1 f2, 199997 f0 f1 f2 f0");
	/* For 66,666 samples the innermost f2 is the last frame, and so on. */
	assert_string_equal(paths_text(view, paths_up(view, "f2")),
			    "199998 f0 f1 f2, 199998 f1 f2, 199998 f2, 199995 f2 f0 f1 f2");
	struct label_set path[] = { STEP(f0), STEP(paths_label(view, "f1")), STEP(paths_label(view, "f2")), STEP(f0) };
	struct what_if what_if = { .steps = path, .length = 4, .factor = 0 };
	struct what_if_result result;
	assert_int_equal(analyze_what_if(view, &what_if, 1, &result, NULL), 0);
	assert_int_equal(result.affected[0], 199997);
	free(result.affected);
	struct line_list *lines = analyze_lines(view, &(struct label_set)STEP(f0), NULL);
	assert_non_null(lines);
	assert_int_equal(lines->count, 1);
	assert_int_equal(lines->entries[0].total, 200000);
	line_list_free(lines);
	view_free(view);
	paths_end(&paths);

	make_chain(&paths, DEPTH, 1, true);
	view = paths_view(&paths, VIEW_FUNCTION);
	assert_string_equal(paths_text(view, paths_up(view, "leaf")), "200000 f0 leaf, 200000 leaf, 199999 f0 f0 leaf");
	assert_string_equal(paths_text(view, paths_down(view, "f0")), "200000 f0, 200000 f0 leaf, 199999 f0 f0");
	view_free(view);
	paths_end(&paths);
}

/* Paths to t of equal hits that branch twice at each depth: `f0 ... fn a x t`, `... a y t`, `... z x t`, `... z y t`.
 * Sorting them keeps few parts waiting however deep they are. */
static void deep_ties_are_sorted(void **state)
{
	(void)state;
	enum { DEPTH = 300, BRANCHES = 4 };
	static const char *const branches[BRANCHES] = { "a;x;t", "a;y;t", "z;x;t", "z;y;t" };
	struct paths paths;
	paths_start(&paths, RESOURCE_SAMPLED);
	paths_add(&paths, "a", 1);
	char stack[DEPTH * 8 + 8] = "";
	size_t length = 0;
	for (int depth = 0; depth < DEPTH; depth++) {
		length += (size_t)snprintf(stack + length, sizeof(stack) - length, "f%d;", depth);
		for (int i = 0; i < BRANCHES; i++) {
			memcpy(stack + length, branches[i], sizeof("a;x;t"));
			paths_add(&paths, stack, 1);
		}
	}
	struct view *view = paths_view(&paths, VIEW_FUNCTION);
	struct label_set target = STEP(paths_label(view, "t"));
	struct path_list *list = analyze_up(view, &target, NULL);
	assert_non_null(list);
	/* `t`, two callers, four callers of these, and below each of them every depth from every function on */
	assert_int_equal(list->count, 1 + 2 + BRANCHES + BRANCHES * DEPTH * (DEPTH + 1) / 2);
	for (size_t i = 1; i < list->count; i++)
		assert_true(list->entries[i - 1].hits >= list->entries[i].hits);
	path_list_free(list);
	view_free(view);
	paths_end(&paths);
}

static void analyze_all(const struct paths *paths, enum view_by by)
{
	struct view_options options = { .by = by, .thread = VIEW_ANY };
	struct error error = { 0 };
	struct view *view = view_new(paths->profile, &options, &error);
	if (!view) {
		assert_int_equal(error.code, ERROR_MEMORY);
		return;
	}
	struct path_list *down = analyze_down(view, &first, &error), *up = analyze_up(view, &first, &error);
	struct diff_list *diff = down && up ? analyze_diff((struct diff_run[]){ { .view = view, .paths = down },
										{ .view = view, .paths = up } },
							   (size_t[]){ 1, 1 }, &error)
					    : NULL;
	path_list_free(analyze_functions(view, &error));
	path_list_free(analyze_body(view, &error));
	line_list_free(analyze_lines(view, &first, &error));
	struct what_if what_if = { .steps = (struct label_set[]){ STEP(0), STEP(1) }, .length = 2 };
	struct what_if_result result;
	if (analyze_what_if(view, &what_if, 1, &result, &error) == 0)
		free(result.affected);
	struct label_set set;
	int64_t count = view_find(view, "f", &set);
	assert_true(count >= 0 || count == ERROR_MEMORY);
	if (count > 0)
		label_set_release(&set);
	int status = lookup_functions(view, "nothing", &set, &error);
	assert_true(status == ERROR_NOT_FOUND || status == ERROR_MEMORY);
	error.code = status == ERROR_NOT_FOUND ? 0 : error.code;
	assert_true(error.code == 0 || error.code == ERROR_MEMORY || error.code == ERROR_USAGE);
	if (diff)
		diff_mark(&diff, 1, DIFF_CHANCE);
	diff_list_free(diff);
	path_list_free(up);
	path_list_free(down);
	view_free(view);
}

/* Two paths of equal hits and the same first function are in the order of the others, whichever is found first. */
static void two_ties_are_sorted(void **state)
{
	(void)state;
	struct paths paths;
	paths_start(&paths, RESOURCE_SAMPLED);
	paths_add(&paths, "a;y", 1); /* y is before z */
	paths_add(&paths, "a;z;x", 1);
	paths_add(&paths, "b;a;y;x", 1);
	struct view *view = paths_view(&paths, VIEW_FUNCTION);
	assert_string_equal(paths_text(view, paths_up(view, "x")), "2 x, 1 a y x, 1 a z x, 1 b a y x, 1 y x, 1 z x");
	view_free(view);
	paths_end(&paths);
}

/* An address that two paths reach is listed once. */
static void addresses_are_distinct(void **state)
{
	(void)state;
	struct paths paths;
	struct error error;
	struct code_address *addresses;
	size_t count;
	paths_start(&paths, RESOURCE_SAMPLED);
	paths_add(&paths, "main;f", 1);
	paths_add(&paths, "g;f", 2);
	paths_add(&paths, "main;h", 2);
	struct view *view = paths_view(&paths, VIEW_FUNCTION);
	uint32_t labels[] = { paths_label(view, "f"), paths_label(view, "h") };
	const struct label_set wanted = { .labels = labels, .count = 2 };
	assert_int_equal(analyze_code_addresses(view, &wanted, &addresses, &count, &error), 0);
	assert_int_equal(count, 2);
	assert_true(addresses[0].address < addresses[1].address);
	free(addresses);
	view_free(view);
	paths_end(&paths);
}

static void memory_may_fail_anywhere(void **state)
{
	(void)state;
	struct paths paths;
	paths_start(&paths, RESOURCE_SAMPLED);
	uint32_t twin = paths_function(&paths, "f", paths_module(&paths, "/lib/b.so"), "b.c", 1, ROLE_NONE);
	paths_define(&paths, "twin", 1, &twin, (uint32_t[]){ 7 }, 1);
	paths_add(&paths, "f;g;f;g;twin;h", 1);
	paths_add(&paths, "f;a", 1);
	paths_add(&paths, "g;b;f;g;c;g", 1);
	ALLOC_FAIL_EACH(analyze_all(&paths, VIEW_FUNCTION));
	ALLOC_FAIL_EACH(analyze_all(&paths, VIEW_CALLSITE));
	ALLOC_FAIL_EACH(analyze_all(&paths, VIEW_LINE));
	ALLOC_FAIL_EACH(analyze_all(&paths, VIEW_MODULE));
	paths_end(&paths);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_worked_examples),
		cmocka_unit_test(entries_are_in_order),
		cmocka_unit_test(the_tree_is_sound),
		cmocka_unit_test(nothing_is_fine),
		cmocka_unit_test(what_if_takes_the_largest_saving),
		cmocka_unit_test(errors_are_wilsons),
		cmocka_unit_test(samples_depend_on_the_kind),
		cmocka_unit_test(late_ticks_count_less),
		cmocka_unit_test(intervals_hold_with_unequal_hits),
		cmocka_unit_test(differences_are_tested),
		cmocka_unit_test(deep_recursion_is_fine),
		cmocka_unit_test(deep_ties_are_sorted),
		cmocka_unit_test(two_ties_are_sorted),
		cmocka_unit_test(addresses_are_distinct),
		cmocka_unit_test(memory_may_fail_anywhere),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
