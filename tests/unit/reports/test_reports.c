/* The table of reports, and the results that they build, without printing. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "reports/diff.h"
#include "reports/report.h"
#include "support/alloc_fail.h"
#include "support/paths_profile.h"

static struct paths world;

static int set_up(void **state)
{
	(void)state;
	paths_start(&world, RESOURCE_SAMPLED);
	paths_add(&world, "main;a;qsort", 10);
	paths_add(&world, "main;b;qsort;cmp", 5);
	paths_add(&world, "main", 1);
	/* A second resource, without hits in cmp, and a third one without any hits. */
	static const char *const names[] = { "faults", "empty" };
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		struct profile_resource resource = world.profile->resources[0];
		resource.name = (uint32_t)profile_add_string(world.profile, names[i]);
		profile_add_resource(world.profile, &resource);
	}
	world.resource = 1;
	paths_add(&world, "main;b", 7);
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	paths_end(&world);
	return 0;
}

static struct report_request request_of(const char *name, uint32_t resources[3])
{
	for (uint32_t i = 0; i < 3; i++)
		resources[i] = i;
	return (struct report_request){
		.report = report_find(name),
		.profile = world.profile,
		.view = { .thread = VIEW_ANY },
		.resources = resources,
		.resource_count = 3,
	};
}

static int build(struct report_request *request, struct results *results, struct error *error)
{
	int status = report_prepare(request, error);
	return status < 0 ? status : report_build(request, results, error);
}

static void the_table_is_sound(void **state)
{
	(void)state;
	char letters[REPORTS_MAX + 1] = "";
	size_t count = 0;
	for (; reports[count]; count++) {
		const struct report *report = reports[count];
		assert_ptr_equal(report_find(report->name), report);
		assert_non_null(report->summary);
		assert_non_null(report->parts[0].heading);
		if (report->letter) {
			assert_null(strchr(letters, report->letter));
			letters[strlen(letters)] = report->letter;
		}
		assert_true(!report->refines || report_find(report->refines));
		/* Each report can be requested: by its option, by its terms, or, for the summary, by neither. */
		assert_true(report->help || report->argument == REPORT_TAKES_TERMS || report == report_find("summary"));
	}
	assert_in_range(count, 1, REPORTS_MAX);
	assert_null(report_find("nonsense"));
}

static void refusals_have_reasons(void **state)
{
	(void)state;
	const struct report *source = report_find("source"), *functions = report_find("functions");
	assert_non_null(report_refuses(source, SETTING_LIMIT));
	assert_null(report_refuses(source, SETTING_THREAD));
	assert_null(report_refuses(functions, ~0U));
	assert_non_null(report_refuses(report_find("counts"), SETTING_HITS));
	assert_true(report_is_list(functions) && report_is_list(report_find("groups")));
	assert_false(report_is_list(source) || report_is_list(report_find("tree")));
}

static void a_list_for_each_resource(void **state)
{
	(void)state;
	uint32_t resources[3];
	struct results results = { 0 };
	struct error error = { 0 };
	struct report_request request = request_of("body", resources);
	assert_int_equal(build(&request, &results, &error), 0);
	assert_int_equal(results.count, 3);
	assert_ptr_equal(results.items[0].type, &result_names);
	assert_string_equal(results.items[0].heading, "Body Profile");
	assert_int_equal(results.items[0].paths->count, 3);
	assert_int_equal(results.items[1].paths->count, 1);
	assert_int_equal(results.items[2].paths->count, 0);
	results_release(&results);
}

