/* The files that a running process has mapped, in the order in which its
 * dynamic linker searches them: the program, preloaded libraries, level by
 * level their requirements; last the libraries loaded with dlopen. */
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "collect/sample/probes/elf_needs.h"
#include "collect/sample/probes/libraries.h"

struct process {
	pid_t pid;
	struct libraries mapped; /* in the order of their addresses */
	char **sonames;          /* name of each; owned; an item is NULL where it has none */
};

static bool is_same_file(const char *one, const char *other)
{
	struct stat a, b;
	return stat(one, &a) == 0 && stat(other, &b) == 0 && a.st_dev == b.st_dev && a.st_ino == b.st_ino;
}

/* Finds a path under which we can open the process's file `name`: the process may run in a container, or
 * the file may have been deleted and replaced by another one. Only root can follow the `link`s of
 * mappings. `bytes` is the size of `path`. Returns false if there is none. */
static bool find_visible(pid_t pid, const char *name, const char *link, char *path, size_t bytes)
{
	struct stat status;
	bool can_follow = stat(link, &status) == 0;
	snprintf(path, bytes, "/proc/%d/root%s", (int)pid, name);
	if (is_same_file(path, name))
		snprintf(path, bytes, "%s", name);
	if (can_follow ? !is_same_file(path, link) : access(path, R_OK) != 0)
		snprintf(path, bytes, "%s", link);
	return access(path, R_OK) == 0;
}

/* "7f00-7f20 r-xp 00001000 fd:01 1234      /lib/libc.so.6" */
static int add_mapping(struct process *process, char *line)
{
	uint64_t start, end;
	char permissions[8];
	int name_at = 0;
	line[strcspn(line, "\n")] = 0;
	if (sscanf(line, "%" SCNx64 "-%" SCNx64 " %7s %*s %*s %*s %n", &start, &end, permissions, &name_at) != 3 ||
	    name_at == 0 || permissions[2] != 'x' || line[name_at] != '/')
		return 0;
	char link[64], path[PATH_MAX + 64];
	snprintf(link, sizeof(link), "/proc/%d/map_files/%" PRIx64 "-%" PRIx64, (int)process->pid, start, end);
	const char *name = line + name_at;
	return find_visible(process->pid, name, link, path, sizeof(path)) ? libraries_add(&process->mapped, name, path)
									  : 0;
}

static int read_maps(struct process *process, struct error *error)
{
	char path[64];
	snprintf(path, sizeof(path), "/proc/%d/maps", (int)process->pid);
	FILE *maps = fopen(path, "re");
	if (!maps && errno == ENOENT)
		return error_set(error, ERROR_NOT_FOUND, "there is no process %d", (int)process->pid);
	if (!maps)
		return error_set_errno(error, "cannot read the mappings of process %d (root can, and its owner)",
				       (int)process->pid);
	char *line = NULL;
	size_t capacity = 0;
	int result = 0;
	while (result == 0 && getline(&line, &capacity, maps) > 0)
		result = add_mapping(process, line);
	free(line);
	bool failed = ferror(maps);
	fclose(maps);
	if (failed) /* ESRCH: it has ended since */
		return error_set(error, ERROR_NOT_FOUND, "process %d has ended", (int)process->pid);
	return result < 0 ? error_set(error, result, "out of memory") : 0;
}

static int read_sonames(struct process *process, struct error *error)
{
	process->sonames = calloc(process->mapped.count + 1, sizeof(*process->sonames));
	if (!process->sonames)
		return error_memory(error);
	for (size_t i = 0; i < process->mapped.count; i++) {
		struct elf_needs needs;
		if (elf_needs_read(&needs, process->mapped.items[i].path, NULL) < 0)
			continue; /* mapped, but no library */
		process->sonames[i] = needs.soname;
		needs.soname = NULL;
		elf_needs_release(&needs);
	}
	return 0;
}

static int add_by_name(struct libraries *libraries, const struct process *process, const char *name)
{
	for (size_t i = 0; i < process->mapped.count; i++) {
		const struct library *library = &process->mapped.items[i];
		const char *soname = process->sonames[i];
		if ((soname && strcmp(soname, name) == 0) || library_is(library, name))
			return libraries_add(libraries, library->name, library->path);
	}
	return 0;
}

/* The process's environment at its start. */
static int add_preloaded(struct libraries *libraries, const struct process *process)
{
	static const char variable[] = "LD_PRELOAD=";
	char path[64];
	snprintf(path, sizeof(path), "/proc/%d/environ", (int)process->pid);
	FILE *environment = fopen(path, "re");
	char *word = NULL;
	size_t capacity = 0;
	int result = 0;
	while (environment && result == 0 && getdelim(&word, &capacity, 0, environment) > 0) {
		if (strncmp(word, variable, strlen(variable)) != 0)
			continue;
		char *rest = NULL;
		for (char *name = strtok_r(word + strlen(variable), ": ", &rest); name && result == 0;
		     name = strtok_r(NULL, ": ", &rest))
			result = add_by_name(libraries, process, name);
	}
	free(word);
	if (environment)
		fclose(environment);
	return result;
}

static int add_program(struct libraries *libraries, const struct process *process, struct error *error)
{
	char link[64], name[PATH_MAX], path[PATH_MAX + 64];
	snprintf(link, sizeof(link), "/proc/%d/exe", (int)process->pid);
	ssize_t length = readlink(link, name, sizeof(name) - 1);
	if (length < 0 && errno == ENOENT)
		return error_set(error, ERROR_NOT_FOUND, "process %d runs no program: it is the kernel's, or has ended",
				 (int)process->pid);
	if (length < 0)
		return error_set_errno(error, "cannot find the program of process %d", (int)process->pid);
	name[length] = 0;
	if (!find_visible(process->pid, name, link, path, sizeof(path)))
		return error_set_errno(error, "cannot read '%s', the program of process %d", name, (int)process->pid);
	return libraries_add(libraries, name, path) < 0 ? error_memory(error) : 0;
}

static int add_ordered(struct libraries *libraries, const struct process *process)
{
	int result = add_preloaded(libraries, process);
	for (size_t i = 0; i < libraries->count && result == 0; i++) {
		struct elf_needs needs;
		if (elf_needs_read(&needs, libraries->items[i].path, NULL) < 0)
			continue;
		for (size_t j = 0; j < needs.needed_count && result == 0; j++)
			result = add_by_name(libraries, process, needs.needed[j]);
		elf_needs_release(&needs);
	}
	for (size_t i = 0; i < process->mapped.count && result == 0; i++)
		result = libraries_add(libraries, process->mapped.items[i].name, process->mapped.items[i].path);
	return result;
}

int libraries_of_process(struct libraries *libraries, pid_t pid, struct error *error)
{
	struct process process = { .pid = pid };
	int result = read_maps(&process, error);
	if (result == 0)
		result = add_program(libraries, &process, error);
	if (result == 0)
		result = read_sonames(&process, error);
	if (result == 0) {
		result = add_ordered(libraries, &process);
		if (result < 0)
			error_set(error, result, "out of memory");
	}
	for (size_t i = 0; process.sonames && i < process.mapped.count; i++)
		free(process.sonames[i]);
	free(process.sonames);
	libraries_release(&process.mapped);
	return result;
}
