/* collect/sample/probes/tracepoints.c and tracefs.c: tracepoints by name, with and without a mounted tracefs. */
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "collect/sample/probes/probe_points.h"
#include "collect/sample/probes/tracefs.h"
#include "support/alloc_fail.h"

static int find(const char *words, struct tracepoint *found, struct error *error)
{
	struct resource_request request;
	error->message[0] = 0;
	if (resource_parse(words, &request, error) < 0)
		fail_msg("%s: %s", words, error->message);
	return tracepoint_find(&request, found, error);
}

/* Skips the test without tracefs: only root can read tracepoints, and not in every container. */
static void need_tracefs(void)
{
	struct error error;
	int root = tracefs_open(&error);
	if (root == ERROR_PERMISSION) {
		print_message("%s\n", error.message);
		skip();
	}
	assert_true(root >= 0);
	close(root);
}

static void test_places(void **state)
{
	(void)state;
	need_tracefs();
	static const struct {
		const char *words;
		uint32_t size;
		bool is_signed;
	} cases[] = {
		{ "tracepoint:sched:sched_switch", 0, false },
		{ "tracepoint:sched:sched_switch:prev_pid", 4, true },
		{ "tracepoint:sched:sched_switch:prev_state", 8, true },
		{ "tracepoint:raw_syscalls:sys_exit:ret", 8, true },
		{ "tracepoint:raw_syscalls:sys_exit:id", 8, true },
	};
	uint64_t ids[5];
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct tracepoint found;
		struct error error;
		if (find(cases[i].words, &found, &error) < 0)
			fail_msg("%s: %s", cases[i].words, error.message);
		assert_true(found.id > 0);
		assert_int_equal(found.size, cases[i].size);
		assert_int_equal(found.is_signed, cases[i].is_signed);
		/* Fields come after the 8 bytes that all records have in common. */
		assert_true(found.size == 0 || found.offset >= 8);
		ids[i] = found.id;
	}
	assert_true(ids[0] == ids[1] && ids[0] != ids[3] && ids[3] == ids[4]);
	/* The fields follow each other as in a C struct. */
	struct tracepoint id, result;
	struct error error;
	assert_int_equal(find("tracepoint:raw_syscalls:sys_exit:id", &id, &error), 0);
	assert_int_equal(find("tracepoint:raw_syscalls:sys_exit:ret", &result, &error), 0);
	assert_int_equal(id.offset + id.size, result.offset);
	/* A program finds an address of the kernel in place of the common fields. */
	assert_int_equal(find("tracepoint:raw_syscalls:sys_exit:common_type", &id, &error), ERROR_UNSUPPORTED);
}

static void test_errors(void **state)
{
	(void)state;
	need_tracefs();
	static const struct {
		const char *words;
		int code;
		const char *says;
	} cases[] = {
		{ "tracepoint:shced:sched_switch", ERROR_NOT_FOUND,
		  "no tracepoints of 'shced' (did you mean sched:sched_switch?)" },
		{ "tracepoint:shced:nothing", ERROR_NOT_FOUND, "no tracepoints of 'shced' (did you mean sched?)" },
		{ "tracepoint:sched:sched_swich", ERROR_NOT_FOUND,
		  "no tracepoint 'sched:sched_swich' (did you mean sched_switch?)" },
		{ "tracepoint:sched:sys_exit", ERROR_NOT_FOUND, "(did you mean raw_syscalls:sys_exit?)" },
		{ "tracepoint:sched:sched_switch:prev_pd", ERROR_NOT_FOUND,
		  "has no field 'prev_pd' (did you mean prev_pid" },
		{ "tracepoint:sched:sched_switch:zzz", ERROR_NOT_FOUND, "its numbers are: prev_pid, prev_prio" },
		{ "tracepoint:sched:sched_switch:prev_comm", ERROR_NOT_FOUND,
		  "prev_comm of sched:sched_switch is not a number; its numbers are: prev_pid, prev_prio" },
		{ "tracepoint:block:block_rq_issue:cmd", ERROR_NOT_FOUND, "is not a number" },
		{ "tracepoint:sched:nope", ERROR_NOT_FOUND, "no tracepoint 'sched:nope' ('perf list' and" },
		{ "tracepoint:nosys:nope", ERROR_NOT_FOUND, "no tracepoints of 'nosys' ('perf list' and" },
		{ "tracepoint:..:sched", ERROR_NOT_FOUND, "no tracepoints of '..'" },
		{ "tracepoint:sched:..", ERROR_NOT_FOUND, "no tracepoint 'sched:..'" },
	};
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct tracepoint found;
		struct error error = { 0 };
		assert_int_equal(find(cases[i].words, &found, &error), cases[i].code);
		assert_int_equal(error.code, cases[i].code);
		if (!strstr(error.message, cases[i].says))
			fail_msg("%s: %s", cases[i].words, error.message);
	}
}

