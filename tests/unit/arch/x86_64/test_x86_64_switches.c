/* The rows of calls that change stacks: where they are put among the rows of the call frame information. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <elf.h>
#include <stdio.h>
#include <string.h>

#include "processor/tests.h"
#include "support/alloc_fail.h"
#include "support/tiny_table.h"

/* call *%rax; mov 0x28(%rsp),%rsi; mov %rsi,%rsp */
static const uint8_t call[] = { 0xff, 0xd0, 0x48, 0x8b, 0x74, 0x24, 0x28, 0x48, 0x89, 0xf4 };

enum { CODE_BYTES = 0x21000, ROWS_MAX = 64 };

static const struct tiny_section go = { ".note.go.buildid", SHT_NOTE, "x", 1 },
				 lisp = { ".dynstr", SHT_STRTAB, "call_into_lisp", sizeof("call_into_lisp") };

/* A program: code of nops, with calls at some offsets, and its functions. */
struct program {
	uint8_t code[CODE_BYTES];
	size_t code_bytes;
	struct buffer eh_frame;
	size_t cie;
	const struct tiny_section *runtime;
};

static void begin(struct program *program)
{
	memset(program->code, 0x90, sizeof(program->code));
	program->code_bytes = sizeof(program->code);
	program->runtime = &go;
	buffer_init(&program->eh_frame);
	program->cie = tiny_cie(&program->eh_frame, true, "z", BYTES(TEST_FIRST_RULES));
}

static void add_function(struct program *program, uint64_t offset, uint64_t size, const void *rules, size_t bytes)
{
	tiny_fde(&program->eh_frame, true, program->cie, TINY_CODE + offset, size, rules, bytes);
}

static void add_call(struct program *program, size_t offset)
{
	memcpy(program->code + offset, call, sizeof(call));
}

static struct unwind_table *make_table(const struct program *program)
{
	struct buffer bytes;
	buffer_init(&bytes);
	tiny_elf_with_code(&bytes, &program->eh_frame, program->code, program->code_bytes, program->runtime);
	struct elf_file *file = elf_file_from_memory(bytes.bytes, bytes.size, "tiny", NULL);
	struct unwind_table *table = file ? unwind_table_new(file, NULL) : NULL;
	elf_file_free(file);
	buffer_release(&bytes);
	return table;
}

/* Checks the rows, and that a search finds each of them. Releases the program. */
static void assert_rows(struct program *program, const char *expected)
{
	struct unwind_table *table = make_table(program);
	assert_non_null(table);
	assert_string_equal(tiny_rows_text(table), expected);
	for (uint32_t i = 0; i < table->row_count; i++)
		assert_ptr_equal(unwind_table_row(table, TINY_BASE + table->rows[i].pc), &table->rows[i]);
	unwind_table_free(table);
	buffer_release(&program->eh_frame);
}

/* One function of 0x80 bytes with these rules, and a call at an offset. */
static void assert_call(size_t offset, const void *rules, size_t bytes, const char *expected)
{
	struct program *program = test_malloc(sizeof(*program));
	begin(program);
	add_function(program, 0, 0x80, rules, bytes);
	add_call(program, offset);
	assert_rows(program, expected);
	test_free(program);
}

static void call_divides_its_row(void **state)
{
	(void)state;
	assert_call(0x10, BYTES(0), "1000 sp+8; 1010 switch+40; 1012 sp+8; 1080 none");
	/* It begins where its row does. */
	assert_call(0, BYTES(0), "1000 switch+40; 1002 sp+8; 1080 none");
	assert_call(0x10, BYTES(0x50, 0x0e, 16), "1000 sp+8; 1010 switch+40; 1012 sp+16; 1080 none");
	/* It ends where its row does. */
	assert_call(0x10, BYTES(0x52, 0x0e, 16), "1000 sp+8; 1010 switch+40; 1012 sp+16; 1080 none");
	assert_call(0x10, BYTES(0x53, 0x0e, 16), "1000 sp+8; 1010 switch+40; 1012 sp+8; 1013 sp+16; 1080 none");
	/* Both. */
	assert_call(0x10, BYTES(0x50, 0x0e, 16, 0x42, 0x0e, 24), "1000 sp+8; 1010 switch+40; 1012 sp+24; 1080 none");
	/* It has two rows: it is not a call. */
	assert_call(0x10, BYTES(0x51, 0x0e, 16), "1000 sp+8; 1011 sp+16; 1080 none");
	/* It is the last instruction of its function. */
	assert_call(0x7e, BYTES(0), "1000 sp+8; 107e switch+40; 1080 none");
	/* It is behind the function, or only begins in it. */
	assert_call(0x80, BYTES(0), "1000 sp+8; 1080 none");
	assert_call(0x7f, BYTES(0), "1000 sp+8; 1080 none");
}

