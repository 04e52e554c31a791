/*
 * `cpprof browse`: a profile, or two, on the whole screen of a terminal. It shows the results of reports/ and the trees of
 * analyze/; it computes no figure itself.
 */
#ifndef UI_BROWSE_BROWSE_H
#define UI_BROWSE_BROWSE_H

#include <stdbool.h>
#include <stdio.h>

#include "analyze/view.h"
#include "base/error.h"
#include "profile/code.h"
#include "profile/profile.h"

/* A source of profiles that follow each other, for `cpprof top`. */
struct browse_feed {
	void *context;
	int descriptor;  /* readable when there is something new */
	double window_s; /* what a profile covers */
	/* Returns a newer profile, which the browser then owns; or NULL: there is none. */
	struct profile *(*take)(void *context);
	/* Writes a warning that was not returned before, or "". Returns whether no other profile comes. */
	bool (*state)(void *context, char *warning, size_t bytes);
};

struct browse_options {
	const struct profile *profiles[2]; /* the second is NULL, or compared with the first */
	const char *names[2];              /* of their files */
	struct view_options selection;     /* what is shown first */
	const struct code_source *code;    /* of the disassembly screen; NULL: there is none */
	bool colour;
	/* NULL: the profiles do not change. Otherwise the browser owns profiles[0] and shows the newest in its place. */
	const struct browse_feed *feed;
	const char *first_screen; /* the name of the first screen; NULL: the tree, or what changed */
};

/* Shows the profiles until the user ends it. Returns 0; or a negative error, ERROR_UNSUPPORTED for a terminal without a known type; or
 * the number of the signal that ended it, after the terminal was restored: the caller raises it again. The caller keeps the
 * profiles. */
int browse_run(const struct browse_options *options, struct error *error);

/* Prints the table of keys, one per line: for the manual and --help. */
void browse_print_keys(FILE *out);

#endif
