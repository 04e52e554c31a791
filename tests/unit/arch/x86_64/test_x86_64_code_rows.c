/* The rows of code without unwind information (unwind/parts.h), in a gap between two functions that have it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <elf.h>
#include <stdio.h>
#include <string.h>

#include "support/alloc_fail.h"
#include "support/tiny_table.h"

enum { CODE_OFFSET = TINY_CODE - TINY_BASE };

/* Sets the size of the segment. */
static void set_text_bytes(struct buffer *bytes, uint64_t size)
{
	Elf64_Phdr *segment = (Elf64_Phdr *)(void *)(bytes->bytes + sizeof(Elf64_Ehdr));
	segment->p_memsz = size;
}

/* Writes a stripped file to *bytes. All code in front of the gap and behind it has the CFA rsp + 64. */
static void write_file(struct buffer *bytes, const void *code, size_t code_bytes, uint64_t gap_bytes,
		       uint64_t text_bytes)
{
	struct buffer eh_frame;
	buffer_init(&eh_frame);
	buffer_init(bytes);
	size_t cie = tiny_cie(&eh_frame, true, "z", BYTES(0x0c, 7, 64, 0x90, 1));
	uint64_t end = CODE_OFFSET + gap_bytes;
	tiny_fde(&eh_frame, true, cie, TINY_BASE, CODE_OFFSET, BYTES(0));
	if (end < text_bytes)
		tiny_fde(&eh_frame, true, cie, TINY_BASE + end, text_bytes - end, BYTES(0));
	tiny_elf_with_code(bytes, &eh_frame, code, code_bytes, NULL);
	set_text_bytes(bytes, text_bytes);
	buffer_release(&eh_frame);
}

/* Returns a file's table, or NULL. */
static struct unwind_table *from_file(const struct buffer *bytes)
{
	struct elf_file *file = elf_file_from_memory(bytes->bytes, bytes->size, "tiny", NULL);
	struct unwind_table *table = file ? unwind_table_new(file, NULL) : NULL;
	elf_file_free(file);
	return table;
}

static struct unwind_table *table_of(const void *code, size_t code_bytes, uint64_t gap_bytes, uint64_t text_bytes)
{
	struct buffer bytes;
	write_file(&bytes, code, code_bytes, gap_bytes, text_bytes);
	struct unwind_table *table = from_file(&bytes);
	buffer_release(&bytes);
	assert_non_null(table);
	return table;
}

/* Returns the rows of the code as text, by offset: "0 sp+8; 1 sp+16 fp-16; 5 none". */
static const char *rows_text(const struct unwind_table *table, size_t code_bytes)
{
	static char text[1024];
	struct unwind_row last = { .kind = UNWIND_END };
	size_t used = 0;
	text[0] = 0;
	for (size_t at = 0; at < code_bytes && used < sizeof(text) - 64; at++) {
		const struct unwind_row *found = unwind_table_row(table, TINY_CODE + at);
		struct unwind_row row = found ? *found : (struct unwind_row){ 0 };
		if (row.kind == last.kind && row.cfa == last.cfa && row.fp == last.fp)
			continue;
		const char *kind = row.kind == UNWIND_SP ? "sp" : row.kind == UNWIND_FP ? "fp" : "none";
		used += (size_t)snprintf(text + used, 32, "%s%zx %s", used ? "; " : "", at, kind);
		if (row.kind != UNWIND_NO_RULE)
			used += (size_t)snprintf(text + used, 16, "%+d", 8 * row.cfa);
		if (row.fp)
			used += (size_t)snprintf(text + used, 16, " fp%+d", 8 * row.fp);
		last = row;
	}
	return text;
}

struct code_rows {
	const char *name;
	const char *rows;
	uint8_t code[48];
	size_t size;
};

#define CODE(name, rows, ...)                                                         \
	{                                                                             \
		name, rows, { __VA_ARGS__ }, sizeof((const uint8_t[]){ __VA_ARGS__ }) \
	}
/* Distances of 4 bytes. FAR leads in front of the gap. */
#define NEAR(distance) (distance), 0, 0, 0
#define FAR 0, 0xff, 0xff, 0xff

