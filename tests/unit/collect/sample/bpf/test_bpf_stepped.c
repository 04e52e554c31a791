/*
 * The kernel's walk (collect/shared/row_walk.h) on real stacks. Small programs (stepped/) run one instruction at a
 * time. At many stops, the stack is walked in user space by the kernel's code and by unwind_walk; both results
 * must agree. Usage: test_bpf_stepped PROGRAM...
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/personality.h>
#include <sys/ptrace.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#include "support/bpf_replay.h"
#include "support/remote.h"

/* The walks are compared at every LOOK_EVERY-th stop; the number is coprime to the lengths of loops. */
enum { LOOK_EVERY = 13, LONGEST_RUN = 400000, MOST_TESTS = 256 };

struct stopped {
	pid_t pid;
	struct unwind_source source;
};

static int copy(void *context, void *to, size_t bytes, uint64_t address)
{
	const struct stopped *stopped = context;
	struct iovec here = { to, bytes }, there = { (void *)(uintptr_t)address, bytes };
	return process_vm_readv(stopped->pid, &here, 1, &there, 1, 0) == (ssize_t)bytes ? 0 : -1;
}

/* The range is one byte, so that the walk looks the code up again for each frame. */
static bool find_code(void *context, uint64_t pc, struct replay_code *code)
{
	const struct stopped *stopped = context;
	struct unwind_module module;
	if (stopped->source.module_at(stopped->source.context, pc, &module) != 0)
		return false;
	*code = (struct replay_code){ .start = pc, .end = pc + 1, .bias = module.bias, .table = module.table };
	return true;
}

static unsigned looks, whole; /* all walks, and the walks of the kernel's code that reached the root */

static void look(struct remote *remote, pid_t pid, pid_t tid)
{
	static struct unwind_frame frames[WALK_FRAMES];
	static struct replayed replayed;
	remote_forget(remote);
	struct stopped stopped = { .pid = pid, .source = remote_source(remote) };
	const struct replay replay = { .copy = copy, .find_code = find_code, .context = &stopped };
	const struct arch_registers registers = remote_registers(tid);
	const struct unwind_result result = unwind_walk(&stopped.source, &registers, frames, WALK_FRAMES);
	replay_walk(&replay, &registers, &replayed);
	const char *difference = replay_differs(&replayed, &result, frames);
	if (difference)
		fail_msg("from %s: %s: ends %d, unwind_walk's %d",
			 remote_location(remote, registers.value[ARCH_PC_REGISTER]), difference, (int)replayed.end,
			 (int)result.cause);
	looks++;
	whole += replayed.end == WALK_ROOT;
}

static bool is_mark(pid_t tid)
{
	siginfo_t info;
	return ptrace(PTRACE_GETSIGINFO, tid, NULL, &info) == 0 && info.si_signo == SIGTRAP &&
	       info.si_code == SI_KERNEL;
}

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

/* Runs to the first mark. Returns the thread that reached it. */
static pid_t run_to_mark(pid_t pid)
{
	pid_t tid = pid;
	int status = 0;
	do {
		ptrace(PTRACE_CONT, tid, NULL, NULL);
		tid = waitpid(-1, &status, __WALL);
		assert_true(tid > 0 && WIFSTOPPED(status));
	} while (WSTOPSIG(status) != SIGTRAP || status >> 16 != 0 || !is_mark(tid));
	return tid;
}

static void walks_as_unwind_walk(void **state)
{
	looks = whole = 0;
	pid_t pid = start(*state), tid = run_to_mark(pid);
	struct remote *remote = remote_new(pid);
	int signal = 0, status;
	unsigned steps = 0;
	for (; steps < LONGEST_RUN; steps++) {
		assert_int_equal(ptrace(PTRACE_SINGLESTEP, tid, NULL, signal), 0);
		assert_int_equal(waitpid(tid, &status, __WALL), tid);
		assert_true(WIFSTOPPED(status));
		signal = WSTOPSIG(status) == SIGTRAP ? 0 : WSTOPSIG(status);
		if (!signal && is_mark(tid))
			break;
		if (steps % LOOK_EVERY == 0)
			look(remote, pid, tid);
	}
	remote_free(remote);
	kill(pid, SIGKILL);
	while (waitpid(-1, &status, __WALL) > 0)
		;
	print_message("%u instructions; %u walks, %u of them whole\n", steps, looks, whole);
	assert_true(steps < LONGEST_RUN);
	/* Below the dynamic linker's resolver, whose CFA is in rbx, the kernel leaves the walk to the monitor. */
	assert_true(looks > 0 && whole * 10 >= looks);
}

int main(int argc, char **argv)
{
	struct CMUnitTest tests[MOST_TESTS];
	size_t count = 0;
	for (int i = 1; i < argc && count < MOST_TESTS; i++)
		tests[count++] = (struct CMUnitTest){
			.name = argv[i],
			.test_func = walks_as_unwind_walk,
			.initial_state = argv[i],
		};
	if (count == 0 || count != (size_t)argc - 1) {
		fprintf(stderr, "usage: test_bpf_stepped PROGRAM...\n");
		return 2;
	}
	return _cmocka_run_group_tests("bpf_stepped", tests, count, NULL, NULL);
}
