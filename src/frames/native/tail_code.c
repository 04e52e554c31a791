#include "frames/native/tail_code.h"

#include <gelf.h>
#include <stdlib.h>
#include <string.h>

#include "arch/arch.h"
#include "arch/instruction.h"
#include "base/array.h"
#include "base/hash_map.h"
#include "elf/dynamic_symbol.h"
#include "frames/native/names.h"
#include "frames/native/plt.h"
#include "unwind/fde_search.h"

enum { NO_STUB = 1 << 30, OWN_FUNCTION = 1 << 29 };
enum { CODE_BYTES_MOST = 16 << 20, FUNCTION_BYTES_MOST = 1 << 20, RELOCATION_BYTES_MOST = 1 << 28 };

struct code_symbol {
	uint64_t start, end;
	const char *name;
	uint32_t scope; /* local symbols: number of the source file, from 1; global symbols: 0 */
	bool is_chosen; /* its address is that of a function that returns another function's address */
};

/* A piece of code to read, which belongs to a function. */
struct piece {
	uint64_t start, end;
	uint32_t function;
	bool has_symbol;
};

struct reading {
	struct tail_code *code;
	struct module_file *file;
	struct code_symbol *symbols; /* sorted by their start */
	size_t symbol_count, symbol_capacity;
	struct fde_search fdes;
	struct hash_map by_name; /* (name, scope) -> symbol, once has_names is set */
	bool has_names;
	struct hash_map by_start; /* start of a function -> its number */
	struct hash_map by_piece; /* start of a piece that is in `pieces` -> its function */
	/* address -> NO_STUB or, of a stub or slot, the id of its name, 0: unknown; or OWN_FUNCTION + a number in own_addresses */
	struct hash_map by_stub;
	uint64_t *own_addresses; /* that slots have */
	size_t own_count, own_capacity;
	struct piece *pieces;
	size_t piece_count, piece_capacity, read_count;
	uint64_t entry;                         /* address of a function that is called; 0: none yet */
	uint64_t bytes_left;                    /* of code */
	uint64_t relocations, relocations_left; /* bytes of a search for a slot, and of all further ones */
	uint8_t *bytes;                         /* of the present piece */
	size_t bytes_capacity;
};

/* --- symbols --- */

static int by_start_and_end(const void *left, const void *right)
{
	const struct code_symbol *a = left, *b = right;
	if (a->start != b->start)
		return a->start < b->start ? -1 : 1;
	if (a->end != b->end)
		return a->end > b->end ? -1 : 1;
	return (a->scope > b->scope) - (a->scope < b->scope);
}

/* Reads the symbols of the file itself. Where it has only exported ones, .eh_frame has the functions; separate files are not worth
 * opening for this. */
static int read_symbols(struct reading *reading)
{
	Dwfl_Module *module = reading->file->own.module;
	int count = module_file_has_symbols(reading->file) ? dwfl_module_getsymtab(module) : 0;
	uint32_t scope = 0;
	for (int i = 0; i < count; i++) {
		GElf_Sym raw;
		GElf_Addr address;
		GElf_Word section;
		const char *name = dwfl_module_getsym_info(module, i, &raw, &address, &section, NULL, NULL);
		uint8_t type = GELF_ST_TYPE(raw.st_info);
		if (!name)
			continue;
		scope += type == STT_FILE;
		if ((type != STT_FUNC && type != STT_GNU_IFUNC) || section == SHN_UNDEF || section == SHN_ABS ||
		    raw.st_size == 0)
			continue;
		if (ARRAY_RESERVE(reading->symbols, reading->symbol_capacity, reading->symbol_count + 1) < 0)
			return ERROR_MEMORY;
		uint64_t start = address - reading->file->bias;
		reading->symbols[reading->symbol_count++] =
			(struct code_symbol){ .start = start,
					      .end = start + raw.st_size,
					      .name = name,
					      .scope = GELF_ST_BIND(raw.st_info) == STB_LOCAL ? scope + 1 : 0,
					      .is_chosen = type == STT_GNU_IFUNC };
	}
	if (reading->symbol_count > 0)
		qsort(reading->symbols, reading->symbol_count, sizeof(*reading->symbols), by_start_and_end);
	return 0;
}

/* Returns the symbol that covers an address: of several with one start, the first. */
static const struct code_symbol *symbol_at(const struct reading *reading, uint64_t address)
{
	size_t low = 0, high = reading->symbol_count;
	while (low < high) {
		size_t middle = low + (high - low) / 2;
		if (reading->symbols[middle].start <= address)
			low = middle + 1;
		else
			high = middle;
	}
	if (low == 0 || address >= reading->symbols[low - 1].end)
		return NULL;
	const struct code_symbol *symbol = &reading->symbols[low - 1];
	while (symbol > reading->symbols && symbol[-1].start == symbol->start)
		symbol--;
	return symbol;
}

