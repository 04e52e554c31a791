/* Threads leave the CPU and return to it. A wait is charged when the thread is back: its user stack is the
 * same as during the wait, and only then can it be read. */
#ifndef COLLECT_SAMPLE_BPF_PROGRAMS_SWITCH_BPF_H
#define COLLECT_SAMPLE_BPF_PROGRAMS_SWITCH_BPF_H

#include "collect/sample/bpf/programs/count.bpf.h"

enum { TASK_DEAD = 0x80 };

static uint32_t wait_of(struct task_struct *task)
{
	const struct pt_regs *registers = (const struct pt_regs *)bpf_task_pt_regs(task);
	uint8_t class = class_of(registers_call(registers));
	if (class & BPF_SYSCALL_LOCK)
		return BPF_WAIT_LOCK;
	return class & BPF_SYSCALL_IO || BPF_CORE_READ_BITFIELD(task, in_iowait) ? BPF_WAIT_IO : BPF_WAIT_OTHER;
}

static bool counts_wait(uint8_t counter, uint32_t wait)
{
	return counter == COUNTER_REAL || counter == COUNTER_BLOCKED ||
	       (counter == COUNTER_IO_TIME && wait == BPF_WAIT_IO) ||
	       (counter == COUNTER_LOCK_WAIT && wait == BPF_WAIT_LOCK);
}

/* Charges the current thread's wait to its present stack, and to the kernel's stack that `context` shows (NULL: none). */
static __always_inline void charge_wait(struct bpf_thread *thread, void *context)
{
	uint64_t waited = __sync_lock_test_and_set(&thread->waited, 0);
	for (uint32_t i = 0; i < SAMPLE_REQUESTS && i < settings.requests; i++) {
		if (!counts_wait(requests[i].counter, thread->wait))
			continue;
		struct sample_record order = nothing_known;
		count_and_sample(thread, i, waited, &order, context);
	}
}

/* On kernels that do not report that a thread is back, charges the wait at the thread's next event. The kernel's stack
 * of the wait is gone by then. */
static void charge_late_wait(struct bpf_thread *thread)
{
	if (settings.late_waits && thread->waited)
		charge_wait(thread, NULL);
}

/* Notes that a thread is back on a CPU since `now`. */
static void come(struct bpf_thread *thread, uint64_t now)
{
	if (settings.measures_cpu && is_on)
		thread->came_ns = now;
	if (!settings.measures_waits || !thread->left_ns)
		return;
	uint64_t from = thread->left_ns > thread->start_ns ? thread->left_ns : thread->start_ns;
	if (is_on && now > from)
		__sync_fetch_and_add(&thread->waited, now - from);
	thread->left_ns = 0;
}

/* Some kernels hide the switches that protected processes make: that from such a process to `task` was not seen. Then
 * the kernel's account of the task's running time tells when it came. */
static void come_unseen(struct bpf_thread *thread, struct task_struct *task, uint64_t now)
{
	bool was_seen = settings.measures_cpu ? thread->came_ns != 0 : thread->left_ns == 0;
	if (is_on && !was_seen)
		come(thread, now - (task->se.sum_exec_runtime - thread->ran_ns));
}

static void leave(struct bpf_thread *thread, struct task_struct *task, uint32_t wait, uint64_t now)
{
	come_unseen(thread, task, now);
	thread->ran_ns = task->se.sum_exec_runtime;
	if (settings.measures_cpu) {
		count_cpu(thread, now);
		thread->came_ns = 0;
	}
	if (settings.measures_waits) {
		thread->left_ns = now;
		thread->wait = wait;
	}
}

SEC("tp_btf/sched_switch")
int BPF_PROG(on_switch, bool preempt, struct task_struct *previous, struct task_struct *next)
{
	uint64_t now = bpf_ktime_get_ns();
	unsigned int state = previous->__state;
	struct bpf_thread *leaving = watched_thread(previous);
	if (leaving && is_on && !(state & TASK_DEAD)) {
		for (uint32_t i = 0; i < SAMPLE_REQUESTS && i < settings.requests; i++) {
			if (requests[i].counter != COUNTER_SWITCHES)
				continue;
			struct sample_record order = nothing_known;
			count_and_sample(leaving, i, 1, &order, ctx);
		}
	}
	struct bpf_thread *coming = watched_thread(next);
	if (leaving)
		leave(leaving, previous, state == 0 || preempt ? BPF_WAIT_OTHER : wait_of(previous), now);
	if (coming)
		come(coming, now);
	return 0;
}

SEC("tp_btf/sched_exit_tp")
int BPF_PROG(on_resume)
{
	struct bpf_thread *thread = counting_thread(bpf_get_current_task_btf());
	if (thread && thread->left_ns) /* on_switch has not seen it */
		come(thread, bpf_ktime_get_ns());
	if (thread && thread->waited)
		charge_wait(thread, ctx);
	return 0;
}

#endif
