/*
 * Calls mcount and __fentry__ as compilers do, with a distinct number in each register that may hold an argument
 * or be in use otherwise, and compares the registers afterwards. It calls them from many sites and threads, so
 * that the hooks execute all their cases: a thread's first event, new calls, known calls, and calls by other
 * callers.
 */
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { GENERAL = 9, VECTORS = 16, WIDE_VECTORS = 32, VECTOR_WORDS = 8, MASKS = 8 };

/* rax rcx rdx rsi rdi r8 r9 r10 r11 | zmm0 ... zmm31, or the part that the processor has | k0 ... k7 */
struct registers {
	uint64_t general[GENERAL];
	uint64_t spare[7];
	uint64_t vectors[WIDE_VECTORS][VECTOR_WORDS];
	uint64_t masks[MASKS];
};

/* void through_fentry(const struct registers *before, struct registers *after, long width); width: 0 xmm, 1 ymm, 2 zmm */
void through_fentry(const struct registers *before, struct registers *after, long width);
void through_mcount(const struct registers *before, struct registers *after, long width);

#define PASS(name, function)                                                                          \
	__asm__(".pushsection .text\n"                                                                \
		".globl " name "\n"                                                                   \
		".type " name ", @function\n" name ":\n"                                              \
		"push %rbp\n\tmov %rsp, %rbp\n\tpush %rbx\n\tpush %r12\n\tpush %r13\n\tpush %r14\n"   \
		"mov %rdi, %r12\n\tmov %rsi, %r13\n\tmov %rdx, %r14\n"                                \
		"cmp $1, %r14\n\tje 1f\n\tjg 2f\n"                                                    \
		".set n, 0\n.rept 16\n.altmacro\nget_xmm %n\n.set n, n + 1\n.endr\n\tjmp 3f\n"        \
		"1:\n.set n, 0\n.rept 16\nget_ymm %n\n.set n, n + 1\n.endr\n\tjmp 3f\n"               \
		"2:\n.set n, 0\n.rept 32\nget_zmm %n\n.set n, n + 1\n.endr\n"                         \
		".set n, 0\n.rept 8\nget_k %n\n.set n, n + 1\n.endr\n"                                \
		"3:\n\tmov (%r12), %rax\n\tmov 8(%r12), %rcx\n\tmov 16(%r12), %rdx\n"                 \
		"mov 24(%r12), %rsi\n\tmov 32(%r12), %rdi\n\tmov 40(%r12), %r8\n"                     \
		"mov 48(%r12), %r9\n\tmov 56(%r12), %r10\n\tmov 64(%r12), %r11\n"                     \
		"call " function "\n"                                                                 \
		"mov %rax, (%r13)\n\tmov %rcx, 8(%r13)\n\tmov %rdx, 16(%r13)\n"                       \
		"mov %rsi, 24(%r13)\n\tmov %rdi, 32(%r13)\n\tmov %r8, 40(%r13)\n"                     \
		"mov %r9, 48(%r13)\n\tmov %r10, 56(%r13)\n\tmov %r11, 64(%r13)\n"                     \
		"cmp $1, %r14\n\tje 4f\n\tjg 5f\n"                                                    \
		".set n, 0\n.rept 16\nput_xmm %n\n.set n, n + 1\n.endr\n\tjmp 6f\n"                   \
		"4:\n.set n, 0\n.rept 16\nput_ymm %n\n.set n, n + 1\n.endr\n\tvzeroupper\n\tjmp 6f\n" \
		"5:\n.set n, 0\n.rept 32\nput_zmm %n\n.set n, n + 1\n.endr\n"                         \
		".set n, 0\n.rept 8\nput_k %n\n.set n, n + 1\n.endr\n\tvzeroupper\n.noaltmacro\n"     \
		"6:\n\tpop %r14\n\tpop %r13\n\tpop %r12\n\tpop %rbx\n\tpop %rbp\n\tret\n"             \
		".size " name ", . - " name "\n"                                                      \
		".popsection\n")

