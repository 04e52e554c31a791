/*
 * Runs a command and lists each file that it or a child opens, one a line: "read PATH", "write PATH", "name PATH" (O_PATH: the file itself is
 * not opened). Opened again by /proc/self/fd/N, a file is listed by its path.
 *
 *     watch_opens LOG COMMAND [ARGUMENT]...
 *
 * A filter of seccomp stops the command at these calls alone, so it runs at its usual speed. The exit status is the command's, 128 and
 * the signal's number after a signal, or 77 if processes cannot be watched here.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/filter.h>
#include <linux/openat2.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

enum { CANNOT = 77 };

static FILE *list;

/* --- in the child --- */

static void stop_at_opens(void)
{
	static const int numbers[] = {
#ifdef SYS_open
		SYS_open, SYS_creat,
#endif
		SYS_openat, SYS_openat2
	};
	enum { COUNT = sizeof(numbers) / sizeof(numbers[0]) };
	struct sock_filter filter[COUNT + 3];
	size_t at = 0;
	filter[at++] = (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr));
	for (size_t i = 0; i < COUNT; i++)
		filter[at++] =
			(struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (unsigned)numbers[i], COUNT - i, 0);
	filter[at++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
	filter[at++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_TRACE);
	struct sock_fprog program = { .len = (unsigned short)at, .filter = filter };
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) || prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program))
		_exit(CANNOT);
}

static void become(char **command)
{
	if (ptrace(PTRACE_TRACEME, 0, NULL, NULL))
		_exit(CANNOT);
	raise(SIGSTOP); /* until the parent has set its options */
	stop_at_opens();
	execv(command[0], command);
	perror(command[0]);
	_exit(127);
}

/* --- the list --- */

/* Copies a text of the process. Returns whether it ends within the room. */
static int copy_text(pid_t pid, unsigned long address, char *text, size_t size)
{
	size_t done = 0;
	while (done < size) {
		size_t rest = 4096 - (address + done) % 4096;
		struct iovec to = { text + done, rest < size - done ? rest : size - done };
		struct iovec from = { (void *)(address + done), to.iov_len };
		ssize_t got = process_vm_readv(pid, &to, 1, &from, 1, 0);
		if (got <= 0)
			return 0;
		if (memchr(text + done, 0, (size_t)got))
			return 1;
		done += (size_t)got;
	}
	return 0;
}

static void read_link(char *path, size_t size, pid_t pid, const char *name)
{
	char link[PATH_MAX];
	snprintf(link, sizeof(link), "/proc/%d/%s", (int)pid, name);
	ssize_t length = readlink(link, path, size - 1);
	path[length > 0 ? length : 0] = 0;
}

static void print(pid_t pid, int folder, const char *given, unsigned long long flags)
{
	static const char again[] = "/proc/self/";
	char path[PATH_MAX] = "", name[64];
	if (strncmp(given, "/proc/self/fd/", 14) == 0)
		read_link(path, sizeof(path), pid, given + strlen(again));
	else if (given[0] != '/' && folder == AT_FDCWD)
		read_link(path, sizeof(path), pid, "cwd");
	else if (given[0] != '/') {
		snprintf(name, sizeof(name), "fd/%d", folder);
		read_link(path, sizeof(path), pid, name);
	}
	const char *kind = flags & O_PATH ? "name" : (flags & O_ACCMODE) == O_RDONLY ? "read" : "write";
	if (path[0] && strncmp(given, "/proc/self/fd/", 14) == 0)
		fprintf(list, "%s %s\n", kind, path);
	else
		fprintf(list, "%s %s%s%s\n", kind, path, path[0] && strcmp(path, "/") != 0 ? "/" : "", given);
}

static void add(pid_t pid)
{
	struct __ptrace_syscall_info call;
	char path[PATH_MAX];
	if (ptrace(PTRACE_GET_SYSCALL_INFO, pid, (void *)sizeof(call), &call) < 0 ||
	    call.op != PTRACE_SYSCALL_INFO_SECCOMP)
		exit(CANNOT);
	const unsigned long long *words = (const unsigned long long *)call.seccomp.args;
	unsigned long long flags = words[2];
	int folder = (int)words[0];
	unsigned long name = (unsigned long)words[1];
#ifdef SYS_open
	if (call.seccomp.nr == SYS_open || call.seccomp.nr == SYS_creat) {
		flags = call.seccomp.nr == SYS_open ? words[1] : O_WRONLY;
		folder = AT_FDCWD;
		name = (unsigned long)words[0];
	}
#endif
	struct open_how how;
	struct iovec to = { &how, sizeof(how) }, from = { (void *)(unsigned long)words[2], sizeof(how) };
	if (call.seccomp.nr == SYS_openat2)
		flags = process_vm_readv(pid, &to, 1, &from, 1, 0) == sizeof(how) ? how.flags : 0;
	if (copy_text(pid, name, path, sizeof(path)))
		print(pid, folder, path, flags);
}

/* --- the parent --- */

static int status_of(int status)
{
	return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

/* Returns the exit status of `child` when no process is left. */
static int watch(pid_t child)
{
	int status, result = CANNOT;
	for (pid_t pid; (pid = waitpid(-1, &status, __WALL)) > 0 || errno == EINTR;) {
		if (pid < 0)
			continue;
		if (!WIFSTOPPED(status)) {
			result = pid == child ? status_of(status) : result;
			continue;
		}
		int event = status >> 16, number = WSTOPSIG(status);
		if (event == PTRACE_EVENT_SECCOMP)
			add(pid);
		/* A new process begins with a stop. Other signals are passed on. */
		ptrace(PTRACE_CONT, pid, NULL,
		       (void *)(long)(event || number == SIGSTOP || number == SIGTRAP ? 0 : number));
	}
	return result;
}

int main(int argc, char **argv)
{
	const long options = PTRACE_O_EXITKILL | PTRACE_O_TRACESECCOMP | PTRACE_O_TRACEFORK | PTRACE_O_TRACEVFORK |
			     PTRACE_O_TRACECLONE | PTRACE_O_TRACEEXEC;
	int status;
	list = argc > 2 ? fopen(argv[1], "we") : NULL;
	if (!list)
		return CANNOT;
	pid_t child = fork();
	if (child == 0)
		become(argv + 2);
	if (child < 0 || waitpid(child, &status, __WALL) != child || !WIFSTOPPED(status))
		return CANNOT;
	if (ptrace(PTRACE_SETOPTIONS, child, NULL, (void *)options) < 0 || ptrace(PTRACE_CONT, child, NULL, NULL) < 0)
		return CANNOT;
	int result = watch(child);
	return fclose(list) == 0 ? result : CANNOT;
}