static uint64_t name_key(const char *name, size_t length, uint32_t scope)
{
	return hash_bytes(name, length) ^ hash_u64(scope);
}

static int index_names(struct reading *reading)
{
	reading->has_names = true;
	for (size_t i = 0; i < reading->symbol_count; i++) {
		const struct code_symbol *symbol = &reading->symbols[i];
		size_t length = name_plain_length(symbol->name);
		if (name_base_length(symbol->name) == length &&
		    hash_map_put(&reading->by_name, name_key(symbol->name, length, symbol->scope), (uint32_t)i) < 0)
			return ERROR_MEMORY;
	}
	return 0;
}

/* Sets *start to that of the function of which a symbol is a part or clone. The original is in the same source file, or global. */
static int find_original(struct reading *reading, const struct code_symbol *symbol, uint64_t *start)
{
	size_t length = name_base_length(symbol->name);
	*start = symbol->start;
	if (length == name_plain_length(symbol->name))
		return 0;
	if (!reading->has_names && index_names(reading) < 0)
		return ERROR_MEMORY;
	uint32_t found = hash_map_get(&reading->by_name, name_key(symbol->name, length, symbol->scope));
	if (found == HASH_MAP_NONE)
		found = hash_map_get(&reading->by_name, name_key(symbol->name, length, 0));
	if (found != HASH_MAP_NONE)
		*start = symbol_at(reading, reading->symbols[found].start)->start;
	return 0;
}

/* --- functions --- */

static int64_t function_number(struct reading *reading, uint64_t start)
{
	struct tail_code *code = reading->code;
	uint32_t known = hash_map_get(&reading->by_start, start);
	if (known != HASH_MAP_NONE)
		return known;
	if (ARRAY_RESERVE(code->starts, code->start_capacity, code->start_count + 1) < 0 ||
	    hash_map_put(&reading->by_start, start, (uint32_t)code->start_count) < 0)
		return ERROR_MEMORY;
	code->starts[code->start_count] = start;
	return (int64_t)code->start_count++;
}

/* Fills in the piece of code that contains an address. Returns 1, 0 if there is none, or ERROR_MEMORY. */
static int find_piece(struct reading *reading, uint64_t address, struct piece *piece)
{
	const struct code_symbol *symbol = symbol_at(reading, address);
	uint64_t original;
	if (symbol) {
		*piece = (struct piece){ .start = symbol->start, .end = symbol->end, .has_symbol = true };
		if (symbol->is_chosen)
			return 0;
		if (find_original(reading, symbol, &original) < 0)
			return ERROR_MEMORY;
	} else {
		*piece = (struct piece){ 0 };
		if (!fde_search_range(&reading->fdes, address, &piece->start, &piece->end))
			return 0;
		original = piece->start;
	}
	int64_t function = function_number(reading, original);
	piece->function = (uint32_t)function;
	return function < 0 ? (int)function : 1;
}

static int add_piece(struct reading *reading, const struct piece *piece)
{
	if (hash_map_get(&reading->by_piece, piece->start) != HASH_MAP_NONE)
		return 0;
	if (ARRAY_RESERVE(reading->pieces, reading->piece_capacity, reading->piece_count + 1) < 0 ||
	    hash_map_put(&reading->by_piece, piece->start, piece->function) < 0)
		return ERROR_MEMORY;
	reading->pieces[reading->piece_count++] = *piece;
	return 0;
}

/* Returns whether the jumps out of an added piece count as those of its function: the piece may belong to several ones. */
static bool is_read_for(const struct reading *reading, const struct piece *piece)
{
	return hash_map_get(&reading->by_piece, piece->start) == piece->function;
}

/* --- names of other files' functions --- */

/* Returns whether one more search of the relocations for a slot is within the limit. */
static bool use_relocations(struct reading *reading)
{
	if (reading->relocations == 0)
		reading->relocations = elf_file_section(reading->file->bytes, ".rela.plt").size +
				       elf_file_section(reading->file->bytes, ".rela.dyn").size;
	if (reading->relocations > reading->relocations_left)
		return false;
	reading->relocations_left -= reading->relocations;
	return true;
}

