#include "frames/jit/perf_map.h"

#include <string.h>

#include "frames/text_lines.h"

struct reading {
	const uint64_t *addresses;
	size_t count;
	struct perf_map_name *found;
	struct buffer *names;
};

/* Returns the number of addresses below `limit`. */
static size_t below(const struct reading *reading, uint64_t limit)
{
	size_t low = 0, high = reading->count;
	while (low < high) {
		size_t middle = low + (high - low) / 2;
		if (reading->addresses[middle] < limit)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

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
	size_t first = below(reading, start);
	size_t last = start > UINT64_MAX - size ? reading->count : below(reading, start + size);
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
