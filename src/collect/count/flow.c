/*
 * Reads the graph of a module's code. Functions are decoded twice: first to find where blocks begin, then to make
 * the blocks. A block begins at the start of a function, behind a jump, at the target of a jump, and at a hook: at
 * its call, or at the instructions that set the call's argument. In gcc's code a block also begins behind a call of
 * any other function, which may not return: gcov counts such blocks.
 */
#include "collect/count/flow.h"

#include <stdlib.h>
#include <string.h>

#include "arch/instruction.h"
#include "base/array.h"
#include "base/compare.h"
#include "base/lower_bound.h"

enum { TABLE_ENTRIES_MAX = 4096 };

struct addresses {
	uint64_t *items;
	size_t count, capacity;
};

/* An indirect jump through a table, as for a switch. */
struct table {
	uint64_t jump;    /* the address of the jump */
	uint64_t address; /* of the table */
	bool is_absolute; /* entries are 8-byte addresses; otherwise 4-byte distances from the table */
};

/* An edge whose target block does not exist yet. */
struct pending {
	uint32_t from;
	uint64_t target;
};

struct reader {
	struct flow_graph *graph;
	struct elf_file *file;
	const struct unwind_table *functions;
	const struct flow_count *counts;
	size_t count;
	uint64_t hooks[FLOW_HOOKS_MAX]; /* targets of calls: a hook, its stub, or the slot with its address */
	size_t hook_count;
	struct addresses starts; /* of blocks */
	struct table *tables;
	size_t table_count, table_capacity;
	struct pending *pending;
	size_t pending_count, pending_capacity;
};

/* The code of one function. */
struct code {
	const uint8_t *bytes;
	uint64_t start, end;
};

static int add_address(struct addresses *addresses, uint64_t address)
{
	if (ARRAY_RESERVE(addresses->items, addresses->capacity, addresses->count + 1) < 0)
		return ERROR_MEMORY;
	addresses->items[addresses->count++] = address;
	return 0;
}

static int compare_addresses(const void *left, const void *right)
{
	uint64_t a = *(const uint64_t *)left, b = *(const uint64_t *)right;
	return COMPARE(a, b);
}

static void sort_addresses(struct addresses *addresses)
{
	size_t kept = 0;
	if (addresses->count > 1)
		qsort(addresses->items, addresses->count, sizeof(addresses->items[0]), compare_addresses);
	for (size_t i = 0; i < addresses->count; i++)
		if (kept == 0 || addresses->items[kept - 1] != addresses->items[i])
			addresses->items[kept++] = addresses->items[i];
	addresses->count = kept;
}

static bool has_address(const struct addresses *addresses, uint64_t address)
{
	return addresses->count &&
	       bsearch(&address, addresses->items, addresses->count, sizeof(addresses->items[0]), compare_addresses);
}

static bool decode(const struct code *code, uint64_t at, struct instruction *instruction)
{
	return at < code->end && instruction_decode(code->bytes + (at - code->start), code->end - at, at, instruction);
}

/* --- hooks --- */

/* Returns what an instruction calls: a function, or the slot with its address; 0 if it is no call, or its target is
 * not known. */
static uint64_t called(const struct instruction *instruction)
{
	if (instruction->flow != INSTRUCTION_CALL)
		return 0;
	return instruction->has_target ? instruction->target : instruction->memory;
}

static bool is_hook(const struct reader *reader, const struct instruction *instruction)
{
	uint64_t target = called(instruction);
	for (size_t i = 0; target && i < reader->hook_count; i++)
		if (reader->hooks[i] == target)
			return true;
	return false;
}

/* Registers a hook: the target of the call that ends at the address of a count. */
static void register_hook(struct reader *reader, uint64_t pc)
{
	enum { DIRECT = 5, BY_SLOT = 6 };
	for (uint64_t bytes = DIRECT; bytes <= BY_SLOT; bytes++) {
		uint8_t code[BY_SLOT];
		struct instruction call;
		if (pc < bytes || !elf_file_copy(reader->file, pc - bytes, code, bytes) ||
		    !instruction_decode(code, bytes, pc - bytes, &call) || call.bytes != bytes || !called(&call))
			continue;
		if (!is_hook(reader, &call) && reader->hook_count < FLOW_HOOKS_MAX)
			reader->hooks[reader->hook_count++] = called(&call);
		return;
	}
}

/* --- tables of switches --- */

