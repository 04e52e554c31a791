/*
 * A backend takes the samples. It receives the resources to measure and the threads to watch, and delivers
 * samples and side events to a sink, in order of time. A backend has no code for files and profiles; the
 * monitor has no code for perf or eBPF.
 *
 *   probe -> open -> attach... -> start -> drain... -> stop -> close
 *                       ^                    |  maps, execs
 *                       +---- load_code <----+  only for a backend that unwinds stacks itself
 */
#ifndef COLLECT_SAMPLE_BACKEND_H
#define COLLECT_SAMPLE_BACKEND_H

#include <poll.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "abi/interpreter.h"
#include "base/error.h"
#include "collect/sample/process_list.h"
#include "resources/resources.h"
#include "unwind/unwind.h"

enum { BACKEND_NO_SYSCALL = -1 };
#define BACKEND_NO_RESULT INT64_MIN /* the call does not return */

/* One stack sample. Pointers are valid until the sink returns. The backend has either unwound the stack
 * (`addresses`), or supplies the input for unwinding it (`registers`, `stack`). */
struct backend_sample {
	uint32_t pid, tid;
	uint32_t request; /* index of the resource request */
	uint64_t hits;
	uint64_t time_ns;
	uint32_t labels;    /* number of the thread's label set, as reported by the sink's `labels`; 0: none */
	bool has_registers; /* false: kernel work with no user code above it */
	bool in_kernel;     /* taken in the kernel; the registers are those at its entry */
	bool other_abi;     /* 32-bit code: registers are meaningless */
	struct arch_registers registers;
	const uint8_t *stack; /* copied from the stack pointer upwards */
	size_t stack_bytes;
	size_t stack_asked; /* bytes requested; stack_bytes is less where the stack ends earlier */

	/* Unwound already: run-time addresses, innermost first, as unwind_frame.pc. NULL: not unwound. */
	const uint64_t *addresses;
	size_t address_count;
	enum unwind_cause cause; /* how that unwinding ended */

	/* The kernel's own stack, from its innermost frame to where user mode entered the kernel, callers as return
	 * addresses. NULL: the sample was taken in user mode, or the kernel's stack is not known. */
	const uint64_t *kernel;
	size_t kernel_count;

	/* The frames of the process's interpreter (abi/interpreter.h). Count 0: it has none, or the thread runs none. */
	const struct interpreted_frame *interpreted;
	size_t interpreted_count;
	uint8_t interpreted_end;        /* enum interpreted_end */
	const uint64_t *stack_pointers; /* in each of `addresses`; NULL: not known */

	/* The event, for observers of single events. */
	uint64_t amount;        /* gticks of the event at which the boundary was crossed; 0: unknown */
	int syscall;            /* its number, or BACKEND_NO_SYSCALL */
	int64_t syscall_result; /* or BACKEND_NO_RESULT */
	bool has_touched;
	uint64_t touched; /* page faults: the address that was touched */

	/* A stack that starts a thread, for the sink's `creates`. */
	uint32_t
		created_pid; /* of the process that begins with the new thread; 0: the thread is the sample's process's */
	bool may_be_copied; /* it is unknown whether the new process has a copy of this stack, or begins on another */
};

/* Memory was mapped: executable memory or, with backend_request.data_maps, any other. */
struct backend_map {
	bool is_data;
	bool is_gone; /* executable memory was unmapped; only pid, time, start and size are set. Some backends do not report this */
	uint32_t pid;
	uint64_t time_ns;
	uint64_t start, size, file_offset;
	const char *path;
	uint64_t device, inode;  /* of the file, as stat(2) reports them; inode 0: unknown */
	const uint8_t *build_id; /* NULL: unknown */
	size_t build_id_bytes;
	/* The file that is mapped directly before executable memory without a file; NULL: none, or unknown. */
	const struct backend_map *before;
};

