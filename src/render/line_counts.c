/* Prints execution counts beside the source lines of a function. */
#include <inttypes.h>
#include <string.h>

#include "render/emit.h"
#include "render/names.h"

enum {
	COUNT_WIDTH = 12,
	NUMBER_WIDTH = 9, /* of a line's number and the blanks around it */
	GAP_LINES = 20,   /* a longer run of lines without code is left out */
};

static void print_line(FILE *out, const struct line_entry *entry, uint32_t number, const char *text,
		       const struct render_options *options)
{
	if (!entry)
		fprintf(out, "%*s", COUNT_WIDTH, "-");
	else if (entry->body == 0)
		fprintf(out, "%*s", COUNT_WIDTH, "#####");
	else
		fprintf(out, "%*" PRIu64, COUNT_WIDTH, entry->body);
	fprintf(out, " %6" PRIu32, number);
	if (text && text[0]) {
		fputs("  ", out);
		rest_print(out, text, COUNT_WIDTH + NUMBER_WIDTH, options);
	}
	fputc('\n', out);
}

/* Prints the entries of one file, [first, end), and the lines between them. */
static void print_file(FILE *out, const struct line_list *lines, size_t first, size_t end,
		       const struct source_text *source, const struct render_options *options)
{
	for (size_t i = first; i < end; i++) {
		const struct line_entry *entry = &lines->entries[i];
		uint32_t from = i > first ? entry[-1].line + 1 : entry->line;
		if (entry->line - from > GAP_LINES) {
			fprintf(out, "%*s\n", COUNT_WIDTH, "...");
			from = entry->line;
		}
		for (uint32_t line = from; line < entry->line && line <= source->count; line++)
			print_line(out, NULL, line, source->lines[line - 1], options);
		print_line(out, entry, entry->line,
			   entry->line <= source->count ? source->lines[entry->line - 1] : NULL, options);
	}
	/* The closing brace of the function usually has no code. */
	uint32_t next = lines->entries[end - 1].line + 1;
	if (next <= source->count && source->lines[next - 1][strspn(source->lines[next - 1], " \t")] == '}')
		print_line(out, NULL, next, source->lines[next - 1], options);
}

static void print_table(const struct render_document *document, const struct result *result)
{
	const struct line_list *lines = result->lines;
	struct sheet sheet;
	sheet_open(&sheet, document, result, "function,file,line,count");
	for (size_t i = 0; i < lines->count; i++) {
		const struct line_entry *entry = &lines->entries[i];
		sheet_row(&sheet);
		sheet_text(&sheet, "function", result->root);
		sheet_text(&sheet, "file", profile_string(result->view->profile, entry->file));
		sheet_count(&sheet, "line", entry->line);
		sheet_count(&sheet, "count", entry->body);
		sheet_row_end(&sheet);
	}
	sheet_close(&sheet, 0);
}

int print_line_counts_result(struct render_document *document, const struct result *result, struct error *error)
{
	(void)error;
	if (document->options.format != RENDER_TEXT) {
		print_table(document, result);
		return 0;
	}
	heading_print(document->out, result, "#executions line_number text (#####: never executed, -: no code)",
		      &document->options);
	source_files_print(document, result, print_file);
	return 0;
}
