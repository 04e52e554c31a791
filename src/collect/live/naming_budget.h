/*
 * The CPU time that searches of names may take while a recording goes on.
 *
 * A search costs about the same for one address of a file as for many: the file's symbols and debug information are read each time. So
 * files with few of the hits wait until time is left over:
 *
 *   no credit                    nothing is searched
 *   some credit                  the files with addresses without a name on the paths of at least 1 % of all hits
 *   at least half of the most    all files
 */
#ifndef COLLECT_LIVE_NAMING_BUDGET_H
#define COLLECT_LIVE_NAMING_BUDGET_H

#include <stdbool.h>
#include <stdint.h>

#include "frames/known_names.h"

struct naming_budget {
	double credit_ns;     /* may be used; negative after a search that took more */
	double extra_ns;      /* left of the time that is given for hits without a name */
	uint64_t credited_ns; /* the time until which credit was given; 0: none yet */
};

void naming_budget_init(struct naming_budget *budget);

/* Gives the credit for the time until `now_ns`, in which this was lacking. */
void naming_budget_grant(struct naming_budget *budget, const struct known_names_lack *lack, uint64_t now_ns);

/* Takes what a search used. */
void naming_budget_use(struct naming_budget *budget, uint64_t cpu_ns);

/* Returns whether a search may begin, and sets *hits_min to the hits without a name that a file must have. */
bool naming_budget_permits(const struct naming_budget *budget, const struct known_names_lack *lack, uint64_t *hits_min);

#endif
