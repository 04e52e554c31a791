/* Two profiles compared, and one profile as it might be. */
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

static void print_heading(FILE *out, const char *heading, const struct view *a, const struct view *b,
			  const struct render_options *options)
{
	title_print(out, "Difference of ", heading, a, options);
	fputs("A: ", out);
	samples_print(out, a);
	fputs("B: ", out);
	samples_print(out, b);
	fputs("format: mark change_of_fraction (fraction_A fraction_B) change_of_amount call_path\n"
	      "        mark: * where the change exceeds the noise\n"
	      "-----------------------------------------------------\n",
	      out);
}

static void print_text(FILE *out, const char *heading, const struct view *a, const struct view *b,
		       const struct diff_list *list, const struct render_options *options)
{
	print_heading(out, heading, a, b, options);
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
		print_signed_amount(out, a, entry->gticks_b - entry->gticks_a);
		fputc(' ', out);
		print_path(out, list, entry);
		fputc('\n', out);
	}
	if (list->count == 0)
		fputs("no samples in either profile\n", out);
	left_out_print(out, list->count, options->limit > 0 ? reaching : shown, shown, options);
}

static void print_row(struct sheet *sheet, const char *heading, const struct view *view, const struct diff_list *list,
		      const struct diff_entry *entry)
{
	sheet_row(sheet);
	if (!sheet->json) {
		sheet_text(sheet, "profile", heading);
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

static void print_table(FILE *out, const char *heading, const struct view *a, const struct view *b,
			const struct diff_list *list, const struct render_options *options)
{
	struct sheet sheet;
	size_t shown = 0;
	sheet_open_two(&sheet, out, heading, a, b,
		       "profile,resource,path,fraction_a,fraction_b,hits_a,hits_b,gticks_a,gticks_b,z,significant",
		       options);
	for (size_t i = 0; i < list->count; i++) {
		const struct diff_entry *entry = &list->entries[i];
		if (!is_shown(entry, options) || (options->limit > 0 && shown >= options->limit))
			continue;
		shown++;
		print_row(&sheet, heading, a, list, entry);
	}
	sheet_close(&sheet, list->count - shown);
}

void render_diff(FILE *out, const char *heading, const struct view *a, const struct view *b,
		 const struct diff_list *list, const struct render_options *options)
{
	if (options->format == RENDER_TEXT)
		print_text(out, heading, a, b, list, options);
	else
		print_table(out, heading, a, b, list, options);
}
