/* A function in assembler without unwind information, whose code cannot be followed: it jumps to an address that it computes. It keeps
 * a frame pointer. */
#include "burn.h"

__attribute__((noinline, used)) void below(void)
{
	burn(600 * 1000);
	NOT_A_TAIL_CALL();
}

void unknown(void);
__asm__(".text\n"
	".globl unknown\n"
	".type unknown, @function\n"
	"unknown:\n"
	"	push %rbp\n"
	"	mov %rsp, %rbp\n"
	"	lea 1f(%rip), %rax\n"
	"	jmp *%rax\n"
	"	.byte 0x06\n" /* no instruction */
	"1:	call below\n"
	"	leave\n"
	"	ret\n"
	".size unknown, . - unknown\n");

int main(void)
{
	unknown();
	share("main;unknown;below;burn", 1);
	return 0;
}
