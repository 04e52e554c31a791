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

/* Returns whether a page fault fetched an instruction, which may continue on the next page. */
static __always_inline bool is_text_fault(struct bpf_perf_event_data *context)
{
	enum { INSTRUCTION_BYTES_MAX = 15 };
	return context->addr - registers_frame(&context->regs).pc < INSTRUCTION_BYTES_MAX;
}

/* Returns whether a request counts this event: some count a part of the page faults. */
static __always_inline bool takes_event(uint64_t request, struct bpf_perf_event_data *context)
{
	if (request >= SAMPLE_REQUESTS)
		return false;
	uint8_t counter = requests[request].counter;
	bool is_part = counter == COUNTER_TEXT_FAULTS || counter == COUNTER_DATA_FAULTS;
	return !is_part || is_text_fault(context) == (counter == COUNTER_TEXT_FAULTS);
}

/* A software event. A page fault has the address that was touched. */
SEC("perf_event")
int on_software_event(struct bpf_perf_event_data *context)
{
	uint64_t request = bpf_get_attach_cookie(context);
	struct bpf_thread *thread = counting_thread(bpf_get_current_task_btf());
	if (!thread || !takes_event(request, context))
		return 0;
	charge_late_wait(thread);
	struct sample_record order = nothing_known;
	order.detail = context->addr;
	order.flags = context->addr ? SAMPLE_TOUCHED : 0;
	count_and_sample(thread, request, 1, &order, context);
	return 0;
}

#endif
