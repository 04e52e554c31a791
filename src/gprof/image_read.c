#include "gprof/image_read.h"

#include <ctype.h>
#include <elfutils/libdwfl.h>
#include <gelf.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/compare.h"
#include "frames/native/names.h"
#include "frames/native/scopes.h"

/* One symbol table in the file. */
struct table {
	Elf *elf;
	Elf_Data *symbols;
	bool has_functions; /* symbols have types: a symbol without one is not a function */
	size_t strings;     /* section of its string table */
	const char *strings_end;
};

/* --- the choice of symbols --- */

/* Skips a dot and a word in front of a clone's number: ".clone." or ".constprop."; otherwise only the dot. */
static const char *skip_clone_word(const char *dot)
{
	static const char *const words[] = { ".clone.", ".constprop." };
	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
		size_t length = strlen(words[i]);
		if (strncmp(dot, words[i], length) == 0 && dot[length])
			return dot + length;
	}
	return dot + 1;
}

/* Skips the numbers of clones, as in "f.constprop.0.1", from the name's first dot on. Returns the end of the name,
 * or NULL if it contains another text. */
static const char *skip_clone_numbers(const char *dot)
{
	const char *at = dot;
	while (*at == '.') {
		at = skip_clone_word(at);
		bool has_digit = false;
		for (; *at && !(has_digit && *at == '.'); at++) {
			if (!isdigit((unsigned char)*at))
				return NULL;
			has_digit = true;
		}
	}
	return at;
}

/* Returns whether gprof treats the name of a static symbol as a function's: it has no '$', and dots only before a
 * clone's number. After such a number, binutils 2.40 reads beyond the name's end, into the next string of the table.
 * So the decision about "f.constprop.0", and the figures of the function before it, depend on the name that the
 * linker stored there. */
static bool is_functions_name(const char *name, const char *strings_end)
{
	const char *at = name;
	while (at < strings_end && *at) {
		if (*at == '$')
			return false;
		if (*at == '.' && !(at = skip_clone_numbers(at)))
			return false;
		at++;
	}
	return true;
}

static bool is_compilers_mark(const char *name)
{
	static const char *const marks[] = { "__gnu_compiled", "___gnu_compiled" };
	for (size_t i = 0; i < sizeof(marks) / sizeof(marks[0]); i++)
		if (strncmp(name, marks[i], strlen(marks[i])) == 0)
			return true;
	return false;
}

static bool is_in_code(Elf *elf, const GElf_Sym *symbol)
{
	GElf_Shdr header;
	Elf_Scn *section = symbol->st_shndx < SHN_LORESERVE ? elf_getscn(elf, symbol->st_shndx) : NULL;
	return section && gelf_getshdr(section, &header) && (header.sh_flags & SHF_EXECINSTR);
}

/* Weak symbols are included anywhere, because gprof does not check whether they are in code. */
static bool is_taken(const struct table *table, const GElf_Sym *symbol, const char *name,
		     const struct image_options *options)
{
	unsigned type = GELF_ST_TYPE(symbol->st_info), binding = GELF_ST_BIND(symbol->st_info);
	if (symbol->st_shndx == SHN_UNDEF || type == STT_SECTION || type == STT_FILE || type == STT_GNU_IFUNC)
		return false;
	if (binding == STB_WEAK)
		return type != STT_OBJECT;
	if (!is_in_code(table->elf, symbol) || (binding != STB_GLOBAL && binding != STB_LOCAL))
		return false;
	if (binding == STB_GLOBAL)
		return true;
	if (options->no_statics || (options->only_functions && type != STT_FUNC))
		return false;
	return name[0] && !is_compilers_mark(name) &&
	       (options->all_clones ? !strchr(name, '$') : is_functions_name(name, table->strings_end));
}

/* --- reading symbols --- */

static void find_types(struct table *table)
{
	GElf_Sym symbol;
	for (int i = 1; !table->has_functions && gelf_getsym(table->symbols, i, &symbol); i++)
		table->has_functions = GELF_ST_TYPE(symbol.st_info) == STT_FUNC;
}