static void other_programs_have_no_such_calls(void **state)
{
	(void)state;
	struct program *program = test_malloc(sizeof(*program));
	begin(program);
	add_function(program, 0, 0x80, BYTES(0));
	add_call(program, 0x10);
	program->runtime = NULL;
	assert_rows(program, "1000 sp+8; 1080 none");
	test_free(program);
}

/* Where the file ends soon behind the function, only calls are found that have ARCH_SWITCH_BYTES in the function. */
static void function_at_the_end_of_the_file(void **state)
{
	enum { SIZE = 0x40 + ARCH_SWITCH_BYTES };
	(void)state;
	struct program *program = test_malloc(sizeof(*program));
	for (size_t behind = 0; behind < ARCH_SWITCH_BYTES; behind++) {
		begin(program);
		add_function(program, 0, SIZE, BYTES(0));
		add_call(program, SIZE - ARCH_SWITCH_BYTES);
		add_call(program, 0x50);
		program->code_bytes = SIZE + behind;
		assert_rows(program, behind < ARCH_SWITCH_BYTES - 1
					     ? "1000 sp+8; 1040 switch+40; 1042 sp+8; 10c0 none"
					     : "1000 sp+8; 1040 switch+40; 1042 sp+8; 1050 switch+40; 1052 sp+8; "
					       "10c0 none");
	}
	test_free(program);
}

static void most_calls(void **state)
{
	(void)state;
	struct program *program = test_malloc(sizeof(*program));
	enum { MOST = 24 }; /* SWITCHES_MAX of switch_rows.c */
	char expected[60 * MOST] = "1000 sp+8";
	begin(program);
	add_function(program, 0, 0x400, BYTES(0));
	for (unsigned i = 1; i <= MOST + 1; i++)
		add_call(program, i * 0x20);
	for (unsigned i = 1; i <= MOST; i++)
		snprintf(expected + strlen(expected), 60, "; %x switch+40; %x sp+8%s", 0x1000 + i * 0x20,
			 0x1002 + i * 0x20, i == MOST ? "; 1400 none" : "");
	assert_rows(program, expected);
	test_free(program);
}

/* Functions are read in pieces of 64 KB. Calls are found in each piece, also at its end. */
static void several_pieces(void **state)
{
	(void)state;
	static const struct {
		uint32_t start, size;
	} functions[] = { { 0, 0x80 }, { 0xff80, 0x80 }, { 0x10000, 0x80 }, { 0x1ff81, 0x80 }, { 0x20001, 0x100 } };
	struct program *program = test_malloc(sizeof(*program));
	begin(program);
	for (size_t i = 0; i < sizeof(functions) / sizeof(functions[0]); i++) {
		add_function(program, functions[i].start, functions[i].size, BYTES(0x0e, 8 * (uint8_t)(i + 2)));
		add_call(program, functions[i].start + functions[i].size - 2);
	}
	assert_rows(program, "1000 sp+16; 107e switch+40; 1080 none; 10f80 sp+24; 10ffe switch+40; 11000 sp+32; "
			     "1107e switch+40; 11080 none; 20f81 sp+40; 20fff switch+40; 21001 sp+48; "
			     "210ff switch+40; 21101 none");
	/* The smallest function is a piece, if the next one is so large. */
	begin(program);
	add_function(program, 0, 1, BYTES(0x0e, 16));
	add_function(program, 1, 0x10100, BYTES(0));
	add_call(program, 0x10000);
	assert_rows(program, "1000 sp+16; 1001 sp+8; 11000 switch+40; 11002 sp+8; 11101 none");
	/* The first 64 KB of a larger function are searched. */
	begin(program);
	add_function(program, 0, 0x10100, BYTES(0));
	add_call(program, 0xfff0);
	add_call(program, 0x10000);
	assert_rows(program, "1000 sp+8; 10ff0 switch+40; 10ff2 sp+8; 11100 none");
	test_free(program);
}

/* As in x86_64_rows: systemstack, morestack, cgocallback and nanotime1 of Go's runtime. */
static const uint8_t systemstack[] = { 0xff, 0xd7, 0x64, 0x48, 0x8b, 0x04, 0x25, 0xf8, 0xff, 0xff, 0xff, 0x48,
				       0x8b, 0x58, 0x30, 0x48, 0x8b, 0x83, 0xc0, 0,    0,    0,    0x64, 0x48,
				       0x89, 0x04, 0x25, 0xf8, 0xff, 0xff, 0xff, 0x48, 0x8b, 0x60, 0x38 };
