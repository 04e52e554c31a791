/* Beginning and end of processes and threads in the channel (collect/sample/preload/slots.h), and the events that
 * are reported for them (collect/sample/preload/events.h). */
#include <poll.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include "collect/sample/preload/requests.h"
#include "support/channel_world.h"

static void test_started(void **state)
{
	(void)state;
	start_program(0);
	put_sample(0, 0, 2, 7000);
	preload_events_drain(events, false, &sink);
	char expected[100];
	snprintf(expected, sizeof(expected), "exec(a) sample(a.%u r0 x2 7) ", (unsigned)children[0] % 1000);
	assert_string_equal(reported_text, expected);
	assert_true(maps_reported >= 3);
	assert_int_equal(channel->processes[0].code_loaded, 1);
	assert_int_equal(channel->threads[0].tail, channel->threads[0].head);
	reported_text[0] = 0;
	assert_reported("");
}

/* Maps are read once for several requests, and only new maps are reported. */
static void test_code(void **state)
{
	(void)state;
	start_program(0);
	assert_reported("exec(a) ");
	size_t before = maps_reported;
	channel->processes[0].code_wanted = 3;
	put_event(0, CHANNEL_CODE, 0, 0, "");
	put_event(0, CHANNEL_CODE, 0, 0, "");
	assert_reported("");
	assert_int_equal(channel->processes[0].code_loaded, 3);
	assert_int_equal(maps_reported, before);
	/* Without a new request, the maps are not read again. */
	slots->processes[0].maps.count = 0;
	put_event(0, CHANNEL_CODE, 0, 0, "");
	assert_reported("");
	assert_int_equal(maps_reported, before);
	channel->processes[0].code_wanted = 4;
	put_event(0, CHANNEL_CODE, 0, 0, "");
	assert_reported("");
	assert_int_equal(maps_reported, 2 * before);
}

/* Writes the user-space fallback of a walk that met unknown code. */
static void put_fallback(uint32_t thread, uint8_t end)
{
	const uint64_t registers[ARCH_REGISTERS] = { 0 };
	const struct sample_record record = {
		.time_ns = now_ns(), .tid = channel->threads[thread].tid, .kind = SAMPLE_FALLBACK, .end = end, .hits = 1
	};
	put(thread, &record, sizeof(record));
	put(thread, registers, sizeof(registers));
}

static void wait_a_little(void)
{
	nanosleep(&(struct timespec){ .tv_nsec = 15 * 1000 * 1000 }, NULL);
}

/* For code that was not reported, the maps are read again from time to time, but only if /proc shows the same
 * program. */
static void test_unknown_code(void **state)
{
	(void)state;
	start_program(0);
	preload_events_drain(events, false, &sink);
	struct preload_process *process = &slots->processes[0];
	size_t all = maps_reported;
	process->maps.count = 0;
	process->maps_read_ns = now_ns() + UINT64_C(1000000000000); /* just read, however long the test takes */
	put_fallback(0, WALK_NO_CODE);
	preload_events_drain(events, false, &sink);
	assert_int_equal(maps_reported, all);
	process->maps_read_ns = 0;
	put_fallback(0, WALK_NO_ROWS);
	preload_events_drain(events, false, &sink);
	assert_int_equal(maps_reported, all); /* the code is known */
	put_fallback(0, WALK_NO_CODE);
	put_fallback(0, WALK_NO_CODE);
	preload_events_drain(events, false, &sink);
	assert_int_equal(maps_reported, 2 * all);
	/* /proc may show another program's maps. */
	static const char *const changes[] = { "exec", "announced exec", "replaced" };
	for (size_t i = 0; i < 3; i++) {
		wait_a_little();
		process->maps.count = 0;
		channel->processes[0].execs = i == 0;
		process->execs_ns = i == 1 ? now_ns() : 0;
		process->is_replaced = i == 2;
		put_fallback(0, WALK_NO_CODE);
		preload_events_drain(events, false, &sink);
		if (maps_reported != 2 * all)
			fail_msg("%s: read", changes[i]);
	}
}

