/* Maintains which threads are watched: at their start, their exec and their exit. */
#ifndef COLLECT_SAMPLE_BPF_PROGRAMS_TASKS_BPF_H
#define COLLECT_SAMPLE_BPF_PROGRAMS_TASKS_BPF_H

#include "collect/sample/bpf/programs/switch.bpf.h"
#include "collect/sample/bpf/programs/syscall.bpf.h"

enum { PF_KTHREAD = 0x00200000 };

/* Watches a thread from `now` on. Returns NULL if it is not visible in the monitor's pid namespace, or
 * memory ran out. */
static struct bpf_thread *watch(struct task_struct *task, uint64_t now)
{
	uint32_t pid = process_number(task), tid = thread_number(task);
	if (!pid || !tid)
		return NULL;
	struct bpf_thread *thread = bpf_task_storage_get(&threads, task, 0, BPF_LOCAL_STORAGE_GET_F_CREATE);
	if (!thread) {
		__sync_fetch_and_add(&results.lost_threads, 1);
		return NULL;
	}
	thread->pid = pid;
	thread->tid = tid;
	thread->start_ns = now;
	thread->ran_ns = task->se.sum_exec_runtime;
	thread->state = BPF_THREAD_COUNTS;
	start_clocks(thread);
	return thread;
}

/* Returns whether a new process begins on another stack than its creator's: clone(2) was given one. */
static bool has_own_stack(struct task_struct *parent, struct task_struct *child)
{
	return registers_frame((const struct pt_regs *)bpf_task_pt_regs(child)).sp !=
	       registers_frame((const struct pt_regs *)bpf_task_pt_regs(parent)).sp;
}

/* Runs in the thread that starts another one. Watches the new thread, and records the stack that starts
 * it, unless the new thread has a copy of that. */
SEC("tp_btf/sched_process_fork")
int BPF_PROG(on_fork, struct task_struct *parent, struct task_struct *child)
{
	struct bpf_thread *creator = bpf_task_storage_get(&threads, parent, 0, 0);
	bool all = settings.everything && is_on && !(child->flags & PF_KTHREAD);
	if (!settings.everything && !settings.children && child->tgid != parent->tgid)
		return 0;
	if ((!creator || creator->state < BPF_THREAD_COUNTS) && !all)
		return 0;
	struct bpf_thread *thread = watch(child, bpf_ktime_get_ns());
	if (!thread || !creator)
		return 0;
	bool is_process = thread->pid != creator->pid;
	if (is_process) {
		/* A new process runs the same code, until the monitor loads its code. */
		uint32_t pid = creator->pid, child_pid = thread->pid;
		struct walk_process *process = bpf_map_lookup_elem(&processes, &pid);
		if (process)
			bpf_map_update_elem(&processes, &child_pid, process, BPF_ANY);
	}
	if (settings.creations && is_on && (!is_process || has_own_stack(parent, child))) {
		struct sample_record order = {
			.syscall = -1, .request = SAMPLE_NO_REQUEST, .about = thread->tid, .hits = is_process
		};
		take_sample(&order, NO_SCRATCH);
	}
	return 0;
}

/* Runs in exec, after the old program is gone and before the new one is mapped. The command begins to
 * count, and the old program's code becomes invalid. */
SEC("tp_btf/task_rename")
int BPF_PROG(on_rename, struct task_struct *task, const char *name)
{
	struct bpf_thread *thread = bpf_task_storage_get(&threads, task, 0, 0);
	if (!thread || (bpf_core_field_exists(task->in_execve) && !BPF_CORE_READ_BITFIELD(task, in_execve)))
		return 0;
	uint32_t pid = thread->pid;
	bpf_map_delete_elem(&processes, &pid);
	thread->tid = thread_number(task); /* the thread that called exec now has the first thread's number */
	if (thread->state == BPF_THREAD_WAITS_FOR_EXEC) {
		thread->start_ns = bpf_ktime_get_ns();
		thread->came_ns = thread->start_ns;
		start_clocks(thread);
		thread->state = BPF_THREAD_COUNTS;
		if (!is_on)
			on_since_ns = thread->start_ns;
		is_on = 1;
	}
	return 0;
}

static void add_totals(struct bpf_thread *thread, uint64_t now)
{
	for (uint32_t i = 0; i < SAMPLE_REQUESTS && i < settings.requests; i++) {
		bool is_elapsed = requests[i].counter == COUNTER_REAL;
		uint64_t total = is_elapsed ? now - thread->start_ns : thread->clocks[i].total;
		__sync_fetch_and_add(&results.totals[i], total);
	}
}

