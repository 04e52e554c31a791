/* The names of the kernel's functions. The kernel has them at hand, while /proc/kallsyms lists all of them each time. */
#ifndef COLLECT_SAMPLE_BPF_PROGRAMS_NAMES_BPF_H
#define COLLECT_SAMPLE_BPF_PROGRAMS_NAMES_BPF_H

#include "collect/sample/bpf/programs/maps.bpf.h"

struct bpf_names names;

static long write_name(uint32_t index, void *context)
{
	uint32_t at = index & (BPF_NAMES - 1);
	BPF_SNPRINTF(names.name[at], BPF_NAME_BYTES, "%ps", (void *)names.address[at]);
	return 0;
}

/* Run by the monitor. */
SEC("syscall")
int on_names(void *context)
{
	bpf_loop(BPF_NAMES, write_name, NULL, 0);
	return 0;
}

#endif
