#include "cmd/pager_output.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cmd/command.h"

/* --- the pager's command --- */

/* Returns whether a program is in PATH. */
static bool is_installed(const char *name)
{
	const char *path = getenv("PATH");
	char file[4096];
	while (path && *path) {
		size_t length = strcspn(path, ":");
		int size = snprintf(file, sizeof(file), "%.*s/%s", (int)length, path, name);
		if (length > 0 && size > 0 && (size_t)size < sizeof(file) && access(file, X_OK) == 0)
			return true;
		path += length + (path[length] == ':');
	}
	return false;
}

/* Returns the shell command of the pager, or NULL for no pager. */
static const char *pager_command(void)
{
	const char *terminal = getenv("TERM"), *command = getenv("CPPROF_PAGER");
	if (!isatty(STDOUT_FILENO) || !terminal || !*terminal || strcmp(terminal, "dumb") == 0)
		return NULL;
	if (!command)
		command = getenv("PAGER");
	if (command)
		return *command && strcmp(command, "cat") != 0 ? command : NULL;
	return is_installed("less") ? "less -FRX" : NULL;
}

/* --- its process --- */

/* The pager reads ^C itself, and its end is the end of the command. */
static const int pager_signals[PAGER_SIGNALS] = { SIGPIPE, SIGINT, SIGQUIT };

static void leave_signals_to_pager(struct pager_output *page)
{
	for (size_t i = 0; i < PAGER_SIGNALS; i++)
		page->handlers[i] = signal(pager_signals[i], SIG_IGN);
}

static void take_signals_back(const struct pager_output *page)
{
	for (size_t i = 0; i < PAGER_SIGNALS; i++)
		if (page->handlers[i] != SIG_ERR)
			signal(pager_signals[i], page->handlers[i]);
}

/* Sets the signals that this process handles by default to that in the pager, in which they would be ignored. */
static int reset_signals(const struct pager_output *page, posix_spawnattr_t *attributes)
{
	sigset_t set;
	sigemptyset(&set);
	for (size_t i = 0; i < PAGER_SIGNALS; i++)
		if (page->handlers[i] == SIG_DFL)
			sigaddset(&set, pager_signals[i]);
	int result = posix_spawnattr_setsigdefault(attributes, &set);
	return result == 0 ? posix_spawnattr_setflags(attributes, POSIX_SPAWN_SETSIGDEF) : result;
}

/* Starts the pager with the reading end of a pipe as its input. Returns 0 or an error number. */
static int spawn(struct pager_output *page, int input)
{
	char *const words[] = { (char *)"sh", (char *)"-c", (char *)page->command, NULL };
	posix_spawn_file_actions_t actions;
	posix_spawnattr_t attributes;
	int result = posix_spawn_file_actions_init(&actions);
	if (result != 0)
		return result;
	result = posix_spawnattr_init(&attributes);
	if (result == 0) {
		result = reset_signals(page, &attributes);
		if (result == 0)
			result = posix_spawn_file_actions_adddup2(&actions, input, STDIN_FILENO);
		if (result == 0)
			result = posix_spawn(&page->pager, "/bin/sh", &actions, &attributes, words, environ);
		posix_spawnattr_destroy(&attributes);
	}
	posix_spawn_file_actions_destroy(&actions);
	return result;
}

/* Opens the reading end of the pipe in which the pager's text is. Returns a descriptor or -1. */
static int open_reader(int pipe)
{
	char path[64];
	snprintf(path, sizeof(path), "/proc/self/fd/%d", pipe);
	return open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
}

/* Returns whether the pager read nothing: all of its text is in the pipe. */
static bool is_unread(const struct pager_output *page, int reader)
{
	int unread = 0;
	return reader >= 0 && ioctl(reader, FIONREAD, &unread) == 0 && (uint64_t)unread == page->sent;
}

/* Shows the text without the pager: what is in the pipe, and what follows. */
static void show_without_pager(struct pager_output *page, int reader)
{
	char bytes[4096];
	ssize_t got;
	fprintf(stderr,
		"cpprof: warning: the pager '%s' failed with status %d; the text is shown without it (set "
		"CPPROF_PAGER, "
		"or use --no-pager)\n",
		page->command, page->exit_status);
	while ((got = read(reader, bytes, sizeof(bytes))) > 0)
		fwrite(bytes, 1, (size_t)got, stdout);
	page->is_direct = true;
}

