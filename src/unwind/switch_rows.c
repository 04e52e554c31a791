#include "unwind/parts.h"

#include <stdlib.h>
#include <string.h>

#include "arch/arch.h"

/* A program has few such calls. */
enum { SWITCHES_MAX = 24, PIECE_BYTES = 1 << 16 };

struct call {
	uint32_t start, end; /* minus the table's base */
	struct unwind_row row;
};

struct calls {
	struct call items[SWITCHES_MAX];
	size_t count;
};

/* arch_next_switch, or arch_next_lisp_call. */
typedef bool next_call(const uint8_t *code, size_t size, size_t *at, size_t *end, struct unwind_row *row);

/* Adds the calls in a piece of code. A switch is not found if it begins in the last bytes, fewer
 * than ARCH_SWITCH_BYTES. */
static void find_in(struct calls *calls, next_call *next, const uint8_t *code, size_t size, uint32_t pc)
{
	struct unwind_row row;
	size_t end;
	for (size_t at = 0; calls->count < SWITCHES_MAX && next(code, size, &at, &end, &row); at = end)
		calls->items[calls->count++] =
			(struct call){ .start = pc + (uint32_t)at, .end = pc + (uint32_t)end, .row = row };
}

/* Returns the size of the functions from number *i on that are read at once, and advances *i behind them. */
static uint32_t piece_size(const struct unwind_table *table, uint32_t *i)
{
	const struct unwind_function *first = &table->functions[*i];
	uint32_t size = 0;
	for (; *i < table->function_count; ++*i) {
		const struct unwind_function *function = &table->functions[*i];
		uint64_t with = (uint64_t)function->start - first->start + function->size;
		if (with > PIECE_BYTES && size > 0)
			break;
		size = with < PIECE_BYTES ? (uint32_t)with : PIECE_BYTES;
	}
	return size;
}

/* Searches the functions piece by piece, because all of the text would stay in memory. */
static int find(struct calls *calls, const struct unwind_table *table, struct elf_file *file)
{
	uint8_t *code = malloc(PIECE_BYTES + ARCH_SWITCH_BYTES);
	if (!code)
		return ERROR_MEMORY;
	for (uint32_t i = 0; i < table->function_count;) {
		uint32_t start = table->functions[i].start;
		size_t size = piece_size(table, &i);
		size_t more = size + ARCH_SWITCH_BYTES - 1; /* a call at the end is found by the code behind it */
		if (elf_file_copy(file, table->base + start, code, more))
			find_in(calls, arch_next_switch, code, more, start);
		else if (elf_file_copy(file, table->base + start, code, size))
			find_in(calls, arch_next_switch, code, size, start);
	}
	free(code);
	return 0;
}

/* Searches a range of code piece by piece, so that a call and the code before it are in one piece. */
static int find_lisp_between(struct calls *calls, const struct unwind_table *table, struct elf_file *file,
			     uint32_t start, uint32_t end)
{
	enum { SMALLEST = 32, COMMON_BYTES = 256 };
	if (end <= start || end - start < SMALLEST)
		return 0;
	uint8_t *code = malloc(PIECE_BYTES);
	if (!code)
		return ERROR_MEMORY;
	for (;; start += PIECE_BYTES - COMMON_BYTES) {
		size_t size = end - start < PIECE_BYTES ? end - start : PIECE_BYTES;
		if (elf_file_copy(file, table->base + start, code, size))
			find_in(calls, arch_next_lisp_call, code, size, start);
		if (size < PIECE_BYTES)
			break;
	}
	free(code);
	return 0;
}

/* Returns whether a file is SBCL's runtime, which exports this name. */
static bool is_lisp_runtime(struct elf_file *file)
{
	static const char name[] = "call_into_lisp";
	struct elf_bytes names = elf_file_section(file, ".dynstr");
	return names.bytes && memmem(names.bytes, names.size, name, sizeof(name));
}

/* SBCL's runtime calls Lisp from assembler, in functions without CFI and in those whose CFI is
 * an expression. Searches both. */
static int find_lisp(struct calls *calls, const struct unwind_table *table, struct elf_file *file)
{
	int status = 0;
	for (uint32_t i = 0, row = 0; i < table->function_count && status == 0; i++) {
		const struct unwind_function *function = &table->functions[i];
		uint32_t end = function->start + function->size;
		uint32_t next = i + 1 < table->function_count ? table->functions[i + 1].start : table->text_size;
		bool is_slow = false;
		for (; row < table->row_count && table->rows[row].pc < end; row++)
			is_slow |= table->rows[row].kind == UNWIND_SLOW;
		status = find_lisp_between(calls, table, file, is_slow ? function->start : end, next);
	}
	return status;
}

/* Completes the rows of code that does not mention where Go's structures have the goroutine: other code does. */
static void complete(struct calls *calls)
{
	static const struct unwind_row none = { .kind = UNWIND_NO_RULE };
	const struct unwind_row *known = NULL;
	for (size_t i = 0; i < calls->count && !known; i++)
		known = calls->items[i].row.kind == UNWIND_GOROUTINE ? &calls->items[i].row : NULL;
	for (size_t i = 0; i < calls->count; i++) {
		struct unwind_row *row = &calls->items[i].row;
		if (row->kind != UNWIND_GROWING && row->kind != UNWIND_CLOCK && row->kind != UNWIND_CALLBACK)
			continue;
		if (!known)
			*row = none;
		row->cfa = known && row->kind == UNWIND_GROWING ? known->cfa : row->cfa;
		row->fp = known ? known->fp : 0;
	}
}

static bool is_go(struct elf_file *file)
{
	return elf_file_section(file, ".note.go.buildid").bytes;
}

bool switch_rows_may_be_in(struct elf_file *file)
{
	return is_go(file) || is_lisp_runtime(file);
}

int switch_rows_add(struct unwind_table *table, struct elf_file *file)
{
	struct calls calls = { 0 };
	int status = is_go(file)             ? find(&calls, table, file)
		     : is_lisp_runtime(file) ? find_lisp(&calls, table, file)
					     : 0;
	complete(&calls);
	for (size_t i = 0; i < calls.count && status == 0; i++)
		status = row_insert(table, calls.items[i].start, calls.items[i].end, &calls.items[i].row);
	return status;
}
