/*
 * The watched processes and threads, and the code that each process has mapped. The backend's events keep
 * them up to date, in order of time.
 */
#ifndef COLLECT_SAMPLE_STATE_PROCESSES_H
#define COLLECT_SAMPLE_STATE_PROCESSES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "collect/sample/backend.h"
#include "collect/sample/state/maps.h"
#include "collect/sample/state/modules.h"
#include "collect/sample/state/starts.h"
#include "profile/profile.h"

struct deep_stack;

struct process {
	uint32_t pid;
	uint32_t id;           /* in the profile's processes */
	bool between_programs; /* after exec, before its first map */
	bool runs_lisp;        /* it maps a core of SBCL */
	bool is_interpreted;   /* it maps an interpreter whose frames backends note */
	bool is_kept;     /* it, or a process that it started, was sampled; only noted where owners are read late */
	uint32_t threads; /* that it has had */
	/* For a sink that passes code late: whether the backend has the code, and whether it has copied a stack. */
	bool is_code_passed;
	bool needs_all; /* walks of the monitor do not reach all code that is on its stacks */
	bool has_copied_stack;
	uint32_t walked; /* modules through which walks had gone when the code was passed */
	enum process_owner { OWNER_UNREAD, OWNER_OF_PROGRAM_BEFORE, OWNER_READ } owner; /* its user and control group */
	uint32_t living; /* threads that have not ended */
	/* Equal numbers mean equal code: while the number stays, so does the
	 * meaning of an address. */
	uint32_t code_version;
	struct maps code;      /* executable memory */
	struct maps data;      /* all other reported mappings */
	uint32_t vain_lookups; /* times that /proc was read and had no mapping */
	uint64_t stack_limit;  /* limit of the main thread's stack in bytes; 0: not read yet */
	uint64_t stack_start;  /* where the main thread's stack began */
	bool has_stack_start;  /* that was read; 0: unknown */
};

struct thread {
	uint32_t tid;
	uint32_t id;           /* in the profile's threads */
	uint32_t process;      /* index in processes */
	uint32_t base_node;    /* complete paths begin below this node: the start of the thread, or PROFILE_ROOT */
	uint32_t base_markers; /* thread starts on the way to it */
	/* The base does not hold for stacks whose outermost frame is at this sp: they begin with
	 * a copy of the creator's. 0: it holds for all. */
	uint64_t base_copied;
	struct deep_stack *deep; /* for a thread whose stack did not fit into a sample (stack.h); owned by stack.c */
};

struct processes;

/* Returns NULL if memory ran out. Owns neither profile nor modules. */
struct processes *processes_new(struct profile *profile, struct modules *modules);
void processes_free(struct processes *processes); /* NULL is fine */

/* For a recording of the whole machine, before the first event: one process and one thread represent the kernel's own
 * threads. */
void processes_merge_kernel_threads(struct processes *processes);

/* For the events of an earlier recording, before the first event: nothing about these processes
 * is read from /proc or from their memory, because other processes may have their numbers. */
void processes_set_past(struct processes *processes);
/* From now on, a process costs little until it is sampled: its user and its control group are those of its creator until processes_sampled. A
 * process that has ended without a sample gives its place in the profile to a later one, unless it has started one that was sampled. */
void processes_read_owners_late(struct processes *processes);
/* Notes a sample of a thread, and reads the owner of its process, unless that was read since the process executed its program. Returns 0 or
 * ERROR_MEMORY. */
int processes_sampled(struct processes *processes, const struct thread *thread);

/* The monitor has made this process, which waits for its first exec; `user` as
 * profile_process.user. Its user stays known until a second exec, also if it has ended before
 * its events arrive. */
void processes_set_command(struct processes *processes, uint32_t pid, uint32_t user);
bool processes_are_past(const struct processes *processes);

/* The events of a backend. Each returns 0 or ERROR_MEMORY. A thread that
 * executes a program (`is_exec`) remains alone, with its process's number. */
int processes_map(struct processes *processes, const struct backend_map *map);
int processes_name(struct processes *processes, uint32_t pid, uint32_t tid, const char *name, bool is_exec,
		   uint64_t time_ns);
int processes_fork(struct processes *processes, uint32_t parent_pid, uint32_t pid, uint32_t tid, uint64_t time_ns);
/* Returns whether that was the last thread of its process. */
bool processes_exit(struct processes *processes, uint32_t pid, uint32_t tid, uint64_t time_ns);

/* Sets the base of thread `tid` of process start->pid: the node below which its paths begin (PROFILE_ROOT: unknown).
 * The thread itself may be reported before or after that. Returns 0 or ERROR_MEMORY. */
int processes_starts(struct processes *processes, uint32_t tid, const struct start *start);

/* Returns the process of that pid, or NULL. Valid until the next call that adds. */
struct process *processes_find(const struct processes *processes, uint32_t pid);

/* Returns the thread, added if it is new, or NULL if memory ran out. Valid until the next call that adds. */
struct thread *processes_thread(struct processes *processes, uint32_t pid, uint32_t tid);
struct process *processes_of(struct processes *processes, const struct thread *thread);

/* Finds the module at a run-time address of a process. Returns 0, or -1 if there is none. */
int processes_module_at(struct processes *processes, struct process *process, uint64_t pc, struct unwind_module *found);

/* Looks once more at executable memory that may have the text of a file: moved_text.h. Returns whether one has it since, and sets *pid to its process,
 * whose code has changed. Call it until it returns false, when a batch of events is over. */
bool processes_find_moved_text(struct processes *processes, uint32_t *pid);

/* Copies `size` bytes of code at a run-time address from the module's file. Returns false if they are in
 * no file. */
bool processes_code(struct processes *processes, struct process *process, uint64_t address, void *to, size_t size);

/* Lists the code of a process for a backend that unwinds stacks itself, sorted: an item for each of process->code, or for each part of its table.
 * Opens files that are not open yet. Modules that are not needed (modules_is_needed), and parts that were not made, have no table, unless the process needs all. *items has
 * room for *capacity items, and grows. Returns the number of items, or ERROR_MEMORY. */
int64_t processes_list_code(struct processes *processes, struct process *process, struct backend_code **items,
			    size_t *capacity);

/* Returns the name of the memory at an address, a string of the profile: a file's path, "[heap]",
 * "[stack]", "[vdso]", or "[anon]" for memory without a file; 0 ("") if it is unknown. */
uint32_t processes_name_of_memory(struct processes *processes, struct process *process, uint64_t address);

/* Returns the address at which the kernel began the stack of the process's first thread, or 0 if it is unknown. */
uint64_t processes_stack_start(const struct processes *processes, struct process *process);

/* Returns how many processes still run. */
size_t processes_running(const struct processes *processes);

#endif
