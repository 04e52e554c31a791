#include "gprof/executions.h"

#include <string.h>

/* The number of the first block at or above an address. */
static size_t first_block(const struct gmon *gmon, uint64_t address)
{
	size_t low = 0, high = gmon->block_count;
	while (low < high) {
		size_t middle = low + (high - low) / 2;
		if (gmon->blocks[middle].address < address)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

static bool has_blocks(const struct gprof_report *report)
{
	return report->options->by_line && report->gmon && report->gmon->block_count > 0;
}

struct executions executions_of(const struct gprof_report *report, uint32_t symbol)
{
	if (!has_blocks(report))
		return (struct executions){ 0 };
	const struct image_symbol *place = &report->image->symbols[symbol];
	size_t first = first_block(report->gmon, place->start);
	return (struct executions){ &report->gmon->blocks[first], first_block(report->gmon, place->end) - first };
}

/*
 * Length of an instruction that calls a hook of blocks, or prepares that; 0: it is another. gcc's hook is called without an
 * argument, clang's with the address of the block's number:
 *
 *	f3 0f 1e fa         endbr64                48 8d 3d disp32     lea guards(%rip), %rdi
 *	e8 disp32           call hook              48 83 c7 imm8       add $4, %rdi
 *	ff 15 disp32        call *hook(%rip)       48 81 c7 imm32      add $400, %rdi
 *	67 e8 disp32        addr32 call hook       bf imm32            mov $guard, %edi
 */
static size_t hook_instruction(const uint8_t *code, size_t left)
{
	static const struct {
		uint8_t bytes[4], count, operand;
	} known[] = {
		{ { 0xf3, 0x0f, 0x1e, 0xfa }, 4, 0 },
		{ { 0xe8 }, 1, 4 },
		{ { 0xff, 0x15 }, 2, 4 },
		{ { 0x67, 0xe8 }, 2, 4 },
		{ { 0x48, 0x8d, 0x3d }, 3, 4 },
		{ { 0x48, 0x83, 0xc7 }, 3, 1 },
		{ { 0x48, 0x81, 0xc7 }, 3, 4 },
		{ { 0xbf }, 1, 4 },
	};
	for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++) {
		size_t length = known[i].count + known[i].operand;
		if (length <= left && memcmp(code, known[i].bytes, known[i].count) == 0)
			return length;
	}
	return 0;
}

/* The address of a block may lie in the call of its hook, or behind it. */
bool executions_begin(const struct gprof_report *report, uint32_t symbol)
{
	enum { BYTES_MOST = 32 };
	struct executions executions = executions_of(report, symbol);
	const struct image_symbol *place = &report->image->symbols[symbol];
	if (executions.count == 0 || executions.blocks[0].address - place->start > BYTES_MOST)
		return false;
	size_t block = executions.blocks[0].address - place->start, at = 0, length = 1;
	size_t size = place->end - place->start < 2 * BYTES_MOST ? place->end - place->start : 2 * BYTES_MOST;
	struct elf_file *file = report->image->file.bytes;
	const uint8_t *code = block > 0 && file ? elf_file_at(file, place->start, size) : NULL;
	while (code && at < block && length > 0)
		at += length = hook_instruction(code + at, size - at);
	return at >= block;
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
	if (first > 0 && report->gmon->blocks[first - 1].address >= symbols[function].start)
		return &report->gmon->blocks[first - 1];
	while (next < report->image->symbol_count && !symbols[next].is_function)
		next++;
	if (first == report->gmon->block_count || report->gmon->blocks[first].address >= symbols[next - 1].end)
		return NULL;
	return &report->gmon->blocks[first];
}
