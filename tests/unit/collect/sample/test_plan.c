/* collect/sample/plan.c: the choice of a backend for a recording, and the message if no backend is suitable. The
 * table of backends is the test's own: "best", which may be refused; "plain", which measures fewer resources; and
 * "inner", which needs no permission, but observes only commands that it starts. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "collect/sample/backends.h"
#include "collect/sample/plan.h"
#include "collect/sample/preload/requests.h"

static int best_answer;       /* the result of "best" for every resource; ERROR_VERSION: it cannot measure any */
static bool plain_user_only;  /* "plain" measures only user mode */
static bool plain_has_faults; /* "plain" measures page faults */
static bool is_inner_there;

static int probe_best(const struct resource_request *resource, bool *user_mode_only, struct error *error)
{
	*user_mode_only = false;
	if (strcmp(resource->row->name, "cycles") == 0)
		return error_set(error, ERROR_UNSUPPORTED, "best has no counter for cycles");
	if (best_answer == ERROR_VERSION)
		return error_set(error, ERROR_UNSUPPORTED, "this kernel is too old: take a newer one");
	return best_answer < 0 ? error_set(error, best_answer, "best says no to %s; try harder", resource->name) : 0;
}

static int probe_plain(const struct resource_request *resource, bool *user_mode_only, struct error *error)
{
	*user_mode_only = plain_user_only && resource->row->modes == RESOURCE_ALL_MODES;
	bool has = resource->row->on_perf && (plain_has_faults || strcmp(resource->row->name, "page-faults") != 0);
	return has ? 0 : error_set(error, ERROR_UNSUPPORTED, "plain cannot measure %s", resource->name);
}

static int probe_inner(const struct resource_request *resource, bool *user_mode_only, struct error *error)
{
	*user_mode_only = false;
	bool has = is_inner_there && preload_can_count(resource->counter);
	return has ? 0 : error_set(error, ERROR_NOT_FOUND, "inner is not there for %s", resource->name);
}

static bool is_seen_outside(const struct resource_row *row)
{
	return !counter_is_inside(row->counter);
}

static bool is_plain(const struct resource_row *row)
{
	return row->on_perf;
}

static bool is_inner(const struct resource_row *row)
{
	return preload_can_count(row->counter);
}

static const struct backend_vtable best = { .name = "best", .serves = is_seen_outside, .probe = probe_best };
static const struct backend_vtable plain = { .name = "plain", .serves = is_plain, .probe = probe_plain };
static const struct backend_vtable inner = {
	.name = "inner", .only_commands = true, .has_labels = true, .serves = is_inner, .probe = probe_inner
};
const struct backend_vtable *const record_backends[] = { &best, &plain, &inner, NULL };

const struct backend_vtable *backend_find(const char *name, struct error *error)
{
	for (size_t i = 0; record_backends[i]; i++)
		if (strcmp(record_backends[i]->name, name) == 0)
			return record_backends[i];
	error_set(error, ERROR_USAGE, "there is no backend '%s'", name);
	return NULL;
}

static int reset(void **state)
{
	(void)state;
	best_answer = 0;
	plain_user_only = false;
	plain_has_faults = true;
	is_inner_there = false;
	return 0;
}

static struct record_options options_of(const char *first, const char *second)
{
	struct record_options options = { 0 };
	const char *words[] = { first, second };
	struct error error;
	for (size_t i = 0; i < 2 && words[i]; i++)
		assert_int_equal(resource_parse(words[i], &options.resources[options.resource_count++], &error), 0);
	return options;
}

/* A process to attach to. */
static struct listed_process one_process = { .pid = 1 };
static struct process_list running = { .items = &one_process, .count = 1 };

static int make(struct plan *plan, const char *first, const char *second, struct error *error)
{
	struct record_options options = options_of(first, second);
	return plan_make(plan, &options, error);
}

static void assert_says(const struct error *error, const char *words)
{
	if (!strstr(error->message, words))
		fail_msg("'%s' does not say '%s'", error->message, words);
}

