/* Shared by tick.c and ticks/timers.c. */
#ifndef COLLECT_AGENT_TICKS_TICK_H
#define COLLECT_AGENT_TICKS_TICK_H

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <time.h>

/* True: no tick comes during calls that the kernel does not restart (waits.h). False: all timers are of the thread's
 * CPU time. */
extern const bool tick_waits_are_shielded;

struct runtime_thread;

/* Number of processors on which the process may run, as of the first timer. */
extern uint32_t tick_processors;
/* Number of threads of the process that have timers. */
extern uint64_t tick_threads;

/* Sets a timer to `ns` from now or, with TIMER_ABSTIME, to `ns` on its clock. 0 stops it. */
void tick_set_timer(int timer, int flags, uint64_t ns);
/* Delete the thread's timers. */
void tick_delete(struct runtime_thread *thread);

/* Returns true if the timer of CPU time has sent this tick, which means that the thread was running. */
bool tick_is_by_cpu(const siginfo_t *info);

/* Counts a tick against the process's budget. `now`: CLOCK_MONOTONIC. */
void tick_spend(uint64_t now);
/* Returns the distance of a waiting thread's ticks in place of `ns`: larger while the process exceeds its budget, but
 * at most the one at which the ticks of all threads take the budget. */
uint64_t tick_stretched(uint64_t ns);

#endif
