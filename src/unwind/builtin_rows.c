#include "unwind/parts.h"

#include <elf.h>
#include <string.h>

/* V8 has more than a thousand such functions, side by side: only a file with a gap of this size can have them. */
enum { GAP_BYTES_LEAST = 256 * 1024 };

/* Returns the first large gap from row *row on, and sets *row to it. Returns false if there is none. */
static bool find_gap(const struct unwind_table *table, uint32_t *row, uint32_t *start, uint32_t *end)
{
	for (; *row < table->row_count; ++*row) {
		*start = table->rows[*row].pc;
		*end = *row + 1 < table->row_count ? table->rows[*row + 1].pc : table->text_size;
		if (table->rows[*row].kind == UNWIND_NO_RULE && *end - *start >= GAP_BYTES_LEAST)
			return true;
	}
	return false;
}

static bool begins(const struct elf_bytes *names, uint32_t name, const char *prefix)
{
	size_t length = strlen(prefix);
	return names->size > length && name < names->size - length && memcmp(names->bytes + name, prefix, length) == 0;
}

/* Finds the range of the addresses of V8's builtins. Returns false if there are none. */
static bool find_range(const struct elf_bytes *symbols, const struct elf_bytes *names, uint64_t *low, uint64_t *high)
{
	Elf64_Sym symbol;
	*low = UINT64_MAX;
	*high = 0;
	for (size_t at = 0; at + sizeof(symbol) <= symbols->size; at += sizeof(symbol)) {
		memcpy(&symbol, symbols->bytes + at, sizeof(symbol));
		if (ELF64_ST_TYPE(symbol.st_info) != STT_FUNC || symbol.st_size > UINT64_MAX - symbol.st_value ||
		    !begins(names, symbol.st_name, "Builtins_"))
			continue;
		uint64_t end = symbol.st_value + symbol.st_size;
		*low = symbol.st_value < *low ? symbol.st_value : *low;
		*high = end > *high ? end : *high;
	}
	return *low < *high;
}

static int add_by_symbols(struct unwind_table *table, struct elf_file *file, bool *is_found)
{
	uint64_t low, high;
	struct elf_bytes symbols = elf_file_section(file, ".symtab"), names = elf_file_section(file, ".strtab");
	*is_found = symbols.bytes && names.bytes && find_range(&symbols, &names, &low, &high);
	elf_file_release_part(file, &symbols);
	elf_file_release_part(file, &names);
	if (!*is_found || low < table->base || high - table->base > table->text_size)
		return 0;
	return row_insert(table, (uint32_t)(low - table->base), (uint32_t)(high - table->base), &unwind_row_generated);
}

/* Returns whether a file exports functions of V8. */
static bool is_v8(struct elf_file *file)
{
	Elf64_Sym symbol;
	struct elf_bytes symbols = elf_file_section(file, ".dynsym"), names = elf_file_section(file, ".dynstr");
	bool is_found = false;
	for (size_t at = 0; symbols.bytes && names.bytes && !is_found && at + sizeof(symbol) <= symbols.size;
	     at += sizeof(symbol)) {
		memcpy(&symbol, symbols.bytes + at, sizeof(symbol));
		is_found = symbol.st_shndx != SHN_UNDEF && begins(&names, symbol.st_name, "_ZN2v88internal");
	}
	elf_file_release_part(file, &symbols);
	elf_file_release_part(file, &names);
	return is_found;
}

int builtin_rows_add(struct unwind_table *table, struct elf_file *file)
{
	uint32_t row = 0, start, end;
	bool is_found;
	if (!find_gap(table, &row, &start, &end))
		return 0;
	int status = add_by_symbols(table, file, &is_found);
	if (status < 0 || is_found || !is_v8(file))
		return status;
	for (; find_gap(table, &row, &start, &end); row++) {
		table->rows[row] = unwind_row_generated;
		table->rows[row].pc = start;
	}
	return 0;
}
