/* The source lines with most hits, over all files. */
#include <stdlib.h>
#include <string.h>

#include "analyze/analyses.h"
#include "analyze/own_labels.h"

static int by_body(const void *left, const void *right, void *context)
{
	const struct line_entry *a = left, *b = right;
	const struct profile *profile = context;
	if (a->body != b->body)
		return a->body < b->body ? 1 : -1;
	if (a->total != b->total)
		return a->total < b->total ? 1 : -1;
	int order = strcmp(profile_string(profile, a->file), profile_string(profile, b->file));
	return order ? order : (a->line > b->line) - (a->line < b->line);
}

/* Keeps the lines with hits of their own, most first. */
static void select_hot(struct line_list *lines, const struct profile *profile)
{
	size_t kept = 0;
	for (size_t i = 0; i < lines->count; i++)
		if (lines->entries[i].body > 0)
			lines->entries[kept++] = lines->entries[i];
	lines->count = kept;
	if (kept > 0) /* without lines, there is no array */
		qsort_r(lines->entries, kept, sizeof(*lines->entries), by_body, (void *)profile);
}

/* Returns the hot lines of all functions by their own hits, or the hot lines of own code by the hits that are charged to them. */
static struct line_list *find_hot(const struct view *view, bool is_own_code, struct error *error)
{
	struct label_set functions = { .labels = calloc(view->label_count + 1, sizeof(*functions.labels)) };
	bool *is_own = is_own_code ? own_labels_find(view) : NULL;
	if (!functions.labels || (is_own_code && !is_own)) {
		free(functions.labels);
		free(is_own);
		error_set(error, ERROR_MEMORY, "out of memory");
		return NULL;
	}
	for (uint32_t i = 0; i < view->label_count; i++)
		if (!is_own || is_own[i])
			functions.labels[functions.count++] = i;
	free(is_own);
	struct line_list *lines =
		is_own_code ? analyze_charged_lines(view, &functions, error) : analyze_lines(view, &functions, error);
	free(functions.labels);
	if (lines)
		select_hot(lines, view->profile);
	return lines;
}

struct line_list *analyze_hot_lines(const struct view *view, struct error *error)
{
	return find_hot(view, false, error);
}

struct line_list *analyze_hot_own_lines(const struct view *view, struct error *error)
{
	return find_hot(view, true, error);
}
