/* The registers of user mode, for kernels that do not describe them. Only the names matter, see vmlinux_minimal.h. */
#ifndef ARCH_X86_64_PROCESSOR_KERNEL_REGISTERS_H
#define ARCH_X86_64_PROCESSOR_KERNEL_REGISTERS_H

struct pt_regs {
	unsigned long r15, r14, r13, r12, bp, bx, r11, r10, r9, r8, ax, cx, dx, si, di;
	unsigned long orig_ax;
	unsigned long ip, cs, flags, sp, ss;
};

/* The registers that the kernel keeps for a thread that does not run. */
struct thread_struct {
	unsigned long fsbase;
};

#endif
