#include "reports/diff.h"

#include <math.h>
#include <string.h>

#include "base/safe_text.h"
#include "render/emit.h"

enum { TEXT_BYTES = 96 };

static const double PERCENT = 100;

size_t render_exceeding(const struct results *results)
{
	size_t count = 0;
	for (size_t i = 0; i < results->count; i++)
		for (size_t k = 0; k < results->items[i].changes->count; k++)
			count += results->items[i].changes->entries[k].exceeds;
	return count;
}

/* Returns the change as a fraction of the amount in A; INFINITY if that is 0. */
static double relative(const struct diff_entry *entry)
{
	double change = entry->gticks[DIFF_B] - entry->gticks[DIFF_A];
	return change == 0 ? 0 : change / entry->gticks[DIFF_A];
}

/* Writes "+5.1 % ±0.8 %", or "new" for an entry that A does not have. Returns `text`. */
static const char *change_text(char *text, double change, double error)
{
	if (!isfinite(change))
		snprintf(text, TEXT_BYTES, "new");
	else if (isfinite(error))
		snprintf(text, TEXT_BYTES, "%+.1f %% ±%.1f %%", PERCENT * change, PERCENT * error);
	else
		snprintf(text, TEXT_BYTES, "%+.1f %%", PERCENT * change);
	return text;
}

static const char *entry_change(char *text, const struct diff_entry *entry)
{
	return change_text(text, relative(entry), entry->error / entry->gticks[DIFF_A]);
}

static const char *amount(char *text, const struct result *result, double gticks)
{
	return render_amount(text, TEXT_BYTES, gticks,
			     profile_string(result->view->profile, result->view->resource->unit));
}

static const char *resource_of(const struct result *result)
{
	return profile_string(result->view->profile, result->view->resource->name);
}

/* --- the entries that exceed the limit --- */

static void print_cause(FILE *out, const struct result *result, const struct diff_entry *entry)
{
	const struct diff_list *list = result->changes;
	const uint32_t *names = path_labels(list->paths, &entry->path);
	char change[TEXT_BYTES], a[TEXT_BYTES], b[TEXT_BYTES];
	fputs("  ", out);
	render_safe_text(out, resource_of(result));
	fprintf(out, " %s (%s -> %s) ", entry_change(change, entry), amount(a, result, entry->gticks[DIFF_A]),
		amount(b, result, entry->gticks[DIFF_B]));
	for (uint32_t i = 0; i < entry->path.length; i++) {
		fputs(i > 0 ? ";" : "", out);
		render_safe_text(out, list->names[names[i]]);
	}
	fputc('\n', out);
}

static void print_cause_row(struct sheet *sheet, const struct result *result, const struct diff_entry *entry)
{
	const struct diff_list *list = result->changes;
	const uint32_t *names = path_labels(list->paths, &entry->path);
	sheet_row(sheet);
	sheet_text(sheet, "profile", result->heading);
	sheet_text(sheet, "resource", resource_of(result));
	sheet_path_begin(sheet, "path");
	for (uint32_t i = 0; i < entry->path.length; i++)
		sheet_path_name(sheet, i, list->names[names[i]]);
	sheet_path_end(sheet);
	sheet_number(sheet, "change", relative(entry));
	sheet_number(sheet, "error", entry->error / entry->gticks[DIFF_A]);
	sheet_row_end(sheet);
}

/* Prints "2 changes above +5 %", or "no change above +5 %". */
static void print_verdict(FILE *out, size_t count, double limit)
{
	if (count == 0)
		fputs("no change", out);
	else
		fprintf(out, "%zu change%s", count, count == 1 ? "" : "s");
	fprintf(out, " above +%.4g %%", PERCENT * limit);
}

static void print_text(FILE *out, const struct results *results, double limit)
{
	size_t count = render_exceeding(results);
	fputs("\ngate: ", out);
	print_verdict(out, count, limit);
	fputs(count > 0 ? ":\n" : "\n", out);
	for (size_t i = 0; i < results->count; i++)
		for (size_t k = 0; k < results->items[i].changes->count; k++)
			if (results->items[i].changes->entries[k].exceeds)
				print_cause(out, &results->items[i], &results->items[i].changes->entries[k]);
}

