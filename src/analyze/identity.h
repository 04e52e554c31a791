/*
 * Identities of labels: which labels of several views mean the same function. Internal to analyze/.
 *
 * The texts of labels cannot be compared. A text has only the suffix that its own profile needs, so that a function
 * is "main" in one profile and "main@gzip" in another that contains more programs. A label's identity is therefore
 * the first of these that is unique in each view:
 *
 *   0. the function's name              main
 *   1. and the module's last component  main@gzip
 *   2. and the source file's            parse@gzip:json.c
 *   3. the label's whole text
 *
 * followed by the label's call site or line, if it has one. So the mains of "app-old" and "app-new" are one function
 * if each view has only one main.
 */
#ifndef ANALYZE_IDENTITY_H
#define ANALYZE_IDENTITY_H

#include <stdint.h>

#include "analyze/view.h"
#include "base/strings.h"

struct identities {
	uint32_t **of_label; /* [view_count]: per label of each view, its identity; owned */
	size_t view_count;
	/* [count], sorted: displayed names; the array is owned, the texts are not */
	const char **names;
	size_t count;
};

/* Adds the names to `texts`. Returns 0, or a negative error; then there is nothing to release. */
int identities_init(struct identities *identities, const struct view *const *views, size_t view_count,
		    struct strings *texts);
void identities_release(struct identities *identities); /* accepts {0} */

#endif
