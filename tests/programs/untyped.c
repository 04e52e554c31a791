/*
 * Half of the time is spent below a function in assembler that has neither call frame information nor a symbol's type, as Go's
 * crosscall_amd64, and half below C alone.
 */
#include "burn.h"

void untyped(void (*function)(void));

__asm__(".text\n"
	".globl untyped\n"
	".globl untyped_middle\n"
	".balign 16\n"
	"untyped:\n"
	"	push %rbx\n"
	"	push %r12\n"
	"	push %r13\n"
	"untyped_middle:\n"
	"	call *%rdi\n"
	"	pop %r13\n"
	"	pop %r12\n"
	"	pop %rbx\n"
	"	ret\n"
	".balign 16, 0xcc\n");

NOINLINE static void called_back(void)
{
	burn(1000);
	NOT_A_TAIL_CALL();
}

NOINLINE static void directly(void)
{
	burn(1000);
	NOT_A_TAIL_CALL();
}

int main(void)
{
	for (int i = 0; i < 100; i++) {
		untyped(called_back);
		directly();
	}
	share("main;untyped_middle;called_back;burn", 0.5); /* the nearest symbol */
	share("main;directly;burn", 0.5);
	return 0;
}
