/* The properties of the processor, and of Linux on it, that the agent uses. */
#ifndef ARCH_X86_64_PROCESSOR_AGENT_MACHINE_H
#define ARCH_X86_64_PROCESSOR_AGENT_MACHINE_H

#include <asm/prctl.h>
#include <assert.h>
#include <errno.h>
#include <linux/audit.h>
#include <setjmp.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/syscall.h>
#include <ucontext.h>

#include "processor/registers.h"

/* --- system calls ---
 *
 * Made here and not by the C library, where this library or the program may interpose the library's functions.
 * Both return the kernel's result: -errno is an error. */

/* Makes a system call of the program, whatever its filters permit. */
static inline long machine_call_of_program(long number, long a, long b, long c, long d, long e, long f)
{
	register long r10 __asm__("r10") = d;
	register long r8 __asm__("r8") = e;
	register long r9 __asm__("r9") = f;
	long result;
	__asm__ volatile("syscall"
			 : "=a"(result)
			 : "0"(number), "D"(a), "S"(b), "d"(c), "r"(r10), "r"(r8), "r"(r9)
			 : "rcx", "r11", "memory");
	return result;
}

/* The seccomp filters of the present thread, and those that were set for all threads; NULL: none is known. */
struct machine_filter;
extern _Thread_local const struct machine_filter *machine_filters __attribute__((tls_model("initial-exec")));
extern const struct machine_filter *machine_filters_of_all;

/* Makes the call if the filters permit it, otherwise returns -EPERM. */
long machine_filtered_syscall(long number, long a, long b, long c, long d, long e, long f);

/* Number of system calls that the agent's threads make now: they may have examined the filters
 * already. A thread that sets a filter for all threads waits until there are none. */
extern uint32_t machine_calls;

/* Calls that may wait for long, or do not return, are not counted. */
static inline bool machine_counts(long number)
{
	return number != SYS_accept4 && number != SYS_recvfrom && number != SYS_clock_nanosleep && number != SYS_exit;
}

/* Makes a system call of the agent. */
static inline long machine_syscall(long number, long a, long b, long c, long d, long e, long f)
{
	if (machine_counts(number))
		__atomic_add_fetch(&machine_calls, 1, __ATOMIC_SEQ_CST);
	long result = __builtin_expect(machine_filters || machine_filters_of_all, 0)
			      ? machine_filtered_syscall(number, a, b, c, d, e, f)
			      : machine_call_of_program(number, a, b, c, d, e, f);
	if (machine_counts(number))
		__atomic_sub_fetch(&machine_calls, 1, __ATOMIC_SEQ_CST);
	return result;
}

#define MACHINE_AUDIT_ARCH AUDIT_ARCH_X86_64

/* --- time --- */

/* Returns a time stamp: ticks of a clock that runs evenly, independent of the processor's
 * frequency. All instructions before it have been executed; without that, a function that ends
 * with loads that miss the caches leaves their time to its caller. */
static inline uint64_t machine_time_stamp(void)
{
	uint32_t low, high;
	__asm__ volatile("lfence\n\trdtsc" : "=a"(low), "=d"(high) : : "memory");
	return (uint64_t)high << 32 | low;
}

/* --- memory that only one thread and its handlers write: one instruction each --- */

static inline void machine_add_word(uint64_t *at, uint64_t value)
{
	__asm__ volatile("addq %1, %0" : "+m"(*at) : "r"(value));
}

/* Adds to a word. Returns its value before. */
static inline uint64_t machine_take(uint64_t *at, uint64_t value)
{
	__asm__ volatile("xaddq %0, %1" : "+r"(value), "+m"(*at) : : "memory");
	return value;
}

/* Replaces a word if it is `old`. Returns whether it was. */
static inline bool machine_replace_word(uint64_t *at, uint64_t old, uint64_t value)
{
	bool has;
	__asm__ volatile("cmpxchgq %3, %1" : "=@ccz"(has), "+m"(*at), "+a"(old) : "r"(value) : "memory");
	return has;
}
#define machine_replace(at, old, value) \
	machine_replace_word((uint64_t *)(void *)(at), (uint64_t)(uintptr_t)(old), (uint64_t)(uintptr_t)(value))

/* --- registers --- */

/* Returns whether a function's code begins by saving its caller's frame pointer: push %rbp. */
static inline bool machine_pushes_frame_pointer(const uint8_t *code)
{
	return *code == 0x55;
}

enum { MACHINE_RBX = 3, MACHINE_R12 = 12 }; /* by DWARF's numbers */

static inline void machine_registers_of(const ucontext_t *context, struct arch_registers *registers)
{
	static const uint8_t by_dwarf[ARCH_REGISTERS] = { REG_RAX, REG_RDX, REG_RCX, REG_RBX, REG_RSI, REG_RDI,
							  REG_RBP, REG_RSP, REG_R8,  REG_R9,  REG_R10, REG_R11,
							  REG_R12, REG_R13, REG_R14, REG_R15, REG_RIP };
	for (int i = 0; i < ARCH_REGISTERS; i++)
		registers->value[i] = (uint64_t)context->uc_mcontext.gregs[by_dwarf[i]];
}

