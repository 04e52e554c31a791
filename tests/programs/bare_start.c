/*
 * A program whose start code has no unwind information and uses the frame pointer as an ordinary register, as that of
 * musl. It has no C library. Its frames are program, outer, inner.
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

static volatile unsigned long sum;

__attribute__((noipa)) void inner(unsigned long rounds)
{
	for (unsigned long i = 0; i < rounds; i++)
		sum += i;
}

__attribute__((noipa)) void outer(unsigned long rounds)
{
	inner(rounds);
	inner(rounds / 2);
	__asm__ volatile("");
}

__attribute__((noipa)) void program(void)
{
	outer(400000000);
	outer(200000000);
	__asm__ volatile("");
}
