/* Prints the comparison of the recordings of two sides. */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/columns.h"
#include "base/cxx_name.h"
#include "render/emit.h"
#include "render/names.h"
#include "reports/diff.h"

static bool is_shown(const struct diff_entry *entry, const struct render_options *options)
{
	return fmax(entry->fraction[DIFF_A], entry->fraction[DIFF_B]) >= options->threshold;
}

enum { AMOUNT_BYTES = 64 };

/* Writes an amount into `text` of AMOUNT_BYTES. Returns `text`. */
static const char *amount_text(char *text, const struct view *view, double gticks)
{
	return render_amount(text, AMOUNT_BYTES, gticks, profile_string(view->profile, view->resource->unit));
}

static void print_amount(FILE *out, const struct view *view, double gticks)
{
	char amount[AMOUNT_BYTES];
	fputs(amount_text(amount, view, gticks), out);
}

enum { SIDE_LINES_MOST = 12 };

/* Prints "A1: 2676 samples, ..." for each recording, or the sum of many: "A: 24 recordings, 264000 samples, 264000 hits". */
static void print_side(FILE *out, const struct diff_list *list, enum diff_sides side)
{
	const struct view *const *views = list->views + (side == DIFF_A ? 0 : list->runs[DIFF_A]);
	uint64_t samples = 0, hits = 0;
	for (size_t i = 0; i < list->runs[side]; i++) {
		samples += views[i]->samples;
		hits += views[i]->total;
	}
	if (list->runs[side] > SIDE_LINES_MOST) {
		fprintf(out, "%c: %zu recordings, %" PRIu64 " samples, %" PRIu64 " hits\n", "AB"[side],
			list -> runs[side], samples, hits);
		return;
	}
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

/* Prints what a mark means, and what it assumes. */
static void print_mark(FILE *out, const struct diff_list *list)
{
	const double percent = 100;
	bool is_single = list->runs[DIFF_A] + list->runs[DIFF_B] == DIFF_SIDES;
	if (is_single && !list->has_samples) {
		fputs("        mark: none, since a file does not state how many samples its amounts are; several "
		      "recordings "
		      "of A and of B show how much equal programs differ\n",
		      out);
		return;
	}
	fputs("        mark: * where the amount changes", out);
	if (!is_single)
		fprintf(out,
			" by more than equal programs differ; at most 1 of %.0f comparisons of equal programs has a "
			"mark",
			1 / list->chance);
	else if (!list->is_exact && isnan(list->spread))
		fputs(" by more than sampling explains", out);
	else if (!list->is_exact)
		fprintf(out,
			" by more than sampling and an assumed spread of %.3g %% between runs explain; several "
			"recordings of A and of B measure the spread",
			percent * list->spread);
	fputc('\n', out);
}

static void print_heading(FILE *out, const struct result *result, const struct render_options *options)
{
	const struct diff_list *list = result->changes;
	bool has_errors =
		(!list->is_exact && list->has_samples) || list->runs[DIFF_A] + list->runs[DIFF_B] > DIFF_SIDES;
	title_print(out, "Difference of ", result, options);
	print_total(out, result);
	print_side(out, list, DIFF_A);
	print_side(out, list, DIFF_B);
	fprintf(out, "format: mark change%s (amount_A amount_B) (fraction_A fraction_B) call_path\n",
		has_errors ? " ±error" : "");
	if (list->scaled_to > 0)
		fputs("        amounts: scaled so that each recording has the mean total of A\n", out);
	print_mark(out, list);
	fputs("-----------------------------------------------------\n", out);
}

/* Prints what changed, and returns its columns: "* -1.2 s ±20 ms (2 s 800 ms) (0.5000 0.2000) ". */
static size_t print_change(FILE *out, const struct result *result, const struct diff_entry *entry,
			   const struct render_options *options)
{
	const struct view *view = result->view;
	double change = entry->gticks[DIFF_B] - entry->gticks[DIFF_A];
	char amounts[DIFF_SIDES][AMOUNT_BYTES], marked[3 * AMOUNT_BYTES], rest[4 * AMOUNT_BYTES];
	amount_text(amounts[0], view, change);
	amount_text(amounts[1], view, isnan(entry->error) ? 0 : entry->error);
	snprintf(marked, sizeof(marked), "%c %s%s%s%s", entry->significant ? '*' : ' ', change > 0 ? "+" : "",
		 amounts[0], isnan(entry->error) ? "" : " ±", isnan(entry->error) ? "" : amounts[1]);
	for (enum diff_sides side = DIFF_A; side < DIFF_SIDES; side++)
		amount_text(amounts[side], view, entry->gticks[side]);
	snprintf(rest, sizeof(rest), " (%s %s) (%.4f %.4f) ", amounts[DIFF_A], amounts[DIFF_B], entry->fraction[DIFF_A],
		 entry->fraction[DIFF_B]);
	if (entry->significant)
		paint_on(out, change > 0 ? PAINT_HOT : PAINT_WARM, options);
	fputs(marked, out);
	if (entry->significant)
		paint_off(out, options);
	fputs(rest, out);
	return text_columns(marked, strlen(marked)) + text_columns(rest, strlen(rest));
}

/* Returns the length of the function's name in a name with suffixes: "main@gzip". */
static uint32_t name_length(const char *text)
{
	return (uint32_t)cxx_name_until(text, strlen(text), 0, '@');
}

/* Returns the names of the list, of which there are *count, or NULL if memory is exhausted; the caller frees the array. */
static struct short_names_item *items_of(const struct diff_list *list, size_t *count)
{
	*count = 0;
	for (size_t i = 0; i < list->count; i++) {
		const struct path_entry *path = &list->entries[i].path;
		for (uint32_t k = 0; k < path->length; k++)
			if (path_labels(list->paths, path)[k] >= *count)
				*count = (size_t)path_labels(list->paths, path)[k] + 1;
	}
	struct short_names_item *items = calloc(*count + 1, sizeof(*items));
	for (size_t i = 0; i < *count && items; i++)
		items[i] = (struct short_names_item){ list->names[i], name_length(list->names[i]) };
	return items;
}

static void print_text(struct render_document *document, const struct result *result)
{
	FILE *out = document->out;
	const struct render_options *options = &document->options;
	const struct diff_list *list = result->changes;
	print_heading(out, result, options);
	size_t reaching = 0, shown = 0, count;
	struct short_names_item *items = items_of(list, &count);
	struct name_printer names;
	if (!items) {
		render_failed(options);
		return;
	}
	name_printer_init_texts(&names, out, items, count, options);
	for (size_t i = 0; i < list->count; i++) {
		const struct diff_entry *entry = &list->entries[i];
		if (!is_shown(entry, options))
			continue;
		if (options->limit > 0 && reaching++ >= options->limit)
			continue;
		shown++;
		size_t used = print_change(out, result, entry, options);
		path_print(&names, path_labels(list->paths, &entry->path), entry->path.length, " ",
			   name_room(&names, used));
		fputc('\n', out);
	}
	name_printer_release(&names);
	free(items);
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
	sheet_flag(sheet, "exceeds", entry->exceeds);
	sheet_row_end(sheet);
}

static void print_table(struct render_document *document, const struct result *result)
{
	const struct render_options *options = &document->options;
	const struct diff_list *list = result->changes;
	struct sheet sheet;
	size_t shown = 0;
	sheet_open(&sheet, document, result,
		   "profile,resource,path,fraction_a,fraction_b,hits_a,hits_b,gticks_a,gticks_b,change,error,z,p,"
		   "significant,exceeds");
	for (size_t i = 0; i < list->count; i++) {
		const struct diff_entry *entry = &list->entries[i];
		if (!is_shown(entry, options) || (options->limit > 0 && shown >= options->limit))
			continue;
		shown++;
		print_row(&sheet, result, entry);
	}
	sheet_close(&sheet, list->count - shown);
}

const struct result_type result_changes = {
	.text = print_text,
	.table = print_table,
};
