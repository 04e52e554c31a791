#include "collect/sample/probes/libraries.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/array.h"
#include "base/buffer.h"
#include "base/path.h"
#include "collect/sample/probes/elf_needs.h"
#include "profile/module_name.h"

/* --- the list --- */

/* "libz.so.1.2.13" also has the names "libz", "libz.so" and "libz.so.1". */
static bool name_is(const char *path, const char *module)
{
	const char *name = path_basename(path);
	size_t length = strlen(module);
	if (strncmp(name, module, length) != 0)
		return false;
	const char *rest = name + length;
	bool is_library = strstr(name, ".so") != NULL;
	return rest[0] == 0 ||
	       (is_library && rest[0] == '.' && (strncmp(rest, ".so", 3) == 0 || strstr(module, ".so") != NULL));
}

bool library_is(const struct library *library, const char *module)
{
	struct stat status;
	if (strchr(module, '/'))
		return strcmp(library->name, module) == 0 ||
		       (stat(module, &status) == 0 && library->device == status.st_dev &&
			library->inode == status.st_ino);
	if (name_is(library->name, module))
		return true;
	char *real = realpath(library->path, NULL);
	bool same = real && name_is(real, module);
	free(real);
	return same;
}

/* --- a command --- */

/* Returns the program that runs a script: the program behind "#!", or the program that env starts. NULL: it is no
 * script, or cannot be read. The caller frees it. */
static char *interpreter_of(const char *path)
{
	char line[PATH_MAX];
	int fd = path_open_regular(path);
	ssize_t got = fd < 0 ? -1 : read(fd, line, sizeof(line) - 1);
	if (fd >= 0)
		close(fd);
	if (got < 3 || line[0] != '#' || line[1] != '!')
		return NULL;
	line[got] = 0;
	line[strcspn(line, "\r\n")] = 0;
	char *rest = NULL;
	const char *program = strtok_r(line + 2, " \t", &rest);
	const char *argument = program ? strtok_r(NULL, " \t", &rest) : NULL;
	/* env -S python3 -u */
	if (argument && strcmp(argument, "-S") == 0)
		argument = strtok_r(NULL, " \t", &rest);
	bool is_env = program && strcmp(path_basename(program), "env") == 0;
	if (is_env && argument && argument[0] != '-' && !strchr(argument, '='))
		return path_search(argument);
	return program ? strdup(program) : NULL;
}

/* Returns the ELF file that a command runs, or NULL if memory ran out. The caller frees it. */
static char *program_of(const char *command)
{
	enum { SCRIPTS_MAX = 5 }; /* the kernel's limit of nested scripts */
	char *path = strdup(command);
	for (int i = 0; i < SCRIPTS_MAX && path; i++) {
		char *interpreter = interpreter_of(path);
		if (!interpreter)
			break;
		free(path);
		path = interpreter;
	}
	return path;
}

/* "	libz.so.1 => /lib/libz.so.1 (0x7f...)" or "	/lib64/ld-linux.so.2 (0x7f...)" */
static int add_listed(struct libraries *libraries, char *line)
{
	char *arrow = strstr(line, "=> ");
	char *path = arrow ? arrow + strlen("=> ") : line + strspn(line, "\t ");
	char *end = strstr(path, " (0x");
	if (end)
		*end = 0;
	/* No path: the vDSO, or "not found". */
	return path[0] == '/' && end ? libraries_add(libraries, path, path) : 0;
}

/* Gives the linker the signal mask that a program has which a shell starts: ours may block signals.
 * Returns 0, or an error of posix_spawn. */
static int set_signals(posix_spawnattr_t *attributes)
{
	sigset_t none;
	sigemptyset(&none);
	int result = posix_spawnattr_setsigmask(attributes, &none);
	return result ? result : posix_spawnattr_setflags(attributes, POSIX_SPAWN_SETSIGMASK);
}

/* Starts `LINKER --list PROGRAM`, which finds the program's libraries and runs none of its code. Returns
 * the descriptor of its output, or -1. */
static int start_linker(const char *linker, const char *program, pid_t *pid)
{
	int ends[2];
	if (pipe2(ends, O_CLOEXEC) < 0)
		return -1;
	posix_spawn_file_actions_t actions;
	posix_spawnattr_t attributes;
	posix_spawnattr_init(&attributes); /* glibc's and musl's do not fail */
	int result = set_signals(&attributes);
	if (result == 0)
		result = posix_spawn_file_actions_init(&actions);
	if (result == 0) {
		posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
		posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO);
		posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
		char *arguments[] = { (char *)linker, (char *)"--list", (char *)program, NULL };
		result = posix_spawn(pid, linker, &actions, &attributes, arguments, environ);
		posix_spawn_file_actions_destroy(&actions);
	}
	posix_spawnattr_destroy(&attributes);
	close(ends[1]);
	if (result == 0)
		return ends[0];
	close(ends[0]);
	return -1;
}

