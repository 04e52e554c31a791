#include "base/json_text.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

/* The library reports an allocation that failed like a damaged text. */
static _Thread_local bool no_memory;

static void *allocate(size_t bytes)
{
	void *memory = malloc(bytes);
	no_memory |= !memory;
	return memory;
}

static size_t begin(unsigned flags)
{
	no_memory = false;
	json_set_alloc_funcs(allocate, free);
	return JSON_DECODE_ANY | JSON_ALLOW_NUL | (flags & JSON_TEXT_ONE_KEY ? JSON_REJECT_DUPLICATES : 0) |
	       (flags & JSON_TEXT_REALS ? JSON_DECODE_INT_AS_REAL : 0);
}

static json_t *checked(json_t *value, const json_error_t *found, struct error *error)
{
	if (value)
		return value;
	if (no_memory)
		error_set(error, ERROR_MEMORY, "%s", error_text(ERROR_MEMORY));
	else
		error_set(error, ERROR_FORMAT, "not JSON at byte %d: %s", found->position, found->text);
	return NULL;
}

json_t *json_text_read(const char *text, size_t size, unsigned flags, struct error *error)
{
	json_error_t found = { 0 };
	size_t library_flags = begin(flags);
	return checked(json_loadb(text, size, library_flags, &found), &found, error);
}

/* For json_load_callback. */
static size_t read_part(void *to, size_t size, void *in)
{
	return fread(to, 1, size, in);
}

json_t *json_text_read_file(FILE *in, unsigned flags, struct error *error)
{
	json_error_t found = { 0 };
	size_t library_flags = begin(flags);
	errno = 0;
	json_t *value = json_load_callback(read_part, in, library_flags, &found);
	if (!ferror(in))
		return checked(value, &found, error);
	error_set_errno(error, "cannot read");
	json_decref(value);
	return NULL;
}

const char *json_text_string(const json_t *value)
{
	const char *text = json_string_value(value);
	return text && strlen(text) == json_string_length(value) ? text : NULL;
}
