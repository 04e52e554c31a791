/*
 * The errors of a corrected resource (profile/companion.h), by the rows of an analysis. The same analysis of the errors'
 * view has a row with the same path for each row that has an error: errors of several paths add up, as hits do.
 */
#ifndef ANALYZE_PATH_ERRORS_H
#define ANALYZE_PATH_ERRORS_H

#include <stdint.h>

#include "analyze/analyses.h"
#include "analyze/view.h"

/* The result of an analysis of a view: a list of its paths or, if `list` is NULL, the view itself or a subtree. */
struct path_rows {
	const struct view *view;
	const struct path_list *list;
};

/* Returns the hits that `errors` has for each row of `rows` (an entry of the list, or a node), 0 where it has none; or NULL
 * with `error` set: ERROR_MEMORY or ERROR_LIMIT. The caller frees the array. */
uint64_t *path_errors(const struct path_rows *rows, const struct path_rows *errors, struct error *error);

#endif
