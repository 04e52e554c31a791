/* Prints the predicted total if some paths had another cost. */
#include <inttypes.h>
#include <string.h>

#include "render/emit.h"
#include "render/names.h"

static void print_total(FILE *out, const struct view *view, const struct what_if_result *result)
{
	const struct profile_resource *resource = view->resource;
	const char *unit = profile_string(view->profile, resource->unit);
	double gticks = (double)view->total * (double)resource->interval;
	char before[64], after[64];
	fprintf(out, "predicted total: %.4f of the recorded total, %s instead of %s", result->predicted,
		render_amount(after, sizeof(after), gticks * result->predicted, unit),
		render_amount(before, sizeof(before), gticks, unit));
	if (result->predicted > 0 && result->predicted < 1)
		fprintf(out, " (%.3g times less)", 1 / result->predicted);
	fputc('\n', out);
}

/* The user has chosen the function by a name: without its parameters it is clear enough. */
static void step_print(FILE *out, const char *name, const struct render_options *options)
{
	struct name_printer printer;
	const struct short_names_item item = { name, (uint32_t)strlen(name) };
	name_printer_init_texts(&printer, out, &item, 1, options);
	name_print(&printer, 0, name_room(&printer, 0));
	name_printer_release(&printer);
}

static void print_text(const struct render_document *document, const struct result *result)
{
	FILE *out = document->out;
	const struct render_options *options = &document->options;
	const struct view *view = result->view;
	const struct what_if *paths = result->terms.paths;
	const uint64_t *affected = result->prediction.affected;
	char format[96];
	bool exact = view->resource->kind == RESOURCE_EXACT;
	snprintf(format, sizeof(format), "usage_fraction %s(call_path) [#%s] x factor", exact ? "" : "±error ",
		 raw_name(view));
	heading_print(out, result, format, options);
	if (empty_print(out, view))
		return;
	for (size_t i = 0; i < result->terms.count; i++) {
		fraction_print(out, view, affected[i], options);
		fputs(" (", out);
		for (size_t k = 0; k < paths[i].length; k++) {
			fputs(k ? " " : "", out);
			step_print(out, paths[i].steps[k].name, options);
		}
		fprintf(out, ") [%" PRIu64 "] x %g\n", affected[i], paths[i].factor);
	}
	print_total(out, view, &result->prediction);
}

static void print_row(struct sheet *sheet, const struct result *result, size_t index)
{
	const struct view *view = result->view;
	const struct what_if *path = &result->terms.paths[index];
	uint64_t affected = result->prediction.affected[index];
	sheet_row(sheet);
	if (!sheet->json)
		sheet_text(sheet, "resource", profile_string(view->profile, view->resource->name));
	sheet_path_begin(sheet, "path");
	for (size_t k = 0; k < path->length; k++)
		sheet_path_name(sheet, k, path->steps[k].name);
	sheet_path_end(sheet);
	sheet_number(sheet, "factor", path->factor);
	sheet_number(sheet, "fraction", fraction_of(affected, view->total));
	sheet_number(sheet, "error", analyze_error(affected, view->total, view->independent));
	sheet_count(sheet, "hits", affected);
	if (!sheet->json)
		sheet_number(sheet, "predicted_total", result->prediction.predicted);
	sheet_row_end(sheet);
}

static void print_table(const struct render_document *document, const struct result *result)
{
	struct sheet sheet;
	sheet_begin(&sheet, document, result, "resource,path,factor,fraction,error,hits,predicted_total");
	sheet_json_number(&sheet, "predicted_total", result->prediction.predicted);
	sheet_entries(&sheet);
	for (size_t i = 0; i < result->terms.count; i++)
		print_row(&sheet, result, i);
	sheet_close(&sheet, 0);
}

int print_what_if_result(struct render_document *document, const struct result *result, struct error *error)
{
	(void)error;
	if (document->options.format == RENDER_TEXT)
		print_text(document, result);
	else
		print_table(document, result);
	return 0;
}
