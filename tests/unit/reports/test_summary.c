/* reports/summary_next.c: each condition of the table proposes its command, and only then. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/error.h"
#include "render/render.h"
#include "reports/report.h"
#include "support/paths_profile.h"

enum { NS_PER_S = 1000000000 };

static uint32_t id(int64_t id)
{
	assert_true(id >= 0);
	return (uint32_t)id;
}

/* Adds a resource that a sample of `hits` seconds was taken of. */
static void add_resource(struct paths *paths, const char *name, uint64_t hits)
{
	struct profile_resource resource = { .name = id(profile_add_string(paths->profile, name)),
					     .interval = NS_PER_S };
	paths->resource = id(profile_add_resource(paths->profile, &resource));
	paths_add(paths, "main;work", hits);
	paths->resource = 0;
}

/* Returns the text of the summary, which the caller frees. */
static char *summary(const struct paths *paths)
{
	struct error error = { 0 };
	struct results results = { 0 };
	uint32_t resources[4] = { 0 };
	struct report_request request = { .report = report_find("summary"),
					  .profile = paths->profile,
					  .view = { .thread = VIEW_ANY },
					  .resources = resources,
					  .resource_count = 1,
					  .resources_named = true };
	const struct render_options options = { .format = RENDER_TEXT };
	struct render_document document;
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);
	assert_int_equal(report_prepare(&request, &error), 0);
	assert_int_equal(report_build(&request, &results, &error), 0);
	render_begin(&document, out, &options,
		     &(struct render_envelope){ .command = "report", .profile = paths->profile });
	assert_int_equal(render_result(&document, &results.items[0], &error), 0);
	render_end(&document);
	results_release(&results);
	fclose(out);
	return text;
}

static void start(struct paths *paths)
{
	paths_start(paths, RESOURCE_SAMPLED);
	paths->profile->resources[0].interval = NS_PER_S;
	paths->profile->ended = true;
	paths_add(paths, "main;work", 10);
}

static void assert_proposes(struct paths *paths, const char *command, bool is_proposed)
{
	char *text = summary(paths);
	const char *next = strstr(text, "\nnext\n");
	assert_non_null(next);
	if (!strstr(next, command) == is_proposed)
		fail_msg("%s is %sin: %s", command, is_proposed ? "not " : "", next);
	free(text);
}

static void an_ordinary_profile_gets_ordinary_commands(void **state)
{
	(void)state;
	struct paths paths;
	start(&paths);
	assert_proposes(&paths, "cpprof report --up work   who calls it", true);
	assert_proposes(&paths, "cpprof browse   ", true);
	assert_proposes(&paths, "cpprof html --open   ", true);
	assert_proposes(&paths, "cpprof record", false);
	assert_proposes(&paths, "cpprof info", false);
	paths_end(&paths);
}

static void losses_are_answered(void **state)
{
	(void)state;
	struct paths paths;
	start(&paths);
	for (int i = 0; i < 99; i++)
		paths_add(&paths, "main;work", 1);
	paths.profile->lost = 1;
	assert_proposes(&paths, "cpprof record -F 250 COMMAND", false);
	paths.profile->lost = 3;
	assert_proposes(&paths, "cpprof record -F 250 COMMAND   2.9 % of the samples were lost", true);
	paths_end(&paths);
}

static void broken_stacks_are_answered(void **state)
{
	(void)state;
	struct paths paths;
	start(&paths);
	const struct profile_cause whole = { .count = 95, .whole = true }, broken = { .count = 5 };
	assert_int_equal(profile_count_cause(paths.profile, "root", &whole), 0);
	assert_proposes(&paths, "of the stacks are broken", false);
	assert_int_equal(profile_count_cause(paths.profile, "no rule", &broken), 0);
	assert_proposes(&paths, "cpprof info   5.0 % of the stacks are broken", true);
	paths_end(&paths);
}

static void time_in_the_kernel_is_answered(void **state)
{
	(void)state;
	struct paths paths;
	start(&paths);
	add_resource(&paths, "sys", 2);
	assert_proposes(&paths, "cpprof report -r sys", false);
	paths.resource = profile_find_resource(paths.profile, "sys");
	paths_add(&paths, "main", 4);
	assert_proposes(&paths, "cpprof report -r sys   the kernel computes for 60 % of the CPU time", true);
	paths_end(&paths);
}

static void waiting_is_answered(void **state)
{
	(void)state;
	struct paths paths;
	start(&paths);
	paths.profile->start_ns = NS_PER_S;
	paths.profile->end_ns = UINT64_C(16) * NS_PER_S;
	assert_proposes(&paths, "it computes for", false); /* 10 of 15 seconds */
	paths.profile->end_ns = UINT64_C(41) * NS_PER_S;
	assert_proposes(&paths, "cpprof record -r real COMMAND   it computes for 25 % of its time", true);
	assert_true(profile_add_note(paths.profile, "command", "./server -x") >= 0);
	assert_proposes(&paths, "cpprof record -r real ./server -x   ", true);
	add_resource(&paths, "real", 30);
	assert_proposes(&paths, "cpprof report -r real   it computes for 25 %", true);
	add_resource(&paths, "blocked", 30);
	assert_proposes(&paths, "cpprof report -r blocked   it computes for 25 %", true);
	assert_proposes(&paths, "report -r real", false);
	paths_end(&paths);
}

