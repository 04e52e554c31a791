/*
 * Gives names to the profiles of a recording that goes on. Reading debug information costs more than all the rest, so the CPU time for it
 * has a budget (naming_budget.h), and addresses whose names were not searched yet are in a function that stands for their module.
 */
#ifndef COLLECT_LIVE_NAMER_H
#define COLLECT_LIVE_NAMER_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "collect/live/module_files.h"
#include "collect/live/naming_budget.h"
#include "frames/known_names.h"

struct namer {
	struct known_names names;
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

/* Gives an extract the names that are known, and those that are found quickly; the last extract gets all. Takes the extract in any case.
 * Returns its profile, which the caller owns; or NULL with `error` set. */
struct profile *namer_name(struct namer *namer, struct profile_extract *extract, bool is_last, struct error *error);

/* Searches the names that the last profile lacks, if that would have taken too long before; sets has_found. Returns 0 or a negative
 * error. */
int namer_goes_on(struct namer *namer, struct error *error);

#endif
