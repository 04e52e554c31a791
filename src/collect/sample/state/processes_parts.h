/* The processes of a recording, for processes.c (their lives and threads) and process_maps.c (their memory and code). */
#ifndef COLLECT_SAMPLE_STATE_PROCESSES_PARTS_H
#define COLLECT_SAMPLE_STATE_PROCESSES_PARTS_H

#include "base/hash_map.h"
#include "collect/sample/state/kernel_threads.h"
#include "collect/sample/state/moved_text.h"
#include "collect/sample/state/processes.h"

struct processes {
	struct profile *profile;
	struct modules *modules;
	struct process *items;
	size_t count, capacity;
	struct thread *threads;
	size_t thread_count, thread_capacity;
	struct hash_map
		by_pid; /* pid -> index; the newest where a pid was used again; of another one, if it has given its place */
	struct hash_map by_tid;
	/* Processes without a sample that have ended, with their threads, in the order of their ends. */
	struct ended {
		uint32_t process, thread;
		uint64_t time_ns;
	} * ended;
	size_t ended_first, ended_count, ended_capacity;
	struct starts starts;   /* for threads without an event so far */
	uint32_t code_versions; /* given out so far */
	uint64_t maps_reported;
	bool merges_kernel_threads;
	bool reads_owners_late;
	bool is_past;                   /* they are gone; /proc may have others with their numbers */
	uint32_t command, command_user; /* of processes_set_command; pid 0: none */
	unsigned command_execs;         /* of it so far */
	struct kernel_threads kernel_threads;
	struct moved_texts moved;
	size_t moved_next; /* of processes_find_moved_text */
};

/* Returns whether the process is shown as one of the kernel threads. */
bool processes_is_merged(struct processes *processes, uint32_t pid);
/* Returns the index of a process, added if it is new, or ERROR_MEMORY. */
int64_t processes_find_or_add(struct processes *processes, uint32_t pid);
/* Notes that a process that maps memory has not ended, although its end was reported. */
void processes_revive(struct processes *processes, struct process *process);
/* Marks the code of a process as changed. */
static inline void processes_renew_code(struct processes *processes, struct process *process)
{
	process->code_version = ++processes->code_versions;
}

#endif
