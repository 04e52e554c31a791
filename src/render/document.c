/* Results of one output: what stands before, between and behind them. */
#include "render/emit.h"

void render_json_begin(FILE *out, const char *command, const char *report)
{
	fputs("{\"schema\": 1, \"command\": ", out);
	render_json_string(out, command);
	if (report) {
		fputs(", \"report\": ", out);
		render_json_string(out, report);
	}
	fputs(", \"findings\": [],\n", out);
}

void render_begin(struct render_document *document, FILE *out, const struct render_options *options,
		  const char *command, const char *report)
{
	*document = (struct render_document){ .out = out, .options = *options };
	if (options->format == RENDER_JSON) {
		render_json_begin(out, command, report);
		fputs("\"results\": [", out);
	}
}

/* After the last section: that there are more (JSON has labels_left_out). */
static void print_sections_left_out(const struct render_document *document, const struct result *result)
{
	size_t count = result->sections_left_out;
	FILE *out = document->out;
	if (count == 0 || document->options.format != RENDER_TEXT)
		return;
	fprintf(out, "\n... %zu more label%s without a section", count, count == 1 ? "" : "s");
	if (document->options.hint)
		fprintf(out, ": %s", document->options.hint);
	fputc('\n', out);
}

int render_result(struct render_document *document, const struct result *result, struct error *error)
{
	static result_printer *const printers[RESULT_TYPES] = {
		[RESULT_NAMES] = print_paths_result,
		[RESULT_PATHS] = print_paths_result,
		[RESULT_TREE] = print_tree_result,
		[RESULT_LINES] = print_lines_result,
		[RESULT_LINE_COUNTS] = print_line_counts_result,
		[RESULT_PAGES] = print_pages_result,
		[RESULT_LABELS] = print_labels_result,
		[RESULT_CALL_GRAPH] = print_call_graph_result,
		[RESULT_WHAT_IF] = print_what_if_result,
		[RESULT_DIFF] = print_diff_result,
	};
	enum render_format format = document->options.format;
	if (format == RENDER_JSON)
		fputs(document->count > 0 ? ",\n" : "\n", document->out);
	else if (format == RENDER_TEXT && document->count > 0)
		fputc('\n', document->out);
	int status = printers[result->type](document, result, error);
	document->count++;
	if (status == 0)
		print_sections_left_out(document, result);
	return status;
}

void render_end(struct render_document *document)
{
	if (document->options.format == RENDER_JSON)
		fputs(document->count > 0 ? "\n]}\n" : "]}\n", document->out);
}