static int find_table(Elf *elf, struct table *table)
{
	*table = (struct table){ .elf = elf };
	for (Elf_Scn *section = NULL; elf && (section = elf_nextscn(elf, section));) {
		GElf_Shdr header;
		if (!gelf_getshdr(section, &header) || header.sh_type != SHT_SYMTAB)
			continue;
		table->symbols = elf_getdata(section, NULL);
		table->strings = header.sh_link;
		Elf_Scn *names = elf_getscn(elf, header.sh_link);
		Elf_Data *strings = names ? elf_getdata(names, NULL) : NULL;
		if (!table->symbols || !strings || !strings->d_buf || strings->d_size == 0)
			continue;
		table->strings_end = (const char *)strings->d_buf + strings->d_size;
		if (table->strings_end[-1] != '\0')
			continue;
		find_types(table);
		return 0;
	}
	return ERROR_NOT_FOUND;
}

static const char *store_text(struct image *image, const char *text)
{
	int64_t id = strings_add(&image->texts, text, strlen(text));
	return id < 0 ? NULL : strings_get(&image->texts, (uint32_t)id);
}

static int add_symbol(struct image *image, const GElf_Sym *raw, const char *name, bool is_function, bool no_demangle)
{
	if (ARRAY_RESERVE(image->symbols, image->symbol_capacity, image->symbol_count + 1) < 0)
		return ERROR_MEMORY;
	char *demangled = no_demangle ? NULL : name_demangle(name);
	struct image_symbol symbol = {
		.start = raw->st_value,
		.name = store_text(image, name),
		.readable = store_text(image, demangled ? demangled : name),
		.is_static = GELF_ST_BIND(raw->st_info) == STB_LOCAL,
		.is_function = is_function,
	};
	free(demangled);
	if (!symbol.name || !symbol.readable)
		return ERROR_MEMORY;
	image->symbols[image->symbol_count++] = symbol;
	return 0;
}

static int add_label(struct image *image, const GElf_Sym *raw, const char *name)
{
	if (ARRAY_RESERVE(image->labels, image->label_capacity, image->label_count + 1) < 0)
		return ERROR_MEMORY;
	struct image_label label = { raw->st_value, store_text(image, name) };
	if (!label.name)
		return ERROR_MEMORY;
	image->labels[image->label_count++] = label;
	return 0;
}

/* Whether a named piece of code is not a symbol of the image, but a label. */
static bool is_label(const struct table *table, const GElf_Sym *symbol, const char *name)
{
	unsigned type = GELF_ST_TYPE(symbol->st_info);
	return name[0] && (type == STT_FUNC || type == STT_NOTYPE) && is_in_code(table->elf, symbol);
}

static int read_table(struct image *image, const struct table *table, const struct image_options *options)
{
	GElf_Sym symbol;
	int code = 0;
	for (int i = 1; code == 0 && gelf_getsym(table->symbols, i, &symbol); i++) {
		const char *name = elf_strptr(table->elf, table->strings, symbol.st_name);
		if (name && is_taken(table, &symbol, name, options))
			code = add_symbol(image, &symbol, name,
					  !table->has_functions || GELF_ST_TYPE(symbol.st_info) == STT_FUNC,
					  options->no_demangle);
		else if (name && is_label(table, &symbol, name))
			code = add_label(image, &symbol, name);
	}
	return code;
}

/* Reads the program's own symbol table or, if that was stripped, the table in its separate debug information. */
static int read_symbols(struct image *image, const struct image_options *options)
{
	GElf_Addr bias;
	Dwarf *dwarf = NULL;
	struct table table;
	if (find_table(module_file_elf(image->file), &table) == 0)
		return read_table(image, &table, options);
	dwarf = module_file_dwarf(image->file, &bias);
	if (dwarf && find_table(dwarf_getelf(dwarf), &table) == 0)
		return read_table(image, &table, options);
	return image->file->lacks_memory ? ERROR_MEMORY : 0;
}

/* --- one symbol per address --- */

static int compare_starts(const void *one, const void *other)
{
	const struct image_symbol *a = one, *b = other;
	return COMPARE(a->start, b->start);
}

