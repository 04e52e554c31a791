/* collect/sample/findings.c: the hits of each resource add up to its total, whichever backend has counted. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "collect/sample/backends.h"
#include "collect/sample/run.h"
#include "profile/findings.h"

enum { MS = 1000000 };

static struct run run;
static struct record_options options;

/* Begins a run of `words` by a backend, which has counted so many intervals. */
static void begin(const struct backend_vtable *backend, const char *words, uint64_t intervals)
{
	struct error error;
	memset(&run, 0, sizeof(run));
	memset(&options, 0, sizeof(options));
	run.options = &options;
	run.plan.vtable = backend;
	assert_int_equal(resource_parse(words, &run.plan.resources[0], &error), 0);
	run.plan.request.resources = run.plan.resources;
	run.plan.request.resource_count = 1;
	assert_int_equal(sample_sink_init(&run.sink, &error), 0);
	assert_int_equal(sample_sink_add_resources(&run.sink, &run.plan.request, backend->name), 0);
	run.sink.profile->resources[0].total = intervals * run.sink.profile->resources[0].interval;
}

static void take(uint64_t samples, uint64_t hits)
{
	run.sink.hits[0] += samples * hits;
	run.sink.squares[0] += (double)samples * (double)(hits * hits);
}

/* Ends the run. Checks the texts of its findings about totals; NULL: none. */
static void expect(const char *unsampled, const char *oversampled)
{
	const char *expected[] = { unsampled, oversampled };
	const enum finding_code codes[] = { FINDING_UNSAMPLED, FINDING_OVERSAMPLED };
	run_add_findings(&run);
	for (int i = 0; i < 2; i++) {
		const struct profile_finding *found = finding_find(run.sink.profile, codes[i]);
		if (expected[i] && !found)
			fail_msg("%s: no finding '%s'", run.plan.vtable->name, expected[i]);
		else if (expected[i])
			assert_string_equal(profile_string(run.sink.profile, found->text), expected[i]);
		else if (found)
			fail_msg("%s: '%s'", run.plan.vtable->name, profile_string(run.sink.profile, found->text));
	}
	sample_sink_release(&run.sink);
}

/* A backend measures CPU time of a command, and of the whole machine. */
static void expect_in_all(uint64_t intervals, uint64_t samples, uint64_t hits, const char *share, const char *over)
{
	for (size_t i = 0; record_backends[i]; i++) {
		for (int everything = 0; everything < 2; everything++) {
			const struct backend_vtable *backend = record_backends[i];
			const char *place = backend->only_commands ? ": short threads, or programs while they start"
					    : everything || backend->load_code
						    ? ""
						    : ": short threads, or set-user-ID programs";
			char text[100];
			begin(backend, "cpu/1ms", intervals);
			options.everything = everything;
			take(samples, hits);
			snprintf(text, sizeof(text), "%s%s", share ? share : "", place);
			expect(share ? text : NULL, over);
		}
	}
}

static void test_equal(void **state)
{
	(void)state;
	expect_in_all(0, 0, 0, NULL, NULL);
	expect_in_all(0, 50, 1, NULL, NULL); /* nothing is known about the total */
	expect_in_all(1000, 1000, 1, NULL, NULL);
	expect_in_all(1000, 1120, 1, NULL, NULL); /* 4 standard errors are 126 */
	expect_in_all(1000, 880, 1, NULL, NULL);
}

static void test_too_many(void **state)
{
	(void)state;
	expect_in_all(437, 1022, 1, NULL, "134 % more cpu sampled than counted");
	expect_in_all(1000, 1150, 1, NULL, "15 % more cpu sampled than counted");
	/* 2 % are tolerated */
	expect_in_all(1000000, 1019000, 1, NULL, NULL);
	expect_in_all(1000000, 1021000, 1, NULL, "2 % more cpu sampled than counted");
}

static void test_too_few(void **state)
{
	(void)state;
	expect_in_all(1000, 500, 1, "50 % of cpu not sampled", NULL);
	expect_in_all(10000, 9500, 1, "5 % of cpu not sampled", NULL);
	expect_in_all(10000, 9650, 1, NULL, NULL); /* 4 standard errors are 400 */
}

/* Few samples with many hits each have a larger error: here one of 4 x sqrt(100 x 100). */
static void test_late_ticks(void **state)
{
	(void)state;
	expect_in_all(1000, 130, 10, NULL, NULL);
	expect_in_all(1000, 150, 10, NULL, "50 % more cpu sampled than counted");
	/* Events and waits are counted themselves: each has its hits, to within one. */
	begin(record_backends[0], "alloc-bytes/1", 1000);
	take(150, 10);
	expect(NULL, "50 % more alloc-bytes sampled than counted");
}

/* Lost samples were taken. */
static void test_lost(void **state)
{
	(void)state;
	begin(record_backends[0], "cpu/1ms", 1000);
	take(400, 1);
	run.sink.profile->resources[0].lost = 600;
	expect(NULL, NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_equal),      cmocka_unit_test(test_too_many), cmocka_unit_test(test_too_few),
		cmocka_unit_test(test_late_ticks), cmocka_unit_test(test_lost),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
