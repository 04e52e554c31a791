/* Prints the comparison of two profiles. */
#include <inttypes.h>
#include <math.h>

#include "render/emit.h"

static bool is_shown(const struct diff_entry *entry, const struct render_options *options)
{
	return fmax(entry->fraction_a, entry->fraction_b) >= options->threshold;
}

static void print_path(FILE *out, const struct diff_list *list, const struct diff_entry *entry)
{
	const uint32_t *names = path_labels(list->paths, &entry->path);
	for (uint32_t i = 0; i < entry->path.length; i++) {
		fputs(i ? " " : "", out);
		render_safe_text(out, list->names[names[i]]);
	}
}

static void print_signed_amount(FILE *out, const struct view *view, double gticks)
{
	char amount[64];
	render_amount(amount, sizeof(amount), gticks, profile_string(view->profile, view->resource->unit));
	fprintf(out, "%s%s", gticks > 0 ? "+" : "", amount);
}

static void print_heading(FILE *out, const struct result *result, const struct render_options *options)
{
	title_print(out, "Difference of ", result, options);
	fputs("A: ", out);
	samples_print(out, result->view);
	fputs("B: ", out);
	samples_print(out, result->other);
	fputs("format: mark change_of_fraction (fraction_A fraction_B) change_of_amount call_path\n"
	      "        mark: * where the change exceeds the noise\n"
	      "-----------------------------------------------------\n",
	      out);
}

static void print_text(const struct render_document *document, const struct result *result)
{
	FILE *out = document->out;
	const struct render_options *options = &document->options;
	const struct diff_list *list = result->changes;
	print_heading(out, result, options);
	size_t reaching = 0, shown = 0;
	for (size_t i = 0; i < list->count; i++) {
		const struct diff_entry *entry = &list->entries[i];
		if (!is_shown(entry, options))
			continue;
		if (options->limit > 0 && reaching++ >= options->limit)
			continue;
		shown++;
		if (entry->significant)
			paint_on(out, entry->fraction_b > entry->fraction_a ? PAINT_HOT : PAINT_WARM, options);
		fprintf(out, "%c %+.4f", entry->significant ? '*' : ' ', entry->fraction_b - entry->fraction_a);
		if (entry->significant)
			paint_off(out, options);
		fprintf(out, " (%.4f %.4f) ", entry->fraction_a, entry->fraction_b);
		print_signed_amount(out, result->view, entry->gticks_b - entry->gticks_a);
		fputc(' ', out);
		print_path(out, list, entry);
		fputc('\n', out);
	}
	if (list->count == 0)
		fputs("no samples in either profile\n", out);
	left_out_print(out, list->count, options->limit > 0 ? reaching : shown, shown, options);
}

static void print_row(struct sheet *sheet, const struct result *result, const struct diff_entry *entry)
{
	const struct view *view = result->view;
	const struct diff_list *list = result->changes;
	sheet_row(sheet);
	if (!sheet->json) {
		sheet_text(sheet, "profile", result->heading);
		sheet_text(sheet, "resource", profile_string(view->profile, view->resource->name));
	}
	const uint32_t *names = path_labels(list->paths, &entry->path);
	sheet_path_begin(sheet, "path");
	for (uint32_t i = 0; i < entry->path.length; i++)
		sheet_path_name(sheet, i, list->names[names[i]]);
	sheet_path_end(sheet);
	sheet_number(sheet, "fraction_a", entry->fraction_a);
	sheet_number(sheet, "fraction_b", entry->fraction_b);
	sheet_count(sheet, "hits_a", entry->hits_a);
	sheet_count(sheet, "hits_b", entry->hits_b);
	sheet_amount(sheet, "gticks_a", entry->gticks_a);
	sheet_amount(sheet, "gticks_b", entry->gticks_b);
	sheet_number(sheet, "z", entry->z);
	sheet_flag(sheet, "significant", entry->significant);
	sheet_row_end(sheet);
}

static void print_table(const struct render_document *document, const struct result *result)
{
	const struct render_options *options = &document->options;
	const struct diff_list *list = result->changes;
	struct sheet sheet;
	size_t shown = 0;
	sheet_open(&sheet, document, result,
		   "profile,resource,path,fraction_a,fraction_b,hits_a,hits_b,gticks_a,gticks_b,z,significant");
	for (size_t i = 0; i < list->count; i++) {
		const struct diff_entry *entry = &list->entries[i];
		if (!is_shown(entry, options) || (options->limit > 0 && shown >= options->limit))
			continue;
		shown++;
		print_row(&sheet, result, entry);
	}
	sheet_close(&sheet, list->count - shown);
}

int print_diff_result(struct render_document *document, const struct result *result, struct error *error)
{
	(void)error;
	if (document->options.format == RENDER_TEXT)
		print_text(document, result);
	else
		print_table(document, result);
	return 0;
}
