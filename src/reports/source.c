/* Prints hits beside the source lines of a function. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "render/emit.h"
#include "render/names.h"
#include "reports/report.h"

static int build(const struct report_request *request, const struct label_set *roots, struct result *result,
		 struct error *error)
{
	(void)request;
	if (roots->count == 0)
		return 0;
	result->lines = analyze_lines(result->view, roots, error);
	return result->lines ? 0 : error->code;
}

enum {
	CONTEXT_LINES = 3, /* shown before and after a line with hits */
	NUMBER_WIDTH = 9,  /* of a line's number and the blanks around it */
	GAP_LINES = 20,    /* a longer run of lines without hits is left out */
};

static void print_fraction(FILE *out, const struct line_list *lines, uint64_t hits)
{
	fprintf(out, "%8.4f ", fraction_of(hits, lines->total));
	if (lines->independent > 0)
		fprintf(out, "±%.4f ", analyze_error(hits, lines->total, lines->independent));
}

/* Returns the width of the columns before the line number: fractions, with errors if sampled, and hits. */
static int figures_width(const struct line_list *lines)
{
	return lines->independent > 0 ? 44 : 28;
}

static void print_line(FILE *out, const struct line_list *lines, const struct line_entry *entry, uint32_t number,
		       const char *text, const struct render_options *options)
{
	if (entry) {
		print_fraction(out, lines, entry->body);
		print_fraction(out, lines, entry->total);
		fprintf(out, "%10" PRIu64, entry->total);
	} else {
		fprintf(out, "%*s", figures_width(lines), "");
	}
	if (number)
		fprintf(out, " %6" PRIu32, number);
	else
		fprintf(out, " %6s", "?");
	if (text && text[0]) {
		fputs("  ", out);
		rest_print(out, text, (size_t)figures_width(lines) + NUMBER_WIDTH, options);
	}
	fputc('\n', out);
}

/* Prints the entries of one file, [first, end), and the text of the lines around them. */
static void print_file(FILE *out, const struct line_list *lines, size_t first, size_t end,
		       const struct source_text *source, const struct render_options *options)
{
	uint32_t next = 1; /* the next line number to print */
	for (size_t i = first; i < end; i++) {
		const struct line_entry *entry = &lines->entries[i];
		if (entry->line == 0 || entry->line > source->count) {
			print_line(out, lines, entry, entry->line, NULL, options);
			continue;
		}
		uint32_t from = entry->line > CONTEXT_LINES ? entry->line - CONTEXT_LINES : 1;
		if (i > first && lines->entries[i - 1].line && entry->line - lines->entries[i - 1].line <= GAP_LINES)
			from = next;
		if (from > next && next > 1)
			fprintf(out, "%*s...\n", figures_width(lines) + 3, "");
		for (next = from > next ? from : next; next < entry->line; next++)
			print_line(out, lines, NULL, next, source->lines[next - 1], options);
		print_line(out, lines, entry, next, source->lines[next - 1], options);
		next++;
		uint32_t until = i + 1 < end ? lines->entries[i + 1].line : UINT32_MAX;
		for (int after = 0; after < CONTEXT_LINES && next < until && next <= source->count; after++, next++)
			print_line(out, lines, NULL, next, source->lines[next - 1], options);
	}
}

static void print_text(struct render_document *document, const struct result *result)
{
	const struct view *view = result->view;
	char format[96];
	const char *error = resource_has_samples(view->resource) ? " ±error" : "";
	snprintf(format, sizeof(format), "body_fraction%s total_fraction%s #%s line_number text", error, error,
		 raw_name(view));
	heading_print(document->out, result, format, &document->options);
	if (!rootless_print(document->out, view, result->root, result->lines && result->lines->count > 0))
		source_files_print(document, result, print_file);
}

void sheet_line(struct sheet *sheet, const struct result *result, const struct line_entry *entry)
{
	const struct line_list *lines = result->lines;
	sheet_text(sheet, "file", profile_string(result->view->profile, entry->file));
	sheet_count(sheet, "line", entry->line);
	sheet_number(sheet, "body_fraction", fraction_of(entry->body, lines->total));
	sheet_json_number(sheet, "body_error", analyze_error(entry->body, lines->total, lines->independent));
	sheet_number(sheet, "total_fraction", fraction_of(entry->total, lines->total));
	sheet_json_number(sheet, "total_error", analyze_error(entry->total, lines->total, lines->independent));
	sheet_count(sheet, "body_hits", entry->body);
	sheet_count(sheet, "total_hits", entry->total);
}

static void print_row(struct sheet *sheet, const struct result *result, const struct line_entry *entry)
{
	sheet_row(sheet);
	sheet_text(sheet, "function", result->root);
	sheet_line(sheet, result, entry);
	sheet_row_end(sheet);
}

static void print_table(struct render_document *document, const struct result *result)
{
	struct sheet sheet;
	sheet_open(&sheet, document, result,
		   "resource,function,file,line,body_fraction,total_fraction,body_hits,total_hits");
	for (size_t i = 0; result->lines && i < result->lines->count; i++)
		print_row(&sheet, result, &result->lines->entries[i]);
	sheet_close(&sheet, 0);
}

static const struct result_type type = {
	.text = print_text,
	.table = print_table,
};

const struct report report_source = {
	.name = "source",
	.letter = 's',
	.argument = REPORT_TAKES_FUNCTION,
	.help = "The source lines of function FN, with the hits beside each",
	.summary = "the source lines of a function and their hits",
	.detail = "Names are as for 'down'.\n",
	.refuses = { { SETTING_THRESHOLD | SETTING_LIMIT | SETTING_BY | REPORT_GROUP | SETTING_ZEROS,
		       "it shows all lines of a function" } },
	.fixes_by = true,
	.by = VIEW_FUNCTION,
	.parts = { { "Source Line Profile", &type, build } },
};