static void test_preferred(void **state)
{
	(void)state;
	struct plan plan;
	struct error error;
	assert_int_equal(make(&plan, "syscalls", "page-faults", &error), 0);
	assert_ptr_equal(plan.vtable, &best);
	assert_string_equal(plan.passed_over, "");
	assert_int_equal(plan.request.resource_count, 2);
	assert_ptr_equal(plan.request.resources, plan.resources);
	assert_true(plan.request.data_maps && plan.request.creations);
	assert_int_equal(make(&plan, "syscalls", "migrations", &error), 0);
	assert_false(plan.request.data_maps);
}

/* If the first backend is not permitted, the next one is used, and the reason is stored without its remedy. */
static void test_next_best(void **state)
{
	(void)state;
	struct plan plan;
	struct error error;
	best_answer = ERROR_PERMISSION;
	assert_int_equal(make(&plan, "page-faults", NULL, &error), 0);
	assert_ptr_equal(plan.vtable, &plain);
	assert_string_equal(plan.passed_over, "best: best says no to page-faults");
	assert_int_equal(make(&plan, NULL, NULL, &error), 0);
	assert_string_equal(plan.resources[0].name, "cpu");
	assert_false(plan.user_by_default);
	plain_user_only = true;
	assert_int_equal(make(&plan, NULL, NULL, &error), 0);
	assert_string_equal(plan.resources[0].name, "user");
	assert_true(plan.user_by_default);
}

static void test_refused(void **state)
{
	(void)state;
	struct plan plan;
	struct error error;
	best_answer = ERROR_PERMISSION;
	/* Only the preferred backend could measure both: the message has its remedy. */
	assert_int_equal(make(&plan, "page-faults", "syscalls", &error), ERROR_PERMISSION);
	assert_says(&error, "best says no to syscalls; try harder");
	best_answer = ERROR_VERSION;
	assert_int_equal(make(&plan, "syscalls", NULL, &error), ERROR_UNSUPPORTED);
	assert_string_equal(error.message, "syscalls needs the best backend: this kernel is too old: take a newer one");
	assert_int_equal(make(&plan, "page-faults", NULL, &error), 0);
	assert_string_equal(plan.passed_over, "best: this kernel is too old");
	/* The other backend could measure it too: the message is its own. */
	plain_has_faults = false;
	assert_int_equal(make(&plan, "page-faults", NULL, &error), ERROR_UNSUPPORTED);
	assert_string_equal(error.message, "plain cannot measure page-faults");
	/* A request for "cpu" does not become user time. */
	plain_user_only = true;
	struct record_options options = options_of("cpu", NULL);
	options.processes = &running;
	assert_int_equal(plan_make(&plan, &options, &error), ERROR_PERMISSION);
	assert_says(&error, "perf_event_paranoid");
	/* The message comes from the last backend, which requires the least. */
	assert_int_equal(make(&plan, "cpu", NULL, &error), ERROR_NOT_FOUND);
	assert_says(&error, "inner is not there for cpu");
}

/* The backend that needs no permission is used if the others are refused, and for resources that only it can
 * measure. But without a requested resource, permitted user time is preferred. */
static void test_inner(void **state)
{
	(void)state;
	struct plan plan;
	struct error error;
	is_inner_there = true;
	assert_int_equal(make(&plan, "cpu", "alloc-bytes", &error), 0);
	assert_ptr_equal(plan.vtable, &best);
	best_answer = ERROR_PERMISSION;
	assert_int_equal(make(&plan, "cpu", NULL, &error), 0);
	assert_ptr_equal(plan.vtable, &plain);
	assert_int_equal(make(&plan, "cpu", "alloc-bytes", &error), 0);
	assert_ptr_equal(plan.vtable, &inner);
	assert_string_equal(plan.passed_over, "best: best says no to cpu");
	plain_user_only = true;
	assert_int_equal(make(&plan, "cpu", NULL, &error), 0);
	assert_ptr_equal(plan.vtable, &inner);
	assert_int_equal(make(&plan, NULL, NULL, &error), 0);
	assert_ptr_equal(plan.vtable, &plain);
	assert_true(plan.user_by_default);
	/* For a resource that it cannot measure, the message comes from the other backends. */
	assert_int_equal(make(&plan, "syscalls", NULL, &error), ERROR_PERMISSION);
	assert_says(&error, "best says no to syscalls; try harder");
	plain_has_faults = false;
	assert_int_equal(make(&plan, "page-faults", NULL, &error), ERROR_UNSUPPORTED);
	assert_string_equal(error.message, "plain cannot measure page-faults");
}