__asm__(".macro get_xmm n\n\tmovdqu 128 + 64 * \\n(%r12), %xmm\\n\n.endm\n"
	".macro put_xmm n\n\tmovdqu %xmm\\n, 128 + 64 * \\n(%r13)\n.endm\n"
	".macro get_ymm n\n\tvmovdqu 128 + 64 * \\n(%r12), %ymm\\n\n.endm\n"
	".macro put_ymm n\n\tvmovdqu %ymm\\n, 128 + 64 * \\n(%r13)\n.endm\n"
	".macro get_zmm n\n\tvmovdqu64 128 + 64 * \\n(%r12), %zmm\\n\n.endm\n"
	".macro put_zmm n\n\tvmovdqu64 %zmm\\n, 128 + 64 * \\n(%r13)\n.endm\n"
	".macro get_k n\n\tkmovq 2176 + 8 * \\n(%r12), %k\\n\n.endm\n"
	".macro put_k n\n\tkmovq %k\\n, 2176 + 8 * \\n(%r13)\n.endm\n");

/* Functions that call the hook at their beginning and then return to the caller. */
__asm__(".pushsection .text\n"
	".type fentry_function, @function\nfentry_function:\n\tcall *__fentry__@GOTPCREL(%rip)\n\tret\n"
	".size fentry_function, . - fentry_function\n"
	".type mcount_function, @function\nmcount_function:\n"
	"push %rbp\n\tmov %rsp, %rbp\n\tcall *mcount@GOTPCREL(%rip)\n\tpop %rbp\n\tret\n"
	".size mcount_function, . - mcount_function\n"
	".popsection\n");

PASS("through_fentry", "fentry_function");
PASS("through_mcount", "mcount_function");

static long width(void)
{
	return __builtin_cpu_supports("avx512bw") ? 2 : __builtin_cpu_supports("avx") ? 1 : 0;
}

static void fill(struct registers *registers, uint64_t seed)
{
	static const int words[] = { 2, 4, 8 };
	memset(registers, 0, sizeof(*registers));
	for (int i = 0; i < GENERAL; i++)
		registers->general[i] = seed * 1000 + (uint64_t)i;
	for (int i = 0; i < (width() == 2 ? WIDE_VECTORS : VECTORS); i++)
		for (int word = 0; word < words[width()]; word++)
			registers->vectors[i][word] = seed << 32 | (uint64_t)(i * VECTOR_WORDS + word + 1);
	for (int i = 0; i < MASKS && width() == 2; i++)
		registers->masks[i] = seed * 77 + (uint64_t)i;
}

static void compare(const struct registers *before, const struct registers *after, const char *hook)
{
	for (size_t i = 0; i < sizeof(*before) / sizeof(uint64_t); i++) {
		uint64_t wanted = ((const uint64_t *)before)[i], found = ((const uint64_t *)after)[i];
		if (wanted == found)
			continue;
		fprintf(stderr, "%s: word %zu of the registers was %#lx and is %#lx\n", hook, i, wanted, found);
		_Exit(3);
	}
}

static void pass(void (*through)(const struct registers *, struct registers *, long), uint64_t seed, const char *hook)
{
	struct registers before, after;
	fill(&before, seed);
	memset(&after, 0, sizeof(after));
	through(&before, &after, width());
	compare(&before, &after, hook);
}

static volatile uint64_t handled;

static void handler(int number)
{
	(void)number;
	handled++;
	pass(through_fentry, handled, "__fentry__ in a handler");
	pass(through_mcount, handled, "mcount in a handler");
}

static void *run(void *seed)
{
	for (uint64_t i = 0; i < 1000; i++) {
		pass(through_fentry, i + (uint64_t)(uintptr_t)seed, "__fentry__");
		pass(through_mcount, i + (uint64_t)(uintptr_t)seed, "mcount");
		if (i % 100 == 0)
			raise(SIGUSR1);
	}
	return NULL;
}

int main(void)
{
	enum { THREADS = 8 };
	pthread_t threads[THREADS];
	signal(SIGUSR1, handler);
	run((void *)1);
	for (uintptr_t i = 0; i < THREADS; i++)
		if (pthread_create(&threads[i], NULL, run, (void *)(i + 2)) != 0)
			return 1;
	for (int i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	printf("calls %d\n", 2 * (THREADS + 1) * (1000 + 10));
	return 0;
}
