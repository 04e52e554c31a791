/*
 * A backend takes the samples: it is told which resources to watch in which
 * threads, and delivers what happened, in order of time, to a sink. It knows
 * nothing of files and profiles; the monitor knows nothing of perf or BPF.
 *
 *   probe -> open -> attach... -> start -> drain... -> stop -> close
 *                       ^                    |  maps, execs
 *                       +---- load_code <----+  only of a backend that walks stacks itself
 */
#ifndef COLLECT_SAMPLE_BACKEND_H
#define COLLECT_SAMPLE_BACKEND_H

#include <poll.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/error.h"
#include "resources/resources.h"
#include "unwind/unwind.h"

enum { BACKEND_NO_SYSCALL = -1 };
#define BACKEND_NO_RESULT INT64_MIN /* the call does not end */

/* One stack sample. Pointers are valid until the sink returns. Either the backend
 * walked the stack (`addresses`), or it gives what is needed to (`registers`, `stack`). */
struct backend_sample {
	uint32_t pid, tid;
	uint32_t request; /* index of the resource request */
	uint64_t hits;
	uint64_t time_ns;
	uint32_t labels;    /* number of the thread's label set, as told by the sink's `labels`; 0: none */
	bool has_registers; /* false: kernel work with no user code above it */
	bool in_kernel;     /* taken in the kernel: the registers are those at its entry */
	bool other_abi;     /* 32-bit code: registers are meaningless */
	struct arch_registers registers;
	const uint8_t *stack; /* copied from registers sp on upwards */
	size_t stack_bytes;
	size_t stack_asked; /* how many bytes would have been copied had there been as many */

	/* Walked already: run-time addresses, innermost first, as unwind_frame.pc. NULL: not. */
	const uint64_t *addresses;
	size_t address_count;
	enum unwind_cause cause; /* how that walk ended */

	/* What happened there, for who looks at single events. */
	uint64_t amount;        /* gticks of the event at which the boundary was crossed; 0: not known */
	int syscall;            /* its number, or BACKEND_NO_SYSCALL */
	int64_t syscall_result; /* or BACKEND_NO_RESULT */
	bool has_touched;
	uint64_t touched; /* page faults: the address that was touched */
};

/* Memory was mapped: executable, or where the request asks for it any other too. */
struct backend_map {
	bool is_data;
	uint32_t pid;
	uint64_t time_ns;
	uint64_t start, size, file_offset;
	const char *path;
	const uint8_t *build_id; /* NULL: not told */
	size_t build_id_bytes;
};

/* What a backend tells. All members are required. */
struct backend_sink {
	void *context;
	void (*sample)(void *context, const struct backend_sample *sample);
	void (*map)(void *context, const struct backend_map *map);
	void (*name)(void *context, uint32_t pid, uint32_t tid, const char *name, bool is_exec, uint64_t time_ns);
	void (*fork)(void *context, uint32_t parent_pid, uint32_t pid, uint32_t tid, uint64_t time_ns);
	void (*exit)(void *context, uint32_t pid, uint32_t tid, uint64_t time_ns);
	/* The thread of `sample` is about to start another one, `tid`, of its process:
	 * the sample's stack is where. Told before that thread's first sample; `request`
	 * and `hits` mean nothing. Not every backend can tell. */
	void (*creates)(void *context, const struct backend_sample *sample, uint32_t tid);
	/* What label set `number` (not 0) is, before a sample has it: "key=value" lines, '\n'
	 * between them, not NUL-terminated. A number is one set for the whole run. */
	void (*labels)(void *context, uint32_t number, const char *text, size_t bytes);
	/* A request's gtick is called so: a resource of the program's own, which tells it only when it runs. */
	void (*unit)(void *context, uint32_t request, const char *unit);
	/* Samples that found no room, of whatever resource; see also `counts`. */
	void (*lost)(void *context, uint64_t samples);
	/* Tellings other than samples that found no room: maps, forks, names. */
	void (*lost_events)(void *context, uint64_t events);
	/* The kernel paused sampling for up to a tick, having had too many. */
	void (*throttled)(void *context);
};

