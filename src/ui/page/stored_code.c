#include "ui/page/stored_code.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"

struct stored_code {
	struct code_list list;
	char **reasons; /* owned; [module_count]: why a module has no code; NULL: it has, or none was asked for */
	size_t module_count;
	uint64_t functions; /* whose code it is */
};

static int read_module(struct stored_code *stored, struct cursor *cursor, uint64_t *next)
{
	uint64_t module = cursor_varint(cursor);
	const char *reason = cursor_string(cursor);
	uint64_t size = cursor_varint(cursor);
	const uint8_t *bytes = size <= cursor_left(cursor) ? cursor_bytes(cursor, (size_t)size) : NULL;
	if (cursor->failed || !bytes || module < *next || module >= stored->module_count)
		return ERROR_CORRUPT;
	*next = module + 1;
	if (reason[0] && !(stored->reasons[module] = strdup(reason)))
		return ERROR_MEMORY;
	return code_list_read(&stored->list, (uint32_t)module, cursor_over(bytes, (size_t)size));
}

static int read_modules(struct stored_code *stored, struct cursor cursor)
{
	stored->functions = cursor_varint(&cursor);
	uint64_t count = cursor_varint(&cursor), next = 0;
	int status = cursor.failed ? ERROR_CORRUPT : 0;
	for (uint64_t i = 0; i < count && status == 0; i++)
		status = read_module(stored, &cursor, &next);
	return status == 0 && cursor_left(&cursor) > 0 ? ERROR_CORRUPT : status;
}

struct stored_code *stored_code_read(const struct profile *profile, const void *bytes, size_t size, struct error *error)
{
	struct stored_code *stored = calloc(1, sizeof(*stored));
	int status = stored ? code_list_init(&stored->list) : ERROR_MEMORY;
	if (status == 0) {
		stored->module_count = profile->module_count;
		stored->reasons = calloc(profile->module_count + 1, sizeof(*stored->reasons));
		status = stored->reasons ? read_modules(stored, cursor_over(bytes, size)) : ERROR_MEMORY;
	}
	if (status == 0)
		return stored;
	stored_code_free(stored);
	error_set(error, status, "cannot read the page's machine code: %s", error_text(status));
	return NULL;
}

void stored_code_free(struct stored_code *stored)
{
	if (!stored)
		return;
	for (size_t i = 0; stored->reasons && i < stored->module_count; i++)
		free(stored->reasons[i]);
	free(stored->reasons);
	code_list_release(&stored->list);
	free(stored);
}

static int append_range(struct code_list *list, const struct code_list *from, const struct code_range *range)
{
	if (ARRAY_RESERVE(list->ranges, list->range_capacity, list->range_count + 1) < 0 ||
	    ARRAY_RESERVE(list->instructions, list->capacity, list->count + range->count) < 0)
		return ERROR_MEMORY;
	struct code_range copy = *range;
	copy.first = list->count;
	memcpy(list->instructions + list->count, from->instructions + range->first,
	       range->count * sizeof(*list->instructions));
	list->count += range->count;
	list->ranges[list->range_count++] = copy;
	return 0;
}

static int refuse(const struct stored_code *stored, uint32_t module, struct error *error)
{
	const char *reason = stored && module < stored->module_count ? stored->reasons[module] : NULL;
	if (!stored)
		return error_set(error, ERROR_NOT_FOUND,
				 "the page was made without machine code (make it without --no-source)");
	if (reason)
		return error_set(error, ERROR_NOT_FOUND, "%s", reason);
	return error_set(error, ERROR_NOT_FOUND,
			 "the page has the code of %" PRIu64 " functions, the hottest ones (use 'cpprof report --asm')",
			 stored->functions);
}

int stored_code_decode(void *context, const struct profile *profile, uint32_t module, const uint64_t *addresses,
		       size_t count, struct code_list *list, struct error *error)
{
	const struct stored_code *stored = context;
	size_t last = SIZE_MAX, before = list->range_count;
	int status = 0;
	(void)profile;
	for (size_t i = 0; stored && i < count && status == 0; i++) {
		size_t range = code_list_range(&stored->list, module, addresses[i]);
		if (range == SIZE_MAX || range == last)
			continue;
		status = append_range(list, &stored->list, &stored->list.ranges[range]);
		last = range;
	}
	if (status < 0)
		return error_set(error, status, "out of memory");
	return list->range_count > before ? 0 : refuse(stored, module, error);
}
