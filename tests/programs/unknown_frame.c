/* A function in assembler without unwind information, whose code cannot be followed: it jumps to an address that it computes. It keeps
 * a frame pointer. With -DZERO_FRAME, it has other contents in that register: 0. */
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
	"1:\n"
#ifdef ZERO_FRAME
	"	push %rbp\n"
	"	push %rbp\n"
	"	xor %ebp, %ebp\n"
	"	call below\n"
	"	pop %rbp\n"
	"	pop %rbp\n"
#else
	"	call below\n"
#endif
	"	leave\n"
	"	ret\n"
	".size unknown, . - unknown\n");

int main(void)
{
	unknown();
	share("main;unknown;below;burn", 1);
	return 0;
}
