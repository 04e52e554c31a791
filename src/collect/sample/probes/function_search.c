#include "collect/sample/probes/function_search.h"

#include <ctype.h>
#include <gelf.h>
#include <libiberty/demangle.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "arch/arch.h"
#include "base/array.h"
#include "base/cxx_name.h"
#include "frames/native/names.h"

void function_matches_release(struct function_matches *matches)
{
	free(matches->items);
	*matches = (struct function_matches){ 0 };
}

/* --- symbols --- */

struct code_symbol {
	const char *name;
	uint64_t address; /* ELF virtual */
	uint64_t offset;  /* in the file */
	uint64_t size;
	uint8_t type, binding;
};

/* Finds the file offset of an address in an executable segment. Returns false if it is in none. */
static bool offset_of_code(struct module_file *file, uint64_t address, uint64_t *offset)
{
	size_t count = 0;
	Elf *elf = module_file_elf(file);
	if (!elf || elf_getphdrnum(elf, &count) != 0)
		return false;
	for (size_t i = 0; i < count; i++) {
		GElf_Phdr segment;
		if (!gelf_getphdr(elf, (int)i, &segment) || segment.p_type != PT_LOAD || !(segment.p_flags & PF_X) ||
		    address < segment.p_vaddr || address - segment.p_vaddr >= segment.p_filesz)
			continue;
		*offset = segment.p_offset + (address - segment.p_vaddr);
		return true;
	}
	return false;
}

/* Reads symbol `index`. Returns whether it may be a function. Does not set `offset` yet. */
static bool read_symbol(struct module_file *file, int index, struct code_symbol *symbol)
{
	GElf_Sym raw;
	GElf_Addr address;
	GElf_Word section;
	const char *name =
		dwfl_module_getsym_info(module_file_symbols(file), index, &raw, &address, &section, NULL, NULL);
	if (!name || !name[0] || section == SHN_UNDEF || section == SHN_ABS)
		return false;
	*symbol = (struct code_symbol){ .name = name,
					.address = address - file->bias,
					.size = raw.st_size,
					.type = GELF_ST_TYPE(raw.st_info),
					.binding = GELF_ST_BIND(raw.st_info) };
	return symbol->type == STT_FUNC || symbol->type == STT_GNU_IFUNC || symbol->type == STT_NOTYPE;
}

/* --- names --- */

struct wanted {
	const char *name;
	char *squeezed;      /* without blanks; owned */
	bool has_parameters; /* the user gave them */
	bool for_arguments;
	char part[96]; /* a part of the mangled name, as "5parse"; "": unknown */
};

/* Returns a copy without blanks, or NULL if memory ran out. */
static char *squeeze(const char *text)
{
	char *copy = malloc(strlen(text) + 1);
	char *to = copy;
	for (; copy && *text; text++)
		if (*text != ' ')
			*to++ = *text;
	if (copy)
		*to = 0;
	return copy;
}

/* Returns whether a squeezed name has parameters. The parentheses of
 * "operator()", "(anonymous namespace)::f" and lambdas are not parameters. */
static bool has_parameters(const char *squeezed)
{
	static const char call[] = "operator()";
	const char *end = strrchr(squeezed, ')');
	/* Behind them may stand const, volatile, & and &&. */
	if (!end || strpbrk(end, ":}>"))
		return false;
	int depth = 0;
	const char *at = end;
	for (; at > squeezed; at--) {
		depth += (*at == ')') - (*at == '(');
		if (depth == 0)
			break;
	}
	size_t before = (size_t)(end + 1 - squeezed);
	bool is_operator =
		at + 1 == end && before >= strlen(call) && memcmp(end + 1 - strlen(call), call, strlen(call)) == 0;
	return !is_operator && at > squeezed;
}

/* Stores the identifier that the name ends with, its length in front, as in mangled names. */
static int find_part(struct wanted *wanted)
{
	size_t start, room = strlen(wanted->name) + 1;
	char *plain = malloc(room);
	if (!plain)
		return ERROR_MEMORY;
	size_t length = cxx_name_last(wanted->name, room - 1, plain, &start);
	const char *end = plain + start + length, *identifier = end;
	while (identifier > plain + start && (isalnum((unsigned char)identifier[-1]) || identifier[-1] == '_'))
		identifier--;
	length = (size_t)(end - identifier);
	/* Operators and conversions are mangled in another way. */
	bool is_plain = length > 0 && !strstr(wanted->squeezed, "operator") && length < sizeof(wanted->part) - 8;
	if (is_plain)
		snprintf(wanted->part, sizeof(wanted->part), "%zu%.*s", length, (int)length, identifier);
	free(plain);
	return 0;
}

