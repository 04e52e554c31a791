/* Compares two profiles: for each resource that both have, matches the lists of some reports entry by entry. */
#ifndef REPORTS_DIFF_H
#define REPORTS_DIFF_H

#include "reports/report.h"

enum { DIFF_SIDES = 2, DIFF_SECTIONS = 2 };

/* One list to compare. */
struct diff_section {
	const struct report *report; /* a report for which report_is_list is true */
	const char *root;            /* a function's name, or NULL */
	bool is_default;             /* the user did not request it: the root may be absent */
};

struct diff_request {
	const struct profile *profiles[DIFF_SIDES]; /* A and B; must outlive the results */
	const char *name_b;                         /* name of profile B's file, for errors */
	struct view_options view;                   /* its `resource` is set for each resource */
	const uint32_t *resources;                  /* [resource_count]: indexes in A */
	size_t resource_count;
	bool resources_named; /* the user named them: B must have all of them */
	struct diff_section sections[DIFF_SECTIONS];
	size_t section_count;
};

/* Appends a result for each common resource, each section and each part of the section's report. If neither profile
 * has the root of a default section, its result has `missing` set. Sets *uncompared to the reason why the first
 * resource that only A has is left out, or to code 0 if B has all of them. Returns 0 or a negative error. */
int diff_build(const struct diff_request *request, struct results *results, struct error *uncompared,
	       struct error *error);

#endif
