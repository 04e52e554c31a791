/* Prints each function between its callers and its callees. */
#include <inttypes.h>

#include "gprof/print.h"
#include "render/emit.h"

/* A row of a function (`parent` NULL), or of the calls of it by one caller. */
struct row {
	const char *parent, *name;
	uint64_t calls;
	double self, below;
};

static double error_of(const struct truth *truth, double hits)
{
	return analyze_error((uint64_t)hits, (uint64_t)truth->total, truth->independent);
}

static void print_row(struct sheet *sheet, const struct result *result, const struct row *row)
{
	const struct view *view = result->view;
	const double total = result->truth->total;
	sheet_row(sheet);
	if (!sheet->json)
		sheet_text(sheet, "resource", profile_string(view->profile, view->resource->name));
	sheet_text(sheet, "entry", row->parent ? "call" : "function");
	sheet_path_begin(sheet, "path");
	if (row->parent)
		sheet_path_name(sheet, 0, row->parent);
	sheet_path_name(sheet, row->parent ? 1 : 0, row->name);
	sheet_path_end(sheet);
	sheet_count(sheet, "calls", row->calls);
	sheet_number(sheet, "self_fraction", total > 0 ? row->self / total : 0);
	sheet_json_number(sheet, "self_error", error_of(result->truth, row->self));
	sheet_number(sheet, "below_fraction", total > 0 ? row->below / total : 0);
	sheet_json_number(sheet, "below_error", error_of(result->truth, row->below));
	sheet_amount(sheet, "self_hits", row->self);
	sheet_amount(sheet, "below_hits", row->below);
	sheet_row_end(sheet);
}

static void print_table(const struct render_document *document, const struct result *result)
{
	const struct truth *truth = result->truth;
	struct sheet sheet;
	sheet_open(&sheet, document, result,
		   "resource,entry,path,calls,self_fraction,below_fraction,self_hits,below_hits");
	for (size_t i = 0; i < truth->function_count; i++) {
		const struct truth_function *function = &truth->functions[i];
		const struct row row = { NULL, function->name, function->calls, function->self, function->below };
		if (row.calls > 0 || row.self > 0 || row.below > 0)
			print_row(&sheet, result, &row);
	}
	for (size_t i = 0; i < truth->arc_count; i++) {
		const struct truth_arc *arc = &truth->arcs[i];
		const struct row row = { truth->functions[arc->parent].name, truth->functions[arc->child].name,
					 arc->calls, arc->self, arc->below };
		print_row(&sheet, result, &row);
	}
	sheet_close(&sheet, 0);
}

/* Prints the text without gprof's explanations, like all other reports. */
int print_call_graph_result(struct render_document *document, const struct result *result, struct error *error)
{
	enum { INDEX_WIDTH = 80 };
	static const struct print_options options = { .brief = true, .width = INDEX_WIDTH };
	if (document->options.format == RENDER_TEXT)
		return print_truth(result->truth, document->out, &options, false, error);
	print_table(document, result);
	return 0;
}
