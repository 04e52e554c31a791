#include "frames/jit/perf_map.h"

#include <string.h>

#include "frames/addresses_below.h"
#include "frames/text_lines.h"

struct reading {
	const uint64_t *addresses;
	size_t count;
	struct perf_map_name *found;
	struct buffer *names;
};

/* Gives a line's name to the addresses in its range. */
static int take_line(void *context, const char *line, size_t length)
{
	struct reading *reading = context;
	const char *end = line + length;
	uint64_t start, size;
	const char *text = text_line_number(line, end, &start);
	text = text ? text_line_number(text, end, &size) : NULL;
	if (!text || text == end || size == 0)
		return 0;
	size_t first = addresses_below(reading->addresses, reading->count, start);
	size_t last = start > UINT64_MAX - size ? reading->count
						: addresses_below(reading->addresses, reading->count, start + size);
	if (first == last)
		return 0;
	const struct perf_map_name name = { .at = reading->names->size, .length = (size_t)(end - text) };
	buffer_append(reading->names, text, name.length);
	for (size_t i = first; i < last; i++)
		reading->found[i] = name;
	return buffer_error(reading->names);
}

int perf_map_read(int fd, const uint64_t *addresses, size_t count, struct perf_map_name *found, struct buffer *names)
{
	struct reading reading = { .addresses = addresses, .count = count, .found = found, .names = names };
	memset(found, 0, count * sizeof(*found));
	return text_lines_read(fd, take_line, &reading);
}