/* Returns what by_stub has for an address, or ERROR_MEMORY. */
static int64_t read_stub(struct reading *reading, uint64_t address, bool is_slot)
{
	const char *text = NULL;
	uint64_t own = 0;
	if (is_slot && use_relocations(reading))
		text = plt_slot_symbol(reading->file, address, &own);
	else if (!is_slot && !plt_find(reading->file, address, &text))
		return NO_STUB;
	if (text)
		return strings_add(&reading->code->names, text, name_plain_length(text));
	if (own == 0)
		return 0;
	if (ARRAY_RESERVE(reading->own_addresses, reading->own_capacity, reading->own_count + 1) < 0)
		return ERROR_MEMORY;
	reading->own_addresses[reading->own_count] = own;
	return OWN_FUNCTION + (int64_t)reading->own_count++;
}

/* Stores the id of the name of the function to which a stub, or a slot of the GOT, leads; TAIL_CODE_NONE: unknown. Returns 1, 0 if
 * *address is of neither, or ERROR_MEMORY. If a slot has an address in this file, sets *address to that, and returns 0. */
static int name_at(struct reading *reading, uint64_t *address, bool is_slot, uint32_t *name)
{
	uint32_t known = hash_map_get(&reading->by_stub, *address);
	*name = TAIL_CODE_NONE;
	if (known == HASH_MAP_NONE) {
		int64_t found = read_stub(reading, *address, is_slot);
		if (found < 0 || hash_map_put(&reading->by_stub, *address, (uint32_t)found) < 0)
			return ERROR_MEMORY;
		known = (uint32_t)found;
	}
	if (known & OWN_FUNCTION)
		*address = reading->own_addresses[known - OWN_FUNCTION];
	else if (known != 0 && known != NO_STUB)
		*name = known;
	return known != NO_STUB && !(known & OWN_FUNCTION);
}

/* --- instructions --- */

static int add_jump(struct reading *reading, const struct tail_jump *jump)
{
	struct tail_code *code = reading->code;
	if (ARRAY_RESERVE(code->jumps, code->jump_capacity, code->jump_count + 1) < 0)
		return ERROR_MEMORY;
	code->jumps[code->jump_count++] = *jump;
	return 0;
}

static bool is_as_at_entry(struct reading *reading, uint64_t address)
{
	struct unwind_row entry, here;
	return fde_search_row(&reading->fdes, reading->entry, &entry) &&
	       fde_search_row(&reading->fdes, address, &here) && entry.kind == here.kind && entry.cfa == here.cfa;
}

/* Returns whether a jump leaves a function: the stack is at both ends as where a function begins. Only asked of code without symbols,
 * where parts of a function are not recognized by their names. */
static bool leaves_function(struct reading *reading, uint64_t address, uint64_t target)
{
	return is_as_at_entry(reading, address) && is_as_at_entry(reading, target);
}

/* Adds a jump to an unknown function. */
static int add_unknown(struct reading *reading, const struct piece *piece, uint64_t last_byte)
{
	const struct tail_jump jump = { .from = piece->function, .to = TAIL_CODE_NONE, .address = last_byte };
	return add_jump(reading, &jump);
}

/* Adds a jump that leaves its piece of code, unless it stays in the function. */
static int follow_jump(struct reading *reading, const struct piece *piece, uint64_t address,
		       const struct instruction *instruction)
{
	struct tail_jump jump = { .from = piece->function,
				  .to = TAIL_CODE_NONE,
				  .name = TAIL_CODE_NONE,
				  .address = address + instruction->bytes - 1 };
	uint64_t target = instruction->has_target ? instruction->target : instruction->memory;
	int status = name_at(reading, &target, !instruction->has_target, &jump.name);
	if (jump.name == TAIL_CODE_NONE && status > 0)
		jump.name = 0;
	if (status != 0)
		return status > 0 ? add_jump(reading, &jump) : status;
	struct piece next;
	status = find_piece(reading, target, &next);
	if (status < 0)
		return status;
	if (status > 0 && !piece->has_symbol && !leaves_function(reading, address, target))
		next.function = piece->function;
	bool is_part = status > 0 && next.function == piece->function;
	if (status == 0 || (!is_part && target != next.start))
		return add_unknown(reading, piece, jump.address);
	status = add_piece(reading, &next);
	if (status < 0 || (is_part && is_read_for(reading, &next)))
		return status;
	if (is_part)
		return add_unknown(reading, piece, jump.address);
	jump.to = next.function;
	return add_jump(reading, &jump);
}

/* The code of a block before its end, of which only parts matter. */
struct block {
	bool restores;  /* the caller's registers or stack */
	uint32_t cases; /* registers that may have the address of a case, by bits */
};

/* Returns whether a table has addresses in a piece of code. */
static bool is_table_of(struct reading *reading, const struct piece *piece, uint64_t table)
{
	uint64_t first;
	return elf_file_copy(reading->file->bytes, table, &first, sizeof(first)) && first >= piece->start &&
	       first < piece->end;
}