/* Returns whether the later of two symbols at one address has the better name. */
static bool is_better(const struct image_symbol *later, const struct image_symbol *earlier)
{
	if (later->is_static != earlier->is_static)
		return earlier->is_static;
	if (later->is_function != earlier->is_function)
		return later->is_function;
	return (later->name[0] != '_' && earlier->name[0] == '_') ||
	       (later->name[0] && later->name[1] != '_' && earlier->name[0] && earlier->name[1] == '_');
}

/* A stable sort, which qsort is not. */
static int sort_symbols(struct image *image)
{
	size_t count = image->symbol_count;
	struct image_symbol *spare = malloc((count + 1) * sizeof(*spare)), *from = image->symbols, *to = spare;
	if (!spare)
		return ERROR_MEMORY;
	for (size_t width = 1; width < count; width *= 2) {
		for (size_t start = 0; start < count; start += 2 * width) {
			size_t a = start, a_end = start + width < count ? start + width : count;
			size_t b = a_end, b_end = a_end + width < count ? a_end + width : count;
			for (size_t i = start; i < b_end; i++)
				to[i] = b == b_end || (a < a_end && compare_starts(&from[a], &from[b]) <= 0)
						? from[a++]
						: from[b++];
		}
		struct image_symbol *sorted = to;
		to = from;
		from = sorted;
	}
	if (from == spare)
		memcpy(image->symbols, spare, count * sizeof(*spare));
	free(spare);
	return 0;
}

static int compare_labels(const void *one, const void *other)
{
	const struct image_label *a = one, *b = other;
	return COMPARE(a->start, b->start) ?: strcmp(a->name, b->name);
}

static void sort_labels(struct image *image)
{
	if (image->label_count > 0)
		qsort(image->labels, image->label_count, sizeof(*image->labels), compare_labels);
}

static void drop_aliases(struct image *image)
{
	size_t kept = 0;
	for (size_t i = 0; i < image->symbol_count; i++) {
		struct image_symbol *last = kept > 0 ? &image->symbols[kept - 1] : NULL, *symbol = &image->symbols[i];
		if (!last || last->start != symbol->start)
			image->symbols[kept++] = *symbol;
		else if (is_better(symbol, last))
			*last = *symbol;
	}
	image->symbol_count = kept;
	/* The last symbol ends with the code; a label behind the code (data_start, etext) is empty. */
	for (size_t i = 0; i < kept; i++) {
		uint64_t start = image->symbols[i].start, end = image->text_end > start ? image->text_end : start;
		image->symbols[i].end = i + 1 < kept ? image->symbols[i + 1].start : end;
	}
}

/* --- source lines --- */

static int take_sources(struct image *image, const struct scopes *scopes)
{
	for (size_t i = 0; i < image->symbol_count; i++) {
		struct image_symbol *symbol = &image->symbols[i];
		const struct scoped_address *at = &scopes->addresses[i];
		if (!at->file || at->line == 0)
			continue;
		symbol->line = at->line;
		symbol->file = store_text(image, at->file);
		if (!symbol->file)
			return ERROR_MEMORY;
	}
	return 0;
}

static int find_source(struct image *image)
{
	static const struct frames_options quiet;
	struct progress progress = { .options = &quiet };
	struct scopes scopes;
	uint64_t *starts = calloc(image->symbol_count + 1, sizeof(*starts));
	if (!starts)
		return ERROR_MEMORY;
	for (size_t i = 0; i < image->symbol_count; i++)
		starts[i] = image->symbols[i].start;
	int status = scopes_find(&scopes, image->file, starts, image->symbol_count, &progress);
	if (status == 0)
		status = take_sources(image, &scopes);
	scopes_release(&scopes);
	free(starts);
	return status;
}

int image_read(struct image *image, const struct image_options *options)
{
	int code = read_symbols(image, options);
	if (code == 0)
		code = sort_symbols(image);
	if (code == 0)
		drop_aliases(image);
	sort_labels(image);
	if (code == 0 && image->symbol_count >= IMAGE_NONE)
		code = ERROR_LIMIT;
	if (code == 0 && options->with_source)
		code = find_source(image);
	if (code == 0 && options->by_line && image->symbol_count > 0)
		code = lines_split(image, options);
	return code;
}
