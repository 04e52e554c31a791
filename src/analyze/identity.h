/*
 * Which labels of two views are the same thing. Internal to analyze/.
 *
 * A label's text will not do: it says no more than is needed to tell the
 * functions of its own profile apart, "main" in one and "main@gzip" in another
 * that ran more programs. So each label is known by the least of these that
 * tells it from all other labels in both views:
 *
 *   0. the function's name              main
 *   1. and the module's last component  main@gzip
 *   2. and the source file's            parse@gzip:json.c
 *   3. the label's whole text
 *
 * with what the label says of a call site or line behind it. Thus the mains of
 * "app-old" and "app-new" are one, as long as either view knows but one main.
 */
#ifndef ANALYZE_IDENTITY_H
#define ANALYZE_IDENTITY_H

#include <stdint.h>

#include "analyze/view.h"
#include "base/strings.h"

enum { IDENTITY_SIDES = 2 };

struct identities {
	uint32_t *of_label[IDENTITY_SIDES]; /* per label of each view; owned */
	const char **names;                 /* [count], sorted: what to call each; owned, not what they point to */
	size_t count;
};

/* The names are added to `texts`. Returns 0 or a negative error, with nothing to release. */
int identities_init(struct identities *identities, const struct view *const views[IDENTITY_SIDES],
		    struct strings *texts);
void identities_release(struct identities *identities); /* {0} is fine */

#endif