static void a_root_must_be_somewhere(void **state)
{
	(void)state;
	uint32_t resources[3];
	struct results results = { 0 };
	struct error error = { 0 };
	struct report_request request = request_of("down", resources);
	/* By call site, a label exists only if it has hits in the selection; by function, it always exists. */
	request.view.by = VIEW_CALLSITE;
	request.root = "cmp";
	assert_int_equal(build(&request, &results, &error), 0);
	assert_int_equal(results.items[0].missing.code, 0);
	assert_int_equal(results.items[1].missing.code, ERROR_NOT_FOUND); /* the report is present, and empty */
	assert_int_equal(results.items[1].paths->count, 0);
	assert_string_equal(results.items[1].root, "cmp");
	assert_int_equal(results.items[2].missing.code, 0); /* a resource without hits has no functions */
	results_release(&results);
	request.root = "nonsense";
	assert_int_equal(build(&request, &results, &error), ERROR_NOT_FOUND);
	assert_string_equal(error.message, "no function 'nonsense'");
	results_release(&results);
	/* An error if no requested resource has the function. */
	request.root = "cmp";
	request.resources = &(uint32_t){ 1 };
	request.resource_count = 1;
	assert_int_equal(build(&request, &results, &error), ERROR_NOT_FOUND);
	results_release(&results);
}

static void a_diff_keeps_common_resources(void **state)
{
	(void)state;
	struct paths other;
	struct results results = { 0 };
	struct error error = { 0 }, uncompared = { 0 };
	paths_start(&other, RESOURCE_SAMPLED);
	paths_add(&other, "main;a", 3);
	struct diff_request request = {
		.profiles = (const struct profile *[]){ world.profile, other.profile },
		.names = (const char *[]){ "a.data", "b.data" },
		.counts = { 1, 1 },
		.views = (const struct view_options[]){ { .thread = VIEW_ANY }, { .thread = VIEW_ANY } },
		.resources = (uint32_t[]){ 0, 1, 2 },
		.resource_count = 3,
		.sections = { { .report = report_find("functions") } },
		.section_count = 1,
		.chance = DIFF_CHANCE,
	};
	assert_int_equal(diff_build(&request, &results, &uncompared, &error), 0);
	assert_int_equal(results.count, 1);
	assert_ptr_equal(results.items[0].type, &result_changes);
	assert_string_equal(uncompared.message, "'b.data' has no resource 'faults'; it has cpu");
	results_release(&results);
	request.names = NULL;
	assert_int_equal(diff_build(&request, &results, &uncompared, &error), 0);
	assert_string_equal(uncompared.message, "'B' has no resource 'faults'; it has cpu");
	results_release(&results);
	request.resources_named = true;
	assert_int_equal(diff_build(&request, &results, &uncompared, &error), ERROR_NOT_FOUND);
	assert_int_equal(results.count, 0);
	paths_end(&other);
}

/* Makes two recordings of a resource. The second one has another event, and `lost` more that it lacks. */
static int gate_of(const char *name, enum resource_kind kind, uint64_t interval, uint64_t lost, size_t *exceeding,
		   struct error *error)
{
	struct paths sides[2];
	struct results results = { 0 };
	struct error uncompared = { 0 };
	for (size_t i = 0; i < 2; i++) {
		paths_start(&sides[i], kind);
		struct profile_resource *row = &sides[i].profile->resources[0];
		row->name = (uint32_t)profile_add_string(sides[i].profile, name);
		row->interval = interval;
		row->lost = i == 1 ? lost : 0;
		row->total = (100 + i + row->lost) * interval;
		sides[i].profile->ended = true;
		for (size_t k = 0; k < 100 + i; k++)
			paths_add(&sides[i], "main;a", 1);
	}
	const struct diff_request request = {
		.profiles = (const struct profile *[]){ sides[0].profile, sides[1].profile },
		.names = (const char *[]){ "a.data", "b.data" },
		.counts = { 1, 1 },
		.views = (const struct view_options[]){ { .thread = VIEW_ANY }, { .thread = VIEW_ANY } },
		.resources = (uint32_t[]){ 0 },
		.resource_count = 1,
		.sections = { { .report = report_find("functions") } },
		.section_count = 1,
		.is_gate = true,
		.spread = 0.05,
		.chance = DIFF_CHANCE,
	};
	int status = diff_build(&request, &results, &uncompared, error);
	*exceeding = status == 0 ? render_exceeding(&results) : 0;
	results_release(&results);
	paths_end(&sides[0]);
	paths_end(&sides[1]);
	return status;
}

