#include "collect/source/compile/scratch.h"

#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <limits.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

/* The state of the signal handler. */
static char folder[512], adopted[PATH_MAX];
static volatile pid_t child;

static const int signals[] = { SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGPIPE, SIGXCPU };
enum { SIGNAL_COUNT = sizeof(signals) / sizeof(signals[0]) };
static sigset_t before;

/* Handles a signal that ends the process. Calls only async-signal-safe functions: therefore another program
 * removes the folder. */
static void end_by(int number)
{
	if (child > 0) {
		kill(child, number);
		while (waitpid(child, NULL, 0) < 0 && errno == EINTR)
			;
	}
	for (int i = 0; i < 2; i++) {
		char *path = i == 0 ? folder : adopted;
		pid_t remover = path[0] ? fork() : -1;
		if (remover == 0) {
			char *const words[] = { (char *)"rm", (char *)"-rf", (char *)"--", path, NULL };
			execve("/bin/rm", words, environ);
			_exit(127);
		}
		while (remover > 0 && waitpid(remover, NULL, 0) < 0 && errno == EINTR)
			;
	}
	sigset_t set;
	sigemptyset(&set);
	sigaddset(&set, number);
	signal(number, SIG_DFL);
	sigprocmask(SIG_UNBLOCK, &set, NULL);
	raise(number);
}

static void take_signals(void)
{
	struct sigaction action = { .sa_handler = end_by };
	sigemptyset(&action.sa_mask);
	for (int i = 0; i < SIGNAL_COUNT; i++)
		sigaddset(&action.sa_mask, signals[i]);
	for (int i = 0; i < SIGNAL_COUNT; i++) {
		struct sigaction old;
		/* An ignored signal (nohup) stays ignored. */
		if (sigaction(signals[i], NULL, &old) == 0 && old.sa_handler != SIG_IGN)
			sigaction(signals[i], &action, NULL);
	}
}

int scratch_init(struct scratch *scratch, struct error *error)
{
	const char *base = getenv("TMPDIR");
	if (!base || base[0] != '/' || strlen(base) > sizeof(scratch->path) - 64)
		base = "/tmp";
	snprintf(scratch->path, sizeof(scratch->path), "%s/cpprof-cc-XXXXXX", base);
	process_block_signals();
	if (!mkdtemp(scratch->path)) {
		process_unblock_signals();
		error_set_errno(error, "cannot make a folder in '%s'", base);
		scratch->path[0] = 0;
		return error ? error->code : ERROR_SYSTEM;
	}
	memcpy(folder, scratch->path, sizeof(folder));
	take_signals();
	process_unblock_signals();
	return 0;
}

static int remove_one(const char *path, const struct stat *status, int kind, struct FTW *walk)
{
	(void)status;
	(void)kind;
	(void)walk;
	remove(path);
	return 0;
}

void scratch_remove(const char *path)
{
	nftw(path, remove_one, 32, FTW_DEPTH | FTW_PHYS);
}

void scratch_release(struct scratch *scratch)
{
	if (!scratch->path[0])
		return;
	scratch_remove(scratch->path);
	folder[0] = 0;
	scratch->path[0] = 0;
}

void scratch_disown(void)
{
	folder[0] = 0;
}

void scratch_adopt(const char *path)
{
	adopted[0] = 0;
	if (!path)
		return;
	snprintf(adopted, sizeof(adopted), "%s", path);
	take_signals();
}

/* --- processes --- */

void process_block_signals(void)
{
	sigset_t set;
	sigemptyset(&set);
	for (int i = 0; i < SIGNAL_COUNT; i++)
		sigaddset(&set, signals[i]);
	sigprocmask(SIG_BLOCK, &set, &before);
}

void process_unblock_signals(void)
{
	sigprocmask(SIG_SETMASK, &before, NULL);
}

void process_set_child(pid_t new_child)
{
	child = new_child;
}

int process_wait(pid_t pid)
{
	int status;
	while (waitpid(pid, &status, 0) < 0)
		if (errno != EINTR)
			return -1;
	child = 0;
	return status;
}

int process_run(char *const *words, const struct process_streams *streams)
{
	posix_spawn_file_actions_t actions;
	posix_spawnattr_t attributes;
	int number = posix_spawn_file_actions_init(&actions);
	if (number == 0 && (number = posix_spawnattr_init(&attributes)) != 0)
		posix_spawn_file_actions_destroy(&actions);
	if (number != 0) {
		errno = number;
		return -1;
	}
	process_block_signals();
	if (streams->input)
		number = posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, streams->input, O_RDONLY, 0);
	if (number == 0 && streams->errors)
		number = posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, streams->errors,
							  O_WRONLY | O_CREAT | O_TRUNC, 0600);
	/* A started process has none of our handlers; signals that were blocked
	 * before are blocked in it. */
	if (number == 0)
		number = posix_spawnattr_setsigmask(&attributes, &before);
	if (number == 0)
		number = posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK);
	pid_t pid = 0;
	if (number == 0)
		number = posix_spawnp(&pid, words[0], &actions, &attributes, words, environ);
	child = number == 0 ? pid : 0;
	process_unblock_signals();
	posix_spawn_file_actions_destroy(&actions);
	posix_spawnattr_destroy(&attributes);
	if (number == 0)
		return process_wait(pid);
	errno = number;
	return -1;
}

int process_exit_status(int status)
{
	if (WIFEXITED(status))
		return WEXITSTATUS(status);
	int number = WTERMSIG(status);
	signal(number, SIG_DFL);
	raise(number);
	return 128 + number;
}
