/* Types of arguments and return values from the debug information of gcc and clang, DWARF 4 and 5, optimised or not. */
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "frames/native/value_type.h"
#include "support/symbols_lab.h"

static const char source[] =
	"#include <stdbool.h>\n"
	"#include <stddef.h>\n"
	"typedef int number; typedef const number fixed; enum plain { A, B }; enum negative { C = -1, D };\n"
	"struct pair { long a, b; };\n"
	"#define F __attribute__((noipa))\n"
	"F int ints(int a, unsigned b, fixed c, short d, unsigned char e, bool f) { return a - (int)b + c + d + e + f; "
	"}\n"
	"F long longs(long a, size_t b, char *c, double d, long e, const void *volatile f)\n"
	"{ return a + (long)b + c[0] + (long)d + e + (f != 0); }\n"
	"F enum negative enums(enum plain a, enum negative b) { return (int)a + b; }\n"
	"F int wide(__int128 a, int b) { return (int)a + b; }\n"
	"F int by_value(int a, struct pair b, int c) { return a + (int)b.a + c; }\n"
	"F void nothing(void) { __asm__ volatile(\"\"); }\n"
	"F float real(float a, int b) { return a + b; }\n"
	"F signed char unused(int a, signed char b) { (void)a; return b; }\n"
	"static inline __attribute__((always_inline)) int inner(unsigned long x) { return (int)x * 3; }\n"
	"F int outer(unsigned long a, int b) { return inner(a) + b; }\n"
	"int main(void) { struct pair p = { 1, 2 }; nothing();\n"
	"return ints(1, 2, 3, 4, 5, 1) + (int)longs(1, 2, \"\", 4, 5, 0) + enums(A, C) + wide(1, 2) + by_value(1, p, "
	"3)\n"
	"+ (int)real(1, 2) + unused(1, 2) + outer(1, 2); }\n";

struct expected {
	const char *function;
	unsigned argument; /* 0: the return value */
	struct value_type type;
};

static const struct expected expected[] = {
	{ "ints", 0, { 4, true } },
	{ "ints", 1, { 4, true } },
	{ "ints", 2, { 4, false } },
	{ "ints", 3, { 4, true } },
	{ "ints", 4, { 2, true } },
	{ "ints", 5, { 1, false } },
	{ "ints", 6, { 1, false } },
	{ "longs", 0, { 8, true } },
	{ "longs", 1, { 8, true } },
	{ "longs", 2, { 8, false } },
	{ "longs", 3, { 8, false } },
	/* The double is in another kind of register. */
	{ "longs", 4, { 8, true } },
	{ "longs", 5, { 8, false } },
	{ "longs", 6, { 0, false } },
	{ "enums", 0, { 4, true } },
	{ "enums", 1, { 4, false } },
	{ "enums", 2, { 4, true } },
	/* Two registers, whose halves have no type of their own. */
	{ "wide", 1, { 0, false } },
	{ "wide", 2, { 0, false } },
	{ "wide", 3, { 4, true } },
	{ "by_value", 1, { 4, true } },
	{ "by_value", 2, { 0, false } },
	{ "by_value", 4, { 0, false } },
	{ "nothing", 0, { 0, false } },
	{ "nothing", 1, { 0, false } },
	{ "real", 0, { 0, false } },
	{ "real", 1, { 4, true } },
	{ "unused", 0, { 1, true } },
	{ "unused", 1, { 4, true } },
	{ "unused", 2, { 1, true } },
	{ "outer", 1, { 8, false } },
	{ "outer", 2, { 4, true } },
};

static void open_file(struct module_file *file, const char *name)
{
	struct error error;
	const char *path = lab_path(name);
	assert_int_equal(module_file_open(file, open(path, O_RDONLY), path, &error), 0);
}

static void expect_types(const char *name)
{
	struct module_file file;
	open_file(&file, name);
	for (size_t i = 0; i < sizeof(expected) / sizeof(expected[0]); i++) {
		const struct expected *wanted = &expected[i];
		struct value_type type;
		uint64_t address = lab_symbol(name, wanted->function);
		assert_int_equal(value_type_find(&file, address, wanted->argument, &type), 0);
		if (type.bytes != wanted->type.bytes || type.is_signed != wanted->type.is_signed)
			fail_msg("%s: %s, argument %u: %u bytes, %s", name, wanted->function, wanted->argument,
				 type.bytes, type.is_signed ? "signed" : "unsigned");
	}
	module_file_close(&file);
}

static int build(void **state)
{
	if (lab_setup(state) != 0)
		return -1;
	FILE *file = fopen(lab_path("types.c"), "w");
	assert_non_null(file);
	fputs(source, file);
	assert_int_equal(fclose(file), 0);
	return 0;
}

static void test_gcc(void **state)
{
	(void)state;
	lab_run("gcc -w -gdwarf-4 -O0 -o gcc4 types.c && gcc -w -gdwarf-5 -O2 -o gcc5 types.c");
	expect_types("gcc4");
	expect_types("gcc5");
}

static void test_clang(void **state)
{
	(void)state;
	lab_run("clang -w -gdwarf-4 -O0 -D'noipa=noinline' -o clang4 types.c");
	lab_run("clang -w -gdwarf-5 -O1 -D'noipa=noinline' -o clang5 types.c");
	expect_types("clang4");
	expect_types("clang5");
}

/* Without debug information, and for an address outside of all functions, the type is unknown. */
static void test_unknown(void **state)
{
	(void)state;
	struct module_file file;
	struct value_type type = { 9, true };
	lab_run("gcc -w -O2 -o none types.c && gcc -w -g -O2 -o some types.c");
	open_file(&file, "none");
	assert_int_equal(value_type_find(&file, lab_symbol("none", "ints"), 1, &type), 0);
	assert_int_equal(type.bytes, 0);
	module_file_close(&file);
	open_file(&file, "some");
	assert_int_equal(value_type_find(&file, 1, 1, &type), 0);
	assert_int_equal(type.bytes, 0);
	assert_int_equal(value_type_find(&file, lab_symbol("some", "ints"), 1, &type), 0);
	assert_int_equal(type.bytes, 4);
	module_file_close(&file);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_gcc),
		cmocka_unit_test(test_clang),
		cmocka_unit_test(test_unknown),
	};
	return cmocka_run_group_tests(tests, build, lab_teardown);
}
