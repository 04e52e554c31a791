#include "collect/sample/probes/probe_points.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/path.h"
#include "collect/sample/probes/file_search.h"
#include "collect/sample/probes/libraries.h"
#include "collect/sample/probes/usdt_notes.h"

/* --- where to look --- */

struct search {
	const struct resource_request *request;
	const char *command; /* NULL: none */
	pid_t pid;           /* 0: none */
	struct libraries libraries;
	struct probe_points *points;
	struct error *error;
};

/* Describes the searched files for messages: "ls and the 5 libraries that it needs". */
static void describe_files(const struct search *search, char *text, size_t bytes)
{
	const struct libraries *libraries = &search->libraries;
	const char *first = libraries->count ? path_basename(libraries->items[0].name) : "";
	const char *how = search->pid ? "has mapped" : "needs";
	if (search->request->target.module[0])
		snprintf(text, bytes, "%s", search->request->target.module);
	else if (libraries->count == 2)
		snprintf(text, bytes, "%s and the library that it %s", first, how);
	else if (libraries->count > 2)
		snprintf(text, bytes, "%s and the %zu libraries that it %s", first, libraries->count - 1, how);
	else
		snprintf(text, bytes, "%s", first);
}

static int find_libraries(struct search *search)
{
	if (search->pid)
		return libraries_of_process(&search->libraries, search->pid, search->error);
	if (search->command)
		return libraries_of_command(&search->libraries, search->command, search->error);
	return 0;
}

/* Returns the file that the user's `module` names, or NULL with the error in *result. A library that is
 * not needed at the start may still be loaded later. The caller frees it. */
static char *find_module(struct search *search, const char *module, int *result)
{
	struct near_names near;
	near_names_init(&near, module);
	for (size_t i = 0; i < search->libraries.count; i++) {
		const struct library *library = &search->libraries.items[i];
		if (library_is(library, module)) {
			char *path = strdup(library->path);
			*result = path ? 0 : error_memory(search->error);
			return path;
		}
		near_names_offer(&near, path_basename(library->name));
	}
	char *path = NULL;
	if (!strchr(module, '/'))
		path = libraries_search(module);
	else if (access(module, R_OK) == 0)
		path = strdup(module);
	if (!path)
		*result = error_set(search->error, ERROR_NOT_FOUND,
				    "%s: no module '%s'%s (give a path if the program loads it later)",
				    search->request->name, module, near_names_text(&near));
	return path;
}

/* --- functions --- */

/* Returns a point that has only the argument or return value that is the amount. */
static struct probe_point point_of(const struct resource_target *target)
{
	struct probe_point point = { .argument = target->argument > 0 ? (uint8_t)target->argument : 0 };
	if (target->argument == RESOURCE_RETURN) {
		point.at_return = true;
		point.argument = 1;
	}
	return point;
}

/* Returns the value of the amount, as file_search_functions counts them: its type says how many bytes of the register
 * count, and whether they can be negative. */
static int value_of(const struct resource_target *target)
{
	if (target->argument == RESOURCE_RETURN)
		return FILE_SEARCH_RETURN_VALUE;
	return target->argument > 0 ? target->argument : FILE_SEARCH_NO_VALUE;
}

static int add_functions(struct search *search, const char *path, const struct found_functions *found)
{
	struct probe_point point = point_of(&search->request->target);
	int result = 0;
	for (size_t i = 0; i < found->count && result == 0; i++) {
		point.offset = found->items[i].offset;
		point.type = found->items[i].type;
		result = points_add(search->points, path, &point);
	}
	return result < 0 ? error_memory(search->error) : 0;
}

static int refuse_indirect(struct search *search, const char *path)
{
	const char *name = search->request->target.name;
	return error_set(search->error, ERROR_UNSUPPORTED,
			 "%s: %s chooses one of several functions for %s when it is loaded (IFUNC), and has no symbols "
			 "for them (install its debug symbols, or count the chosen one by its own name)",
			 search->request->name, path_basename(path), name);
}

/* Finds the functions of that name in one file. Returns 1 if there are some, in *found, 0 if there are
 * none, or a negative error. */
static int search_file(struct search *search, const char *path, struct found_functions *found)
{
	struct error error;
	const struct resource_target *target = &search->request->target;
	int result = file_search_functions(path, target->name, value_of(target), found, &error);
	if (result < 0)
		return error_set(search->error, result, "%s: %s", search->request->name, error.message);
	if (found->is_indirect && found->count == 0) {
		result = refuse_indirect(search, path);
		found_functions_release(found);
		return result;
	}
	return found->count > 0;
}

