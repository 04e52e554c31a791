/* The source lines of a function, with the hits of each. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ui/browse/source_files.h"

enum { CONTEXT_LINES = 5, NUMBER_WIDTH = 7 };

struct source_row {
	const struct source_file *file;
	const struct line_entry *entry; /* NULL: no hits */
	uint32_t line;                  /* 0: the row is the file's name, or of unknown lines */
};

struct source_screen {
	struct screen screen;
	struct results results;
	const struct line_list *lines; /* NULL: no hits */
	struct source_files files;
	struct source_row *rows;
	size_t count;
};

static size_t file_end(const struct line_list *lines, size_t first)
{
	size_t end = first;
	while (end < lines->count && lines->entries[end].file == lines->entries[first].file)
		end++;
	return end;
}

static size_t count_files(const struct line_list *lines)
{
	size_t count = 0;
	for (size_t first = 0; first < lines->count; first = file_end(lines, first))
		count++;
	return count;
}

/* The lines of a file that are shown: [first, last], around those with hits. 0, 0: none has a number. */
struct span {
	uint32_t first, last;
};

static struct span span_of(const struct line_list *lines, size_t first, size_t end, const struct source_file *file)
{
	struct span span = { 0, 0 };
	for (size_t i = first; i < end; i++) {
		uint32_t line = lines->entries[i].line;
		if (line == 0)
			continue;
		span.first = span.first == 0 || line < span.first ? line : span.first;
		span.last = line > span.last ? line : span.last;
	}
	if (span.first == 0 || file->is_missing)
		return (struct span){ 0, 0 };
	span.first = span.first > CONTEXT_LINES ? span.first - CONTEXT_LINES : 1;
	span.last += CONTEXT_LINES;
	if (span.last > file->text.count)
		span.last = (uint32_t)file->text.count;
	return span;
}

/* Appends the rows of one file to `rows`, if it is not NULL. Returns their number. */
static size_t list_file(const struct line_list *lines, size_t first, size_t end, const struct source_file *file,
			struct source_row *rows)
{
	struct span span = span_of(lines, first, end, file);
	size_t count = 0, next = first;
	if (rows)
		rows[count] = (struct source_row){ .file = file };
	count++;
	/* Lines without a number, or behind the end of a file that was changed. */
	for (size_t i = first; i < end; i++)
		if (lines->entries[i].line < span.first || lines->entries[i].line > span.last || span.first == 0) {
			if (rows)
				rows[count] = (struct source_row){ file, &lines->entries[i], lines->entries[i].line };
			count++;
		}
	for (uint32_t line = span.first; line > 0 && line <= span.last; line++, count++) {
		while (next < end && lines->entries[next].line < line)
			next++;
		if (rows)
			rows[count] = (struct source_row){ .file = file, .line = line };
		if (rows && next < end && lines->entries[next].line == line)
			rows[count].entry = &lines->entries[next];
	}
	return count;
}

static const struct source_file *file_at(struct source_screen *source, const struct profile *profile, size_t entry)
{
	return source_files_get(&source->files, profile, profile_string(profile, source->lines->entries[entry].file));
}

static int list_rows(struct source_screen *source, const struct profile *profile, struct error *error)
{
	const struct line_list *lines = source->lines;
	size_t count = 0;
	if (source_files_init(&source->files, count_files(lines), error) < 0)
		return error->code;
	for (size_t first = 0; first < lines->count; first = file_end(lines, first))
		count += list_file(lines, first, file_end(lines, first), file_at(source, profile, first), NULL);
	source->rows = calloc(count + 1, sizeof(*source->rows));
	if (!source->rows)
		return error_set(error, ERROR_MEMORY, "out of memory");
	for (size_t first = 0; first < lines->count; first = file_end(lines, first))
		source->count += list_file(lines, first, file_end(lines, first), file_at(source, profile, first),
					   source->rows + source->count);
	return 0;
}

static void release(struct screen *screen)
{
	struct source_screen *source = (struct source_screen *)screen;
	source_files_release(&source->files);
	free(source->rows);
	results_release(&source->results);
}

/* The cursor begins at the line with the most hits of its own. */
static void find_hottest(struct source_screen *source)
{
	uint64_t most = 0;
	for (size_t i = 0; i < source->count; i++)
		if (source->rows[i].entry && source->rows[i].entry->total > most) {
			most = source->rows[i].entry->total;
			source->screen.cursor = i;
		}
}

static struct screen *make(struct browser *browser, const char *root, struct error *error)
{
	struct source_screen *source = calloc(1, sizeof(*source));
	if (!source) {
		error_set(error, ERROR_MEMORY, "out of memory");
		return NULL;
	}
	int status = browser_report(browser, "source", root, &source->results, error);
	source->lines = status == 0 ? source->results.items[0].lines : NULL;
	if (status == 0 && source->lines)
		status = list_rows(source, browser_profile(browser), error);
	if (status == 0) {
		find_hottest(source);
		return &source->screen;
	}
	release(&source->screen);
	free(source);
	return NULL;
}

static size_t count(const struct screen *screen)
{
	return ((const struct source_screen *)screen)->count;
}

static const char *text(const struct screen *screen, size_t index)
{
	const struct source_row *row = &((const struct source_screen *)screen)->rows[index];
	if (!row->entry && row->line == 0)
		return row->file->path[0] ? row->file->path : "an unknown source file";
	return source_file_line(row->file, row->line);
}

static void head(const struct screen *screen, struct browser *browser, int row)
{
	(void)screen;
	int column = draw_right(browser, row, draw_hits_head(browser, row), NUMBER_WIDTH, STYLE_FAINT, "line");
	terminal_text(&browser->terminal, row, column + 2, browser->terminal.columns, STYLE_FAINT, "source");
}

static void draw(const struct screen *screen, struct browser *browser, size_t index, int row, unsigned style)
{
	const struct source_screen *source = (const struct source_screen *)screen;
	const struct source_row *shown = &source->rows[index];
	const struct view *view = source->results.items[0].view;
	struct terminal *terminal = &browser->terminal;
	char number[16] = "?";
	if (!shown->entry && shown->line == 0) {
		int end = terminal_text(terminal, row, 0, terminal->columns, style | STYLE_TITLE, text(screen, index));
		if (shown->file->is_missing)
			terminal_text(terminal, row, end, terminal->columns, style, " (its text was not found)");
		return;
	}
	unsigned painted = style;
	if (shown->entry)
		painted = draw_hits(browser, row, style, view, shown->entry->body, shown->entry->total);
	if (shown->line)
		snprintf(number, sizeof(number), "%u", shown->line);
	int column = draw_right(browser, row, 2 * SHARE_WIDTH, NUMBER_WIDTH, style | STYLE_FAINT, number);
	terminal_text(terminal, row, column + 2, terminal->columns, painted, text(screen, index));
}

const struct screen_kind screen_source = {
	.name = "source",
	.help = "the source lines of a function, with their hits",
	.key = 's',
	.takes_function = true,
	.make = make,
	.release = release,
	.count = count,
	.head = head,
	.draw = draw,
	.text = text,
};
