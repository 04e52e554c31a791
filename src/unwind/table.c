/* Compiles the CFI of a file into an unwind table, and searches it. */
#include <stdlib.h>
#include <string.h>

#include "arch/arch.h"
#include "base/array.h"
#include "base/lower_bound.h"
#include "unwind/fde_search.h"
#include "unwind/parts.h"

/* --- finding the CFI --- */

/*
 * .eh_frame_hdr begins with
 *   version u8 = 1 | encodings u8 u8 u8 | pointer to .eh_frame | ...
 * Its search table is not needed: all of .eh_frame is read.
 */
static struct cfi_section eh_frame_by_header(struct elf_file *file)
{
	struct cfi_section none = { .bytes = NULL };
	struct elf_bytes header = elf_file_eh_frame_hdr(file);
	struct cursor cursor = cursor_over(header.bytes, header.size);
	struct cfi_section data = { .bytes = header.bytes, .size = header.size, .address = header.address };
	uint64_t address;
	uint8_t version = cursor_u8(&cursor);
	uint8_t encoding = cursor_u8(&cursor);
	cursor_bytes(&cursor, 2);
	if (cursor.failed || version != 1 || !cfi_pointer(&cursor, &data, encoding, &address))
		return none;
	struct elf_bytes found = elf_file_from(file, address, UINT64_MAX);
	return (struct cfi_section){
		.bytes = found.bytes,
		.size = found.size,
		.address = address,
		.is_eh_frame = true,
		.ends_at_zero = true,
	};
}

static struct cfi_section find_eh_frame(struct elf_file *file)
{
	struct elf_bytes found = elf_file_section(file, ".eh_frame");
	if (!found.bytes || found.size == 0)
		return eh_frame_by_header(file);
	return (struct cfi_section){
		.bytes = found.bytes,
		.size = found.size,
		.address = found.address,
		.is_eh_frame = true,
	};
}

static struct cfi_section find_debug_frame(struct elf_file *file)
{
	struct elf_bytes found = elf_file_section(file, ".debug_frame");
	return (struct cfi_section){ .bytes = found.bytes, .size = found.size, .address = found.address };
}

/* --- rows --- */

struct row_list {
	struct unwind_row *items;
	size_t count;
	size_t capacity;
};

static bool same_rule(const struct unwind_row *a, const struct unwind_row *b)
{
	/* A slow row refers to the CFI of its own pc, so consecutive slow rows are equal. */
	return a->kind == b->kind && a->cfa == b->cfa && a->fp == b->fp;
}

static int add_row(struct row_list *list, uint32_t pc, struct unwind_row row)
{
	row.pc = pc;
	if (list->count && same_rule(&list->items[list->count - 1], &row))
		return 0;
	if (ARRAY_RESERVE(list->items, list->capacity, list->count + 1) < 0)
		return ERROR_MEMORY;
	list->items[list->count++] = row;
	return 0;
}

static int add_function_rows(struct row_list *list, struct unwind_table *table, const struct fde_item *item,
			     struct cfi_machine *machine)
{
	const struct cfi_part *part = &table->cfi->parts[item->position.part];
	const struct cfi_cie *cie = &part->cies[item->position.cie];
	const struct cfi_fde fde = {
		.start = table->base + item->start,
		.end = table->base + item->start + item->size,
		.instructions = item->position.instructions,
		.instructions_size = item->position.instructions_size,
	};
	struct arch_function together = { 0 };
	int status;
	cfi_machine_init(machine, &part->section, cie, &fde);
	while ((status = cfi_machine_next(machine)) == 1) {
		uint32_t pc = (uint32_t)(machine->start - table->base);
		const struct cfi_row_input input = {
			.state = &machine->state,
			.section = part->section.bytes,
			.return_register = cie->return_register,
			.is_signal = cie->is_signal,
		};
		struct unwind_row row = arch_row(&input);
		arch_follow_row(&together, &row);
		if (add_row(list, pc, row) < 0)
			return ERROR_MEMORY;
	}
	if (status == 0)
		return 0;
	table->skipped++;
	return add_row(list, (uint32_t)(machine->start - table->base), (struct unwind_row){ .kind = UNWIND_NO_RULE });
}