/* Returns whether a search continues with the next file after an error: this one could not be read, but is not hostile. */
static bool may_skip(int result)
{
	return result != ERROR_MEMORY && result != ERROR_UNSUPPORTED && result != ERROR_LIMIT &&
	       result != ERROR_CORRUPT;
}

/* Reports that there is no such function, with similar names. */
static int no_function(struct search *search, const char *only)
{
	struct near_names near;
	char where[320];
	bool is_stripped = false;
	const char *name = search->request->target.name;
	near_names_init(&near, name);
	for (size_t i = 0; i < (only ? 1 : search->libraries.count); i++) {
		bool here = false;
		/* Names of a file that cannot be read are not offered. */
		file_search_near(only ? only : search->libraries.items[i].path, &near, &here, NULL);
		/* Only the program, or the file that the user named: libraries are usually stripped. */
		is_stripped = is_stripped || (i == 0 && here);
	}
	describe_files(search, where, sizeof(where));
	const char *nearest = near_names_text(&near);
	if (is_stripped)
		return error_set(search->error, ERROR_NOT_FOUND,
				 "%s: no function '%s' in %s%s (%s is stripped, so only exported functions have names: "
				 "install its separate debug symbols, or build it without stripping)",
				 search->request->name, name, where, nearest,
				 path_basename(only ? only : search->libraries.items[0].name));
	return error_set(search->error, ERROR_NOT_FOUND, "%s: no function '%s' in %s%s", search->request->name, name,
			 where,
			 nearest[0] ? nearest : " (a function that is inlined everywhere has no code of its own)");
}

static int find_in_module(struct search *search)
{
	int result = 0;
	char *path = find_module(search, search->request->target.module, &result);
	if (!path)
		return result;
	struct found_functions matches;
	result = search_file(search, path, &matches);
	if (result > 0)
		result = add_functions(search, path, &matches);
	else if (result == 0)
		result = no_function(search, path);
	found_functions_release(&matches);
	free(path);
	return result;
}

/* Reports that several files have functions of that name which only they can call. */
static int refuse_ambiguous(struct search *search, const char *const *paths, size_t count)
{
	char names[256] = "";
	size_t used = 0;
	for (size_t i = 0; i < count && used < sizeof(names); i++)
		used += (size_t)snprintf(names + used, sizeof(names) - used, "%s%s", i ? ", " : "",
					 path_basename(paths[i]));
	const char *name = search->request->target.name;
	return error_set(search->error, ERROR_AMBIGUOUS, "%s: several functions '%s', in %s (choose one: calls:%s@%s)",
			 search->request->name, name, names, name, path_basename(paths[0]));
}

/*
 * The program's own function, exported or static, comes first; then the first function that a library
 * exports, because the dynamic linker would choose it; then a static function, if only one library has
 * one.
 */
static int find_anywhere(struct search *search)
{
	const struct libraries *libraries = &search->libraries;
	struct found_functions matches = { 0 };
	const char **paths = calloc(libraries->count + 1, sizeof(*paths));
	size_t count = 0;
	int result = paths ? 0 : error_memory(search->error);
	for (size_t i = 0; i < libraries->count && result == 0; i++) {
		struct found_functions here;
		result = search_file(search, libraries->items[i].path, &here);
		/* The search continues after a library that cannot be read. */
		if (result < 0 && i > 0 && may_skip(result))
			result = 0;
		if (result <= 0) {
			found_functions_release(&here);
			continue;
		}
		bool is_it = i == 0 || here.is_exported;
		result = 0;
		if (count > 0 && !is_it) {
			found_functions_release(&here);
		} else {
			found_functions_release(&matches);
			matches = here;
			count = is_it ? 0 : count;
		}
		paths[count++] = libraries->items[i].path;
		if (is_it)
			break;
	}
	if (result == 0 && count > 1)
		result = refuse_ambiguous(search, paths, count);
	else if (result == 0 && count == 1)
		result = add_functions(search, paths[0], &matches);
	else if (result == 0)
		result = no_function(search, NULL);
	found_functions_release(&matches);
	free(paths);
	return result;
}

static int find_functions(struct search *search)
{
	if (search->request->target.module[0])
		return find_in_module(search);
	if (search->libraries.count == 0)
		return error_set(search->error, ERROR_USAGE, "%s: with -a, the function needs a file (as %s@libc.so.6)",
				 search->request->name, search->request->name);
	return find_anywhere(search);
}

/* --- the allocator --- */

