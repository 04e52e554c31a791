#include "collect/sample/attach.h"

#include <dirent.h>
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "collect/sample/state/proc_maps.h"

enum { ROUNDS_MAX = 100, EVERYTHING = -1 };

static void tell_name(pid_t pid, pid_t tid, const struct backend_sink *sink)
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

/* Whether a line of maps is told of, and as what. Its name is made the backends'. */
static bool is_told(const char *protection, bool data_maps, const char **name)
{
	if (!**name)
		*name = "//anon";
	if (strcmp(*name, "[vsyscall]") == 0)
		return false;
	return protection[2] == 'x' || data_maps;
}

/* How many maps there were. */
static unsigned tell_maps(pid_t pid, pid_t tid, bool data_maps, const struct backend_sink *sink)
{
	unsigned count = 0;
	struct proc_maps maps;
	struct proc_map map;
	proc_maps_open(&maps, pid, tid);
	while (proc_maps_next(&maps, &map)) {
		const char *name = map.path;
		if (!is_told(map.protection, data_maps, &name))
			continue;
		struct backend_map told = { .is_data = map.protection[2] != 'x',
					    .pid = (uint32_t)pid,
					    .start = map.start,
					    .size = map.end - map.start,
					    .file_offset = map.file_offset,
					    .path = name };
		sink->map(sink->context, &told);
		count++;
	}
	proc_maps_close(&maps);
	return count;
}

/* --- one process --- */

/* Watches the threads that are not watched yet. How many those were, or an error. */
static int attach_threads(const struct backend_vtable *vtable, struct backend *backend, pid_t pid, bool data_maps,
			  const struct backend_sink *sink, bool *maps_told, struct error *error)
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
		/* The shorter the time since we last heard of forks, the fewer are watched
		 * twice; the backend mends those. */
		vtable->drain(backend, UINT64_MAX, sink);
		int result = vtable->attach(backend, tid, false, error);
		if (result > 0) {
			tell_name(pid, tid, sink);
			*maps_told = *maps_told || tell_maps(pid, tid, data_maps, sink) > 0;
		}
		added = result < 0 ? result : added + result;
	}
	closedir(directory);
	return added;
}

int attach_process(const struct backend_vtable *vtable, struct backend *backend, pid_t pid, bool data_maps,
		   const struct backend_sink *sink, struct error *error)
{
	/* Threads may start while we look: until a round finds no new one. One that
	 * a watched thread started is watched by inheritance; the backend knows it
	 * from the fork that was told of. */
	int total = 0;
	int added;
	int rounds = 0;
	bool maps_told = false;
	do {
		vtable->drain(backend, UINT64_MAX, sink);
		added = attach_threads(vtable, backend, pid, data_maps, sink, &maps_told, error);
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

/* --- the whole machine --- */

/* Names of all threads, and the maps. One that ends meanwhile is told in part:
 * the backend tells of its end. */
static void tell_process(pid_t pid, bool data_maps, const struct backend_sink *sink)
{
	char path[64];
	snprintf(path, sizeof(path), "/proc/%d/task", (int)pid);
	DIR *directory = opendir(path);
	if (!directory)
		return;
	bool maps_told = false;
	const struct dirent *entry;
	while ((entry = readdir(directory)) != NULL) {
		pid_t tid = (pid_t)strtol(entry->d_name, NULL, 10);
		if (tid <= 0)
			continue;
		tell_name(pid, tid, sink);
		maps_told = maps_told || tell_maps(pid, tid, data_maps, sink) > 0;
	}
	closedir(directory);
}

int attach_everything(const struct backend_vtable *vtable, struct backend *backend, bool data_maps,
		      const struct backend_sink *sink, struct error *error)
{
	int result = vtable->attach(backend, EVERYTHING, false, error);
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
		/* The shorter the time since we last heard of forks, the fewer are told twice. */
		vtable->drain(backend, UINT64_MAX, sink);
		tell_process(pid, data_maps, sink);
	}
	closedir(directory);
	return 0;
}
