/*
 * `syscalls [ROUNDS]`: makes a known number of system calls below two callers, three times as many below one. Some
 * fail, some start processes, which make system calls too, and some return from signal handlers.
 */
#include <signal.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "burn.h"

enum { IN_CHILD = 5, CHILDREN = 4, SIGNALS = 7 };

static void on_signal(int number)
{
	(void)number;
}

NOINLINE static void call_once(void)
{
	syscall(SYS_getppid);
	NOT_A_TAIL_CALL();
}

NOINLINE static void fail_once(void)
{
	syscall(SYS_close, -1);
	NOT_A_TAIL_CALL();
}

NOINLINE static void heavy(int rounds)
{
	for (int i = 0; i < 3 * rounds; i++) {
		call_once();
		fail_once();
	}
	NOT_A_TAIL_CALL();
}

NOINLINE static void light(int rounds)
{
	for (int i = 0; i < rounds; i++) {
		call_once();
		fail_once();
	}
	NOT_A_TAIL_CALL();
}

NOINLINE static void in_child(void)
{
	for (int i = 0; i < IN_CHILD; i++)
		call_once();
	NOT_A_TAIL_CALL();
}

NOINLINE static void start_children(void)
{
	for (int i = 0; i < CHILDREN; i++) {
		pid_t child = fork();

		if (child < 0)
			exit(1);
		if (child == 0) {
			in_child();
			_exit(0);
		}
		if (waitpid(child, NULL, 0) != child)
			exit(1);
	}
}

NOINLINE static void signal_self(void)
{
	pid_t self = getpid();

	for (int i = 0; i < SIGNALS; i++)
		syscall(SYS_tgkill, self, self, SIGUSR1);
}

int main(int argc, char **argv)
{
	int rounds = rounds_wanted(argc, argv, 100);
	struct sigaction action = { .sa_handler = on_signal };

	sigaction(SIGUSR1, &action, NULL);
	heavy(rounds);
	light(rounds);
	start_children();
	signal_self();
	amount("syscalls", "main;heavy;call_once", 3ull * (unsigned)rounds);
	amount("syscalls", "main;heavy;fail_once", 3ull * (unsigned)rounds);
	amount("syscalls", "main;light", 2ull * (unsigned)rounds);
	amount("syscalls", "main;start_children;in_child", CHILDREN * IN_CHILD);
	amount("syscalls:getppid", "main;heavy", 3ull * (unsigned)rounds);
	amount("syscalls:getppid", "main;light", (unsigned)rounds);
	amount("syscalls:getppid", "main;start_children", CHILDREN * IN_CHILD);
	amount("syscalls:close", "main;heavy", 3ull * (unsigned)rounds);
	amount("syscalls:close", "main;light", (unsigned)rounds);
	amount("syscalls:clone", "main;start_children", CHILDREN);
	amount("syscalls:wait4", "main;start_children", CHILDREN);
	amount("syscalls:tgkill", "main;signal_self", SIGNALS);
	amount("syscalls:rt_sigreturn", "main;signal_self", SIGNALS);
	amount("tracepoint:raw_syscalls:sys_enter", "main;heavy", 6ull * (unsigned)rounds);
	amount("tracepoint:syscalls:sys_enter_getppid", "main;light", (unsigned)rounds);
	amount("tracepoint:sched:sched_process_fork", "main;start_children", CHILDREN);
	share("main;heavy", 0.75);
	share("main;light", 0.25);
	return 0;
}
