/* Slots and records that no agent writes, and failures of memory and descriptors (collect/sample/preload/slots.h,
 * collect/sample/preload/events.h). */
#include <errno.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include "support/alloc_fail.h"
#include "support/channel_world.h"

static bool no_epoll;
int __real_epoll_create1(int flags);
int __wrap_epoll_create1(int flags);

int __wrap_epoll_create1(int flags)
{
	if (!no_epoll)
		return __real_epoll_create1(flags);
	errno = EMFILE;
	return -1;
}

static void test_bad_slots(void **state)
{
	(void)state;
	uint32_t pid = start_program(0);
	const struct {
		uint32_t pid, tid, process;
	} bad[] = {
		{ pid, 5, CHANNEL_PROCESSES },
		{ pid, 5, UINT32_MAX },
		{ pid, 0, 0 },
		{ pid, UINT32_MAX, 0 },
		{ 1, 5, 0 },
		{ pid, 5, 77 },
	};
	for (uint32_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		channel->threads[20 + i] = (struct channel_thread){
			.state = CHANNEL_LIVE, .pid = bad[i].pid, .tid = bad[i].tid, .process = bad[i].process
		};
		put_sample(20 + i, 0, 1, 1);
	}
	channel->processes[5] = (struct channel_process){ .state = CHANNEL_LIVE, .pid = UINT32_MAX };
	channel->processes[6] = (struct channel_process){ .state = 77, .pid = 1 };
	assert_reported("exec(a) ");
	for (uint32_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		assert_false(slots->threads[20 + i].is_known);
	assert_false(slots->processes[5].is_known || slots->processes[6].is_known);
}

/* Slots of a process that ended before it filled them in. */
static void test_taken(void **state)
{
	(void)state;
	uint32_t pid = make_child();
	channel->processes[4] = (struct channel_process){ .state = CHANNEL_TAKEN, .pid = pid };
	channel->threads[4] = (struct channel_thread){ .state = CHANNEL_TAKEN, .pid = pid, .tid = pid };
	assert_reported("");
	assert_int_equal(channel->processes[4].state, CHANNEL_TAKEN);
	assert_int_equal(channel->threads[4].state, CHANNEL_TAKEN);
	end_child(0);
	assert_reported("");
	assert_int_equal(channel->processes[4].state, CHANNEL_FREE);
	assert_int_equal(channel->threads[4].state, CHANNEL_FREE);
	/* The next process that takes these slots is not confused with the ended one. */
	channel->processes[4].state = CHANNEL_TAKEN;
	channel->threads[4].state = CHANNEL_TAKEN;
	assert_reported("");
	assert_int_equal(channel->processes[4].state, CHANNEL_TAKEN);
	assert_int_equal(channel->threads[4].state, CHANNEL_TAKEN);
}

/* If a thread's slot suddenly belongs to another thread or is free, the thread has ended. */
static void test_stolen(void **state)
{
	(void)state;
	enum { TID = 1000000007 };
	start_program(0);
	connect_thread(9, 0, TID);
	put_event(9, CHANNEL_THREAD, 0, 0, "");
	connect_thread(8, 0, TID + 1);
	put_event(8, CHANNEL_THREAD, 0, 0, "");
	preload_events_drain(events, false, &sink);
	reported_text[0] = 0;
	channel->threads[9].tid = TID + 2;
	channel->threads[8].state = CHANNEL_FREE;
	assert_reported("exit(a.8) exit(a.7) ");
	assert_int_equal(channel->threads[9].state, CHANNEL_LIVE); /* its new owner's state */
	put_sample(9, 0, 1, 1000);
	assert_reported("sample(a.9 r0 x1 1) ");
}

static void test_bad_records(void **state)
{
	(void)state;
	start_program(0);
	put_sample(0, 2, 1, 1); /* there are two requests */
	put_sample(0, 0, 1, 1);
	start_program(1);
	put_event(1, CHANNEL_DECLARED + 1, 0, 0, "");
	start_program(2);
	put_sample_at(2, UINT64_MAX, 0, 1, 1000);
	put_sample_at(2, 0, 0, 0, 1000); /* a sample without hits is dropped */
	preload_events_drain(events, false, &sink);
	assert_null(strstr(reported_text, "sample(a"));
	assert_non_null(strstr(reported_text, "sample(c")); /* an impossible time becomes the current time */
	assert_null(strstr(reported_text, "x0"));
	assert_int_equal(preload_slots_sums(slots, now_ns()).broken_rings, 2);
	/* The end of a process with a broken ring is still reported. */
	end_child(0);
	reported_text[0] = 0;
	assert_end_reported("exit(a.0) ");
	assert_int_equal(channel->processes[0].state, CHANNEL_FREE);
}

/* Random bytes in all slots. */
static void test_noise(void **state)
{
	(void)state;
	srand(3);
	uint32_t pid = make_child();
	for (int round = 0; round < 20; round++) {
		for (uint32_t i = 0; i < CHANNEL_PROCESSES; i++)
			channel->processes[i] = (struct channel_process){ .state = (uint32_t)rand() % 5,
									  .pid = rand() % 2 ? pid : (uint32_t)rand(),
									  .code_wanted = (uint32_t)rand() };
		for (uint32_t i = 0; i < CHANNEL_THREADS; i++) {
			channel->threads[i].state = (uint32_t)rand() % 5;
			channel->threads[i].pid = pid;
			channel->threads[i].tid = (uint32_t)rand() % 100;
			channel->threads[i].process = (uint32_t)rand() % CHANNEL_PROCESSES;
			channel->threads[i].head = (uint64_t)rand() % 4096 * 8;
			if (rand() % 4 == 0)
				put_event(i, (enum channel_event)(rand() % 12), (uint32_t)rand(), rand(), "text");
		}
		preload_events_drain(events, round % 2, &sink);
		reported_text[0] = 0;
	}
	for (uint32_t i = 0; i < CHANNEL_THREADS; i++)
		assert_true(!slots->threads[i].is_known || slots->processes[slots->threads[i].process].is_known);
}

static void test_no_memory(void **state)
{
	(void)state;
	struct error error = { 0 };
	ALLOC_FAIL_EACH({
		struct preload_slots *others = preload_slots_new(channel, &error);
		struct preload_events *more = others ? preload_events_new(others, &request) : NULL;
		if (!others)
			assert_int_equal(error.code, ERROR_MEMORY);
		preload_events_free(more);
		preload_slots_free(others);
	});
	no_epoll = true;
	assert_null(preload_slots_new(channel, &error));
	assert_int_equal(error.code, ERROR_SYSTEM);
	no_epoll = false;
	/* Maps that cannot be listed are not reported, but they count as loaded, so that the agent does not wait
	 * for them. */
	start_program(0);
	ALLOC_FAIL_EACH({
		channel->processes[0].code_wanted++;
		put_event(0, CHANNEL_CODE, 0, 0, "");
		preload_events_drain(events, false, &sink);
		assert_int_equal(channel->processes[0].code_loaded, channel->processes[0].code_wanted);
	});
}

int main(void)
{
#define T(name) cmocka_unit_test_setup_teardown(name, channel_world_set_up, channel_world_tear_down)
	const struct CMUnitTest tests[] = {
		T(test_bad_slots), T(test_taken), T(test_stolen), T(test_bad_records), T(test_noise), T(test_no_memory),
	};
	return cmocka_run_group_tests_name("preload_bad", tests, NULL, NULL);
}