static void test_threads(void **state)
{
	(void)state;
	enum { TID = 1000000007 };
	start_program(0);
	connect_thread(9, 0, TID);
	/* The path that started the thread is in the new thread's ring, with the creator's tid. */
	struct sample_record creator = { .time_ns = now_ns(),
					 .tid = (uint32_t)children[0],
					 .kind = SAMPLE_WALKED,
					 .end = WALK_ROOT,
					 .request = SAMPLE_NO_REQUEST };
	put(9, &creator, sizeof(creator));
	put_event(9, CHANNEL_THREAD, 0, 0, "worker");
	put_event(0, CHANNEL_NAMED, TID, 0, "other");
	put_event(0, CHANNEL_NAMED, 12345, 0, "nobody");
	put_event(9, CHANNEL_LABELS, 4, 0, "kind=get");
	put_event(9, CHANNEL_RESOURCE, 1, 0, "order");
	put_event(9, CHANNEL_RESOURCE, 0, 0, "no resource of its own");
	put_sample(9, 1, 3, 5);
	put_event(9, CHANNEL_EXITS, 0, 0, "");
	char expected[200];
	snprintf(expected, sizeof(expected),
		 "exec(a) creates(a.%u 7) fork(a a.7) name(a worker) name(a other) labels(4 kind=get) unit(1 order) "
		 "sample(a.7 r1 x3 5) exit(a.7) ",
		 (unsigned)children[0] % 1000);
	assert_reported(expected);
	/* When the thread has ended, its totals are added up and its slot is freed. The end is not reported twice. */
	channel->threads[9].clocks[0].total = 5000;
	channel->threads[9].lost[1] = 6;
	channel->threads[0].clocks[0].total = 100;
	channel->threads[9].state = CHANNEL_ENDED;
	assert_reported("");
	assert_int_equal(channel->threads[9].state, CHANNEL_FREE);
	assert_false(slots->threads[9].is_known);
	struct preload_sums sums = preload_slots_sums(slots, now_ns());
	assert_int_equal(sums.totals[0], 5100);
	assert_int_equal(sums.lost[1], 6);
	/* Another thread takes the slot and continues its ring. */
	connect_thread(9, 0, TID + 1);
	put_event(9, CHANNEL_THREAD, 0, 0, "");
	assert_reported("fork(a a.8) ");
}

/* After a process was killed, everything that it wrote is reported, and then its end. */
static void test_death(void **state)
{
	(void)state;
	enum { TID = 1000000007 };
	start_program(3);
	connect_thread(9, 3, TID);
	put_event(9, CHANNEL_THREAD, 0, 0, "");
	assert_reported("exec(a) fork(a a.7) ");
	put_sample(9, 0, 1, 1000);
	put_sample(9, 0, 2, 1000);
	channel->threads[9].clocks[0].total = 9;
	channel->processes[3].threads_unwatched = 4;
	channel->processes[3].threads_untimed = 5;
	channel->processes[3].late_ticks = 5;
	channel->processes[3].stretch_max = 7;
	channel->processes[3].findings = CHANNEL_FINDING_FPE;
	end_child(0);
	assert_end_reported("sample(a.7 r0 x1 1) sample(a.7 r0 x2 1) exit(a.7) exit(a.0) ");
	assert_int_equal(channel->threads[9].state, CHANNEL_FREE);
	assert_int_equal(channel->threads[3].state, CHANNEL_FREE);
	assert_int_equal(channel->processes[3].state, CHANNEL_FREE);
	struct preload_sums sums = preload_slots_sums(slots, now_ns());
	assert_int_equal(sums.totals[0], 9);
	assert_int_equal(sums.unwatched, 4);
	assert_int_equal(sums.untimed, 5);
	assert_int_equal(sums.late_ticks, 5);
	assert_int_equal(sums.stretch, 7);
	assert_int_equal(sums.flags, CHANNEL_FINDING_FPE);
	assert_int_equal(sums.not_connected, 0);
	/* Both slots can be used again. */
	start_program(3);
	assert_reported("exec(b) ");
}