static int wanted_init(struct wanted *wanted, const char *name, bool for_arguments)
{
	*wanted = (struct wanted){ .name = name, .squeezed = squeeze(name), .for_arguments = for_arguments };
	if (!wanted->squeezed)
		return ERROR_MEMORY;
	wanted->has_parameters = has_parameters(wanted->squeezed);
	return find_part(wanted);
}

/* Demangles a name. Returns NULL if it is not mangled, or memory ran out. */
static char *demangle(const char *linkage, int options)
{
	return cplus_demangle(linkage, DMGL_AUTO | DMGL_ANSI | options);
}

/* Returns whether a demangled name is the user's, but for blanks. */
static bool is_equal(const struct wanted *wanted, const char *name)
{
	char *squeezed = squeeze(name);
	bool equal = squeezed && strcmp(squeezed, wanted->squeezed) == 0;
	free(squeezed);
	return equal;
}

/* The same for the name without template arguments and ABI tags ("f[abi:cxx11]"). */
static bool is_equal_plain(const struct wanted *wanted, const char *name)
{
	char *plain = malloc(strlen(name) + 1);
	if (!plain)
		return false;
	plain[cxx_name_plain(name, strlen(name), plain)] = 0;
	bool equal = is_equal(wanted, plain);
	free(plain);
	return equal;
}

/* Returns whether the user's name means a demangled name, `full` with and `bare` without parameters. */
static bool reads_as(const struct wanted *wanted, const char *full, const char *bare)
{
	if (!wanted->has_parameters)
		return is_equal(wanted, bare) || is_equal_plain(wanted, bare);
	/* The return type stands before a template's name. */
	const char *name = strstr(full, bare);
	return is_equal(wanted, full) || (name && is_equal(wanted, name));
}

static bool matches_mangled(const struct wanted *wanted, const char *linkage)
{
	bool is_mangled = linkage[0] == '_' && (linkage[1] == 'Z' || linkage[1] == 'R');
	/* A deleting destructor calls the plain one: each would be counted twice. */
	if (!is_mangled || !strstr(linkage, wanted->part) || strstr(linkage, "D0Ev"))
		return false;
	char *full = demangle(linkage, DMGL_PARAMS);
	char *bare = demangle(linkage, 0);
	bool found = full && bare && reads_as(wanted, full, bare);
	free(full);
	free(bare);
	return found;
}

/* Returns whether the text behind a function's name (".constprop.0") makes a
 * clone that is a whole function: not a cold half, nor a part. */
static bool is_whole(const char *suffix, size_t length, bool for_arguments)
{
	static const char *const same[] = { "lto_priv", "localalias", "__uniq", "llvm", NULL };
	static const char *const other_arguments[] = { "constprop", "isra", NULL };
	const char *const *lists[] = { same, other_arguments };
	size_t next = 0;
	for (const char *at = suffix; at < suffix + length; at += next) {
		at++; /* the dot */
		next = 0;
		while (at + next < suffix + length && at[next] != '.')
			next++;
		bool known = next > 0 && strspn(at, "0123456789") >= next;
		for (int list = 0; list < (for_arguments ? 1 : 2); list++)
			for (int i = 0; lists[list][i]; i++)
				known = known ||
					(strlen(lists[list][i]) == next && memcmp(lists[list][i], at, next) == 0);
		if (!known)
			return false;
	}
	return true;
}

static bool is_wanted(const struct wanted *wanted, const char *symbol)
{
	size_t plain = name_plain_length(symbol), base = name_base_length(symbol);
	if (strlen(wanted->name) == plain && memcmp(wanted->name, symbol, plain) == 0)
		return true;
	bool mangled = symbol[0] == '_' && strstr(symbol, wanted->part);
	if (!is_whole(symbol + base, plain - base, wanted->for_arguments) || (!mangled && base == plain))
		return false;
	char *linkage = strndup(symbol, base);
	bool found = linkage && (strcmp(linkage, wanted->name) == 0 || matches_mangled(wanted, linkage));
	free(linkage);
	return found;
}

/* --- the search --- */

/* Returns the offset of the first instruction of a function on which a probe can be set. Those
 * before it change neither arguments nor the stack. */
static uint64_t offset_of_probe(struct module_file *file, const struct code_symbol *symbol)
{
	enum { INSTRUCTION_BYTES = 15, MOST = 4 };
	uint64_t moved = 0;
	for (int i = 0; i < MOST; i++) {
		uint8_t code[INSTRUCTION_BYTES];
		bool has = file->bytes && elf_file_copy(file->bytes, symbol->address + moved, code, sizeof(code));
		size_t bytes = has ? arch_vector_instruction(code, sizeof(code)) : 0;
		if (bytes == 0)
			break;
		moved += bytes;
	}
	return symbol->offset + moved;
}

