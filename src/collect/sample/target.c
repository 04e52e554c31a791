#include "collect/sample/target.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/path.h"
#include "collect/sample/target_signals.h"
#include "processor/names.h"
#include "profile/findings.h"

/* --- finding --- */

static int check_elf(const char *path, const unsigned char *start, size_t size, struct error *error)
{
	if (size < EI_NIDENT + 4U)
		return error_set(error, ERROR_NOT_EXECUTABLE, "cannot run '%s': it is too short for a program", path);
	unsigned machine = start[EI_NIDENT + 2] | (unsigned)start[EI_NIDENT + 3] << 8;
	if (start[EI_CLASS] != ELFCLASS64)
		return error_set(
			error, ERROR_UNSUPPORTED,
			"cannot record '%s': it is a 32-bit program, and cpprof records " ARCH_NAME " programs", path);
	if (machine != ARCH_ELF_MACHINE)
		return error_set(error, ERROR_NOT_EXECUTABLE,
				 "cannot record '%s': it is built for another architecture (ELF machine %u), and "
				 "cpprof records " ARCH_NAME " programs",
				 path, machine);
	return 0;
}

/* Checks the first bytes of a file that may be executed. */
static int check_content(const char *path, struct error *error)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0) /* exec works for an executable file that is not readable */
		return 0;
	unsigned char start[64];
	ssize_t size = read(fd, start, sizeof(start));
	close(fd);
	if (size >= SELFMAG && memcmp(start, ELFMAG, SELFMAG) == 0)
		return check_elf(path, start, (size_t)size, error);
	if (size >= 2 && start[0] == '#' && start[1] == '!')
		return 0;
	return error_set(error, ERROR_NOT_EXECUTABLE,
			 "cannot run '%s': it is neither a program nor a script with a '#!' line (for a shell script: "
			 "cpprof record sh %s)",
			 path, path);
}

static int check_file(const char *path, struct error *error)
{
	struct stat status;
	if (stat(path, &status) < 0) {
		bool is_missing = errno == ENOENT || errno == ENOTDIR;
		int result = error_set_errno(error, "cannot run '%s'", path);
		return is_missing ? error_set_code(error, ERROR_NO_COMMAND) : result;
	}
	if (S_ISDIR(status.st_mode))
		return error_set(error, ERROR_NOT_EXECUTABLE, "cannot run '%s': Is a directory", path);
	if (!S_ISREG(status.st_mode))
		return error_set(error, ERROR_NOT_EXECUTABLE, "cannot run '%s': Not a regular file", path);
	if (access(path, X_OK) < 0)
		return error_set(error, ERROR_NOT_EXECUTABLE,
				 "cannot run '%s': it is not executable (chmod +x '%s', if it is a program)", path,
				 path);
	return check_content(path, error);
}

char *target_find(const char *name, struct error *error)
{
	char *path = path_search(name);
	if (!path && !strchr(name, '/')) {
		struct stat status;
		bool here = stat(name, &status) == 0 && S_ISREG(status.st_mode) && access(name, X_OK) == 0;
		error_set(error, ERROR_NO_COMMAND, "cannot run '%s': command not found%s%s%s", name,
			  here ? " (did you mean ./" : "", here ? name : "", here ? "?)" : "");
		return NULL;
	}
	if (!path) {
		error_memory(error);
		return NULL;
	}
	if (check_file(path, error) < 0) {
		free(path);
		return NULL;
	}
	return path;
}

const char *target_hidden(const char *path)
{
	struct stat status;
	if (geteuid() == 0 || stat(path, &status) < 0)
		return NULL;
	if (status.st_mode & (S_ISUID | S_ISGID))
		return "it is set-user-ID or set-group-ID, and the kernel ends perf events where privilege is gained: "
		       "as root "
		       "it can be recorded";
	if (access(path, R_OK) < 0)
		return "its file is not readable, and the kernel ends perf events of such programs: as root it can be "
		       "recorded";
	return NULL;
}

/* --- starting --- */

/* In the child: waits for the byte that lets it go, then executes the command. */
static void become(const char *path, char *const *arguments, const struct target_start *how,
		   const struct sigaction *child_action, int go_fd, int fail_fd)
{
	char go;
	ssize_t got;
	do
		got = read(go_fd, &go, 1);
	while (got < 0 && errno == EINTR);
	if (got != 1) /* the monitor has given up */
		_exit(127);
	setrlimit(RLIMIT_NOFILE, how->files);
	sigaction(SIGCHLD, child_action, NULL);
	sigprocmask(SIG_SETMASK, how->signals, NULL);
	bool has_streams = true;
	for (int i = 0; how->streams && i <= STDERR_FILENO; i++)
		has_streams = dup2(how->streams[i], i) == i && has_streams;
	if (has_streams)
		execve(path, arguments, how->environment);
	int number = errno;
	if (write(fail_fd, &number, sizeof(number)) < 0)
		_exit(126);
	_exit(127);
}

/* Returns whether two entries have the same name. */
static bool is_same_name(const char *entry, const char *other)
{
	size_t length = strcspn(entry, "=");
	return strncmp(entry, other, length) == 0 && other[length] == '=';
}

static size_t count_entries(char *const *entries)
{
	size_t count = 0;
	while (entries && entries[count])
		count++;
	return count;
}

/* Returns whether one of the entries sets the variable of `other`. */
static bool sets(char *const *entries, const char *other)
{
	for (size_t i = 0; entries && entries[i]; i++)
		if (is_same_name(entries[i], other))
			return true;
	return false;
}

/* Returns our environment with both lists of entries added or replaced, or NULL if memory ran
 * out. The caller frees the array, but not the entries. */
