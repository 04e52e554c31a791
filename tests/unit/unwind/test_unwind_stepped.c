/*
 * Checks the walk at every instruction. Small programs (stepped/) run one instruction at a time; at each stop the
 * walk must reach the root, and at every COMPARE_EVERY-th stop its frames must equal the frames of libdwfl. Usage:
 * test_unwind_stepped PROGRAM...
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/personality.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>

#include "support/remote.h"

enum { MOST_FRAMES = 200, COMPARE_EVERY = 7, MOST_TESTS = 256, FEWEST_STEPS = 8 };

/* The first DENSE_STEPS stops are all checked, and after them every SPARSE-th. SPARSE is coprime to the lengths of
 * loops, so that all of their code is checked. */
enum { DENSE_STEPS = 2500, SPARSE = 41, LONGEST_RUN = 400000 };

/* libdwfl stops below the dynamic linker's resolver, whose CFA is in rbx. Its frames up to there must agree, and
 * this must be rare. */
static unsigned compared;
static unsigned gave_up;
/* Just before an exception's handler is entered, libgcc overwrites the saved registers of its own frame with those
 * of the handler. The stack is then consistent with neither, and a walk must report that it did not reach the
 * root. */
static unsigned rewritten;
enum { MOST_REWRITTEN = 100 };

static pid_t start(const char *program)
{
	pid_t pid = fork();
	assert_true(pid >= 0);
	if (pid == 0) {
		personality(ADDR_NO_RANDOMIZE);
		ptrace(PTRACE_TRACEME, 0, NULL, NULL);
		execl(program, program, (char *)NULL);
		_exit(127);
	}
	int status;
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFSTOPPED(status));
	assert_int_equal(ptrace(PTRACE_SETOPTIONS, pid, NULL, PTRACE_O_TRACECLONE | PTRACE_O_EXITKILL), 0);
	return pid;
}

static bool is_mark(pid_t tid)
{
	siginfo_t info;
	return ptrace(PTRACE_GETSIGINFO, tid, NULL, &info) == 0 && info.si_signo == SIGTRAP &&
	       info.si_code == SI_KERNEL;
}

/* Runs to the first mark. Returns the thread that reached it. */
static pid_t run_to_mark(pid_t pid)
{
	pid_t tid = pid;
	int status;
	ptrace(PTRACE_CONT, pid, NULL, NULL);
	for (;;) {
		tid = waitpid(-1, &status, __WALL);
		assert_true(tid > 0);
		assert_true(WIFSTOPPED(status));
		if (WSTOPSIG(status) == SIGTRAP && status >> 16 == 0 && is_mark(tid))
			return tid;
		/* The report of a clone, or the first stop of its thread. */
		ptrace(PTRACE_CONT, tid, NULL, NULL);
	}
}

static void print_walks(struct remote *remote, const struct unwind_result *result, const struct unwind_frame *frames,
			const uint64_t *reference, size_t reference_count)
{
	fprintf(stderr, "%s\n", unwind_cause_text(result->cause));
	for (size_t i = 0; i < result->count || i < reference_count; i++) {
		char place[128] = "-";
		if (i < result->count)
			snprintf(place, sizeof(place), "%s", remote_location(remote, frames[i].pc));
		fprintf(stderr, "  %-40s %s\n", place,
			i < reference_count ? remote_location(remote, reference[i]) : "-");
	}
}

static void check_stop(struct remote *remote, pid_t tid, bool compare)
{
	static struct unwind_frame frames[MOST_FRAMES];
	uint64_t reference[MOST_FRAMES];
	struct unwind_source source = remote_source(remote);
	struct arch_registers registers = remote_registers(tid);
	remote_forget(remote);
	struct unwind_result result = unwind_walk(&source, &registers, frames, MOST_FRAMES);
	bool right = result.cause == UNWIND_ROOT;
	size_t count = 0;
	if (compare || !right) {
		count = remote_reference_walk(remote, tid, reference, MOST_FRAMES);
		right = right && count <= result.count;
		for (size_t i = 0; right && i < count; i++)
			right = reference[i] == frames[i].pc;
		compared++;
		gave_up += count != result.count;
	}
	if (!right && result.cause != UNWIND_ROOT && count == 0 &&
	    strncmp(remote_location(remote, frames[0].pc), "libgcc_s", strlen("libgcc_s")) == 0) {
		rewritten++;
		return;
	}
	if (!right) {
		print_walks(remote, &result, frames, reference, count);
		fail_msg("a walk from %s is wrong", remote_location(remote, registers.value[ARCH_PC_REGISTER]));
	}
}

/* Steps to the second mark and returns how many instructions that took. */
static unsigned step_through(struct remote *remote, pid_t tid)
{
	int signal = 0;
	for (unsigned steps = 0; steps < LONGEST_RUN; steps++) {
		int status;
		assert_int_equal(ptrace(PTRACE_SINGLESTEP, tid, NULL, signal), 0);
		assert_int_equal(waitpid(tid, &status, __WALL), tid);
		assert_true(WIFSTOPPED(status));
		signal = WSTOPSIG(status) == SIGTRAP ? 0 : WSTOPSIG(status);
		if (!signal && is_mark(tid))
			return steps;
		if (steps < DENSE_STEPS || steps % SPARSE == 0)
			check_stop(remote, tid, steps % COMPARE_EVERY == 0);
	}
	fail_msg("the second mark was not reached");
	return 0;
}

static void finish(pid_t pid, pid_t tid)
{
	int status;
	ptrace(PTRACE_CONT, tid, NULL, NULL);
	for (;;) {
		pid_t stopped = waitpid(-1, &status, __WALL);
		assert_true(stopped > 0);
		if (stopped == pid && WIFEXITED(status))
			break;
		assert_false(WIFSIGNALED(status));
		if (WIFSTOPPED(status))
			ptrace(PTRACE_CONT, stopped, NULL, NULL);
	}
	assert_int_equal(WEXITSTATUS(status), 0);
}

static void every_instruction(void **state)
{
	compared = gave_up = rewritten = 0;
	pid_t pid = start(*state);
	pid_t tid = run_to_mark(pid);
	struct remote *remote = remote_new(pid);
	unsigned steps = step_through(remote, tid);
	remote_free(remote);
	finish(pid, tid);
	print_message("%u instructions; %u walks compared, %u of them in part; %u impossible\n", steps, compared,
		      gave_up, rewritten);
	assert_true(rewritten <= MOST_REWRITTEN);
	assert_true(gave_up * 4 <= compared);
	assert_true(steps >= FEWEST_STEPS);
}

int main(int argc, char **argv)
{
	struct CMUnitTest tests[MOST_TESTS];
	size_t count = 0;
	for (int i = 1; i < argc && count < MOST_TESTS; i++)
		tests[count++] = (struct CMUnitTest){
			.name = argv[i],
			.test_func = every_instruction,
			.initial_state = argv[i],
		};
	if (count == 0 || count != (size_t)argc - 1) {
		fprintf(stderr, "usage: test_unwind_stepped PROGRAM...\n");
		return 2;
	}
	return _cmocka_run_group_tests("unwind_stepped", tests, count, NULL, NULL);
}