static void extend_block(struct reading *reading, const struct piece *piece, const struct instruction *instruction,
			 struct block *block)
{
	uint32_t sum = UINT32_C(1) << instruction->gets_sum, loaded = UINT32_C(1) << instruction->gets_memory;
	if (instruction->flow != INSTRUCTION_NEXT) {
		*block = (struct block){ 0 };
		return;
	}
	block->restores |= instruction->restores;
	block->cases = (block->cases & ~loaded) | sum;
	if (instruction->gets_memory && instruction->indexes_by_8 && is_table_of(reading, piece, instruction->memory))
		block->cases |= loaded;
}

/* Returns whether an indirect jump may lead out of a function: it is not that of a switch. */
static bool may_leave(struct reading *reading, const struct piece *piece, const struct instruction *instruction,
		      const struct block *block)
{
	if (block->restores)
		return true;
	bool is_of_sum = instruction->jumps_to && block->cases >> instruction->jumps_to & 1;
	return !instruction->is_of_switch && !is_of_sum &&
	       !(instruction->indexes_by_8 && is_table_of(reading, piece, instruction->memory));
}

/* Finds the jumps out of the code at `at`. Returns the instruction's size, 0 if there is none, or ERROR_MEMORY. */
static int read_instruction(struct reading *reading, const struct piece *piece, uint64_t at, struct block *block)
{
	struct instruction instruction;
	uint64_t address = piece->start + at;
	int status = 0;
	if (!instruction_decode(reading->bytes + at, piece->end - address, address, &instruction))
		return 0;
	bool is_direct = instruction.has_target &&
			 (instruction.flow == INSTRUCTION_JUMP || instruction.flow == INSTRUCTION_BRANCH) &&
			 (instruction.target < piece->start || instruction.target >= piece->end);
	bool is_by_slot =
		instruction.flow == INSTRUCTION_INDIRECT && instruction.memory != 0 && !instruction.indexes_by_8;
	if (is_direct || is_by_slot)
		status = follow_jump(reading, piece, address, &instruction);
	else if (instruction.flow == INSTRUCTION_INDIRECT && may_leave(reading, piece, &instruction, block))
		status = add_unknown(reading, piece, address + instruction.bytes - 1);
	extend_block(reading, piece, &instruction, block);
	return status < 0 ? status : instruction.bytes;
}

/* Code that cannot be read may have jumps to any function, and from several places: its frame has no line. */
static int add_unreadable(struct reading *reading, const struct piece *piece)
{
	int status = add_unknown(reading, piece, piece->start);
	return status < 0 ? status : add_unknown(reading, piece, piece->end - 1);
}

/* Finds the jumps out of a piece of code. */
static int read_piece(struct reading *reading, const struct piece *piece)
{
	uint64_t size = piece->end - piece->start;
	struct block block = { 0 };
	if (size > FUNCTION_BYTES_MOST || size > reading->bytes_left)
		return add_unreadable(reading, piece);
	reading->bytes_left -= size;
	if (ARRAY_RESERVE(reading->bytes, reading->bytes_capacity, size) < 0)
		return ERROR_MEMORY;
	if (!elf_file_copy(reading->file->bytes, piece->start, reading->bytes, size))
		return add_unreadable(reading, piece);
	for (uint64_t at = 0; at < size;) {
		int bytes = read_instruction(reading, piece, at, &block);
		if (bytes <= 0)
			return bytes < 0 ? bytes : add_unreadable(reading, piece);
		at += (uint64_t)bytes;
	}
	return 0;
}

/* --- queries --- */

/* Returns the address that a call jumps to, or 0 if it is unknown. *is_slot: it is the address of a slot that has it. */
static uint64_t target_of_call(struct reading *reading, uint64_t caller, bool *is_slot)
{
	uint8_t bytes[ARCH_CALL_BYTES];
	uint64_t after = caller + 1, target = 0;
	struct instruction instruction;
	*is_slot = false;
	if (!elf_file_copy(reading->file->bytes, after - sizeof(bytes), bytes, sizeof(bytes)) ||
	    arch_call_in(bytes, after, &target) != ARCH_CALL || target != 0)
		return target;
	for (size_t length = sizeof(bytes); length > 0; length--)
		if (instruction_decode(bytes + sizeof(bytes) - length, length, after - length, &instruction) &&
		    instruction.bytes == length && instruction.flow == INSTRUCTION_CALL && instruction.memory != 0) {
			*is_slot = true;
			return instruction.memory;
		}
	return 0;
}

