#include "collect/sample/attach.h"

#include <dirent.h>
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "collect/sample/state/proc.h"

enum { ROUNDS_MAX = 100, EVERYTHING = -1 };

static void report_name(pid_t pid, pid_t tid, const struct backend_sink *sink)
{
	char path[64];
	char name[64] = "";
	snprintf(path, sizeof(path), "/proc/%d/task/%d/comm", (int)pid, (int)tid);
	FILE *file = fopen(path, "re");
	if (file && fgets(name, sizeof(name), file))
		name[strcspn(name, "\n")] = 0;
	if (file)
		fclose(file);
	sink->name(sink->context, (uint32_t)pid, (uint32_t)tid, name, false, 0);
}

/* Returns whether a line of /proc/PID/maps is reported. Memory without a name gets the name that backends
 * report for it, "//anon". */
static bool is_reported(const char *protection, bool data_maps, const char **name)
{
	if (!**name)
		*name = "//anon";
	if (strcmp(*name, "[vsyscall]") == 0)
		return false;
	return protection[2] == 'x' || data_maps;
}

static struct backend_map map_of(pid_t pid, const struct proc_map *map)
{
	return (struct backend_map){ .is_data = map->protection[2] != 'x',
				     .pid = (uint32_t)pid,
				     .start = map->start,
				     .size = map->end - map->start,
				     .file_offset = map->file_offset,
				     .device = map->device,
				     .inode = map->inode,
				     .path = map->path };
}

/* Reports the maps of a process, read through its thread `tid`. Returns how many it reported. */
static unsigned report_maps(pid_t pid, pid_t tid, bool data_maps, const struct backend_sink *sink)
{
	unsigned count = 0;
	struct proc_maps maps;
	struct proc_map map;
	proc_maps_open(&maps, pid, tid);
	while (proc_maps_next(&maps, &map)) {
		const char *name = map.path;
		if (!is_reported(map.protection, data_maps, &name))
			continue;
		struct backend_map reported = map_of(pid, &map), before = map_of(pid, &maps.file_before);
		reported.path = name;
		if (map.inode == 0 && maps.file_before.end > 0)
			reported.before = &before;
		sink->map(sink->context, &reported);
		count++;
	}
	proc_maps_close(&maps);
	sink->settled(sink->context);
	return count;
}

/* --- one process --- */

/* Watches the threads that are not watched yet. Returns their number, or a negative error. */
static int attach_threads(const struct backend_vtable *vtable, struct backend *backend, pid_t pid, bool data_maps,
			  const struct backend_sink *sink, bool *maps_reported, struct error *error)
{
	char path[64];
	snprintf(path, sizeof(path), "/proc/%d/task", (int)pid);
	DIR *directory = opendir(path);
	if (!directory)
		return errno == ENOENT ? error_set(error, ERROR_NOT_FOUND, "there is no process %d", (int)pid)
				       : error_set_errno(error, "cannot inspect process %d", (int)pid);
	int added = 0;
	const struct dirent *entry;
	while (added >= 0 && (entry = readdir(directory)) != NULL) {
		pid_t tid = (pid_t)strtol(entry->d_name, NULL, 10);
		if (tid <= 0)
			continue;
		/* A thread that was started since the last drain can be watched twice: by inheritance and
		 * by this attach. Draining before each attach makes this rare; the backend removes the
		 * duplicates. */
		vtable->drain(backend, UINT64_MAX, sink);
		int result = vtable->attach(backend, pid, tid, false, error);
		if (result > 0) {
			report_name(pid, tid, sink);
			*maps_reported = *maps_reported || report_maps(pid, tid, data_maps, sink) > 0;
		}
		added = result < 0 ? result : added + result;
	}
	closedir(directory);
	return added;
}

