/* Functions of the interactive loop that need a view: subtrees, completion, names, and the loop. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "analyze/lookup.h"
#include "analyze/narrow.h"
#include "analyze/subtree.h"
#include "formats/format.h"
#include "ui/explore/explore.h"
#include "ui/explore/io.h"

static const char stacks[] = "main;a;qsort 10\n"
			     "main;a;qsort;cmp 5\n"
			     "main;b;qsort 3\n"
			     "main;b;ns::f(int, char) 7\n"
			     "main;b;ns::f(double) 2\n"
			     "main;b;c;b;qsort 4\n"
			     "main 1\n";

struct fixture {
	struct profile *profile;
	struct explore_options options;
	struct session session;
	const struct view *view;
};

static int set_up(void **state)
{
	static struct fixture fixture;
	struct error error = { 0 };
	FILE *in = fmemopen((void *)stacks, sizeof(stacks) - 1, "r");
	fixture = (struct fixture){ .options = { .file = "test.data" } };
	fixture.profile = format_find("folded")->import(in, "test", NULL, &error);
	fclose(in);
	if (!fixture.profile || session_init(&fixture.session, fixture.profile, &fixture.options, &error))
		return -1;
	fixture.view = session_view(&fixture.session, 0, &error);
	*state = &fixture;
	return fixture.view ? 0 : -1;
}

static int tear_down(void **state)
{
	struct fixture *fixture = *state;
	session_release(&fixture->session);
	profile_free(fixture->profile);
	return 0;
}

/* "label:weight(children...)", depth first, in the order of the child lists. */
static void print_tree(const struct view *view, uint32_t node, char *text, size_t bytes)
{
	size_t used = strlen(text);
	if (node)
		snprintf(text + used, bytes - used, "%s:%u", view->labels[view->label[node]].text,
			 (unsigned)view->weight[node]);
	uint32_t end = node + 1;
	for (uint32_t i = view->child_start[node]; i < view->child_start[node + 1]; i++) {
		assert_int_equal(view->parent[view->child[i]], node);
		snprintf(text + strlen(text), bytes - strlen(text), "(");
		print_tree(view, view->child[i], text, bytes);
		snprintf(text + strlen(text), bytes - strlen(text), ")");
		end = view->end[view->child[i]] > end ? view->end[view->child[i]] : end;
	}
	assert_int_equal(view->end[node], end);
}

static void expect_subtree(struct fixture *fixture, const char *name, const char *wanted)
{
	struct error error;
	struct label_set roots;
	char text[512] = "";
	assert_int_equal(lookup_functions(fixture->view, name, &roots, &error), 0);
	struct view *subtree = subtree_new(fixture->view, &roots, &error);
	label_set_release(&roots);
	assert_non_null(subtree);
	print_tree(subtree, 0, text, sizeof(text));
	assert_string_equal(text, wanted);
	assert_true(subtree->total == fixture->view->total);
	subtree_free(subtree);
}

static void test_subtree(void **state)
{
	expect_subtree(*state, "qsort", "(qsort:22(cmp:5))");
	expect_subtree(*state, "cmp", "(cmp:5)");
	/* Only the outermost b becomes a root; the inner one stays below c. */
	struct fixture *fixture = *state;
	struct error error;
	struct label_set roots;
	assert_int_equal(lookup_functions(fixture->view, "b", &roots, &error), 0);
	struct view *subtree = subtree_new(fixture->view, &roots, &error);
	label_set_release(&roots);
	assert_int_equal(subtree->weight[0], 16);
	assert_int_equal(subtree->child_start[1], 1);
	assert_int_equal(subtree->node_count, 8);
	char text[512] = "";
	print_tree(subtree, 0, text, sizeof(text));
	assert_non_null(strstr(text, "(c:4(b:4(qsort:4)))"));
	subtree_free(subtree);
}

