/*
 * The table of reports, one row each. A row describes how a user requests the report (an
 * option of `cpprof report`, a command of `explore`), which options it refuses and why, what it needs, and which
 * functions build its results. Help, manual page, completion, `explore`, `diff`, text, JSON and CSV are derived from
 * the row.
 *
 * Life cycle of a request: fill in a struct report_request, call report_prepare, then report_build, or
 * report_build_resource for one resource after the other. Builders print nothing and open no files: code comes from request->code.
 */
#ifndef REPORTS_REPORT_H
#define REPORTS_REPORT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analyze/settings.h"
#include "base/error.h"
#include "profile/code.h"
#include "profile/profile.h"
#include "render/result.h"

/* Options that a report may refuse: settings (enum setting_bit), and these. */
enum report_option { REPORT_GROUP = SETTING_END, REPORT_BY_LABEL = SETTING_END << 1 };

/* The value that follows a report's name. */
enum report_argument {
	REPORT_TAKES_NOTHING,
	REPORT_TAKES_FUNCTION,
	REPORT_TAKES_SUBTREE, /* `explore` only: an optional function */
	REPORT_TAKES_KEY,     /* an optional key of labels */
	REPORT_TAKES_PATH,    /* function names joined by ';' */
	REPORT_TAKES_TERMS,   /* PATH=FACTOR...: in `explore` and a separate command, never an option */
};

enum report_needs {
	REPORT_NEEDS_ADDRESSES = 1 << 0, /* samples with the addresses that they touched */
	REPORT_NEEDS_LABELS = 1 << 1,
	/* Combined with another report, it divides that report into one section for each group of labels. */
	REPORT_DIVIDES = 1 << 2,
	/* Shows figures of all ranks of a job. Combined with a list, it shows the entries of that list. */
	REPORT_OVER_RANKS = 1 << 3,
	REPORT_NEEDS_OWNERS = 1 << 4, /* the threads and processes of hits */
};

struct report_request;

/* Fills in the members of `result` that its type prints; type, heading, view and root are already set. `roots` are
 * the labels of request->root in the view, empty if there are none. Returns 0, ERROR_NOT_FOUND if this resource does
 * not have the requested data, or another negative error. */
typedef int report_builder(const struct report_request *request, const struct label_set *roots, struct result *result,
			   struct error *error);

enum { REPORT_PARTS = 2, REPORT_REFUSALS = 3 };

struct report {
	const char *name;    /* `report --NAME`, `explore` NAME */
	const char *command; /* its name in `explore`, if different */
	char letter;         /* `report -L`; 0: none */
	enum report_argument argument;
	/* of the option: one sentence without a full stop; NULL: `report` has no such option */
	const char *help;
	const char *summary; /* of the command: one line without a full stop */
	const char *detail;  /* text that `help COMMAND` appends: lines that end in '\n'; or NULL */

	/* The report that this one changes and whose option must be given too, with the function: "source" for --source
	 * FN --counts. NULL: none. */
	const char *refines;
	unsigned needs; /* enum report_needs */
	struct {
		unsigned options;   /* enum setting_bit, enum report_option */
		const char *reason; /* "it shows all lines of a function" */
	} refuses[REPORT_REFUSALS]; /* ended by options == 0 */
	bool fixes_by;              /* frames are shown by `by`, and the request's value is ignored */
	enum view_by by;

	/* Checks that the profile has the data that all results need. Returns 0, or ERROR_NOT_FOUND with the remedy.
	 * NULL: every profile has it. */
	int (*check)(const struct profile *profile, struct error *error);
	/* Keeps the elements of request->resources that the report can show, or replaces them if the user named none.
	 * NULL: it can show all. */
	int (*choose)(struct report_request *request, struct error *error);

	/* One result is built for each resource and part. The list ends at a part without a heading. */
	struct report_part {
		const char *heading; /* "Function Profile" */
		const struct result_type *type;
		report_builder *build;
	} parts[REPORT_PARTS];
};

/* The reports, in the order in which help shows them. A new one is a file with one struct, and its name here. */
/* clang-format off */
#define REPORTS(X) \
	X(functions) X(summary) X(body) X(down) X(up) X(tree) X(inverted) X(source) X(lines) X(asm) X(counts) \
	X(pages) X(call_graph) X(modules) X(processes) X(process_tree) X(threads) X(by_label) X(ranks) X(groups) \
	X(path) X(what_if)
/* clang-format on */
#define X(name) extern const struct report report_##name;
REPORTS(X)
#undef X
#define X(name) +1
enum { REPORTS_MAX = REPORTS(X) };
#undef X

/* The source of views and functions, for a caller that keeps views and caches lookups. */
struct report_source {
	/* Returns a view that the caller of the report owns, valid until the result is printed; or NULL and sets
	 * `error`. */
	const struct view *(*view)(void *context, const struct view_options *options, struct error *error);
	/* Like lookup_functions. */
	int (*roots)(void *context, const struct view *view, const char *name, struct label_set *roots,
		     struct error *error);
	void *context;
};

/* All pointers belong to the caller and must outlive the results. */
struct report_request {
	const struct report *report;
	const struct profile *profile;
	struct view_options view; /* its `resource` is set for each resource */
	uint32_t *resources;      /* [resource_count], with room for at least one */
	size_t resource_count;
	bool resources_named; /* the user named them */
	bool is_raw;          /* report_prepare replaces corrected times by their COMPANION_RAW */

	const char *root;         /* a function's name, or the text of REPORT_TAKES_PATH; or NULL */
	const char *const *terms; /* [term_count]: the terms of a what-if */
	size_t term_count;
	const char *group; /* pattern: only entries whose innermost function is in a matching group; NULL: all */
	bool is_divided;   /* one section for each group of labels */
	const char *key;   /* key of the labels; NULL: whole label sets */
	bool over_ranks;   /* figures of all ranks, of a report that is a list */
	double threshold;  /* for sections: the smallest fraction, and `limit` their largest number */
	size_t limit;

	const struct code_source *code;     /* where --asm gets machine code; NULL: there is none */
	const struct report_source *source; /* NULL: views are made here and freed with the results */
	uint32_t label_key;                 /* set by report_prepare */
};

extern const struct report *const reports[]; /* NULL-terminated */

/* Returns the report with that name, or NULL. */
const struct report *report_find(const char *name);

/* Returns the reason why the report refuses any of these options, or NULL if it accepts all. */
const char *report_refuses(const struct report *report, unsigned options);

/* Returns whether all its parts are lists, which `diff` can compare. */
bool report_is_list(const struct report *report);

/* Chooses resources and looks up the key of the labels. Returns 0 or a negative error. */
int report_prepare(struct report_request *request, struct error *error);

/* Appends the results of one resource. If the resource does not have the requested data, its result has `missing`
 * set. Returns 0 or a negative error. */
int report_build_resource(const struct report_request *request, uint32_t resource, struct results *results,
			  struct error *error);

/* Appends the results of all resources of the request. Returns 0 or a negative error; ERROR_NOT_FOUND also if no
 * resource with hits has the requested data. */
int report_build(const struct report_request *request, struct results *results, struct error *error);

/* Returns how many leading groups pass both threshold and limit. Sets *reaching to the number that pass the
 * threshold. */
size_t report_groups_shown(const struct view *view, const struct label_group_list *list, double threshold, size_t limit,
			   size_t *reaching);

/* The types whose entries are single names, or call paths. */
extern const struct result_type result_names, result_paths;

#endif
