/* Prints the share of the hits that each label has. */
#include <inttypes.h>

#include "render/emit.h"
#include "reports/report.h"

static int build(const struct report_request *request, const struct label_set *roots, struct result *result,
		 struct error *error)
{
	(void)roots;
	result->data = analyze_label_groups(result->view, request->label_key, error);
	return result->data ? 0 : error->code;
}

static void print_text(struct render_document *document, const struct result *result)
{
	FILE *out = document->out;
	const struct render_options *options = &document->options;
	const struct view *view = result->view;
	const struct label_group_list *list = result->data;
	char format[96];
	snprintf(format, sizeof(format), "usage_fraction %slabels [#%s]",
		 resource_has_samples(view->resource) ? "±error " : "", raw_name(view));
	heading_print(out, result, format, options);
	if (empty_print(out, view))
		return;
	size_t reaching, shown = report_groups_shown(view, list, options->threshold, options->limit, &reaching);
	for (size_t i = 0; i < shown; i++) {
		fraction_print(out, view, list->groups[i].hits, options);
		fputc(' ', out);
		labels_print(out, view->profile, &list->groups[i]);
		paint_on(out, PAINT_DIM, options);
		fprintf(out, " [%" PRIu64 "]", list->groups[i].hits);
		paint_off(out, options);
		fputc('\n', out);
	}
	left_out_print(out, list->count, reaching, shown, options);
}

static void print_table(struct render_document *document, const struct result *result)
{
	const struct render_options *options = &document->options;
	const struct view *view = result->view;
	const struct label_group_list *list = result->data;
	struct sheet sheet;
	sheet_open(&sheet, document, result, "resource,labels,fraction,error,hits");
	size_t reaching, shown = report_groups_shown(view, list, options->threshold, options->limit, &reaching);
	for (size_t i = 0; i < shown; i++) {
		sheet_row(&sheet);
		sheet_labels(&sheet, "labels", &list->groups[i]);
		sheet_share(&sheet, result, 0, list->groups[i].hits);
		sheet_row_end(&sheet);
	}
	sheet_close(&sheet, list->count - shown);
}

static void free_data(void *data)
{
	label_group_list_free(data);
}

static const struct result_type type = {
	.text = print_text,
	.table = print_table,
	.free_data = free_data,
};

const struct report report_by_label = {
	.name = "by-label",
	.command = "labels",
	.argument = REPORT_TAKES_KEY,
	.help = "The share of each value of label KEY, or of each set of labels; with another report, that one for "
		"each",
	.summary = "the share of each value of a label, or of each set of labels",
	.needs = REPORT_NEEDS_LABELS | REPORT_DIVIDES,
	.refuses = { { REPORT_GROUP | SETTING_ZEROS, "it shows labels" } },
	.parts = { { "Label Profile", &type, build } },
};
