/* Two lists of paths side by side. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/analyses.h"
#include "base/buffer.h"
#include "base/strings.h"

void diff_list_free(struct diff_list *list)
{
	if (!list)
		return;
	if (list->texts)
		strings_release(list->texts);
	free(list->texts);
	free(list->entries);
	free(list);
}

/* The path's text as an id in `texts`. */
static int64_t path_text(struct strings *texts, const struct view *view, const struct path_list *list,
			 const struct path_entry *entry, struct buffer *scratch)
{
	const uint32_t *labels = path_labels(list, entry);
	buffer_clear(scratch);
	for (uint32_t i = 0; i < entry->length; i++) {
		if (i > 0)
			buffer_append_byte(scratch, ' ');
		buffer_append_string(scratch, view->labels[labels[i]].text);
	}
	if (buffer_error(scratch))
		return ERROR_MEMORY;
	return strings_add(texts, (const char *)scratch->bytes, scratch->size);
}

/* Pooled two-proportion z test (as in any text book: Fleiss, "Statistical Methods
 * for Rates and Proportions", 1981, section 2.3), on independent samples. */
static double two_proportions(const struct diff_entry *entry, uint64_t samples_a, uint64_t samples_b)
{
	double n_a = (double)samples_a, n_b = (double)samples_b;
	if (samples_a == 0 || samples_b == 0)
		return 0;
	double pooled = (entry->fraction_a * n_a + entry->fraction_b * n_b) / (n_a + n_b);
	double variance = pooled * (1 - pooled) * (1 / n_a + 1 / n_b);
	return variance > 0 ? (entry->fraction_b - entry->fraction_a) / sqrt(variance) : 0;
}

static double fraction(uint64_t hits, uint64_t total)
{
	return total ? (double)hits / (double)total : 0;
}

static void finish_entry(struct diff_entry *entry, const struct view *a, const struct view *b)
{
	bool exact = a->resource->kind == RESOURCE_EXACT || b->resource->kind == RESOURCE_EXACT;
	entry->fraction_a = fraction(entry->hits_a, a->total);
	entry->fraction_b = fraction(entry->hits_b, b->total);
	entry->gticks_a = (double)entry->hits_a * (double)a->resource->interval;
	entry->gticks_b = (double)entry->hits_b * (double)b->resource->interval;
	entry->z = exact ? 0 : two_proportions(entry, a->samples, b->samples);
	/* 1.96: 95 % of the differences that are mere chance are smaller. */
	entry->significant = exact ? entry->gticks_a != entry->gticks_b : fabs(entry->z) >= 1.96;
}

static int compare_entries(const void *left, const void *right)
{
	const struct diff_entry *a = left, *b = right;
	double change_a = fabs(a->fraction_b - a->fraction_a), change_b = fabs(b->fraction_b - b->fraction_a);
	if (change_a != change_b)
		return change_a < change_b ? 1 : -1;
	return strcmp(a->path, b->path);
}

/* Adds one side; an entry's index is its path's text id. */
static int add_side(struct diff_list *list, const struct view *view, const struct path_list *paths,
		    struct buffer *scratch, bool is_b)
{
	for (size_t i = 0; i < paths->count; i++) {
		int64_t text = path_text(list->texts, view, paths, &paths->entries[i], scratch);
		if (text < 0)
			return (int)text;
		struct diff_entry *entry = &list->entries[text];
		*(is_b ? &entry->hits_b : &entry->hits_a) += paths->entries[i].hits;
	}
	return 0;
}

static int compare(struct diff_list *list, const struct view *view_a, const struct path_list *a,
		   const struct view *view_b, const struct path_list *b)
{
	struct buffer scratch;
	buffer_init(&scratch);
	int result = add_side(list, view_a, a, &scratch, false);
	if (result == 0)
		result = add_side(list, view_b, b, &scratch, true);
	buffer_release(&scratch);
	if (result < 0)
		return result;
	for (size_t i = 0; i < list->texts->count; i++) {
		struct diff_entry entry = list->entries[i];
		if (entry.hits_a == 0 && entry.hits_b == 0)
			continue; /* text 0, the empty one, is no path */
		entry.path = list->texts->texts[i];
		finish_entry(&entry, view_a, view_b);
		list->entries[list->count++] = entry;
	}
	qsort(list->entries, list->count, sizeof(*list->entries), compare_entries);
	return 0;
}

struct diff_list *analyze_diff(const struct view *view_a, const struct path_list *a, const struct view *view_b,
			       const struct path_list *b, struct error *error)
{
	struct diff_list *list = calloc(1, sizeof(*list));
	if (list) {
		list->entries = calloc(a->count + b->count + 1, sizeof(*list->entries));
		list->texts = calloc(1, sizeof(*list->texts));
	}
	bool ready = list && list->entries && list->texts && strings_init(list->texts) == 0;
	if (list && !ready) {
		free(list->texts);
		list->texts = NULL;
	}
	int result = ready ? compare(list, view_a, a, view_b, b) : ERROR_MEMORY;
	if (result == 0)
		return list;
	diff_list_free(list);
	error_set(error, result, "the profiles cannot be compared: %s", error_text(result));
	return NULL;
}
