#include "optimize/builds.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/source_counts.h"
#include "base/array.h"
#include "base/buffer.h"
#include "base/compare.h"

enum { BEFORE, AFTER, PRINTED_MAX = 8 };

/* Three standard deviations: one of a few hundred contexts exceeds them by chance. */
static const double deviations = 3;

struct row {
	char *path; /* owned: "main > digest > each" */
	uint64_t hits[2];
};

struct rows {
	struct row *items;
	size_t count, capacity;
};

static void append_path(struct buffer *text, const struct source_counts *counts, uint32_t context)
{
	const struct source_context *row = &counts->contexts[context];
	if (row->parent != PROFILE_NONE) {
		append_path(text, counts, row->parent);
		buffer_append_string(text, " > ");
	}
	buffer_append_string(text, counts->functions[row->function].name);
}

static int add_row(struct rows *rows, const struct source_counts *counts, uint32_t context, int which)
{
	struct buffer text;
	buffer_init(&text);
	append_path(&text, counts, context);
	buffer_append_byte(&text, 0);
	char *path = buffer_error(&text) == 0 ? strdup((const char *)text.bytes) : NULL;
	buffer_release(&text);
	if (!path || ARRAY_RESERVE(rows->items, rows->capacity, rows->count + 1) < 0) {
		free(path);
		return ERROR_MEMORY;
	}
	struct row *row = &rows->items[rows->count++];
	*row = (struct row){ .path = path };
	row->hits[which] = counts->contexts[context].hits;
	return 0;
}

static int add_rows(struct rows *rows, const struct profile *profile, int which, struct error *error)
{
	struct source_counts *counts = source_counts_new(profile, 0, NEST_ALL, error);
	int code = counts ? 0 : error->code;
	for (uint32_t i = 0; counts && i < counts->context_count && code == 0; i++)
		if (counts->contexts[i].hits > 0)
			code = add_row(rows, counts, i, which);
	source_counts_free(counts);
	return code;
}

static int by_path(const void *left, const void *right)
{
	return strcmp(((const struct row *)left)->path, ((const struct row *)right)->path);
}

static double saved(const struct row *row)
{
	return (double)row->hits[BEFORE] - (double)row->hits[AFTER];
}

static int by_saving(const void *left, const void *right)
{
	return COMPARE(saved(right), saved(left)) ?: by_path(left, right);
}

/* Adds up the rows of one path. */
static void merge(struct rows *rows)
{
	size_t kept = 0;
	qsort(rows->items, rows->count, sizeof(*rows->items), by_path);
	for (size_t i = 0; i < rows->count; i++) {
		struct row *row = &rows->items[i];
		if (kept > 0 && strcmp(rows->items[kept - 1].path, row->path) == 0) {
			rows->items[kept - 1].hits[BEFORE] += row->hits[BEFORE];
			rows->items[kept - 1].hits[AFTER] += row->hits[AFTER];
			free(row->path);
		} else {
			rows->items[kept++] = *row;
		}
	}
	rows->count = kept;
	qsort(rows->items, rows->count, sizeof(*rows->items), by_saving);
}

static void print(FILE *out, const struct rows *rows)
{
	bool any = false;
	for (size_t i = 0; i < rows->count && i < PRINTED_MAX; i++) {
		const struct row *row = &rows->items[i];
		if (saved(row) <= deviations * sqrt((double)row->hits[BEFORE] + (double)row->hits[AFTER]))
			break;
		if (!any)
			fputs("\nContexts that paid (hits in the function itself; a call that is inlined otherwise can "
			      "move hits to other contexts)\n    before     after\n",
			      out);
		fprintf(out, "%10" PRIu64 "%10" PRIu64 "  %s\n", row->hits[BEFORE], row->hits[AFTER], row->path);
		any = true;
	}
	if (!any)
		fputs("\nNo context has fewer hits than before by more than chance explains\n", out);
}

int optimize_print_contexts(FILE *out, const struct profile *before, const struct profile *after, struct error *error)
{
	struct rows rows = { 0 };
	int code = add_rows(&rows, before, BEFORE, error);
	if (code == 0)
		code = add_rows(&rows, after, AFTER, error);
	if (code == 0 && rows.count > 0) {
		merge(&rows);
		print(out, &rows);
	}
	for (size_t i = 0; i < rows.count; i++)
		free(rows.items[i].path);
	free(rows.items);
	if (code == ERROR_MEMORY && error->code == 0)
		error_set(error, code, "out of memory");
	return code;
}