static const struct code_rows cases[] = {
	/* --- frames --- */
	CODE("push %rbp; mov %rsp,%rbp; pop %rbp; ret", "0 sp+8; 1 sp+16 fp-16; 5 sp+8; 6 none", 0x55, 0x48, 0x89, 0xe5,
	     0x5d, 0xc3, 0xcc, 0xcc),
	CODE("push %rbp; mov %rsp,%rbp; sub %rax,%rsp; leave; ret",
	     "0 sp+8; 1 sp+16 fp-16; 7 fp+16 fp-16; 8 sp+8; 9 none", 0x55, 0x48, 0x89, 0xe5, 0x48, 0x29, 0xc4, 0xc9,
	     0xc3, 0xcc),
	CODE("sub $0x18,%rsp; add $0x18,%rsp; repz ret", "0 sp+8; 4 sp+32; 8 sp+8; a none", 0x48, 0x83, 0xec, 0x18,
	     0x48, 0x83, 0xc4, 0x18, 0xf3, 0xc3, 0xcc),
	CODE("push %rbx; ret: it returns with its frame", "0 none", 0x53, 0xc3, 0xcc, 0xcc, 0xcc, 0xcc, 0xcc, 0xcc),
	CODE("pop %rbp; ret: the caller's is lost", "0 none", 0x5d, 0xc3, 0xcc, 0xcc, 0xcc, 0xcc, 0xcc, 0xcc),
	CODE("push %rbx; pop %rbp; ret: the caller's is lost", "0 none", 0x53, 0x5d, 0xc3, 0xcc, 0xcc, 0xcc, 0xcc,
	     0xcc),
	CODE("nop; ud2: it never returns", "0 none", 0x90, 0x0f, 0x0b, 0xcc, 0xcc, 0xcc, 0xcc, 0xcc),
	CODE("nop; ret $8: its caller's frame is another one", "0 none", 0x89, 0xc0, 0xc2, 8, 0, 0xcc, 0xcc, 0xcc),
	CODE("mov; ret $0xc300: its last byte is that of ret", "0 none", 0x89, 0xc0, 0xc2, 0, 0xc3, 0xcc, 0xcc, 0xcc),
	CODE("mov %eax,%eax, up to the end of the gap", "0 none", 0x89, 0xc0, 0x89, 0xc0, 0x89, 0xc0, 0x89, 0xc0),
	CODE("mov %eax,%eax; no instruction", "0 none", 0x89, 0xc0, 0x06, 0x06, 0x06, 0x06, 0x06, 0x06),

	/* --- two ways to one instruction --- */
	CODE("test; je to ret; ret; ret", "0 sp+8; 6 none", 0x84, 0xc0, 0x74, 1, 0xc3, 0xc3, 0xcc, 0xcc),
	CODE("test; je over a push; push %rbx; pop %rbx; ret: two frames at the pop", "0 none", 0x84, 0xc0, 0x74, 1,
	     0x53, 0x5b, 0xc3, 0xcc),
	CODE("a loop: push %rbx; dec %eax; jne to dec; pop %rbx; ret", "0 sp+8; 1 sp+16; 6 sp+8; 7 none", 0x53, 0xff,
	     0xc8, 0x75, 0xfc, 0x5b, 0xc3, 0xcc),

	CODE("mov; test; je to nop; ret; nop at the end of the gap", "0 none", 0x89, 0xc0, 0x84, 0xc0, 0x74, 1, 0xc3,
	     0x90),

	/* --- other functions --- */
	CODE("jmp to another function, without a frame", "0 sp+8; 7 none", 0x89, 0xc0, 0xe9, FAR, 0xcc),
	CODE("jmp to the function behind the gap", "0 sp+8; 7 none", 0x89, 0xc0, 0xe9, NEAR(1), 0xcc),
	CODE("push %rbx; jmp to another function", "0 none", 0x53, 0xe9, FAR, 0xcc, 0xcc),
	CODE("test; je to another function; ret", "0 sp+8; 9 none", 0x84, 0xc0, 0x0f, 0x84, FAR, 0xc3, 0xcc),
	CODE("push %rbx; test; je to another function; pop %rbx; ret", "0 none", 0x53, 0x84, 0xc0, 0x0f, 0x84, FAR,
	     0x5b, 0xc3),
	CODE("jmp *%rax, where no call leads to it", "0 none", 0x89, 0xc0, 0xff, 0xe0, 0xcc, 0xcc, 0xcc, 0xcc),
	CODE("call of jmp *%rax", "0 sp+8; 8 none", 0xe8, NEAR(1), 0xc3, 0xff, 0xe0, 0xcc),
	CODE("call of jmp *(%rax), as Haskell's", "0 sp+8; 6 none", 0xe8, NEAR(1), 0xc3, 0xff, 0x20, 0xcc),
	CODE("jmp over a byte that hides it: call of jmp *%rax", "0 sp+8; 2 none; 3 sp+8; b none", 0xeb, 1, 0xb8, 0xe8,
	     NEAR(1), 0xc3, 0xff, 0xe0, 0xcc),
	CODE("lea of a function; ret; jmp *%rax", "0 sp+8; a none", 0x48, 0x8d, 0x05, NEAR(1), 0xc3, 0xff, 0xe0, 0xcc),

	/* --- calls that do not return --- */
	CODE("test; je to a call of hlt; ret; call; pop %rbp", "0 sp+8; a none", 0x84, 0xc0, 0x74, 1, 0xc3, 0xe8,
	     NEAR(1), 0x5d, 0xf4),
	CODE("... of mov, mov, mov, hlt", "0 sp+8; a none", 0x84, 0xc0, 0x74, 1, 0xc3, 0xe8, NEAR(1), 0x5d, 0x89, 0xc0,
	     0x89, 0xc0, 0x89, 0xc0, 0xf4),
	CODE("... of four and hlt: too far", "0 none", 0x84, 0xc0, 0x74, 1, 0xc3, 0xe8, NEAR(1), 0x5d, 0x89, 0xc0, 0x89,
	     0xc0, 0x89, 0xc0, 0x89, 0xc0, 0xf4),
	CODE("... of no instruction", "0 none", 0x84, 0xc0, 0x74, 1, 0xc3, 0xe8, NEAR(1), 0x5d, 0x06),
	CODE("... of ret", "0 none; b sp+8; c none", 0x84, 0xc0, 0x74, 1, 0xc3, 0xe8, NEAR(1), 0x5d, 0xc3, 0xcc),
	CODE("call of the second; test; je to the last call; ret; push %rbx; call *%rax; second: ret",
	     "0 sp+8; b sp+16; d sp+8; e none", 0xe8, NEAR(8), 0x84, 0xc0, 0x74, 1, 0xc3, 0x53, 0xff, 0xd0, 0xc3, 0xcc),
	CODE("... push %rbx; mov %eax,%eax; second: ret", "0 none; d sp+8; e none", 0xe8, NEAR(8), 0x84, 0xc0, 0x74, 1,
	     0xc3, 0x53, 0x89, 0xc0, 0xc3, 0xcc),

	CODE("test; je to push; ret; push %rbx; call *%rax; second: ret; call of the second; ret",
	     "0 sp+8; 6 sp+16; 8 sp+8; f none", 0x84, 0xc0, 0x74, 1, 0xc3, 0x53, 0xff, 0xd0, 0xc3, 0xe8, 0xfa, 0xff,
	     0xff, 0xff, 0xc3, 0xcc),

	CODE("test; je to mov; ret; mov %eax,%eax; second: ret; call of the second; ret", "0 sp+8; e none", 0x84, 0xc0,
	     0x74, 1, 0xc3, 0x89, 0xc0, 0xc3, 0xe8, 0xfa, 0xff, 0xff, 0xff, 0xc3, 0xcc),

	/* The second is no function: it pops more than it pushes. */
	CODE("push %rbx; second: pop %rbx; ret; call of the second; ret", "0 none; 3 sp+8; 9 none", 0x53, 0x5b, 0xc3,
	     0xe8, 0xf9, 0xff, 0xff, 0xff, 0xc3, 0xcc),
	CODE("test; je to call *%rax; ret; call *%rax; second: pop %rbx; ret; call of the second; ret",
	     "0 sp+8; 7 none; 9 sp+8; f none", 0x84, 0xc0, 0x74, 1, 0xc3, 0xff, 0xd0, 0x5b, 0xc3, 0xe8, 0xf9, 0xff,
	     0xff, 0xff, 0xc3, 0xcc),

	/* --- jumps by a table --- */
	CODE("sub 8; je to the end; jmp *%rax; case: add 8; ret; end: add 8; ret",
	     "0 sp+8; 4 sp+16; e sp+8; f sp+16; 13 sp+8; 14 none", 0x48, 0x83, 0xec, 8, 0x84, 0xc0, 0x74, 7, 0xff, 0xe0,
	     0x48, 0x83, 0xc4, 8, 0xc3, 0x48, 0x83, 0xc4, 8, 0xc3, 0xcc),
	CODE("... whose case pops too much", "0 sp+8; 4 sp+16; a none; f sp+16; 13 sp+8; 14 none", 0x48, 0x83, 0xec, 8,
	     0x84, 0xc0, 0x74, 7, 0xff, 0xe0, 0x48, 0x83, 0xc4, 24, 0xc3, 0x48, 0x83, 0xc4, 8, 0xc3, 0xcc),

	CODE("... with two cases", "0 sp+8; 4 sp+16; e sp+8; f sp+16; 13 sp+8; 14 sp+16; 18 sp+8; 19 none", 0x48, 0x83,
	     0xec, 8, 0x84, 0xc0, 0x74, 12, 0xff, 0xe0, 0x48, 0x83, 0xc4, 8, 0xc3, 0x48, 0x83, 0xc4, 8, 0xc3, 0x48,
	     0x83, 0xc4, 8, 0xc3, 0xcc),
	CODE("... whose first case pops too much", "0 sp+8; 4 sp+16; a none; 14 sp+16; 18 sp+8; 19 none", 0x48, 0x83,
	     0xec, 8, 0x84, 0xc0, 0x74, 12, 0xff, 0xe0, 0x48, 0x83, 0xc4, 24, 0xc3, 0x48, 0x83, 0xc4, 8, 0xc3, 0x48,
	     0x83, 0xc4, 8, 0xc3, 0xcc),

	/* --- signal frames --- */
	CODE("mov $15,%eax; syscall; ret", "0 none", 0xb8, 0x0f, 0, 0, 0, 0x0f, 0x05, 0xc3, 0xcc),
	CODE("mov $15,%rax; syscall; ret", "0 none", 0x48, 0xc7, 0xc0, 0x0f, 0, 0, 0, 0x0f, 0x05, 0xc3),
	CODE("mov $16,%eax; syscall; ret", "0 sp+8; 8 none", 0xb8, 0x10, 0, 0, 0, 0x0f, 0x05, 0xc3, 0xcc),
	CODE("syscall; pop %rbx; ret, behind information: the end of clone", "0 sp+8; 3 none", 0x0f, 0x05, 0xc3, 0xcc,
	     0xcc, 0xcc, 0xcc, 0xcc),

	/* --- frames that a row cannot describe --- */
	CODE("sub $0x3fff0,%rsp; add; ret", "0 sp+8; 7 sp+262136; e sp+8; f none", 0x48, 0x81, 0xec, 0xf0, 0xff, 3, 0,
	     0x48, 0x81, 0xc4, 0xf0, 0xff, 3, 0, 0xc3, 0xcc),
	CODE("sub $0x3fff8,%rsp; add; ret", "0 sp+8; 7 none; e sp+8; f none", 0x48, 0x81, 0xec, 0xf8, 0xff, 3, 0, 0x48,
	     0x81, 0xc4, 0xf8, 0xff, 3, 0, 0xc3, 0xcc),
	CODE("sub $1000,%rsp; push %rbp; pop %rbp; add; ret",
	     "0 sp+8; 7 sp+1008; 8 sp+1016 fp-1016; 9 sp+1008; 10 sp+8; 11 none", 0x48, 0x81, 0xec, 0xe8, 3, 0, 0, 0x55,
	     0x5d, 0x48, 0x81, 0xc4, 0xe8, 3, 0, 0, 0xc3, 0xcc),
	CODE("sub $1008,%rsp; push %rbp; pop %rbp; add; ret", "0 sp+8; 7 sp+1016; 8 none; 9 sp+1016; 10 sp+8; 11 none",
	     0x48, 0x81, 0xec, 0xf0, 3, 0, 0, 0x55, 0x5d, 0x48, 0x81, 0xc4, 0xf0, 3, 0, 0, 0xc3, 0xcc),
	CODE("sub $4,%rsp; add $4,%rsp; ret", "0 sp+8; 4 none; 8 sp+8; 9 none", 0x48, 0x83, 0xec, 4, 0x48, 0x83, 0xc4,
	     4, 0xc3, 0xcc),
	CODE("sub $16,%rsp; mov %rbp,4(%rsp); mov 4(%rsp),%rbp; add; ret",
	     "0 sp+8; 4 sp+24; 9 none; e sp+24; 12 sp+8; 13 none", 0x48, 0x83, 0xec, 16, 0x48, 0x89, 0x6c, 0x24, 4,
	     0x48, 0x8b, 0x6c, 0x24, 4, 0x48, 0x83, 0xc4, 16, 0xc3, 0xcc),

	/* --- sizes --- */
	CODE("8 bytes", "0 sp+8; 3 none", 0x89, 0xc0, 0xc3, 0xcc, 0xcc, 0xcc, 0xcc, 0xcc),
	CODE("7 bytes", "0 none", 0x89, 0xc0, 0xc3, 0xcc, 0xcc, 0xcc, 0xcc),
	CODE("15 bytes that begin with padding", "0 none", 0x90, 0xc3, 0xcc, 0xcc, 0xcc, 0xcc, 0xcc, 0xcc, 0xcc, 0x89,
	     0xc0, 0xc3, 0xcc, 0xcc, 0xcc),
	CODE("16 bytes that begin with padding", "0 none; 9 sp+8; c none", 0x90, 0xcc, 0xcc, 0xcc, 0xcc, 0xcc, 0xcc,
	     0xcc, 0xcc, 0x89, 0xc0, 0xc3, 0xcc, 0xcc, 0xcc, 0xcc),
};

