/* Programs for probes that the user named: functions (uprobes), tracepoints and static probes. The cookie
 * is the probe's number. */
#ifndef COLLECT_SAMPLE_BPF_PROGRAMS_PROBES_BPF_H
#define COLLECT_SAMPLE_BPF_PROGRAMS_PROBES_BPF_H

#include <bpf/usdt.bpf.h>

#include "collect/sample/bpf/programs/count.bpf.h"
#include "collect/shared/allocation.h"

static uint64_t positive(int64_t value)
{
	return value > 0 ? value : 0; /* the use of a resource only grows */
}

/* Returns a value of that type as an amount: 0 if it is negative. */
static uint64_t typed_amount(uint64_t value, const struct bpf_probe *probe)
{
	switch (probe->value_bytes) {
	case 1:
		return probe->value_signed ? positive((int8_t)value) : (uint8_t)value;
	case 2:
		return probe->value_signed ? positive((int16_t)value) : (uint16_t)value;
	case 4:
		return probe->value_signed ? positive((int32_t)value) : (uint32_t)value;
	default:
		return probe->value_signed ? positive((int64_t)value) : value;
	}
}

/* The same for a register whose type is unknown. A negative number of 32 bits has an upper half of zeros there: the
 * instructions that write 32 bits clear it. Sizes of 2 to 4 GB are rarer than results of -1. */
static uint64_t untyped_amount(uint64_t value)
{
	bool is_negative = value >> 31 == 1;
	if (is_negative)
		__sync_fetch_and_add(&results.signs_assumed, 1);
	return is_negative ? 0 : positive((int64_t)value);
}

SEC("uprobe")
int on_function(struct pt_regs *registers)
{
	struct bpf_thread *thread = counting_thread(bpf_get_current_task_btf());
	uint32_t number = bpf_get_attach_cookie(registers);
	struct bpf_probe *probe = thread ? bpf_map_lookup_elem(&probes, &number) : NULL;
	if (!probe || (probe->but_not && probe->but_not == thread->pid))
		return 0;
	uint64_t amount = 1;
	__sync_fetch_and_add(&results.function_calls, 1);
	if (probe->argument) {
		amount =
			probe->at_return ? registers_result(registers) : registers_argument(registers, probe->argument);
		amount = probe->value_bytes ? positive(typed_amount(amount, probe)) : untyped_amount(amount);
	}
	if (probe->factor)
		amount = allocation_product(amount, registers_argument(registers, probe->factor));
	if (probe->is_allocation && amount >= ALLOCATION_ADDRESSES)
		return 0;
	struct sample_record order = nothing_known;
	if (!probe->guard || registers_argument(registers, probe->guard) > probe->guard_above)
		count_and_sample(thread, probe->request, amount, &order, NULL);
	return 0;
}

static uint64_t field_of(void *context, const struct bpf_probe *probe)
{
	const void *at = (const char *)context + (probe->field_offset & 0xfff);
	uint64_t value = 0;
	switch (probe->value_bytes) {
	case 1:
		bpf_probe_read_kernel(&value, 1, at);
		break;
	case 2:
		bpf_probe_read_kernel(&value, 2, at);
		break;
	case 4:
		bpf_probe_read_kernel(&value, 4, at);
		break;
	case 8:
		bpf_probe_read_kernel(&value, 8, at);
		break;
	default:
		return 1;
	}
	return typed_amount(value, probe);
}

/* The kernel runs a program once for each event, however often it is attached to the tracepoint. So it visits the
 * probes of all resources that count this tracepoint. */
SEC("tracepoint")
int on_tracepoint(void *context)
{
	struct bpf_thread *thread = counting_thread(bpf_get_current_task_btf());
	uint32_t number = bpf_get_attach_cookie(context);
	if (!thread)
		return 0;
	for (int i = 0; i < SAMPLE_REQUESTS; i++) {
		struct bpf_probe *probe = bpf_map_lookup_elem(&probes, &number);
		if (!probe)
			return 0;
		struct sample_record order = nothing_known;
		count_and_sample(thread, probe->request, field_of(context, probe), &order, context);
		number = probe->next;
		if (!number)
			return 0;
	}
	return 0;
}

/* Static probes (USDT): libbpf finds their arguments. */

SEC("usdt")
int on_static_probe(struct pt_regs *registers)
{
	struct bpf_thread *thread = counting_thread(bpf_get_current_task_btf());
	uint32_t number = bpf_usdt_cookie(registers);
	struct bpf_probe *probe = thread ? bpf_map_lookup_elem(&probes, &number) : NULL;
	if (!probe)
		return 0;
	long value = 1;
	if (probe->argument && bpf_usdt_arg(registers, probe->argument - 1, &value) != 0)
		value = 0;
	struct sample_record order = nothing_known;
	count_and_sample(thread, probe->request, positive(value), &order, NULL);
	return 0;
}

#endif
