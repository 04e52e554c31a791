/* Call frame instructions of x86-64 to rows. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <string.h>

#include "processor/tests.h"
#include "support/tiny_table.h"

static const struct tiny_rows rules[] = {
	TINY_ROWS("push rbp; mov rbp,rsp; leave", "z",
		  "1000 sp+8; 1001 sp+16 fp-16; 1004 fp+16 fp-16; 103f sp+8; 1040 none", 0x41, 0x0e, 16, 0x86, 2, 0x43,
		  0x0d, 6, 0x02, 0x3b, 0xc6, 0x0c, 7, 8),
	TINY_ROWS("advances of 2, 4 and 8 bytes", "z", "1000 sp+8; 1010 sp+16; 1030 sp+24; 1038 sp+32; 1040 none", 0x03,
		  0x10, 0, 0x0e, 16, 0x04, 0x20, 0, 0, 0, 0x0e, 24, 0x1d, 8, 0, 0, 0, 0, 0, 0, 0, 0x0e, 32),
	TINY_ROWS("pop rbp, left unsaid", "z", "1000 sp+8; 1001 sp+16 fp-16; 1002 sp+8; 1003 sp+16 fp-16; 1040 none",
		  0x41, 0x0e, 16, 0x86, 2, 0x41, 0x0a, 0x0e, 8, 0x41, 0x0b),
	TINY_ROWS("rbp in the red zone", "z", "1000 sp+8; 1001 sp+8 fp-16; 1002 sp+32 fp-16; 1003 sp+8; 1040 none",
		  0x41, 0x86, 2, 0x41, 0x0e, 32, 0x41, 0x0e, 8),
	TINY_ROWS("equal neighbours are one row", "z", "1000 sp+8; 1040 none", 0x42, 0x83, 2, 0x42, 0x8c, 3),
	TINY_ROWS("nested remember and restore", "z",
		  "1000 sp+8; 1001 sp+16; 1002 sp+24; 1003 sp+16; 1004 sp+8; 1040 none", 0x0a, 0x41, 0x0e, 16, 0x0a,
		  0x41, 0x0e, 24, 0x41, 0x0b, 0x41, 0x0b),
	TINY_ROWS("restore brings the CFA back", "z", "1000 sp+8; 1001 fp+16 fp-16; 1002 sp+8; 1040 none", 0x0a, 0x41,
		  0x0c, 6, 16, 0x86, 2, 0x41, 0x0b),
	TINY_ROWS("restore without remember", "z", "1000 sp+8; 1001 none", 0x41, 0x0b),
	TINY_ROWS("what follows damage is unknown", "z", "1000 sp+8; 1001 sp+16; 1002 none", 0x41, 0x0e, 16, 0x41, 0x3e,
		  0, 0, 0x41, 0x0e, 24),
	TINY_ROWS("pushed arguments do not count", "z", "1000 sp+8; 1040 none", 0x41, 0x2e, 16, 0x41, 0x2e, 0),
	TINY_ROWS("signed and factored", "z", "1000 sp+8; 1001 fp+32; 1002 fp+24 fp-24; 1040 none", 0x41, 0x12, 6, 0x7c,
		  0x41, 0x13, 0x7d, 0x11, 6, 3),
	TINY_ROWS("extended and negative offsets", "z", "1000 sp+8 fp-24; 1001 sp+8; 1002 sp+8 fp-16; 1040 none", 0x05,
		  6, 3, 0x41, 0x06, 6, 0x41, 0x2f, 6, 0x7e, 0x05, 6, 2),
	TINY_ROWS("same value; undefined vector registers", "z", "1000 sp+8 fp-16; 1001 sp+8; 1040 none", 0x86, 2, 0x41,
		  0x08, 6, 0x07, 40),
	TINY_ROWS("the outermost frame", "z", "1000 end; 1040 none", 0x07, 16),
	TINY_ROWS("rbp is a value", "z", "1000 slow; 1040 none", 0x14, 6, 2),
	TINY_ROWS("rbp is in another register", "z", "1000 slow; 1040 none", 0x09, 6, 12),
	TINY_ROWS("rbp is at the CFA", "z", "1000 slow; 1040 none", 0x86, 0),
	TINY_ROWS("rbp is too far away", "z", "1000 sp+8 fp-1024; 1001 slow; 1040 none", 0x86, 0x80, 1, 0x41, 0x86,
		  0x81, 1),
	TINY_ROWS("the CFA is no multiple of 8", "z", "1000 slow; 1040 none", 0x0e, 20),
	TINY_ROWS("the CFA is too far away", "z", "1000 sp+262136; 1001 slow; 1040 none", 0x0e, 0xf8, 0xff, 0x0f, 0x41,
		  0x0e, 0x80, 0x80, 0x10),
	TINY_ROWS("the CFA in r10", "z", "1000 slow; 1040 none", 0x0c, 10, 0),
	TINY_ROWS("the return address in rax", "z", "1000 slow; 1040 none", 0x09, 16, 0),
	TINY_ROWS("the return address elsewhere", "z", "1000 slow; 1040 none", 0x90, 2),
	TINY_ROWS("rsp is not the CFA", "z", "1000 slow; 1040 none", 0x16, 7, 2, 0x77, 0),
	TINY_ROWS("realigned stack", "z", "1000 slow; 1001 deref-8; 1040 none", 0x0c, 10, 0, 0x41, 0x10, 6, 2, 0x76, 0,
		  0x0f, 3, 0x76, 0x78, 0x06),
	TINY_ROWS("realigned, but rbp elsewhere", "z", "1000 slow; 1040 none", 0x10, 6, 2, 0x76, 8, 0x0f, 3, 0x76, 0x78,
		  0x06),
	TINY_ROWS("PLT of 11", "z", "1000 plt+8>=11; 1040 none", 0x0f, 11, 0x77, 8, 0x80, 0, 0x3f, 0x1a, 0x3b, 0x2a,
		  0x33, 0x24, 0x22),
	TINY_ROWS("PLT of 10", "z", "1000 plt+8>=10; 1040 none", 0x0f, 11, 0x77, 8, 0x80, 0, 0x3f, 0x1a, 0x3a, 0x2a,
		  0x33, 0x24, 0x22),
	TINY_ROWS("PLT with another shift", "z", "1000 slow; 1040 none", 0x0f, 11, 0x77, 8, 0x80, 0, 0x3f, 0x1a, 0x3b,
		  0x2a, 0x34, 0x24, 0x22),
	TINY_ROWS("PLT that saves rbp", "z", "1000 slow; 1040 none", 0x86, 2, 0x0f, 11, 0x77, 8, 0x80, 0, 0x3f, 0x1a,
		  0x3b, 0x2a, 0x33, 0x24, 0x22),
	TINY_ROWS("signal frame", "zS", "1000 signal; 1040 none", 0x0f, 4, 0x77, 0xa0, 1, 0x06, 0x10, 6, 3, 0x77, 0xf8,
		  0, 0x10, 16, 3, 0x77, 0xa8, 1),
	TINY_ROWS("signal frame below its ucontext", "zS", "1000 signal+8; 1040 none", 0x0f, 4, 0x77, 0xa8, 1, 0x06,
		  0x10, 6, 3, 0x77, 0x80, 1, 0x10, 16, 3, 0x77, 0xb0, 1),
	TINY_ROWS("signal frame of another layout", "zS", "1000 slow; 1040 none", 0x0f, 4, 0x77, 0xa0, 1, 0x06, 0x10, 6,
		  3, 0x77, 0xf0, 0, 0x10, 16, 3, 0x77, 0xa8, 1),
	TINY_ROWS("signal frame with an ordinary rule", "zS", "1000 slow; 1040 none", 0x00),
	TINY_ROWS("an expression that is cut off", "z", "1000 none", 0x0f, 30, 0x77),
};

static void instructions_become_rows(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(rules) / sizeof(rules[0]); i++)
		tiny_rows_check(&rules[i], BYTES(TEST_FIRST_RULES));
}

/* runtime.asmcgocall of Go 1.19 and of later versions, as far as it matters. */
static void finds_switches(void **state)
{
	(void)state;
	static const struct {
		uint8_t code[ARCH_SWITCH_BYTES];
		bool found;
		int16_t cfa;
		int8_t fp;
	} cases[] = {
		/* call *%rax; mov 0x30(%rsp),%rdi; mov 8(%rdi),%rsi; sub 0x28(%rsp),%rsi; mov %rdi,%fs:-8; mov %rsi,%rsp */
		{ { 0xff, 0xd0, 0x48, 0x8b, 0x7c, 0x24, 0x30, 0x48, 0x8b, 0x77, 0x08, 0x48, 0x2b, 0x74,
		    0x24, 0x28, 0x64, 0x48, 0x89, 0x3c, 0x25, 0xf8, 0xff, 0xff, 0xff, 0x48, 0x89, 0xf4 },
		  true,
		  5,
		  6 },
		/* ... mov 8(%rsp),%rdi; mov 8(%rdi),%rsi; sub (%rsp),%rsi; ... */
		{ { 0xff, 0xd0, 0x48, 0x8b, 0x7c, 0x24, 0x08, 0x48, 0x8b, 0x77, 0x08, 0x48, 0x2b, 0x34,
		    0x24, 0x64, 0x48, 0x89, 0x3c, 0x25, 0xf8, 0xff, 0xff, 0xff, 0x48, 0x89, 0xf4 },
		  true,
		  0,
		  1 },
		/* call *%rax; mov 0x28(%rsp),%rsi; mov %rsi,%rsp */
		{ { 0xff, 0xd0, 0x48, 0x8b, 0x74, 0x24, 0x28, 0x48, 0x89, 0xf4 }, true, 5, 0 },
		/* call *%rax; mov 8(%rsp),%rdx; mov %rdx,%rsp */
		{ { 0xff, 0xd0, 0x48, 0x8b, 0x54, 0x24, 0x08, 0x48, 0x89, 0xd4 }, true, 1, 0 },
		/* The same without the change of rsp, with slots that are not adjacent, and with another call. */
		{ { 0xff, 0xd0, 0x48, 0x8b, 0x74, 0x24, 0x28, 0x48, 0x89, 0xf0 }, false, 0, 0 },
		{ { 0xff, 0xd0, 0x48, 0x8b, 0x7c, 0x24, 0x38, 0x48, 0x8b, 0x77, 0x08, 0x48, 0x2b, 0x74, 0x24, 0x28,
		    0x48, 0x89, 0xf4 },
		  false,
		  0,
		  0 },
		{ { 0xff, 0xd3, 0x48, 0x8b, 0x74, 0x24, 0x28, 0x48, 0x89, 0xf4 }, false, 0, 0 },
	};
	enum { BEFORE = 9 };
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		uint8_t code[BEFORE + ARCH_SWITCH_BYTES] = { 0xff, 0xd0, 0x90, 0xff };
		struct unwind_row row = { 0 };
		size_t at = 0, end = 0;
		memcpy(code + BEFORE, cases[i].code, ARCH_SWITCH_BYTES);
		assert_int_equal(arch_next_switch(code, sizeof(code), &at, &end, &row), cases[i].found);
		if (!cases[i].found)
			continue;
		assert_int_equal(at, BEFORE);
		assert_int_equal(end, BEFORE + 2);
		assert_int_equal(row.kind, UNWIND_SWITCH);
		assert_int_equal(row.cfa, cases[i].cfa);
		assert_int_equal(row.fp, cases[i].fp);
		at = 0;
		assert_false(arch_next_switch(code, sizeof(code) - 1, &at, &end, &row)); /* cut off */
	}
}

