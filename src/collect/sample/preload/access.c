#include "collect/sample/preload/access.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "base/path.h"
#include "collect/sample/preload/requests.h"
#include "collect/sample/probes/elf_needs.h"
#include "collect/sample/probes/file_search.h"
#include "processor/names.h"

#define FROM_OUTSIDE                                                                                    \
	"the bpf backend can record it, as root or with CAP_BPF and CAP_PERFMON, or the perf backend, " \
	"with 'sudo sysctl kernel.perf_event_paranoid=1'"
#define FROM_INSIDE "no other backend measures the requested resources: "

/* A library to preload: the agent of this backend, the agent with the compiler's hooks, or the wrappers of
 * the C library's functions. */
struct library {
	const char *name;
	const char *who; /* the feature that needs the library */
	const char *static_remedy;
	const char *linked; /* a function that only the agent has; NULL: the agent cannot be linked in */
};
static const struct library backend_library = { .name = "libcpprof-preload.so",
						.who = "the preload backend",
						.static_remedy = "link the program dynamically" };
static const struct library hooks_library = { .name = "libcpprof-hooks.so",
					      .who = "--instrumented",
					      .static_remedy = "link the program with libcpprof.a, or dynamically",
					      .linked = "hooks_begin" };
static const struct library wrap_library = { .name = "libcpprof-wrap.so", .who = "--wrap" };
static const struct library jvm_library = { .name = "libcpprof-jvm.so", .who = "--jit" };

/* --- the library --- */

/* Returns whether `near` is a file that this user can read, and copies its real path to `path`. Copies `near` to
 * `refused` if only a permission is missing and `refused` is still empty. */
static bool is_readable(const char *near, char *path, size_t bytes, char *refused)
{
	char *real = realpath(near, NULL);
	bool readable = real && access(real, R_OK) == 0;
	if (!readable && errno == EACCES && !refused[0])
		snprintf(refused, PATH_MAX, "%s", near);
	bool found = readable && strlen(real) < bytes;
	if (found)
		snprintf(path, bytes, "%s", real);
	free(real);
	return found;
}

static int find_library(const struct library *library, const char *program, char *path, size_t bytes,
			struct error *error)
{
	static const char *const from_program[] = { ".", "../collect/agent", ("../" CPPROF_LIBDIR_NAME) };
	int folder = (int)(path_basename(program) - program);
	char near[PATH_MAX], refused[PATH_MAX] = "";
	bool found = false;
	for (size_t i = 0; i < sizeof(from_program) / sizeof(from_program[0]) && !found; i++) {
		snprintf(near, sizeof(near), "%.*s%s/%s", folder, program, from_program[i], library->name);
		found = is_readable(near, path, bytes, refused);
	}
	if (!found) {
		snprintf(near, sizeof(near), CPPROF_LIBDIR "/%s", library->name);
		found = is_readable(near, path, bytes, refused);
	}
	if (!found && refused[0])
		return error_set(
			error, ERROR_PERMISSION,
			"cannot open %s, which %s needs: Permission denied (let this user read it and enter its "
			"folders, or install cpprof: 'make install')",
			refused, library->who);
	if (!found)
		return error_set(error, ERROR_NOT_FOUND,
				 "%s needs the library %s, which is neither beside this program nor in " CPPROF_LIBDIR
				 " (install cpprof again: 'meson install')",
				 library->who, library->name);
	if (strpbrk(path, " :\t\n"))
		return error_set(error, ERROR_UNSUPPORTED,
				 "the dynamic linker cannot preload '%s': its path has a space or a colon (install "
				 "cpprof elsewhere)",
				 path);
	return 0;
}

int preload_access_library_of(const char *program, char *path, size_t bytes, struct error *error)
{
	return find_library(&backend_library, program, path, bytes, error);
}

static int find_own_library(const struct library *library, char *path, size_t bytes, struct error *error)
{
	char program[PATH_MAX];
	ssize_t length = readlink("/proc/self/exe", program, sizeof(program) - 1);
	if (length < 0)
		return error_set(error, ERROR_UNSUPPORTED,
				 "cannot read /proc/self/exe: %s needs /proc, to be found by the program and to read "
				 "its mappings ('mount -t proc proc /proc')",
				 library->who);
	program[length] = 0;
	return find_library(library, program, path, bytes, error);
}

int preload_access_library(char *path, size_t bytes, struct error *error)
{
	return find_own_library(&backend_library, path, bytes, error);
}