static void instructions_become_rows(void **state)
{
	(void)state;
	unsigned failures = 0;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		const struct code_rows *row = &cases[i];
		struct unwind_table *table = table_of(row->code, row->size, row->size, TINY_TEXT_BYTES);
		const char *text = rows_text(table, row->size);
		if (strcmp(text, row->rows) != 0) {
			print_error("%s: %s, not %s\n", row->name, text, row->rows);
			failures++;
		}
		unwind_table_free(table);
	}
	assert_int_equal(failures, 0);
}

static const uint8_t frame[] = { 0x55, 0x48, 0x89, 0xe5, 0x5d, 0xc3, 0xcc, 0xcc,
				 0xcc, 0xcc, 0xcc, 0xcc, 0xcc, 0xcc, 0xcc, 0xcc };
static const char frame_rows[] = "0 sp+8; 1 sp+16 fp-16; 5 sp+8; 6 none";

static void assert_rows(size_t code_bytes, uint64_t gap_bytes, uint64_t text_bytes, const char *rows)
{
	struct unwind_table *table = table_of(frame, code_bytes, gap_bytes, text_bytes);
	assert_string_equal(rows_text(table, code_bytes), rows);
	unwind_table_free(table);
}

/* Most of a large program has information. More code without it than 2 MiB gets no rows. */
static void large_code_has_no_rows(void **state)
{
	(void)state;
	const uint64_t largest = UINT64_C(2) << 20;
	assert_rows(sizeof(frame), largest, CODE_OFFSET + largest, frame_rows);
	assert_rows(sizeof(frame), largest + 1, CODE_OFFSET + largest + 1, "0 none");
	assert_rows(sizeof(frame), largest + 1, CODE_OFFSET + largest + 64, "0 none");
}