static int add_match(struct module_file *file, struct function_matches *matches, const struct code_symbol *symbol)
{
	for (size_t i = 0; i < matches->count; i++)
		if (matches->items[i].address == symbol->address)
			return 0;
	if (ARRAY_RESERVE(matches->items, matches->capacity, matches->count + 1) < 0)
		return ERROR_MEMORY;
	matches->items[matches->count++] =
		(struct function_match){ symbol->address, offset_of_probe(file, symbol), symbol->size };
	return 0;
}

/* --- indirect functions --- */

static bool begins_with(const char *text, const char *start, size_t length)
{
	return strncmp(text, start, length) == 0;
}

/* Returns the length of an indirect function's name with which the name of one of its variants
 * begins, behind the "__": as glibc names them, __strcmp_wide of strcmp. 0: none. */
static size_t variant_of(const char *variant, const char *name, size_t length)
{
	bool is_one = variant[0] == '_' && variant[1] == '_' && begins_with(variant + 2, name, length) &&
		      variant[2 + length] == '_' && !strstr(variant, "_chk");
	return is_one ? length : 0;
}

/* Returns whether a symbol is a clone of the indirect function for some processors
 * (target_clones): f.KIND.0, f.default.1. */
static bool is_target_clone(const char *symbol, const char *name, size_t length)
{
	static const char *const others[] = { "resolver", "ifunc", "cold", "part", "constprop", "isra" };
	if (!begins_with(symbol, name, length) || symbol[length] != '.')
		return false;
	for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++)
		if (strstr(symbol + length, others[i]))
			return false;
	return true;
}

/* Returns whether the variant belongs to an indirect function with a longer name: __strcasecmp_l_wide to strcasecmp_l. */
static bool is_of_longer(struct module_file *file, int count, const char *variant, size_t length)
{
	for (int i = 0; i < count; i++) {
		struct code_symbol symbol;
		if (read_symbol(file, i, &symbol) && symbol.type == STT_GNU_IFUNC &&
		    variant_of(variant, symbol.name, name_plain_length(symbol.name)) > length)
			return true;
	}
	return false;
}

/* Adds the functions from which an indirect one chooses, as far as symbols name them. */
static int add_variants(struct module_file *file, int count, const char *indirect, struct function_matches *matches)
{
	size_t length = name_plain_length(indirect);
	char *name = strndup(indirect, length); /* the symbols that are read next may take its place */
	int result = name ? 0 : ERROR_MEMORY;
	for (int i = 0; i < count && result == 0; i++) {
		struct code_symbol symbol;
		if (!read_symbol(file, i, &symbol) || symbol.type != STT_FUNC)
			continue;
		bool is_one =
			is_target_clone(symbol.name, name, length) ||
			(variant_of(symbol.name, name, length) && !is_of_longer(file, count, symbol.name, length));
		if (is_one && offset_of_code(file, symbol.address, &symbol.offset))
			result = add_match(file, matches, &symbol);
	}
	free(name);
	return result;
}

/* Searches the symbols of functions or, with `labels`, the labels of assembly. */
static int search_typed(struct module_file *file, const struct wanted *wanted, bool labels,
			struct function_matches *matches)
{
	int count = dwfl_module_getsymtab(module_file_symbols(file));
	int result = 0;
	for (int i = 0; i < count && result == 0; i++) {
		struct code_symbol symbol;
		if (!read_symbol(file, i, &symbol) || (symbol.type == STT_NOTYPE) != labels ||
		    !is_wanted(wanted, symbol.name) || !offset_of_code(file, symbol.address, &symbol.offset))
			continue;
		matches->is_exported = matches->is_exported || symbol.binding != STB_LOCAL;
		matches->is_indirect = matches->is_indirect || symbol.type == STT_GNU_IFUNC;
		result = symbol.type == STT_GNU_IFUNC ? add_variants(file, count, symbol.name, matches)
						      : add_match(file, matches, &symbol);
	}
	return result;
}

int function_search(struct module_file *file, const char *name, bool for_arguments, struct function_matches *matches)
{
	struct wanted wanted;
	*matches = (struct function_matches){ 0 };
	int result = wanted_init(&wanted, name, for_arguments);
	if (result == 0)
		result = search_typed(file, &wanted, false, matches);
	if (result == 0 && matches->count == 0 && !matches->is_indirect)
		result = search_typed(file, &wanted, true, matches);
	free(wanted.squeezed);
	if (result < 0)
		function_matches_release(matches);
	return result;
}

void function_search_near(struct module_file *file, struct near_names *near)
{
	int count = dwfl_module_getsymtab(module_file_symbols(file));
	for (int i = 0; i < count; i++) {
		struct code_symbol symbol;
		if (!read_symbol(file, i, &symbol) || symbol.type == STT_NOTYPE)
			continue;
		char *bare = symbol.name[0] == '_' ? cplus_demangle(symbol.name, DMGL_AUTO | DMGL_ANSI) : NULL;
		near_names_offer(near, bare ? bare : symbol.name);
		free(bare);
	}
}
