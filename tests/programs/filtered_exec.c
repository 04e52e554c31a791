/*
 * A launcher of sandboxes: forbids itself the system calls of timers, then executes a program, this one, in the way of its first
 * argument. The kernel ends a program that makes such a call. Prints what LD_PRELOAD has there: only what was there before.
 */
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <spawn.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "burn.h"

#define IF_IT_IS(call, result) BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (call), 0, 1), BPF_STMT(BPF_RET | BPF_K, (result))

static char *const arguments[] = { "filtered_exec", "inside", NULL };
static char *environment[1024];
static unsigned refusal = SECCOMP_RET_KILL_PROCESS;

static void forbid_timers(void)
{
	struct sock_filter code[] = { BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
				      IF_IT_IS(SYS_timer_create, refusal), IF_IT_IS(SYS_timer_settime, refusal),
				      IF_IT_IS(SYS_timer_delete, refusal),
				      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW) };
	struct sock_fprog program = { .len = sizeof(code) / sizeof(code[0]), .filter = code };
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 || prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) != 0)
		_exit(2);
}

static int status_of(int pid)
{
	int status = 0;
	waitpid(pid, &status, 0);
	return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

static int execute(const char *way, const char *path)
{
	pid_t pid = -1;
	char command[4200];
	snprintf(command, sizeof(command), "%s inside", path);
	if (strcmp(way, "execv") == 0)
		execv(path, arguments);
	if (strcmp(way, "execve") == 0)
		execve(path, arguments, environment);
	if (strcmp(way, "execvpe") == 0)
		execvpe(path, arguments, environment);
	if (strcmp(way, "execl") == 0)
		execl(path, "filtered_exec", "inside", (char *)NULL);
	if (strcmp(way, "execle") == 0)
		execle(path, "filtered_exec", "inside", (char *)NULL, environment);
	if (strcmp(way, "fork") == 0 && (pid = fork()) == 0)
		_exit(execv(path, arguments));
	if (strcmp(way, "posix_spawn") == 0)
		posix_spawn(&pid, path, NULL, NULL, arguments, environment);
	if (strcmp(way, "system") == 0)
		return WEXITSTATUS(system(command));
	return pid > 0 ? status_of(pid) : 9;
}

struct launch {
	const char *way, *path;
	int status;
};

static void *in_thread(void *context)
{
	struct launch *launch = context;
	forbid_timers();
	launch->status = execute(launch->way, launch->path);
	return NULL;
}

int main(int argc, char **argv)
{
	char path[4096] = "";
	const char *preloaded = getenv("LD_PRELOAD");
	struct launch launch = { .way = argc > 1 ? argv[1] : "", .path = path };
	pthread_t thread;
	if (strcmp(launch.way, "inside") == 0) {
		burn(60 * 1000);
		printf("%s\n", preloaded && strstr(preloaded, "cpprof") ? "with the library"
			       : preloaded && *preloaded                ? preloaded
									: "alone");
		return 5;
	}
	if (readlink("/proc/self/exe", path, sizeof(path) - 1) < 0)
		return 3;
	for (int i = 0; environ[i] && i < 1023; i++)
		environment[i] = environ[i];
	if (argc > 2 && strcmp(argv[2], "errors") == 0)
		refusal = SECCOMP_RET_ERRNO | 1;
	if (argc > 2 && strcmp(argv[2], "thread") == 0) {
		pthread_create(&thread, NULL, in_thread, &launch);
		pthread_join(thread, NULL);
		return launch.status;
	}
	forbid_timers();
	return execute(launch.way, path);
}