/* Up to 4 MiB of text, a gap of 8 bytes is large enough; in more text, which is not read at once, one of 16 bytes. */
static void small_gaps_of_large_text_have_no_rows(void **state)
{
	(void)state;
	const uint64_t largest = UINT64_C(4) << 20;
	assert_rows(15, 15, largest, frame_rows);
	assert_rows(15, 15, largest + 1, "0 none");
	assert_rows(16, 16, largest + 1, frame_rows);
}

/* Makes code of starts that lead to the same code, which is no function's; behind it is a function. Returns its size. Each start is a jmp of
 * 2 bytes; the common code is `movs` times mov %eax,%eax, pop %rbp, ret; the function is ret. */
enum { STARTS_MAX = 40, MOVS_MAX = 40, STARTS_TAIL = 3 };
static size_t write_starts(uint8_t code[2 * STARTS_MAX + 2 * MOVS_MAX + STARTS_TAIL], unsigned starts, unsigned movs)
{
	size_t size = 0;
	for (unsigned i = 0; i < starts; i++) {
		code[size++] = 0xeb;
		code[size++] = (uint8_t)(2 * (starts - 1 - i));
	}
	for (unsigned i = 0; i < movs; i++) {
		code[size++] = 0x89;
		code[size++] = 0xc0;
	}
	memcpy(code + size, "\x5d\xc3\xc3", STARTS_TAIL);
	return size + STARTS_TAIL;
}

