#include "gprof/executions.h"

#include "arch/arch.h"
#include "arch/instruction.h"
#include "base/lower_bound.h"
#include "frames/native/module_file.h"

/* Returns the index of the first block at or above an address. */
static size_t first_block(const struct gmon *gmon, uint64_t address)
{
	return LOWER_BOUND(i, 0, gmon->block_count, gmon->blocks[i].address < address);
}

static bool has_blocks(const struct gprof_report *report)
{
	return report->options->by_line && report->gmon && report->gmon->block_count > 0;
}

struct executions executions_of(const struct gprof_report *report, uint32_t symbol)
{
	if (!has_blocks(report))
		return (struct executions){ 0 };
	const struct image_symbol *extent = &report->image->symbols[symbol];
	size_t first = first_block(report->gmon, extent->start);
	return (struct executions){ &report->gmon->blocks[first], first_block(report->gmon, extent->end) - first };
}

/* The recorded address of a block is in the call of its hook or behind it, so the code in front of it may be the
 * hook's. */
bool executions_begin(const struct gprof_report *report, uint32_t symbol)
{
	enum { BYTES_MOST = 32 };
	struct executions executions = executions_of(report, symbol);
	const struct image_symbol *extent = &report->image->symbols[symbol];
	if (executions.count == 0 || executions.blocks[0].address - extent->start > BYTES_MOST)
		return false;
	size_t block = executions.blocks[0].address - extent->start, at = 0, length = 1;
	size_t size = extent->end - extent->start < 2 * BYTES_MOST ? extent->end - extent->start : 2 * BYTES_MOST;
	struct elf_file *file = report->image->bytes;
	const uint8_t *code = block > 0 && file ? elf_file_at(file, extent->start, size) : NULL;
	while (code && at < block && length > 0)
		at += length = arch_hook_instruction(code + at, size - at);
	return at >= block;
}

/* --- blocks that were never executed --- */

static uint64_t called(const struct instruction *instruction)
{
	if (instruction->flow != INSTRUCTION_CALL)
		return 0;
	return instruction->has_target ? instruction->target : instruction->memory;
}

static bool decode(const struct gprof_report *report, uint64_t at, struct instruction *instruction)
{
	enum { BYTES_MOST = 15 };
	struct elf_file *file = report->image->bytes;
	for (size_t size = BYTES_MOST; file && size > 0; size--) {
		const uint8_t *code = elf_file_at(file, at, size);
		if (code)
			return instruction_decode(code, size, at, instruction);
	}
	return false;
}

/* Returns what the call of a recorded block's hook calls, and sets *behind to the address behind the call, or returns
 * 0. The block's address is the address of the call's last byte, or the next address. */
static uint64_t hook_of(const struct gprof_report *report, const struct gmon_block *block, uint64_t *behind)
{
	enum { DIRECT = 5, BY_SLOT = 6 };
	for (uint64_t end = block->address; end <= block->address + 1; end++) {
		for (uint64_t bytes = DIRECT; bytes <= BY_SLOT && bytes <= end; bytes++) {
			struct instruction call;
			if (!decode(report, end - bytes, &call) || call.bytes != bytes || !called(&call))
				continue;
			*behind = end;
			return called(&call);
		}
	}
	return 0;
}

/* Whether a block without a record, which was never executed, contains the code at `start`: its hook is called between
 * the recorded block in front of it and there, or first of all there. */
static bool is_in_unexecuted(const struct gprof_report *report, const struct gmon_block *before, uint64_t start)
{
	enum { FIRST_INSTRUCTIONS = 3 };
	uint64_t at = 0, hook = hook_of(report, before, &at);
	struct instruction instruction;
	for (int first = 0; hook && first < FIRST_INSTRUCTIONS; at += instruction.bytes) {
		if (!decode(report, at, &instruction))
			return false;
		if (called(&instruction) == hook)
			return true;
		first += at >= start;
	}
	return false;
}

const struct gmon_block *executions_around(const struct gprof_report *report, uint32_t symbol)
{
	if (!has_blocks(report))
		return NULL;
	const struct image_symbol *symbols = report->image->symbols;
	size_t first = first_block(report->gmon, symbols[symbol].start);
	uint32_t function = symbol, next = symbol + 1;
	while (function > 0 && !symbols[function].is_function)
		function--;
	if (first > 0 && report->gmon->blocks[first - 1].address >= symbols[function].start) {
		static const struct gmon_block never = { 0 };
		const struct gmon_block *before = &report->gmon->blocks[first - 1];
		return is_in_unexecuted(report, before, symbols[symbol].start) ? &never : before;
	}
	while (next < report->image->symbol_count && !symbols[next].is_function)
		next++;
	if (first == report->gmon->block_count || report->gmon->blocks[first].address >= symbols[next - 1].end)
		return NULL;
	return &report->gmon->blocks[first];
}