/* Receives everything that a backend reports. All members are required. */
struct backend_sink {
	void *context;
	void (*sample)(void *context, const struct backend_sample *sample);
	void (*map)(void *context, const struct backend_map *map);
	void (*name)(void *context, uint32_t pid, uint32_t tid, const char *name, bool is_exec, uint64_t time_ns);
	void (*fork)(void *context, uint32_t parent_pid, uint32_t pid, uint32_t tid, uint64_t time_ns);
	void (*exit)(void *context, uint32_t pid, uint32_t tid, uint64_t time_ns);
	/* The thread of `sample` is about to start the thread `tid`, of its process or of a new
	 * one that does not begin with a copy of the stack; the sample's stack shows where.
	 * Called before the new thread's first sample; `request` and `hits` are unused. Some
	 * backends do not report this. */
	void (*creates)(void *context, const struct backend_sample *sample, uint32_t tid);
	/* Defines the label set `number` (not 0) before the first sample that has it: "key=value" lines,
	 * separated by '\n', not NUL-terminated. A number means the same set during the whole run. */
	void (*labels)(void *context, uint32_t number, const char *text, size_t bytes);
	/* Describes a function of an interpreted program of a process, before the first sample
	 * that has it: `bytes` of the structure. */
	void (*describes)(void *context, uint32_t pid, const struct interpreted_code *code, size_t bytes);
	/* Sets the unit of a request's gtick. A program's own resource has a unit that becomes known only
	 * while the program runs. */
	void (*unit)(void *context, uint32_t request, const char *unit);
	/* Samples of any resource for which a ring had no room; see also `counts`. */
	void (*lost)(void *context, uint64_t samples);
	/* Events other than samples for which a ring had no room: maps, forks, names. */
	void (*lost_events)(void *context, uint64_t events);
	/* The kernel took too many samples, and paused sampling for up to a tick. */
	void (*throttled)(void *context);
	/* A batch of events is over: called by the monitor. */
	void (*settled)(void *context);
};

struct backend_request {
	const struct resource_request *resources;
	size_t resource_count;
	bool user_mode_only; /* watch user mode only, because the kernel does not permit more */
	/* The target, in which functions and probes are looked up. */
	const char *command;                  /* path of its file; NULL: none */
	const struct process_list *processes; /* NULL or empty: none */
	bool no_children;                     /* leave out the processes that the target starts */
	bool everything;                      /* the whole machine: attach is called once, with tid -1 */
	bool data_maps;                       /* report maps that are not executable too */
	bool creations;                       /* report the stacks that start threads, where the backend can */
	bool kernel_stacks;                   /* deliver the kernel's own stacks, where the backend can */
	bool paused;                          /* count nothing until the program calls cpprof_start; only preload can */
	bool has_low_rate;                    /* rings may be small: a few hundred samples a second */
	bool experiments;                     /* there will be virtual speed-ups; only preload can */
};

/* One range of code of a process, for a backend that unwinds stacks itself. */
struct backend_code {
	uint64_t start, end; /* run-time addresses */
	uint64_t bias;       /* run-time address = ELF virtual address + bias */
	const struct unwind_table
		*table;  /* NULL: none; valid until the backend is closed, or until load_code returns if it has a key */
	uint32_t module; /* index in the profile's modules */
	/* The interpreter in the file, with ELF virtual addresses; NULL: none. Valid as long as the table. */
	const struct interpreter *interpreter;
};

/* A virtual speed-up of a call path (causal/director.h). */
struct backend_experiment {
	uint32_t pid;     /* of a process that runs the program */
	uint32_t percent; /* 0 to 100 */
	const struct backend_function {
		uint64_t start, end; /* run-time addresses */
	} * path;                    /* outermost first */
	size_t frames;               /* at most BACKEND_EXPERIMENT_FRAMES */
};
enum { BACKEND_EXPERIMENT_FRAMES = 64 };

/* The present state of experiments. */
struct backend_progress {
	uint64_t amount;   /* gticks of the request so far, up to the present moment */
	uint64_t delay_ns; /* pauses that the present experiment has caused so far */
};

struct backend_counts {
	uint64_t total; /* all gticks that were counted; 0: unknown */
	uint64_t lost;  /* samples for which there was no room; UINT64_MAX: unknown for a single request */
	uint64_t taken; /* samples that the kernel took, if the backend delivers only some of them; else 0 */
	bool is_bound;  /* the total is a lower bound: not all was counted */
	bool is_whole;  /* the total has all use of the target: the kernel's account of its processes adds nothing */
};

struct backend;
struct profile;

struct backend_vtable {
	const char *name;
	bool only_commands;    /* it cannot attach to running processes */
	bool has_labels;       /* it records the labels that programs set */
	bool has_kernel;       /* it delivers the kernel's own stacks */
	bool has_interpreters; /* it notes the frames of interpreters */