static int64_t now_ms(void)
{
	struct timespec now;
	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

/* Reads until the end, and appends a NUL. Returns ERROR_UNSUPPORTED if it takes too long, or is too much. */
static int read_listing(int fd, int64_t end_ms, struct buffer *text)
{
	enum { BYTES_MAX = 1 << 22 };
	char bytes[4096];
	while (text->size < BYTES_MAX) {
		int64_t left_ms = end_ms - now_ms();
		struct pollfd wait = { .fd = fd, .events = POLLIN };
		int ready = left_ms > 0 ? poll(&wait, 1, (int)left_ms) : 0;
		ssize_t got = ready > 0 ? read(fd, bytes, sizeof(bytes)) : ready;
		if (ready < 0 && errno == EINTR)
			continue;
		if (ready <= 0 || got < 0)
			return ERROR_UNSUPPORTED;
		if (got == 0) {
			buffer_append_byte(text, 0);
			return buffer_error(text);
		}
		buffer_append(text, bytes, (size_t)got);
	}
	return ERROR_UNSUPPORTED;
}

/* Returns the exit status of a process once it has ended. Kills it if it has not ended in time. */
static int reap(pid_t pid, int64_t end_ms)
{
	static const struct timespec moment = { .tv_nsec = 1000000 };
	int status = -1;
	pid_t ended;
	while ((ended = waitpid(pid, &status, WNOHANG)) == 0 && now_ms() < end_ms)
		nanosleep(&moment, NULL);
	if (ended == 0) {
		kill(pid, SIGKILL);
		while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
			;
	}
	return status;
}

/* Returns 0, ERROR_UNSUPPORTED if the dynamic linker does not answer, or not in time, or ERROR_MEMORY. */
static int query_linker(struct libraries *libraries, const char *linker, const char *program)
{
	enum { TIME_MAX_MS = 5000 };
	int64_t end_ms = now_ms() + TIME_MAX_MS;
	pid_t pid;
	int fd = start_linker(linker, program, &pid);
	if (fd < 0)
		return ERROR_UNSUPPORTED;
	struct buffer text;
	buffer_init(&text);
	int result = read_listing(fd, end_ms, &text);
	close(fd);
	if (reap(pid, result < 0 ? 0 : end_ms) != 0 && result == 0)
		result = ERROR_UNSUPPORTED;
	char *rest = result == 0 ? (char *)text.bytes : NULL;
	while (rest && result == 0) {
		char *line = strsep(&rest, "\n");
		result = add_listed(libraries, line);
	}
	buffer_release(&text);
	return result;
}

static bool is_set_id(const char *path)
{
	struct stat status;
	return stat(path, &status) < 0 || (status.st_mode & (S_ISUID | S_ISGID));
}

/* Returns whether `path` may be run as the dynamic linker. A file can name any program there: only one with
 * the name of a dynamic linker is run, and by root only one that only root can have written. */
static bool may_run_linker(const char *path)
{
	struct stat status;
	if (!module_name_is_dynamic_linker(path) || stat(path, &status) < 0 || !S_ISREG(status.st_mode))
		return false;
	return geteuid() != 0 || (status.st_uid == 0 && !(status.st_mode & (S_IWGRP | S_IWOTH)));
}

int libraries_of_command(struct libraries *libraries, const char *command, struct error *error)
{
	char *program = program_of(command);
	if (!program)
		return error_memory(error);
	struct elf_needs needs;
	int result = elf_needs_read(&needs, program, error);
	bool asks = result == 0 && needs.interpreter && may_run_linker(needs.interpreter) && !is_set_id(program);
	if (result == 0 && !asks) {
		result = libraries_by_needs(libraries, program, error);
	} else if (result == 0) {
		result = libraries_add(libraries, program, program);
		if (result == 0)
			result = query_linker(libraries, needs.interpreter, program);
		if (result == ERROR_UNSUPPORTED) {
			libraries_release(libraries);
			result = libraries_by_needs(libraries, program, error);
		} else if (result < 0) {
			error_set(error, result, "out of memory");
		}
	}
	elf_needs_release(&needs);
	free(program);
	return result;
}
