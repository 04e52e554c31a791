/* Compares the profiles of two sides, A and B, each with one recording or several. For each resource that all profiles have, some of the
 * reports' lists are made for both sides, and the entries that are the same in both are compared. */
#ifndef REPORTS_DIFF_H
#define REPORTS_DIFF_H

#include "render/render.h"
#include "reports/report.h"

enum { DIFF_SECTIONS = 2 };

/* The type of its results. */
extern const struct result_type result_changes;

/* One list to compare. */
struct diff_section {
	const struct report *report; /* a report for which report_is_list is true */
	const char *root;            /* a function's name, or NULL */
	bool is_default;             /* the user did not request it: the root may be absent */
};

struct diff_request {
	const struct profile *const *profiles; /* the profiles of A, then the profiles of B; must outlive the results */
	const char *const *names;              /* of their files, for errors; NULL: A and B */
	size_t counts[DIFF_SIDES];             /* profiles of A and of B, each positive */
	const struct view_options *views;      /* for each profile; their `resource` is set for each resource */
	const uint32_t *resources;             /* [resource_count]: indexes in the first profile */
	size_t resource_count;
	bool shares;          /* compare shares: amounts are scaled to the mean total of A */
	double spread;        /* struct diff_run */
	bool resources_named; /* the user named them: all profiles must have all of them */
	struct diff_section sections[DIFF_SECTIONS];
	size_t section_count;
	const char *const
		*paths; /* [path_count]: "main;parse"; only entries with one of these paths are compared; 0: all are */
	size_t path_count;
	/* A gate: the marked changes by more than `limit` (0.05: 5 %) of entries that reach `threshold` get `exceeds`. */
	bool is_gate;
	double limit, threshold;
	double chance; /* the part of the marks that may be due to chance: DIFF_CHANCE */
};

/* Appends a result for each common resource, each section and each part of the section's report, and marks the entries of all of
 * them together (diff_mark). If no profile has the root of a default section, its result has `missing` set. With paths, results
 * without an entry are left out; a path that no result has is ERROR_NOT_FOUND. Sets *uncompared to the reason why the first resource
 * that a profile lacks is left out, or to code 0 if there is none. Returns 0 or a negative
 * error: ERROR_USAGE if a gate has single recordings of a resource that is not exact, or a profile lacks a resource that it compares. */
int diff_build(const struct diff_request *request, struct results *results, struct error *uncompared,
	       struct error *error);

/* --- printing: the end of a comparison with a gate, and a comparison as Markdown (diff_gate.c) --- */

/* Returns the number of entries that exceed the limit of the gate (diff_gate). */
size_t render_exceeding(const struct results *results);

/* Ends a document instead of render_end: prints the entries that exceed `limit` (0.05: 5 %). In JSON, they are the member "gate". */
void render_gate_end(struct render_document *document, const struct results *results, double limit);

/* Prints a comparison for a comment on a web page: a table of the totals, and one of the marked entries that reach
 * options->threshold, at most options->limit of each result. `limit`: as above; NAN: there is no gate. */
void render_diff_markdown(FILE *out, const struct results *results, double limit, const struct render_options *options);

#endif