	/* Returns whether the backend could measure the resource here if everything were permitted. NULL:
	 * it could measure every resource. */
	bool (*serves)(const struct resource_row *row);

	/* Returns 0 if this resource can be measured here, or an error that names the reason and the
	 * remedy. Sets *user_mode_only if it can be measured in user mode only. Only `open` checks
	 * conditions of the target, such as whether a function exists. Required. */
	int (*probe)(const struct resource_request *request, bool *user_mode_only, struct error *error);

	/* Prepares the measurement; nothing runs yet. Returns NULL if that fails, with the reason in
	 * `error`. Required. */
	struct backend *(*open)(const struct backend_request *request, struct error *error);

	/* Watches the thread `tid` of the process `pid`, and everything that it starts from now on: with
	 * no_children, only threads. With `on_exec`, counting begins when the thread calls exec (a command to be
	 * started), otherwise with start(). Returns 1 if the thread is watched, 0 if it does not exist (any more)
	 * or was watched already, or a negative error. Required. */
	int (*attach)(struct backend *backend, pid_t pid, pid_t tid, bool on_exec, struct error *error);

	/* Receives all executable maps of a process as they are now, sorted; no maps mean that the process
	 * has ended. Called when the sink is settled, after maps, forks, execs and exits. Returns 0, or
	 * an error after which the backend cannot unwind the process's stacks, and counts them as such.
	 * NULL: the backend does not use the maps. */
	int (*load_code)(struct backend *backend, uint32_t pid, const struct backend_code *code, size_t count);

	/* Returns variables for the target's environment, owned by the backend: "NAME=value" entries,
	 * which replace variables of the same name, ended by NULL. NULL: there are none. */
	char *const *(*environment)(const struct backend *backend);

	/* Begins counting in the threads that were attached without `on_exec`. Returns 0 or a negative error.
	 * Required. */
	int (*start)(struct backend *backend, struct error *error);

	/* Lists the descriptors that become readable when there is something to drain: writes at most
	 * `limit` of them, and returns the number of all. Required. */
	size_t (*descriptors)(const struct backend *backend, struct pollfd *descriptors, size_t limit);

	/* Delivers, in order of time, the events up to `until_ns` (CLOCK_MONOTONIC; UINT64_MAX: all). A
	 * backend that observes no event late may deliver up to the present time. The sink may call
	 * load_code. Returns whether there is a later event that should be delivered soon. Required. */
	bool (*drain)(struct backend *backend, uint64_t until_ns, const struct backend_sink *sink);

	/* Returns whether events fill the rings so fast that each drain should follow the clock
	 * closely. NULL: they do not. */
	bool (*is_urgent)(const struct backend *backend);

	/* Returns whether a program has requested that everything drained be written to disk, and waits
	 * for it; when that is done, `flushed` is called. Either both members are set, or both are NULL:
	 * no program can request it. */
	bool (*wants_flush)(const struct backend *backend);
	void (*flushed)(struct backend *backend);

	/* Ends counting; samples taken before that can still be drained. Required. */
	void (*stop)(struct backend *backend);

	/* Called after the last drain. Returns the counts of one request. Required. */
	struct backend_counts (*counts)(const struct backend *backend, size_t request);

	/* Called after the last drain. Adds the backend's findings about the recording
	 * (profile/findings.h), within each severity the most important first. NULL: there are none. */
	void (*add_findings)(const struct backend *backend, struct profile *profile);

	/* Writes the names of the kernel's functions at `count` addresses to a descriptor, as
	 * /proc/kallsyms has them: a line "ADDRESS t NAME" for each. Returns 0, or a negative
	 * error. NULL: the backend does not know them. */
	int (*write_kernel_names)(struct backend *backend, const uint64_t *addresses, size_t count, int fd);

	/* Begins a virtual speed-up in place of the present one; NULL: ends that. It lasts as
	 * long as the backend is drained at least once a second. Returns false if the process is
	 * not known. NULL: the backend has no experiments. */
	bool (*experiment)(struct backend *backend, const struct backend_experiment *experiment);
	struct backend_progress (*progress)(const struct backend *backend, size_t request);

	/* Releases the backend; accepts NULL. Required. */
	void (*close)(struct backend *backend);
};

extern const struct backend_vtable backend_bpf;
extern const struct backend_vtable backend_perf;
extern const struct backend_vtable backend_preload;
extern const struct backend_vtable backend_none; /* refuses everything: the minimum */

#endif
