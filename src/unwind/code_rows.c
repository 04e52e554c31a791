#include "unwind/parts.h"

#include <elf.h>
#include <stdlib.h>
#include <string.h>

#include "arch/arch.h"
#include "arch/instruction.h"
#include "base/array.h"
#include "unwind/code_follow.h"

enum {
	WORD = 8,
	SMALLEST_GAP = 8,
	ALIGNMENT = 16,         /* a smaller gap is mostly padding in front of an aligned function */
	WHOLE_TEXT = 4 << 20,   /* up to this size, the code is read at once, and the small gaps are looked at too */
	LARGEST_CODE = 2 << 20, /* more code without information gets no rows */
	STEPS_A_BYTE =
		4, /* at most so many instructions are followed, including the instructions of functions that are rejected */
};

/* --- all functions --- */

static void follow_starts(struct code_analysis *analysis)
{
	while (analysis->start_count > 0 && !analysis->no_memory)
		code_follow_function(analysis, analysis->starts[--analysis->start_count]);
}

static void add_symbols(struct code_analysis *analysis, struct elf_file *file, const char *section)
{
	struct elf_bytes symbols = elf_file_section(file, section);
	for (size_t at = 0; symbols.bytes && at + sizeof(Elf64_Sym) <= symbols.size; at += sizeof(Elf64_Sym)) {
		Elf64_Sym symbol;
		memcpy(&symbol, symbols.bytes + at, sizeof(symbol));
		unsigned type = ELF64_ST_TYPE(symbol.st_info);
		if ((type == STT_FUNC || type == STT_GNU_IFUNC) && symbol.st_shndx != SHN_UNDEF)
			code_add_start(analysis, symbol.st_value - analysis->base);
	}
}

/* Assembler often omits the type of a symbol. A global one begins a function, if the functions that are
 * followed already do not contain it, and if it has a return with the registers of its beginning. */
static void follow_untyped(struct code_analysis *analysis, struct elf_file *file)
{
	struct elf_bytes symbols = elf_file_section(file, ".symtab");
	for (size_t at = 0; symbols.bytes && at + sizeof(Elf64_Sym) <= symbols.size; at += sizeof(Elf64_Sym)) {
		Elf64_Sym symbol;
		memcpy(&symbol, symbols.bytes + at, sizeof(symbol));
		uint64_t pc = symbol.st_value - analysis->base;
		if (symbol.st_info != ELF64_ST_INFO(STB_GLOBAL, STT_NOTYPE) || symbol.st_shndx == SHN_UNDEF ||
		    !code_gap_at(analysis, pc))
			continue;
		code_follow_function(analysis, (uint32_t)pc);
		follow_starts(analysis);
	}
}

/* Calls show where functions begin. They are searched first, because code in front of a function
 * may end in a call that does not return, and would seem to go on in the function. */
static void add_called(struct code_analysis *analysis, const struct code_gap *gap)
{
	for (uint32_t pc = gap->start; pc < gap->end && !analysis->no_memory;) {
		struct instruction instruction;
		bool is_code = code_decode(analysis, gap, pc, &instruction);
		if (is_code && instruction.flow == INSTRUCTION_CALL && instruction.has_target)
			code_add_start(analysis, instruction.target - analysis->base);
		pc += is_code ? instruction.bytes : 1;
	}
}

/* In a stripped file, functions to which no call leads directly begin behind another one's end. */
static void follow_rest(struct code_analysis *analysis, const struct code_gap *gap)
{
	bool may_begin = true;
	for (uint32_t pc = gap->start; pc < gap->end && analysis->steps_left > 0 && !analysis->no_memory;) {
		struct instruction instruction;
		if (!code_decode(analysis, gap, pc, &instruction)) {
			may_begin = false;
			pc++;
			continue;
		}
		if (!gap->states[pc - gap->start] && may_begin && !instruction.is_padding) {
			code_follow_function(analysis, pc);
			follow_starts(analysis);
		}
		bool ends = instruction.flow == INSTRUCTION_END || instruction.flow == INSTRUCTION_JUMP ||
			    instruction.flow == INSTRUCTION_INDIRECT;
		may_begin = ends || (instruction.is_padding && may_begin);
		pc += instruction.bytes;
	}
}