/* Counts the system call that ends a thread: it does not return, so on_syscall does not run. */
SEC("tp_btf/sched_process_exit")
int BPF_PROG(on_last_call, struct task_struct *task)
{
	struct bpf_thread *thread = counting_thread(task);
	if (!thread)
		return 0;
	int64_t number = registers_call((const struct pt_regs *)bpf_task_pt_regs(task));
	for (uint32_t i = 0; i < SAMPLE_REQUESTS && i < settings.requests; i++) {
		if (requests[i].counter != COUNTER_SYSCALLS || (number != NR_EXIT && number != NR_EXIT_GROUP) ||
		    (requests[i].syscall >= 0 && requests[i].syscall != number))
			continue;
		struct sample_record order = nothing_known;
		order.syscall = number;
		count_and_sample(thread, i, 1, &order, NULL);
	}
	return 0;
}

SEC("tp_btf/sched_process_exit")
int BPF_PROG(on_exit, struct task_struct *task)
{
	struct bpf_thread *thread = bpf_task_storage_get(&threads, task, 0, 0);
	if (!thread || thread->state != BPF_THREAD_COUNTS || !is_on)
		return 0;
	uint64_t now = bpf_ktime_get_ns();
	come_unseen(thread, task, now);
	count_cpu(thread, now);
	add_totals(thread, now);
	thread->state = BPF_THREAD_ENDED;
	return 0;
}

/* --- all tasks at once --- */

uint32_t pass; /* enum bpf_task_pass */

static uint32_t parent_number(struct task_struct *task)
{
	return level == 0 ? BPF_CORE_READ(task, real_parent, tgid)
			  : number_in(BPF_CORE_READ(task, real_parent, signal, pids[PIDTYPE_TGID]));
}

/* Returns whether the thread's process is to be watched: the monitor attached to it, or such a process has started
 * it since the monitor listed its children. */
static bool is_wanted(struct task_struct *task)
{
	uint32_t pid = process_number(task);
	if (settings.everything || pid == settings.self)
		return pid != settings.self;
	if (bpf_map_lookup_elem(&wanted, &pid))
		return true;
	uint32_t parent = settings.children ? parent_number(task) : 0;
	uint8_t *value = parent ? bpf_map_lookup_elem(&wanted, &parent) : NULL;
	return value && bpf_map_update_elem(&wanted, &pid, value, BPF_ANY) == 0;
}

static void begin_to_watch(struct task_struct *task)
{
	if (task->flags & PF_KTHREAD || !is_wanted(task) || bpf_task_storage_get(&threads, task, 0, 0))
		return;
	struct bpf_thread *thread = watch(task, bpf_ktime_get_ns());
	if (thread && task->on_cpu)
		thread->came_ns = thread->start_ns;
	if (thread && settings.measures_waits && !task->on_cpu) {
		thread->left_ns = thread->start_ns;
		thread->wait = wait_of(task);
	}
}

/* Adds the use of a thread so far, and the wait that it is in. */
static void finish(struct task_struct *task)
{
	struct bpf_thread *thread = bpf_task_storage_get(&threads, task, 0, 0);
	if (!thread || thread->state != BPF_THREAD_COUNTS)
		return;
	uint64_t now = bpf_ktime_get_ns();
	if (task->on_cpu)
		come_unseen(thread, task, now);
	uint64_t waited = thread->waited + (thread->left_ns ? now - thread->left_ns : 0);
	for (uint32_t i = 0; i < SAMPLE_REQUESTS && i < settings.requests; i++) {
		uint64_t hits = counts_wait(requests[i].counter, thread->wait) ? count(thread, i, waited) : 0;
		if (hits)
			submit_asleep(task, thread, i, hits, waited);
	}
	count_cpu(thread, now);
	add_totals(thread, now);
	thread->state = BPF_THREAD_ENDED;
}

static void find_namespace(struct pid *self)
{
	struct upid number;
	level = BPF_CORE_READ(self, level);
	if (own_number(self, level, &number))
		own_namespace = (uint64_t)number.ns;
}

SEC("iter/task")
int on_task(struct bpf_iter__task *context)
{
	struct task_struct *task = context->task;
	if (pass == BPF_PASS_LEVEL)
		find_namespace(BPF_CORE_READ(bpf_get_current_task_btf(), thread_pid));
	else if (task && pass == BPF_PASS_WATCH)
		begin_to_watch(task);
	else if (task)
		finish(task);
	return 0;
}

#endif
