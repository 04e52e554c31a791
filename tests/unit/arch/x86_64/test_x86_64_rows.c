/* Call frame instructions of x86-64 to rows. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "processor/tests.h"
#include "support/tiny_table.h"

static const struct tiny_rows rules[] = {
	TINY_ROWS("push rbp; mov rbp,rsp; leave", "z",
		  "1000 sp+8; 1001 sp+16 fp-16; 1004 fp+16 fp-16; 103f sp+8; 1040 none", 0x41, 0x0e, 16, 0x86, 2, 0x43,
		  0x0d, 6, 0x02, 0x3b, 0xc6, 0x0c, 7, 8),
	TINY_ROWS("advances of 2 and 4 bytes", "z", "1000 sp+8; 1010 sp+16; 1030 sp+24; 1040 none", 0x03, 0x10, 0, 0x0e,
		  16, 0x04, 0x20, 0, 0, 0, 0x0e, 24),
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
	TINY_ROWS("what follows damage is unknown", "z", "1000 sp+8; 1001 sp+16; 1002 none", 0x41, 0x0e, 16, 0x41,
		  0x3e),
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

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(instructions_become_rows) };
	return cmocka_run_group_tests_name("x86_64_rows", tests, NULL, NULL);
}
