/* Prints the share of a path, and the predicted total if some paths had another cost. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/lookup.h"
#include "render/emit.h"
#include "render/names.h"
#include "reports/report.h"

/* The data of a result. */
struct prediction {
	struct lookup_what_if terms;
	struct what_if_result result;
};

static void free_data(void *data)
{
	struct prediction *prediction = data;
	lookup_what_if_release(&prediction->terms);
	free(prediction->result.affected);
	free(prediction);
}

static int build(const struct report_request *request, const struct label_set *roots, struct result *result,
		 struct error *error)
{
	(void)roots;
	struct prediction *prediction = result->data = calloc(1, sizeof(*prediction));
	if (!prediction)
		return error_set(error, ERROR_MEMORY, "out of memory");
	struct lookup_what_if *terms = &prediction->terms;
	int status = lookup_what_if_init(terms, result->view, request->terms, request->term_count, error);
	return status < 0 ? status
			  : analyze_what_if(result->view, terms->paths, terms->count, &prediction->result, error);
}

static int build_path(const struct report_request *request, const struct label_set *roots, struct result *result,
		      struct error *error)
{
	(void)roots;
	struct prediction *prediction = result->data = calloc(1, sizeof(*prediction));
	if (!prediction)
		return error_memory(error);
	struct lookup_what_if *terms = &prediction->terms;
	int status = lookup_path_init(terms, result->view, request->root, error);
	return status < 0 ? status
			  : analyze_what_if(result->view, terms->paths, terms->count, &prediction->result, error);
}

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

/* Prints the paths, each with its factor if there are any. */
static void print_paths(struct render_document *document, const struct result *result, bool has_factors)
{
	FILE *out = document->out;
	const struct render_options *options = &document->options;
	const struct view *view = result->view;
	const struct prediction *prediction = result->data;
	const struct what_if *paths = prediction->terms.paths;
	const uint64_t *affected = prediction->result.affected;
	char format[96];
	bool exact = !resource_has_samples(view->resource);
	snprintf(format, sizeof(format), "usage_fraction %s(call_path) [#%s]%s", exact ? "" : "±error ", raw_name(view),
		 has_factors ? " x factor" : "");
	heading_print(out, result, format, options);
	if (empty_print(out, view))
		return;
	for (size_t i = 0; i < prediction->terms.count; i++) {
		fraction_print(out, view, affected[i], options);
		fputs(" (", out);
		for (size_t k = 0; k < paths[i].length; k++) {
			fputs(k ? " " : "", out);
			step_print(out, paths[i].steps[k].name, options);
		}
		fprintf(out, ") [%" PRIu64 "]", affected[i]);
		if (has_factors)
			fprintf(out, " x %g", paths[i].factor);
		fputc('\n', out);
	}
	if (has_factors)
		print_total(out, view, &prediction->result);
}

static void print_prediction(struct render_document *document, const struct result *result)
{
	print_paths(document, result, true);
}

static void print_path(struct render_document *document, const struct result *result)
{
	print_paths(document, result, false);
}

static void print_row(struct sheet *sheet, const struct result *result, size_t index, bool has_factors)
{
	const struct prediction *prediction = result->data;
	const struct what_if *path = &prediction->terms.paths[index];
	uint64_t affected = prediction->result.affected[index];
	sheet_row(sheet);
	sheet_path_begin(sheet, "path");
	for (size_t k = 0; k < path->length; k++)
		sheet_path_name(sheet, k, path->steps[k].name);
	sheet_path_end(sheet);
	if (has_factors)
		sheet_number(sheet, "factor", path->factor);
	sheet_share(sheet, result, 0, affected);
	if (has_factors && !sheet->json)
		sheet_number(sheet, "predicted_total", prediction->result.predicted);
	sheet_row_end(sheet);
}

static void print_table(struct render_document *document, const struct result *result)
{
	const struct prediction *prediction = result->data;
	struct sheet sheet;
	sheet_begin(&sheet, document, result, "resource,path,factor,fraction,error,hits,predicted_total");
	sheet_json_number(&sheet, "predicted_total", prediction->result.predicted);
	sheet_entries(&sheet);
	for (size_t i = 0; i < prediction->terms.count; i++)
		print_row(&sheet, result, i, true);
	sheet_close(&sheet, 0);
}

static void print_path_table(struct render_document *document, const struct result *result)
{
	struct sheet sheet;
	sheet_begin(&sheet, document, result, "resource,path,fraction,error,hits");
	sheet_entries(&sheet);
	print_row(&sheet, result, 0, false);
	sheet_close(&sheet, 0);
}

static const struct result_type prediction_type = {
	.text = print_prediction,
	.table = print_table,
	.free_data = free_data,
};
static const struct result_type path_type = {
	.text = print_path,
	.table = print_path_table,
	.free_data = free_data,
};

const struct report report_path = {
	.name = "path",
	.argument = REPORT_TAKES_PATH,
	.help = "The share of one call path, also if it has no hits: function names joined by ';', outermost first",
	.summary = "the share of one call path",
	.detail = "A path is function names joined by ';', outermost first: 'path main;read_db;qsort'.\n"
		  "A path without hits has the share 0, with its error.\n",
	.refuses = { { SETTING_THRESHOLD | SETTING_LIMIT | REPORT_GROUP | SETTING_ZEROS, "it shows one path" } },
	.parts = { { "Call Path", &path_type, build_path } },
};

const struct report report_what_if = {
	.name = "whatif",
	.argument = REPORT_TAKES_TERMS,
	.summary = "the total if call paths cost less",
	.detail = "A path is function names joined by ';', outermost first, and FACTOR what its cost\n"
		  "is multiplied by: 'whatif main;qsort=0 main;read_db=50%'.\n",
	.refuses = { { SETTING_ZEROS, "it shows the given paths" } },
	.parts = { { "What-If Prediction", &prediction_type, build } },
};