/* A command that labels its work is recorded by the first backend that records labels, if that measures everything, and
 * by the most preferred one if that does not open. */
static void test_labels(void **state)
{
	(void)state;
	struct plan plan;
	struct error error, why = { .code = ERROR_NOT_FOUND };
	is_inner_there = true;
	assert_int_equal(make(&plan, "cpu", NULL, &error), 0);
	assert_ptr_equal(plan.vtable, &best);
	struct record_options options = options_of("cpu", NULL);
	assert_true(plan_for_labels(&plan, &options));
	assert_ptr_equal(plan.vtable, &inner);
	assert_string_equal(plan.passed_over, "best: the program sets labels");
	assert_true(plan_next(&plan, &options, &why));
	assert_ptr_equal(plan.vtable, &best);
	assert_string_equal(plan.passed_over, "");
	assert_false(plan_next(&plan, &options, &why));
	/* It does not measure system calls. */
	options = options_of("syscalls", NULL);
	assert_int_equal(plan_make(&plan, &options, &error), 0);
	assert_false(plan_for_labels(&plan, &options));
	assert_ptr_equal(plan.vtable, &best);
	options = options_of("cpu", NULL);
	options.backend = "plain";
	assert_int_equal(plan_make(&plan, &options, &error), 0);
	assert_false(plan_for_labels(&plan, &options));
	assert_ptr_equal(plan.vtable, &plain);
}

/* A backend that every program loads by its environment cannot leave out children. */
static void test_no_children(void **state)
{
	(void)state;
	struct plan plan;
	struct error error;
	struct record_options options = options_of("cpu", NULL);
	is_inner_there = true;
	options.no_children = true;
	options.backend = "inner";
	assert_int_equal(plan_make(&plan, &options, &error), ERROR_UNSUPPORTED);
	assert_says(&error, "--no-children");
	options.backend = NULL;
	assert_int_equal(plan_make(&plan, &options, &error), 0);
	assert_ptr_equal(plan.vtable, &best);
	assert_true(plan.request.no_children);
}

/* A backend that must be loaded into the command cannot record a running process. */
static void test_only_commands(void **state)
{
	(void)state;
	struct plan plan;
	struct error error;
	struct record_options options = options_of("own:orders", NULL);
	is_inner_there = true;
	best_answer = ERROR_PERMISSION;
	options.processes = &running;
	assert_int_equal(plan_make(&plan, &options, &error), ERROR_UNSUPPORTED);
	assert_says(&error, "cannot measure own:orders in a running process: only the inner backend measures it");
	options = options_of("alloc-bytes", NULL);
	options.everything = true;
	assert_int_equal(plan_make(&plan, &options, &error), ERROR_PERMISSION);
	assert_says(&error, "best says no to alloc-bytes; try harder");
	options = options_of("cpu", NULL);
	options.backend = "inner";
	assert_int_equal(plan_make(&plan, &options, &error), 0);
	options.processes = &running;
	assert_int_equal(plan_make(&plan, &options, &error), ERROR_UNSUPPORTED);
	assert_says(&error, "cannot record with -p: it is loaded into commands that it starts");
	options.processes = NULL;
	options.everything = true;
	assert_int_equal(plan_make(&plan, &options, &error), ERROR_UNSUPPORTED);
	assert_says(&error, "cannot record with -a");
	/* The same without -r: the last backend that can measure the default is used. */
	options = (struct record_options){ .processes = &running };
	plain_user_only = true;
	assert_int_equal(plan_make(&plan, &options, &error), 0);
	assert_ptr_equal(plan.vtable, &plain);
}

