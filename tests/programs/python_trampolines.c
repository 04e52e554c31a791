/*
 * Calls a function through the code by which CPython on x86-64 calls its interpreter once for each function that a perf map lists
 * (Python/asm_trampoline.S). That code keeps no frame pointer; neither does this program, whose frame pointer is 1 there. The file's name is
 * that of an interpreter. It makes events in `begin` until its standard input has a byte or ends; the events of `main` follow.
 */
#include <poll.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "burn.h"

static const unsigned char code[] = { 0x48, 0x83, 0xec, 0x08, 0xff, 0xd1, 0x48, 0x83, 0xc4, 0x08, 0xc3 };

NOINLINE static long function(long a, long b, long c, void *of)
{
	EVENT_HERE();
	NOT_A_TAIL_CALL();
	return a + b + c + (of != NULL);
}

typedef long trampoline(long, long, long, void *);

NOINLINE static long evaluate(trampoline *call)
{
	long result;
	/* As if the compiler kept a number in rbp. */
	__asm__ volatile("push %%rbp\n\t.cfi_adjust_cfa_offset 8\n\t.cfi_rel_offset rbp, 0\n\t"
			 "mov $1, %%ebp\n\tcall *%%rax\n\tpop %%rbp\n\t"
			 ".cfi_adjust_cfa_offset -8\n\t.cfi_restore rbp"
			 : "=a"(result)
			 : "a"(call), "D"(1L), "S"(2L), "d"(3L), "c"(function)
			 : "r8", "r9", "r10", "r11", "cc", "memory");
	NOT_A_TAIL_CALL();
	return result;
}

NOINLINE static void begin(trampoline *call)
{
	struct pollfd input = { STDIN_FILENO, POLLIN, 0 };
	do
		evaluate(call);
	while (poll(&input, 1, 10) == 0);
	NOT_A_TAIL_CALL();
}

int main(void)
{
	enum { PAGE = 4096 };
	unsigned char *page = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (page == MAP_FAILED)
		return 1;
	for (size_t at = 0; at + sizeof(code) <= PAGE; at += sizeof(code))
		memcpy(page + at, code, sizeof(code));
	if (mprotect(page, PAGE, PROT_READ | PROT_EXEC) != 0)
		return 1;
	trampoline *call = (trampoline *)(void *)(page + 3 * sizeof(code));
	begin(call);
	for (int i = 0; i < 20; i++)
		evaluate(call);
	return 0;
}
