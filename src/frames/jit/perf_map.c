#include "frames/jit/perf_map.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/error.h"

/* A longer line is cut. */
enum { LINE_BYTES = 16 * 1024, READ_BYTES = 64 * 1024 };

struct reading {
	const uint64_t *addresses;
	size_t count;
	struct perf_map_name *found;
	struct buffer *names;
	char line[LINE_BYTES];
	size_t length; /* of the line so far */
};

/* Reads a hexadecimal number and the space behind it. Returns what follows, or NULL. */
static const char *read_number(const char *text, const char *end, uint64_t *number)
{
	enum { DIGITS_MOST = 16 };
	if (end - text > 2 && text[0] == '0' && (text[1] == 'x' || text[1] == 'X'))
		text += 2;
	*number = 0;
	int digits = 0;
	for (; text < end && digits <= DIGITS_MOST; text++, digits++) {
		const char *digit = memchr("0123456789abcdefABCDEF", *text, sizeof("0123456789abcdefABCDEF") - 1);
		if (!digit)
			break;
		char lower = (char)(*text | ' ');
		*number = *number << 4 | (uint64_t)(lower <= '9' ? lower - '0' : lower - 'a' + 10);
	}
	if (digits == 0 || digits > DIGITS_MOST || text == end || *text != ' ')
		return NULL;
	return text + 1;
}

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
static void end_line(struct reading *reading)
{
	const char *end = reading->line + reading->length;
	uint64_t start, size;
	const char *text = read_number(reading->line, end, &start);
	text = text ? read_number(text, end, &size) : NULL;
	reading->length = 0;
	if (!text || text == end || size == 0)
		return;
	size_t first = below(reading, start);
	size_t last = start > UINT64_MAX - size ? reading->count : below(reading, start + size);
	if (first == last)
		return;
	const struct perf_map_name name = { .at = reading->names->size, .length = (size_t)(end - text) };
	buffer_append(reading->names, text, name.length);
	for (size_t i = first; i < last; i++)
		reading->found[i] = name;
}

static void take(struct reading *reading, const char *bytes, size_t size)
{
	while (size > 0) {
		const char *newline = memchr(bytes, '\n', size);
		size_t part = newline ? (size_t)(newline - bytes) : size;
		size_t room = LINE_BYTES - reading->length;
		size_t kept = part < room ? part : room;
		memcpy(reading->line + reading->length, bytes, kept);
		reading->length += kept;
		if (!newline)
			return;
		end_line(reading);
		bytes += part + 1;
		size -= part + 1;
	}
}

int perf_map_read(int fd, const uint64_t *addresses, size_t count, struct perf_map_name *found, struct buffer *names)
{
	struct reading *reading = calloc(1, sizeof(*reading));
	char *bytes = malloc(READ_BYTES);
	int status = reading && bytes ? 0 : ERROR_MEMORY;
	memset(found, 0, count * sizeof(*found));
	if (status == 0)
		*reading = (struct reading){ .addresses = addresses, .count = count, .found = found, .names = names };
	for (off_t at = 0; status == 0;) {
		ssize_t got = pread(fd, bytes, READ_BYTES, at);
		if (got < 0 && errno == EINTR)
			continue;
		if (got <= 0) {
			status = got < 0 ? ERROR_SYSTEM : 0;
			break;
		}
		take(reading, bytes, (size_t)got);
		at += got;
		status = buffer_error(names);
	}
	int number = errno;
	free(bytes);
	free(reading);
	errno = number;
	return status;
}
