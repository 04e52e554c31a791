/*
 * The eBPF programs: what is counted, in which thread, and where.
 *
 *   a hook of the kernel (clock.bpf.h, tasks.bpf.h, ...)
 *      | amount
 *   count()        the thread's interval timer of that resource: mostly that is all
 *      | hits, where boundaries were crossed
 *   take_sample()  walks the stack and tells the monitor
 *
 * For kernels 5.17 and later (bpf_loop). What another kernel may lack is asked
 * for by BTF, when the programs are loaded.
 */
#include "vmlinux.h"

#include <bpf/bpf_core_read.h>
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_tracing.h>

#include "collect/sample/bpf/programs/clock.bpf.h"
#include "collect/sample/bpf/programs/events.bpf.h"
#include "collect/sample/bpf/programs/probes.bpf.h"
#include "collect/sample/bpf/programs/switch.bpf.h"
#include "collect/sample/bpf/programs/syscall.bpf.h"
#include "collect/sample/bpf/programs/tasks.bpf.h"
#include "collect/sample/bpf/programs/usdt.bpf.h"

char programs_license[] SEC("license") = "Dual BSD/GPL";