enum { WAITED_MS = 300, NS_PER_MS = 1000000 };

/* The thread wrote, WAITED_MS ago, where it waits. It had waited half of an interval before, whose boundary is at its end. */
static void begin_wait(uint32_t thread)
{
	uint64_t interval = preload_request_of(&request.resources[0]).interval;
	put_sample(thread, 0, 0, 0);
	channel->threads[thread].clocks[0].used = interval / 2;
	channel->threads[thread].clocks[0].mark = interval - 1;
	channel->threads[thread].clocks[0].total = 5;
	channel->threads[thread].waits_since_ns = now_ns() - (uint64_t)WAITED_MS * NS_PER_MS;
	events->start_ns = channel->threads[thread].waits_since_ns;
}

/* Expects a sample with the time of the wait, and then the text `then`. */
static void assert_wait_reported(uint64_t since_ns, const char *then)
{
	enum { NS_PER_GTICK = 1000 };
	unsigned tid;
	unsigned long hits, gticks;
	int length = 0;
	uint64_t longest = now_ns() - since_ns, interval = preload_request_of(&request.resources[0]).interval;
	if (sscanf(reported_text, "sample(a.%u r0 x%lu %lu) %n", &tid, &hits, &gticks, &length) != 3 || length == 0)
		fail_msg("'%s' does not report a wait", reported_text);
	assert_string_equal(reported_text + length, then);
	uint64_t ns = preload_slots_sums(slots, now_ns()).totals[0] - 5;
	assert_in_range(ns, (uint64_t)WAITED_MS * NS_PER_MS, longest);
	assert_int_equal(gticks, ns / NS_PER_GTICK);
	assert_int_equal(hits, (interval / 2 + ns) / interval);
}

/* A wait without an end is counted once, when the process ends ... */
static void test_wait_until_death(void **state)
{
	(void)state;
	start_program(0);
	assert_reported("exec(a) ");
	begin_wait(0);
	assert_reported("");
	assert_non_null(slots->threads[0].waits_at);
	uint64_t since_ns = channel->threads[0].waits_since_ns;
	end_child(0);
	preload_events_drain(events, false, &sink);
	nanosleep(&(struct timespec){ .tv_nsec = 25 * NS_PER_MS }, NULL);
	preload_events_drain(events, true, &sink);
	assert_wait_reported(since_ns, "exit(a.0) ");
	assert_null(slots->threads[0].waits_at);
}

/* ... or when the recording ends. Of two waits, only the second one counts. */
static void test_wait_until_the_end(void **state)
{
	(void)state;
	start_program(0);
	assert_reported("exec(a) ");
	put_sample(0, 1, 0, 0);
	begin_wait(0);
	assert_reported("");
	preload_events_drain(events, true, &sink);
	assert_wait_reported(channel->threads[0].waits_since_ns, "");
}

/* A wait crosses the boundaries at the random position that the thread's clock has, not one for its start: a thread that waits
 * for a part of an interval has a hit in this part of the runs. */
static void test_waits_from_each_position(void **state)
{
	enum { POSITIONS = 100 };
	(void)state;
	start_program(0);
	assert_reported("exec(a) ");
	uint64_t interval = preload_request_of(&request.resources[0]).interval, hits = 0, waited = 0;
	for (uint64_t i = 0; i < POSITIONS; i++) {
		unsigned tid;
		unsigned long found = 0;
		uint64_t before = preload_slots_sums(slots, now_ns()).totals[0];
		begin_wait(0);
		assert_reported("");
		channel->threads[0].clocks[0].mark = interval / POSITIONS * i;
		channel->threads[0].waits_since_ns -= interval * 3 / 10;
		events->start_ns = channel->threads[0].waits_since_ns;
		preload_events_drain(events, true, &sink);
		(void)sscanf(reported_text, "sample(a.%u r0 x%lu", &tid, &found);
		reported_text[0] = 0;
		hits += found;
		waited += preload_slots_sums(slots, now_ns()).totals[0] - before;
	}
	/* On a busy machine waits last longer by various times, each of which is rounded by itself: then the sum has five times the standard
	 * deviation of POSITIONS roundings. A position at the start of each wait would be wrong by 30 intervals or more. */
	enum { ROUNDING_MOST = 15 };
	assert_in_range(hits * interval, waited - interval * ROUNDING_MOST, waited + interval * ROUNDING_MOST);
}

