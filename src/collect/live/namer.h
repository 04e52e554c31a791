/*
 * Gives names to the profiles of a recording that goes on. Reading debug information costs more
 * than all the rest, so the CPU time for it has a budget (naming_budget.h), and addresses whose
 * names were not searched yet are in a function that stands for their module.
 */
#ifndef COLLECT_LIVE_NAMER_H
#define COLLECT_LIVE_NAMER_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "collect/live/module_files.h"
#include "frames/name_cache.h"

/*
 * naming_budget.c: the CPU time that searches of names may take while a recording goes on.
 *
 * A search costs about the same for one address of a file as for many: the file's symbols and debug
 * information are read each time. So files with few of the hits wait until time is left over:
 *
 *   no credit                    nothing is searched
 *   some credit                  the files with addresses without a name on the paths of at least 1 % of all hits
 *   at least half of the most    all files
 */

struct naming_budget {
	double credit_ns;     /* may be used; negative after a search that took more */
	double extra_ns;      /* left of the time that is given for hits without a name */
	uint64_t credited_ns; /* the time until which credit was given; 0: none yet */
};

void naming_budget_init(struct naming_budget *budget);

/* Gives the credit for the time until `now_ns`, in which this was lacking. */
void naming_budget_grant(struct naming_budget *budget, const struct name_cache_lack *lack, uint64_t now_ns);

/* Takes what a search used. */
void naming_budget_use(struct naming_budget *budget, uint64_t cpu_ns);

/* Returns whether a search may begin, and sets *hits_min to the hits without a name that a file must have. */
bool naming_budget_permits(const struct naming_budget *budget, const struct name_cache_lack *lack, uint64_t *hits_min);

struct namer {
	struct name_cache names;
	struct module_files *files; /* not owned */
	struct naming_budget budget;
	uint64_t took_ns;  /* the last search took so long; 0: none yet */
	bool lacks;        /* the last profile has addresses whose names may be searched now */
	uint64_t hits_min; /* ... in modules with so many hits without a name */
	bool has_found;    /* they were found after it was made */
};

/* Returns 0 or ERROR_MEMORY. */
int namer_init(struct namer *namer, struct module_files *files);
void namer_release(struct namer *namer);

/* Gives an extract the names that are known, and those that are found quickly; the last extract
 * gets all. Takes the extract in any case. Returns its profile, which the caller owns; or NULL
 * with `error` set. */
struct profile *namer_name(struct namer *namer, struct profile_extract *extract, bool is_last, struct error *error);

/* Searches the names that the last profile lacks, if that would have taken too long before; sets
 * has_found. Returns 0 or a negative error. */
int namer_continue(struct namer *namer, struct error *error);

#endif