static int add_allocator(struct search *search, const char *path, bool *found)
{
	struct error error;
	bool bytes = search->request->counter == COUNTER_ALLOC_BYTES;
	int result = file_search_allocator(path, bytes, search->points, found, &error);
	if (result == 0 || may_skip(result))
		return 0; /* not readable: the next file may define it */
	return error_set(search->error, result, "%s: %s", search->request->name, error.message);
}

static int find_allocator(struct search *search)
{
	int result = 0;
	bool found = false;
	for (size_t i = 0; i < search->libraries.count && result == 0 && !found; i++)
		result = add_allocator(search, search->libraries.items[i].path, &found);
	if (result == 0 && search->libraries.count == 0) {
		/* The whole machine: nearly every program uses this file. */
		char *path = libraries_search("libc.so.6");
		if (path)
			result = add_allocator(search, path, &found);
		free(path);
	}
	if (result < 0 || found)
		return result;
	char where[320];
	describe_files(search, where, sizeof(where));
	return error_set(search->error, ERROR_NOT_FOUND,
			 "%s: no malloc in %s (calls:FUNCTION counts an allocator of another name)",
			 search->request->name, where);
}

/* --- static probes --- */

static int check_argument(struct search *search, const struct usdt_search *notes)
{
	const struct resource_target *target = &search->request->target;
	if (target->argument <= 0 || (unsigned)target->argument <= notes->argument_count)
		return 0;
	return error_set(search->error, ERROR_USAGE, "%s: the probe has %u argument%s", search->request->name,
			 notes->argument_count, notes->argument_count == 1 ? "" : "s");
}

static int find_static_probes(struct search *search)
{
	const struct resource_target *target = &search->request->target;
	struct usdt_search notes = { .provider = target->group, .probe = target->name };
	char wanted[320], where[320];
	snprintf(wanted, sizeof(wanted), "%s:%s", target->group, target->name);
	near_names_init(&notes.near, wanted);
	if (search->libraries.count == 0)
		return error_set(search->error, ERROR_USAGE,
				 "%s cannot be combined with -a: static probes need a command, or a process (-p)",
				 search->request->name);
	for (size_t i = 0; i < search->libraries.count; i++) {
		const char *path = search->libraries.items[i].path;
		if (usdt_notes_count(path, &notes, NULL) <= 0)
			continue;
		struct probe_point point = point_of(target);
		int result = check_argument(search, &notes);
		if (result == 0 && points_add(search->points, path, &point) < 0)
			result = error_memory(search->error);
		if (result < 0)
			return result;
	}
	if (search->points->count > 0)
		return 0;
	describe_files(search, where, sizeof(where));
	return error_set(search->error, ERROR_NOT_FOUND, "%s: no %s in %s%s%s", search->request->name,
			 notes.others ? "such probe" : "static probe", where, near_names_text(&notes.near),
			 search->pid ? "" : " (-p finds those of libraries that the program loads later)");
}

static int find_points(struct search *search)
{
	switch (search->request->counter) {
	case COUNTER_CALLS:
	case COUNTER_UPROBE:
		return find_functions(search);
	case COUNTER_ALLOC_BYTES:
	case COUNTER_ALLOCS:
		return find_allocator(search);
	case COUNTER_USDT:
		return find_static_probes(search);
	default:
		return error_set(search->error, ERROR_UNSUPPORTED, "%s has no probe points in files",
				 search->request->name);
	}
}

/* Adds the points in a command, or in a process. */
static int find_in_target(const struct resource_request *request, const char *command, pid_t pid,
			  struct probe_points *points, struct error *error)
{
	struct search search = { .request = request, .command = command, .pid = pid, .points = points, .error = error };
	int result = find_libraries(&search);
	if (result == 0)
		result = find_points(&search);
	libraries_release(&search.libraries);
	return result;
}

int probe_points_find(const struct resource_request *request, const struct probe_scope *scope,
		      struct probe_points *points, struct error *error)
{
	bool found = false;
	int result = 0;
	*points = (struct probe_points){ 0 };
	for (size_t i = 0; i < scope->pid_count || i == 0; i++) {
		struct error why;
		pid_t pid = scope->pid_count ? scope->pids[i] : 0;
		result = find_in_target(request, scope->command, pid, points, &why);
		found |= result == 0;
		if (result < 0 && error)
			*error = why;
		/* It may be in another process, and a process may have ended. */
		if (result < 0 && result != ERROR_NOT_FOUND)
			break;
	}
	if (result == 0 || (found && result == ERROR_NOT_FOUND))
		return 0;
	probe_points_release(points);
	return result;
}
