/* Prints the hot source lines of all files, with their texts where the files are found. */
#include <inttypes.h>
#include <string.h>

#include "base/safe_text.h"
#include "render/emit.h"
#include "render/names.h"
#include "reports/report.h"

static int build(const struct report_request *request, const struct label_set *roots, struct result *result,
		 struct error *error)
{
	(void)request;
	(void)roots;
	result->lines = analyze_hot_lines(result->view, error);
	return result->lines ? 0 : error->code;
}

enum { TEXT_INDENT = 8 };

static size_t reaching_of(const struct result *result, double threshold)
{
	const struct line_list *lines = result->lines;
	size_t count = 0;
	while (count < lines->count && fraction_of(lines->entries[count].body, lines->total) >= threshold)
		count++;
	return count;
}

static void print_line(FILE *out, const struct result *result, const struct line_entry *entry, const char *text,
		       const struct render_options *options)
{
	const struct profile *profile = result->view->profile;
	const char *path = profile_string(profile, entry->file);
	fraction_print(out, result->view, entry->body, options);
	fputc(' ', out);
	fraction_print(out, result->view, entry->total, options);
	fputc(' ', out);
	render_safe_text(out, path[0] ? path : "[unknown file]");
	if (entry->line)
		fprintf(out, ":%" PRIu32, entry->line);
	paint_on(out, PAINT_DIM, options);
	fprintf(out, " [%" PRIu64 "]", entry->body);
	paint_off(out, options);
	for (fputs(*text && options->columns == 0 ? "  " : "", out); *text && options->columns == 0;) {
		size_t length = strcspn(text, "\t");
		safe_text_write(out, text, length, "");
		text += length;
		if (*text && text++)
			fputc(' ', out);
	}
	if (*text) { /* on a terminal, in a row of its own */
		fprintf(out, "\n%*s", TEXT_INDENT, "");
		rest_print(out, text, TEXT_INDENT, options);
	}
	fputc('\n', out);
}

static void print_text(struct render_document *document, const struct result *result)
{
	FILE *out = document->out;
	const struct render_options *options = &document->options;
	struct opened_sources opened = { 0 };
	const char *error = resource_has_samples(result->view->resource) ? " ±error" : "";
	char format[96];
	snprintf(format, sizeof(format), "body_fraction%s total_fraction%s file:line [#%s] text", error, error,
		 raw_name(result->view));
	heading_print(out, result, format, options);
	if (empty_print(out, result->view))
		return;
	size_t reaching = reaching_of(result, options->threshold), shown = shown_entries(reaching, options);
	for (size_t i = 0; i < shown; i++) {
		const struct line_entry *entry = &result->lines->entries[i];
		const char *path = profile_string(result->view->profile, entry->file);
		print_line(out, result, entry, line_text(&opened, result->view->profile, path, entry->line), options);
	}
	left_out_print(out, result->lines->count, reaching, shown, options);
	if (opened.failed)
		render_failed(options);
	opened_sources_release(&opened);
}

static void print_table(struct render_document *document, const struct result *result)
{
	struct sheet sheet;
	sheet_open(&sheet, document, result, "resource,file,line,body_fraction,total_fraction,body_hits,total_hits");
	size_t shown = shown_entries(reaching_of(result, document->options.threshold), &document->options);
	for (size_t i = 0; i < shown; i++) {
		sheet_row(&sheet);
		sheet_line(&sheet, result, &result->lines->entries[i]);
		sheet_row_end(&sheet);
	}
	sheet_close(&sheet, result->lines->count - shown);
}

static const struct result_type type = {
	.text = print_text,
	.table = print_table,
};

const struct report report_lines = {
	.name = "lines",
	.help = "The hot source lines of all files",
	.summary = "the hot source lines of all files",
	.refuses = { { SETTING_BY | REPORT_GROUP | SETTING_ZEROS, "it shows lines" } },
	.fixes_by = true,
	.by = VIEW_FUNCTION,
	.parts = { { "Hot Line Profile", &type, build } },
};
