/*
 * Call paths as the source is written: a function whose address another one takes is shown under that, where the profile tells
 * of it (notes "taken": "compare\tsort_rows\tfile.c:31").
 *
 *     main sort_rows qsort compare      becomes    main sort_rows compare
 *     main loop on_event                becomes    install on_event, as `install` took it and is not on the path
 */
#ifndef ANALYZE_LEXICAL_H
#define ANALYZE_LEXICAL_H

#include "base/error.h"
#include "profile/profile.h"

#define LEXICAL_NOTE "taken" /* as TALLY_NOTE_TAKEN */

/* Changes the profile's tree. How many functions were moved, or ERROR_MEMORY, ERROR_LIMIT: then it is as it was. */
int64_t lexical_paths(struct profile *profile);

#endif