int preload_access_hooks_library(char *path, size_t bytes, struct error *error)
{
	return find_own_library(&hooks_library, path, bytes, error);
}

int preload_access_wrap_library(char *path, size_t bytes, struct error *error)
{
	return find_own_library(&wrap_library, path, bytes, error);
}

int preload_access_jvm_library(char *path, size_t bytes, struct error *error)
{
	return find_own_library(&jvm_library, path, bytes, error);
}

/* --- commands --- */

static bool may_gain(const char *path)
{
	struct statvfs mount;
	return prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0) != 1 &&
	       (statvfs(path, &mount) < 0 || !(mount.f_flag & ST_NOSUID));
}

/* A command that is checked. */
struct command {
	const char *path;
	const struct library *library;
	bool from_inside; /* only the agent can measure the request */
};

/* Refuses the command. The message has the reason, and another backend that can measure it from outside
 * or, where none can, the remedy. */
__attribute__((format(printf, 4, 5))) static int refuse(const struct command *command, const char *remedy,
							struct error *error, const char *format, ...)
{
	char reason[PATH_MAX + 512];
	va_list values;
	va_start(values, format);
	vsnprintf(reason, sizeof(reason), format, values);
	va_end(values);
	return error_set(error, ERROR_UNSUPPORTED, "%s (%s%s)", reason,
			 command->from_inside ? FROM_INSIDE : FROM_OUTSIDE, command->from_inside ? remedy : "");
}

/* The dynamic linker does not preload libraries into a program that has more rights than the user who runs
 * it. */
static int check_privilege(const struct command *command, struct error *error)
{
	const char *path = command->path;
	struct stat status;
	if (stat(path, &status) < 0 || !may_gain(path))
		return 0;
	if (status.st_mode & S_ISUID && status.st_uid != getuid())
		return refuse(command, "run, as that user, a copy without that bit", error,
			      "the dynamic linker preloads nothing into '%s', which is set-user-ID", path);
	if (status.st_mode & S_ISGID && status.st_mode & S_IXGRP && status.st_gid != getgid())
		return refuse(command, "run, as that group, a copy without that bit", error,
			      "the dynamic linker preloads nothing into '%s', which is set-group-ID", path);
	if (getuid() != 0 && getxattr(path, "security.capability", NULL, 0) > 0)
		return refuse(command, "run a copy without them", error,
			      "the dynamic linker preloads nothing into '%s', which has file capabilities", path);
	return 0;
}

/* Returns the sanitizer that the program is built with, or NULL. Its library must be the first one, and
 * signals are delayed until the program makes certain calls. */
static const char *sanitizer_of(const struct elf_needs *needs)
{
	static const struct {
		const char *library, *name;
	} sanitizers[] = { { "libasan.so", "AddressSanitizer" }, { "libtsan.so", "ThreadSanitizer" } };
	for (size_t i = 0; i < needs->needed_count; i++)
		for (size_t j = 0; j < sizeof(sanitizers) / sizeof(sanitizers[0]); j++)
			if (strncmp(needs->needed[i], sanitizers[j].library, strlen(sanitizers[j].library)) == 0)
				return sanitizers[j].name;
	return NULL;
}

/* Returns whether the command is linked with the agent in it. */
static bool has_it_linked(const struct command *command)
{
	struct found_functions functions = { 0 };
	bool found = command->library->linked &&
		     file_search_functions(command->path, command->library->linked, FILE_SEARCH_NO_VALUE, &functions,
					   NULL) == 0 &&
		     functions.count > 0;
	found_functions_release(&functions);
	return found;
}

static int check_needs(const struct command *command, const struct elf_needs *needs, struct error *error)
{
	const char *linker = needs->interpreter ? path_basename(needs->interpreter) : NULL;
	const char *sanitizer = sanitizer_of(needs);
	/* The dynamic linker itself is the one program without a dynamic linker into which libraries can
	 * be preloaded. */
	if (!linker && strcmp(path_basename(command->path), ARCH_LINKER) != 0 && !has_it_linked(command))
		return refuse(command, command->library->static_remedy, error,
			      "'%s' is statically linked: nothing can be preloaded into it", command->path);
	if (linker && strcmp(linker, ARCH_LINKER) != 0)
		return refuse(command, "build the program for glibc, 64-bit", error,
			      "'%s' is of another C library (its dynamic linker is %s): %s is for glibc's programs",
			      command->path, linker, command->library->who);
	if (linker && needs->needed_count == 0)
		return refuse(command, "link the program with the C library; Go: CGO_ENABLED=1, and import \"C\"",
			      error, "'%s' needs no C library: what is preloaded does not work in it", command->path);
	if (sanitizer)
		return refuse(command, "build the program without -fsanitize", error,
			      "'%s' is built with %s, which must be loaded first and delays signals, so that %s would "
			      "sample at wrong addresses",
			      command->path, sanitizer, command->library->who);
	return 0;
}

