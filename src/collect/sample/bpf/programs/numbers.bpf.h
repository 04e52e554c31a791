/* The numbers of processes and threads in the namespaces of pids. */
#ifndef COLLECT_SAMPLE_BPF_PROGRAMS_NUMBERS_BPF_H
#define COLLECT_SAMPLE_BPF_PROGRAMS_NUMBERS_BPF_H

#include "collect/sample/bpf/programs/maps.bpf.h"

uint32_t level;         /* of the monitor's pid namespace: the number of namespaces above it */
uint64_t own_namespace; /* the address of that namespace */

/* Reads the number of a pid at one level of namespaces: struct pid ends in one struct upid for each level.
 * At the monitor's level it is the number in the monitor's namespace, if its `ns` is that namespace.
 * Returns false if the pid has no such level. */
static bool own_number(struct pid *pid, uint32_t at_level, struct upid *number)
{
	uint64_t at = (uint64_t)pid + bpf_core_field_offset(pid->numbers) +
		      (uint64_t)at_level * bpf_core_type_size(struct upid);
	if (at_level > BPF_CORE_READ(pid, level))
		return false;
	number->nr = BPF_CORE_READ((struct upid *)at, nr);
	number->ns = BPF_CORE_READ((struct upid *)at, ns);
	return true;
}

/* Returns the number of a pid in the monitor's namespace, or 0 if it has none there. */
static uint32_t number_in(struct pid *pid)
{
	struct upid number;
	return own_number(pid, level, &number) && (uint64_t)number.ns == own_namespace ? number.nr : 0;
}

static uint32_t thread_number(struct task_struct *task)
{
	return level == 0 ? task->pid : number_in(BPF_CORE_READ(task, thread_pid));
}

static uint32_t process_number(struct task_struct *task)
{
	return level == 0 ? task->tgid : number_in(BPF_CORE_READ(task, signal, pids[PIDTYPE_TGID]));
}

/* Returns the thread's number in its own namespace: the number that its own system calls return. */
static uint32_t innermost_thread_number(struct task_struct *task)
{
	struct pid *pid = BPF_CORE_READ(task, thread_pid);
	struct upid number;
	return own_number(pid, BPF_CORE_READ(pid, level), &number) ? number.nr : 0;
}

#endif
