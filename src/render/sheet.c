/* Writes JSON and CSV. */
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "analyze/transform.h"
#include "base/safe_text.h"
#include "base/utf8.h"
#include "render/emit.h"

void json_number(FILE *out, double number)
{
	/* JSON has no infinity and no NaN. */
	if (isfinite(number))
		fprintf(out, "%.6g", number);
	else
		fputs("null", out);
}

/* Writes the inside of a quoted CSV field (RFC 4180): quotes are doubled. */
static void csv_inside(const struct sheet *sheet, const char *text)
{
	FILE *out = sheet->out;
	const unsigned char *next = (const unsigned char *)text;
	while (*next) {
		size_t length = utf8_sequence(next);
		if (length == 0) {
			fputs("\xef\xbf\xbd", out);
			next++;
			continue;
		}
		if (*next == '"')
			fputc('"', out);
		if (sheet->safe)
			safe_text_write(out, (const char *)next, length, "");
		else
			fwrite(next, 1, length, out);
		next += length;
	}
}

static void json_transforms(FILE *out, const struct transforms *list)
{
	for (size_t i = 0; list && i < list->count; i++) {
		fputs(i > 0 ? ", " : ", \"transforms\": [", out);
		json_string_write(out, list->items[i].text);
	}
	fputs(list && list->count > 0 ? "]" : "", out);
}

static void json_heading(FILE *out, const struct result *result)
{
	const struct view *view = result->view;
	const struct profile *profile = view->profile;
	fputs("{\"profile\": ", out);
	json_string_write(out, result->heading);
	fputs(", \"resource\": ", out);
	json_string_write(out, profile_string(profile, view->resource->name));
	fputs(", \"title\": ", out);
	json_string_write(out, profile_string(profile, view->resource->title));
	fputs(", \"unit\": ", out);
	json_string_write(out, profile_string(profile, view->resource->unit));
	if (result->root) {
		fputs(", \"root\": ", out);
		json_string_write(out, result->root);
	}
	json_transforms(out, view->options.transforms);
}

/* Prints the numbers from which all figures of one selection are computed, or of one side of a comparison. */
static void json_totals(FILE *out, const struct view *const *views, size_t count)
{
	static const char *const kinds[] = { "sampled", "merged", "exact", "sums" };
	uint64_t hits = 0, samples = 0;
	for (size_t i = 0; i < count; i++) {
		hits += views[i]->total;
		samples += views[i]->samples;
	}
	fprintf(out, "\"kind\": \"%s\", \"total_hits\": %" PRIu64 ", \"samples\": %" PRIu64 ", \"interval\": %" PRIu64,
		kinds[views[0]->resource->kind], hits, samples, views[0]->resource->interval);
}

/* Prints the totals of both sides of a comparison, and their change. */
static void json_sides(FILE *out, const struct diff_list *list)
{
	const struct view *const *views = list->views;
	for (size_t side = 0; side < DIFF_SIDES; side++) {
		fprintf(out, ", \"%c\": {", "ab"[side]);
		json_totals(out, views, list->runs[side]);
		fprintf(out, ", \"recordings\": %zu, \"gticks\": %.17g}", list->runs[side], list->totals[side]);
		views += list->runs[side];
	}
	fputs(", \"change\": ", out);
	json_number(out, diff_total_change(list));
	fputs(", \"change_error\": ", out);
	json_number(out, list->total_error);
	if (list->scaled_to > 0)
		fputs(", \"shares\": true", out);
	if (!isnan(list->spread))
		fprintf(out, ", \"spread\": %.17g", list->spread);
}

/* Prints {"tenant": "acme", "kind": "new"} in JSON, "tenant=acme;kind=new" in CSV. */
static void labels_inside(const struct sheet *sheet, const struct label_group *group)
{
	FILE *out = sheet->out;
	fputc(sheet->json ? '{' : '"', out);
	for (size_t i = 0; i < group->label_count; i++) {
		const char *key = profile_string(sheet->profile, group->labels[i].key);
		const char *value = profile_string(sheet->profile, group->labels[i].value);
		if (i > 0)
			fputs(sheet->json ? ", " : ";", out);
		if (sheet->json) {
			json_string_write(out, key);
			fputs(": ", out);
			json_string_write(out, value);
			continue;
		}
		csv_inside(sheet, key);
		fputc('=', out);
		csv_inside(sheet, value);
	}
	fputc(sheet->json ? '}' : '"', out);
}

static void json_members(struct sheet *sheet, const struct result *result)
{
	FILE *out = sheet->out;
	json_heading(out, result);
	if (result->is_section) {
		fputs(", \"labels\": ", out);
		labels_inside(sheet, &result->section);
		fprintf(out, ", \"labels_left_out\": %zu", result->sections_left_out);
	}
	if (result->changes) {
		json_sides(out, result->changes);
		return;
	}
	fputs(", ", out);
	json_totals(out, &result->view, 1);
}