/* No sample is made of an impossible wait, which began before the recording or in the future. Without the path of
 * the wait, only the total grows. A thread that ended normally has already counted its waits. */
static void test_odd_waits(void **state)
{
	(void)state;
	start_program(0);
	assert_reported("exec(a) ");
	begin_wait(0);
	assert_reported("");
	uint64_t since_ns = channel->threads[0].waits_since_ns;
	events->start_ns = since_ns + 1;
	preload_events_drain(events, true, &sink);
	channel->threads[0].waits_since_ns = UINT64_MAX;
	preload_events_drain(events, true, &sink);
	channel->threads[0].waits_since_ns = 0;
	preload_events_drain(events, true, &sink);
	assert_string_equal(reported_text, "");
	assert_int_equal(preload_slots_sums(slots, now_ns()).totals[0], 5);
	events->start_ns = since_ns;
	channel->threads[0].waits_since_ns = since_ns;
	channel->threads[0].clocks[0].used = channel->threads[0].clocks[0].mark = UINT64_MAX; /* impossible */
	free(slots->threads[0].waits_at);
	slots->threads[0].waits_at = NULL;
	preload_events_drain(events, true, &sink);
	assert_string_equal(reported_text, "");
	assert_true(preload_slots_sums(slots, now_ns()).totals[0] >= 5 + (uint64_t)WAITED_MS * NS_PER_MS);
	channel->threads[0].state = CHANNEL_ENDED;
	uint64_t before = preload_slots_sums(slots, now_ns()).totals[0];
	end_child(0);
	preload_events_drain(events, true, &sink);
	assert_string_equal(reported_text, "exit(a.0) ");
	assert_int_equal(preload_slots_sums(slots, now_ns()).totals[0], before);
}

/* A child that is first found after its parent has ended still gets its parent. */
static void test_late_child(void **state)
{
	(void)state;
	start_program(0);
	uint32_t parent_pid = channel->processes[0].pid;
	assert_reported("exec(a) ");
	end_child(0);
	preload_events_drain(events, false, &sink);
	uint32_t pid = make_child();
	connect_process(1, pid);
	connect_thread(1, 1, pid);
	put_event(1, CHANNEL_FORKED, 0, parent_pid, "");
	assert_end_reported("fork(a b.0) exit(a.0) ");
}

/* Records of several threads are reported in the order of their times. */
static void test_order(void **state)
{
	(void)state;
	start_program(0);
	start_program(1);
	preload_events_drain(events, false, &sink);
	reported_text[0] = 0;
	uint64_t now = now_ns();
	put_sample_at(1, now, 0, 1, 0);
	put_sample_at(0, now + 1, 0, 2, 0);
	put_sample_at(1, now + 2, 0, 3, 0);
	put_sample_at(0, now + 3, 0, 4, 0);
	preload_events_drain(events, false, &sink);
	size_t at = 0;
	for (int i = 1; i <= 4; i++) {
		char hits[8];
		snprintf(hits, sizeof(hits), "x%d ", i);
		const char *found = strstr(reported_text, hits);
		assert_non_null(found);
		assert_true(i == 1 || (size_t)(found - reported_text) > at);
		at = (size_t)(found - reported_text);
	}
}

/* exec: the records of the first program come before the new program. Its threads are not reported as ended, since
 * exec itself ends them. */
