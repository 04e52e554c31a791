/* Programs for perf events: clocks of a CPU, which run independently of the thread that runs on it, and
 * software events. The cookie is the request's number. */
#ifndef COLLECT_SAMPLE_BPF_PROGRAMS_CLOCK_BPF_H
#define COLLECT_SAMPLE_BPF_PROGRAMS_CLOCK_BPF_H

#include "collect/sample/bpf/programs/switch.bpf.h"

/* A period of the CPU's clock has ended: one hit for the thread that runs. The clock does not restart with
 * each thread, so short threads are sampled like all others. */
SEC("perf_event")
int on_clock(struct bpf_perf_event_data *context)
{
	uint32_t request = bpf_get_attach_cookie(context);
	struct bpf_thread *thread = counting_thread(bpf_get_current_task_btf());
	if (request >= SAMPLE_REQUESTS || !thread)
		return 0;
	charge_late_wait(thread);
	struct sample_record order = nothing_known;
	order.request = request;
	order.hits = 1;
	order.amount = requests[request].interval;
	take_sample(&order, registers_are_kernels(&context->regs) ? take_kernel_stack(context) : NO_SCRATCH);
	return 0;
}

/* A software event. A page fault has the address that was touched. */
SEC("perf_event")
int on_software_event(struct bpf_perf_event_data *context)
{
	struct bpf_thread *thread = counting_thread(bpf_get_current_task_btf());
	if (!thread)
		return 0;
	charge_late_wait(thread);
	struct sample_record order = nothing_known;
	order.detail = context->addr;
	order.flags = context->addr ? SAMPLE_TOUCHED : 0;
	count_and_sample(thread, bpf_get_attach_cookie(context), 1, &order, context);
	return 0;
}

#endif