/* Other code of Go's runtime, as of 1.19 (the code of systemstack also in a position-independent program). */
static void finds_code_on_the_threads_stack(void **state)
{
	(void)state;
	static const struct {
		uint8_t code[ARCH_SWITCH_BYTES];
		uint8_t start, end; /* end 0: it is not found */
		struct unwind_row row;
	} cases[] = {
		/* systemstack: call *%rdi; mov %fs:-8,%rax; mov 0x30(%rax),%rbx; mov 0xc0(%rbx),%rax; mov %rax,%fs:-8; mov 0x38(%rax),%rsp */
		{ { 0xff, 0xd7, 0x64, 0x48, 0x8b, 0x04, 0x25, 0xf8, 0xff, 0xff, 0xff, 0x48,
		    0x8b, 0x58, 0x30, 0x48, 0x8b, 0x83, 0xc0, 0,    0,    0,    0x64, 0x48,
		    0x89, 0x04, 0x25, 0xf8, 0xff, 0xff, 0xff, 0x48, 0x8b, 0x60, 0x38 },
		  0,
		  2,
		  { .cfa = 24, .kind = UNWIND_GOROUTINE, .fp = -1 } },
		/* the same with mov $-8,%rcx; mov %fs:(%rcx),%rax and a short displacement */
		{ { 0xff, 0xd7, 0x48, 0xc7, 0xc1, 0xf8, 0xff, 0xff, 0xff, 0x64, 0x48, 0x8b, 0x01, 0x48, 0x8b,
		    0x58, 0x30, 0x48, 0x8b, 0x43, 0x78, 0x64, 0x48, 0x89, 0x01, 0x48, 0x8b, 0x60, 0x38 },
		  0,
		  2,
		  { .cfa = 15, .kind = UNWIND_GOROUTINE, .fp = -1 } },
		/* another offset of g.m; an offset from fs that is not of words */
		{ { 0xff, 0xd7, 0x64, 0x48, 0x8b, 0x04, 0x25, 0xf8, 0xff, 0xff, 0xff, 0x48, 0x8b, 0x58, 0x38 },
		  0,
		  0,
		  { 0 } },
		{ { 0xff, 0xd7, 0x64, 0x48, 0x8b, 0x04, 0x25, 0xf9, 0xff, 0xff, 0xff, 0x48, 0x8b,
		    0x58, 0x30, 0x48, 0x8b, 0x83, 0xc0, 0,    0,    0,    0x48, 0x8b, 0x60, 0x38 },
		  0,
		  0,
		  { 0 } },
		/* mcall: call *%r12; pop %rax; jmp */
		{ { 0x41, 0xff, 0xd4, 0x58, 0xe9 }, 0, 3, { .kind = UNWIND_END } },
		{ { 0x41, 0xff, 0xd4, 0x90, 0xe9 }, 0, 0, { 0 } },
		/* morestack: mov 0x38(%rbx),%rsp; call newstack; call abort */
		{ { 0x48, 0x8b, 0x63, 0x38, 0xe8, 1, 2, 3, 4, 0xe8 }, 4, 9, { .kind = UNWIND_GROWING } },
		{ { 0x48, 0x8b, 0x63, 0x38, 0xe8, 1, 2, 3, 4, 0xc3 }, 0, 0, { 0 } },
		/* sigreturn */
		{ { 0x48, 0xc7, 0xc0, 0x0f, 0, 0, 0, 0x0f, 0x05, 0xcd, 0x03 }, 0, 9, { .kind = UNWIND_SIGNAL } },
		/* nanotime1: mov %rdx,0x320(%rbx); cmp 0xc0(%rbx),%r14; jne; mov (%rbx),%rdx; mov 0x38(%rdx),%rsp; sub $16,%rsp;
		 * mov %r12,%rsp */
		{ { 0x48, 0x89, 0x93, 0x20, 0x03, 0,    0,    0x4c, 0x3b, 0xb3, 0xc0, 0,    0,    0,    0x75,
		    0x07, 0x48, 0x8b, 0x13, 0x48, 0x8b, 0x62, 0x38, 0x48, 0x83, 0xec, 0x10, 0x4c, 0x89, 0xe4 },
		  23,
		  30,
		  { .cfa = 100, .kind = UNWIND_CLOCK } },
		{ { 0x48, 0x89, 0x93, 0x20, 0x03, 0,    0,    0x4c, 0x3b, 0xb3, 0xc0, 0,    0,   0,
		    0x75, 0x07, 0x48, 0x8b, 0x13, 0x48, 0x8b, 0x62, 0x38, 0x48, 0x83, 0xec, 0x10 },
		  0,
		  0,
		  { 0 } },
	};
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct unwind_row row = { 0 };
		size_t at = 0, end = 0;
		bool found = arch_next_switch(cases[i].code, ARCH_SWITCH_BYTES, &at, &end, &row);
		assert_int_equal(found, cases[i].end != 0);
		if (!found)
			continue;
		assert_int_equal(at, cases[i].start);
		assert_int_equal(end, cases[i].end);
		assert_memory_equal(&row, &cases[i].row, sizeof(row));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(instructions_become_rows),
					    cmocka_unit_test(finds_switches),
					    cmocka_unit_test(finds_code_on_the_threads_stack) };
	return cmocka_run_group_tests_name("x86_64_rows", tests, NULL, NULL);
}
