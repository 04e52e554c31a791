/* Prints the comparison of the recordings of two sides. */
#include <inttypes.h>
#include <math.h>

#include "render/emit.h"

static bool is_shown(const struct diff_entry *entry, const struct render_options *options)
{
	return fmax(entry->fraction[DIFF_A], entry->fraction[DIFF_B]) >= options->threshold;
}

static void print_path(FILE *out, const struct diff_list *list, const struct diff_entry *entry)
{
	const uint32_t *names = path_labels(list->paths, &entry->path);
	for (uint32_t i = 0; i < entry->path.length; i++) {
		fputs(i ? " " : "", out);
		render_safe_text(out, list->names[names[i]]);
	}
}

static void print_amount(FILE *out, const struct view *view, double gticks)
{
	char amount[64];
	fputs(render_amount(amount, sizeof(amount), gticks, profile_string(view->profile, view->resource->unit)), out);
}

/* Prints "A: 3 recordings: 2676 samples, ...". */
static void print_side(FILE *out, const struct diff_list *list, enum diff_sides side)
{
	const struct view *const *views = list->views + (side == DIFF_A ? 0 : list->runs[DIFF_A]);
	for (size_t i = 0; i < list->runs[side]; i++) {
		fprintf(out, "%c", "AB"[side]);
		if (list->runs[side] > 1)
			fprintf(out, "%zu", i + 1);
		fputs(": ", out);
		samples_print(out, views[i]);
	}
}

/* Prints "total: 2.84 s -> 2.46 s, -13.4 % ±2.1 %". */
static void print_total(FILE *out, const struct result *result)
{
	const struct diff_list *list = result->changes;
	const double percent = 100, change = diff_total_change(list);
	fputs("total: ", out);
	print_amount(out, result->view, list->totals[DIFF_A]);
	fputs(" -> ", out);
	print_amount(out, result->view, list->totals[DIFF_B]);
	if (!isnan(change))
		fprintf(out, ", %+.1f %%", change * percent);
	if (!isnan(change) && !isnan(list->total_error))
		fprintf(out, " ±%.1f %%", list->total_error * percent);
	fputc('\n', out);
}

static void print_heading(FILE *out, const struct result *result, const struct render_options *options)
{
	const struct diff_list *list = result->changes;
	bool is_single = list->runs[DIFF_A] + list->runs[DIFF_B] == DIFF_SIDES;
	title_print(out, "Difference of ", result, options);
	print_total(out, result);
	print_side(out, list, DIFF_A);
	print_side(out, list, DIFF_B);
	fprintf(out, "format: mark change%s (amount_A amount_B) (fraction_A fraction_B) call_path\n",
		is_single ? "" : " ±error");
	if (!is_single)
		fputs("        mark: * where the amount changes by more than equal programs differ; 1 of 20 marks is "
		      "chance\n",
		      out);
	else if (list->is_exact)
		fputs("        mark: * where the amount changes\n", out);
	else
		fputs("        mark: * where the fraction changes by more than sampling explains; several recordings "
		      "of A and of "
		      "B also show how runs differ\n",
		      out);
	fputs("-----------------------------------------------------\n", out);
}

static void print_entry(FILE *out, const struct result *result, const struct diff_entry *entry,
			const struct render_options *options)
{
	const struct view *view = result->view;
	double change = entry->gticks[DIFF_B] - entry->gticks[DIFF_A];
	if (entry->significant)
		paint_on(out, change > 0 ? PAINT_HOT : PAINT_WARM, options);
	fprintf(out, "%c %s", entry->significant ? '*' : ' ', change > 0 ? "+" : "");
	print_amount(out, view, change);
	if (!isnan(entry->error)) {
		fputs(" ±", out);
		print_amount(out, view, entry->error);
	}
	if (entry->significant)
		paint_off(out, options);
	fputs(" (", out);
	print_amount(out, view, entry->gticks[DIFF_A]);
	fputs(" ", out);
	print_amount(out, view, entry->gticks[DIFF_B]);
	fprintf(out, ") (%.4f %.4f) ", entry->fraction[DIFF_A], entry->fraction[DIFF_B]);
	print_path(out, result->changes, entry);
	fputc('\n', out);
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
		print_entry(out, result, entry, options);
	}
	if (list->count == 0)
		fputs("no samples in any profile\n", out);
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
	sheet_number(sheet, "fraction_a", entry->fraction[DIFF_A]);
	sheet_number(sheet, "fraction_b", entry->fraction[DIFF_B]);
	sheet_count(sheet, "hits_a", entry->hits[DIFF_A]);
	sheet_count(sheet, "hits_b", entry->hits[DIFF_B]);
	sheet_amount(sheet, "gticks_a", entry->gticks[DIFF_A]);
	sheet_amount(sheet, "gticks_b", entry->gticks[DIFF_B]);
	sheet_amount(sheet, "change", entry->gticks[DIFF_B] - entry->gticks[DIFF_A]);
	sheet_number(sheet, "error", entry->error);
	sheet_number(sheet, "z", entry->z);
	sheet_number(sheet, "p", entry->p);
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
		   "profile,resource,path,fraction_a,fraction_b,hits_a,hits_b,gticks_a,gticks_b,change,error,z,p,"
		   "significant");
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