static int add_table(struct reader *reader, const struct instruction *jump, uint64_t at, uint64_t taken,
		     uint64_t indexed)
{
	struct table table = { .jump = at, .address = taken };
	if (jump->indexes_by_8 || (taken == 0 && indexed)) {
		table.address = jump->indexes_by_8 ? jump->memory : indexed;
		table.is_absolute = true;
	}
	if (table.address == 0)
		return 0;
	if (ARRAY_RESERVE(reader->tables, reader->table_capacity, reader->table_count + 1) < 0)
		return ERROR_MEMORY;
	reader->tables[reader->table_count++] = table;
	return 0;
}

/* Returns the first table whose jump is at or behind an address. Tables are sorted by their jumps. */
static size_t first_table(const struct reader *reader, uint64_t jump)
{
	return LOWER_BOUND(i, 0, reader->table_count, reader->tables[i].jump < jump);
}

/* Reads the target of a table's entry. Returns false behind the table's last entry. */
static bool read_entry(const struct reader *reader, const struct table *table, size_t index, const struct code *code,
		       uint64_t *target)
{
	uint64_t at = table->address + index * (table->is_absolute ? sizeof(uint64_t) : sizeof(int32_t));
	int32_t distance;
	if (index >= TABLE_ENTRIES_MAX)
		return false;
	/* The table ends where another one begins. */
	for (size_t i = index > 0 ? first_table(reader, code->start) : reader->table_count;
	     i < reader->table_count && reader->tables[i].jump < code->end; i++)
		if (reader->tables[i].address == at)
			return false;
	if (table->is_absolute) {
		if (!elf_file_copy(reader->file, at, target, sizeof(*target)))
			return false;
	} else {
		if (!elf_file_copy(reader->file, at, &distance, sizeof(distance)))
			return false;
		*target = table->address + (uint64_t)(int64_t)distance;
	}
	return *target >= code->start && *target < code->end;
}

static const struct table *table_of(const struct reader *reader, uint64_t jump)
{
	size_t i = first_table(reader, jump);
	return i < reader->table_count && reader->tables[i].jump == jump ? &reader->tables[i] : NULL;
}

/* --- first: where blocks begin --- */

struct first_pass {
	uint64_t argument;       /* first of the instructions that set the next call's first argument; 0: none */
	uint64_t taken, indexed; /* the last addresses of data in instructions, perhaps of a table */
	bool is_hooked;
};

static int note_instruction(struct reader *reader, struct first_pass *pass, const struct instruction *instruction,
			    uint64_t at)
{
	int status = 0;
	if (is_hook(reader, instruction)) {
		pass->is_hooked = true;
		reader->graph->has_arguments |= pass->argument != 0;
		status = add_address(&reader->starts, pass->argument ? pass->argument : at);
	}
	if (instruction->sets_first_argument)
		pass->argument = pass->argument ? pass->argument : at;
	else
		pass->argument = 0;
	if (instruction->takes_address)
		pass->taken = instruction->memory;
	if (instruction->indexes_by_8)
		pass->indexed = instruction->memory;
	if (instruction->flow == INSTRUCTION_INDIRECT && status == 0)
		status = add_table(reader, instruction, at, pass->taken, pass->indexed);
	if (instruction->flow != INSTRUCTION_NEXT && instruction->flow != INSTRUCTION_CALL && status == 0)
		status = add_address(&reader->starts, at + instruction->bytes);
	if ((instruction->flow == INSTRUCTION_BRANCH || instruction->flow == INSTRUCTION_JUMP) && status == 0)
		status = add_address(&reader->starts, instruction->target);
	return status;
}

static int add_table_targets(struct reader *reader, const struct code *code, size_t first_table)
{
	int status = 0;
	for (size_t i = first_table; i < reader->table_count && status == 0; i++) {
		uint64_t target;
		for (size_t entry = 0; status == 0 && read_entry(reader, &reader->tables[i], entry, code, &target);
		     entry++)
			status = add_address(&reader->starts, target);
	}
	return status;
}

/* Adds the addresses at which blocks of a function begin. Returns 1, 0 if the function has no hook (then nothing is
 * added), or a negative error. */