enum { NOT_PERMITTED = 77 };

/* Runs `body` in a child; it must return 0. */
static void apart(int (*body)(void))
{
	pid_t pid = fork();
	if (pid == 0)
		_exit(body());
	int status;
	assert_int_equal(waitpid(pid, &status, 0), pid);
	if (WIFEXITED(status) && WEXITSTATUS(status) == NOT_PERMITTED)
		skip();
	assert_int_equal(status, 0);
}

/* Creates a mount namespace without tracefs. Returns 0 if tracefs is hidden. */
static int hide_tracefs(void)
{
	if (unshare(CLONE_NEWNS) < 0 && errno == EPERM)
		_exit(NOT_PERMITTED);
	if (mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) < 0)
		return -1;
	umount2("/sys/kernel/debug/tracing", MNT_DETACH);
	umount2("/sys/kernel/debug", MNT_DETACH);
	umount2("/sys/kernel/tracing", MNT_DETACH);
	return access("/sys/kernel/tracing/events", F_OK) == 0 || access("/sys/kernel/debug/tracing", F_OK) == 0;
}

static int find_unmounted(void)
{
	struct tracepoint found;
	struct error error;
	if (hide_tracefs() != 0)
		return 1;
	if (find("tracepoint:sched:sched_switch:next_pid", &found, &error) < 0) {
		print_error("%s\n", error.message);
		return 2;
	}
	/* cpprof must not mount tracefs at a path that other programs see. */
	return found.id == 0 || found.size != 4 || access("/sys/kernel/tracing/events", F_OK) == 0;
}

static int refuse_unmounted(void)
{
	struct error error = { 0 };
	if (hide_tracefs() != 0 || setresuid(65534, 65534, 65534) != 0)
		return 1;
	int result = tracefs_open(&error);
	return result != ERROR_PERMISSION || error.code != ERROR_PERMISSION ||
	       !strstr(error.message, "as root, or 'mount -t tracefs tracefs /sys/kernel/tracing')");
}

static int refuse_unreadable(void)
{
	struct error error = { 0 };
	if (access("/sys/kernel/tracing/events", F_OK) != 0)
		return 0; /* not mounted: refuse_unmounted tests this */
	if (setresuid(65534, 65534, 65534) != 0)
		return 1;
	if (access("/sys/kernel/tracing/events", R_OK) == 0)
		return 0; /* on this machine, every user can read them */
	return tracefs_open(&error) != ERROR_PERMISSION || !strstr(error.message, "run cpprof as root");
}

static void test_unmounted(void **state)
{
	(void)state;
	need_tracefs();
	apart(find_unmounted);
	apart(refuse_unmounted);
	apart(refuse_unreadable);
}

static int open_descriptors(void)
{
	int count = 0;
	for (int fd = 0; fd < 256; fd++)
		count += fcntl(fd, F_GETFD) >= 0;
	return count;
}

static void try_find(const char *words)
{
	struct tracepoint found;
	struct error error = { 0 };
	int result = find(words, &found, &error);
	assert_true(result == 0 || error.message[0]);
}

static void test_no_memory(void **state)
{
	(void)state;
	need_tracefs();
	int before = open_descriptors();
	ALLOC_FAIL_EACH(try_find("tracepoint:sched:sched_switch:prev_pid"));
	ALLOC_FAIL_EACH(try_find("tracepoint:sched:sched_swich"));
	assert_int_equal(open_descriptors(), before);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_places),
		cmocka_unit_test(test_errors),
		cmocka_unit_test(test_unmounted),
		cmocka_unit_test(test_no_memory),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
