#include "frames/kernel/symbols.h"

#include <stdbool.h>
#include <string.h>

#include "frames/addresses_below.h"
#include "frames/text_lines.h"

/* The last function of a region ends somewhere; the kernel's functions are shorter than this. */
enum { LONGEST_FUNCTION = 256 * 1024 };

struct reading {
	const uint64_t *addresses;
	size_t count;
	struct kernel_symbol *found;
	struct buffer *names;
};

static bool names_function(char type)
{
	return type == 't' || type == 'T' || type == 'w' || type == 'W';
}

/* Remembers a function with the first address that is not below its start, if it is nearer than what is remembered
 * there. */
static int take_line(void *context, const char *line, size_t length)
{
	struct reading *reading = context;
	const char *end = line + length;
	uint64_t start;
	const char *type = text_line_number(line, end, &start);
	bool is_function = type && end - type >= 3 && type[1] == ' ' && names_function(type[0]);
	/* Without a privilege all addresses are 0. */
	if (!is_function || start == 0)
		return 0;
	size_t index = addresses_below(reading->addresses, reading->count, start);
	if (index == reading->count || reading->found[index].start >= start)
		return 0;
	const char *name = type + 2;
	reading->found[index] = (struct kernel_symbol){ start, reading->names->size, (size_t)(end - name) };
	for (; name < end; name++)
		buffer_append_byte(reading->names, *name == '\t' ? ' ' : (uint8_t)*name);
	return buffer_error(reading->names);
}

int kernel_symbols_read(int fd, const uint64_t *addresses, size_t count, struct kernel_symbol *found,
			struct buffer *names)
{
	struct reading reading = { .addresses = addresses, .count = count, .found = found, .names = names };
	memset(found, 0, count * sizeof(*found));
	int status = text_lines_read(fd, take_line, &reading);
	for (size_t i = 1; i < count && status == 0; i++)
		if (found[i].start < found[i - 1].start)
			found[i] = found[i - 1];
	for (size_t i = 0; i < count && status == 0; i++)
		if (addresses[i] - found[i].start >= LONGEST_FUNCTION)
			found[i].length = 0;
	return status;
}
