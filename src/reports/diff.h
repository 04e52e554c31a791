/*
 * Two profiles compared: for each resource that both have, the lists of some
 * reports, matched entry by entry.
 */
#ifndef REPORTS_DIFF_H
#define REPORTS_DIFF_H

#include "reports/report.h"

enum { DIFF_SIDES = 2, DIFF_SECTIONS = 2 };

/* One list to compare. */
struct diff_section {
	const struct report *report; /* report_is_list */
	const char *root;            /* a function's name, or NULL */
	bool is_default;             /* the user did not ask for it: the root may be absent */
};

struct diff_request {
	const struct profile *profiles[DIFF_SIDES]; /* A and B; outlive the results */
	const char *name_b;                         /* of profile B's file, for errors */
	struct view_options view;                   /* its `resource` is set for each resource */
	const uint32_t *resources;                  /* [resource_count], of A */
	size_t resource_count;
	bool resources_named; /* by the user: B must have them all */
	struct diff_section sections[DIFF_SECTIONS];
	size_t section_count;
};

/* Appends a result for each common resource, section and part of its report. A
 * default section whose root neither profile has gets a result with `missing`
 * set. `uncompared`: why the first of the resources that only A has is left
 * out; code 0: B has them all. Returns 0 or a negative error. */
int diff_build(const struct diff_request *request, struct results *results, struct error *uncompared,
	       struct error *error);

#endif
