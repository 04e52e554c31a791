/*
 * The priority of the monitor. It has little to do, but what it reads is overwritten if it comes late: the rings, and
 * the target's memory. Its nice value alone does not help it where the kernel divides the processors between sessions
 * (autogroups) or control groups first: beside two busy loops of another session it waited up to half a second.
 */
#ifndef COLLECT_SAMPLE_PRIORITY_H
#define COLLECT_SAMPLE_PRIORITY_H

/* Takes the lowest real-time priority and a better nice value, where that is permitted. The kernel still leaves
 * other programs their part of each processor (kernel.sched_rt_runtime_us). Called when the command has been forked,
 * which would inherit the nice value. */
void priority_raise(void);

/* Gives up the real-time priority, and keeps the nice value, before work that is long and need not be prompt. */
void priority_lower(void);

#endif