static int make_rows(struct unwind_table *table, const struct fde_list *list)
{
	struct row_list rows = { 0 };
	struct cfi_machine machine;
	const struct unwind_row gap = { .kind = UNWIND_NO_RULE };
	int status = 0;
	for (size_t i = 0; i < list->count && status == 0; i++) {
		const struct fde_item *item = &list->items[i];
		uint32_t end = item->start + item->size;
		status = add_function_rows(&rows, table, item, &machine);
		if (status == 0 && (i + 1 == list->count || list->items[i + 1].start != end))
			status = add_row(&rows, end, gap);
	}
	if (status == 0 && rows.count > UINT32_MAX)
		status = ERROR_MEMORY;
	if (status < 0) {
		free(rows.items);
		return status;
	}
	table->rows = rows.items;
	table->row_count = (uint32_t)rows.count;
	struct unwind_row *exact = realloc(rows.items, rows.count * sizeof(*exact));
	if (exact)
		table->rows = exact;
	return 0;
}

/* Makes pages of 256 bytes, or larger pages if the rows are far apart. */
static int make_pages(struct unwind_table *table)
{
	enum { USUAL_SHIFT = 8, MOST_SHIFT = 31 };
	uint32_t last = table->row_count - 1;
	uint32_t shift = USUAL_SHIFT;
	while (shift < MOST_SHIFT && table->rows[last].pc >> shift > last)
		shift++;
	uint32_t count = (table->rows[last].pc >> shift) + 1;
	table->pages = malloc((count + (size_t)1) * sizeof(*table->pages));
	if (!table->pages)
		return ERROR_MEMORY;
	uint32_t row = 0;
	for (uint32_t page = 0; page < count; page++) {
		while (row < last && table->rows[row + 1].pc <= page << shift)
			row++;
		table->pages[page] = row;
	}
	table->pages[count] = last;
	table->page_count = count;
	table->page_shift = shift;
	return 0;
}

/* --- the table --- */

static int make_functions(struct unwind_table *table, const struct fde_list *list)
{
	table->functions = malloc(list->count * sizeof(*table->functions));
	table->cfi->positions = malloc(list->count * sizeof(*table->cfi->positions));
	if (!table->functions || !table->cfi->positions)
		return ERROR_MEMORY;
	for (size_t i = 0; i < list->count; i++) {
		table->functions[i] = (struct unwind_function){ list->items[i].start, list->items[i].size };
		table->cfi->positions[i] = list->items[i].position;
	}
	table->function_count = (uint32_t)list->count;
	return 0;
}

/* Returns the end of the last instructions of a part. */
static size_t used_bytes(const struct cfi_part *part, unsigned number, const struct fde_list *list)
{
	size_t used = 0;
	for (size_t i = 0; i < list->count; i++) {
		const struct cfi_position *position = &list->items[i].position;
		size_t end = (size_t)position->instructions + position->instructions_size;
		if (position->part == number && end > used)
			used = end;
	}
	for (size_t i = 0; used && i < part->cie_count; i++) {
		size_t end = (size_t)part->cies[i].instructions + part->cies[i].instructions_size;
		if (part->cies[i].usable && end > used)
			used = end;
	}
	return used;
}

/* Copies the used bytes of each part, because the table outlives the file. */
static int copy_sections(struct unwind_cfi *cfi, const struct cfi_section *sections, const struct fde_list *list)
{
	for (unsigned i = 0; i < 2; i++) {
		size_t used = used_bytes(&cfi->parts[i], i, list);
		if (used == 0)
			continue;
		uint8_t *own = malloc(used);
		if (!own)
			return ERROR_MEMORY;
		cfi->parts[i].section.bytes = memcpy(own, sections[i].bytes, used);
		cfi->parts[i].section.size = used;
	}
	return 0;
}

/* Adds what the CFI describes. */
static int add_functions(struct unwind_table *table, const struct cfi_section *sections, const struct fde_list *list)
{
	int status = copy_sections(table->cfi, sections, list);
	if (status == 0)
		status = make_functions(table, list);
	return status < 0 ? status : make_rows(table, list);
}

bool unwind_is_haskell(struct elf_file *file)
{
	static const char name[] = "stg_upd_frame_info";
	if (elf_file_section(file, ".debug-ghc-link-info").bytes)
		return true;
	struct elf_bytes names = elf_file_section(file, ".dynstr");
	bool is_used = names.bytes && memmem(names.bytes, names.size, name, sizeof(name));
	elf_file_release_part(file, &names);
	return is_used;
}