static int find_starts(struct reader *reader, const struct code *code)
{
	struct first_pass pass = { 0 };
	size_t starts = reader->starts.count, tables = reader->table_count;
	struct instruction instruction;
	int status = add_address(&reader->starts, code->start);
	for (uint64_t at = code->start; status == 0 && decode(code, at, &instruction); at += instruction.bytes)
		status = note_instruction(reader, &pass, &instruction, at);
	if (status == 0 && pass.is_hooked)
		status = add_table_targets(reader, code, tables);
	if (status == 0 && !pass.is_hooked) {
		reader->starts.count = starts;
		reader->table_count = tables;
	}
	return status < 0 ? status : pass.is_hooked;
}

/* --- then: the blocks --- */

static struct flow_block *last_block(struct reader *reader)
{
	return &reader->graph->blocks[reader->graph->block_count - 1];
}

static int begin_block(struct reader *reader, const struct code *code, uint64_t at)
{
	struct flow_graph *graph = reader->graph;
	if (graph->block_count >= FLOW_NONE)
		return ERROR_LIMIT;
	if (ARRAY_RESERVE(graph->blocks, graph->block_capacity, graph->block_count + 1) < 0)
		return ERROR_MEMORY;
	graph->blocks[graph->block_count++] = (struct flow_block){ .start = at,
								   .end = at,
								   .epilogue = at,
								   .body = at,
								   .function = code->start,
								   .first_in = FLOW_NONE,
								   .first_out = FLOW_NONE,
								   .is_open = at == code->start };
	return 0;
}

static int add_pending(struct reader *reader, uint64_t target)
{
	if (ARRAY_RESERVE(reader->pending, reader->pending_capacity, reader->pending_count + 1) < 0)
		return ERROR_MEMORY;
	reader->pending[reader->pending_count++] =
		(struct pending){ .from = (uint32_t)(reader->graph->block_count - 1), .target = target };
	return 0;
}

static int compare_counts(const void *key, const void *item)
{
	uint64_t pc = *(const uint64_t *)key;
	const struct flow_count *count = item;
	return COMPARE(pc, count->pc);
}

static void set_count(struct reader *reader, uint64_t pc)
{
	const struct flow_count *found =
		reader->count ? bsearch(&pc, reader->counts, reader->count, sizeof(*found), compare_counts) : NULL;
	struct flow_block *block = last_block(reader);
	block->is_hooked = block->is_known = true;
	block->body = pc;
	block->count = found ? found->count : 0;
}

static int leave_by_table(struct reader *reader, const struct code *code, uint64_t jump, bool *is_open)
{
	const struct table *table = table_of(reader, jump);
	size_t count = 0;
	uint64_t target;
	int status = 0;
	while (table && status == 0 && read_entry(reader, table, count, code, &target)) {
		status = add_pending(reader, target);
		count++;
	}
	if (count == 0)
		*is_open = true;
	return status;
}

/* Ends a block with the instruction `last`; another block begins behind it. Adds the edges that leave the block. */
static int end_block(struct reader *reader, const struct code *code, const struct instruction *last, uint64_t at,
		     bool *is_open)
{
	uint64_t next = at + last->bytes;
	int status = 0;
	if (last->flow != INSTRUCTION_END)
		last_block(reader)->epilogue = next;
	if (last->flow == INSTRUCTION_BRANCH || last->flow == INSTRUCTION_JUMP)
		status = add_pending(reader, last->target);
	if (last->flow == INSTRUCTION_INDIRECT)
		status = leave_by_table(reader, code, at, is_open);
	if (status == 0 && next < code->end &&
	    (last->flow == INSTRUCTION_NEXT || last->flow == INSTRUCTION_CALL || last->flow == INSTRUCTION_BRANCH))
		status = add_pending(reader, next);
	return status;
}

static void end_at(struct flow_block *block, const struct instruction *last, uint64_t at)
{
	/* Move `epilogue` behind each instruction that does more than end the function. */
	if (!last->restores && last->flow != INSTRUCTION_END)
		block->epilogue = at + last->bytes;
	block->end = at + last->bytes;
	block->jump = last->flow == INSTRUCTION_JUMP ? at : block->end;
}