/* Returns the bytes from an address on: a part of the text, if that was read. */
static struct elf_bytes bytes_of(struct elf_file *file, uint64_t address, uint64_t size, const struct elf_bytes *text)
{
	if (!text->bytes)
		return size < ALIGNMENT ? (struct elf_bytes){ 0 } : elf_file_from(file, address, size);
	uint64_t at = address - text->address, left = at < text->size ? text->size - at : 0;
	return (struct elf_bytes){ text->bytes + (left ? at : 0), left < size ? left : size, address };
}

static bool begins_with_padding(const struct elf_bytes *bytes)
{
	struct instruction first;
	return !instruction_decode(bytes->bytes, bytes->size, bytes->address, &first) || first.is_padding;
}

static bool is_gap(uint64_t start, uint64_t end)
{
	return end >= start + SMALLEST_GAP;
}

static int add_gap(struct code_analysis *analysis, struct elf_file *file, uint64_t start, uint64_t end,
		   const struct elf_bytes *text)
{
	if (!is_gap(start, end))
		return 0;
	struct elf_bytes found = bytes_of(file, analysis->base + start, end - start, text);
	if (!found.bytes || found.size < SMALLEST_GAP || (found.size < ALIGNMENT && begins_with_padding(&found)))
		return 0;
	struct code_gap gap = { .start = (uint32_t)start, .end = (uint32_t)(start + found.size), .code = found.bytes };
	if (ARRAY_RESERVE(analysis->gaps, analysis->gap_capacity, analysis->gap_count + 1) < 0)
		return ERROR_MEMORY;
	gap.states = calloc(found.size, sizeof(*gap.states));
	gap.marks = calloc(found.size, sizeof(*gap.marks));
	analysis->gaps[analysis->gap_count++] = gap;
	if (!gap.states || !gap.marks)
		return ERROR_MEMORY;
	/* The C library ends its information before the system call that makes a thread, in the
	 * middle of a function without a frame. */
	if (arch_ends_in_system_call(gap.code))
		code_add_start(analysis, start);
	return 0;
}

/* Returns the end of gap number `i`, which begins behind function number i - 1, and sets its start. */
static uint32_t bounds(const struct unwind_table *table, uint32_t i, uint32_t *start)
{
	*start = i == 0 ? 0 : table->functions[i - 1].start + table->functions[i - 1].size;
	return i < table->function_count ? table->functions[i].start : table->text_size;
}

static uint64_t size_of_gaps(const struct unwind_table *table)
{
	uint64_t size = 0;
	for (uint32_t i = 0, start; i <= table->function_count; i++) {
		uint32_t end = bounds(table, i, &start);
		size += is_gap(start, end) ? end - start : 0;
	}
	return size;
}

/* --- rows --- */

static struct unwind_row row_of(const struct code_state *state, uint32_t pc)
{
	struct unwind_row row = { .pc = pc };
	int32_t cfa = state->sp == CODE_STATE_UNKNOWN ? state->frame : state->sp;
	if (cfa % WORD != 0 || cfa / WORD > INT16_MAX || state->saved % WORD != 0 || state->saved / WORD > INT8_MAX)
		return row;
	row.kind = state->sp == CODE_STATE_UNKNOWN ? UNWIND_FP : UNWIND_SP;
	row.cfa = (int16_t)(cfa / WORD);
	row.fp = (int8_t) - (state->saved / WORD);
	return row;
}

struct row_list {
	struct unwind_row *items;
	size_t count, capacity;
};

static int add_row(struct row_list *list, struct unwind_row row)
{
	const struct unwind_row *last = list->count ? &list->items[list->count - 1] : NULL;
	if (last && last->kind == row.kind && last->cfa == row.cfa && last->fp == row.fp)
		return 0;
	if (ARRAY_RESERVE(list->items, list->capacity, list->count + 1) < 0)
		return ERROR_MEMORY;
	list->items[list->count++] = row;
	return 0;
}