/* A gate of single recordings needs exact ones: each event of a resource on which the program alone decides. */
static void gates_need_exact_recordings(void **state)
{
	static const struct {
		const char *name;
		enum resource_kind kind;
		uint64_t interval, lost;
		const char *reason; /* NULL: it is exact */
	} rows[] = {
		{ "calls", RESOURCE_EXACT, 1, 0, NULL },
		{ "allocs", RESOURCE_SAMPLED, 1, 0, NULL },
		{ "alloc-bytes", RESOURCE_SAMPLED, 1, 0, NULL },
		{ "syscalls", RESOURCE_SAMPLED, 1, 0, NULL },
		{ "syscalls:read", RESOURCE_SAMPLED, 1, 0, NULL },
		{ "own:cells", RESOURCE_SAMPLED, 1, 0, NULL },
		{ "allocs", RESOURCE_SAMPLED, 10, 0, "resource 'allocs' is sampled, and single" },
		{ "allocs", RESOURCE_SAMPLED, 1, 7,
		  "'b.data' lost 7 of 108 allocs, and without these a single recording is not exact (record again, or "
		  "with --backend bpf, or several of each side: A1 A2 A3 -- B1 B2 B3)" },
		{ "page-faults", RESOURCE_SAMPLED, 1, 0, "resource 'page-faults' depends on the machine too, and" },
		{ "owner", RESOURCE_SAMPLED, 1, 0, "resource 'owner' depends on the machine too, and" },
		{ "samples", RESOURCE_MERGED, 1, 0, "resource 'samples' is sampled, and" },
		{ "cpu", RESOURCE_SUMS, 1, 0, "resource 'cpu' is the sum of an unknown number of samples, and" },
	};
	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		struct error error = { 0 };
		size_t exceeding;
		int status = gate_of(rows[i].name, rows[i].kind, rows[i].interval, rows[i].lost, &exceeding, &error);
		assert_int_equal(status, rows[i].reason ? ERROR_USAGE : 0);
		assert_int_equal(exceeding > 0, !rows[i].reason);
		if (rows[i].reason)
			assert_memory_equal(error.message, rows[i].reason, strlen(rows[i].reason));
	}
}

/* Builds any report, with an argument of the type that it takes. */
static void build_any(const struct report *report)
{
	static const char *const terms[] = { "main;b=0.5" };
	uint32_t resources[3];
	struct results results = { 0 };
	struct error error = { 0 };
	struct report_request request = request_of(report->name, resources);
	bool has_root = report->argument == REPORT_TAKES_FUNCTION || report->argument == REPORT_TAKES_SUBTREE ||
			report->argument == REPORT_TAKES_PATH;
	request.root = has_root ? "main" : NULL;
	request.terms = terms;
	request.term_count = 1;
	int status = build(&request, &results, &error);
	assert_true(status == 0 || error.message[0]);
	results_release(&results);
}

static void no_memory(void **state)
{
	(void)state;
	for (size_t i = 0; reports[i]; i++)
		ALLOC_FAIL_EACH(build_any(reports[i]));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(the_table_is_sound, set_up, tear_down),
		cmocka_unit_test_setup_teardown(refusals_have_reasons, set_up, tear_down),
		cmocka_unit_test_setup_teardown(a_list_for_each_resource, set_up, tear_down),
		cmocka_unit_test_setup_teardown(a_root_must_be_somewhere, set_up, tear_down),
		cmocka_unit_test_setup_teardown(a_diff_keeps_common_resources, set_up, tear_down),
		cmocka_unit_test(gates_need_exact_recordings),
		cmocka_unit_test_setup_teardown(no_memory, set_up, tear_down),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
