/* Starts a thread that the C library has not created and does not list. */
#ifndef ARCH_X86_64_PROCESSOR_AGENT_START_THREAD_H
#define ARCH_X86_64_PROCESSOR_AGENT_START_THREAD_H

#include <stdint.h>
#include <string.h>
#include <sys/syscall.h>

enum { START_CONTROL_BLOCK = 1024 }; /* size of the block that `fs` points to */

/* Fills in a control block for fs: its own address, at two offsets for code and for the C library, and the guards
 * that stack protection and jumps compare. All other words are 0. */
static inline void start_control_block(uint8_t *block)
{
	enum { SELF = 0, LIBRARY_S = 0x10, GUARD = 0x28, POINTER_GUARD = 0x30 };
	uint64_t self = (uint64_t)(uintptr_t)block, guard, pointer_guard;
	__asm__("mov %%fs:0x28, %0" : "=r"(guard));
	__asm__("mov %%fs:0x30, %0" : "=r"(pointer_guard));
	memcpy(block + SELF, &self, sizeof(self));
	memcpy(block + LIBRARY_S, &self, sizeof(self));
	memcpy(block + GUARD, &guard, sizeof(guard));
	memcpy(block + POINTER_GUARD, &pointer_guard, sizeof(pointer_guard));
}

/* Calls clone() with these flags. The thread starts in function(argument), which must not return, on the stack that
 * ends at `stack` (a multiple of 16). Returns the thread's number, or -errno. */
static inline long start_thread(uint64_t flags, uint8_t *stack, const uint8_t *block, void (*function)(void *),
				void *argument)
{
	register uint64_t stack_register __asm__("rsi") = (uint64_t)(uintptr_t)stack;
	register uint64_t child_register __asm__("r10") = 0;
	register uint64_t block_register __asm__("r8") = (uint64_t)(uintptr_t)block;
	register void (*function_register)(void *) __asm__("r12") = function;
	register void *argument_register __asm__("r13") = argument;
	long result;
	__asm__ volatile("syscall\n\t"
			 "test %%rax, %%rax\n\t"
			 "jnz 1f\n\t"
			 "xor %%ebp, %%ebp\n\t"
			 "mov %%r13, %%rdi\n\t"
			 "call *%%r12\n\t"
			 "hlt\n"
			 "1:"
			 : "=a"(result)
			 : "0"((long)SYS_clone), "D"(flags), "r"(stack_register), "d"(0L), "r"(child_register),
			   "r"(block_register), "r"(function_register), "r"(argument_register)
			 : "rcx", "r11", "memory");
	return result;
}

#endif
