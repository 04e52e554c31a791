/* Prints the share of the hits that each label has. */
#include <inttypes.h>

#include "render/emit.h"
#include "reports/report.h"

static void print_text(const struct render_document *document, const struct result *result)
{
	FILE *out = document->out;
	const struct render_options *options = &document->options;
	const struct view *view = result->view;
	const struct label_group_list *list = result->labels;
	char format[96];
	snprintf(format, sizeof(format), "usage_fraction %slabels [#%s]",
		 view->resource->kind == RESOURCE_EXACT ? "" : "±error ", raw_name(view));
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

static void print_table(const struct render_document *document, const struct result *result)
{
	const struct render_options *options = &document->options;
	const struct view *view = result->view;
	const struct label_group_list *list = result->labels;
	struct sheet sheet;
	sheet_open(&sheet, document, result, "resource,labels,fraction,error,hits");
	size_t reaching, shown = report_groups_shown(view, list, options->threshold, options->limit, &reaching);
	for (size_t i = 0; i < shown; i++) {
		sheet_row(&sheet);
		if (!sheet.json)
			sheet_text(&sheet, "resource", profile_string(view->profile, view->resource->name));
		sheet_labels(&sheet, "labels", &list->groups[i]);
		sheet_number(&sheet, "fraction", fraction_of(list->groups[i].hits, view->total));
		sheet_number(&sheet, "error", analyze_error(list->groups[i].hits, view->total, view->independent));
		sheet_count(&sheet, "hits", list->groups[i].hits);
		sheet_row_end(&sheet);
	}
	sheet_close(&sheet, list->count - shown);
}

int print_labels_result(struct render_document *document, const struct result *result, struct error *error)
{
	(void)error;
	if (document->options.format == RENDER_TEXT)
		print_text(document, result);
	else
		print_table(document, result);
	return 0;
}
