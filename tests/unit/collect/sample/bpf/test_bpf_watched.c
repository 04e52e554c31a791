/* The filter of side events: children of watched processes are watched, and a child for which memory runs out is
 * counted as a lost event. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "collect/sample/bpf/watched.h"
#include "support/alloc_fail.h"

enum { PARENT = 10, STRANGER = 20, FIRST_CHILD = 100, CHILDREN = 100 };

struct counts {
	unsigned forks;
	uint64_t lost_events;
};

static void count_fork(void *context, uint32_t parent_pid, uint32_t pid, uint32_t tid, uint64_t time_ns)
{
	(void)parent_pid;
	(void)pid;
	(void)tid;
	(void)time_ns;
	((struct counts *)context)->forks++;
}

static void count_lost(void *context, uint64_t events)
{
	((struct counts *)context)->lost_events += events;
}

/* Forks CHILDREN times, each child from the child before. Returns what was reported. */
static struct counts fork_children(unsigned long failing_allocation)
{
	struct counts counts = { 0 };
	const struct backend_sink sink = { .context = &counts, .fork = count_fork, .lost_events = count_lost };
	struct bpf_watched watched;
	bpf_watched_init(&watched, false, false);
	watched.sink = &sink;
	assert_int_equal(bpf_watched_add(&watched, PARENT), 0);
	const struct backend_sink filter = bpf_watched_filter(&watched);
	alloc_fail_start(failing_allocation);
	for (uint32_t i = 0; i < CHILDREN; i++) {
		uint32_t child = FIRST_CHILD + i;
		filter.fork(filter.context, i == 0 ? PARENT : child - 1, child, child, i);
		filter.fork(filter.context, STRANGER, STRANGER + 1, STRANGER + 1, i);
	}
	alloc_fail_stop();
	bpf_watched_release(&watched);
	return counts;
}

static void test_children(void **state)
{
	(void)state;
	struct counts counts = fork_children(0);
	assert_int_equal(counts.forks, CHILDREN);
	assert_int_equal(counts.lost_events, 0);
}

static void test_no_memory_for_a_child(void **state)
{
	(void)state;
	struct counts counts = fork_children(1);
	assert_int_equal(counts.lost_events, 1);
	assert_in_range(counts.forks, 1, CHILDREN - 1); /* the children of that child are not watched */
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_children),
		cmocka_unit_test(test_no_memory_for_a_child),
	};
	return cmocka_run_group_tests_name("bpf_watched", tests, NULL, NULL);
}