static void test_exec(void **state)
{
	(void)state;
	uint32_t pid = start_program(0);
	assert_reported("exec(a) ");
	put_sample(0, 1, 1, 1);
	put_event(0, CHANNEL_EXECS, 0, 0, "/bin/other");
	channel->threads[0].clocks[1].total = 1;
	connect_process(1, pid);
	connect_thread(1, 1, pid);
	put_event(1, CHANNEL_STARTED, 0, 0, "other");
	put_sample(1, 1, 2, 2);
	char expected[100];
	unsigned tid = pid % 1000;
	snprintf(expected, sizeof(expected), "sample(a.%u r1 x1 1) exec(a) sample(a.%u r1 x2 2) ", tid, tid);
	assert_reported(expected);
	assert_int_equal(channel->processes[0].state, CHANNEL_FREE);
	assert_int_equal(channel->threads[0].state, CHANNEL_FREE);
	channel->threads[1].clocks[1].total = 2;
	struct preload_sums sums = preload_slots_sums(slots, now_ns());
	assert_int_equal(sums.totals[1], 3);
	assert_int_equal(sums.not_connected, 0);
	assert_ptr_equal(preload_slots_find(slots, pid), &slots->processes[1]);
}

/* Both programs of an exec are found at the same time, and the later one has the lower slot: the process is still
 * the later one. */
static void test_exec_found_late(void **state)
{
	(void)state;
	uint32_t pid = make_child();
	connect_process(5, pid);
	connect_thread(5, 5, pid);
	put_event(5, CHANNEL_STARTED, 0, 0, "first");
	put_event(5, CHANNEL_EXECS, 0, 0, "/bin/other");
	connect_process(2, pid);
	connect_thread(2, 2, pid);
	put_event(2, CHANNEL_STARTED, 0, 0, "other");
	preload_events_drain(events, false, &sink);
	assert_true(slots->processes[2].is_known && !slots->processes[2].is_replaced);
	assert_int_equal(channel->processes[2].code_loaded, 1);
	assert_int_equal(channel->processes[5].state, CHANNEL_FREE);
	assert_ptr_equal(preload_slots_find(slots, pid), &slots->processes[2]);
	size_t maps = maps_reported;
	assert_true(maps >= 3);
	/* Its later counts are included in the totals. */
	channel->threads[2].clocks[1].total = 2;
	struct preload_sums sums = preload_slots_sums(slots, now_ns() + 60 * 1000 * 1000 * 1000ull);
	assert_int_equal(sums.totals[1], 2);
	assert_int_equal(sums.not_connected, 0);
}

/* A forked process has its parent's code: no maps are read ... */
static void test_fork(void **state)
{
	(void)state;
	uint32_t parent = start_program(0);
	assert_reported("exec(a) ");
	size_t before = maps_reported;
	uint32_t pid = make_child();
	connect_process(1, pid);
	connect_thread(1, 1, pid);
	put_event(1, CHANNEL_FORKED, 0, parent, "");
	assert_reported("fork(a b.0) ");
	assert_int_equal(maps_reported, before);
	assert_int_equal(channel->processes[1].code_loaded, 1);
	/* ... unless the parent is unknown. */
	pid = make_child();
	connect_process(2, pid);
	connect_thread(2, 2, pid);
	put_event(2, CHANNEL_FORKED, 0, 1, "");
	assert_reported("");
	assert_int_equal(maps_reported, 2 * before);
}

/* A program that was started but never connected, and one that could not be started. */
static void test_not_connected(void **state)
{
	(void)state;
	start_program(0);
	start_program(1);
	start_program(2);
	for (uint32_t i = 0; i < 3; i++)
		put_event(i, CHANNEL_EXECS, CHANNEL_EXEC_NO_LIBRARY, 0, "/nowhere/static");
	channel->processes[0].execs = 1; /* the calls of the other two have failed by now */
	preload_events_drain(events, false, &sink);
	wait_a_little();
	end_child(2);
	preload_events_drain(events, false, &sink);
	/* At the time of the exec, the first program may still connect. */
	assert_int_equal(preload_slots_sums(slots, slots->processes[0].execs_ns).not_connected, 0);
	assert_int_equal(preload_slots_sums(slots, now_ns()).not_connected, 1);
	put_sample(1, 0, 1, 1); /* still the same program */
	end_child(0);
	preload_events_drain(events, false, &sink);
	assert_int_equal(preload_slots_sums(slots, now_ns()).not_connected, 1);
	assert_string_equal(slots->starts.last, "static");
	/* The process has ended, so that /proc has no entries of it: only its event gives the reason. */
	const struct preload_sums sums = preload_slots_sums(slots, now_ns());
	assert_string_equal(sums.absence.name, "static");
	assert_non_null(strstr(sums.absence.reason, "LD_PRELOAD is gone"));
}