static const uint8_t morestack[] = { 0x48, 0x8b, 0x63, 0x38, 0xe8, 1, 2, 3, 4, 0xe8 };
static const uint8_t callback[] = { 0x48, 0x89, 0xfc, 0x48, 0x89, 0x1c, 0x24, 0x48, 0x89, 0x4c, 0x24, 0x08,
				    0x48, 0x89, 0x54, 0x24, 0x10, 0xff, 0xd0, 0x48, 0x8d, 0x44, 0x24, 0x28,
				    0x48, 0x29, 0xe0, 0x48, 0x8b, 0x33, 0x48, 0x8b, 0x66, 0x38 };
static const uint8_t nanotime[] = { 0x48, 0x89, 0x93, 0x20, 0x03, 0,    0,    0x4c, 0x3b, 0xb3,
				    0xc0, 0,    0,    0,    0x75, 0x07, 0x48, 0x8b, 0x13, 0x48,
				    0x8b, 0x62, 0x38, 0x48, 0x83, 0xec, 0x10, 0x4c, 0x89, 0xe4 };

/* Only systemstack has the offsets of the goroutine and of the thread's present one. The rows of the others get them from its row, or
 * are none. */
static void one_function_completes_the_others(void **state)
{
	(void)state;
	struct program *program = test_malloc(sizeof(*program));
	for (uint32_t place = 0; place <= 0x300; place += 0x180) { /* of systemstack; 0x180: it is missing */
		bool is_complete = place != 0x180;
		begin(program);
		add_function(program, 0, 0x400, BYTES(0));
		add_call(program, 0x40);
		memcpy(program->code + 0x80, morestack, sizeof(morestack));
		memcpy(program->code + 0x180, nanotime, sizeof(nanotime));
		if (is_complete)
			memcpy(program->code + place, systemstack, sizeof(systemstack));
		memcpy(program->code + 0x200, morestack, sizeof(morestack));
		memcpy(program->code + 0x240, callback, sizeof(callback));
		struct unwind_table *table = make_table(program);
		assert_non_null(table);
		const struct {
			uint32_t pc;
			struct unwind_row row; /* if it is complete */
		} rows[] = { { 0x40, { .cfa = 5, .kind = UNWIND_SWITCH } },
			     { 0x84, { .cfa = 24, .kind = UNWIND_GROWING, .fp = -1 } },
			     { place, { .cfa = 24, .kind = UNWIND_GOROUTINE, .fp = -1 } },
			     { 0x180 + 23, { .cfa = 100, .kind = UNWIND_CLOCK, .fp = -1 } },
			     { 0x204, { .cfa = 24, .kind = UNWIND_GROWING, .fp = -1 } },
			     { 0x243, { .cfa = 5, .kind = UNWIND_CALLBACK, .fp = -1 } } };
		for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
			const struct unwind_row *row = unwind_table_row(table, TINY_CODE + rows[i].pc);
			struct unwind_row want = rows[i].row;
			if (!is_complete && want.kind == UNWIND_GOROUTINE)
				continue;
			if (!is_complete && want.kind != UNWIND_SWITCH)
				want = (struct unwind_row){ 0 };
			if (row->kind != want.kind || row->cfa != want.cfa || row->fp != want.fp)
				fail_msg("%d, %zu: kind %d, cfa %d, fp %d", is_complete, i, row->kind, row->cfa,
					 row->fp);
		}
		unwind_table_free(table);
		buffer_release(&program->eh_frame);
	}
	test_free(program);
}

/* push %rbp; push %rbp; mov %rsp,%rbp; call *-3(%rax) */
static const uint8_t lisp_call[] = { 0x55, 0x55, 0x48, 0x89, 0xe5, 0xff, 0x50, 0xfd };

static void begin_lisp(struct program *program)
{
	begin(program);
	program->runtime = &lisp;
}

/* Puts a call, and what is before it, at an offset. Its row begins 5 bytes later and has 3 bytes. */
static void add_lisp_call(struct program *program, size_t offset)
{
	memcpy(program->code + offset, lisp_call, sizeof(lisp_call));
}

/* SBCL's runtime calls Lisp in code without rules, and in functions with rules that need an expression. */
static void calls_of_lisp(void **state)
{
	(void)state;
	struct program *program = test_malloc(sizeof(*program));
	begin_lisp(program);
	add_function(program, 0, 0x80, BYTES(0));
	add_function(program, 0x100, 0x80, BYTES(0x40, 0x0f, 1, 0x31));
	add_function(program, 0x180, 0x80, BYTES(0x0e, 16));
	add_lisp_call(program, 0x40);                      /* in a function with rules */
	add_lisp_call(program, 0x80);                      /* behind it */
	add_lisp_call(program, 0x110);                     /* in one with an expression */
	add_lisp_call(program, 0x1c0);                     /* in one with rules */
	add_lisp_call(program, 0x200);                     /* behind the last one */
	add_lisp_call(program, 0x300 - sizeof(lisp_call)); /* and at the end */
	assert_rows(program,
		    "1000 sp+8; 1080 none; 1085 fp+16 fp-16; 1088 none; 1100 slow; 1115 fp+16 fp-16; 1118 slow; "
		    "1180 sp+16; 1200 none; 1205 fp+16 fp-16; 1208 none; 12fd fp+16 fp-16; 1300 none");
	/* Other programs have no such calls. */
	begin(program);
	add_function(program, 0, 0x80, BYTES(0));
	add_lisp_call(program, 0x80);
	assert_rows(program, "1000 sp+8; 1080 none");
	test_free(program);
}

