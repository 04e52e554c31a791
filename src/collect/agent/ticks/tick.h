/* Shared by the files of this folder. */
#ifndef COLLECT_AGENT_TICKS_TICK_H
#define COLLECT_AGENT_TICKS_TICK_H

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <time.h>

#include "abi/counters.h"

/* True: no tick comes during calls that the kernel does not restart (waits.h). False: all timers are of the thread's
 * CPU time. */
extern const bool tick_waits_are_shielded;

struct runtime_thread;

/* The timers' signal has our handler. Without it, a timer would end the program. */
extern bool tick_has_handler;
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

/* Counts a tick of a waiting thread against the process's budget. `now`: CLOCK_MONOTONIC. */
void tick_spend(uint64_t now);
/* Returns the distance of a waiting thread's ticks in place of `ns`: larger while the process exceeds its budget, but
 * at most the distance at which the ticks of all threads take the budget. */
uint64_t tick_stretched(uint64_t ns);

/* Time off the CPU, in ns, that is not worth a system call. */
enum { TICK_SHORT_NS = 50 * 1000 };

/* Returns a random number of the thread; of the present thread below `limit`. */
uint64_t tick_random(struct runtime_thread *thread);
uint64_t tick_random_below(uint64_t limit);

bool tick_measures_waits(void);
/* Returns true if the thread has waited since the last call, rather than only lost the CPU to another one: the kernel's
 * account has more voluntary switches than the waits that were charged already. */
bool tick_has_waited(struct runtime_thread *thread);

/* Charges the CPU time that no tick has charged yet, up to the thread's clock `cpu`, in ns. */
void tick_charge_running(struct runtime_thread *thread, uint64_t cpu, bool in_syscall, const void *context);
/* Charges time off the CPU since the last tick, in ns: the time of a preemption (the thread has not `waited`) here, where
 * the thread has returned to the CPU; other time when the next tick finds the thread waiting, or to the wait that the
 * last tick found. */
void tick_charge_absence(struct runtime_thread *thread, uint64_t ns, bool waited, const void *context);
/* Charges `blocked_ns`: the time off the CPU that is not charged yet. */
void tick_charge_blocked(struct runtime_thread *thread, const void *context);

#endif
