/* The experiments of `cpprof causal`: their order, length and progress, with a backend that the test plays. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

#include "collect/sample/causal/director.h"
#include "support/alloc_fail.h"
#include "support/own_code.h"

enum { PID = 77, PATH = 1, SPEED_UP = 40 };
static const uint64_t MS = 1000000, LENGTH = 100 * MS, REST = 10 * MS;

static struct profile *profile;
static struct causal_director *director;

/* The backend: what it was asked for, and what it reports. */
static struct {
	uint32_t percent;
	size_t begun, ended;
	struct backend_progress progress;
	bool refuses;
} played;

static bool play_experiment(struct backend *backend, const struct backend_experiment *experiment)
{
	(void)backend;
	if (!experiment) {
		played.ended++;
		return true;
	}
	assert_int_equal(experiment->pid, PID);
	assert_true(experiment->frames == 1 || experiment->frames == 2);
	played.percent = experiment->percent;
	played.begun += !played.refuses;
	return !played.refuses;
}

static struct backend_progress play_progress(const struct backend *backend, size_t request)
{
	(void)backend;
	assert_int_equal(request, PATH);
	return played.progress;
}

static const struct backend_vtable vtable = { .experiment = play_experiment, .progress = play_progress };

__attribute__((noinline)) static void outer(void)
{
	__asm__ volatile("" ::: "memory");
}

__attribute__((noinline)) static void inner(void)
{
	__asm__ volatile("nop" ::: "memory");
}

static void begin(bool by_run)
{
	const struct causal_options options = {
		.by_run = by_run, .request = PATH, .length_ns = LENGTH, .random = 5, .percent = SPEED_UP
	};
	own_code_read();
	profile = profile_new();
	for (size_t i = 0; i < own_code_count; i++) {
		char name[32];
		snprintf(name, sizeof(name), "/file-%zu", i);
		struct profile_module module = { .path = (uint32_t)profile_add_string(profile, name),
						 .kind = MODULE_FILE };
		own_code[i].module = (uint32_t)profile_add_module(profile, &module);
	}
	played.begun = played.ended = 0;
	played.refuses = false;
	director = causal_director_new(&options);
	assert_non_null(director);
}

static int end(void **state)
{
	(void)state;
	causal_director_free(director);
	profile_free(profile);
	own_code_release();
	return 0;
}

static void start_run(uint64_t now)
{
	causal_director_begins(director, profile, &vtable, NULL);
	causal_director_starts(director, now);
	causal_director_code(director, PID, own_code, own_code_count);
}

/* inner below outer has most of the hits, and outer has all. */
static void add_samples(void)
{
	const uint64_t addresses[] = { (uintptr_t)inner, (uintptr_t)outer };
	uint32_t node = PROFILE_ROOT;
	for (size_t i = 2; i-- > 0;) {
		int64_t location = profile_add_location(profile, 0, addresses[i]);
		int64_t below = location < 0 ? location : profile_add_node(profile, node, (uint32_t)location);
		if (below < 0)
			return; /* the sink drops such a sample */
		node = (uint32_t)below;
	}
	const struct sample_sink_position at = { .node = node };
	struct backend_sample sample = {
		.pid = PID, .hits = 100, .addresses = addresses, .address_count = 2, .cause = UNWIND_ROOT
	};
	causal_director_event(director, &sample, &at);
	sample.request = PATH; /* progress is no sample of CPU time */
	causal_director_event(director, &sample, &at);
}

static struct experiments taken(void)
{
	struct experiments experiments;
	struct error error;
	assert_int_equal(causal_director_name(director, profile, &error), 0);
	assert_int_equal(causal_director_take(director, &experiments, &error), 0);
	return experiments;
}

