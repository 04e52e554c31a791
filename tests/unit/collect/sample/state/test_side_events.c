/* Side events without a backend, for a child of the test. */
#include <poll.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "collect/sample/cpus.h"
#include "collect/sample/state/side_events.h"
#include "support/watched_child.h"

static struct side_events *side_of(bool prompt)
{
	const struct backend_request request = { .data_maps = false };
	struct error error = { 0 };
	struct side_events *side = side_events_new(&request, SIDE_EVENTS_RING_BYTES, prompt, &error);
	if (!side)
		fail_msg("%s", error.message);
	return side;
}

static void test_prompt(void **state)
{
	(void)state;
	request_permitted("cpu/1ms");
	region_reserve();
	for (int prompt = 0; prompt < 2; prompt++) {
		struct error error = { 0 };
		struct side_events *side = side_of(prompt);
		pid_t pid = child_start(region_map);
		assert_int_equal(side_events_attach(side, pid, false, &error), 1);
		struct cpus cpus;
		assert_int_equal(cpus_find(&cpus, &error), 0);
		struct pollfd descriptors[256];
		size_t count = side_events_descriptors(side, descriptors, 256);
		assert_int_equal(count, cpus.count);
		assert_int_equal(side_events_descriptors(side, NULL, 0), cpus.count);
		assert_int_equal(poll(descriptors, count, 0), 0);
		child_begin();
		assert_true(child_is_done(CHILD_SECONDS * 1000));
		assert_int_equal(poll(descriptors, count, prompt ? 2000 : 50) > 0, prompt);
		uint64_t time;
		assert_false(side_events_peek(side, &time)); /* not refreshed yet */
		side_events_refresh(side);
		watched_event_count = 0;
		while (side_events_peek(side, &time)) {
			assert_int_equal(side_events_deliver(side, &watched_sink).tid, 0);
			assert_int_equal(watched_events[watched_event_count - 1].time_ns, time);
		}
		assert_true(has_event(A_MAP, pid, region_address(3 * GAP_PAGES)));
		side_events_stop(side);
		side_events_free(side);
		cpus_release(&cpus);
		child_end(pid);
	}
	munmap(region, PAGES * page_bytes);
}

static void leave_process(void)
{
	pid_t process = fork();
	if (process == 0) {
		alarm(CHILD_SECONDS);
		pause();
		_exit(0);
	}
	stage->process = process;
}

/* A process is attached after its start, but before the fork event of its parent was delivered. If it was started right after the attach of its
 * parent, it is not certain that it has inherited all events. */
static void check_watched_twice(bool is_certain)
{
	enum { LATER_US = 30000 };
	struct error error = { 0 };
	struct side_events *side = side_of(false);
	pid_t pid = child_start(leave_process);
	assert_false(side_events_is_watched(side, pid));
	assert_int_equal(side_events_attach(side, pid, false, &error), 1);
	assert_true(side_events_is_watched(side, pid));
	if (is_certain)
		usleep(LATER_US);
	child_begin();
	assert_true(child_is_done(CHILD_SECONDS * 1000));
	assert_int_equal(side_events_attach(side, stage->process, false, &error), 1);
	side_events_refresh(side);
	uint64_t time;
	unsigned forks = 0, twice = 0;
	while (side_events_peek(side, &time)) {
		struct side_fork fork = side_events_deliver(side, &watched_sink);
		forks += fork.tid == stage->process;
		twice += fork.is_watched_twice;
	}
	assert_int_equal(forks, 1);
	if (is_certain)
		assert_int_equal(twice, 1);
	assert_true(side_events_is_watched(side, stage->process));
	kill(stage->process, SIGKILL);
	child_end(pid);
	side_events_free(side);
	side_events_free(NULL);
}

static void test_watched_twice(void **state)
{
	(void)state;
	request_permitted("cpu/1ms");
	check_watched_twice(false);
	check_watched_twice(true);
}

static void test_thread_gone(void **state)
{
	(void)state;
	request_permitted("cpu/1ms");
	struct error error = { 0 };
	struct side_events *side = side_of(false);
	pid_t pid = fork();
	if (pid == 0)
		_exit(0);
	assert_int_equal(waitpid(pid, NULL, 0), pid);
	assert_int_equal(side_events_attach(side, pid, false, &error), 0);
	assert_int_equal(error.code, 0);
	side_events_free(side);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_prompt),
		cmocka_unit_test(test_watched_twice),
		cmocka_unit_test(test_thread_gone),
	};
	return cmocka_run_group_tests(tests, watched_child_set_up, watched_child_tear_down);
}
