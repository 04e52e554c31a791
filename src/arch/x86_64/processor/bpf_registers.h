/* The registers of user mode for eBPF programs. Include it behind the kernel's types. */
#ifndef ARCH_X86_64_PROCESSOR_BPF_REGISTERS_H
#define ARCH_X86_64_PROCESSOR_BPF_REGISTERS_H

#include "processor/registers.h"

static __always_inline struct arch_frame registers_frame(const struct pt_regs *registers)
{
	return (struct arch_frame){ .pc = registers->ip, .sp = registers->sp, .fp = registers->bp };
}

static __always_inline void registers_copy(const struct pt_regs *registers, uint64_t to[ARCH_REGISTERS])
{
	to[0] = registers->ax, to[1] = registers->dx, to[2] = registers->cx, to[3] = registers->bx;
	to[4] = registers->si, to[5] = registers->di, to[6] = registers->bp, to[7] = registers->sp;
	to[8] = registers->r8, to[9] = registers->r9, to[10] = registers->r10, to[11] = registers->r11;
	to[12] = registers->r12, to[13] = registers->r13, to[14] = registers->r14, to[15] = registers->r15;
	to[16] = registers->ip;
}

/* Returns whether the registers belong to 32-bit code. */
static __always_inline bool registers_are_32_bit(const struct pt_regs *registers)
{
	enum { USER_CS_32 = 0x23 };
	return registers->cs == USER_CS_32;
}

/* Returns whether the registers belong to the kernel's code, which is in the upper half of the addresses. */
static __always_inline bool registers_are_kernels(const struct pt_regs *registers)
{
	return (int64_t)registers->ip < 0;
}

/* Returns argument 1 to 6 at the entry of a function. Number 0 is the constant 1. */
static __always_inline uint64_t registers_argument(const struct pt_regs *registers, uint8_t number)
{
	const uint64_t arguments[8] = {
		1, registers->di, registers->si, registers->dx, registers->cx, registers->r8, registers->r9
	};
	return *(volatile const uint64_t *)&arguments[number & 7];
}

/* Returns the address of a thread's control block, as it was when the thread last began to run. */
static __always_inline uint64_t thread_pointer(struct task_struct *task)
{
	return BPF_CORE_READ(task, thread.fsbase);
}

/* Returns the result at the return of a function. */
static __always_inline uint64_t registers_result(const struct pt_regs *registers)
{
	return registers->ax;
}

/* Returns the number of the system call, or a negative value if something else interrupted user mode. */
static __always_inline int64_t registers_call(const struct pt_regs *registers)
{
	return (int64_t)registers->orig_ax;
}

/* Returns whether the pc is behind the instruction that made the system call. That instruction
 * leaves the address behind it in rcx. The pc is elsewhere once the kernel has sent the thread
 * to a signal's handler, or back to repeat the call. */
static __always_inline bool registers_are_behind_call(const struct pt_regs *registers)
{
	return registers_call(registers) >= 0 && registers->cx == registers->ip;
}

/* Arguments of the system call. */
#define registers_call_second(registers) ((registers)->si)
#define registers_call_third(registers) ((registers)->dx)
#define registers_call_fourth(registers) ((registers)->r10)
#define registers_call_fifth(registers) ((registers)->r8)

/* Returns whether the system call returns from one of the kernel's probes in user space and is not the program's:
 * mov $335 or $336 to rax, syscall. */
static __always_inline bool registers_are_from_probe(const struct pt_regs *registers)
{
	enum { MOV_AND_SYSCALL_BYTES = 9, MOV_TO_RAX = 0xc0c748, NR_URETPROBE = 335, NR_UPROBE = 336 };
	uint64_t code = 0;
	if (bpf_probe_read_user(&code, sizeof(code), (const void *)(registers->ip - MOV_AND_SYSCALL_BYTES)) != 0)
		return false;
	uint32_t number = code >> 24;
	return (code & 0xffffff) == MOV_TO_RAX && (number == NR_URETPROBE || number == NR_UPROBE);
}

#endif
