#include "frames/jit/runtime_names.h"

#include <string.h>

static void copy(char *to, const char *text, size_t length)
{
	length = length < RUNTIME_NAME_BYTES - 1 ? length : RUNTIME_NAME_BYTES - 1;
	memcpy(to, text, length);
	to[length] = 0;
}

/* Takes ":NUMBER" from the end of a text. Returns false if there is none. */
static bool take_number(const char *text, size_t *length, uint32_t *number)
{
	enum { DIGITS_MOST = 9 };
	size_t digits = 0;
	while (digits < *length && text[*length - 1 - digits] >= '0' && text[*length - 1 - digits] <= '9')
		digits++;
	if (digits == 0 || digits > DIGITS_MOST || digits == *length || text[*length - 1 - digits] != ':')
		return false;
	*number = 0;
	for (size_t i = *length - digits; i < *length; i++)
		*number = *number * 10 + (uint32_t)(text[i] - '0');
	*length -= digits + 1;
	return true;
}

/* V8: "[TIER]FUNCTION FILE:LINE:COLUMN", before version 11 without the column. The tiers are `~` interpreted, `^` Sparkplug, `+` Maglev, `*` TurboFan; older
 * versions write none for the first one. A function without a name begins with the space. A file's name may contain spaces, a
 * function's may not, except that accessors are "get NAME" and "set NAME". */
static void read_v8(const char *text, size_t length, struct runtime_name *name)
{
	static const char tiers[] = "~^+*'";
	uint32_t column;
	if (length > 0 && memchr(tiers, text[0], sizeof(tiers) - 1)) {
		text++;
		length--;
	}
	size_t end = length;
	bool has_place = take_number(text, &end, &column);
	if (has_place && !take_number(text, &end, &name->line))
		name->line = column;
	size_t from = length > 4 && (memcmp(text, "get ", 4) == 0 || memcmp(text, "set ", 4) == 0) ? 4 : 0;
	const char *space = has_place ? memchr(text + from, ' ', end - from) : NULL;
	if (has_place && !space) /* a function of the name "get" or "set" */
		space = memchr(text, ' ', end);
	if (!space) {
		copy(name->name, text, length);
	} else {
		copy(name->name, text, (size_t)(space - text));
		copy(name->file, space + 1, end - (size_t)(space + 1 - text));
	}
	if (name->name[0] == 0)
		copy(name->name, "(anonymous)", strlen("(anonymous)"));
}

/* CPython: "FUNCTION:FILE". */
static void read_python(const char *text, size_t length, struct runtime_name *name)
{
	const char *colon = memchr(text, ':', length);
	copy(name->name, text, colon ? (size_t)(colon - text) : length);
	if (colon)
		copy(name->file, colon + 1, length - (size_t)(colon + 1 - text));
}

static const struct form {
	const char *begins;
	void (*read)(const char *text, size_t length, struct runtime_name *name);
} forms[] = {
	{ "JS:", read_v8 },   { "LazyCompile:", read_v8 }, { "Function:", read_v8 },
	{ "Eval:", read_v8 }, { "Script:", read_v8 },      { "py::", read_python },
};

/* Returns the form that a name has, or NULL. */
static const struct form *form_of(const char *text, size_t length)
{
	for (size_t i = 0; i < sizeof(forms) / sizeof(forms[0]); i++) {
		size_t bytes = strlen(forms[i].begins);
		if (length > bytes && memcmp(text, forms[i].begins, bytes) == 0)
			return &forms[i];
	}
	return NULL;
}

bool runtime_name_is_v8(const char *text, size_t length)
{
	const struct form *form = form_of(text, length);
	return form && form->read == read_v8;
}

void runtime_name_read(const char *text, size_t length, struct runtime_name *name)
{
	name->name[0] = name->file[0] = 0;
	name->line = 0;
	const struct form *form = form_of(text, length);
	if (!form) {
		copy(name->name, text, length);
		return;
	}
	size_t bytes = strlen(form->begins);
	form->read(text + bytes, length - bytes, name);
	name->line = name->file[0] ? name->line : 0;
}
