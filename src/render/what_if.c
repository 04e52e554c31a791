/* The predicted total if some paths cost less. */
#include <inttypes.h>

#include "render/emit.h"

static void print_total(FILE *out, const struct view *view, const struct what_if_result *result)
{
	const struct profile_resource *resource = view->resource;
	const char *unit = profile_string(view->profile, resource->unit);
	double gticks = (double)view->total * (double)resource->interval;
	char before[64], after[64];
	fprintf(out, "predicted total: %.4f of what it was, %s instead of %s", result->predicted,
		render_amount(after, sizeof(after), gticks * result->predicted, unit),
		render_amount(before, sizeof(before), gticks, unit));
	if (result->predicted > 0 && result->predicted < 1)
		fprintf(out, " (%.3g times less)", 1 / result->predicted);
	fputc('\n', out);
}

static void print_text(FILE *out, const struct view *view, const struct what_if *paths, size_t count,
		       const struct what_if_result *result, const struct render_options *options)
{
	char format[96];
	bool exact = view->resource->kind == RESOURCE_EXACT;
	snprintf(format, sizeof(format), "usage_fraction %s(call_path) [#%s] x factor", exact ? "" : "±error ",
		 raw_name(view));
	heading_print(out, "What-If Prediction", view, format, options);
	if (empty_print(out, view))
		return;
	for (size_t i = 0; i < count; i++) {
		fraction_print(out, view, result->affected[i], options);
		fputs(" (", out);
		for (size_t k = 0; k < paths[i].length; k++) {
			fputs(k ? " " : "", out);
			render_safe_text(out, paths[i].steps[k].name);
		}
		fprintf(out, ") [%" PRIu64 "] x %g\n", result->affected[i], paths[i].factor);
	}
	print_total(out, view, result);
}

static void print_table(FILE *out, const struct view *view, const struct what_if *paths, size_t count,
			const struct what_if_result *result, const struct render_options *options)
{
	struct sheet sheet;
	sheet_open(&sheet, out, "What-If Prediction", view, "resource,path,factor,fraction,hits,predicted_total",
		   options);
	for (size_t i = 0; i < count; i++) {
		sheet_row(&sheet);
		if (!sheet.json)
			sheet_text(&sheet, "resource", profile_string(view->profile, view->resource->name));
		sheet_path_begin(&sheet, "path");
		for (size_t k = 0; k < paths[i].length; k++)
			sheet_path_name(&sheet, k, paths[i].steps[k].name);
		sheet_path_end(&sheet);
		sheet_number(&sheet, "factor", paths[i].factor);
		sheet_number(&sheet, "fraction", fraction_of(result->affected[i], view->total));
		sheet_count(&sheet, "hits", result->affected[i]);
		sheet_number(&sheet, "predicted_total", result->predicted);
		sheet_row_end(&sheet);
	}
	sheet_close(&sheet, 0);
}

void render_what_if(FILE *out, const struct view *view, const struct what_if *paths, size_t count,
		    const struct what_if_result *result, const struct render_options *options)
{
	if (options->format == RENDER_TEXT)
		print_text(out, view, paths, count, result, options);
	else
		print_table(out, view, paths, count, result, options);
}
