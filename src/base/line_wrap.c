#include "base/line_wrap.h"

#include <string.h>

#include "base/columns.h"
#include "base/error.h"

/* The indent of a text that does not fit is at most one part in INDENT_PART of the row, so that
 * the text keeps room: the indent of its first row if less than one part in ROOM_PART remains for it,
 * the indent of the other rows always. */
enum { INDENT = 4, INDENT_PART = 2, ROOM_PART = 4 };

void line_wrap_init(struct line_wrap *wrap, FILE *to, size_t columns)
{
	*wrap = (struct line_wrap){ .to = to, .columns = columns };
	buffer_init(&wrap->line);
}

void line_wrap_release(struct line_wrap *wrap)
{
	buffer_release(&wrap->line);
}

/* Returns the length of a colour's sequence at `text`, or 0. */
static size_t colour_length(const char *text, size_t size)
{
	size_t at = 2;
	if (size < 3 || text[0] != '\x1b' || text[1] != '[')
		return 0;
	while (at < size && ((text[at] >= '0' && text[at] <= '9') || text[at] == ';'))
		at++;
	return at < size && text[at] == 'm' ? at + 1 : 0;
}

/* Returns how many bytes of the text go into a row of `columns`: all, or up to a blank, or as many as fit. */
static size_t row_length(const char *text, size_t size, size_t columns)
{
	size_t at = 0, used = 0, blank = 0, taken;
	while (at < size) {
		size_t colour = colour_length(text + at, size - at);
		if (colour > 0) {
			at += colour;
			continue;
		}
		size_t length = text_character(text + at, size - at, &taken);
		if (used + taken > columns)
			return text[at] == ' ' ? at : blank > 0 ? blank : at > 0 ? at : length;
		if (text[at] == ' ' && used > 0 && text[at - 1] != ' ')
			blank = at;
		used += taken;
		at += length;
	}
	return size;
}

static void write_line(struct line_wrap *wrap, const char *text, size_t size)
{
	size_t indent = 0, columns = wrap->columns;
	while (indent < size && text[indent] == ' ')
		indent++;
	text += indent;
	size -= indent;
	size_t room = columns > indent ? columns - indent : 0;
	if (room < columns / ROOM_PART && row_length(text, size, room) < size) {
		indent = columns / INDENT_PART;
		room = columns - indent;
	}
	size_t first = columns > 0 ? row_length(text, size, room) : size;
	fprintf(wrap->to, "%*s", (int)indent, "");
	fwrite(text, 1, first, wrap->to);
	indent = indent + INDENT < columns / INDENT_PART ? indent + INDENT : columns / INDENT_PART;
	for (size_t at = first; at < size;) {
		while (at < size && text[at] == ' ')
			at++;
		size_t length = row_length(text + at, size - at, columns - indent);
		if (at < size)
			fprintf(wrap->to, "\n%*s", (int)indent, "");
		fwrite(text + at, 1, length, wrap->to);
		at += length;
	}
}

int line_wrap_write(struct line_wrap *wrap, const char *bytes, size_t size)
{
	while (size > 0) {
		const char *end = memchr(bytes, '\n', size);
		size_t length = end ? (size_t)(end - bytes) : size;
		buffer_append(&wrap->line, bytes, length);
		if (buffer_error(&wrap->line))
			return ERROR_MEMORY;
		if (!end)
			return 0;
		line_wrap_end(wrap);
		fputc('\n', wrap->to);
		bytes += length + 1;
		size -= length + 1;
	}
	return 0;
}

void line_wrap_end(struct line_wrap *wrap)
{
	if (wrap->line.size > 0)
		write_line(wrap, (const char *)wrap->line.bytes, wrap->line.size);
	buffer_clear(&wrap->line);
}
