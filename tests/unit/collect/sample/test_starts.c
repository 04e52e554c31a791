/* Stitching: a thread's paths continue the path that created it (sink.c, processes.c, starts.c). */
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

#include "support/fed_sink.h"

enum { OTHER_PID = FED_PID + 500, TID = FED_PID + 1 };
static const uint64_t S = 1000000000; /* ns */

/* `creator` creates `tid` at FED_CODE + `offset`, called from /a+10. */
static void create_at(struct fed *fed, uint32_t creator, uint32_t tid, uint64_t offset, uint64_t time_ns)
{
	struct backend_sample sample = FED_STACK(FED_PID, creator, FED_CODE + offset, FED_CODE + 0x10);
	sample.time_ns = time_ns;
	sample.request = UINT32_MAX;
	fed->backend_sink.creates(fed->backend_sink.context, &sample, tid);
}

static void start(struct fed *fed, uint32_t tid, uint64_t time_ns)
{
	fed->backend_sink.fork(fed->backend_sink.context, FED_PID, FED_PID, tid, time_ns);
}

static void end(struct fed *fed, uint32_t tid, uint64_t time_ns)
{
	fed->backend_sink.exit(fed->backend_sink.context, FED_PID, tid, time_ns);
}

/* Returns the path of a sample of a thread, at /a+50, called by its outermost frame /a+40. */
static const char *path_of(struct fed *fed, uint32_t tid)
{
	return fed_path(fed, fed_sample(fed, FED_STACK(FED_PID, tid, FED_CODE + 0x50, FED_CODE + 0x40)));
}

static const char stitched[] = "/a+10 /a+20 [thread] /a+40 /a+50";
static const char alone[] = "/a+40 /a+50";

static void test_reported_before_or_after(void **state)
{
	struct fed *fed = *state;
	create_at(fed, FED_PID, TID, 0x20, 5);
	start(fed, TID, 5);
	assert_string_equal(path_of(fed, TID), stitched);
	start(fed, TID + 1, 5);
	create_at(fed, FED_PID, TID + 1, 0x20, 5);
	assert_string_equal(path_of(fed, TID + 1), stitched);
	create_at(fed, FED_PID, TID + 2, 0x30, 9);
	start(fed, TID + 2, 7);
	assert_string_equal(path_of(fed, TID + 2), "/a+10 /a+30 [thread] /a+40 /a+50");
	/* The thread's creation is its only event. */
	create_at(fed, FED_PID, TID + 3, 0x30, 9);
	assert_string_equal(path_of(fed, TID + 3), "/a+10 /a+30 [thread] /a+40 /a+50");
	/* The paths of the creator, and of a thread without a reported creation, stay alone. */
	assert_string_equal(path_of(fed, FED_PID), alone);
	start(fed, TID + 4, 10);
	assert_string_equal(path_of(fed, TID + 4), alone);
	/* The creation of a thread is not a sample. */
	assert_int_equal(fed->sink.samples, 6);
	assert_int_equal(fed->sink.profile->hit_count, 6);
	assert_int_equal(fed_cause(fed, UNWIND_ROOT), 6);
	/* The mark is one location, in a module of its own kind. */
	const struct profile *profile = fed->sink.profile;
	size_t modules = 0, locations = 0;
	for (size_t i = 0; i < profile->module_count; i++)
		modules += profile->modules[i].kind == MODULE_THREAD;
	for (size_t i = 0; i < profile->location_count; i++)
		locations += profile->modules[profile->locations[i].module].kind == MODULE_THREAD;
	assert_int_equal(modules, 1);
	assert_int_equal(locations, 1);
}

/* Without a reported creation, the module of the marks does not exist. */
static void test_never_reported(void **state)
{
	struct fed *fed = *state;
	start(fed, TID, 5);
	assert_string_equal(path_of(fed, TID), alone);
	for (size_t i = 0; i < fed->sink.profile->module_count; i++)
		assert_int_not_equal(fed->sink.profile->modules[i].kind, MODULE_THREAD);
}

