/*
 * The processes and threads of the program that have connected themselves to the channel: the memory that the preload library inside
 * the program (the agent) shares with the recorder (abi/channel.h). Each has a slot there, and each thread a ring with its samples. This
 * file finds new slots, reads each ring until its thread has ended and the ring is empty, adds the thread's counters to the totals of
 * the recording, and frees the slots for others.
 *
 * The states in capitals are in the slot; the agent sets TAKEN and LIVE, one after the other, and ENDED. The other states are the
 * recorder's own. Slots of threads and of processes are found by preload_slots_update.
 *
 *   thread    FREE -> TAKEN -> LIVE -> known -> ended -> FREE
 *                                        |         `- preload_slots_finish_thread, when the ring is empty
 *                                        `- the slot is ENDED, or the thread's process has ended
 *   process   FREE -> TAKEN -> LIVE -> known -> over -> FREE
 *                                        |        `- when its last thread was finished
 *                                        `- it has ended, or has called exec: the new program takes a slot of its own
 *
 * Invariants:
 *   1. The numbers of a slot's owner are read once, when the owner becomes known, because the target may change them. A slot that
 *      has other numbers later counts as ended.
 *   2. The end of a thread or process is detected before its ring is read: nothing is added to the ring after that.
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
	bool is_replaced; /* another program runs in it by now, which is connected too */
	bool is_followed; /* ... or did so before it ended */
	bool has_begun;   /* its first record was reported */
	bool follows;     /* it is the successor of a replaced program */
	bool wants_flush;
	uint32_t pid;
	int pidfd;            /* -1: none */
	uint32_t threads;     /* known threads */
	uint32_t code_loaded; /* value of code_wanted when its maps were last read */
	uint32_t flush_wanted;
	uint64_t maps_read_ns;          /* when its maps were last read; 0: never */
	uint64_t over_ns;               /* when it was found to be over; 0: it is not over */
	uint64_t execs_ns;              /* when it announced an exec; 0: never, or the exec failed */
	uint64_t asked_ns;              /* execs_ns of the exec that was last examined for an obstacle */
	struct preload_absence absence; /* why the new program will not connect, determined before it begins */
	struct preload_maps maps;
	struct preload_account account;
	struct preload_seen ended; /* transfers of its threads that have ended */
};

struct preload_thread {
	bool is_known;
	bool has_ended;
	bool has_begun; /* its first record was reported */
	bool is_exit_reported;
	uint32_t pid, tid;
	uint32_t process; /* number of its slot */
	struct preload_ring ring;
	struct preload_record *waits_at; /* stack of its present wait (preload/waits.h): owned; NULL: unknown */
};

/* The sums of threads that have ended, and the problems that occurred. */
struct preload_sums {
	uint64_t totals[SAMPLE_REQUESTS], lost[SAMPLE_REQUESTS];
	uint32_t bounded; /* bit n: the total of request n is a lower bound */
	uint64_t lost_events;
	uint64_t broken_rings;
	uint64_t unwatched; /* threads for which there was no slot */
	uint64_t untimed;   /* threads to which the kernel gave no timer */
	uint64_t late_ticks;
	uint32_t stretch;       /* largest factor by which a process's waiting threads had fewer ticks; 0: none */
	uint64_t not_connected; /* programs that were started and did not connect */
	struct preload_absence absence; /* of the last of them, if its process announced the exec */
	struct preload_unobserved unobserved;
	uint32_t flags; /* enum channel_finding, or-ed */
};

struct preload_slots {
	struct channel *channel; /* not owned */
	int deaths;              /* an epoll of the processes' pidfds */
	bool had_any;
	bool keeps_accounts;  /* some request counts transfers */
	uint64_t accounts_ns; /* when accounts were last read */
	struct preload_sums sums;
	struct preload_starts starts;
	struct preload_process processes[CHANNEL_PROCESSES];
	struct preload_thread threads[CHANNEL_THREADS];
};

/* Returns NULL if that fails, with the reason in `error`. */
struct preload_slots *preload_slots_new(struct channel *channel, struct error *error);
void preload_slots_free(struct preload_slots *slots); /* NULL is fine */

/* Returns whether a process that is over is kept for some time: a child that it forked at its end may yet
 * report it as its parent. */
bool preload_slots_lingers(const struct preload_process *process, uint64_t now_ns);

/* Finds the processes and threads that have started or ended, and how far the rings are written. */
void preload_slots_update(struct preload_slots *slots, uint64_t now_ns);

/* Returns the process of that pid, or NULL if it is not connected. Of several programs in it, returns the
 * last that has begun. */
struct preload_process *preload_slots_find(struct preload_slots *slots, uint32_t pid);
struct channel_process *preload_slots_shared(const struct preload_slots *slots, const struct preload_process *process);

/* Called when a process has reported its beginning: keeps its account from then on. */
void preload_slots_account(struct preload_slots *slots, struct preload_process *process, bool is_forked);
/* Reads the accounts for the last time; called before the monitor reaps the command. */
void preload_slots_close_accounts(struct preload_slots *slots);

/* Sums up a thread that has ended, and frees its slot; after the last thread, also that of a process that
 * is over. */
void preload_slots_finish_thread(struct preload_slots *slots, uint32_t number, uint64_t now_ns);
/* Frees the slots of processes that are over and have no threads. */
void preload_slots_finish_processes(struct preload_slots *slots, uint64_t now_ns);

/* Returns all sums, including those of threads and processes that run. */
struct preload_sums preload_slots_sums(const struct preload_slots *slots, uint64_t now_ns);

#endif