/* A gap of at least 32 bytes is searched. */
static void small_gaps_have_no_calls_of_lisp(void **state)
{
	(void)state;
	struct program *program = test_malloc(sizeof(*program));
	for (size_t gap = 31; gap <= 32; gap++) {
		begin_lisp(program);
		add_function(program, 0, 0x80, BYTES(0));
		add_function(program, 0x80 + gap, 0x80, BYTES(0x0e, 16));
		add_lisp_call(program, 0x80);
		assert_rows(program,
			    gap < 32 ? "1000 sp+8; 1080 none; 109f sp+16; 111f none"
				     : "1000 sp+8; 1080 none; 1085 fp+16 fp-16; 1088 none; 10a0 sp+16; 1120 none");
	}
	test_free(program);
}

/* A gap is searched in pieces of 64 KB, which have 256 bytes in common: a call is found wherever it is, once. */
static void calls_of_lisp_in_each_piece(void **state)
{
	(void)state;
	enum { PIECE = 1 << 16, COMMON = 256, GAP = 0x80 };
	static const size_t offsets[] = { 0,     PIECE - COMMON - 4,    PIECE - COMMON, PIECE - 100, PIECE - 4,
					  PIECE, 2 * PIECE - COMMON - 8 };
	struct program *program = test_malloc(sizeof(*program));
	for (size_t i = 0; i < sizeof(offsets) / sizeof(offsets[0]); i++) {
		char expected[128];
		unsigned at = 0x1000 + GAP + (unsigned)offsets[i] + 5;
		begin_lisp(program);
		add_function(program, 0, GAP, BYTES(0));
		add_function(program, GAP + 2 * PIECE - COMMON, 0x80, BYTES(0x0e, 16));
		add_lisp_call(program, GAP + offsets[i]);
		snprintf(expected, sizeof(expected),
			 "1000 sp+8; 1080 none; %x fp+16 fp-16; %x none; 20f80 sp+16; 21000 none", at, at + 3);
		if (offsets[i] == 2 * PIECE - COMMON - 8)
			snprintf(expected, sizeof(expected),
				 "1000 sp+8; 1080 none; %x fp+16 fp-16; 20f80 sp+16; 21000 none", at);
		assert_rows(program, expected);
	}
	test_free(program);
}

static void every_allocation_may_fail(void **state)
{
	(void)state;
	struct program *program = test_malloc(sizeof(*program));
	unsigned built = 0, failed = 0;
	begin(program);
	add_function(program, 0, 0x80, BYTES(0));
	add_call(program, 0x10);
	struct buffer bytes;
	buffer_init(&bytes);
	tiny_elf_with_code(&bytes, &program->eh_frame, program->code, program->code_bytes, &go);
	ALLOC_FAIL_EACH({
		struct elf_file *file = elf_file_from_memory(bytes.bytes, bytes.size, "tiny", NULL);
		struct error error = { 0 };
		struct unwind_table *table = file ? unwind_table_new(file, &error) : NULL;
		elf_file_free(file);
		built += table != NULL;
		failed += !table;
		if (table)
			assert_string_equal(tiny_rows_text(table), "1000 sp+8; 1010 switch+40; 1012 sp+8; 1080 none");
		unwind_table_free(table);
	});
	assert_true(built >= 1 && failed >= 10);
	buffer_release(&bytes);
	buffer_release(&program->eh_frame);
	test_free(program);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(call_divides_its_row),
		cmocka_unit_test(other_programs_have_no_such_calls),
		cmocka_unit_test(function_at_the_end_of_the_file),
		cmocka_unit_test(most_calls),
		cmocka_unit_test(several_pieces),
		cmocka_unit_test(one_function_completes_the_others),
		cmocka_unit_test(calls_of_lisp),
		cmocka_unit_test(small_gaps_have_no_calls_of_lisp),
		cmocka_unit_test(calls_of_lisp_in_each_piece),
		cmocka_unit_test(every_allocation_may_fail),
	};
	return cmocka_run_group_tests_name("x86_64_switches", tests, NULL, NULL);
}
