/* The threads' interval timers. */
#ifndef COLLECT_SAMPLE_BPF_PROGRAMS_COUNT_BPF_H
#define COLLECT_SAMPLE_BPF_PROGRAMS_COUNT_BPF_H

#include "collect/sample/bpf/programs/sample.bpf.h"
#include "collect/shared/interval_timer.h"

static const struct sample_record nothing_known = { .syscall = -1 };

/* Returns a random number below `limit`. Above 2^48 it is not evenly distributed. */
static uint64_t random_below(uint64_t limit)
{
	uint64_t random = bpf_get_prandom_u32();
	return limit >> 32 ? (limit >> 16) * random >> 16 : limit * random >> 32;
}

/* Returns the state of a thread, or NULL if it is not watched or waits for its exec. */
static struct bpf_thread *watched_thread(struct task_struct *task)
{
	struct bpf_thread *thread = bpf_task_storage_get(&threads, task, 0, 0);
	return thread && thread->state >= BPF_THREAD_COUNTS ? thread : NULL;
}

/* The same, but returns NULL while counting is off. */
static struct bpf_thread *counting_thread(struct task_struct *task)
{
	return is_on ? watched_thread(task) : NULL;
}

/* Advances a thread's timer by `amount` gticks. Returns how many boundaries that crossed. */
static uint64_t count(struct bpf_thread *thread, uint32_t request, uint64_t amount)
{
	if (request >= SAMPLE_REQUESTS || amount == 0)
		return 0;
	barrier_var(request); /* otherwise the verifier does not track the bound */
	request &= SAMPLE_REQUESTS - 1;
	if (thread->state == BPF_THREAD_ENDED)
		__sync_fetch_and_add(&results.totals[request], amount);
	return interval_clock_advance(&thread->clocks[request], requests[request].interval, amount);
}

/* Counts a thread's time on its CPU up to `now`. The CPU's clocks take the samples of this time; its total is
 * counted here, at each switch, up to the thread's last one: the kernel's accounts charge the time between the
 * wakeup of a thread and the switch to it to that thread, even if another one runs until then. */
static void count_cpu(struct bpf_thread *thread, uint64_t now)
{
	uint64_t from = thread->came_ns > on_since_ns ? thread->came_ns : on_since_ns;
	if (thread->came_ns == 0 || from >= now)
		return;
	thread->came_ns = now;
	for (uint32_t i = 0; i < SAMPLE_REQUESTS && i < settings.requests; i++) {
		if (requests[i].counter != COUNTER_CPU)
			continue;
		uint64_t *total = thread->state == BPF_THREAD_ENDED ? &results.totals[i] : &thread->clocks[i].total;
		__sync_fetch_and_add(total, now - from);
	}
}

/* Counts, and takes a sample if that crosses a boundary. `order` describes the event. The sample has the kernel's stack
 * that `context` shows; NULL: none. */
static __always_inline void count_and_sample(struct bpf_thread *thread, uint32_t request, uint64_t amount,
					     struct sample_record *order, void *context)
{
	uint64_t hits = count(thread, request, amount);
	if (hits == 0)
		return;
	order->request = request;
	order->amount = amount;
	order->hits = hits;
	take_sample(order, context ? take_kernel_stack(context) : NO_SCRATCH);
}

static void start_clocks(struct bpf_thread *thread)
{
	for (uint32_t i = 0; i < SAMPLE_REQUESTS; i++)
		if (i < settings.requests)
			thread->clocks[i].mark = random_below(requests[i].interval);
}

/* Returns the class of a system call number: enum bpf_transfer, or-ed. */
static uint8_t class_of(int64_t number)
{
	uint32_t at = number;
	if (number < 0 || number >= BPF_SYSCALLS)
		return 0;
	barrier_var(at); /* otherwise the verifier does not track the bound */
	return syscall_classes[at & (BPF_SYSCALLS - 1)];
}

#endif
