#include "unwind/code_rows.h"

#include <elf.h>
#include <stdlib.h>
#include <string.h>

#include "arch/arch.h"
#include "arch/instruction.h"
#include "base/array.h"
#include "base/hash_map.h"
#include "unwind/code_state.h"

enum {
	WORD = 8,
	SMALLEST_GAP = 16,
	LARGEST_CODE = 2 << 20, /* more code without information gets no rows */
	STEPS_A_BYTE = 4,        /* at most so many instructions are followed, with those of functions that are rejected */
	STATES_MAX = UINT16_MAX,
};

/* Code between functions that have unwind information. */
struct gap {
	uint32_t start, end; /* minus the table's base */
	const uint8_t *code;
	uint16_t *states; /* per byte: number of a state plus 1; 0: not an instruction that was followed */
	uint8_t *marks;   /* per byte: enum mark */
};

enum mark { IS_START = 1, WAS_TRIED = 2 };

/* One place to follow from. */
struct place {
	uint32_t pc;
	struct code_state state;
};

struct analysis {
	const struct unwind_table *table;
	struct gap *gaps;
	size_t gap_count, gap_capacity;
	uint64_t steps_left;
	struct code_state *states;
	size_t state_count, state_capacity;
	struct hash_map by_state;
	/* Starts of functions, from symbols and calls, that are not tried yet. */
	uint32_t *starts;
	size_t start_count, start_capacity;
	/* The present function. */
	struct place *work;
	size_t work_count, work_capacity;
	uint32_t *followed; /* its instructions */
	size_t followed_count, followed_capacity;
	bool is_known_start; /* by a symbol, a call or its address */
	bool returns, jumps_by_table;
	struct code_state at_table;
	uint64_t functions; /* that got states */
	bool no_memory;
};

static struct gap *gap_at(const struct analysis *analysis, uint64_t pc)
{
	size_t low = 0, high = analysis->gap_count;
	while (low < high) {
		size_t middle = low + (high - low) / 2;
		if (analysis->gaps[middle].end <= pc)
			low = middle + 1;
		else
			high = middle;
	}
	bool is_in = low < analysis->gap_count && analysis->gaps[low].start <= pc;
	return is_in ? &analysis->gaps[low] : NULL;
}

/* --- states --- */

/* Returns the number of a state plus 1, or 0 if there is no room for another one. */
static uint16_t number_of(struct analysis *analysis, const struct code_state *state)
{
	uint64_t key = hash_u64(hash_u64((uint64_t)(uint32_t)state->sp << 32 | (uint32_t)state->frame) ^ (uint32_t)state->saved);
	uint32_t found = hash_map_get(&analysis->by_state, key);
	if (found != HASH_MAP_NONE)
		return code_state_equal(&analysis->states[found], state) ? (uint16_t)(found + 1) : 0;
	if (analysis->state_count == STATES_MAX)
		return 0;
	if (ARRAY_RESERVE(analysis->states, analysis->state_capacity, analysis->state_count + 1) < 0 ||
	    hash_map_put(&analysis->by_state, key, (uint32_t)analysis->state_count) < 0) {
		analysis->no_memory = true;
		return 0;
	}
	analysis->states[analysis->state_count] = *state;
	return (uint16_t)++analysis->state_count;
}

/* --- one function --- */

static void add_start(struct analysis *analysis, uint64_t pc)
{
	struct gap *gap = pc < UINT32_MAX ? gap_at(analysis, pc) : NULL;
	if (!gap || gap->marks[pc - gap->start] & IS_START)
		return;
	if (ARRAY_RESERVE(analysis->starts, analysis->start_capacity, analysis->start_count + 1) < 0) {
		analysis->no_memory = true;
		return;
	}
	gap->marks[pc - gap->start] |= IS_START;
	analysis->starts[analysis->start_count++] = (uint32_t)pc;
}

static bool add_work(struct analysis *analysis, uint32_t pc, const struct code_state *state)
{
	if (ARRAY_RESERVE(analysis->work, analysis->work_capacity, analysis->work_count + 1) < 0) {
		analysis->no_memory = true;
		return false;
	}
	analysis->work[analysis->work_count++] = (struct place){ .pc = pc, .state = *state };
	return true;
}

static bool add_followed(struct analysis *analysis, uint32_t pc)
{
	if (ARRAY_RESERVE(analysis->followed, analysis->followed_capacity, analysis->followed_count + 1) < 0) {
		analysis->no_memory = true;
		return false;
	}
	analysis->followed[analysis->followed_count++] = pc;
	return true;
}

