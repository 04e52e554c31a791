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

/* Sets a timer to `ns` from now or, with TIMER_ABSTIME, to `ns` on its clock. 0 stops it. */
void tick_set_timer(int timer, int flags, uint64_t ns);
void tick_delete_timer(int timer);

/* Returns true if the timer of CPU time has sent this tick, which means that the thread was running. */
bool tick_is_by_cpu(const siginfo_t *info);

#endif
