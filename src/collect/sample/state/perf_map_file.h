/*
 * The perf map of a process: the file in which its runtime lists the code that it generates
 * (frames/jit/perf_map.h). It is /tmp/perf-PID.map, in the root and with the number that the
 * process itself sees in its container.
 */
#ifndef COLLECT_SAMPLE_STATE_PERF_MAP_FILE_H
#define COLLECT_SAMPLE_STATE_PERF_MAP_FILE_H

#include <stdbool.h>
#include <stdint.h>

/* A process whose map is looked for. */
struct perf_map_process {
	uint32_t pid;
	int64_t since_s; /* when it began, in seconds of CLOCK_REALTIME; older maps belong to another process with this number */
	bool is_past; /* it is of an earlier recording: a process that has its number now is another one */
	uint64_t next_ns, pause_ns; /* the next attempt, by CLOCK_MONOTONIC, and the pause before that */
};

/* Begins to look for the map of a process, which may have ended. `not_before_s`: it began after that if it has ended. */
struct perf_map_process perf_map_process(uint32_t pid, int64_t not_before_s, bool is_past);

/* Opens the map. It must be a regular file of the process's user or of root. If the process has
 * ended, it is searched in our own root, and must belong to us or to root. Returns a descriptor
 * that the caller closes, or -1: there is none so far, or it is too early for another attempt.
 * `is_last`: there will be no other attempt. */
int perf_map_open(struct perf_map_process *process, bool is_last);

#endif
