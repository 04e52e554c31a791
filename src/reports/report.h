/*
 * Reports: one row each, in the order of reports.c. A row describes how a user
 * asks for the report (an option of `cpprof report`, a command of `explore`),
 * which options it does not accept and why, what it needs, and which functions
 * build its results. Help, manual page, completion, `explore`, `diff`, text,
 * JSON and CSV follow from the row.
 *
 * Life cycle of a request: fill in a struct report_request, report_prepare,
 * then report_build, or report_build_resource for one resource after the other.
 * Nothing here prints or opens files.
 */
#ifndef REPORTS_REPORT_H
#define REPORTS_REPORT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analyze/view.h"
#include "base/error.h"
#include "profile/profile.h"
#include "reports/result.h"

/* Options that a report may refuse. */
enum report_option {
	REPORT_THRESHOLD = 1 << 0,
	REPORT_LIMIT = 1 << 1,
	REPORT_BY = 1 << 2,
	REPORT_THREAD = 1 << 3,
	REPORT_PROCESS = 1 << 4,
	REPORT_CGROUP = 1 << 5,
	REPORT_LABEL = 1 << 6,
	REPORT_TIME = 1 << 7,
	REPORT_GROUP = 1 << 8,
	REPORT_BY_LABEL = 1 << 9,
	/* What selects hits. */
	REPORT_SELECTION = REPORT_THREAD | REPORT_PROCESS | REPORT_CGROUP | REPORT_LABEL | REPORT_TIME,
};

/* The value that follows a report's name. */
enum report_argument {
	REPORT_TAKES_NOTHING,
	REPORT_TAKES_FUNCTION,
	REPORT_TAKES_SUBTREE, /* `explore` alone: a function, which may be left out */
	REPORT_TAKES_KEY,     /* a label's key, which may be left out */
	REPORT_TAKES_TERMS,   /* `explore` and a command of its own, never an option: PATH=FACTOR... */
};

enum report_needs {
	REPORT_NEEDS_ADDRESSES = 1 << 0, /* samples with the addresses that they touched */
	REPORT_NEEDS_LABELS = 1 << 1,
	/* Beside another report it divides that: one section for each group of labels. */
	REPORT_DIVIDES = 1 << 2,
};

struct report_request;

/* Fills in the members of `result` that its type names; type, heading, view and
 * root are set already. `roots`: the labels of request->root in the view, empty
 * if there are none. Returns 0, ERROR_NOT_FOUND if this resource does not have
 * what was asked for, or another negative error. */
typedef int report_builder(const struct report_request *request, const struct label_set *roots, struct result *result,
			   struct error *error);

enum { REPORTS_MAX = 40, REPORT_PARTS = 2, REPORT_REFUSALS = 3 };

struct report {
	const char *name;    /* `report --NAME`, `explore` NAME */
	const char *command; /* its name in `explore`, if another */
	char letter;         /* `report -L`; 0: none */
	enum report_argument argument;
	const char *help;    /* of the option: one sentence without a full stop; NULL: `report` has none */
	const char *summary; /* of the command: one line without a full stop */
	const char *detail;  /* what `help COMMAND` adds, lines that end in '\n'; or NULL */

	/* The report whose option must be given beside this one's and carries the
	 * function: "source" for --source FN --counts. NULL: none. */
	const char *refines;
	unsigned needs; /* enum report_needs */
	struct {
		unsigned options;   /* enum report_option */
		const char *reason; /* "it shows all lines of a function" */
	} refuses[REPORT_REFUSALS]; /* ended by options == 0 */
	bool fixes_by;              /* frames are shown by `by`, whatever the request says */
	enum view_by by;

	/* Whether the profile has what all results need. 0, or ERROR_NOT_FOUND with the
	 * remedy. NULL: every profile has. */
	int (*check)(const struct profile *profile, struct error *error);
	/* Keeps those of request->resources that the report can show, or replaces
	 * them if the user named none. NULL: it can show all. */
	int (*choose)(struct report_request *request, struct error *error);

	/* One result for each resource and part; ended by a part without a heading. */
	struct report_part {
		const char *heading; /* "Function Profile" */
		enum result_type type;
		report_builder *build;
	} parts[REPORT_PARTS];
};

/* Where views and functions come from, for a caller that keeps views and
 * remembers names. */
struct report_source {
	/* The caller's, valid until the result is printed. NULL: `error`. */
	const struct view *(*view)(void *context, const struct view_options *options, struct error *error);
	/* As lookup_functions. */
	int (*roots)(void *context, const struct view *view, const char *name, struct label_set *roots,
		     struct error *error);
	void *context;
};

/* All pointers are the caller's and outlive the results. */
struct report_request {
	const struct report *report;
	const struct profile *profile;
	struct view_options view; /* its `resource` is set for each resource */
	uint32_t *resources;      /* [resource_count], with room for one at least */
	size_t resource_count;
	bool resources_named; /* by the user */

	const char *root;         /* a function's name, or NULL */
	const char *const *terms; /* [term_count], of a what-if */
	size_t term_count;
	const char *group; /* only entries whose innermost function's group fits this pattern; NULL: all */
	bool is_divided;   /* a section for each group of labels */
	const char *key;   /* of labels; NULL: whole label sets */
	double threshold;  /* of the sections */
	size_t limit;

	const struct report_source *source; /* NULL: views are made and freed with the results */
	uint32_t label_key;                 /* set by report_prepare */
};

/* At most REPORTS_MAX, NULL-terminated, in the order in which help shows them. */
extern const struct report *const reports[];

/* NULL: no report of that name. */
const struct report *report_find(const char *name);

/* Why the report does not accept any of these options; NULL: it accepts all. */
const char *report_refuses(const struct report *report, unsigned options);

/* Whether all parts of it are lists, which `diff` can compare. */
bool report_is_list(const struct report *report);

/* Chooses resources and resolves the labels' key. Returns 0 or a negative error. */
int report_prepare(struct report_request *request, struct error *error);

/* Appends the results of one resource. A resource that lacks what was asked for
 * has a result with `missing` set. Returns 0 or a negative error. */
int report_build_resource(const struct report_request *request, uint32_t resource, struct results *results,
			  struct error *error);

/* Appends the results of all resources of the request. Returns 0 or a negative
 * error; ERROR_NOT_FOUND also if every resource with hits lacks what was asked
 * for. */
int report_build(const struct report_request *request, struct results *results, struct error *error);

/* How many of the groups, from the first on, pass threshold and limit;
 * *reaching: the threshold alone. */
size_t report_groups_shown(const struct view *view, const struct label_group_list *list, double threshold, size_t limit,
			   size_t *reaching);

/* Builders that several reports share. */
report_builder build_functions, build_body;

#endif
