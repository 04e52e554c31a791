/*
 * The eBPF programs: they count resources in each watched thread, and take samples.
 *
 *   a hook of the kernel (clock.bpf.h, tasks.bpf.h, ...)
 *      | amount
 *   count()        the thread's interval timer of that resource: in most cases nothing else happens
 *      | hits, where boundaries were crossed
 *   take_sample()  unwinds the stack and writes a record for the monitor
 *
 * For kernels 5.17 and later (bpf_loop). When the programs are loaded, BTF shows which other features the
 * kernel has.
 */
#include "vmlinux.h"

#include <bpf/bpf_core_read.h>
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_tracing.h>

#include "collect/sample/bpf/programs/clock.bpf.h"
#include "collect/sample/bpf/programs/events.bpf.h"
#include "collect/sample/bpf/programs/names.bpf.h"
#include "collect/sample/bpf/programs/probes.bpf.h"
#include "collect/sample/bpf/programs/switch.bpf.h"
#include "collect/sample/bpf/programs/syscall.bpf.h"
#include "collect/sample/bpf/programs/tasks.bpf.h"

char programs_license[] SEC("license") = "Dual BSD/GPL";