static void expect_completion(struct fixture *fixture, const char *line, size_t start, const char *joined)
{
	struct completion completion;
	char got[512] = "";
	completion_init(&completion, &fixture->session, line, strlen(line));
	for (size_t i = 0; i < completion.count; i++)
		snprintf(got + strlen(got), sizeof(got) - strlen(got), "[%s]", completion.items[i]);
	assert_string_equal(got, joined);
	if (completion.count)
		assert_int_equal(completion.start, start);
	completion_release(&completion);
}

static void test_completion(void **state)
{
	struct fixture *fixture = *state;
	expect_completion(fixture, "t", 0, "[tails][thread][threshold][time][transform][tree][trim]");
	expect_completion(fixture, "  do", 2, "[down]");
	expect_completion(fixture, "zzz", 0, "");
	expect_completion(fixture, "zzz q", 0, "");
	expect_completion(fixture, "down ", 5, "[a][b][c][cmp][main][ns::f(double)][ns::f(int, char)][qsort]");
	expect_completion(fixture, "d  qs", 3, "[qsort]");
	expect_completion(fixture, "down ns::f(int, c", 5, "[ns::f(int, char)]");
	expect_completion(fixture, "up f(", 3, "[ns::f(double)][ns::f(int, char)]");
	expect_completion(fixture, "whatif main;q", 12, "[qsort]");
	expect_completion(fixture, "whatif main;b=0 ns::f(i", 16, "[ns::f(int, char)]");
	expect_completion(fixture, "resource ", 9, "[all][samples]");
	expect_completion(fixture, "by l", 3, "[line]");
	expect_completion(fixture, "by line l", 8, "");
	expect_completion(fixture, "inlines o", 8, "[off][on]");
	expect_completion(fixture, "export fo", 7, "[folded]");
	expect_completion(fixture, "help qu", 5, "[quit]");
	expect_completion(fixture, "limit ", 6, "");
}

/* Calls session_labels for a name. `text` receives the first label that it finds, or "". */
static int find_name(struct fixture *fixture, const char *name, char *text, size_t bytes, struct error *error)
{
	struct label_set labels;
	int status = session_labels(&fixture->session, fixture->view, name, &labels, error);
	snprintf(text, bytes, "%s", labels.count ? fixture->view->labels[labels.labels[0]].text : "");
	label_set_release(&labels);
	return status;
}

static void test_names(void **state)
{
	struct fixture *fixture = *state;
	struct session *session = &fixture->session;
	struct error error;
	char text[64];
	assert_int_equal(find_name(fixture, "#1", text, sizeof(text), &error), ERROR_USAGE);
	assert_int_equal(find_name(fixture, "ns::f", text, sizeof(text), &error), ERROR_AMBIGUOUS);
	assert_int_equal(session->candidate_count, 2);
	assert_string_equal(text, "");
	assert_int_equal(find_name(fixture, "#2", text, sizeof(text), &error), 0);
	assert_string_equal(text, session->candidates[1].text);
	assert_int_equal(find_name(fixture, "#3", text, sizeof(text), &error), ERROR_USAGE);
	assert_int_equal(find_name(fixture, "#0", text, sizeof(text), &error), ERROR_USAGE);
	assert_int_equal(find_name(fixture, "'ns::f(double)'", text, sizeof(text), &error), 0);
	assert_string_equal(text, "ns::f(double)");
	assert_int_equal(find_name(fixture, "qsrot", text, sizeof(text), &error), ERROR_NOT_FOUND);
	assert_non_null(strstr(error.message, "no function 'qsrot' (did you mean qsort?)"));
	assert_int_equal(find_name(fixture, "", text, sizeof(text), &error), ERROR_USAGE);
}

