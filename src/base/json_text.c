#include "base/json_text.h"

#include <inttypes.h>
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

json_t *json_text_read_part(const char *text, size_t size, unsigned flags, const struct json_text_place *place,
			    struct error *error)
{
	json_error_t found = { 0 };
	no_memory = false;
	json_set_alloc_funcs(allocate, free);
	json_t *value =
		json_loadb(text, size,
			   JSON_DECODE_ANY | JSON_ALLOW_NUL | (flags & JSON_TEXT_ONE_KEY ? JSON_REJECT_DUPLICATES : 0) |
				   (flags & JSON_TEXT_REALS ? JSON_DECODE_INT_AS_REAL : 0),
			   &found);
	uint64_t at = place->offset + (uint64_t)found.position;
	if (value)
		return value;
	if (no_memory)
		error_set(error, ERROR_MEMORY, "%s", error_text(ERROR_MEMORY));
	else
		error_set(error, ERROR_FORMAT, "not JSON at byte %" PRIu64 ": %s", at < place->most ? at : place->most,
			  found.text);
	return NULL;
}

json_t *json_text_read(const char *text, size_t size, unsigned flags, struct error *error)
{
	return json_text_read_part(text, size, flags, &(struct json_text_place){ .most = size }, error);
}

const char *json_text_string(const json_t *value)
{
	const char *text = json_string_value(value);
	return text && strlen(text) == json_string_length(value) ? text : NULL;
}