struct backend_request {
	const struct resource_request *resources;
	size_t resource_count;
	bool user_mode_only; /* watch user mode alone, as the kernel permits no more */
	/* What will be watched: where functions and probes are looked for. */
	const char *command; /* path of its file; NULL: none */
	pid_t pid;           /* 0: none */
	bool everything;     /* the whole machine: attach is called once, with tid -1 */
	bool data_maps;      /* tell of maps that are not executable too */
	bool creations;      /* tell what stack starts a thread, if you can */
	bool paused;         /* count nothing until the program calls cpprof_start: preload alone can */
};

/* Code of one process, for a backend that walks stacks itself. */
struct backend_code {
	uint64_t start, end;              /* run-time addresses */
	uint64_t bias;                    /* run-time address = ELF virtual address + bias */
	const struct unwind_table *table; /* NULL: none; lives as long as the backend */
};

struct backend_counts {
	uint64_t total;     /* gticks counted in all; 0: not known */
	uint64_t lost;      /* samples for which there was no room; UINT64_MAX: not known for this request alone */
	uint64_t estimated; /* gticks of the total that were estimated */
};

struct backend;
struct profile;

struct backend_vtable {
	const char *name;
	bool only_commands; /* it cannot attach to what runs already */

	/* Whether it could be measured here, were everything permitted. NULL: whatever it is. */
	bool (*serves)(const struct resource_row *row);

	/* Whether this resource can be measured here: 0; or an error that names the
	 * reason and the remedy. *user_mode_only is set if it can, but in user mode
	 * alone. What depends on the target (is there such a function?) only `open` can
	 * tell. Required. */
	int (*probe)(const struct resource_request *request, bool *user_mode_only, struct error *error);

	/* Prepares; nothing runs yet. NULL: `error` says why. Required. */
	struct backend *(*open)(const struct backend_request *request, struct error *error);

	/* Watches a thread and all that it starts from now on. `on_exec`: counting
	 * begins when it calls exec (a command to be started); otherwise with
	 * start(). 1: watched; 0: there is no such thread (any more) or it was
	 * watched already. Required. */
	int (*attach)(struct backend *backend, pid_t tid, bool on_exec, struct error *error);

	/* All executable maps of a process as they are now, sorted; none: it is gone.
	 * Called when the sink has taken in a map, a fork, an exec or an exit. NULL: of
	 * no interest. 0 or an error; then its stacks cannot be walked, and are counted so. */
	int (*load_code)(struct backend *backend, uint32_t pid, const struct backend_code *code, size_t count);

	/* What the target finds in its environment besides its own: "NAME=value", in the place
	 * of what it has of that name; ends with NULL; the backend's. NULL: nothing. */
	char *const *(*environment)(const struct backend *backend);

	/* Begins counting in threads not attached `on_exec`. Required. */
	int (*start)(struct backend *backend, struct error *error);

	/* Descriptors that become readable when there is something to drain:
	 * returns how many, writes at most `limit`. Required. */
	size_t (*descriptors)(const struct backend *backend, struct pollfd *descriptors, size_t limit);

	/* Delivers, in order of time, what happened up to `until_ns`
	 * (CLOCK_MONOTONIC; UINT64_MAX: all), or to now where nothing is seen late. The sink may call load_code. Returns
	 * whether there is something later that should be delivered soon. Required. */
	bool (*drain)(struct backend *backend, uint64_t until_ns, const struct backend_sink *sink);

	/* Whether a program asked that what was drained be on disk, and waits for it: then
	 * `flushed` is called. Both or none; NULL: nobody can ask. */
	bool (*wants_flush)(const struct backend *backend);
	void (*flushed)(struct backend *backend);

	/* Ends counting; samples taken before can still be drained. Required. */
	void (*stop)(struct backend *backend);

	/* After the last drain: what was counted of a request. Required. */
	struct backend_counts (*counts)(const struct backend *backend, size_t request);

	/* After the last drain: adds what must be known of the recording (profile/findings.h),
	 * within each severity the most important first. NULL: there is nothing to add. */
	void (*add_findings)(const struct backend *backend, struct profile *profile);

	/* Required. NULL is fine. */
	void (*close)(struct backend *backend);
};

extern const struct backend_vtable backend_bpf;
extern const struct backend_vtable backend_perf;
extern const struct backend_vtable backend_preload;
extern const struct backend_vtable backend_none; /* refuses everything: the minimum */

#endif
