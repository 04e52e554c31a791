/* What share of the hits each label has. */
#include <inttypes.h>

#include "render/emit.h"

void labels_print(FILE *out, const struct profile *profile, const struct label_group *group)
{
	if (group->label_count == 0)
		fputs("(none)", out);
	for (size_t i = 0; i < group->label_count; i++) {
		if (i > 0)
			fputc(' ', out);
		render_safe_text(out, profile_string(profile, group->labels[i].key));
		fputc('=', out);
		render_safe_text(out, profile_string(profile, group->labels[i].value));
	}
}

size_t render_label_groups_shown(const struct view *view, const struct label_group_list *list,
				 const struct render_options *options, size_t *reaching)
{
	*reaching = 0;
	while (*reaching < list->count && fraction_of(list->groups[*reaching].hits, view->total) >= options->threshold)
		++*reaching;
	return shown_entries(*reaching, options);
}

static void print_text(FILE *out, const struct view *view, const struct label_group_list *list,
		       const struct render_options *options)
{
	char format[96];
	snprintf(format, sizeof(format), "usage_fraction %slabels [#%s]",
		 view->resource->kind == RESOURCE_EXACT ? "" : "±error ", raw_name(view));
	heading_print(out, "Label Profile", view, format, options);
	if (empty_print(out, view))
		return;
	size_t reaching, shown = render_label_groups_shown(view, list, options, &reaching);
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

static void print_table(FILE *out, const struct view *view, const struct label_group_list *list,
			const struct render_options *options)
{
	struct sheet sheet;
	sheet_open(&sheet, out, "Label Profile", view, "resource,labels,fraction,error,hits", options);
	size_t reaching, shown = render_label_groups_shown(view, list, options, &reaching);
	for (size_t i = 0; i < shown; i++) {
		sheet_row(&sheet);
		if (!sheet.json)
			sheet_text(&sheet, "resource", profile_string(view->profile, view->resource->name));
		sheet_labels(&sheet, "labels", &list->groups[i]);
		sheet_number(&sheet, "fraction", fraction_of(list->groups[i].hits, view->total));
		sheet_number(&sheet, "error", analyze_error(list->groups[i].hits, view->total, view->samples));
		sheet_count(&sheet, "hits", list->groups[i].hits);
		sheet_row_end(&sheet);
	}
	sheet_close(&sheet, list->count - shown);
}

void render_labels(FILE *out, const struct view *view, const struct label_group_list *list,
		   const struct render_options *options)
{
	if (options->format == RENDER_TEXT)
		print_text(out, view, list, options);
	else
		print_table(out, view, list, options);
}

void render_sections_left_out(FILE *out, const struct render_options *options)
{
	size_t count = options->sections_left_out;
	if (count == 0 || options->format != RENDER_TEXT)
		return;
	fprintf(out, "\n... %zu more label%s without a section", count, count == 1 ? "" : "s");
	if (options->hint)
		fprintf(out, ": %s", options->hint);
	fputc('\n', out);
}