/* Returns whether the code may be the return from a signal handler, which has no caller by a return address. */
static bool is_sigreturn(const struct gap *gap, uint32_t pc)
{
	static const uint8_t wide[] = { 0x48, 0xc7, 0xc0, 0x0f, 0, 0, 0, 0x0f, 0x05 }, plain[] = { 0xb8, 0x0f, 0, 0, 0, 0x0f, 0x05 };
	const uint8_t *code = gap->code + (pc - gap->start);
	size_t left = gap->end - pc;
	return (left >= sizeof(wide) && memcmp(code, wide, sizeof(wide)) == 0) ||
	       (left >= sizeof(plain) && memcmp(code, plain, sizeof(plain)) == 0);
}

static bool is_return(const uint8_t *code, size_t size)
{
	enum { RETURN = 0xc3, WITH_PREFIX = 2 };
	return code[size - 1] == RETURN && size <= WITH_PREFIX;
}

enum next { FOLLOW, STOP, REJECT };

/* A jump to an address: within the function, or to another one, which then returns to our caller. */
static bool jump(struct analysis *analysis, uint64_t target, const struct code_state *state)
{
	uint64_t pc = target - analysis->table->base;
	if (pc < UINT32_MAX && gap_at(analysis, pc))
		return add_work(analysis, (uint32_t)pc, state);
	analysis->returns |= code_state_is_outside(state);
	return code_state_is_outside(state);
}

/* Returns whether a called function traps at once, as musl's __stack_chk_fail does. */
static bool never_returns(const struct analysis *analysis, uint64_t target)
{
	enum { INSTRUCTIONS_MAX = 4 };
	uint64_t pc = target - analysis->table->base;
	const struct gap *gap = pc < UINT32_MAX ? gap_at(analysis, pc) : NULL;
	for (int i = 0; gap && i < INSTRUCTIONS_MAX && pc < gap->end; i++) {
		struct instruction instruction;
		const uint8_t *code = gap->code + (pc - gap->start);
		if (!instruction_decode(code, gap->end - pc, target, &instruction))
			return false;
		if (instruction.flow != INSTRUCTION_NEXT)
			return instruction.flow == INSTRUCTION_END && !is_return(code, instruction.bytes);
		pc += instruction.bytes;
	}
	return false;
}

/* A jump to an address in a register or in memory: to another function, or to a case of a table. */
static enum next jump_indirectly(struct analysis *analysis, const struct code_state *state, const uint8_t *code, size_t size)
{
	enum { REGISTER_BITS = 0xc0 };
	if (!code_state_is_outside(state)) {
		analysis->jumps_by_table = true;
		analysis->at_table = *state;
	} else if (analysis->is_known_start && (code[size - 1] & REGISTER_BITS) == REGISTER_BITS) {
		analysis->returns = true; /* through the other function. Haskell's code jumps by memory, and never returns */
	}
	return STOP;
}

/* Continues behind an instruction. *pc is its own, and then that of the next one. */
static enum next go_on(struct analysis *analysis, const struct instruction *instruction, const struct code_state *state, const uint8_t *code,
		       uint32_t *pc)
{
	*pc += instruction->bytes;
	if (instruction->takes_address)
		add_start(analysis, instruction->memory - analysis->table->base);
	switch (instruction->flow) {
	case INSTRUCTION_CALL:
		if (instruction->has_target)
			add_start(analysis, instruction->target - analysis->table->base);
		return instruction->has_target && never_returns(analysis, instruction->target) ? STOP : FOLLOW;
	case INSTRUCTION_BRANCH:
		return jump(analysis, instruction->target, state) ? FOLLOW : REJECT;
	case INSTRUCTION_JUMP:
		return jump(analysis, instruction->target, state) ? STOP : REJECT;
	case INSTRUCTION_INDIRECT:
		return jump_indirectly(analysis, state, code, instruction->bytes);
	case INSTRUCTION_END:
		if (!is_return(code, instruction->bytes))
			return STOP; /* a trap */
		analysis->returns = true;
		return code_state_is_outside(state) ? STOP : REJECT;
	default:
		return FOLLOW;
	}
}

/* Follows the code from one place on, up to its end or to code that was followed before. Returns false to reject the function. */
static bool follow(struct analysis *analysis, struct place place)
{
	bool was_call = false;
	for (uint32_t pc = place.pc;;) {
		struct gap *gap = gap_at(analysis, pc);
		if (!gap || (pc != place.pc && gap->marks[pc - gap->start] & IS_START && (was_call || !code_state_is_outside(&place.state))))
			return was_call; /* a call that does not return */
		uint16_t *known = &gap->states[pc - gap->start];
		if (*known && !code_state_join(&place.state, &analysis->states[*known - 1]))
			return false;
		uint16_t number = number_of(analysis, &place.state);
		if (*known && *known == number)
			return true;
		struct instruction instruction;
		const uint8_t *code = gap->code + (pc - gap->start);
		if (!number || analysis->steps_left == 0 || is_sigreturn(gap, pc) ||
		    !instruction_decode(code, gap->end - pc, analysis->table->base + pc, &instruction) ||
		    !add_followed(analysis, pc))
			return false;
		analysis->steps_left--;
		*known = number;
		struct stack_effect effect = arch_stack_effect(code, instruction.bytes);
		if (instruction.flow == INSTRUCTION_NEXT && !code_state_apply(&place.state, &effect))
			return false;
		was_call = instruction.flow == INSTRUCTION_CALL || (was_call && instruction.is_padding);
		enum next next = go_on(analysis, &instruction, &place.state, code, &pc);
		if (next != FOLLOW)
			return next == STOP;
	}
}

