/* Prints each function between its callers and its callees. */
#include <inttypes.h>
#include <stdlib.h>

#include "gprof/print.h"
#include "gprof/truth.h"
#include "render/emit.h"
#include "reports/report.h"

/* A call graph is of time, unless the user names another resource. */
static int choose(struct report_request *request, struct error *error)
{
	(void)error;
	uint32_t resource = truth_resource(request->profile);
	if (request->resources_named || resource == PROFILE_NONE)
		return 0;
	request->resources[0] = resource;
	request->resource_count = 1;
	return 0;
}

static int build(const struct report_request *request, const struct label_set *roots, struct result *result,
		 struct error *error)
{
	(void)request, (void)roots;
	struct truth *truth = malloc(sizeof(*truth));
	if (!truth)
		return error_set(error, ERROR_MEMORY, "out of memory");
	int status = truth_init(truth, result->view->profile, &result->view->options, error);
	if (status < 0) {
		free(truth);
		return status;
	}
	result->data = truth;
	if (!truth->calls)
		result->note = TRUTH_NO_CALLS;
	return 0;
}

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
	const struct truth *truth = result->data;
	const double total = truth->total;
	sheet_row(sheet);
	sheet_text(sheet, "entry", row->parent ? "call" : "function");
	sheet_path_begin(sheet, "path");
	if (row->parent)
		sheet_path_name(sheet, 0, row->parent);
	sheet_path_name(sheet, row->parent ? 1 : 0, row->name);
	sheet_path_end(sheet);
	sheet_count(sheet, "calls", row->calls);
	sheet_number(sheet, "self_fraction", total > 0 ? row->self / total : 0);
	sheet_json_number(sheet, "self_error", error_of(truth, row->self));
	sheet_number(sheet, "below_fraction", total > 0 ? row->below / total : 0);
	sheet_json_number(sheet, "below_error", error_of(truth, row->below));
	sheet_amount(sheet, "self_hits", row->self);
	sheet_amount(sheet, "below_hits", row->below);
	sheet_row_end(sheet);
}

static void print_table(struct render_document *document, const struct result *result)
{
	const struct truth *truth = result->data;
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
static void write_text(struct render_document *document, const struct result *result)
{
	enum { INDEX_WIDTH = 80 };
	static const struct print_options options = { .brief = true, .width = INDEX_WIDTH };
	struct error error = { 0 };
	*document->options.failure = print_truth(result->data, document->out, &options, false, &error);
}

static void free_data(void *data)
{
	truth_release(data);
	free(data);
}

static const struct result_type type = {
	.text = write_text,
	.table = print_table,
	.free_data = free_data,
};

const struct report report_call_graph = {
	.name = "call-graph",
	.letter = 'g',
	.help = "Each function between its callers and what it called, as gprof prints it, with the times of the call "
		"paths",
	.summary = "each function between its callers and what it called",
	.refuses = { { SETTING_THRESHOLD | SETTING_LIMIT | SETTING_BY | REPORT_GROUP | SETTING_ZEROS,
		       "it shows all functions as gprof does" },
		     { SETTING_TRANSFORM, "its numbers of calls are of the recorded paths" } },
	.choose = choose,
	.parts = { { "Call Graph Profile", &type, build } },
};