static int fill(struct unwind_table *table, struct elf_file *file, struct fde_list *list)
{
	struct unwind_cfi *cfi = table->cfi;
	struct cfi_section sections[2] = { find_eh_frame(file), find_debug_frame(file) };
	struct buffer of_go;
	buffer_init(&of_go);
	int status = sections[1].bytes ? 0 : go_frame_append(&of_go, file);
	if (of_go.size > 0)
		sections[1] = (struct cfi_section){ .bytes = of_go.bytes, .size = of_go.size };
	for (unsigned i = 0; i < 2 && status == 0; i++) {
		struct cfi_part *part = &cfi->parts[i];
		part->section.is_eh_frame = sections[i].is_eh_frame;
		part->section.address = sections[i].address;
		if (sections[i].bytes)
			status = fde_list_read(list, &sections[i], i, &part->cies, &part->cie_count, &table->skipped);
	}
	if (status == 0)
		status = fde_list_sort(list);
	if (status == 0 && list->count > 0)
		status = add_functions(table, sections, list);
	buffer_release(&of_go);
	if (status == 0)
		status = builtin_rows_add(table, file);
	/* Rows of V8's builtins are in the gaps that the next step would fill in. */
	if (status == 0)
		status = code_rows_add(table, file);
	if (status >= 0)
		status = switch_rows_add(table, file);
	return status < 0 || table->row_count == 0 ? status : make_pages(table);
}

/* Makes a range's list begin with its first function, or with the range if that is lower. */
static void begin_list(struct unwind_table *table, struct fde_list *list, uint64_t low)
{
	/* The function before the range is of interest only if it reaches into the range. */
	if (list->count > 0 && list->base + list->items[0].start + list->items[0].size <= low)
		memmove(list->items, list->items + 1, --list->count * sizeof(*list->items));
	if (list->count == 0)
		return;
	uint64_t first = list->base + list->items[0].start;
	table->base = first < low ? first : low;
	for (size_t i = 0; i < list->count; i++)
		list->items[i].start -= (uint32_t)(table->base - list->base);
	list->base = table->base;
}

static int fill_range(struct unwind_table *table, struct elf_file *file, struct fde_list *list, uint64_t low,
		      uint64_t high)
{
	struct cfi_part *part = &table->cfi->parts[0];
	struct cfi_section sections[2] = { { .is_eh_frame = true }, { 0 } };
	struct fde_search search;
	struct buffer section;
	buffer_init(&section);
	fde_search_init_in_file(&search, file);
	int status = fde_search_section(&search, low, high, &section, &sections[0].address);
	sections[0].bytes = section.bytes;
	sections[0].size = section.size;
	part->section.is_eh_frame = true;
	part->section.address = sections[0].address;
	if (status == 0)
		status = fde_list_read(list, &sections[0], 0, &part->cies, &part->cie_count, &table->skipped);
	if (status == 0)
		status = fde_list_sort(list);
	if (status == 0)
		begin_list(table, list, low);
	if (status == 0)
		status =
			list->count > 0 && table->skipped == 0 ? add_functions(table, sections, list) : ERROR_NOT_FOUND;
	buffer_release(&section);
	return status < 0 ? status : make_pages(table);
}

static struct unwind_table *empty_table(void)
{
	struct unwind_table *table = calloc(1, sizeof(*table));
	if (table)
		table->cfi = calloc(1, sizeof(*table->cfi));
	if (table && table->cfi)
		return table;
	free(table);
	return NULL;
}

struct unwind_table *unwind_table_of_range(struct elf_file *file, uint64_t low, uint64_t high)
{
	struct unwind_table *table = empty_table();
	struct fde_list list = { 0 };
	int status = ERROR_MEMORY;
	if (table) {
		elf_file_text_range(file, &list.base, &list.end);
		status =
			list.end - list.base > UINT32_MAX ? ERROR_NOT_FOUND : fill_range(table, file, &list, low, high);
	}
	if (status == 0) {
		const struct unwind_function *last = &table->functions[table->function_count - 1];
		uint64_t end = table->base + last->start + last->size;
		table->text_size = (uint32_t)((end > high ? end : high) - table->base);
	}
	fde_list_release(&list);
	if (status == 0)
		return table;
	unwind_table_free(table);
	return NULL;
}