/* The starts are tried one after the other: at most 4 instructions a byte are followed. A start takes 2 + `movs` instructions; the common
 * code takes 1 + `movs` more, as the last start. The function behind it has rows if its instruction is within the limit. */
static void number_of_instructions_is_limited(void **state)
{
	(void)state;
	unsigned at_limit = 0;
	for (unsigned i = 0; i < STARTS_MAX * MOVS_MAX; i++) {
		unsigned starts = i / MOVS_MAX + 1, movs = i % MOVS_MAX + 1;
		uint8_t code[2 * STARTS_MAX + 2 * MOVS_MAX + STARTS_TAIL];
		size_t size = write_starts(code, starts, movs);
		unsigned steps = starts * (movs + 2) + movs + 1 + 1;
		if (size < 16)
			continue;
		struct unwind_table *table = table_of(code, size, size, TINY_TEXT_BYTES);
		char expected[32] = "0 none";
		if (steps <= 4 * size)
			snprintf(expected, sizeof(expected), "0 none; %zx sp+8", size - 1);
		if (strcmp(rows_text(table, size), expected) != 0)
			fail_msg("%u starts, %u movs, %u steps, %zu bytes: %s, not %s", starts, movs, steps, size,
				 rows_text(table, size), expected);
		at_limit += steps == 4 * size;
		unwind_table_free(table);
	}
	assert_true(at_limit > 0);
}