static void test_chains(void **state)
{
	struct fed *fed = *state;
	create_at(fed, FED_PID, TID, 0x20, 1);
	start(fed, TID, 1);
	create_at(fed, TID, TID + 1, 0x30, 2);
	start(fed, TID + 1, 2);
	assert_string_equal(path_of(fed, TID + 1), "/a+10 /a+20 [thread] /a+10 /a+30 [thread] /a+40 /a+50");
	/* Each thread creates the next: from 16 marks on, a thread gets the same base path as its creator. */
	for (uint32_t i = 2; i < 40; i++) {
		create_at(fed, TID + i - 1, TID + i, 0x30, 1 + i);
		start(fed, TID + i, 1 + i);
	}
	const struct thread *threads[40];
	for (uint32_t i = 0; i < 40; i++) {
		threads[i] = processes_thread(fed->sink.processes, FED_PID, TID + i);
		assert_int_equal(threads[i]->base_markers, i < 16 ? i + 1 : 16);
	}
	assert_int_equal(threads[39]->base_node, threads[15]->base_node);
	assert_int_not_equal(threads[15]->base_node, threads[14]->base_node);
	size_t nodes = fed->sink.profile->node_count;
	create_at(fed, TID + 39, TID + 40, 0x30, 50);
	assert_int_equal(fed->sink.profile->node_count, nodes);
}

/* A creating stack that does not reach its root does not give the thread a base path. */
static void test_broken_creator(void **state)
{
	struct fed *fed = *state;
	create_at(fed, FED_PID, TID, 0x20, 1);
	/* A second creation of the same tid, before the thread starts, replaces the first. */
	struct backend_sample broken = FED_STACK(FED_PID, FED_PID, FED_CODE + 0x20);
	broken.cause = UNWIND_NO_RULE_AT_PC;
	fed->backend_sink.creates(fed->backend_sink.context, &broken, TID);
	start(fed, TID, 1);
	assert_string_equal(path_of(fed, TID), alone);
	/* A creation without any stack gives no base path either. */
	struct backend_sample none = { .pid = FED_PID, .tid = FED_PID, .time_ns = 1, .cause = UNWIND_NO_USER_STACK };
	fed->backend_sink.creates(fed->backend_sink.context, &none, TID + 1);
	start(fed, TID + 1, 1);
	assert_string_equal(path_of(fed, TID + 1), alone);
	assert_int_equal(fed_cause(fed, UNWIND_NO_RULE_AT_PC), 0);
	assert_int_equal(fed_cause(fed, UNWIND_NO_USER_STACK), 0);
}

/* A process that does not begin with a copy of its creator's stack. */
static void test_process(void **state)
{
	struct fed *fed = *state;
	struct backend_sample sample = FED_STACK(FED_PID, FED_PID, FED_CODE + 0x20, FED_CODE + 0x10);
	sample.time_ns = 5;
	sample.created_pid = OTHER_PID;
	fed->backend_sink.creates(fed->backend_sink.context, &sample, OTHER_PID);
	fed->backend_sink.fork(fed->backend_sink.context, FED_PID, OTHER_PID, OTHER_PID, 5);
	const struct backend_sample own = FED_STACK(OTHER_PID, OTHER_PID, FED_CODE + 0x50, FED_CODE + 0x40);
	assert_string_equal(fed_path(fed, fed_sample(fed, own)), stitched);
	/* If it may begin with a copy, and no stack pointer would show that, it stays alone. */
	sample.created_pid = OTHER_PID + 1;
	sample.may_be_copied = true;
	fed->backend_sink.creates(fed->backend_sink.context, &sample, OTHER_PID + 1);
	fed->backend_sink.fork(fed->backend_sink.context, FED_PID, OTHER_PID + 1, OTHER_PID + 1, 5);
	const struct backend_sample copied = FED_STACK(OTHER_PID + 1, OTHER_PID + 1, FED_CODE + 0x50, FED_CODE + 0x40);
	assert_string_equal(fed_path(fed, fed_sample(fed, copied)), alone);
	/* A program that the process executes has none of these paths. */
	fed->backend_sink.name(fed->backend_sink.context, OTHER_PID, OTHER_PID, "next", true, 6);
	const struct backend_map map = { .pid = OTHER_PID, .start = FED_CODE, .size = 0x1000, .path = "/a" };
	fed->backend_sink.map(fed->backend_sink.context, &map);
	assert_string_equal(fed_path(fed, fed_sample(fed, own)), alone);
}

