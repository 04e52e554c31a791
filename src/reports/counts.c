/* Prints execution counts beside the source lines of a function. */
#include <inttypes.h>
#include <string.h>

#include "render/emit.h"
#include "render/names.h"
#include "reports/report.h"

static int check(const struct profile *profile, struct error *error)
{
	uint32_t lines = profile_find_resource(profile, "lines");
	if (lines == PROFILE_NONE)
		return error_set(error, ERROR_NOT_FOUND,
				 "no executions of lines were counted (compile with -g -fsanitize-coverage=trace-pc "
				 "(gcc) or -fsanitize-coverage=trace-pc-guard,pc-table,no-prune (clang; link without "
				 "it), and record with --instrumented=blocks)");
	if (profile->resources[lines].total == 0)
		return error_set(error, ERROR_NOT_FOUND,
				 "no executions of lines were counted: no block with a hook was executed, or the "
				 "program was compiled without -g");
	return 0;
}

/* The executions of lines are a separate resource. */
static int choose(struct report_request *request, struct error *error)
{
	uint32_t lines = profile_find_resource(request->profile, "lines");
	if (request->resources_named && (request->resource_count != 1 || request->resources[0] != lines))
		return error_set(error, ERROR_USAGE,
				 "executions of lines are counted by the resource 'lines' alone (-r lines)");
	request->resources[0] = lines;
	request->resource_count = 1;
	return 0;
}

static int build(const struct report_request *request, const struct label_set *roots, struct result *result,
		 struct error *error)
{
	(void)request;
	if (roots->count > 0) {
		result->lines = analyze_line_counts(result->view, roots, error);
		if (!result->lines)
			return error->code;
	}
	if (result->lines && result->lines->count > 0)
		return 0;
	return error_set(error, ERROR_NOT_FOUND,
			 "no lines of '%s' were counted: its code has no hooks at its blocks, or no line table",
			 result->root);
}

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

static void print_table(struct render_document *document, const struct result *result)
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

static void print_text(struct render_document *document, const struct result *result)
{
	heading_print(document->out, result, "#executions line_number text (#####: never executed, -: no code)",
		      &document->options);
	source_files_print(document, result, print_file);
}

static const struct result_type type = {
	.text = print_text,
	.table = print_table,
};

const struct report report_counts = {
	.name = "counts",
	.argument = REPORT_TAKES_FUNCTION,
	.help = "With --source: how often each line was executed, of all threads",
	.summary = "how often each source line of a function was executed",
	.detail = "Names are as for 'down'.\n",
	.refines = "source",
	.refuses = { { SETTING_THRESHOLD | SETTING_LIMIT | SETTING_BY | REPORT_GROUP | SETTING_ZEROS | REPORT_BY_LABEL |
			       SETTING_HITS | SETTING_TRANSFORM,
		       "it shows all lines of a function, as all threads together executed them" } },
	.fixes_by = true,
	.by = VIEW_FUNCTION,
	.check = check,
	.choose = choose,
	.parts = { { "Line Count Profile", &type, build } },
};
