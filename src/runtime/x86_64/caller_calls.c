/*
 * dlopen, dlmopen and dlsym look at who calls them: its search path, its place among the
 * loaded objects. So what stands before them keeps the caller's return address where it is:
 *
 *	|  return address   |  <- stack pointer, before and behind
 *	|  first, second and third argument, while the real function is asked for
 *
 * and jumps to what calls_loading.c wants in its place.
 */
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

STANDS_BEFORE("dlopen", "loading_by_dlopen");
STANDS_BEFORE("dlmopen", "loading_by_dlmopen");
STANDS_BEFORE("dlsym", "loading_by_dlsym");
