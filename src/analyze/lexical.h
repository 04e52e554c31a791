/*
 * Call paths in the nesting of the source: a function whose address another one takes becomes a child of that one.
 * The pairs come from the notes "taken" of the profile ("compare\tsort_rows\tfile.c:31"), and for nested functions (GNU
 * C) from the notes "nested" ("compare\tsort_rows").
 *
 *     main sort_rows qsort compare      becomes    main sort_rows compare
 *     main loop on_event                becomes    install on_event, if `install` takes its address
 *
 * In the second case, `install` is not on the path. A function stays below one that calls it by its name: the notes
 * "called" have such pairs ("compare\tfind_row"). A nested function also stays below one that can call it by its name:
 * another function nested in the same one.
 */
#ifndef ANALYZE_LEXICAL_H
#define ANALYZE_LEXICAL_H

#include <stdbool.h>

#include "base/error.h"
#include "profile/profile.h"

#define LEXICAL_NOTE "taken"         /* equal to TALLY_NOTE_TAKEN */
#define LEXICAL_NOTE_CALLED "called" /* equal to TALLY_NOTE_CALLED */

/* Returns whether the profile has such pairs. */
bool lexical_has_pairs(const struct profile *profile);

/* Changes the profile's tree. Returns how many functions were moved, or ERROR_MEMORY or ERROR_LIMIT; then the
 * profile is unchanged. */
int64_t lexical_paths(struct profile *profile);

#endif
