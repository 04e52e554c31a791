/* Static probes (USDT): libbpf finds their arguments. */
#ifndef COLLECT_SAMPLE_BPF_PROGRAMS_USDT_BPF_H
#define COLLECT_SAMPLE_BPF_PROGRAMS_USDT_BPF_H

#include <bpf/usdt.bpf.h>

#include "collect/sample/bpf/programs/probes.bpf.h"

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