static int read_blocks(struct reader *reader, const struct code *code)
{
	struct flow_graph *graph = reader->graph;
	size_t first = graph->block_count;
	struct instruction instruction;
	bool begins = true, resumes = false, is_open = false;
	int status = 0;
	for (uint64_t at = code->start; status == 0 && decode(code, at, &instruction); at += instruction.bytes) {
		uint64_t next = at + instruction.bytes;
		if (begins)
			status = begin_block(reader, code, at);
		if (status < 0)
			break;
		bool calls = instruction.flow == INSTRUCTION_CALL && !is_hook(reader, &instruction);
		last_block(reader)->resumes |= begins && resumes;
		last_block(reader)->leaks |= calls;
		end_at(last_block(reader), &instruction, at);
		if (is_hook(reader, &instruction))
			set_count(reader, next);
		begins = next >= code->end || has_address(&reader->starts, next);
		resumes = !begins && calls && !graph->has_arguments;
		begins |= resumes;
		if (begins)
			status = end_block(reader, code, &instruction, at, &is_open);
	}
	/* A jump whose targets are not known may lead to any hooked block: the hooked blocks are the blocks that the compiler had
	 * in its own graph. */
	for (size_t i = first; is_open && i < graph->block_count; i++)
		graph->blocks[i].is_open |= graph->blocks[i].is_hooked;
	return status;
}

/* --- edges --- */

static uint32_t block_at(const struct flow_graph *graph, uint64_t start)
{
	size_t at = LOWER_BOUND(i, 0, graph->block_count, graph->blocks[i].start < start);
	return at < graph->block_count && graph->blocks[at].start == start ? (uint32_t)at : FLOW_NONE;
}

static bool has_edge(const struct flow_graph *graph, uint32_t from, uint32_t to)
{
	for (uint32_t i = graph->blocks[from].first_out; i != FLOW_NONE; i = graph->edges[i].next_out)
		if (graph->edges[i].to == to)
			return true;
	return false;
}

static int add_edges(struct reader *reader)
{
	struct flow_graph *graph = reader->graph;
	for (size_t i = 0; i < reader->pending_count; i++) {
		uint32_t from = reader->pending[i].from, to = block_at(graph, reader->pending[i].target);
		if (to == FLOW_NONE) /* the target is not in the graph */
			graph->blocks[from].leaks = true;
		if (to == FLOW_NONE || has_edge(graph, from, to))
			continue;
		if (ARRAY_RESERVE(graph->edges, graph->edge_capacity, graph->edge_count + 1) < 0)
			return ERROR_MEMORY;
		uint32_t number = (uint32_t)graph->edge_count++;
		graph->edges[number] = (struct flow_edge){ .from = from,
							   .to = to,
							   .next_in = graph->blocks[to].first_in,
							   .next_out = graph->blocks[from].first_out };
		graph->blocks[to].first_in = graph->blocks[from].first_out = number;
	}
	return 0;
}

/* --- all of it --- */

static bool code_of(const struct reader *reader, size_t index, struct code *code)
{
	const struct unwind_function *function = &reader->functions->functions[index];
	code->start = reader->functions->base + function->start;
	code->end = code->start + function->size;
	code->bytes = function->size ? elf_file_at(reader->file, code->start, function->size) : NULL;
	return code->bytes != NULL;
}

static int read_functions(struct reader *reader)
{
	uint32_t count = reader->functions->function_count;
	bool *is_hooked = calloc(count + (size_t)1, sizeof(*is_hooked));
	struct code code;
	int status = is_hooked ? 0 : ERROR_MEMORY;
	for (uint32_t i = 0; i < count && status >= 0; i++) {
		status = code_of(reader, i, &code) ? find_starts(reader, &code) : 0;
		if (status > 0)
			is_hooked[i] = true;
	}
	sort_addresses(&reader->starts);
	for (uint32_t i = 0; i < count && status >= 0; i++)
		if (is_hooked[i] && code_of(reader, i, &code))
			status = read_blocks(reader, &code);
	free(is_hooked);
	return status < 0 ? status : add_edges(reader);
}

int flow_graph_read(struct flow_graph *graph, struct elf_file *file, const struct unwind_table *functions,
		    const struct flow_count *counts, size_t count)
{
	struct reader reader = {
		.graph = graph, .file = file, .functions = functions, .counts = counts, .count = count
	};
	*graph = (struct flow_graph){ 0 };
	for (size_t i = 0; i < count; i++)
		register_hook(&reader, counts[i].pc);
	int status = read_functions(&reader);
	free(reader.starts.items);
	free(reader.tables);
	free(reader.pending);
	return status;
}

void flow_graph_release(struct flow_graph *graph)
{
	free(graph->blocks);
	free(graph->edges);
	*graph = (struct flow_graph){ 0 };
}