/* The file ends in the gap, with the function: behind it are no rows. */
static void rows_end_with_the_file(void **state)
{
	(void)state;
	enum { GAP = 0x40 };
	static const uint8_t code[] = { 0x89, 0xc0, 0x89, 0xc0, 0x89, 0xc0, 0x89, 0xc0, 0xc3 };
	struct unwind_table *table = table_of(code, sizeof(code), GAP, TINY_TEXT_BYTES);
	assert_string_equal(rows_text(table, GAP), "0 sp+8; 9 none");
	unwind_table_free(table);
}

/* A function of many pushes has a state for each of them, and at most 65535 in all. */
static void number_of_states_is_limited(void **state)
{
	(void)state;
	enum { STATES_MAX = UINT16_MAX, TAIL = 8 };
	uint8_t *code = test_malloc(STATES_MAX + TAIL);
	for (uint32_t pushes = STATES_MAX - 1; pushes <= STATES_MAX; pushes++) {
		uint32_t bytes = 8 * pushes;
		memset(code, 0x50, pushes);                              /* push %rax */
		memcpy(code + pushes, "\x48\x81\xc4\0\0\0\0\xc3", TAIL); /* add $bytes,%rsp; ret */
		memcpy(code + pushes + 3, &bytes, sizeof(bytes));
		struct unwind_table *table = table_of(code, pushes + TAIL, pushes + TAIL, TINY_TEXT_BYTES);
		assert_string_equal(rows_text(table, 3), pushes < STATES_MAX ? "0 sp+8; 1 sp+16; 2 sp+24" : "0 none");
		unwind_table_free(table);
	}
	test_free(code);
}

/* A function with information is between two gaps. */
static void each_gap_has_rows(void **state)
{
	(void)state;
	uint8_t code[3 * sizeof(frame)];
	struct buffer eh_frame, bytes;
	for (size_t i = 0; i < 3; i++)
		memcpy(code + i * sizeof(frame), frame, sizeof(frame));
	buffer_init(&eh_frame);
	buffer_init(&bytes);
	size_t cie = tiny_cie(&eh_frame, true, "z", BYTES(0x0c, 7, 64, 0x90, 1));
	tiny_fde(&eh_frame, true, cie, TINY_BASE, CODE_OFFSET, BYTES(0));
	tiny_fde(&eh_frame, true, cie, TINY_CODE + sizeof(frame), sizeof(frame), BYTES(0));
	tiny_elf_with_code(&bytes, &eh_frame, code, sizeof(code), NULL);
	struct unwind_table *table = from_file(&bytes);
	assert_non_null(table);
	assert_string_equal(rows_text(table, sizeof(code)), "0 sp+8; 1 sp+16 fp-16; 5 sp+8; 6 none; 10 sp+64; "
							    "20 sp+8; 21 sp+16 fp-16; 25 sp+8; 26 none");
	unwind_table_free(table);
	buffer_release(&bytes);
	buffer_release(&eh_frame);
}

