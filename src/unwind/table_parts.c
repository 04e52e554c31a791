#include "unwind/table_parts.h"

#include <stdlib.h>

#include "arch/instruction.h"
#include "unwind/fde_search.h"
#include "unwind/parts.h"

/* The table of a smaller file is made in half a ms. */
enum { FDES_LEAST = 256, PART_SHIFT = 16 };

struct unwind_parts {
	uint64_t low; /* ELF virtual address at which the first part begins */
	uint64_t key; /* of the first part; the next one has the next key */
	size_t count, bytes;
	struct part {
		struct unwind_table *table; /* NULL: not made, or that failed */
		bool failed;
	} items[];
};

struct unwind_parts *unwind_parts_new(struct elf_file *file, uint32_t number)
{
	struct fde_search search;
	uint64_t low, high;
	fde_search_init_in_file(&search, file);
	elf_file_text_range(file, &low, &high);
	/* In a Haskell program, code without rules has a meaning of its own. */
	if (search.count < FDES_LEAST || high - low > UINT32_MAX || unwind_is_haskell(file) ||
	    switch_rows_may_be_in(file))
		return NULL;
	size_t count = (size_t)((high - low) >> PART_SHIFT) + 1;
	struct unwind_parts *parts = calloc(1, sizeof(*parts) + count * sizeof(parts->items[0]));
	if (!parts)
		return NULL;
	/* Bit 63 is set in no address. There are fewer than 2^17 parts. */
	const unsigned no_address = 63, number_shift = 17;
	parts->low = low;
	parts->count = count;
	parts->key = UINT64_C(1) << no_address | (uint64_t)number << number_shift;
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

/* Returns whether the code between two functions is only padding: instructions, and zeros behind them. */
static bool is_padding(struct elf_file *file, uint64_t start, uint64_t end)
{
	enum { MOST = 64 };
	uint8_t code[MOST];
	struct instruction instruction;
	if (end <= start)
		return true;
	if (end - start > MOST || !elf_file_copy(file, start, code, (size_t)(end - start)))
		return false;
	size_t size = (size_t)(end - start), at = 0;
	while (at < size && instruction_decode(code + at, size - at, start + at, &instruction) &&
	       instruction.is_padding)
		at += instruction.bytes;
	while (at < size && code[at] == 0)
		at++;
	return at == size;
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
	       table->function_count * (sizeof(*table->functions) + sizeof(*table->cfi->positions)) +
	       table->cfi->parts[0].section.size;
}

static void make(struct unwind_parts *parts, struct part *part, struct elf_file *file)
{
	uint64_t low = parts->low + ((uint64_t)(part - parts->items) << PART_SHIFT),
		 high = low + (UINT64_C(1) << PART_SHIFT);
	uint64_t text_low, text_high;
	elf_file_text_range(file, &text_low, &text_high);
	high = high < text_high ? high : text_high;
	part->table = unwind_table_of_range(file, low, high);
	part->failed = !part->table;
	if (part->table) {
		part->table->has_gaps = !is_described(part->table, file, low, high);
		part->table->key = parts->key + (uint64_t)(part - parts->items);
		parts->bytes += bytes_of(part->table);
	}
	elf_file_release_parts(file);
}

static size_t index_of(const struct unwind_parts *parts, uint64_t address)
{
	return address < parts->low ? SIZE_MAX : (size_t)((address - parts->low) >> PART_SHIFT);
}

static const struct unwind_table *table_at(const struct part *part, uint64_t address)
{
	bool is_in_gap =
		part && part->table && part->table->has_gaps && unwind_table_function(part->table, address, NULL) == 0;
	return part && !is_in_gap ? part->table : NULL;
}

const struct unwind_table *unwind_parts_make(struct unwind_parts *parts, struct elf_file *file, uint64_t address)
{
	size_t index = index_of(parts, address);
	struct part *part = index < parts->count ? &parts->items[index] : NULL;
	if (part && !part->table && !part->failed && file)
		make(parts, part, file);
	return table_at(part, address);
}

const struct unwind_table *unwind_parts_next(const struct unwind_parts *parts, size_t *part, uint64_t *low,
					     uint64_t *high)
{
	while (*part < parts->count && !parts->items[*part].table)
		++*part;
	if (*part == parts->count)
		return NULL;
	*low = parts->low + ((uint64_t)*part << PART_SHIFT);
	*high = *low + (UINT64_C(1) << PART_SHIFT);
	return parts->items[(*part)++].table;
}

const struct unwind_table *unwind_parts_at(const struct unwind_parts *parts, uint64_t address)
{
	size_t index = index_of(parts, address);
	return table_at(index < parts->count ? &parts->items[index] : NULL, address);
}
