#include "collect/sample/probes/function_search.h"

#include <ctype.h>
#include <errno.h>
#include <gelf.h>
#include <libiberty/demangle.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/path.h"
#include "frames/native/names.h"

int function_search_open(struct module_file *file, const char *path, struct error *error)
{
	int fd = path_open_regular(path);
	if (fd < 0)
		return error_set_errno(error, "cannot read '%s'", path);
	return module_file_open(file, fd, path, error);
}

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
	GElf_Addr bias;
	size_t count = 0;
	Elf *elf = dwfl_module_getelf(file->module, &bias);
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
	const char *name = dwfl_module_getsym_info(file->module, index, &raw, &address, &section, NULL, NULL);
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

/* Returns where the parameters of a squeezed name begin, or NULL if it has
 * none. The parentheses of "operator()", "(anonymous namespace)::f" and lambdas
 * are not parameters. */
static const char *parameters_of(const char *squeezed)
{
	static const char call[] = "operator()";
	const char *end = strrchr(squeezed, ')');
	/* Behind them may stand const, volatile, & and &&. */
	if (!end || strpbrk(end, ":}>"))
		return NULL;
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
	return is_operator || at == squeezed ? NULL : at;
}

/* Stores the last identifier with its length in front, as in mangled names. */
static void find_part(struct wanted *wanted)
{
	const char *end = parameters_of(wanted->squeezed);
	end = end ? end : wanted->squeezed + strlen(wanted->squeezed);
	/* Template arguments: back to the bracket that opens them. */
	int depth = 0;
	while (end > wanted->squeezed && (depth > 0 || end[-1] == '>')) {
		end--;
		depth += (*end == '>') - (*end == '<');
	}
	const char *start = end;
	while (start > wanted->squeezed && (isalnum((unsigned char)start[-1]) || start[-1] == '_'))
		start--;
	/* Operators and conversions are mangled in another way. */
	bool is_plain = start < end && !strstr(wanted->squeezed, "operator") &&
			(size_t)(end - start) < sizeof(wanted->part) - 8;
	if (is_plain)
		snprintf(wanted->part, sizeof(wanted->part), "%zu%.*s", (size_t)(end - start), (int)(end - start),
			 start);
}

static int wanted_init(struct wanted *wanted, const char *name, bool for_arguments)
{
	*wanted = (struct wanted){ .name = name, .squeezed = squeeze(name), .for_arguments = for_arguments };
	if (!wanted->squeezed)
		return ERROR_MEMORY;
	wanted->has_parameters = parameters_of(wanted->squeezed) != NULL;
	find_part(wanted);
	return 0;
}

/* Drops template arguments and ABI tags ("f[abi:cxx11]") in place. */
static void strip_arguments(char *text)
{
	if (strstr(text, "operator"))
		return;
	int depth = 0;
	char *to = text;
	for (const char *at = text; *at; at++) {
		/* Rust's "<T as Trait>::f" begins with its bracket. */
		bool opens = (*at == '<' && to > text) || (depth == 0 && strncmp(at, "[abi:", 5) == 0);
		if (opens || (depth > 0 && *at == '<'))
			depth++;
		if (depth == 0)
			*to++ = *at;
		else if ((*at == '>' && at[-1] != '-') || *at == ']')
			depth--;
	}
	*to = 0;
}

/* Returns whether the user's name means a demangled name, `full` with and
 * `bare` without parameters. Both are squeezed. */
static bool reads_as(const struct wanted *wanted, const char *full, char *bare)
{
	if (wanted->has_parameters) {
		/* The return type stands before a template's name. */
		const char *name = strstr(full, bare);
		return strcmp(full, wanted->squeezed) == 0 || (name && strcmp(name, wanted->squeezed) == 0);
	}
	if (strcmp(bare, wanted->squeezed) == 0)
		return true;
	strip_arguments(bare);
	return strcmp(bare, wanted->squeezed) == 0;
}

/* Demangles a name and removes its blanks. Returns NULL if it is not mangled, or memory ran out. */
static char *demangle(const char *linkage, int options)
{
	char *name = cplus_demangle(linkage, DMGL_AUTO | DMGL_ANSI | options);
	char *squeezed = name ? squeeze(name) : NULL;
	free(name);
	return squeezed;
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
	static const char *const other_arguments[] = { "constprop", "isra" };
	static const char *const same[] = { "lto_priv", "localalias" };
	const char *const *lists[] = { same, other_arguments };
	size_t next = 0;
	for (const char *at = suffix; at < suffix + length; at += next) {
		at++; /* the dot */
		next = 0;
		while (at + next < suffix + length && at[next] != '.')
			next++;
		bool known = next > 0 && strspn(at, "0123456789") >= next;
		for (int list = 0; list < (for_arguments ? 1 : 2); list++)
			for (int i = 0; i < 2; i++)
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

static int add_match(struct function_matches *matches, const struct code_symbol *symbol)
{
	for (size_t i = 0; i < matches->count; i++)
		if (matches->items[i].address == symbol->address)
			return 0;
	if (ARRAY_RESERVE(matches->items, matches->capacity, matches->count + 1) < 0)
		return ERROR_MEMORY;
	matches->items[matches->count++] = (struct function_match){ symbol->address, symbol->offset, symbol->size };
	return 0;
}

/* Searches the symbols of functions or, with `labels`, the labels of assembly. */
static int search_typed(struct module_file *file, const struct wanted *wanted, bool labels,
			struct function_matches *matches)
{
	int count = dwfl_module_getsymtab(file->module);
	int result = 0;
	for (int i = 0; i < count && result == 0; i++) {
		struct code_symbol symbol;
		if (!read_symbol(file, i, &symbol) || (symbol.type == STT_NOTYPE) != labels ||
		    !is_wanted(wanted, symbol.name) || !offset_of_code(file, symbol.address, &symbol.offset))
			continue;
		matches->is_exported = matches->is_exported || symbol.binding != STB_LOCAL;
		if (symbol.type == STT_GNU_IFUNC)
			matches->is_indirect = true;
		else
			result = add_match(matches, &symbol);
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
	int count = dwfl_module_getsymtab(file->module);
	for (int i = 0; i < count; i++) {
		struct code_symbol symbol;
		if (!read_symbol(file, i, &symbol) || symbol.type == STT_NOTYPE)
			continue;
		char *bare = symbol.name[0] == '_' ? cplus_demangle(symbol.name, DMGL_AUTO | DMGL_ANSI) : NULL;
		near_names_offer(near, bare ? bare : symbol.name);
		free(bare);
	}
}

bool function_search_is_stripped(struct module_file *file)
{
	/* All symbols for the dynamic linker are global, except the first, which is empty. */
	return dwfl_module_getsymtab(file->module) <= 0 || dwfl_module_getsymtab_first_global(file->module) <= 1;
}

void function_search_implementations(struct module_file *file, const char *name, char *text, size_t bytes)
{
	char start[128];
	size_t used = 0;
	int count = dwfl_module_getsymtab(file->module);
	snprintf(start, sizeof(start), "__%s_", name);
	text[0] = 0;
	for (int i = 0; i < count && used < bytes; i++) {
		struct code_symbol symbol;
		if (!read_symbol(file, i, &symbol) || symbol.type != STT_FUNC ||
		    strncmp(symbol.name, start, strlen(start)) != 0 || strstr(symbol.name, "_chk"))
			continue;
		size_t length = strlen(symbol.name) + 2;
		if (used + length >= bytes)
			break;
		used += (size_t)snprintf(text + used, bytes - used, "%s%s", used ? ", " : "", symbol.name);
	}
}