static void forget(struct analysis *analysis, size_t from)
{
	for (size_t i = from; i < analysis->followed_count; i++) {
		struct gap *gap = gap_at(analysis, analysis->followed[i]);
		gap->states[analysis->followed[i] - gap->start] = 0;
	}
	analysis->followed_count = from;
	analysis->work_count = 0;
}

static bool follow_all(struct analysis *analysis)
{
	while (analysis->work_count > 0)
		if (!follow(analysis, analysis->work[--analysis->work_count]))
			return false;
	return !analysis->no_memory;
}

/* Follows the cases of a jump by a table: code between the function's parts that nothing else leads to. It has the state of the jump if
 * that is consistent with all that follows. */
static void follow_cases(struct analysis *analysis)
{
	uint32_t first = UINT32_MAX, last = 0;
	for (size_t i = 0; i < analysis->followed_count; i++) {
		first = analysis->followed[i] < first ? analysis->followed[i] : first;
		last = analysis->followed[i] > last ? analysis->followed[i] : last;
	}
	struct gap *gap = gap_at(analysis, first);
	for (uint32_t pc = first; gap && pc < last && pc < gap->end;) {
		struct instruction instruction;
		if (!instruction_decode(gap->code + (pc - gap->start), gap->end - pc, analysis->table->base + pc, &instruction))
			return;
		uint16_t *known = &gap->states[pc - gap->start];
		if (!*known && !instruction.is_padding) {
			size_t before = analysis->followed_count;
			struct code_state state = analysis->at_table;
			if (!add_work(analysis, pc, &state) || !follow_all(analysis))
				forget(analysis, before);
			if (!*known)
				return; /* other data or code */
		}
		pc += instruction.bytes;
	}
}

/* Returns whether the function got states. */
static bool follow_function(struct analysis *analysis, uint32_t start)
{
	struct gap *gap = gap_at(analysis, start);
	uint8_t *marks = &gap->marks[start - gap->start];
	if (*marks & WAS_TRIED || gap->states[start - gap->start])
		return true;
	*marks |= WAS_TRIED;
	analysis->followed_count = analysis->work_count = 0;
	analysis->returns = analysis->jumps_by_table = false;
	analysis->is_known_start = *marks & IS_START;
	bool is_function = add_work(analysis, start, &code_state_start) && follow_all(analysis);
	if (is_function && analysis->jumps_by_table)
		follow_cases(analysis);
	if (is_function && analysis->returns && !analysis->no_memory) {
		analysis->functions++;
		return true;
	}
	forget(analysis, 0);
	return false;
}

/* --- all functions --- */

static void follow_starts(struct analysis *analysis)
{
	while (analysis->start_count > 0 && !analysis->no_memory)
		follow_function(analysis, analysis->starts[--analysis->start_count]);
}

static void add_symbols(struct analysis *analysis, struct elf_file *file, const char *section)
{
	struct elf_bytes symbols = elf_file_section(file, section);
	for (size_t at = 0; symbols.bytes && at + sizeof(Elf64_Sym) <= symbols.size; at += sizeof(Elf64_Sym)) {
		Elf64_Sym symbol;
		memcpy(&symbol, symbols.bytes + at, sizeof(symbol));
		unsigned type = ELF64_ST_TYPE(symbol.st_info);
		if ((type == STT_FUNC || type == STT_GNU_IFUNC) && symbol.st_shndx != SHN_UNDEF)
			add_start(analysis, symbol.st_value - analysis->table->base);
	}
}

/* Calls show where functions begin. They are searched first, because code in front of a function may end in a call that does not
 * return, and would seem to go on in the function. */
static void add_called(struct analysis *analysis, const struct gap *gap)
{
	for (uint32_t pc = gap->start; pc < gap->end && !analysis->no_memory;) {
		struct instruction instruction;
		bool is_code = instruction_decode(gap->code + (pc - gap->start), gap->end - pc, analysis->table->base + pc, &instruction);
		if (is_code && instruction.flow == INSTRUCTION_CALL && instruction.has_target)
			add_start(analysis, instruction.target - analysis->table->base);
		pc += is_code ? instruction.bytes : 1;
	}
}