int attach_process(const struct backend_vtable *vtable, struct backend *backend, pid_t pid, bool data_maps,
		   const struct backend_sink *sink, struct error *error)
{
	/* Threads may start meanwhile: repeat until a round finds no new one. A thread that a watched
	 * thread started is watched by inheritance, and the backend recognizes it by its fork event. */
	int total = 0;
	int added;
	int rounds = 0;
	bool maps_reported = false;
	do {
		vtable->drain(backend, UINT64_MAX, sink);
		added = attach_threads(vtable, backend, pid, data_maps, sink, &maps_reported, error);
		if (added < 0 && error->code == ERROR_PERMISSION)
			return error_set(error, ERROR_PERMISSION,
					 "cannot record process %d: it belongs to another user, or may not be traced "
					 "(run cpprof as root)",
					 (int)pid);
		if (added < 0)
			return added;
		total += added;
	} while (added > 0 && ++rounds < ROUNDS_MAX);
	if (total == 0)
		return error_set(error, ERROR_NOT_FOUND, "process %d ended before it could be recorded", (int)pid);
	return 0;
}

/* --- several processes --- */

/* Returns 1 if the process is watched, 0 if it need not be, or a negative error. A process that the user did not give
 * by its number may have ended since, a child may inherit from its creator, and both may belong to another user. */
static int attach_listed(const struct backend_vtable *vtable, struct backend *backend,
			 const struct listed_process *listed, bool data_maps, const struct backend_sink *sink,
			 size_t *refused, struct error *error)
{
	int result = attach_process(vtable, backend, listed->pid, data_maps, sink, error);
	if (result == 0)
		return 1;
	*refused += result == ERROR_PERMISSION;
	bool is_required = listed->origin == PROCESS_BY_ID;
	return !is_required && (result == ERROR_NOT_FOUND || result == ERROR_PERMISSION) ? 0 : result;
}

int attach_processes(const struct backend_vtable *vtable, struct backend *backend, struct process_list *list,
		     bool children, bool data_maps, const struct backend_sink *sink, size_t *refused,
		     struct error *error)
{
	size_t next = 0, watched = 0;
	int added;
	int rounds = 0;
	*refused = 0;
	/* Children are listed when their creators are watched: those that start later inherit that. */
	do {
		for (; next < list->count; next++) {
			int result =
				attach_listed(vtable, backend, &list->items[next], data_maps, sink, refused, error);
			if (result < 0)
				return result;
			watched += (size_t)result;
		}
		added = children ? process_list_add_children(list, error) : 0;
		if (added < 0)
			return added;
	} while (added > 0 && ++rounds < ROUNDS_MAX);
	return watched > 0 ? 0 : error->code;
}

/* --- the whole machine --- */

/* Reports the names of all threads of a process, and its maps. If the process ends meanwhile, the report
 * is incomplete, and the backend reports the exit. */
static void report_process(pid_t pid, bool data_maps, const struct backend_sink *sink)
{
	char path[64];
	snprintf(path, sizeof(path), "/proc/%d/task", (int)pid);
	DIR *directory = opendir(path);
	if (!directory)
		return;
	bool maps_reported = false;
	const struct dirent *entry;
	while ((entry = readdir(directory)) != NULL) {
		pid_t tid = (pid_t)strtol(entry->d_name, NULL, 10);
		if (tid <= 0)
			continue;
		report_name(pid, tid, sink);
		maps_reported = maps_reported || report_maps(pid, tid, data_maps, sink) > 0;
	}
	closedir(directory);
}

int attach_everything(const struct backend_vtable *vtable, struct backend *backend, bool data_maps,
		      const struct backend_sink *sink, struct error *error)
{
	int result = vtable->attach(backend, EVERYTHING, EVERYTHING, false, error);
	if (result < 0 && error->code == ERROR_PERMISSION)
		return error_set(error, ERROR_PERMISSION,
				 "cannot record every process of the machine: not permitted (run as root, or with "
				 "CAP_PERFMON and CAP_SYS_PTRACE; -p PID records your own processes)");
	if (result < 0)
		return result;
	DIR *directory = opendir("/proc");
	if (!directory)
		return error_set_errno(error, "cannot list the processes in /proc");
	const struct dirent *entry;
	while ((entry = readdir(directory)) != NULL) {
		pid_t pid = (pid_t)strtol(entry->d_name, NULL, 10);
		if (pid <= 0)
			continue;
		/* Drain first, so that few processes are reported here before their fork event. */
		vtable->drain(backend, UINT64_MAX, sink);
		report_process(pid, data_maps, sink);
	}
	closedir(directory);
	return 0;
}
