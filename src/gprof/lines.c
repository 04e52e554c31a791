#include "gprof/image_read.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "frames/native/line_rows.h"
#include "frames/native/module_file.h"
#include "frames/native/names.h"

struct split {
	struct image *image;
	const struct image_options *options;
	const struct line_rows *rows;
	struct image_symbol *symbols; /* owned until they become the image's */
	size_t count, capacity;
	/* The last line that was added; following code of the same line belongs to it. */
	const struct line_row *last;
	const char *last_function;
	bool last_is_static;
};

static const char *store_text(struct split *split, const char *text)
{
	int64_t id = strings_add(&split->image->texts, text, strlen(text));
	return id < 0 ? NULL : strings_get(&split->image->texts, (uint32_t)id);
}

static const char *store_readable(struct split *split, const char *name)
{
	char *demangled = split->options->no_demangle ? NULL : name_demangle(name);
	const char *readable = demangled ? store_text(split, demangled) : name;
	free(demangled);
	return readable;
}

/* Returns a new symbol, zeroed, or NULL if there is no memory. */
static struct image_symbol *add(struct split *split)
{
	if (ARRAY_RESERVE(split->symbols, split->capacity, split->count + 1) < 0)
		return NULL;
	struct image_symbol *symbol = &split->symbols[split->count++];
	*symbol = (struct image_symbol){ 0 };
	return symbol;
}

static int add_line(struct split *split, const struct line_row *row, const char *function, bool is_static)
{
	struct image_symbol *symbol = add(split);
	if (!symbol)
		return ERROR_MEMORY;
	symbol->start = row->address;
	symbol->line = row->line;
	symbol->is_static = is_static;
	symbol->file = store_text(split, row->file);
	symbol->name = store_text(split, function);
	symbol->readable = symbol->name ? store_readable(split, symbol->name) : NULL;
	return symbol->file && symbol->readable ? 0 : ERROR_MEMORY;
}

/* Adds a function's own symbol, which becomes the symbol of its first line. */
static int add_function(struct split *split, const struct image_symbol *function)
{
	struct image_symbol *symbol = add(split);
	if (!symbol)
		return ERROR_MEMORY;
	*symbol = *function;
	const struct line_row *row = line_rows_at(split->rows, symbol->start);
	if (!row || !row->file || symbol->start >= split->image->text_end)
		return 0;
	symbol->line = row->line;
	symbol->file = store_text(split, row->file);
	return symbol->file ? 0 : ERROR_MEMORY;
}

/* Returns the symbol table's name for an address, including names that are not symbols of the image. */
static const char *name_by_symbols(const struct image *image, const struct image_symbol *function, uint64_t address)
{
	const struct image_label *label = image_label_before(image, address);
	if (label && (!function || label->start > function->start))
		return label->name;
	return function ? function->name : NULL;
}

static int take_row(struct split *split, const struct line_row *row)
{
	uint32_t found = image_find(split->image, row->address);
	const struct image_symbol *function = found == IMAGE_NONE ? NULL : &split->image->symbols[found];
	/* Padding behind a function still has the function's line, but no function; assembler code has no function
	 * either. */
	const char *name = row->function ? row->function : name_by_symbols(split->image, function, row->address);
	if (!name || !row->file || row->line == 0)
		return 0;
	bool same_function =
		split->last && strcmp(split->last->file, row->file) == 0 && strcmp(split->last_function, name) == 0;
	if (same_function && split->last->line == row->line)
		return 0;
	bool is_static = same_function ? split->last_is_static : function && function->is_static;
	split->last = row;
	split->last_function = name;
	split->last_is_static = is_static;
	return function && function->start == row->address ? 0 : add_line(split, row, name, is_static);
}

/* gprof loses the last symbol. It is a label behind all code (data_start, _fini), but the numbers of the entries in
 * gprof's call graph depend on the number of symbols: so it is omitted here, too. */
static size_t kept_functions(const struct image *image)
{
	size_t count = image->symbol_count;
	return count > 0 && image->symbols[count - 1].start >= image->text_end ? count - 1 : count;
}

static int merge(struct split *split)
{
	const struct image *image = split->image;
	size_t row = 0, functions = kept_functions(image);
	int status = 0;
	for (size_t i = 0; i <= functions && status == 0; i++) {
		uint64_t until = i < functions ? image->symbols[i].start : UINT64_MAX;
		for (; row < split->rows->count && split->rows->rows[row].address < until && status == 0; row++)
			status = take_row(split, &split->rows->rows[row]);
		if (status == 0 && i < functions)
			status = add_function(split, &image->symbols[i]);
	}
	return status;
}

/* Each symbol extends to the next one; the last one extends to the end of its function. */
static void set_ends(struct split *split)
{
	const struct image *image = split->image;
	size_t functions = kept_functions(image);
	const struct image_symbol *last = functions ? &image->symbols[functions - 1] : NULL;
	uint64_t end = last && last->start < image->text_end ? last->end : image->text_end;
	for (size_t i = split->count; i-- > 0;) {
		struct image_symbol *symbol = &split->symbols[i];
		symbol->end = end > symbol->start ? end : symbol->start;
		end = symbol->start;
	}
}

int lines_split(struct image *image, const struct image_options *options)
{
	struct line_rows rows;
	struct split split = { .image = image, .options = options, .rows = &rows };
	int status = line_rows_read(&rows, image->file, image->text_start, image->text_end);
	if (status == 0)
		status = merge(&split);
	if (status == 0) {
		set_ends(&split);
		free(image->symbols);
		image->symbols = split.symbols;
		image->symbol_count = split.count;
		image->symbol_capacity = split.capacity;
	} else {
		free(split.symbols);
	}
	line_rows_release(&rows);
	return status;
}