static char **make_environment(char *const *entries, char *const *more)
{
	char *const *lists[] = { entries, more };
	size_t count = 0;
	char **made =
		malloc((count_entries(environ) + count_entries(entries) + count_entries(more) + 1) * sizeof(*made));
	if (!made)
		return NULL;
	for (size_t i = 0; environ[i]; i++)
		if (!sets(entries, environ[i]) && !sets(more, environ[i]))
			made[count++] = environ[i];
	for (size_t list = 0; list < sizeof(lists) / sizeof(lists[0]); list++)
		for (size_t i = 0; lists[list] && lists[list][i]; i++)
			made[count++] = lists[list][i];
	made[count] = NULL;
	return made;
}

static int fork_it(struct target *target, const char *path, char *const *arguments, const struct target_start *how,
		   struct error *error)
{
	*target = (struct target){ .pid = -1, .pidfd = -1, .go_fd = -1, .fail_fd = -1 };
	int go[2], fail[2];
	if (pipe2(go, O_CLOEXEC) < 0)
		return error_set_errno(error, "cannot make a pipe");
	if (pipe2(fail, O_CLOEXEC) < 0) {
		close(go[0]);
		close(go[1]);
		return error_set_errno(error, "cannot make a pipe");
	}
	/* If our parent made us ignore SIGCHLD, the status of the command would be lost. */
	struct sigaction child_action;
	const struct sigaction standard = { .sa_handler = SIG_DFL };
	sigaction(SIGCHLD, &standard, &child_action);
	target->pid = fork();
	if (target->pid == 0) {
		close(go[1]);
		close(fail[0]);
		become(path, arguments, how, &child_action, go[0], fail[1]);
	}
	int number = errno;
	close(go[0]);
	close(fail[1]);
	target->go_fd = go[1];
	target->fail_fd = fail[0];
	if (target->pid > 0)
		target->pidfd = target_end_open(target->pid);
	if (target->pid < 0 || target->pidfd < 0) {
		errno = target->pid < 0 ? number : errno;
		error_set_errno(error, "cannot start a process");
		target_release(target);
		return ERROR_SYSTEM;
	}
	return 0;
}

int target_fork(struct target *target, const char *path, char *const *arguments, const struct target_start *how,
		struct error *error)
{
	*target = (struct target){ .pid = -1, .pidfd = -1, .go_fd = -1, .fail_fd = -1 };
	char **all = make_environment(how->environment, how->user_environment);
	if (!all)
		return error_memory(error);
	struct target_start complete = *how;
	complete.environment = all;
	int result = fork_it(target, path, arguments, &complete, error);
	free(all);
	return result;
}

int target_exec(struct target *target, const char *path, struct error *error)
{
	if (write(target->go_fd, "g", 1) != 1)
		return error_set_errno(error, "cannot start '%s'", path);
	close(target->go_fd);
	target->go_fd = -1;
	int number = 0;
	ssize_t got;
	do /* ends when exec closes the other end */
		got = read(target->fail_fd, &number, sizeof(number));
	while (got < 0 && errno == EINTR);
	close(target->fail_fd);
	target->fail_fd = -1;
	if (got != sizeof(number))
		return 0;
	target_reap(target);
	if (number == ENOENT && access(path, F_OK) == 0)
		return error_set(error, ERROR_NOT_EXECUTABLE,
				 "cannot run '%s': the interpreter that it names does not exist", path);
	errno = number;
	error_set_errno(error, "cannot run '%s'", path);
	return error_set_code(error, number == ENOENT ? ERROR_NO_COMMAND : ERROR_NOT_EXECUTABLE);
}

static uint64_t ns_of(const struct timeval *time)
{
	return (uint64_t)time->tv_sec * 1000000000 + (uint64_t)time->tv_usec * 1000;
}

void target_reap(struct target *target)
{
	int status;
	pid_t got;
	struct rusage usage = { 0 };
	do
		got = wait4(target->pid, &status, 0, &usage);
	while (got < 0 && errno == EINTR);
	target->ended = true;
	target->user_ns = ns_of(&usage.ru_utime);
	target->system_ns = ns_of(&usage.ru_stime);
	int signal = got == target->pid && WIFSIGNALED(status) ? WTERMSIG(status) : 0;
	if (got == target->pid)
		target->status = signal ? 128 + signal : WEXITSTATUS(status);
	bool is_unreported = signal == SIGINT || signal == SIGPIPE;
	target->killed_by = is_unreported ? 0 : signal;
	if (is_unreported)
		target->interrupted_by = signal;
}

void target_interrupt(struct target *target, const struct signalfd_siginfo *signal)
{
	target->interrupted_by = (int)signal->ssi_signo;
	target_signals_pass(signal, target->pid);
}

void target_add_finding(const struct target *target, struct profile *profile)
{
	if (target->killed_by)
		finding_add(profile, FINDING_COMMAND_KILLED, 0, "signal %d (%s) ended the command", target->killed_by,
			    strsignal(target->killed_by));
	else if (target->interrupted_by)
		finding_add(profile, FINDING_PART_OF_RUN, 0, "signal %d (%s) interrupted the command",
			    target->interrupted_by, strsignal(target->interrupted_by));
}

void target_release(struct target *target)
{
	if (target->go_fd >= 0)
		close(target->go_fd); /* the child reads the end of file and exits */
	if (target->fail_fd >= 0)
		close(target->fail_fd);
	if (target->pid > 0 && !target->ended && target->go_fd >= 0)
		target_reap(target);
	if (target->pidfd >= 0)
		close(target->pidfd);
	*target = (struct target){ .pid = -1, .pidfd = -1, .go_fd = -1, .fail_fd = -1 };
}
