/* The kinds of profile that are lists of paths: one row each, for `report` and
 * `diff` alike. */
#ifndef CMD_MODES_H
#define CMD_MODES_H

#include "analyze/analyses.h"
#include "cmd/view_options.h"

enum {
	OPTION_FUNCTIONS = OPTION_OWN,
	OPTION_BODY,
	OPTION_DOWN,
	OPTION_UP,
	OPTION_GROUP,
	OPTION_MODE_END, /* ids from here on are free again */
};

struct mode {
	int id;              /* the option that asks for it */
	const char *heading; /* "Function Profile" */
	bool is_bare;        /* its entries are single names */
	/* roots: only if the option's value is a function */
	struct path_list *(*analyze)(const struct view *view, const struct label_set *roots, struct error *error);
};

extern const struct mode modes[]; /* ended by a row without a heading */

/* clang-format off */
#define ROWS_MODES(functions_help) \
	{ OPTION_FUNCTIONS, 'f', "functions", NULL, functions_help, NULL }, \
	{ OPTION_BODY, 'b', "body", NULL, "Each function without what it calls", NULL }, \
	{ OPTION_DOWN, 'd', "down", "FN", "The call paths that start at function FN, outermost first", NULL }, \
	{ OPTION_UP, 'u', "up", "FN", "The call paths that end at function FN", NULL }
/* A table has it where mode_report is told of the group. */
#define ROW_GROUP \
	{ OPTION_GROUP, 0, "group", "GROUP", "List only functions of this group, and paths that lead to them; with * and ?", NULL }
/* clang-format on */

const struct mode *mode_find(int option_id); /* NULL: that option is no mode */

/* Runs it and writes the result; `root`: what the roots are called. `group`: only entries are shown whose innermost
 * function is of a group that this pattern fits; NULL: all. Returns 0 or a negative error. */
int mode_report(const struct mode *mode, const struct view *view, const struct label_set *roots, const char *root,
		const char *group, const struct render_options *render, struct error *error);

#endif