/* Calls in any gap show where functions begin: the first function ends in a call that does not return, in front of the second. */
static void calls_in_each_gap_are_searched(void **state)
{
	(void)state;
	static const uint8_t second[] = { 0x84, 0xc0, 0x74, 1,    0xc3, 0x53, 0xff, 0xd0,
					  0xc3, 0xe8, 0xfa, 0xff, 0xff, 0xff, 0xc3, 0xcc };
	uint8_t code[2 * sizeof(frame) + sizeof(second)];
	struct buffer eh_frame, bytes;
	memcpy(code, frame, sizeof(frame));
	memcpy(code + sizeof(frame), frame, sizeof(frame));
	memcpy(code + 2 * sizeof(frame), second, sizeof(second));
	buffer_init(&eh_frame);
	buffer_init(&bytes);
	size_t cie = tiny_cie(&eh_frame, true, "z", BYTES(0x0c, 7, 64, 0x90, 1));
	tiny_fde(&eh_frame, true, cie, TINY_BASE, CODE_OFFSET, BYTES(0));
	tiny_fde(&eh_frame, true, cie, TINY_CODE + sizeof(frame), sizeof(frame), BYTES(0));
	tiny_elf_with_code(&bytes, &eh_frame, code, sizeof(code), NULL);
	struct unwind_table *table = from_file(&bytes);
	assert_non_null(table);
	assert_string_equal(rows_text(table, sizeof(code)), "0 sp+8; 1 sp+16 fp-16; 5 sp+8; 6 none; 10 sp+64; "
							    "20 sp+8; 26 sp+16; 28 sp+8; 2f none");
	unwind_table_free(table);
	buffer_release(&bytes);
	buffer_release(&eh_frame);
}

/* A function with so many rows that their list grows. */
static void many_rows_need_memory(void **state)
{
	(void)state;
	enum { PUSHES = 100, TAIL = 8 };
	uint8_t code[PUSHES + TAIL];
	unsigned built = 0;
	struct buffer bytes;
	memset(code, 0x50, PUSHES);                                  /* push %rax */
	memcpy(code + PUSHES, "\x48\x81\xc4\x20\x03\0\0\xc3", TAIL); /* add $800,%rsp; ret */
	write_file(&bytes, code, sizeof(code), sizeof(code), TINY_TEXT_BYTES);
	ALLOC_FAIL_EACH({
		struct unwind_table *table = from_file(&bytes);
		built += table != NULL;
		for (unsigned i = 0; table && i <= PUSHES; i++)
			assert_int_equal(unwind_table_row(table, TINY_CODE + i)->cfa, 1 + i);
		unwind_table_free(table);
	});
	assert_true(built >= 1);
	buffer_release(&bytes);
}

static void every_allocation_may_fail(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		const struct code_rows *row = &cases[i];
		unsigned built = 0, failed = 0;
		struct buffer bytes;
		write_file(&bytes, row->code, row->size, row->size, TINY_TEXT_BYTES);
		ALLOC_FAIL_EACH({
			struct unwind_table *table = from_file(&bytes);
			built += table != NULL;
			failed += !table;
			if (table)
				assert_string_equal(rows_text(table, row->size), row->rows);
			unwind_table_free(table);
		});
		assert_true(built >= 1 && failed >= 5);
		buffer_release(&bytes);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(instructions_become_rows),
		cmocka_unit_test(large_code_has_no_rows),
		cmocka_unit_test(small_gaps_of_large_text_have_no_rows),
		cmocka_unit_test(number_of_instructions_is_limited),
		cmocka_unit_test(rows_end_with_the_file),
		cmocka_unit_test(number_of_states_is_limited),
		cmocka_unit_test(each_gap_has_rows),
		cmocka_unit_test(calls_in_each_gap_are_searched),
		cmocka_unit_test(many_rows_need_memory),
		cmocka_unit_test(every_allocation_may_fail),
	};
	return cmocka_run_group_tests_name("x86_64_code_rows", tests, NULL, NULL);
}