/* An incomplete stack of the thread is not stitched to its creator's path. */
static void test_broken_thread(void **state)
{
	struct fed *fed = *state;
	create_at(fed, FED_PID, TID, 0x20, 1);
	start(fed, TID, 1);
	struct backend_sample broken = FED_STACK(FED_PID, TID, FED_CODE + 0x50);
	broken.cause = UNWIND_NO_RULE_AT_PC;
	assert_string_equal(fed_path(fed, fed_sample(fed, broken)), "[incomplete stack] /a+50");
	assert_string_equal(fed_path(fed, fed_sample(fed, FED_STACK(FED_PID, TID, FED_CODE + 0x50, 0x900000))),
			    "[incomplete stack] [unknown code] /a+50");
	assert_string_equal(path_of(fed, TID), stitched);
}

static void test_ids_used_again(void **state)
{
	struct fed *fed = *state;
	create_at(fed, FED_PID, TID, 0x20, 1);
	start(fed, TID, 1);
	end(fed, TID, 2);
	start(fed, TID, 3);
	assert_string_equal(path_of(fed, TID), alone);
	end(fed, TID, 4);
	/* The creation is reported before the new thread, and after the end of the old one. */
	create_at(fed, FED_PID, TID, 0x30, 5);
	start(fed, TID, 5);
	assert_string_equal(path_of(fed, TID), "/a+10 /a+30 [thread] /a+40 /a+50");
	/* A creation that failed: much later, the tid appears again, or it appears in another process. */
	create_at(fed, FED_PID, TID + 1, 0x20, 6);
	start(fed, TID + 1, 6 + 2 * S);
	assert_string_equal(path_of(fed, TID + 1), alone);
	create_at(fed, FED_PID, TID + 2, 0x20, 6);
	fed->backend_sink.fork(fed->backend_sink.context, FED_PID, OTHER_PID, OTHER_PID, 7);
	fed->backend_sink.fork(fed->backend_sink.context, OTHER_PID, OTHER_PID, TID + 2, 8);
	uint32_t node = fed_sample(fed, FED_STACK(OTHER_PID, TID + 2, FED_CODE + 0x50, FED_CODE + 0x40));
	assert_string_equal(fed_path(fed, node), alone);
	/* The creation belongs to the new thread, not to an old one with this tid whose end was not reported. */
	start(fed, TID + 3, 10);
	create_at(fed, FED_PID, TID + 3, 0x20, 10 + 2 * S);
	start(fed, TID + 3, 11 + 2 * S);
	assert_string_equal(path_of(fed, TID + 3), stitched);
	/* A thread that has a base path keeps it. */
	create_at(fed, FED_PID, TID + 3, 0x30, 12 + 2 * S);
	assert_string_equal(path_of(fed, TID + 3), stitched);
	end(fed, TID + 3, 12 + 2 * S);
	create_at(fed, FED_PID, TID + 3, 0x30, 12 + 2 * S);
	start(fed, TID + 3, 12 + 2 * S);
	assert_string_equal(path_of(fed, TID + 3), "/a+10 /a+30 [thread] /a+40 /a+50");
}

/* The paths of a new program begin at the root. */
static void test_exec(void **state)
{
	struct fed *fed = *state;
	create_at(fed, FED_PID, TID, 0x20, 1);
	start(fed, TID, 1);
	fed->backend_sink.name(fed->backend_sink.context, FED_PID, TID, "renamed", false, 2);
	assert_string_equal(path_of(fed, TID), stitched);
	fed->backend_sink.name(fed->backend_sink.context, FED_PID, TID, "new", true, 3);
	fed_map(fed, FED_PID, FED_CODE, FED_CODE + 0x1000, "/a", false);
	assert_string_equal(path_of(fed, TID), alone);
}

int main(void)
{
#define FED(test) cmocka_unit_test_setup_teardown(test, fed_begin, fed_end)
	const struct CMUnitTest tests[] = {
		FED(test_reported_before_or_after), FED(test_never_reported), FED(test_chains),
		FED(test_broken_creator),           FED(test_process),        FED(test_broken_thread),
		FED(test_ids_used_again),           FED(test_exec),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