static void define_in(struct paths *paths, const char *name, uint32_t module)
{
	uint32_t line = 0, function = paths_function(paths, name, module, "", 0, ROLE_NONE);
	paths_define(paths, name, module, &function, &line, 1);
}

/* The commands for waits name the library function that the program called, and no function of the kernel. */
static void places_of_waits_are_answered(void **state)
{
	(void)state;
	for (int waits = 0; waits < 2; waits++) {
		struct paths paths;
		paths_start(&paths, RESOURCE_SAMPLED);
		paths.profile->resources[0].interval = NS_PER_S;
		paths.profile->resources[0].name = id(profile_add_string(paths.profile, waits ? "blocked" : "cpu"));
		paths.profile->ended = true;
		uint32_t library = paths_module(&paths, "/lib/x86_64-linux-gnu/libc.so.6");
		uint32_t kernel = paths_module(&paths, "[kernel]");
		paths.profile->modules[kernel].kind = MODULE_KERNEL;
		define_in(&paths, "pthread_join", library);
		define_in(&paths, "futex_wait_common", library);
		define_in(&paths, "__schedule", kernel);
		paths_add(&paths, "main;pthread_join;futex_wait_common;__schedule", 47);
		paths_add(&paths, "main;work;pthread_join", 20);
		paths_add(&paths, "main;work;__schedule", 33); /* no library is on the way */
		assert_proposes(&paths, "--up __schedule", false);
		assert_proposes(&paths, "cpprof report --up pthread_join   47 % waits in pthread_join: who calls it",
				waits);
		assert_proposes(&paths, "cpprof report --up pthread_join   who calls it", !waits);
		paths_end(&paths);
	}
}

static void waits_for_a_processor_are_told_apart(void **state)
{
	(void)state;
	for (uint64_t hits = 4; hits <= 6; hits += 2) {
		struct paths paths;
		paths_start(&paths, RESOURCE_SAMPLED);
		paths.profile->resources[0].interval = NS_PER_S;
		paths.profile->resources[0].name = id(profile_add_string(paths.profile, "blocked"));
		paths.profile->ended = true;
		uint32_t kernel = paths_module(&paths, "[kernel]");
		paths.profile->modules[kernel].kind = MODULE_KERNEL;
		define_in(&paths, "exit_to_user_mode_loop", kernel);
		define_in(&paths, "__schedule", kernel);
		paths_add(&paths, "main;work;exit_to_user_mode_loop;__schedule", hits);
		paths_add(&paths, "main;work;__schedule", 100 - hits);
		assert_proposes(&paths, "  6 % waits for a processor: the threads could run, and others did",
				hits == 6);
		assert_proposes(&paths, "waits for a processor", hits == 6);
		paths_end(&paths);
	}
}

static void missing_symbols_are_answered(void **state)
{
	(void)state;
	static const struct {
		const char *path, *advice;
	} rows[] = {
		{ "/usr/lib/libz.so.1", "  /usr/lib/libz.so.1 has no symbols: install its package of debug symbols" },
		{ "/home/me/libz.so.1", "  /home/me/libz.so.1 has no symbols: compile it with -g" },
	};
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct paths paths;
		start(&paths);
		uint32_t module = paths_module(&paths, rows[i].path), line = 0;
		uint32_t function = paths_function(&paths, "libz.so.1+0x1a40", module, "", 0, ROLE_NONE);
		paths_define(&paths, "inflate", module, &function, &line, 1);
		assert_proposes(&paths, "has no symbols", false);
		paths_add(&paths, "main;inflate", 9);
		assert_proposes(&paths, rows[i].advice, true);
		paths_end(&paths);
	}
}

static void names_of_commands_are_those_of_the_rows(void **state)
{
	(void)state;
	struct paths paths;
	start(&paths);
	paths_add(&paths, "main;std::vector<Rec>::at(unsigned long, int)", 90);
	assert_proposes(&paths, "cpprof report --up 'std::vector<Rec>::at'   who calls it", true);
	paths_end(&paths);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(an_ordinary_profile_gets_ordinary_commands),
		cmocka_unit_test(losses_are_answered),
		cmocka_unit_test(broken_stacks_are_answered),
		cmocka_unit_test(time_in_the_kernel_is_answered),
		cmocka_unit_test(waiting_is_answered),
		cmocka_unit_test(waits_for_a_processor_are_told_apart),
		cmocka_unit_test(places_of_waits_are_answered),
		cmocka_unit_test(missing_symbols_are_answered),
		cmocka_unit_test(names_of_commands_are_those_of_the_rows),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