static void test_what_if(void **state)
{
	struct fixture *fixture = *state;
	struct error error;
	struct lookup_what_if what_if;
	const char *good[] = { "main; b ;qsort=0.5", "'ns::f(int, char)' = 150%" };
	assert_int_equal(lookup_what_if_init(&what_if, fixture->view, good, 2, &error), 0);
	assert_int_equal(what_if.paths[0].length, 3);
	assert_string_equal(what_if.paths[0].steps[1].name, "b");
	assert_true(what_if.paths[0].factor == 0.5);
	assert_int_equal(what_if.paths[1].length, 1);
	assert_true(what_if.paths[1].factor == 1.5);
	lookup_what_if_release(&what_if);
	static const char *const bad[] = { "",     "main", "main=", "main=x", "main=-1",    "main=nan",  "=0",
					   "a;=0", ";a=0", "f=0",   "zzz=0",  "main=0.5.5", "main=1e999" };
	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
		error = (struct error){ 0 };
		assert_true(lookup_what_if_init(&what_if, fixture->view, &bad[i], 1, &error) < 0);
		assert_true(error.message[0] != '\0');
	}
	assert_int_equal(lookup_what_if_init(&what_if, fixture->view, good, 0, &error), ERROR_USAGE);
}

/* The session keeps its views; when VIEW_CACHE_VIEWS are kept, a new one replaces the least recently used one. */
static void test_views(void **state)
{
	struct fixture *fixture = *state;
	struct session *session = &fixture->session;
	struct error error;
	struct view_options options = fixture->view->options;
	assert_ptr_equal(session_view_of(session, &options, &error), fixture->view);
	for (uint64_t i = 1; i < VIEW_CACHE_VIEWS; i++) {
		options.from_ns = i;
		assert_non_null(session_view_of(session, &options, &error));
	}
	options.from_ns = 0;
	assert_ptr_equal(session_view_of(session, &options, &error), fixture->view);
	options.from_ns = 100;
	const struct view *newest = session_view_of(session, &options, &error);
	assert_ptr_equal(session->views.views[0].view, newest);
	assert_ptr_equal(session->views.views[1].view, fixture->view);
	for (size_t i = 0; i < VIEW_CACHE_VIEWS; i++)
		assert_true(session->views.views[i].view->options.from_ns != 1);
	options.resource = 7;
	assert_null(session_view_of(session, &options, &error));
	assert_ptr_equal(session->views.views[0].view, newest);
}

/* A narrowed profile has as many hits as a view with the same options. */
static void test_narrow(void **state)
{
	(void)state;
	struct profile *profile = profile_new();
	struct profile_resource resource = { .interval = 1 };
	for (uint32_t i = 0; i < 2; i++) {
		assert_true(profile_add_resource(profile, &resource) >= 0);
		assert_true(profile_add_process(profile, &(struct profile_process){ .pid = i + 1 }) >= 0);
	}
	for (uint32_t i = 0; i < 4; i++)
		assert_true(profile_add_thread(profile, &(struct profile_thread){ .tid = i, .process = i / 2 }) >= 0);
	profile->start_ns = 100;
	for (uint64_t time = 90; time < 110; time++)
		for (uint32_t thread = 0; thread < 5; thread++)
			assert_int_equal(profile_add_hit(profile, time == 90 ? 0 : time,
							 thread < 4 ? thread : PROFILE_NONE, 0, time % 2, 1 + thread),
					 0);
	static const bool first[] = { true, false }, second[] = { false, true };
	static const struct view_options cases[] = {
		{ .thread = VIEW_ANY },
		{ .thread = 2, .resource = 1 },
		{ .processes = second, .thread = VIEW_ANY },
		{ .processes = first, .thread = 3 },
		{ .thread = VIEW_ANY, .from_ns = 2, .to_ns = 5 },
		{ .thread = VIEW_ANY, .from_ns = 0, .to_ns = 3, .resource = 1 },
		{ .processes = second, .thread = VIEW_ANY, .from_ns = 3 },
	};
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct error error = { 0 };
		struct profile narrow;
		struct view *view = view_new(profile, &cases[i], &error);
		assert_non_null(view);
		assert_int_equal(narrow_init(&narrow, profile, &cases[i], &error), 0);
		uint64_t sum = 0;
		for (size_t hit = 0; hit < narrow.hit_count; hit++)
			sum += narrow.hits[hit].count;
		assert_int_equal(sum, view->total);
		narrow_release(&narrow);
		view_free(view);
	}
	profile_free(profile);
}

