/* Signals, traps, disk requests: one tracepoint each. */
#ifndef COLLECT_SAMPLE_BPF_PROGRAMS_EVENTS_BPF_H
#define COLLECT_SAMPLE_BPF_PROGRAMS_EVENTS_BPF_H

#include "collect/sample/bpf/programs/count.bpf.h"

static __always_inline void count_events(uint8_t counter, uint64_t amount, struct sample_record *order, void *context)
{
	struct bpf_thread *thread = counting_thread(bpf_get_current_task_btf());
	bool is_own = thread && !thread->is_sampled;
	for (uint32_t i = 0; is_own && i < SAMPLE_REQUESTS && i < settings.requests; i++)
		if (requests[i].counter == counter)
			count_and_sample(thread, i, amount, order, context);
}

SEC("tp_btf/signal_deliver")
int BPF_PROG(on_signal, int number)
{
	struct sample_record order = nothing_known;
	count_events(COUNTER_SIGNALS, 1, &order, NULL);
	return 0;
}

SEC("tp_btf/page_fault_user")
int BPF_PROG(on_user_trap, unsigned long address)
{
	struct sample_record order = nothing_known;
	count_events(COUNTER_TRAPS, 1, &order, NULL);
	return 0;
}

SEC("tp_btf/page_fault_kernel")
int BPF_PROG(on_kernel_trap, unsigned long address)
{
	struct sample_record order = nothing_known;
	count_events(COUNTER_TRAPS, 1, &order, NULL);
	return 0;
}

/* A request to a block device, in the thread that makes it. Counts reads and writes, but neither discards
 * nor the requests that a device on top of another one derives from a request. */
SEC("tp_btf/block_bio_queue")
int BPF_PROG(on_disk_request, struct bio *bio)
{
	enum { OPERATION = 0xff, REQUEST_WRITE = 1, CLONED = 1 << 1 };
	if ((bio->bi_opf & OPERATION) > REQUEST_WRITE || bio->bi_flags & CLONED)
		return 0;
	struct sample_record order = nothing_known;
	count_events(COUNTER_DISK_BYTES, bio->bi_iter.bi_size, &order, ctx);
	return 0;
}

#endif
