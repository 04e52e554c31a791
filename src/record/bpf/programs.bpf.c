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

#include "record/bpf/clock.bpf.h"
#include "record/bpf/events.bpf.h"
#include "record/bpf/places.bpf.h"
#include "record/bpf/switch.bpf.h"
#include "record/bpf/syscall.bpf.h"
#include "record/bpf/tasks.bpf.h"
#include "record/bpf/usdt.bpf.h"

char programs_license[] SEC("license") = "Dual BSD/GPL";
