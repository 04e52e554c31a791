#include "frames/native/code_extent.h"

#include "arch/instruction.h"

enum { SEARCH_MOST = 1 << 24 };

struct code {
	uint8_t bytes[CODE_EXTENT_MOST];
	size_t size;
	uint64_t address;
};

static bool decode(const struct code *code, size_t at, struct instruction *instruction)
{
	return at < code->size &&
	       instruction_decode(code->bytes + at, code->size - at, code->address + at, instruction);
}

/* Returns the offset in the code behind a branch's target, or 0 if it is elsewhere, or unknown. A jump over many bytes
 * is a call in the last place rather than the start of a loop. */
static size_t reached_by(const struct code *code, size_t at, const struct instruction *instruction)
{
	enum { LOCAL_BYTES = 128 };
	uint64_t target = instruction->target - code->address;
	bool is_local = instruction->flow == INSTRUCTION_BRANCH ||
			(instruction->flow == INSTRUCTION_JUMP && target - at < LOCAL_BYTES);
	return instruction->has_target && is_local && target < code->size ? (size_t)target : 0;
}

/* Returns the size of the padding at an offset. A function may begin with padding, too: at its aligned start. */
static size_t padding_size(const struct code *code, size_t at)
{
	enum { ALIGNMENT = 16 };
	struct instruction instruction;
	size_t end = at;
	while (decode(code, end, &instruction) && instruction.is_padding)
		end += instruction.bytes;
	size_t behind = (size_t)((code->address + end) % ALIGNMENT);
	return end - at > behind ? end - at - behind : end - at;
}

/* Returns the size of the function at the start of the code: up to where control neither continues nor branches to,
 * and the padding behind that. */
static size_t function_size(const struct code *code)
{
	struct instruction instruction;
	size_t at = 0, reached = 0;
	while (decode(code, at, &instruction)) {
		at += instruction.bytes;
		size_t target = reached_by(code, at, &instruction);
		if (target > reached)
			reached = target;
		bool continues = instruction.flow == INSTRUCTION_NEXT || instruction.flow == INSTRUCTION_CALL ||
				 instruction.flow == INSTRUCTION_BRANCH;
		if (!continues && at > reached)
			break;
	}
	at += padding_size(code, at);
	return at ? at : 1; /* data */
}

/* Reads code from an address on: as much as a function may have, or up to the end of the file's code. Returns false if
 * there is none. */
static bool read_code(struct module_file *file, uint64_t start, struct code *code)
{
	code->address = start;
	for (code->size = sizeof(code->bytes); file->bytes && code->size > 0; code->size /= 2)
		if (elf_file_copy(file->bytes, start, code->bytes, code->size))
			return true;
	return false;
}

/* Returns the end of the function that begins at an address, or the address if the code cannot be read. */
static uint64_t end_of_code(struct module_file *file, uint64_t start)
{
	struct code code;
	return start + (read_code(file, start, &code) ? function_size(&code) : 0);
}

/* Returns the start of the first function from an address on. */
static uint64_t start_of_code(struct module_file *file, uint64_t begin)
{
	struct code code;
	return begin + (read_code(file, begin, &code) ? padding_size(&code, 0) : 0);
}

static uint64_t end_of_symbol(struct code_extents *extents, struct module_file *file, const struct symbol *symbol)
{
	if (extents->symbol_end == 0 || extents->symbol != symbol->start) {
		extents->symbol = symbol->start;
		extents->symbol_end = symbol->start + CODE_EXTENT_MOST;
		if (module_file_is_stripped(file) && file->bytes)
			extents->symbol_end = end_of_code(file, symbol->start);
	}
	return extents->symbol_end;
}

/* Returns where the code that has an extent ends before an address. */
static uint64_t end_of_extents(struct module_file *file, const struct symbol_match *match, uint64_t address)
{
	uint64_t function_end = module_file_function_end(file, address);
	return function_end > match->begin ? function_end : match->begin;
}

bool code_extent_names(struct code_extents *extents, struct module_file *file, const struct symbol_match *match,
		       uint64_t address)
{
	const struct symbol *symbol = &match->nearest;
	if (!symbol->name)
		return false;
	uint64_t function = module_file_function(file, address);
	if (function)
		return function <= symbol->start;
	return symbol->size == 0 && end_of_extents(file, match, address) <= symbol->start &&
	       address < end_of_symbol(extents, file, symbol);
}

uint64_t code_extent_start(struct code_extents *extents, struct module_file *file, const struct symbol_match *match,
			   uint64_t address)
{
	uint64_t function = module_file_function(file, address);
	if (function)
		return function;
	uint64_t begin = end_of_extents(file, match, address);
	const struct symbol *symbol = &match->nearest;
	if (symbol->name && symbol->size == 0 && symbol->start >= begin &&
	    end_of_symbol(extents, file, symbol) <= address)
		begin = end_of_symbol(extents, file, symbol);
	if (extents->range_end == 0 || extents->begin != begin || address < extents->range) {
		extents->begin = begin;
		extents->range = extents->range_end = start_of_code(file, begin);
	}
	if (address < extents->range || address - begin > SEARCH_MOST)
		return begin; /* in the padding; or the search takes too long, then all is one range */
	while (extents->range_end <= address) {
		uint64_t end = end_of_code(file, extents->range_end);
		if (end == extents->range_end)
			return address;
		extents->range = extents->range_end;
		extents->range_end = end;
	}
	return extents->range;
}
