/*
 * Defines an interposing function that runs before the real function and leaves nothing on the stack: the real function finds the
 * caller's return address where the caller has put it.
 *
 *	|  return address   |  <- stack pointer, before and afterwards
 *	|  first, second and third argument, while `asks` is called
 *
 * The function calls `asks` with its arguments. `asks` returns the address of the real function, to which the function then jumps,
 * with the same arguments.
 */
#ifndef ARCH_X86_64_PROCESSOR_AGENT_STANDS_BEFORE_H
#define ARCH_X86_64_PROCESSOR_AGENT_STANDS_BEFORE_H

#define STANDS_BEFORE(name, asks)                \
	__asm__(".pushsection .text\n"           \
		".globl " name "\n"              \
		".type " name ", @function\n"    \
		".balign 16\n" name ":\n"        \
		"	.cfi_startproc\n"              \
		"	endbr64\n"                     \
		"	push %rdi\n"                   \
		"	.cfi_adjust_cfa_offset 8\n"    \
		"	push %rsi\n"                   \
		"	.cfi_adjust_cfa_offset 8\n"    \
		"	push %rdx\n"                   \
		"	.cfi_adjust_cfa_offset 8\n"    \
		"	call " asks "\n"         \
		"	pop %rdx\n"                    \
		"	.cfi_adjust_cfa_offset -8\n"   \
		"	pop %rsi\n"                    \
		"	.cfi_adjust_cfa_offset -8\n"   \
		"	pop %rdi\n"                    \
		"	.cfi_adjust_cfa_offset -8\n"   \
		"	jmp *%rax\n"                   \
		"	.cfi_endproc\n"                \
		".size " name ", . - " name "\n" \
		".popsection\n")

/* The caller's stack pointer after the call, computed from the CFA of `asks`: three arguments and a return address
 * lie between. */
#define STANDS_BEFORE_STACK_POINTER(frame_address) ((uint64_t)(uintptr_t)(frame_address) + 4 * sizeof(uint64_t))

#endif