struct unwind_table *unwind_table_new(struct elf_file *file, struct error *error)
{
	struct unwind_table *table = empty_table();
	struct fde_list list = { 0 };
	int status = ERROR_MEMORY;
	if (table) {
		uint64_t high;
		elf_file_text_range(file, &table->base, &high);
		/* Rows have 32-bit addresses: text beyond 4 GB has no rows. */
		uint64_t most = table->base + UINT32_MAX;
		list.base = table->base;
		list.end = high < most || most < table->base ? high : most;
		table->text_size = (uint32_t)(list.end - list.base);
		table->is_haskell = unwind_is_haskell(file);
		status = fill(table, file, &list);
	}
	fde_list_release(&list);
	if (status < 0) {
		unwind_table_free(table);
		error_set(error, ERROR_MEMORY, "out of memory for an unwind table");
		return NULL;
	}
	return table;
}

struct unwind_table *unwind_table_of_lisp(void)
{
	struct unwind_table *table = calloc(1, sizeof(*table));
	if (!table)
		return NULL;
	table->rows = calloc(1, sizeof(*table->rows));
	table->pages = calloc(1, sizeof(*table->pages));
	if (!table->rows || !table->pages) {
		unwind_table_free(table);
		return NULL;
	}
	table->rows[0].kind = UNWIND_LISP;
	table->row_count = 1;
	table->covers_all = true;
	return table;
}

static void free_part(struct cfi_part *part)
{
	free((void *)(uintptr_t)part->section.bytes);
	free(part->cies);
}

static void free_cfi(struct unwind_cfi *cfi)
{
	if (!cfi)
		return;
	free_part(&cfi->parts[0]);
	free_part(&cfi->parts[1]);
	free(cfi->positions);
	free(cfi);
}

void unwind_table_free(struct unwind_table *table)
{
	if (!table)
		return;
	free_cfi(table->cfi);
	free(table->rows);
	free(table->pages);
	free(table->functions);
	free(table);
}

/* --- generated code --- */

const struct unwind_row unwind_row_generated = { .kind = UNWIND_FRAME, .cfa = ARCH_FRAME_CFA, .fp = ARCH_FRAME_FP };

static struct unwind_row generated_rows[] = { { .kind = UNWIND_FRAME, .cfa = ARCH_FRAME_CFA, .fp = ARCH_FRAME_FP } };
static uint32_t generated_pages[1];

const struct unwind_table unwind_table_generated = { .rows = generated_rows, .row_count = 1, .pages = generated_pages };

/* Behind the call, one word is between the stack pointer and the return address (arch_trampoline). */
static struct unwind_row trampoline_rows[] = { { .kind = UNWIND_SP, .cfa = 2 } };

const struct unwind_table unwind_table_trampolines = {
	.rows = trampoline_rows, .row_count = 1, .pages = generated_pages, .covers_all = true
};

/* --- look-ups --- */

const struct unwind_row *unwind_table_row(const struct unwind_table *table, uint64_t address)
{
	uint64_t pc = address - table->base;
	if (table->covers_all)
		return table->rows;
	if (table->row_count == 0 || pc >= table->text_size || pc < table->rows[0].pc)
		return NULL;
	uint32_t page = (uint32_t)pc >> table->page_shift;
	if (page >= table->page_count)
		return &table->rows[table->row_count - 1];
	const struct unwind_row *first = &table->rows[table->pages[page]];
	uint32_t count = table->pages[page + 1] - table->pages[page] + 1;
	return &first[LOWER_BOUND(i, 1, count, first[i].pc <= pc) - 1];
}

/* Returns the index of the last function that begins at or before an address, or -1. */
static int64_t last_function(const struct unwind_table *table, uint64_t address)
{
	uint64_t pc = address - table->base;
	if (pc >= table->text_size)
		return -1;
	return (int64_t)LOWER_BOUND(i, 0, table->function_count, table->functions[i].start <= pc) - 1;
}

int64_t unwind_table_function_index(const struct unwind_table *table, uint64_t address)
{
	int64_t index = last_function(table, address);
	if (index < 0)
		return -1;
	const struct unwind_function *function = &table->functions[index];
	return address - table->base - function->start < function->size ? index : -1;
}

uint64_t unwind_table_function(const struct unwind_table *table, uint64_t address, uint64_t *size)
{
	int64_t index = unwind_table_function_index(table, address);
	if (index < 0)
		return 0;
	if (size)
		*size = table->functions[index].size;
	return table->base + table->functions[index].start;
}

uint64_t unwind_table_function_end(const struct unwind_table *table, uint64_t address)
{
	int64_t index = last_function(table, address);
	return index < 0 ? 0 : table->base + table->functions[index].start + table->functions[index].size;
}
