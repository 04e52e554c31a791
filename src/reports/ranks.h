/* Lists over the ranks of a parallel job: for build.c. */
#ifndef REPORTS_RANKS_H
#define REPORTS_RANKS_H

#include <stdbool.h>

#include "analyze/ranks.h"
#include "reports/report.h"

/* Returns whether the request is for figures of all ranks. The view then selects label sets that have a rank (rank_label_sets), and has view_node. */
bool ranks_are_compared(const struct report_request *request);

/* Makes a result with `paths` a result over the ranks, with the lists that `part` builds for each of them. Returns 0 or a negative error. */
int ranks_compare(const struct report_request *request, const struct report_part *part, const struct label_set *roots,
		  struct result *result, struct error *error);

#endif
