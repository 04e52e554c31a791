/*
 * All registers must survive an interruption: 16 general registers that a loop depends on, 16 vectors of 32 bytes where
 * the processor has them (of 16 bytes otherwise), the x87 stack, and the control words of both units.
 */
#include "moment.h"

enum { VECTORS = 16, VECTOR_BYTES = 32, TURNS = 3000 };

static unsigned char wanted[VECTORS][VECTOR_BYTES] __attribute__((aligned(32)));
static unsigned char found[VECTORS][VECTOR_BYTES] __attribute__((aligned(32)));

#define EACH_VECTOR(DO) \
	DO(0) DO(1) DO(2) DO(3) DO(4) DO(5) DO(6) DO(7) DO(8) DO(9) DO(10) DO(11) DO(12) DO(13) DO(14) DO(15)
#define LOAD_WIDE(n) "vmovdqa " #n "*32(%[wanted]), %%ymm" #n "\n\t"
#define STORE_WIDE(n) "vmovdqa %%ymm" #n ", " #n "*32(%[found])\n\t"
#define LOAD(n) "movdqa " #n "*32(%[wanted]), %%xmm" #n "\n\t"
#define STORE(n) "movdqa %%xmm" #n ", " #n "*32(%[found])\n\t"
#define SPIN "1: dec %[turns]\n\tjnz 1b\n\t"
#define VECTORS_CLOBBERED                                                                                          \
	"xmm0", "xmm1", "xmm2", "xmm3", "xmm4", "xmm5", "xmm6", "xmm7", "xmm8", "xmm9", "xmm10", "xmm11", "xmm12", \
		"xmm13", "xmm14", "xmm15", "memory", "cc"

NOINLINE static void keep_wide_vectors(void)
{
	long turns = TURNS;

	__asm__ volatile(EACH_VECTOR(LOAD_WIDE) SPIN EACH_VECTOR(STORE_WIDE) "vzeroupper"
			 : [turns] "+r"(turns)
			 : [wanted] "r"(wanted), [found] "r"(found)
			 : VECTORS_CLOBBERED);
}

NOINLINE static void keep_vectors(void)
{
	long turns = TURNS;

	__asm__ volatile(EACH_VECTOR(LOAD) SPIN EACH_VECTOR(STORE)
			 : [turns] "+r"(turns)
			 : [wanted] "r"(wanted), [found] "r"(found)
			 : VECTORS_CLOBBERED);
}

/* Fills the x87 stack with 8 values, and adds them up after a loop: 0 + 1 + ... + 7. */
NOINLINE static double keep_x87(void)
{
	static const int values[8] = { 0, 1, 2, 3, 4, 5, 6, 7 };
	long turns = TURNS;
	double sum;

	__asm__ volatile("fildl (%[v])\n\tfildl 4(%[v])\n\tfildl 8(%[v])\n\tfildl 12(%[v])\n\t"
			 "fildl 16(%[v])\n\tfildl 20(%[v])\n\tfildl 24(%[v])\n\tfildl 28(%[v])\n\t" SPIN
			 "faddp\n\tfaddp\n\tfaddp\n\tfaddp\n\tfaddp\n\tfaddp\n\tfaddp\n\tfstpl %[sum]"
			 : [turns] "+r"(turns), [sum] "=m"(sum)
			 : [v] "r"(values)
			 : "st", "st(1)", "st(2)", "st(3)", "st(4)", "st(5)", "st(6)", "st(7)", "memory", "cc");
	return sum;
}

/* Adds values from each general register except the stack pointer. */
NOINLINE static uint64_t keep_general(void)
{
	uint64_t sum;

	__asm__ volatile(
		"movq %%rbp, %%xmm0\n\t"
		"mov $1, %%eax\n\tmov $2, %%ebx\n\tmov $4, %%edx\n\tmov $8, %%esi\n\tmov $16, %%edi\n\t"
		"mov $32, %%ebp\n\tmov $64, %%r8d\n\tmov $128, %%r9d\n\tmov $256, %%r10d\n\tmov $512, %%r11d\n\t"
		"mov $1024, %%r12d\n\tmov $2048, %%r13d\n\tmov $4096, %%r14d\n\tmov $8192, %%r15d\n\t"
		"mov $3000, %%ecx\n\t1: dec %%ecx\n\tjnz 1b\n\t"
		"add %%rbx, %%rax\n\tadd %%rdx, %%rax\n\tadd %%rsi, %%rax\n\tadd %%rdi, %%rax\n\tadd %%rbp, %%rax\n\t"
		"add %%r8, %%rax\n\tadd %%r9, %%rax\n\tadd %%r10, %%rax\n\tadd %%r11, %%rax\n\tadd %%r12, %%rax\n\t"
		"add %%r13, %%rax\n\tadd %%r14, %%rax\n\tadd %%r15, %%rax\n\tmovq %%xmm0, %%rbp"
		: "=&a"(sum)
		:
		: "rbx", "rcx", "rdx", "rsi", "rdi", "r8", "r9", "r10", "r11", "r12", "r13", "r14", "r15", "xmm0",
		  "memory", "cc");
	return sum;
}

enum { MXCSR_UPWARD = 0x5f80, X87_UPWARD = 0x0b7f }; /* all masked, rounding upward */

static void set_control(void)
{
	uint32_t mxcsr = MXCSR_UPWARD;
	uint16_t x87 = X87_UPWARD;

	__asm__ volatile("ldmxcsr %0\n\tfldcw %1" ::"m"(mxcsr), "m"(x87));
}

/* Ignores the sticky flags, which the program's own arithmetic may set. */
static bool control_is_set(void)
{
	uint32_t mxcsr;
	uint16_t x87;

	__asm__ volatile("stmxcsr %0\n\tfnstcw %1" : "=m"(mxcsr), "=m"(x87));
	return (mxcsr & ~0x3fu) == MXCSR_UPWARD && x87 == X87_UPWARD;
}

int main(void)
{
	bool is_wide = __builtin_cpu_supports("avx");
	size_t width = is_wide ? VECTOR_BYTES : VECTOR_BYTES / 2;

	for (size_t i = 0; i < sizeof(wanted); i++)
		((unsigned char *)wanted)[i] = (unsigned char)(i * 37 + 11);
	set_control();
	while (moment_goes_on(50)) {
		memset(found, 0, sizeof(found));
		if (is_wide)
			keep_wide_vectors();
		else
			keep_vectors();
		for (size_t i = 0; i < VECTORS; i++)
			CHECK(!memcmp(found[i], wanted[i], width));
		CHECK(keep_x87() == 28);
		CHECK(keep_general() == 16383);
		CHECK(control_is_set());
	}
	return moment_ends("each register was kept\n");
}
