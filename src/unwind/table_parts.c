#include "unwind/table_parts.h"

#include <stdlib.h>

#include "arch/instruction.h"
#include "unwind/fde_search.h"
#include "unwind/parts.h"

/* The table of a smaller file is made in a few ms. */
enum { FDES_LEAST = 16384, PART_SHIFT = 16 };

struct unwind_parts {
	uint64_t low; /* ELF virtual address at which the first part begins */
	size_t count, bytes;
	struct part {
		struct unwind_table *table; /* NULL: not made, or needs_whole */
		bool needs_whole;
	} items[];
};

struct unwind_parts *unwind_parts_new(struct elf_file *file)
{
	struct fde_search search;
	uint64_t low, high;
	fde_search_init(&search, file);
	elf_file_text_range(file, &low, &high);
	/* In a Haskell program, code without rules has a meaning of its own. */
	if (search.count < FDES_LEAST || high - low > UINT32_MAX || unwind_is_haskell(file))
		return NULL;
	size_t count = (size_t)((high - low) >> PART_SHIFT) + 1;
	struct unwind_parts *parts = calloc(1, sizeof(*parts) + count * sizeof(parts->items[0]));
	if (!parts)
		return NULL;
	parts->low = low;
	parts->count = count;
	return parts;
}

void unwind_parts_clear(struct unwind_parts *parts)
{
	for (size_t i = 0; i < parts->count; i++) {
		unwind_table_free(parts->items[i].table);
		parts->items[i].table = NULL;
	}
	parts->bytes = 0;
}

void unwind_parts_free(struct unwind_parts *parts)
{
	if (parts)
		unwind_parts_clear(parts);
	free(parts);
}

size_t unwind_parts_bytes(const struct unwind_parts *parts)
{
	return parts->bytes;
}

/* Returns whether the code between two functions is only padding. */
static bool is_padding(struct elf_file *file, uint64_t start, uint64_t end)
{
	enum { MOST = 64 };
	uint8_t code[MOST];
	struct instruction instruction;
	if (end <= start)
		return true;
	if (end - start > MOST || !elf_file_copy(file, start, code, (size_t)(end - start)))
		return false;
	for (size_t at = 0; at < end - start; at += instruction.bytes)
		if (!instruction_decode(code + at, (size_t)(end - start) - at, start + at, &instruction) || !instruction.is_padding)
			return false;
	return true;
}

/* Returns whether all code from `low` up to `high` has unwind information. */
static bool is_described(const struct unwind_table *table, struct elf_file *file, uint64_t low, uint64_t high)
{
	uint64_t end = low;
	for (uint32_t i = 0; i < table->function_count; i++) {
		uint64_t start = table->base + table->functions[i].start;
		if (!is_padding(file, end, start < high ? start : high))
			return false;
		end = start + table->functions[i].size;
	}
	return is_padding(file, end, high);
}

static size_t bytes_of(const struct unwind_table *table)
{
	return sizeof(*table) + table->row_count * sizeof(*table->rows) + table->page_count * sizeof(*table->pages) +
	       table->function_count * (sizeof(*table->functions) + sizeof(*table->cfi->positions)) + table->cfi->parts[0].section.size;
}

static void make(struct unwind_parts *parts, struct part *part, struct elf_file *file)
{
	uint64_t low = parts->low + ((uint64_t)(part - parts->items) << PART_SHIFT), high = low + (UINT64_C(1) << PART_SHIFT);
	uint64_t text_low, text_high;
	elf_file_text_range(file, &text_low, &text_high);
	part->table = unwind_table_of_range(file, low, high < text_high ? high : text_high);
	if (part->table && !is_described(part->table, file, low, high < text_high ? high : text_high)) {
		unwind_table_free(part->table);
		part->table = NULL;
	}
	part->needs_whole = !part->table;
	if (part->table)
		parts->bytes += bytes_of(part->table);
	elf_file_release_parts(file);
}

static size_t index_of(const struct unwind_parts *parts, uint64_t address)
{
	return address < parts->low ? SIZE_MAX : (size_t)((address - parts->low) >> PART_SHIFT);
}

const struct unwind_table *unwind_parts_make(struct unwind_parts *parts, struct elf_file *file, uint64_t address)
{
	size_t index = index_of(parts, address);
	struct part *part = index < parts->count ? &parts->items[index] : NULL;
	if (part && !part->table && !part->needs_whole && file)
		make(parts, part, file);
	return part ? part->table : NULL;
}

const struct unwind_table *unwind_parts_at(const struct unwind_parts *parts, uint64_t address)
{
	size_t index = index_of(parts, address);
	return index < parts->count ? parts->items[index].table : NULL;
}