/* Each second experiment has no speed-up. It lasts LENGTH, and REST lies between two. */
static void experiments_follow_each_other(void **state)
{
	(void)state;
	begin(false);
	start_run(0);
	assert_int_equal(causal_director_turn(director, REST - 1, false), REST);
	assert_int_equal(causal_director_turn(director, REST, false), 2 * REST); /* there is no path yet */
	assert_int_equal(played.begun, 0);
	add_samples();
	uint64_t now = 2 * REST;
	for (int i = 0; i < 4; i++) {
		played.progress = (struct backend_progress){ .amount = 1000 * (uint64_t)i };
		assert_int_equal(causal_director_turn(director, now, false), now + LENGTH);
		assert_int_equal(played.percent, i % 2 ? SPEED_UP : 0);
		assert_int_equal(causal_director_turn(director, now + LENGTH - 1, false), now + LENGTH);
		played.progress = (struct backend_progress){ .amount = 1000 * (uint64_t)i + 50, .delay_ns = 7 * MS };
		now += LENGTH;
		assert_int_equal(causal_director_turn(director, now, false), now + REST);
		now += REST;
	}
	assert_true(played.begun == 4 && played.ended == 4);
	struct experiments experiments = taken();
	assert_true(experiments.count == 4 && experiments.path_count == 2 && experiments.hits == 100);
	for (size_t i = 0; i < 4; i++) {
		const struct experiment *item = &experiments.items[i];
		assert_int_equal(item->percent, i % 2 ? SPEED_UP : 0);
		assert_true(item->duration_ns == (double)LENGTH && item->delay_ns == 7 * (double)MS &&
			    item->progress == 50);
	}
	experiments_release(&experiments);
}

/* An experiment with less than five visits is too short: the next one is twice as long. */
static void short_experiments_become_longer(void **state)
{
	(void)state;
	begin(false);
	start_run(0);
	add_samples();
	played.progress = (struct backend_progress){ .amount = 0 };
	assert_int_equal(causal_director_turn(director, REST, false), REST + LENGTH);
	uint64_t now = causal_director_turn(director, REST + LENGTH, false);
	assert_int_equal(causal_director_turn(director, now, false), now + 2 * LENGTH);
	/* The command has ended: the last experiment is not complete and does not count. */
	causal_director_turn(director, now + LENGTH, true);
	struct experiments experiments = taken();
	assert_int_equal(experiments.count, 1);
	experiments_release(&experiments);
}

static void an_unknown_process_is_tried_again(void **state)
{
	(void)state;
	begin(false);
	start_run(0);
	add_samples();
	played.refuses = true;
	assert_int_equal(causal_director_turn(director, REST, false), 2 * REST);
	played.refuses = false;
	assert_int_equal(causal_director_turn(director, 2 * REST, false), 2 * REST + LENGTH);
	assert_int_equal(played.begun, 1);
}

/* Without a progress point, the first run finds the paths and each further one is an experiment. */
static void a_run_is_an_experiment(void **state)
{
	(void)state;
	begin(true);
	for (uint64_t run = 0; run < 4; run++) {
		start_run(run * LENGTH);
		assert_int_equal(played.begun, run);
		assert_int_equal(causal_director_turn(director, run * LENGTH + 1, false), UINT64_MAX);
		add_samples();
		causal_director_turn(director, run * LENGTH + 50 * MS, true);
	}
	struct experiments experiments = taken();
	assert_int_equal(experiments.count, 3);
	for (size_t i = 0; i < 3; i++) {
		assert_int_equal(experiments.items[i].percent, i % 2 ? SPEED_UP : 0);
		assert_true(experiments.items[i].duration_ns == 50 * (double)MS && experiments.items[i].progress == 1);
	}
	experiments_release(&experiments);
}

/* Makes one experiment, while the `failing`-th allocation fails. Returns 0 or the status of what failed. */
static int make_one(unsigned long failing, bool *has_failed)
{
	struct error error = { 0 };
	struct experiments experiments = { 0 };
	begin(false);
	alloc_fail_start(failing);
	start_run(0);
	add_samples();
	causal_director_turn(director, REST, false);
	causal_director_turn(director, REST + LENGTH, false);
	int status = causal_director_name(director, profile, &error);
	if (status == 0)
		status = causal_director_take(director, &experiments, &error);
	*has_failed = alloc_fail_stop();
	assert_int_equal(error.code, status);
	if (status == 0)
		experiments_release(&experiments);
	end(NULL);
	return status;
}

/* A failed allocation during the run is reported after it. */
static void without_memory(void **state)
{
	(void)state;
	size_t reported = 0;
	bool has_failed = true;
	for (unsigned long failing = 1; has_failed; failing++) {
		int status = make_one(failing, &has_failed);
		assert_true(status == 0 || (has_failed && status == ERROR_MEMORY));
		reported += status != 0;
	}
	assert_true(reported >= 3);
}

#define TEST(name) cmocka_unit_test_teardown(name, end)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(experiments_follow_each_other),     TEST(short_experiments_become_longer),
		TEST(an_unknown_process_is_tried_again), TEST(a_run_is_an_experiment),
		cmocka_unit_test(without_memory),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
