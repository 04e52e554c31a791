/* Waits until the agent is quiet in the other threads, before a filter forbids its system calls in all of them. */
#ifndef COLLECT_AGENT_INTERPOSE_QUIET_H
#define COLLECT_AGENT_INTERPOSE_QUIET_H

/* Waits, but not long, until the agent is active in no other thread: work that goes on is then finished, not cut short. */
void quiet_await_work(void);

/* After the filter has become known (machine_filters_of_all): waits until no thread makes a system call of ours that it has begun
 * before. At most a second. */
void quiet_await_calls(void);

/* After the timers were stopped: waits until no other thread has a tick pending, or is in its handler, from which it would return
 * by a forbidden system call. At most a second. */
void quiet_await_ticks(void);

#endif
