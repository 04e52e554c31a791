/*
 * The parts of the kernel's types that the programs use, for a build on a machine whose kernel does not
 * describe itself (/sys/kernel/btf/vmlinux). It replaces the vmlinux.h that bpftool makes from that
 * description.
 *
 * Only names matter here: libbpf corrects offsets and sizes, also of bit fields, when it loads the
 * programs (CO-RE).
 */
#ifndef __VMLINUX_H__
#define __VMLINUX_H__ /* libbpf's headers test it: registers have the kernel's names */

#include <linux/bpf.h>

#define NULL ((void *)0)

typedef _Bool bool;
enum { false, true };

#pragma clang attribute push(__attribute__((preserve_access_index)), apply_to = record)

/* The registers of user mode, at the end of the kernel's stack. */
#include "processor/kernel_registers.h"

struct mm_struct {
	unsigned long start_stack;
};

struct upid {
	int nr;
	struct pid_namespace *ns;
};

struct pid {
	unsigned int level;
	struct upid numbers[1];
};

enum pid_type { PIDTYPE_PID, PIDTYPE_TGID };

struct signal_struct {
	struct pid *pids[PIDTYPE_TGID + 1];
};

struct return_instance {
	unsigned long stack;
	unsigned long orig_ret_vaddr;
	_Bool chained;
	struct return_instance *next;
};

struct uprobe_task {
	unsigned long vaddr, xol_vaddr;
	struct return_instance *return_instances;
};

struct thread_info {
	unsigned int status;
};

struct sched_entity {
	__u64 sum_exec_runtime;
};

struct task_struct {
	struct thread_info thread_info;
	unsigned int __state;
	struct uprobe_task *utask;
	unsigned int flags;
	int on_cpu;
	struct sched_entity se;
	struct mm_struct *mm;
	unsigned in_execve : 1;
	unsigned in_iowait : 1;
	int pid, tgid;
	struct task_struct *real_parent;
	struct pid *thread_pid;
	struct signal_struct *signal;
	struct thread_struct thread;
};

struct bvec_iter {
	unsigned int bi_size;
};

struct bio {
	unsigned int bi_opf;
	unsigned short bi_flags;
	struct bvec_iter bi_iter;
};

/* --- arguments of the programs --- */

struct bpf_perf_event_data {
	struct pt_regs regs;
	__u64 sample_period;
	__u64 addr;
};

struct bpf_iter__task {
	union {
		struct bpf_iter_meta *meta;
	};
	union {
		struct task_struct *task;
	};
};

#pragma clang attribute pop

#endif
