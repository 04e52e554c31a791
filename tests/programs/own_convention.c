/*
 * Assembler that calls a routine of its own by rules of its own, as OpenSSL's AES-GCM does: its CFA is in rax, which the routine does not change.
 * Half of the time it is called directly, which a walk can verify, and half through a pointer. Each call of the routine is a page fault, and a
 * division by zero.
 */
#include <sys/mman.h>

#include "burn.h"

enum { CALLS = 100, PAGE_BYTES = 4096 };

void assembler(char *page);

__asm__(".text\n"
	".type routine, @function\n"
	"routine:\n"
	".cfi_startproc\n"
	"	movb $1, (%rdi)\n"
	"	mov $1, %ecx\n"
	"	cvtsi2sd %ecx, %xmm0\n"
	"	xorpd %xmm1, %xmm1\n"
	"	divsd %xmm1, %xmm0\n"
	"	ret\n"
	".cfi_endproc\n"
	".size routine, . - routine\n"
	".type assembler, @function\n"
	"assembler:\n"
	".cfi_startproc\n"
	"	lea (%rsp), %rax\n"
	".cfi_def_cfa_register %rax\n"
	"	push %rbx\n"
	".cfi_offset %rbx, -16\n"
	"	push %rbp\n"
	".cfi_offset %rbp, -24\n"
	"	xor %ebp, %ebp\n"
	"	call routine\n"
	"	mov -16(%rax), %rbp\n"
	".cfi_restore %rbp\n"
	"	mov -8(%rax), %rbx\n"
	".cfi_restore %rbx\n"
	"	lea (%rax), %rsp\n"
	".cfi_def_cfa_register %rsp\n"
	"	ret\n"
	".cfi_endproc\n"
	".size assembler, . - assembler\n");

NOINLINE static void directly(char *page)
{
	assembler(page);
	NOT_A_TAIL_CALL();
}

NOINLINE static void by_pointer(void (*volatile function)(char *page), char *page)
{
	function(page);
	NOT_A_TAIL_CALL();
}

int main(void)
{
	const size_t bytes = 2ul * CALLS * PAGE_BYTES;
	char *pages = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (pages == MAP_FAILED || madvise(pages, bytes, MADV_NOHUGEPAGE))
		return 1;
	for (int i = 0; i < CALLS; i++) {
		directly(pages + 2ul * i * PAGE_BYTES);
		by_pointer(assembler, pages + (2ul * i + 1) * PAGE_BYTES);
	}
	share("main;directly;assembler;routine", 0.5);
	share("main;by_pointer;assembler;routine", 0.5);
	return 0;
}
