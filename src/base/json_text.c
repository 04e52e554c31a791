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

struct file_text {
	FILE *in;
	bool completes;   /* JSON_TEXT_OPEN_ARRAY */
	char first, last; /* bytes so far that are no blanks; 0: none */
	size_t bytes;
	const char *added; /* what was put behind the file's bytes, or NULL */
};

static bool is_blank(char byte)
{
	return byte == ' ' || byte == '\t' || byte == '\r' || byte == '\n';
}

static void see(struct file_text *text, const char *bytes, size_t size)
{
	size_t start = 0, end = size;
	while (end > 0 && is_blank(bytes[end - 1]))
		end--;
	while (start < end && is_blank(bytes[start]))
		start++;
	if (end > 0 && !text->first)
		text->first = bytes[start];
	if (end > 0)
		text->last = bytes[end - 1];
	text->bytes += size;
}

/* For json_load_callback. Behind a ',', null stands for the element that is missing. */
static size_t read_part(void *to, size_t size, void *context)
{
	static const char null_and_end[] = "null]";
	struct file_text *text = context;
	size_t bytes = fread(to, 1, size, text->in);
	if (!text->completes || text->added)
		return bytes;
	see(text, to, bytes);
	bool is_open = bytes == 0 && text->first == '[' && text->last != ']';
	if (!is_open || ferror(text->in) || size < sizeof(null_and_end) - 1)
		return bytes;
	text->added = text->last == ',' ? null_and_end : null_and_end + strlen("null");
	bytes = strlen(text->added);
	memcpy(to, text->added, bytes);
	return bytes;
}

json_t *json_text_read_file(FILE *in, unsigned flags, struct error *error)
{
	json_error_t found = { 0 };
	struct file_text text = { .in = in, .completes = flags & JSON_TEXT_OPEN_ARRAY };
	size_t library_flags = begin(flags);
	errno = 0;
	json_t *value = json_load_callback(read_part, &text, library_flags, &found);
	if (ferror(in)) {
		error_set_errno(error, "cannot read");
		json_decref(value);
		return NULL;
	}
	/* The file's bytes end before those that were added. */
	if (text.added && (size_t)found.position > text.bytes)
		found.position = (int)text.bytes;
	if (value && text.added && text.last == ',')
		json_array_remove(value, json_array_size(value) - 1);
	return checked(value, &found, error);
}

const char *json_text_string(const json_t *value)
{
	const char *text = json_string_value(value);
	return text && strlen(text) == json_string_length(value) ? text : NULL;
}