static inline uint64_t machine_program_counter_of(const ucontext_t *context)
{
	return (uint64_t)context->uc_mcontext.gregs[REG_RIP];
}

static inline void machine_program_counter_set(ucontext_t *context, uint64_t pc)
{
	context->uc_mcontext.gregs[REG_RIP] = (greg_t)pc;
}

static inline uint64_t machine_stack_pointer_of(const ucontext_t *context)
{
	return (uint64_t)context->uc_mcontext.gregs[REG_RSP];
}

/* Returns the address of the thread's control block, which the C library keeps above the thread's stack. */
static inline uint64_t machine_thread_pointer(void)
{
	uint64_t value;
	__asm__("mov %%fs:0, %0" : "=r"(value));
	return value;
}

/* For a function whose return address `return_address` is at `return_slot`: returns the stack pointer of the code
 * that it has interrupted if it is a signal handler, or 0 if not. The kernel puts a ucontext_t behind the return
 * address of a handler. */
static inline uint64_t machine_interrupted_by(uint64_t return_address, uint64_t return_slot)
{
	/* mov $SYS_rt_sigreturn, %rax; syscall */
	static const uint8_t code[] = { 0x48, 0xc7, 0xc0, 0x0f, 0x00, 0x00, 0x00, 0x0f, 0x05 };
	for (uint32_t i = 0; i < sizeof(code); i++)
		if (((const uint8_t *)(uintptr_t)return_address)[i] != code[i])
			return 0;
	return machine_stack_pointer_of((const ucontext_t *)(uintptr_t)(return_slot + sizeof(uint64_t)));
}

/* Returns the stack pointer that longjmp will set. The C library stores it rotated and XORed with the thread's
 * pointer guard. */
static inline uint64_t machine_stack_pointer_of_jump(const struct __jmp_buf_tag *target)
{
	enum { JUMP_RSP = 6, TURNED_BITS = 0x11 };
	uint64_t value = (uint64_t)target->__jmpbuf[JUMP_RSP], guard;
	__asm__("mov %%fs:0x30, %0" : "=r"(guard));
	return (value >> TURNED_BITS | value << (64 - TURNED_BITS)) ^ guard;
}

/* Fills in the present registers; registers that a call may change are 0. Always inlined, so that they are the registers of the
 * includer's frame. */
static inline __attribute__((always_inline)) void machine_registers_here(struct arch_registers *registers)
{
	*registers = (struct arch_registers){ { 0 } };
	uint64_t *value = registers->value;
	__asm__ volatile("lea 0(%%rip), %%rax\n\tmov %%rax, %0\n\tmov %%rsp, %1\n\tmov %%rbp, %2\n\tmov %%rbx, %3"
			 : "=m"(value[ARCH_PC_REGISTER]), "=m"(value[ARCH_SP_REGISTER]), "=m"(value[ARCH_FP_REGISTER]),
			   "=m"(value[MACHINE_RBX])
			 :
			 : "rax");
	__asm__ volatile("mov %%r12, %0\n\tmov %%r13, %1\n\tmov %%r14, %2\n\tmov %%r15, %3"
			 : "=m"(value[MACHINE_R12]), "=m"(value[MACHINE_R12 + 1]), "=m"(value[MACHINE_R12 + 2]),
			   "=m"(value[MACHINE_R12 + 3]));
}

/* Returns whether this thread has a control block already: a static program calls its resolvers
 * before. Makes a system call. */
static inline bool machine_has_thread_pointer(void)
{
	uint64_t value = 0;
	return machine_call_of_program(SYS_arch_prctl, ARCH_GET_FS, (long)&value, 0, 0, 0, 0) == 0 && value != 0;
}

/* --- what a signal interrupted --- */

enum machine_state {
	MACHINE_RUNS,       /* user code */
	MACHINE_IN_SYSCALL, /* the end of a system call that had its result */
	MACHINE_WAITED      /* a system call, which may be restarted */
};

/* A system call that a signal interrupts returns EINTR, or the kernel sets rip back to its instruction and rax to
 * its number. */
static inline enum machine_state machine_state_of(const ucontext_t *context)
{
	enum { SYSCALL = 0x050f, PAGE = 4096, NUMBERS = 1024, USER_BITS = 47 };
	uint64_t rip = (uint64_t)context->uc_mcontext.gregs[REG_RIP];
	long long rax = context->uc_mcontext.gregs[REG_RAX];
	/* The code at rip is readable, the two bytes before it only if they are in the same page. */
	if (rip >> USER_BITS || rip % PAGE < sizeof(uint16_t) || rip % PAGE > PAGE - sizeof(uint16_t))
		return MACHINE_RUNS;
	const uint16_t *at = (const uint16_t *)(uintptr_t)rip;
	uint16_t here, before;
	__builtin_memcpy(&here, at, sizeof(here));
	__builtin_memcpy(&before, (const uint8_t *)at - sizeof(before), sizeof(before));
	if (here == SYSCALL && rax >= 0 && rax < NUMBERS)
		return MACHINE_WAITED;
	if (before != SYSCALL)
		return MACHINE_RUNS;
	return rax == -EINTR ? MACHINE_WAITED : MACHINE_IN_SYSCALL;
}

#endif