/* Adds a gap's rows. Bytes within an instruction have its row. */
static int add_gap_rows(const struct code_analysis *analysis, const struct code_gap *gap, struct row_list *list)
{
	int status = list->count ? add_row(list, (struct unwind_row){ .pc = gap->start }) : 0;
	for (uint32_t pc = gap->start; pc < gap->end && status == 0;) {
		uint16_t number = gap->states[pc - gap->start];
		struct instruction instruction = { .bytes = 1 };
		struct unwind_row row = { .pc = pc };
		if (number) {
			row = row_of(&analysis->states[number - 1], pc);
			code_decode(analysis, gap, pc, &instruction);
		}
		if (list->count || row.kind != UNWIND_NO_RULE)
			status = add_row(list, row);
		pc += instruction.bytes;
	}
	return status < 0 || !list->count ? status : add_row(list, (struct unwind_row){ .pc = gap->end });
}

/* Puts the rows of all gaps between the others. The table's own rows in a gap state that there is none. */
static int merge(struct unwind_table *table, const struct code_analysis *analysis)
{
	struct row_list list = { 0 };
	uint32_t next = 0;
	int status = 0;
	for (size_t i = 0; i <= analysis->gap_count && status == 0; i++) {
		const struct code_gap *gap = i < analysis->gap_count ? &analysis->gaps[i] : NULL;
		for (; next < table->row_count && status == 0 && (!gap || table->rows[next].pc < gap->start); next++)
			status = add_row(&list, table->rows[next]);
		if (status == 0 && gap)
			status = add_gap_rows(analysis, gap, &list);
		while (gap && next < table->row_count && table->rows[next].pc < gap->end)
			next++;
	}
	if (status == 0 && list.count > UINT32_MAX)
		status = ERROR_MEMORY;
	if (status < 0) {
		free(list.items);
		return status;
	}
	free(table->rows);
	table->rows = list.items;
	table->row_count = (uint32_t)list.count;
	return 0;
}

static void release(struct code_analysis *analysis)
{
	for (size_t i = 0; i < analysis->gap_count; i++) {
		free(analysis->gaps[i].states);
		free(analysis->gaps[i].marks);
	}
	free(analysis->gaps);
	free(analysis->states);
	free(analysis->starts);
	free(analysis->work);
	free(analysis->followed);
	hash_map_release(&analysis->by_state);
}

int code_rows_add(struct unwind_table *table, struct elf_file *file)
{
	struct code_analysis analysis = { .base = table->base };
	uint64_t size = size_of_gaps(table);
	int status = 0;
	if (!ARCH_FOLLOWS_CODE || size == 0 || size > LARGEST_CODE)
		return 0;
	hash_map_init(&analysis.by_state);
	analysis.steps_left = size * STEPS_A_BYTE;
	struct elf_bytes text = { 0 };
	if (table->text_size <= WHOLE_TEXT)
		text = elf_file_from(file, table->base, table->text_size);
	for (uint32_t i = 0, start; i <= table->function_count && status == 0; i++) {
		uint32_t end = bounds(table, i, &start);
		status = add_gap(&analysis, file, start, end, &text);
	}
	if (status == 0 && analysis.gap_count > 0) {
		add_symbols(&analysis, file, ".symtab");
		add_symbols(&analysis, file, ".dynsym");
		for (size_t i = 0; i < analysis.gap_count; i++)
			add_called(&analysis, &analysis.gaps[i]);
		follow_starts(&analysis);
		follow_untyped(&analysis, file);
		bool is_stripped = !elf_file_section(file, ".symtab").bytes;
		for (size_t i = 0; is_stripped && i < analysis.gap_count; i++)
			follow_rest(&analysis, &analysis.gaps[i]);
		status = analysis.no_memory ? ERROR_MEMORY : analysis.has_functions ? merge(table, &analysis) : 0;
	}
	release(&analysis);
	elf_file_release_part(file, &text);
	return status;
}
