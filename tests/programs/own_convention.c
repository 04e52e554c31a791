/*
 * Assembler that calls a routine of its own by rules of its own, as OpenSSL's AES-GCM does: its CFA is in rax, which the routine does not change.
 * Half of the time it is called directly, which a walk can verify, and half through a pointer.
 */
#include "burn.h"

void assembler(void);
void routine(void);

/* Counts down from 1,000,000. */
__asm__(".text\n"
	".type routine, @function\n"
	"routine:\n"
	".cfi_startproc\n"
	"	mov $1000000, %ecx\n"
	"1:	dec %ecx\n"
	"	jnz 1b\n"
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

NOINLINE static void directly(void)
{
	assembler();
	NOT_A_TAIL_CALL();
}

NOINLINE static void by_pointer(void (*volatile function)(void))
{
	function();
	NOT_A_TAIL_CALL();
}

int main(void)
{
	for (int i = 0; i < 500; i++) {
		directly();
		by_pointer(assembler);
	}
	share("main;directly;assembler;routine", 0.5);
	share("main;by_pointer;assembler;routine", 0.5);
	return 0;
}