void sheet_begin(struct sheet *sheet, const struct render_document *document, const struct result *result,
		 const char *csv_header)
{
	static const char first[] = "resource,";
	*sheet = (struct sheet){ .out = document->out,
				 .profile = result->view->profile,
				 .section = result->is_section ? &result->section : NULL,
				 .resource =
					 strncmp(csv_header, first, strlen(first)) == 0
						 ? profile_string(result->view->profile, result->view->resource->name)
						 : NULL,
				 .json = document->options.format == RENDER_JSON,
				 .safe = is_terminal(document->out) };
	if (sheet->json)
		json_members(sheet, result);
	else if (document->count == 0)
		fprintf(sheet->out, "%s%s\n", sheet->section ? "labels," : "", csv_header);
	sheet->fields = 1; /* in JSON, the next field follows other members */
}

void sheet_entries(struct sheet *sheet)
{
	if (sheet->json)
		fputs(", \"entries\": [", sheet->out);
}

void sheet_open(struct sheet *sheet, const struct render_document *document, const struct result *result,
		const char *csv_header)
{
	sheet_begin(sheet, document, result, csv_header);
	sheet_entries(sheet);
}

void sheet_row(struct sheet *sheet)
{
	if (sheet->json)
		fputs(sheet->rows ? ",\n  {" : "\n  {", sheet->out);
	sheet->rows++;
	sheet->fields = 0;
	if (sheet->section && !sheet->json)
		sheet_labels(sheet, "labels", sheet->section);
	if (sheet->resource && !sheet->json)
		sheet_text(sheet, "resource", sheet->resource);
}

static void field(struct sheet *sheet, const char *name)
{
	if (sheet->fields++ > 0)
		fputs(sheet->json ? ", " : ",", sheet->out);
	if (sheet->json)
		fprintf(sheet->out, "\"%s\": ", name);
}

void sheet_text(struct sheet *sheet, const char *name, const char *text)
{
	field(sheet, name);
	if (sheet->json) {
		json_string_write(sheet->out, text);
		return;
	}
	fputc('"', sheet->out);
	csv_inside(sheet, text);
	fputc('"', sheet->out);
}

void sheet_optional_text(struct sheet *sheet, const char *name, const char *text)
{
	if (text || !sheet->json) {
		sheet_text(sheet, name, text ? text : "");
		return;
	}
	field(sheet, name);
	fputs("null", sheet->out);
}

void sheet_count(struct sheet *sheet, const char *name, uint64_t count)
{
	field(sheet, name);
	fprintf(sheet->out, "%" PRIu64, count);
}

void sheet_number(struct sheet *sheet, const char *name, double number)
{
	field(sheet, name);
	if (sheet->json || isfinite(number))
		json_number(sheet->out, number);
}

void sheet_share(struct sheet *sheet, const struct result *result, size_t row, uint64_t hits)
{
	sheet_number(sheet, "fraction", fraction_of(hits, result->view->total));
	sheet_number(sheet, "error", row_error(result, row, hits));
	sheet_count(sheet, "hits", hits);
}

void sheet_json_number(struct sheet *sheet, const char *name, double number)
{
	if (sheet->json)
		sheet_number(sheet, name, number);
}

void sheet_amount(struct sheet *sheet, const char *name, double amount)
{
	field(sheet, name);
	fprintf(sheet->out, "%.17g", amount);
}

void sheet_flag(struct sheet *sheet, const char *name, bool flag)
{
	field(sheet, name);
	fputs(flag ? "true" : "false", sheet->out);
}

void sheet_path_begin(struct sheet *sheet, const char *name)
{
	field(sheet, name);
	fputc(sheet->json ? '[' : '"', sheet->out);
}

void sheet_path_name(struct sheet *sheet, size_t index, const char *text)
{
	if (index > 0)
		fputs(sheet->json ? ", " : ";", sheet->out);
	if (sheet->json)
		json_string_write(sheet->out, text);
	else
		csv_inside(sheet, text);
}

void sheet_path_end(struct sheet *sheet)
{
	fputc(sheet->json ? ']' : '"', sheet->out);
}

void sheet_path(struct sheet *sheet, const char *name, const struct view *view, const uint32_t *labels, size_t length)
{
	sheet_path_begin(sheet, name);
	for (size_t i = 0; i < length; i++)
		sheet_path_name(sheet, i, view->labels[labels[i]].text);
	sheet_path_end(sheet);
}

void sheet_labels(struct sheet *sheet, const char *name, const struct label_group *group)
{
	field(sheet, name);
	labels_inside(sheet, group);
}

void sheet_row_end(struct sheet *sheet)
{
	fputs(sheet->json ? "}" : "\n", sheet->out);
}

void sheet_close(struct sheet *sheet, size_t left_out)
{
	sheet_table_close(sheet);
	if (sheet->json)
		fprintf(sheet->out, ", \"left_out\": %zu}", left_out);
}

void sheet_table_open(struct sheet *sheet, FILE *out, enum render_format format, const char *name,
		      const char *csv_header)
{
	*sheet = (struct sheet){ .out = out, .json = format == RENDER_JSON, .safe = is_terminal(out) };
	if (sheet->json)
		fprintf(out, "\"%s\": [", name);
	else
		fprintf(out, "%s\n", csv_header);
}

void sheet_table_close(struct sheet *sheet)
{
	if (sheet->json)
		fputs(sheet->rows ? "\n]" : "]", sheet->out);
}
