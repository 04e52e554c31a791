#include "gprof/choices.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/path.h"

/* The parts of a SPEC; a missing part is NULL, or 0. */
struct pattern {
	const char *file;
	size_t file_length;
	const char *name;
	size_t name_length;
	unsigned long line;
};

int choices_add(struct choices *choices, enum choice_kind kind, bool excludes, const char *spec)
{
	if (ARRAY_RESERVE(choices->items, choices->capacity, choices->count + 1) < 0)
		return ERROR_MEMORY;
	choices->items[choices->count++] = (struct choice){ .kind = kind, .excludes = excludes, .spec = spec };
	return 0;
}

void choices_release(struct choices *choices)
{
	for (size_t i = 0; i < choices->count; i++) {
		free(choices->items[i].from);
		free(choices->items[i].to);
	}
	free(choices->items);
	free(choices->marks);
	*choices = (struct choices){ 0 };
}

/* --- specs --- */

static bool is_text(const char *text, const char *wanted, size_t length)
{
	return strlen(text) == length && memcmp(text, wanted, length) == 0;
}

/* Whether a symbol has a name: its name in the symbol table, or in reports, with or without its parameters. */
static bool is_called(const struct image_symbol *symbol, const char *name, size_t length)
{
	return is_text(symbol->name, name, length) || is_text(symbol->readable, name, length) ||
	       (symbol->readable != symbol->name && strcspn(symbol->readable, "(") == length &&
		memcmp(symbol->readable, name, length) == 0);
}

static bool names_symbol(const struct image *image, const char *name, size_t length)
{
	for (size_t i = 0; i < image->symbol_count; i++)
		if (is_called(&image->symbols[i], name, length))
			return true;
	return false;
}

static void read_name_or_line(struct pattern *pattern, const char *text, size_t length)
{
	if (length > 0 && isdigit((unsigned char)text[0]))
		pattern->line = strtoul(text, NULL, 10);
	else if (length > 0) {
		pattern->name = text;
		pattern->name_length = length;
	}
}

/* A text that is the whole name of a symbol, with dots and colons, selects that symbol. */
static struct pattern read_pattern(const struct image *image, const char *spec, size_t length)
{
	struct pattern pattern = { 0 };
	const char *colon = length ? memrchr(spec, ':', length) : NULL;
	bool has_dot = length && memchr(spec, '.', length);
	if ((colon || has_dot) && names_symbol(image, spec, length)) {
		pattern.name = spec;
		pattern.name_length = length;
	} else if (colon) {
		pattern.file = colon > spec ? spec : NULL;
		pattern.file_length = (size_t)(colon - spec);
		read_name_or_line(&pattern, colon + 1, length - pattern.file_length - 1);
	} else if (has_dot) {
		pattern.file = spec;
		pattern.file_length = length;
	} else {
		read_name_or_line(&pattern, spec, length);
	}
	return pattern;
}

/* Compares only the last part of a file's path: debug information may have the
 * path in any form. */
static bool fits(const struct pattern *pattern, const struct image_symbol *symbol)
{
	if (pattern->file) {
		const char *wanted = memrchr(pattern->file, '/', pattern->file_length);
		wanted = wanted ? wanted + 1 : pattern->file;
		size_t length = pattern->file_length - (size_t)(wanted - pattern->file);
		if (!symbol->file || !is_text(path_basename(symbol->file), wanted, length))
			return false;
	}
	if (pattern->line && symbol->line != pattern->line)
		return false;
	return !pattern->name || is_called(symbol, pattern->name, pattern->name_length);
}

/* --- looking up --- */

static unsigned mark_of(enum choice_kind kind, bool excludes)
{
	return 1U << (2 * (unsigned)kind + (excludes ? 1 : 0));
}

static void resolve_symbols(struct choices *choices, struct choice *choice)
{
	const struct image *image = choices->image;
	struct pattern pattern = read_pattern(image, choice->spec, strlen(choice->spec));
	unsigned mark = mark_of(choice->kind, choice->excludes);
	for (size_t i = 0; i < image->symbol_count; i++) {
		if (!fits(&pattern, &image->symbols[i]))
			continue;
		choice->matched++;
		if (!choice->excludes && !(choices->marks[i] & mark))
			choices->included[choice->kind]++;
		choices->marks[i] |= (uint16_t)mark;
	}
}

