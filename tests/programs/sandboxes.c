/*
 * Forbids itself system calls, works on, and writes. `sandboxes WAY`: strict mode, or a filter that ends the process,
 * sends SIGSYS, applies to one or to all threads, is added to another one, is refused by the kernel, or forbids only
 * what no profiler needs.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "burn.h"

#define LOAD_NUMBER BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr))
#define IF_IT_IS(call, result) BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (call), 0, 1), BPF_STMT(BPF_RET | BPF_K, (result))
#define PERMIT(call) IF_IT_IS(call, SECCOMP_RET_ALLOW)
#define OTHERWISE(result) BPF_STMT(BPF_RET | BPF_K, (result))
#define FILTER(name, ...) static struct sock_filter name[] = { LOAD_NUMBER, __VA_ARGS__ }

/* Many turns: a fast processor takes 0.4 ns for one, and some kernels look at a thread's timers each 10 ms only. */
enum { TURNS = 100000000, WRITES = 200, WRITTEN = 1000 };

FILTER(kill_others, PERMIT(SYS_write), PERMIT(SYS_exit_group), OTHERWISE(SECCOMP_RET_KILL_PROCESS));
FILTER(trap_others, PERMIT(SYS_write), PERMIT(SYS_exit_group), PERMIT(SYS_rt_sigreturn), OTHERWISE(SECCOMP_RET_TRAP));
FILTER(no_timers, IF_IT_IS(SYS_timer_settime, SECCOMP_RET_KILL_PROCESS), OTHERWISE(SECCOMP_RET_ALLOW));
FILTER(no_parent, IF_IT_IS(SYS_getppid, SECCOMP_RET_ERRNO | EPERM), OTHERWISE(SECCOMP_RET_ALLOW));
FILTER(threads_only, PERMIT(SYS_futex), PERMIT(SYS_write), PERMIT(SYS_exit), PERMIT(SYS_exit_group),
       PERMIT(SYS_madvise), PERMIT(SYS_munmap), PERMIT(SYS_rt_sigprocmask), PERMIT(SYS_rseq),
       PERMIT(SYS_set_robust_list), OTHERWISE(SECCOMP_RET_KILL_PROCESS));
static struct sock_filter invalid[] = { BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
					BPF_STMT(BPF_LD | BPF_W | BPF_LEN, 0), BPF_STMT(BPF_LD | BPF_W | BPF_ABS, 1) };

#define INSTALL(filter) install(filter, sizeof(filter) / sizeof((filter)[0]), 0)

static long install(struct sock_filter *instructions, size_t count, unsigned flags)
{
	struct sock_fprog program = { .len = (unsigned short)count, .filter = instructions };
	return flags ? syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, flags & SECCOMP_FILTER_FLAG_TSYNC, &program)
		     : prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program);
}

static volatile sig_atomic_t traps;
static int null_fd;

static void on_trap(int number)
{
	(void)number;
	traps++;
}

static void say(const char *text)
{
	if (write(STDOUT_FILENO, text, strlen(text)) < 0)
		burn_sink++;
}

NOINLINE static void work_before(void)
{
	burn_turns(TURNS);
	NOT_A_TAIL_CALL();
}

NOINLINE static void work_inside(void)
{
	static const char bytes[WRITTEN];
	for (int i = 0; i < WRITES; i++) {
		burn_turns(TURNS / 500);
		if (write(null_fd, bytes, sizeof(bytes)) != sizeof(bytes))
			say("short\n");
	}
	NOT_A_TAIL_CALL();
}

static pthread_barrier_t barrier; /* used where all threads are sandboxed */

static void *work_after_all(void *unused)
{
	(void)unused;
	pthread_barrier_wait(&barrier);
	work_inside();
	return NULL;
}

static void *work_alone(void *unused)
{
	(void)unused;
	work_inside();
	return NULL;
}

static void *sandbox_itself(void *unused)
{
	(void)unused;
	if (INSTALL(threads_only) != 0)
		return "refused\n";
	work_inside();
	return NULL;
}

static const char *with_threads(bool are_all_sandboxed)
{
	enum { THREADS = 3 };
	pthread_t threads[THREADS];
	void *problem = NULL;
	pthread_barrier_init(&barrier, NULL, THREADS + 1);
	for (int i = 0; i < THREADS; i++)
		pthread_create(&threads[i], NULL,
			       are_all_sandboxed ? work_after_all
			       : i == 0          ? sandbox_itself
						 : work_alone,
			       NULL);
	if (are_all_sandboxed) {
		burn_turns(TURNS / 10);
		if (install(threads_only, sizeof(threads_only) / sizeof(threads_only[0]), SECCOMP_FILTER_FLAG_TSYNC) !=
		    0)
			return "refused\n";
		pthread_barrier_wait(&barrier);
	}
	for (int i = 0; i < THREADS; i++) {
		void *result = NULL;
		pthread_join(threads[i], &result);
		problem = result ? result : problem;
	}
	return problem ? problem : "threads ended\n";
}

static const char *sandbox(const char *way)
{
	if (strcmp(way, "strict") == 0)
		return prctl(PR_SET_SECCOMP, SECCOMP_MODE_STRICT) == 0 ? "strict\n" : "refused\n";
	if (strcmp(way, "strict by seccomp") == 0)
		return syscall(SYS_seccomp, SECCOMP_SET_MODE_STRICT, 0, NULL) == 0 ? "strict\n" : "refused\n";
	if (strcmp(way, "kill") == 0)
		return INSTALL(kill_others) == 0 ? "kills\n" : "refused\n";
	if (strcmp(way, "trap") == 0)
		return INSTALL(trap_others) == 0 ? "traps\n" : "refused\n";
	if (strcmp(way, "stacked") == 0)
		return INSTALL(no_parent) == 0 && INSTALL(no_timers) == 0 && INSTALL(kill_others) == 0 ? "kills\n"
												       : "refused\n";
	if (strcmp(way, "no timers") == 0)
		return INSTALL(no_timers) == 0 ? "no timers\n" : "refused\n";
	if (strcmp(way, "no parent") == 0)
		return INSTALL(no_parent) == 0 ? "no parent\n" : "refused\n";
	if (strcmp(way, "invalid") == 0)
		return INSTALL(invalid) == 0 ? "accepted\n" : "invalid\n";
	return "unknown way\n";
}

int main(int argc, char **argv)
{
	const char *way = argc > 1 ? argv[1] : "";
	struct sigaction action = { .sa_handler = on_trap };
	sigaction(SIGSYS, &action, NULL);
	null_fd = open("/dev/null", O_WRONLY);
	work_before();
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0)
		return 2;
	if (strcmp(way, "one thread") == 0 || strcmp(way, "all threads") == 0) {
		say(with_threads(strcmp(way, "all threads") == 0));
		_exit(3);
	}
	say(sandbox(way));
	work_inside();
	if (strcmp(way, "trap") == 0) {
		int before = traps;
		syscall(SYS_getppid);
		say(before == 0 && traps == 1 ? "one SIGSYS\n" : "other SIGSYS\n");
	}
	say("done\n");
	syscall(strncmp(way, "strict", 6) == 0 ? SYS_exit : SYS_exit_group, 5);
	return 6;
}
