/* Children of connected processes that are not connected themselves: those that live on
 * without a word are programs that have not loaded the runtime. */
#ifndef COLLECT_SAMPLE_PRELOAD_STARTS_H
#define COLLECT_SAMPLE_PRELOAD_STARTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "collect/sample/preload/reasons.h"

enum { PRELOAD_STARTS = 64 }; /* that are looked at, at a time: more are not */

/* Why a program is not connected. */
struct preload_absence {
	const char *reason; /* not owned; NULL: not known */
	char name[64];      /* the program's; "": not known */
};

struct preload_starts {
	uint64_t looked_ns; /* when children were looked for last */
	struct preload_start {
		uint32_t pid; /* 0: none */
		int pidfd;
		uint64_t seen_ns;                /* first */
		bool was_asked;                  /* why it is one */
		struct preload_absence at_first; /* why, when it was seen first */
	} items[PRELOAD_STARTS];
	char last[64];                                 /* name of the last that lived as one */
	struct preload_absence absence;                /* of the last where the reason is known */
	char channel_path[PRELOAD_CHANNEL_PATH_BYTES]; /* where connected programs find the channel */
};

/* A program that ends sooner after it was started may just not have been there. */
#define PRELOAD_LIVED_NS UINT64_C(10000000)

/* Calls `found` for each child of a thread of a process that lives. */
void preload_starts_children(uint32_t pid, uint32_t tid, void (*found)(void *context, uint32_t child), void *context);

/* Process `pid` is not connected. `deaths`: an epoll that tells of its end, with `first` and
 * its number among the items as data. */
void preload_starts_add(struct preload_starts *starts, int deaths, uint32_t first, uint32_t pid, uint64_t now_ns);
/* Finds out why those that live on as such are not connected, each once. */
void preload_starts_ask(struct preload_starts *starts, uint64_t now_ns);
/* ... why that one is not, which is no child that was added. */
void preload_starts_ask_of(struct preload_starts *starts, uint32_t pid);
/* A process has told that it is about to become the program at `path`, whose environment lacks `lacks` (enum
 * channel_exec): why that will not connect. */
struct preload_absence preload_starts_told(struct preload_starts *starts, const char *path, uint32_t lacks);
/* It is connected by now. */
void preload_starts_connected(struct preload_starts *starts, uint32_t pid);
/* An item has died. True: it lived as a program that we did not see. */
bool preload_starts_died(struct preload_starts *starts, uint32_t number, uint64_t now_ns);
/* How many live as such. */
size_t preload_starts_living(const struct preload_starts *starts, uint64_t now_ns);
void preload_starts_release(struct preload_starts *starts);

#endif