static int check_program(const struct command *command, struct error *error)
{
	struct elf_needs needs;
	int result = check_privilege(command, error);
	if (result < 0)
		return result;
	if (elf_needs_read(&needs, command->path, NULL) < 0)
		return refuse(command, "make it readable", error,
			      "cannot read '%s', so it is unknown whether %s can record it", command->path,
			      command->library->who);
	result = check_needs(command, &needs, error);
	elf_needs_release(&needs);
	return result;
}

/* Returns the path of the program that "env" in a script's first line starts (the first word that is
 * neither an option nor an assignment), or NULL. The caller frees it. */
static char *program_of_env(char *words)
{
	char *rest = NULL;
	for (char *word = strtok_r(words, " \t", &rest); word; word = strtok_r(NULL, " \t", &rest))
		if (word[0] != '-' && !strchr(word, '='))
			return path_search(word);
	return NULL;
}

/* Returns the interpreter of a script, or NULL if the file is no script or does not exist. The caller
 * frees it. */
static char *interpreter_of(const char *path)
{
	char line[256] = "";
	char *rest = NULL;
	int fd = path_open_regular(path);
	ssize_t bytes = fd >= 0 ? read(fd, line, sizeof(line) - 1) : -1;
	if (fd >= 0)
		close(fd);
	if (bytes < 2 || line[0] != '#' || line[1] != '!')
		return NULL;
	line[strcspn(line, "\n")] = 0;
	char *name = strtok_r(line + 2, " \t", &rest);
	if (!name)
		return NULL;
	char *started = strcmp(path_basename(name), "env") == 0 ? program_of_env(rest) : NULL;
	return started ? started : strdup(name);
}

/* Returns the program that finally runs when this file is executed, or NULL if that is the file itself.
 * The caller frees it. */
static char *program_of(const char *path)
{
	enum { SCRIPTS_MAX = 5 }; /* the kernel's limit of nested scripts */
	char *owned = NULL;
	for (int i = 0; i < SCRIPTS_MAX; i++) {
		char *interpreter = interpreter_of(owned ? owned : path);
		if (!interpreter)
			break;
		free(owned);
		owned = interpreter;
	}
	return owned;
}

static int check_command(const struct library *library, const char *path, bool from_inside, struct error *error)
{
	char *owned = program_of(path);
	/* exec reports an interpreter that does not exist. */
	const struct command command = { .path = owned ? owned : path, .library = library, .from_inside = from_inside };
	int result = owned && access(owned, F_OK) < 0 ? 0 : check_program(&command, error);
	free(owned);
	return result;
}

int preload_access_command(const char *path, bool from_inside, struct error *error)
{
	return check_command(&backend_library, path, from_inside, error);
}

int preload_access_hooks_command(const char *path, struct error *error)
{
	return check_command(&hooks_library, path, true, error);
}

bool preload_access_has_wrap(const char *path)
{
	struct elf_needs needs;
	char *owned = program_of(path);
	bool found = false;
	if (elf_needs_read(&needs, owned ? owned : path, NULL) == 0) {
		for (size_t i = 0; i < needs.needed_count && !found; i++)
			found = strncmp(needs.needed[i], wrap_library.name, strlen(wrap_library.name)) == 0;
		elf_needs_release(&needs);
	}
	free(owned);
	return found;
}

/* --- resources --- */

int preload_access_resource(const struct resource_request *request, struct error *error)
{
	const struct resource_row *row = request->row;
	if (preload_can_count(row->counter))
		return 0;
	if (row->counter == COUNTER_SYSCALLS)
		return error_set(error, ERROR_UNSUPPORTED,
				 "the preload backend observes calls of the C library, not %s (io-calls counts those "
				 "that read and write; the bpf backend, as root, counts all system calls)",
				 request->name);
	return error_set(error, ERROR_UNSUPPORTED,
			 "%s is not observable inside a program (use the bpf backend, as root%s)", request->name,
			 row->on_perf ? ", or the perf backend" : "");
}
