#include "frames/native/symbols.h"

#include <gelf.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/hash_map.h"
#include "frames/native/names.h"

/* The kinds of symbols of the function from which a clone was made. */
enum { ORIGINAL_IS_LOCAL = 1, ORIGINAL_IS_GLOBAL = 2 };

struct code_section {
	uint64_t start;
	uint64_t end;
};

struct matcher {
	struct module_file *file;
	Dwfl_Module *symbols;
	const uint64_t *addresses;
	size_t count;
	struct symbol_match *matches;
	struct code_section *sections; /* owned: the executable sections */
	size_t section_count;
	size_t section_capacity;
};

/* Returns the index of the first address >= `address`. */
static size_t first_from(const struct matcher *matcher, uint64_t address)
{
	size_t low = 0, high = matcher->count;
	while (low < high) {
		size_t middle = low + (high - low) / 2;
		if (matcher->addresses[middle] < address)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

static int find_sections(struct matcher *matcher)
{
	Elf *elf = module_file_elf(matcher->file);
	for (Elf_Scn *section = NULL; elf && (section = elf_nextscn(elf, section));) {
		GElf_Shdr header;
		if (!gelf_getshdr(section, &header) || !(header.sh_flags & SHF_EXECINSTR))
			continue;
		if (ARRAY_RESERVE(matcher->sections, matcher->section_capacity, matcher->section_count + 1) < 0)
			return ERROR_MEMORY;
		matcher->sections[matcher->section_count++] =
			(struct code_section){ header.sh_addr, header.sh_addr + header.sh_size };
	}
	return 0;
}

/* Returns the end of the executable section that contains an address, or 0 if none does. */
static uint64_t section_end(const struct matcher *matcher, uint64_t address)
{
	for (size_t i = 0; i < matcher->section_count; i++)
		if (address >= matcher->sections[i].start && address < matcher->sections[i].end)
			return matcher->sections[i].end;
	/* If section headers were stripped, the file counts as one section. */
	return matcher->section_count == 0 ? UINT64_MAX : 0;
}

/* Returns the start of the executable section that contains an address. */
static uint64_t section_start(const struct matcher *matcher, uint64_t address)
{
	uint64_t low = 0, high;
	for (size_t i = 0; i < matcher->section_count; i++)
		if (address >= matcher->sections[i].start && address < matcher->sections[i].end)
			return matcher->sections[i].start;
	if (matcher->file->bytes)
		elf_file_text_range(matcher->file->bytes, &low, &high);
	return low;
}

static size_t underscores(const char *name)
{
	return strspn(name, "_");
}

/* Returns whether `a` names an address better than `b`. */
static bool is_better(const struct symbol *a, const struct symbol *b)
{
	if (!b->name || a->start != b->start)
		return !b->name || a->start > b->start;
	bool a_typed = a->type != STT_NOTYPE, b_typed = b->type != STT_NOTYPE;
	if (a_typed != b_typed)
		return a_typed;
	bool a_local = a->binding == STB_LOCAL, b_local = b->binding == STB_LOCAL;
	if (a_local != b_local)
		return b_local;
	if (underscores(a->name) != underscores(b->name))
		return underscores(a->name) < underscores(b->name);
	if ((a->binding == STB_WEAK) != (b->binding == STB_WEAK))
		return b->binding == STB_WEAK;
	size_t a_length = name_plain_length(a->name), b_length = name_plain_length(b->name);
	if (a_length != b_length)
		return a_length < b_length;
	return strcmp(a->name, b->name) < 0;
}

static void offer(struct matcher *matcher, const struct symbol *symbol)
{
	uint64_t end = section_end(matcher, symbol->start);
	size_t first = first_from(matcher, symbol->start);
	if (first == matcher->count || matcher->addresses[first] >= end)
		return;
	/* Only the first addresses behind the symbol's start and end are set here; carry_on sets the others. */
	if (is_better(symbol, &matcher->matches[first].nearest))
		matcher->matches[first].nearest = *symbol;
	if (symbol->size < end - symbol->start)
		end = symbol->start + symbol->size;
	size_t i = first;
	for (; i < matcher->count && matcher->addresses[i] < end; i++)
		if (is_better(symbol, &matcher->matches[i].covering))
			matcher->matches[i].covering = *symbol;
	if (symbol->size > 0 && i < matcher->count && matcher->matches[i].begin < end)
		matcher->matches[i].begin = end;
}

/* Copies the nearest symbol of each address to the next address, unless another symbol begins in between; and the
 * end of the last one with a size, unless another one ends or a section begins in between. */
static void carry_on(struct matcher *matcher)
{
	for (size_t i = 0; i < matcher->count; i++) {
		uint64_t *begin = &matcher->matches[i].begin;
		uint64_t start = section_start(matcher, matcher->addresses[i]);
		if (*begin < start)
			*begin = start;
		if (i > 0 && *begin < matcher->matches[i - 1].begin)
			*begin = matcher->matches[i - 1].begin;
	}
	for (size_t i = 1; i < matcher->count; i++) {
		const struct symbol *before = &matcher->matches[i - 1].nearest;
		struct symbol *here = &matcher->matches[i].nearest;
		if (!here->name && before->name && matcher->addresses[i] < section_end(matcher, before->start))
			*here = *before;
	}
}

/* Reads symbol `index` of the module, with its ELF address. Returns whether it can name code. */
static bool read_symbol(struct matcher *matcher, int index, uint32_t *file_scope, struct symbol *symbol)
{
	GElf_Sym raw;
	GElf_Addr address;
	GElf_Word section;
	const char *name = dwfl_module_getsym_info(matcher->symbols, index, &raw, &address, &section, NULL, NULL);
	if (!name)
		return false;
	uint8_t type = GELF_ST_TYPE(raw.st_info);
	if (type == STT_FILE)
		++*file_scope;
	if ((type != STT_FUNC && type != STT_GNU_IFUNC && type != STT_NOTYPE) || section == SHN_UNDEF ||
	    section == SHN_ABS || name[0] == 0)
		return false;
	uint64_t start = address - matcher->file->bias;
	if (section_end(matcher, start) == 0)
		return false;
	uint8_t binding = GELF_ST_BIND(raw.st_info);
	*symbol = (struct symbol){ .name = name,
				   .start = start,
				   .size = raw.st_size,
				   .type = type,
				   .binding = binding,
				   .scope = binding == STB_LOCAL ? *file_scope + 1 : 0 };
	return true;
}

/* Returns the symbol that names an address, unless debug information has a better name. */
static struct symbol *chosen(struct symbol_match *match)
{
	return match->covering.name ? &match->covering : &match->nearest;
}

static bool is_local_clone(const struct symbol *symbol)
{
	return symbol->name && symbol->scope != 0 && name_base_length(symbol->name) != name_plain_length(symbol->name);
}

/* Compares one symbol with the clones by name. If a function of a clone's base name is in the same source file, it
 * is the original; if not, a global one is. */
static void find_original(const struct hash_map *by_name, struct symbol_match *matches, const uint32_t *next,
			  const struct symbol *symbol, uint8_t *found)
{
	size_t length = name_plain_length(symbol->name);
	uint32_t i = hash_map_get(by_name, hash_bytes(symbol->name, length));
	for (; i != HASH_MAP_NONE; i = next[i]) {
		struct symbol *clone = chosen(&matches[i]);
		if (name_base_length(clone->name) != length || memcmp(clone->name, symbol->name, length) != 0)
			continue;
		if (symbol->scope == clone->scope)
			found[i] |= ORIGINAL_IS_LOCAL;
		else if (symbol->scope == 0)
			found[i] |= ORIGINAL_IS_GLOBAL;
	}
}

static int resolve_clones(struct matcher *matcher, int symbol_count)
{
	struct hash_map by_name;
	hash_map_init(&by_name);
	uint32_t *next = calloc(matcher->count, sizeof(*next));
	uint8_t *found = calloc(matcher->count, 1);
	int status = next && found ? 0 : ERROR_MEMORY;
	for (size_t i = 0; i < matcher->count && status == 0; i++) {
		struct symbol *symbol = chosen(&matcher->matches[i]);
		if (!is_local_clone(symbol))
			continue;
		uint64_t key = hash_bytes(symbol->name, name_base_length(symbol->name));
		next[i] = hash_map_get(&by_name, key);
		status = hash_map_put(&by_name, key, (uint32_t)i);
	}
	uint32_t file_scope = 0;
	for (int i = 0; i < symbol_count && by_name.count > 0 && status == 0; i++) {
		struct symbol symbol;
		if (read_symbol(matcher, i, &file_scope, &symbol))
			find_original(&by_name, matcher->matches, next, &symbol, found);
	}
	for (size_t i = 0; i < matcher->count && status == 0; i++)
		if (found[i] == ORIGINAL_IS_GLOBAL)
			chosen(&matcher->matches[i])->scope = 0;
	free(next);
	free(found);
	hash_map_release(&by_name);
	return status;
}

int symbols_match(struct module_file *file, const uint64_t *addresses, size_t count, struct symbol_match *matches)
{
	struct matcher matcher = { .file = file,
				   .symbols = module_file_symbols(file),
				   .addresses = addresses,
				   .count = count,
				   .matches = matches };
	memset(matches, 0, count * sizeof(*matches));
	int symbol_count = dwfl_module_getsymtab(matcher.symbols);
	if (count == 0)
		return 0;
	if (file->lacks_memory)
		return ERROR_MEMORY;
	int status = find_sections(&matcher);
	uint32_t file_scope = 0;
	for (int i = 0; i < symbol_count && status == 0; i++) {
		struct symbol symbol;
		if (read_symbol(&matcher, i, &file_scope, &symbol))
			offer(&matcher, &symbol);
	}
	if (status == 0) {
		carry_on(&matcher);
		status = resolve_clones(&matcher, symbol_count);
	}
	free(matcher.sections);
	return status;
}