/* Finds the function that contains an address. A stub is none: the function to which it leads does not run yet. */
static int find_callee(struct reading *reading, uint64_t address, struct tail_found *found)
{
	struct piece piece;
	uint32_t name;
	int is_stub = address ? name_at(reading, &address, false, &name) : 1;
	int status = is_stub == 0 ? find_piece(reading, address, &piece) : is_stub < 0 ? is_stub : 0;
	if (status > 0)
		found->callee = piece.function;
	return status < 0 ? status : 0;
}

/* Finds what is called. `target`: the address of the query's name, or 0. */
static int find_target(struct reading *reading, const struct tail_query *query, uint64_t target,
		       struct tail_found *found)
{
	bool is_slot = false;
	if (query->caller)
		target = target_of_call(reading, query->caller, &is_slot);
	if (target == 0)
		return 0;
	int status = query->caller ? name_at(reading, &target, is_slot, &found->name) : 0;
	if (status != 0)
		return status < 0 ? status : 0;
	struct piece piece;
	status = find_piece(reading, target, &piece);
	if (status <= 0 || piece.start != target)
		return status < 0 ? status : 0;
	found->target = piece.function;
	reading->entry = target;
	return found->target == found->callee ? 0 : add_piece(reading, &piece);
}

/* Finds the addresses of names, except those of functions that are chosen when the program starts. The tables are closed before another reader of the file opens and closes them. */
static void find_exports(struct elf_file *file, const struct tail_query *queries, size_t count, uint64_t *targets,
			 struct tail_found *found)
{
	struct dynamic_symbols exports;
	struct dynamic_symbol symbol;
	size_t first = 0;
	while (first < count && !queries[first].name[0])
		first++;
	bool has_exports = first < count && dynamic_symbols_open(&exports, file);
	for (size_t i = first; has_exports && i < count; i++) {
		if (!queries[i].name[0] || !dynamic_symbols_find(&exports, queries[i].name, &symbol))
			continue;
		if (symbol.type == STT_GNU_IFUNC)
			found[i].name = 0;
		else
			targets[i] = symbol.address;
	}
	if (first < count)
		dynamic_symbols_close(&exports, file);
}

static int answer_all(struct reading *reading, const struct tail_query *queries, size_t count)
{
	uint64_t *targets = calloc(count + 1, sizeof(*targets));
	int status = targets ? 0 : ERROR_MEMORY;
	if (targets)
		find_exports(reading->file->bytes, queries, count, targets, reading->code->found);
	for (size_t i = 0; i < count && status == 0; i++) {
		struct tail_found *found = &reading->code->found[i];
		status = find_callee(reading, queries[i].callee, found);
		if (status == 0)
			status = find_target(reading, &queries[i], targets[i], found);
	}
	free(targets);
	for (; status == 0 && reading->read_count < reading->piece_count; reading->read_count++) {
		struct piece piece = reading->pieces[reading->read_count];
		status = read_piece(reading, &piece);
	}
	return status;
}

static void reading_release(struct reading *reading)
{
	free(reading->symbols);
	free(reading->pieces);
	free(reading->bytes);
	free(reading->own_addresses);
	hash_map_release(&reading->by_name);
	hash_map_release(&reading->by_start);
	hash_map_release(&reading->by_piece);
	hash_map_release(&reading->by_stub);
}

int tail_code_read(struct tail_code *code, struct module_file *file, const struct tail_query *queries, size_t count)
{
	struct reading reading = {
		.code = code, .file = file, .bytes_left = CODE_BYTES_MOST, .relocations_left = RELOCATION_BYTES_MOST
	};
	*code = (struct tail_code){ .found = calloc(count + 1, sizeof(*code->found)), .found_count = count };
	hash_map_init(&reading.by_name);
	hash_map_init(&reading.by_start);
	hash_map_init(&reading.by_piece);
	hash_map_init(&reading.by_stub);
	if (strings_init(&code->names) < 0 || !code->found)
		return ERROR_MEMORY;
	for (size_t i = 0; i < count; i++)
		code->found[i] = (struct tail_found){ TAIL_CODE_NONE, TAIL_CODE_NONE, TAIL_CODE_NONE };
	if (!file->bytes)
		return 0; /* of another machine */
	fde_search_init(&reading.fdes, file->bytes);
	int status = read_symbols(&reading);
	if (status == 0)
		status = answer_all(&reading, queries, count);
	reading_release(&reading);
	return status;
}

void tail_code_release(struct tail_code *code)
{
	free(code->starts);
	free(code->jumps);
	free(code->found);
	strings_release(&code->names);
	*code = (struct tail_code){ 0 };
}
