/*
 * A program whose start code has no unwind information and uses the frame pointer as an ordinary register, as the start code of
 * musl. It has no C library. Its frames are program, outer, inner. The first touch of each page is an event.
 * Half way it holds (hold.h).
 */

/* Ends by exit_group(0). */
__asm__(".text\n"
	".globl _start\n"
	"_start:\n"
	"	xor %ebp, %ebp\n"
	"	mov %rsp, %rdi\n"
	"	and $-16, %rsp\n"
	"	call start_code\n"
	"	hlt\n"
	"start_code:\n"
	"	sub $8, %rsp\n"
	"	mov $12345, %ebp\n"
	"	call program\n"
	"	mov $231, %eax\n"
	"	xor %edi, %edi\n"
	"	syscall\n");

enum { PAGE_BYTES = 4096, PAGES = 50 };

static _Alignas(PAGE_BYTES) volatile char pages[2 * PAGES][PAGE_BYTES];

__attribute__((noipa)) void inner(int from, int to)
{
	for (int i = from; i < to; i++)
		pages[i][0] = 1;
}

__attribute__((noipa)) void outer(int first)
{
	inner(first, first + PAGES / 2);
	inner(first + PAGES / 2, first + PAGES);
	__asm__ volatile("");
}

static void hold(void)
{
	char byte;
	long result;

	do {
		result = 0; /* read */
		__asm__ volatile("syscall" : "+a"(result) : "D"(0l), "S"(&byte), "d"(1l) : "rcx", "r11", "memory");
	} while (result < 0);
}

__attribute__((noipa)) void program(void)
{
	outer(0);
	hold();
	outer(PAGES);
	__asm__ volatile("");
}
