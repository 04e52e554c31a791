/* Children of connected processes that are not connected themselves. A child that runs for
 * PRELOAD_LIVED_NS without connecting is a program that has not loaded the agent. */
#ifndef COLLECT_SAMPLE_PRELOAD_STARTS_H
#define COLLECT_SAMPLE_PRELOAD_STARTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* reasons.c: determines, from /proc, why a program that was started has not loaded the agent. */

/* Size of the channel's path in the environment, which preload_environment sets: "/proc/PID/fd/N". */
enum { PRELOAD_CHANNEL_PATH_BYTES = 64 };

/* Returns a short text that follows "'name' was not recorded: ", or NULL if the process has ended or
 * nothing prevents it from loading the agent. */
const char *preload_reason_of(uint32_t pid, const char *channel_path);

/* The same for a program that has not begun: by its file, and by what its environment lacks (enum
 * channel_exec, or-ed). The file is not examined if its name does not begin with '/', such as one that is
 * looked up in PATH. */
const char *preload_reason_of_exec(const char *path, uint32_t lacks);

enum { PRELOAD_STARTS = 64 }; /* children that are observed at a time; further ones are ignored */

/* The reason why a program is not connected. */
struct preload_absence {
	const char *reason; /* not owned; NULL: unknown */
	char name[64];      /* the program's name; "": unknown */
};

struct preload_starts {
	uint64_t looked_ns; /* when children were last looked for */
	struct preload_start {
		uint32_t pid; /* 0: none */
		int pidfd;
		uint64_t seen_ns;                /* when it was first observed */
		bool was_asked;                  /* the reason was determined while it ran */
		struct preload_absence at_first; /* the reason when it was first observed */
	} items[PRELOAD_STARTS];
	char last[64];                                 /* name of the last such program */
	struct preload_absence absence;                /* of the last such program with a known reason */
	char channel_path[PRELOAD_CHANNEL_PATH_BYTES]; /* where connected programs find the channel */
};

/* A program that ended earlier may just not have connected yet. */
#define PRELOAD_LIVED_NS UINT64_C(10000000)

/* Calls `found` for each child of one thread of a running process. */
void preload_starts_children(uint32_t pid, uint32_t tid, void (*found)(void *context, uint32_t child), void *context);

/* Adds the process `pid`, which is not connected. `deaths` is an epoll that reports its end; the event's
 * data is `first` plus the item's number. */
void preload_starts_add(struct preload_starts *starts, int deaths, uint32_t first, uint32_t pid, uint64_t now_ns);
/* Determines why the items that have run long enough are not connected, once for each. */
void preload_starts_find_reasons(struct preload_starts *starts, uint64_t now_ns);
/* The same for one process that is no item. */
void preload_starts_find_reason_of(struct preload_starts *starts, uint32_t pid);
/* Called when a process has announced that it will execute the program at `path`, with an environment that
 * lacks `lacks` (enum channel_exec). Returns why that program will not connect. */
struct preload_absence preload_starts_announced(struct preload_starts *starts, const char *path, uint32_t lacks);
/* Removes a process that has connected. */
void preload_starts_connected(struct preload_starts *starts, uint32_t pid);
/* Removes an item that has ended. Returns whether it ran long enough to be a program that was not
 * recorded. */
bool preload_starts_died(struct preload_starts *starts, uint32_t number, uint64_t now_ns);
/* Returns how many such programs run. */
size_t preload_starts_living(const struct preload_starts *starts, uint64_t now_ns);
void preload_starts_release(struct preload_starts *starts);

#endif
