#include "collect/source/instrument/words.h"

#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/array.h"
#include "base/buffer.h"
#include "processor/names.h"

/* Returns the environment, with English messages, as an array that the caller frees. */
static char **english(void)
{
	size_t count = 0;
	while (environ[count])
		count++;
	char **copy = malloc((count + 2) * sizeof(*copy));
	if (!copy)
		return NULL;
	size_t kept = 0;
	for (size_t i = 0; i < count; i++)
		if (strncmp(environ[i], "LC_", 3) != 0 && strncmp(environ[i], "LANG", 4) != 0)
			copy[kept++] = environ[i];
	copy[kept++] = (char *)"LC_ALL=C";
	copy[kept] = NULL;
	return copy;
}

/* Runs a command. `output` gets both of its output streams, with a NUL at the end. */
static int run(char *const *arguments, struct buffer *output, struct error *error)
{
	int ends[2];
	if (pipe2(ends, O_CLOEXEC) < 0)
		return error_set_errno(error, "cannot make a pipe");
	char **environment = english();
	posix_spawn_file_actions_t actions;
	posix_spawn_file_actions_init(&actions);
	posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
	posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO);
	posix_spawn_file_actions_adddup2(&actions, ends[1], STDERR_FILENO);
	pid_t pid = 0;
	int failed = environment ? posix_spawnp(&pid, arguments[0], &actions, NULL, arguments, environment) : ENOMEM;
	posix_spawn_file_actions_destroy(&actions);
	free(environment);
	close(ends[1]);
	if (failed) {
		close(ends[0]);
		errno = failed;
		return error_set_errno(error, "cannot run %s", arguments[0]);
	}
	for (;;) {
		char bytes[16384];
		ssize_t got = read(ends[0], bytes, sizeof(bytes));
		if (got < 0 && errno == EINTR)
			continue;
		if (got <= 0)
			break;
		buffer_append(output, bytes, (size_t)got);
	}
	close(ends[0]);
	int status;
	while (waitpid(pid, &status, 0) < 0)
		if (errno != EINTR)
			break;
	buffer_append_byte(output, 0);
	return buffer_error(output) ? error_memory(error) : 0;
}

static long macro(const char *output, const char *name)
{
	const char *found = strstr(output, name);
	return found ? strtol(found + strlen(name), NULL, 10) : 0;
}

/* Reads the lines between "#include <...> search starts here:" and "End of search list." */
static int take_directories(struct compiler *compiler, const char *output)
{
	const char *line = strstr(output, "#include <...> search starts here:");
	if (!line)
		return -1;
	while ((line = strchr(line, '\n')) && *++line == ' ' && compiler->directory_count < COMPILER_DIRECTORIES) {
		char *directory = strndup(line + 1, strcspn(line + 1, "\n"));
		if (!directory)
			return -1;
		compiler->directories[compiler->directory_count++] = directory;
	}
	return 0;
}

static struct compiler *understand(char *key, const char *output)
{
	struct compiler *compiler = calloc(1, sizeof(*compiler));
	if (!compiler)
		return NULL;
	if (take_directories(compiler, output)) {
		free(compiler);
		return NULL;
	}
	compiler->key = key;
	compiler->c_standard = macro(output, "#define __STDC_VERSION__ ");
	compiler->cxx_standard = macro(output, "#define __cplusplus ");
	compiler->is_clang = strstr(output, "#define __clang__ ") != NULL;
	compiler->is_plain = !strstr(output, "#define __GNUC__ ");
	return compiler;
}

/* --- compilers that are not like gcc --- */

/* Reads the lines below "include:" in the output of tcc -print-search-dirs. */
static void take_listed(struct compiler *compiler, const char *output)
{
	const char *line = strstr(output, "\ninclude:\n");
	for (line = line ? strchr(line + 1, '\n') : NULL;
	     line && strncmp(line, "\n  ", 3) == 0 && compiler->directory_count < COMPILER_DIRECTORIES;
	     line = strchr(line + 3, '\n')) {
		char *directory = strndup(line + 3, strcspn(line + 3, "\n"));
		if (directory)
			compiler->directories[compiler->directory_count++] = directory;
	}
}

/* Queries the compiler for its header folders. Fills up with the system's usual folders if it lists fewer than
 * three. */