/* A child of a connected process that never connects is counted as unobserved. */
static void test_strangers(void **state)
{
	(void)state;
	int ends[2];
	pid_t grandchild = 0;
	assert_int_equal(pipe(ends), 0);
	pid_t pid = fork();
	if (pid == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL); /* a failed assertion leaves no child behind */
		grandchild = fork();
		if (grandchild == 0)
			prctl(PR_SET_PDEATHSIG, SIGKILL);
		if (grandchild > 0 && write(ends[1], &grandchild, sizeof(grandchild)) < 0)
			_exit(1);
		for (;;)
			pause();
	}
	children[child_count++] = pid;
	assert_int_equal(read(ends[0], &grandchild, sizeof(grandchild)), sizeof(grandchild));
	connect_process(0, (uint32_t)pid);
	connect_thread(0, 0, (uint32_t)pid);
	preload_events_drain(events, false, &sink);
	/* At the time when it was found, it may still connect. */
	assert_int_equal(preload_slots_sums(slots, slots->starts.looked_ns).not_connected, 0);
	wait_a_little();
	bool can_tell = slots->starts.items[0].pid == (uint32_t)grandchild; /* not every kernel lists children */
	assert_int_equal(preload_slots_sums(slots, now_ns()).not_connected, can_tell);
	slots->starts.looked_ns = 0;
	preload_events_drain(events, false, &sink);
	assert_int_equal(preload_slots_sums(slots, now_ns()).not_connected, can_tell); /* counted once */
	/* It connects late. */
	connect_process(1, (uint32_t)grandchild);
	preload_events_drain(events, false, &sink);
	assert_int_equal(preload_slots_sums(slots, now_ns()).not_connected, 0);
	slots->processes[1].is_known = false;
	channel->processes[1].state = CHANNEL_FREE;
	slots->starts.looked_ns = 0;
	preload_events_drain(events, false, &sink);
	wait_a_little();
	kill(grandchild, SIGKILL);
	if (can_tell)
		assert_int_equal(poll(&(struct pollfd){ .fd = slots->starts.items[0].pidfd, .events = POLLIN }, 1, -1),
				 1);
	preload_events_drain(events, false, &sink);
	assert_int_equal(preload_slots_sums(slots, now_ns()).not_connected, can_tell);
	assert_int_equal(slots->starts.items[0].pid, 0);
	close(ends[0]);
	close(ends[1]);
}

static void test_flush(void **state)
{
	(void)state;
	start_program(0);
	preload_events_drain(events, false, &sink);
	assert_false(events->wants_flush);
	channel->processes[0].flush_wanted = 3;
	put_event(0, CHANNEL_FLUSH, 0, 0, "");
	preload_events_drain(events, false, &sink);
	assert_true(events->wants_flush);
	assert_int_equal(channel->processes[0].flush_done, 0);
	channel->processes[0].flush_wanted = 4; /* requested after the drain */
	preload_events_flushed(events);
	assert_int_equal(channel->processes[0].flush_done, 3);
	assert_false(events->wants_flush);
}

int main(void)
{
#define T(name) cmocka_unit_test_setup_teardown(name, channel_world_set_up, channel_world_tear_down)
	const struct CMUnitTest tests[] = {
		T(test_started),
		T(test_code),
		T(test_unknown_code),
		T(test_threads),
		T(test_death),
		T(test_wait_until_death),
		T(test_wait_until_the_end),
		T(test_waits_from_each_position),
		T(test_odd_waits),
		T(test_late_child),
		T(test_order),
		T(test_exec),
		T(test_exec_found_late),
		T(test_fork),
		T(test_not_connected),
		T(test_strangers),
		T(test_flush),
	};
	return cmocka_run_group_tests_name("preload_life", tests, NULL, NULL);
}
