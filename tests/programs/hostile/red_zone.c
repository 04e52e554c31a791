/* A leaf function that keeps its data in the 128 bytes below its stack pointer, which belong to it, also while
 * signals arrive. */
#include "moment.h"

enum { TURNS = 2000 };

/* Fills the red zone with values from `seed`, runs a loop, and returns the OR of the differences of all 16 words:
 * 0 if they are unchanged. */
uint64_t red_zone_differs(uint64_t seed, uint64_t turns);

/* clang-format off */
__asm__(".text\n"
	".type red_zone_differs, @function\n"
	"red_zone_differs:\n"
	".cfi_startproc\n"
	"	mov $-128, %rcx\n"
	"1:	lea (%rdi,%rcx), %rdx\n"
	"	mov %rdx, (%rsp,%rcx)\n"
	"	add $8, %rcx\n"
	"	jnz 1b\n"
	"2:	dec %rsi\n"
	"	jnz 2b\n"
	"	xor %eax, %eax\n"
	"	mov $-128, %rcx\n"
	"3:	lea (%rdi,%rcx), %rdx\n"
	"	xor (%rsp,%rcx), %rdx\n"
	"	or %rdx, %rax\n"
	"	add $8, %rcx\n"
	"	jnz 3b\n"
	"	ret\n"
	".cfi_endproc\n"
	".size red_zone_differs, . - red_zone_differs\n");
/* clang-format on */

int main(void)
{
	uint64_t seed = 0x1993;

	while (moment_goes_on(1000)) {
		CHECK(red_zone_differs(seed, TURNS) == 0);
		seed = seed * 6364136223846793005u + 1;
	}
	return moment_ends("the red zone was kept\n");
}