/* Waits for the pager. Returns its exit status, or 0 if a signal ended it: the user has left it. */
static int wait_for_pager(const struct pager_output *page)
{
	enum { EXIT_BY_SIGNAL = 128 }; /* a shell adds the signal's number */
	int status = 0;
	pid_t ended;
	do
		ended = waitpid(page->pager, &status, 0);
	while (ended < 0 && errno == EINTR);
	if (ended < 0)
		return EXIT_NO_COMMAND;
	return WIFEXITED(status) && WEXITSTATUS(status) < EXIT_BY_SIGNAL ? WEXITSTATUS(status) : 0;
}

/* Ends the pager's text, and waits for the pager. The text of one that failed before it read anything, such as a command that the shell
 * cannot run, is shown without it. */
static void end_pager(struct pager_output *page)
{
	int reader = open_reader(page->pipe);
	close(page->pipe);
	page->pipe = -1;
	page->exit_status = wait_for_pager(page);
	if (page->exit_status != 0)
		take_signals_back(page);
	if (page->exit_status != 0 && is_unread(page, reader))
		show_without_pager(page, reader);
	if (reader >= 0)
		close(reader);
}

/* Writes to the pager; or to standard output, if it failed; or nowhere, if it was left before the end. */
static ssize_t write_to_pager(void *cookie, const char *bytes, size_t size)
{
	struct pager_output *page = cookie;
	size_t done = 0;
	while (page->pipe >= 0 && done < size) {
		ssize_t written = write(page->pipe, bytes + done, size - done);
		if (written < 0 && errno != EINTR)
			end_pager(page);
		if (written > 0) {
			done += (size_t)written;
			page->sent += (uint64_t)written;
		}
	}
	if (page->is_direct)
		fwrite(bytes + done, 1, size - done, stdout);
	return (ssize_t)size;
}

/* A PAGER without options shows colours, and ends at the end of a short text, by less's own variable. */
static int start_pager(struct pager_output *page, struct error *error)
{
	int ends[2];
	if (setenv("LESS", "FRX", 0) < 0 || pipe2(ends, O_CLOEXEC) < 0)
		return error_set_errno(error, "cannot start the pager '%s'", page->command);
	leave_signals_to_pager(page); /* before it runs: it may be interrupted at once */
	int failed = spawn(page, ends[0]);
	close(ends[0]);
	page->pipe = ends[1];
	if (failed == 0)
		page->to = fopencookie(page, "w", (cookie_io_functions_t){ .write = write_to_pager });
	if (failed == 0 && page->to)
		return 0;
	close(page->pipe);
	page->pipe = -1;
	take_signals_back(page);
	errno = failed != 0 ? failed : ENOMEM;
	if (failed != 0)
		page->pager = 0;
	return error_set_errno(error, "cannot start the pager '%s'", page->command);
}

/* --- the stream --- */

static ssize_t write_wrapped(void *cookie, const char *bytes, size_t size)
{
	struct pager_output *page = cookie;
	if (line_wrap_write(&page->wrap, bytes, size) < 0) {
		errno = ENOMEM;
		return 0;
	}
	return (ssize_t)size;
}

int pager_output_open(struct pager_output *page, const struct render_options *options, bool wants_pager,
		      struct error *error)
{
	*page = (struct pager_output){ .to = stdout, .pipe = -1 };
	bool is_text = options->format == RENDER_TEXT;
	page->command = is_text && wants_pager ? pager_command() : NULL;
	if (page->command) {
		fflush(stdout);
		int result = start_pager(page, error);
		if (result < 0)
			return result;
	}
	page->stream = page->to;
	line_wrap_init(&page->wrap, page->to, (size_t)options->columns);
	if (!is_text || options->columns == 0)
		return 0;
	page->stream = fopencookie(page, "w", (cookie_io_functions_t){ .write = write_wrapped });
	page->is_wrapped = page->stream != NULL;
	if (page->stream)
		return 0;
	page->stream = page->to;
	pager_output_close(page, NULL);
	return error_set(error, ERROR_MEMORY, "out of memory");
}

int pager_output_close(struct pager_output *page, struct error *error)
{
	int result = 0;
	if (page->is_wrapped) {
		if (fclose(page->stream) != 0)
			result = error_set(error, ERROR_MEMORY, "out of memory");
		line_wrap_end(&page->wrap);
	}
	line_wrap_release(&page->wrap);
	if (page->pager == 0)
		return result;
	fclose(page->to);
	if (page->pipe >= 0)
		end_pager(page);
	bool is_lost =
		!page->is_direct && (page->exit_status == EXIT_NO_COMMAND || page->exit_status == EXIT_NOT_EXECUTABLE);
	if (result < 0 || !is_lost) /* a pager that was left early is no error */
		return result;
	return error_set(error, ERROR_SYSTEM, "cannot run the pager '%s' (set CPPROF_PAGER, or use --no-pager)",
			 page->command);
}
