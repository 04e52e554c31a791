/* What tick.c and ticks/timers.c share. */
#ifndef COLLECT_AGENT_TICKS_TICK_H
#define COLLECT_AGENT_TICKS_TICK_H

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <time.h>

/* Whether no tick comes into calls that are not restarted (waits.h). If not, timers are of the CPU time alone. */
extern const bool tick_waits_are_shielded;

/* In so many ns, or with TIMER_ABSTIME when the timer's clock is there; 0: not at all. */
void tick_set_timer(timer_t timer, int flags, uint64_t ns);

/* Of a tick: whether it was the timer of its CPU time, which finds the thread at work. */
bool tick_is_by_cpu(const siginfo_t *info);

#endif