/* Each resource has a backend, but no backend measures both. */
static void test_mixture(void **state)
{
	(void)state;
	struct plan plan;
	struct error error;
	assert_int_equal(make(&plan, "cycles", NULL, &error), 0);
	assert_ptr_equal(plan.vtable, &plain);
	assert_int_equal(make(&plan, "cycles", "syscalls", &error), ERROR_UNSUPPORTED);
	assert_says(&error, "in two");
	assert_says(&error, "cycles not by best (best has no counter for cycles)");
	assert_says(&error, "syscalls not by plain (plain cannot measure syscalls)");
}

/* "inner" measures CPU time but no system calls, and "plain" only the user part of it: the mixture gets user time, with the same interval. */
static void test_mixture_with_user_time(void **state)
{
	(void)state;
	struct plan plan;
	struct error error;
	best_answer = ERROR_PERMISSION;
	plain_user_only = true;
	is_inner_there = true;
	assert_int_equal(make(&plan, "cpu", NULL, &error), 0);
	assert_ptr_equal(plan.vtable, &inner);
	assert_false(plan.user_by_default);
	assert_int_equal(make(&plan, "cpu/2ms", "migrations", &error), 0);
	assert_ptr_equal(plan.vtable, &plain);
	assert_true(plan.user_by_default);
	assert_string_equal(plan.resources[0].name, "user");
	assert_int_equal(plan.resources[0].interval, 2000000);
	assert_string_equal(plan.resources[1].name, "migrations");
	assert_string_equal(plan.passed_over, "best: best says no to cpu");
}

static void test_forced(void **state)
{
	(void)state;
	struct plan plan;
	struct error error;
	struct record_options options = options_of("syscalls", NULL);
	options.backend = "plain";
	assert_int_equal(plan_make(&plan, &options, &error), ERROR_UNSUPPORTED);
	assert_string_equal(error.message, "plain cannot measure syscalls");
	options.backend = "plane";
	assert_int_equal(plan_make(&plan, &options, &error), ERROR_USAGE);
	options = options_of("page-faults", NULL);
	options.backend = "plain";
	assert_int_equal(plan_make(&plan, &options, &error), 0);
	assert_ptr_equal(plan.vtable, &plain);
	assert_string_equal(plan.passed_over, "");
	const struct error why = { .code = ERROR_UNSUPPORTED, .message = "the kernel does not load it" };
	assert_false(plan_next(&plan, &options, &why));
}

/* If a backend cannot be opened, the next one is used, unless the request itself was wrong. */
static void test_not_opened(void **state)
{
	(void)state;
	struct plan plan;
	struct error error;
	struct record_options options = options_of("page-faults", NULL);
	const struct error unsupported = { .code = ERROR_UNSUPPORTED, .message = "the kernel does not load it" };
	const struct error wrong = { .code = ERROR_NOT_FOUND, .message = "there is no such function" };
	assert_int_equal(plan_make(&plan, &options, &error), 0);
	assert_false(plan_next(&plan, &options, &wrong));
	assert_ptr_equal(plan.vtable, &best);
	assert_true(plan_next(&plan, &options, &unsupported));
	assert_ptr_equal(plan.vtable, &plain);
	assert_string_equal(plan.passed_over, "best: the kernel does not load it");
	assert_false(plan_next(&plan, &options, &unsupported));
	options = options_of("syscalls", NULL);
	assert_int_equal(plan_make(&plan, &options, &error), 0);
	assert_false(plan_next(&plan, &options, &unsupported));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(test_preferred, reset),
		cmocka_unit_test_setup(test_next_best, reset),
		cmocka_unit_test_setup(test_refused, reset),
		cmocka_unit_test_setup(test_mixture, reset),
		cmocka_unit_test_setup(test_mixture_with_user_time, reset),
		cmocka_unit_test_setup(test_forced, reset),
		cmocka_unit_test_setup(test_not_opened, reset),
		cmocka_unit_test_setup(test_inner, reset),
		cmocka_unit_test_setup(test_only_commands, reset),
		cmocka_unit_test_setup(test_no_children, reset),
		cmocka_unit_test_setup(test_labels, reset),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
