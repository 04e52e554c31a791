/* Prints names of functions, in full or as the rule of docs/languages.md shortens them, and call paths that fit into a row. */
#include "render/names.h"

#include <stdlib.h>
#include <string.h>

#include "base/columns.h"
#include "base/safe_text.h"
#include "render/emit.h"

/* The room of a path that has so many figures before it that none is left. */
enum { ROOM_LEAST = 16, MARK_BYTES = 48 };

/* The first name of a path that is too long, and the less important one of a pair, get this part of the room. */
enum { FIRST_PART = 3 };

void name_printer_init(struct name_printer *printer, FILE *out, const struct view *view,
		       const struct render_options *options)
{
	*printer = (struct name_printer){
		.out = out, .view = view, .columns = (size_t)options->columns, .options = options
	};
	buffer_init(&printer->text);
	printer->short_names = options->columns > 0 ? short_names_of_view(view) : NULL;
	if (options->columns > 0 && !printer->short_names)
		render_failed(options);
}

void name_printer_init_texts(struct name_printer *printer, FILE *out, const struct short_names_item *items,
			     size_t count, const struct render_options *options)
{
	*printer = (struct name_printer){
		.out = out, .items = items, .columns = (size_t)options->columns, .options = options
	};
	buffer_init(&printer->text);
	printer->short_names = options->columns > 0 ? short_names_new(items, count) : NULL;
	if (options->columns > 0 && !printer->short_names)
		render_failed(options);
}

void name_printer_release(struct name_printer *printer)
{
	short_names_free(printer->short_names);
	buffer_release(&printer->text);
}

/* Puts the name, safe for a terminal, into printer->text. Returns its columns. */
static size_t take_name(struct name_printer *printer, uint32_t index, size_t columns)
{
	buffer_clear(&printer->text);
	short_names_append(printer->short_names, index, columns, &printer->text);
	if (buffer_error(&printer->text)) {
		render_failed(printer->options);
		return 0;
	}
	char *safe = NULL;
	size_t size = 0;
	FILE *made = open_memstream(&safe, &size);
	if (!made) {
		render_failed(printer->options);
	} else {
		safe_text_write(made, (const char *)printer->text.bytes, printer->text.size, "");
		if (fclose(made) != 0) {
			render_failed(printer->options);
		} else if (size != printer->text.size) {
			buffer_clear(&printer->text);
			buffer_append(&printer->text, safe, size);
			short_name_cut(&printer->text, 0, columns);
		}
	}
	free(safe);
	return text_columns((const char *)printer->text.bytes, printer->text.size);
}

void name_print(struct name_printer *printer, uint32_t index, size_t columns)
{
	const char *full = printer->view ? printer->view->labels[index].text : printer->items[index].text;
	if (!printer->short_names || (take_name(printer, index, columns) == 0 && full[0]))
		render_safe_text(printer->out, full);
	else
		fwrite(printer->text.bytes, 1, printer->text.size, printer->out);
}

size_t name_room(const struct name_printer *printer, size_t used)
{
	return printer->columns > used + ROOM_LEAST ? printer->columns - used : ROOM_LEAST;
}

/* Returns the columns of the names from `first` on, with separators between them. */
static size_t columns_of(struct name_printer *printer, const uint32_t *names, size_t first, size_t count,
			 size_t separator, size_t most)
{
	size_t sum = 0;
	for (size_t i = first; i < count && sum <= most; i++)
		sum += take_name(printer, names[i], SIZE_MAX) + (i > first ? separator : 0);
	return sum;
}

/* Returns how many names at the end of the path fit as they are, beside the last, which is cut if it must be. At least 1. */
static size_t fitting_end(struct name_printer *printer, const uint32_t *names, size_t count, size_t separator,
			  size_t room)
{
	size_t used = take_name(printer, names[count - 1], room), fitting = 1;
	while (fitting < count - 1) {
		used += take_name(printer, names[count - 1 - fitting], SIZE_MAX) + separator;
		if (used > room)
			break;
		fitting++;
	}
	return fitting;
}

static void print_all(struct name_printer *printer, const uint32_t *names, size_t count, const char *separator,
		      size_t columns)
{
	for (size_t i = 0; i < count; i++) {
		fputs(i > 0 ? separator : "", printer->out);
		name_print(printer, names[i], columns);
	}
}

/* Prints a path that is too long: the first name, a mark, as many of the last names as fit. */
static void print_cut(struct name_printer *printer, const uint32_t *names, size_t count, const char *separator,
		      size_t columns)
{
	char mark[MARK_BYTES];
	size_t gap = text_columns(separator, strlen(separator));
	size_t first = take_name(printer, names[0], columns / FIRST_PART);
	size_t used = first + gap;
	if (count > 2)
		used += gap + (size_t)snprintf(mark, sizeof(mark), "... %zu frames ...", count);
	size_t room = columns > used ? columns - used : 1, end = fitting_end(printer, names, count, gap, room);
	snprintf(mark, sizeof(mark), "... %zu frame%s ...", count - 1 - end, count - 1 - end == 1 ? "" : "s");
	name_print(printer, names[0], columns / FIRST_PART);
	fputs(separator, printer->out);
	if (end < count - 1)
		fprintf(printer->out, "%s%s", mark, separator);
	print_all(printer, names + count - end, end, separator, end == 1 ? room : SIZE_MAX);
}

void path_print(struct name_printer *printer, const uint32_t *names, size_t count, const char *separator,
		size_t columns)
{
	size_t gap = text_columns(separator, strlen(separator));
	if (!printer->short_names || columns_of(printer, names, 0, count, gap, columns) <= columns)
		print_all(printer, names, count, separator, SIZE_MAX);
	else if (count == 1)
		name_print(printer, names[0], columns);
	else
		print_cut(printer, names, count, separator, columns);
}

void names_print_pair(struct name_printer *printer, uint32_t first, const char *between, uint32_t second,
		      size_t columns)
{
	size_t gap = text_columns(between, strlen(between)), room = columns > gap ? columns - gap : 1;
	if (!printer->short_names) {
		name_print(printer, first, SIZE_MAX);
		fputs(between, printer->out);
		name_print(printer, second, SIZE_MAX);
		return;
	}
	size_t second_least = take_name(printer, second, room / FIRST_PART);
	size_t used = take_name(printer, first, room - second_least);
	name_print(printer, first, room - second_least);
	fputs(between, printer->out);
	name_print(printer, second, room > used ? room - used : 1);
}

void rest_print(FILE *out, const char *text, size_t column, const struct render_options *options)
{
	if (options->columns <= 0) {
		safe_text_write(out, text, strlen(text), "\t");
		return;
	}
	char *safe = NULL;
	size_t size = 0, columns = (size_t)options->columns;
	size_t left = columns > column + ROOM_LEAST ? columns - column : ROOM_LEAST;
	FILE *made = open_memstream(&safe, &size);
	for (const char *at = text; made && *at;) {
		size_t length = strcspn(at, "\t");
		safe_text_write(made, at, length, "");
		at += length;
		if (*at && ++at)
			fputs("    ", made);
	}
	if (!made || fclose(made) != 0) {
		render_failed(options);
	} else {
		bool fits = text_columns(safe, size) <= left;
		fwrite(safe, 1, fits ? size : text_begin(safe, size, left - 1), out);
		fputs(fits ? "" : SHORT_NAME_MARK, out);
	}
	free(safe);
}
