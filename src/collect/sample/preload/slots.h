/*
 * The processes and threads that are connected to the channel: found, drained to their
 * end, summed up, and their slots freed.
 *
 *   thread    FREE --runtime--> TAKEN, LIVE --look--> known --ENDED, or its process--> ended
 *               ^                                                                        |
 *               `------------------------------ finish_thread, when its ring is empty ---'
 *   process   known --died, or another program began in it--> over --its last thread-->  FREE
 *
 * Invariants:
 *   1. What identifies a slot's owner (pid, tid, process) is read once, when it becomes
 *      known. A slot that has another owner later is taken for ended.
 *   2. That a thread or process is over is seen before its ring is looked at: then
 *      nothing is added to it any more.
 */
#ifndef COLLECT_SAMPLE_PRELOAD_SLOTS_H
#define COLLECT_SAMPLE_PRELOAD_SLOTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "abi/channel.h"
#include "base/error.h"
#include "collect/sample/preload/maps.h"
#include "collect/sample/preload/ring.h"
#include "collect/sample/preload/starts.h"
#include "collect/sample/preload/unobserved.h"

struct preload_process {
	bool is_known;
	bool is_dead;
	bool is_replaced; /* another program runs in it by now, and is connected itself */
	bool is_followed; /* ... or was before it ended */
	bool has_begun;   /* its first record was told */
	bool follows;     /* it is the successor of one that was replaced */
	bool wants_flush;
	uint32_t pid;
	int pidfd;            /* -1: none */
	uint32_t threads;     /* known ones */
	uint32_t code_loaded; /* what code_wanted was when its maps were read last */
	uint32_t flush_wanted;
	uint64_t maps_read_ns;          /* when its maps were read last; 0: never */
	uint64_t over_ns;               /* when it was found to be over; 0: it was not */
	uint64_t execs_ns;              /* when it was about to become another program; 0: never */
	uint64_t asked_ns;              /* execs_ns of the program that was asked why it is not connected */
	struct preload_absence absence; /* why that program will not connect, as far as known before it begins */
	struct preload_maps maps;
	struct preload_account account;
	struct preload_seen ended; /* what its threads that have ended had moved */
};

struct preload_thread {
	bool is_known;
	bool has_ended;
	bool has_begun; /* its first record was told */
	bool is_exit_told;
	uint32_t pid, tid;
	uint32_t process; /* number of its slot */
	struct preload_ring ring;
	struct preload_record *waits_at; /* preload/waits.h: owned; NULL: it is not known */
};

/* What threads that are no more have counted, and what went wrong. */
struct preload_sums {
	uint64_t totals[SAMPLE_REQUESTS], lost[SAMPLE_REQUESTS], estimated[SAMPLE_REQUESTS];
	uint64_t lost_events;
	uint64_t broken_rings;
	uint64_t unwatched; /* threads */
	uint64_t late_ticks;
	uint64_t not_connected;         /* programs that were started and never seen again */
	struct preload_absence absence; /* the last of them, if its process reported it before */
	struct preload_unobserved unobserved;
	uint32_t flags; /* enum channel_finding, or-ed */
};

struct preload_slots {
	struct channel *channel; /* not owned */
	int deaths;              /* an epoll of the processes' pidfds */
	bool had_any;
	bool keeps_accounts;  /* what processes transfer is of interest */
	uint64_t accounts_ns; /* when accounts were looked at last */
	struct preload_sums sums;
	struct preload_starts starts;
	struct preload_process processes[CHANNEL_PROCESSES];
	struct preload_thread threads[CHANNEL_THREADS];
};

/* NULL: `error` says why. */
struct preload_slots *preload_slots_new(struct channel *channel, struct error *error);
void preload_slots_free(struct preload_slots *slots); /* NULL is fine */

/* Whether a process that is over is still looked for: a child of its last moment may yet tell
 * whose it is. */
bool preload_slots_lingers(const struct preload_process *process, uint64_t now_ns);

/* Finds who came and who ended, and how far the rings are written. */
void preload_slots_look(struct preload_slots *slots, uint64_t now_ns);

/* The process of that pid: of its programs the last that has begun; NULL: it is not connected. */
struct preload_process *preload_slots_find(struct preload_slots *slots, uint32_t pid);
struct channel_process *preload_slots_shared(const struct preload_slots *slots, const struct preload_process *process);

/* A process has told how it began; its account is looked at from then on. */
void preload_slots_account(struct preload_slots *slots, struct preload_process *process, bool is_forked);
/* The last that accounts say before the end of processes is waited for. */
void preload_slots_close_accounts(struct preload_slots *slots);

/* Sums up and frees the slot of a thread that has ended, and that of its process with
 * the last one. */
void preload_slots_finish_thread(struct preload_slots *slots, uint32_t number, uint64_t now_ns);
/* Frees those of processes that are over and have no threads. */
void preload_slots_finish_processes(struct preload_slots *slots, uint64_t now_ns);

/* All sums, with those of who still lives. */
struct preload_sums preload_slots_sums(const struct preload_slots *slots, uint64_t now_ns);

#endif