static void query_directories(struct compiler *compiler, const char *command)
{
	char *const arguments[] = { (char *)(uintptr_t)command, (char *)(uintptr_t) "-print-search-dirs", NULL };
	static const char *const usual[] = { "/usr/local/include", ("/usr/include/" ARCH_MULTIARCH), "/usr/include" };
	struct buffer output;
	buffer_init(&output);
	if (run(arguments, &output, NULL) == 0)
		take_listed(compiler, (const char *)output.bytes);
	buffer_release(&output);
	for (size_t i = 0; compiler->directory_count < sizeof(usual) / sizeof(usual[0]) && i < 3; i++) {
		char *directory = strdup(usual[i]);
		if (directory)
			compiler->directories[compiler->directory_count++] = directory;
	}
}

/* Finds how the compiler expands macros in a file, only with -E. Returns NULL if that fails, or if the compiler
 * supports GNU C. */
static struct compiler *query_by_expansion(char *key, const char *command)
{
	static const char question[] = "cpprof_answers __STDC_VERSION__ __TINYC__ __GNUC__\n";
	const char *folder = getenv("TMPDIR");
	char path[4096];
	snprintf(path, sizeof(path), "%s/cpprof-XXXXXX.c", folder && *folder ? folder : "/tmp");
	int fd = mkostemps(path, 2, O_CLOEXEC);
	if (fd < 0)
		return NULL;
	bool is_written = write(fd, question, sizeof(question) - 1) == (ssize_t)sizeof(question) - 1;
	close(fd);
	char *const arguments[] = { (char *)(uintptr_t)command, (char *)(uintptr_t) "-E", path, NULL };
	struct buffer output;
	buffer_init(&output);
	const char *answer = is_written && run(arguments, &output, NULL) == 0
				     ? strstr((const char *)output.bytes, "cpprof_answers ")
				     : NULL;
	unlink(path);
	struct compiler *compiler = answer && strstr(answer, "__GNUC__") ? calloc(1, sizeof(*compiler)) : NULL;
	if (compiler) {
		char *next;
		compiler->key = key;
		compiler->c_standard = strtol(answer + strlen("cpprof_answers "), &next, 10);
		compiler->tiny_c = strtol(next, NULL, 10);
		compiler->is_plain = true;
		query_directories(compiler, command);
	}
	buffer_release(&output);
	return compiler;
}

static char *make_key(const char *command, const char *const *words, size_t count, bool is_cxx)
{
	struct buffer key;
	buffer_init(&key);
	buffer_printf(&key, "%s%s", is_cxx ? "c++ " : "c ", command);
	for (size_t i = 0; i < count; i++)
		buffer_printf(&key, "\n%s", words[i]);
	buffer_append_byte(&key, 0);
	char *text = buffer_error(&key) ? NULL : strdup((const char *)key.bytes);
	buffer_release(&key);
	return text;
}

static struct compiler *query(char *key, const char *command, const char *const *words, size_t count, bool is_cxx,
			      struct error *error)
{
	const char *const more[] = { "-x", is_cxx ? "c++" : "c", "-E", "-v", "-dM", "/dev/null", NULL };
	char **arguments = calloc(1 + count + sizeof(more) / sizeof(more[0]), sizeof(*arguments));
	struct buffer output;
	buffer_init(&output);
	struct compiler *compiler = NULL;
	if (!arguments) {
		error_memory(error);
	} else {
		arguments[0] = (char *)(uintptr_t)command;
		if (count)
			memcpy(arguments + 1, words, count * sizeof(*words));
		memcpy(arguments + 1 + count, more, sizeof(more));
		if (run(arguments, &output, error) == 0) {
			compiler = understand(key, (const char *)output.bytes);
			if (!compiler && !is_cxx)
				compiler = query_by_expansion(key, command);
			if (!compiler)
				error_set(error, ERROR_FORMAT,
					  "cannot find the header folders of %s: it does not print them, as gcc and "
					  "clang do",
					  command);
		}
	}
	free(arguments);
	buffer_release(&output);
	return compiler;
}

const struct compiler *compiler_query(const char *command, const char *const *words, size_t count, bool is_cxx,
				      struct error *error)
{
	static struct compiler *known;
	char *key = make_key(command, words, count, is_cxx);
	if (!key) {
		error_memory(error);
		return NULL;
	}
	for (const struct compiler *compiler = known; compiler; compiler = compiler->next) {
		if (strcmp(compiler->key, key) == 0) {
			free(key);
			return compiler;
		}
	}
	struct compiler *compiler = query(key, command, words, count, is_cxx, error);
	if (!compiler) {
		free(key);
		return NULL;
	}
	compiler->next = known;
	known = compiler;
	return compiler;
}