/* Returns the symbols of one side of an arc, as bits, or NULL if there is no memory; an empty side has all symbols.
 * Sets *matched to their number. */
static uint64_t *resolve_side(const struct image *image, const char *spec, size_t length, size_t *matched)
{
	uint64_t *bits = calloc(image->symbol_count / 64 + 1, sizeof(*bits));
	struct pattern pattern = read_pattern(image, spec, length);
	*matched = 0;
	for (size_t i = 0; bits && i < image->symbol_count; i++) {
		if (!fits(&pattern, &image->symbols[i]))
			continue;
		bits[i / 64] |= UINT64_C(1) << i % 64;
		++*matched;
	}
	return bits;
}

static int resolve_arcs(struct choices *choices, struct choice *choice)
{
	size_t from_length = strcspn(choice->spec, "/"), from = 0, to = 0;
	const char *to_spec = choice->spec + from_length + (choice->spec[from_length] == '/');
	choice->from = resolve_side(choices->image, choice->spec, from_length, &from);
	choice->to = resolve_side(choices->image, to_spec, strlen(to_spec), &to);
	if (!choice->from || !choice->to)
		return ERROR_MEMORY;
	choice->matched = from < to ? from : to;
	if (!choice->excludes && choice->matched > 0)
		choices->included[CHOICE_ARCS]++;
	return 0;
}

/* Excludes the functions of the C library that count calls and are not counted themselves. */
static void exclude_runtime(struct choices *choices)
{
	static const char *const names[] = { "mcount",        "_mcount",   "__mcount", "__mcount_internal",
					     "_gprof_mcount", "__mcleanup" };
	for (size_t i = 0; i < choices->image->symbol_count; i++)
		for (size_t j = 0; j < sizeof(names) / sizeof(names[0]); j++)
			if (strcmp(choices->image->symbols[i].name, names[j]) == 0)
				choices->marks[i] |=
					(uint16_t)(mark_of(CHOICE_TIME, true) | mark_of(CHOICE_GRAPH, true) |
						   mark_of(CHOICE_FLAT, true));
}

int choices_resolve(struct choices *choices, const struct image *image)
{
	choices->image = image;
	choices->marks = calloc(image->symbol_count + 1, sizeof(*choices->marks));
	if (!choices->marks)
		return ERROR_MEMORY;
	exclude_runtime(choices);
	int code = 0;
	for (size_t i = 0; i < choices->count && code == 0; i++) {
		if (choices->items[i].kind == CHOICE_ARCS)
			code = resolve_arcs(choices, &choices->items[i]);
		else
			resolve_symbols(choices, &choices->items[i]);
	}
	return code;
}

/* --- questions --- */

bool choices_include(const struct choices *choices, enum choice_kind kind, uint32_t symbol)
{
	return choices->marks && (choices->marks[symbol] & mark_of(kind, false));
}

bool choices_exclude(const struct choices *choices, enum choice_kind kind, uint32_t symbol)
{
	return choices->marks && (choices->marks[symbol] & mark_of(kind, true));
}

bool choices_allow(const struct choices *choices, enum choice_kind kind, uint32_t symbol)
{
	return choices_include(choices, kind, symbol) ||
	       (choices->included[kind] == 0 && !choices_exclude(choices, kind, symbol));
}

static bool has_bit(const uint64_t *bits, uint32_t symbol)
{
	return bits && (bits[symbol / 64] >> symbol % 64 & 1);
}

bool choices_allow_arc(const struct choices *choices, uint32_t from, uint32_t to)
{
	bool excluded = false;
	for (size_t i = 0; i < choices->count; i++) {
		const struct choice *choice = &choices->items[i];
		if (choice->kind != CHOICE_ARCS || !has_bit(choice->from, from) || !has_bit(choice->to, to))
			continue;
		if (!choice->excludes)
			return true;
		excluded = true;
	}
	return choices->included[CHOICE_ARCS] == 0 && !excluded;
}