static void print_json(FILE *out, const struct results *results, double limit)
{
	struct sheet sheet;
	fputs("\n], \"gate\": {\"limit\": ", out);
	json_number(out, limit);
	fprintf(out, ", \"exceeds\": %s, ", render_exceeding(results) > 0 ? "true" : "false");
	sheet_table_open(&sheet, out, RENDER_JSON, "causes", NULL);
	for (size_t i = 0; i < results->count; i++)
		for (size_t k = 0; k < results->items[i].changes->count; k++)
			if (results->items[i].changes->entries[k].exceeds)
				print_cause_row(&sheet, &results->items[i], &results->items[i].changes->entries[k]);
	sheet_table_close(&sheet);
	fputs("}}\n", out);
}

void render_gate_end(struct render_document *document, const struct results *results, double limit)
{
	if (document->options.format == RENDER_TEXT)
		print_text(document->out, results, limit);
	else if (document->options.format == RENDER_JSON)
		print_json(document->out, results, limit);
	else
		render_end(document);
}

/* --- Markdown --- */

/* Prints a name as it stands in a code span in a table: HTML is inert there, "|" would end the cell, and a backtick the span. */
static void print_name(FILE *out, const char *name)
{
	for (size_t length; *name; name += length) {
		length = strcspn(name, "`|");
		safe_text_write(out, name, length, "");
		if (!name[length])
			return;
		fputs(name[length] == '|' ? "\\|" : "'", out);
		length++;
	}
}

static void print_totals(FILE *out, const struct results *results)
{
	fputs("| total | A | B | change |\n|---|---:|---:|---:|\n", out);
	for (size_t i = 0; i < results->count; i++) {
		const struct result *result = &results->items[i];
		const struct diff_list *list = result->changes;
		char change[TEXT_BYTES], a[TEXT_BYTES], b[TEXT_BYTES];
		/* The results of a resource follow one another. */
		if (i > 0 && strcmp(resource_of(result), resource_of(result - 1)) == 0)
			continue;
		fputs("| ", out);
		print_name(out, resource_of(result));
		fprintf(out, " | %s | %s | %s |\n", amount(a, result, list->totals[DIFF_A]),
			amount(b, result, list->totals[DIFF_B]),
			change_text(change, diff_total_change(list), list->total_error));
	}
}

/* Prints what the marks assume, if a list has single recordings. */
static void print_spread(FILE *out, const struct results *results)
{
	for (size_t i = 0; i < results->count; i++) {
		if (isnan(results->items[i].changes->spread))
			continue;
		fprintf(out, "\nMarks assume a spread of %.3g %% between runs of equal programs.\n",
			PERCENT * results->items[i].changes->spread);
		return;
	}
}

static void print_entry(FILE *out, const struct result *result, const struct diff_entry *entry)
{
	const struct diff_list *list = result->changes;
	const uint32_t *names = path_labels(list->paths, &entry->path);
	char change[TEXT_BYTES], a[TEXT_BYTES], b[TEXT_BYTES];
	fputs("| `", out);
	for (uint32_t i = 0; i < entry->path.length; i++) {
		fputs(i > 0 ? ";" : "", out);
		print_name(out, list->names[names[i]]);
	}
	fprintf(out, "` | %s | %s | %s%s%s |\n", amount(a, result, entry->gticks[DIFF_A]),
		amount(b, result, entry->gticks[DIFF_B]), entry->exceeds ? "**" : "", entry_change(change, entry),
		entry->exceeds ? "**" : "");
}

/* Prints the marked entries of a result. */
static void print_marked(FILE *out, const struct result *result, const struct render_options *options)
{
	const struct diff_list *list = result->changes;
	size_t reaching = 0;
	for (size_t i = 0; i < list->count; i++) {
		const struct diff_entry *entry = &list->entries[i];
		if (!entry->significant || fmax(entry->fraction[DIFF_A], entry->fraction[DIFF_B]) < options->threshold)
			continue;
		if (reaching++ == 0) {
			fprintf(out, "\n%s, ", result->heading);
			print_name(out, resource_of(result));
			fputs(":\n\n| changed | A | B | change |\n|---|---:|---:|---:|\n", out);
		}
		if (options->limit == 0 || reaching <= options->limit)
			print_entry(out, result, entry);
	}
	if (options->limit > 0 && reaching > options->limit)
		fprintf(out, "\n%zu more\n", reaching - options->limit);
}

void render_diff_markdown(FILE *out, const struct results *results, double limit, const struct render_options *options)
{
	fputs("### cpprof: ", out);
	if (isnan(limit))
		fputs("changes", out);
	else
		print_verdict(out, render_exceeding(results), limit);
	fputs("\n\n", out);
	print_totals(out, results);
	print_spread(out, results);
	for (size_t i = 0; i < results->count; i++)
		print_marked(out, &results->items[i], options);
}