/* In a stripped file, functions to which no call leads directly begin behind another one's end. */
static void follow_rest(struct analysis *analysis, const struct gap *gap)
{
	bool may_begin = true;
	for (uint32_t pc = gap->start; pc < gap->end && analysis->steps_left > 0 && !analysis->no_memory;) {
		struct instruction instruction;
		if (!instruction_decode(gap->code + (pc - gap->start), gap->end - pc, analysis->table->base + pc, &instruction)) {
			may_begin = false;
			pc++;
			continue;
		}
		bool is_known = gap->states[pc - gap->start];
		if (!is_known && may_begin && !instruction.is_padding) {
			is_known = follow_function(analysis, pc);
			follow_starts(analysis);
		}
		bool ends = instruction.flow == INSTRUCTION_END || instruction.flow == INSTRUCTION_JUMP || instruction.flow == INSTRUCTION_INDIRECT;
		may_begin = ends || (instruction.is_padding && may_begin);
		pc += instruction.bytes;
	}
}

static int add_gap(struct analysis *analysis, struct elf_file *file, uint64_t start, uint64_t end)
{
	if (end <= start || end - start < SMALLEST_GAP)
		return 0;
	struct elf_bytes found = elf_file_from(file, analysis->table->base + start, end - start);
	if (!found.bytes || found.size < SMALLEST_GAP)
		return 0;
	struct gap gap = { .start = (uint32_t)start, .end = (uint32_t)(start + found.size), .code = found.bytes };
	if (ARRAY_RESERVE(analysis->gaps, analysis->gap_capacity, analysis->gap_count + 1) < 0)
		return ERROR_MEMORY;
	gap.states = calloc(found.size, sizeof(*gap.states));
	gap.marks = calloc(found.size, sizeof(*gap.marks));
	analysis->gaps[analysis->gap_count++] = gap;
	return gap.states && gap.marks ? 0 : ERROR_MEMORY;
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
		size += end > start && end - start >= SMALLEST_GAP ? end - start : 0;
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
	row.fp = (int8_t)-(state->saved / WORD);
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
static int add_gap_rows(const struct analysis *analysis, const struct gap *gap, struct row_list *list)
{
	int status = list->count ? add_row(list, (struct unwind_row){ .pc = gap->start }) : 0;
	for (uint32_t pc = gap->start; pc < gap->end && status == 0;) {
		uint16_t number = gap->states[pc - gap->start];
		struct instruction instruction = { .bytes = 1 };
		struct unwind_row row = { .pc = pc };
		if (number) {
			row = row_of(&analysis->states[number - 1], pc);
			instruction_decode(gap->code + (pc - gap->start), gap->end - pc, 0, &instruction);
		}
		if (list->count || row.kind != UNWIND_NO_RULE)
			status = add_row(list, row);
		pc += instruction.bytes;
	}
	return status < 0 || !list->count ? status : add_row(list, (struct unwind_row){ .pc = gap->end });
}

/* Puts the rows of all gaps between the others. The table's own rows in a gap state that there is none. */
static int merge(struct unwind_table *table, const struct analysis *analysis)
{
	struct row_list list = { 0 };
	uint32_t next = 0;
	int status = 0;
	for (size_t i = 0; i <= analysis->gap_count && status == 0; i++) {
		const struct gap *gap = i < analysis->gap_count ? &analysis->gaps[i] : NULL;
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

static void release(struct analysis *analysis)
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
	struct analysis analysis = { .table = table };
	uint64_t size = size_of_gaps(table);
	int status = 0;
	if (size == 0 || size > LARGEST_CODE)
		return 0;
	hash_map_init(&analysis.by_state);
	analysis.steps_left = size * STEPS_A_BYTE;
	for (uint32_t i = 0, start; i <= table->function_count && status == 0; i++) {
		uint32_t end = bounds(table, i, &start);
		status = add_gap(&analysis, file, start, end);
	}
	if (status == 0 && analysis.gap_count > 0) {
		add_symbols(&analysis, file, ".symtab");
		add_symbols(&analysis, file, ".dynsym");
		for (size_t i = 0; i < analysis.gap_count; i++)
			add_called(&analysis, &analysis.gaps[i]);
		follow_starts(&analysis);
		bool is_stripped = !elf_file_section(file, ".symtab").bytes;
		for (size_t i = 0; is_stripped && i < analysis.gap_count; i++)
			follow_rest(&analysis, &analysis.gaps[i]);
		status = analysis.no_memory ? ERROR_MEMORY : analysis.functions ? merge(table, &analysis) : 0;
	}
	release(&analysis);
	return status;
}