/* The loop works on memory streams, which have no file descriptor. */
static void test_loop(void **state)
{
	struct fixture *fixture = *state;
	static const char commands[] = "limit 3\nfun\nnonsense\n\n# no command\ndown f\nquit\nlimit 5\n";
	char *out_text = NULL, *err_text = NULL;
	size_t out_bytes = 0, err_bytes = 0;
	struct error error = { 0 };
	struct explore_options options = { .file = "test.data",
					   .in = fmemopen((void *)commands, sizeof(commands) - 1, "r"),
					   .out = open_memstream(&out_text, &out_bytes),
					   .err = open_memstream(&err_text, &err_bytes) };
	assert_int_equal(explore_run(fixture->profile, &options, &error), 2);
	fclose(options.in);
	fclose(options.out);
	fclose(options.err);
	assert_non_null(strstr(out_text, "test.data: samples 32 samples; type help\nlimit: 3\n"));
	assert_non_null(strstr(out_text, "qsort [22]"));
	assert_null(strstr(out_text, "cmp"));
	assert_null(strstr(out_text, "limit: 5"));
	assert_null(strstr(out_text, "cpprof> "));
	assert_non_null(strstr(err_text, "cpprof: line 3: no command 'nonsense'"));
	assert_non_null(strstr(err_text, "cpprof: line 6: 'f' fits 2 functions"));
	assert_non_null(strstr(err_text, "#2  ns::f(int, char)"));
	free(out_text);
	free(err_text);
}

/* Each chosen resource gets a report, even if the function has no hit of it. */
static void test_several_resources(void **state)
{
	struct fixture *fixture = *state;
	struct profile *profile = fixture->profile;
	struct profile_resource faults = { .name = (uint32_t)profile_add_string(profile, "page-faults"),
					   .title = (uint32_t)profile_add_string(profile, "Page Faults"),
					   .unit = (uint32_t)profile_add_string(profile, "fault"),
					   .interval = 10 };
	assert_int_equal(profile_add_resource(profile, &faults), 1);
	assert_int_equal(profile_add_hit(profile, 0, PROFILE_NONE, 1, 1, 6), 0);
	static const char commands[] = "fun | true\nresource page\nfun\nresource all\ndown cmp\ndown nothing\n"
				       "export folded -\n";
	char *out_text = NULL, *err_text = NULL;
	size_t out_bytes = 0, err_bytes = 0;
	struct error error = { 0 };
	struct explore_options options = { .file = "test.data",
					   .in = fmemopen((void *)commands, sizeof(commands) - 1, "r"),
					   .out = open_memstream(&out_text, &out_bytes),
					   .err = open_memstream(&err_text, &err_bytes) };
	assert_int_equal(explore_run(profile, &options, &error), 2);
	fclose(options.in);
	fclose(options.out);
	fclose(options.err);
	assert_non_null(strstr(out_text, "samples 32 samples, page-faults 1 sample; type help\n"));
	assert_non_null(strstr(out_text, "  samples (Samples), 32 samples"));
	assert_non_null(strstr(out_text, "* page-faults (Page Faults), 1 sample, one every 10 faults\n"));
	char *first = strstr(out_text, "Function Profile for resource: Page Faults");
	assert_non_null(first);
	assert_non_null(strstr(first, " main [6]\n"));
	char *down = strstr(first, "Downward Call Path Profile for resource: Samples");
	assert_non_null(down);
	assert_non_null(strstr(down, "(cmp) [5]\n\nDownward Call Path Profile for resource: Page Faults"));
	assert_string_equal(strrchr(out_text, '-') + 1, "\nno hits of cmp in this selection\n");
	assert_non_null(strstr(err_text, "line 6: no function 'nothing'"));
	assert_non_null(strstr(err_text, "line 7: export writes one resource"));
	free(out_text);
	free(err_text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_subtree, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_completion, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_names, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_what_if, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_views, set_up, tear_down),
		cmocka_unit_test(test_narrow),
		cmocka_unit_test_setup_teardown(test_loop, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_several_resources, set_up, tear_down),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
