/*
 * The state of one run of the loop: what is selected, the views made so far,
 * and the list of candidates that `#2` refers to. Commands (ui/explore/command.h)
 * read and change it.
 */
#ifndef UI_EXPLORE_SESSION_H
#define UI_EXPLORE_SESSION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "analyze/view.h"
#include "base/error.h"
#include "profile/profile.h"
#include "render/render.h"
#include "ui/explore/explore.h"

/* A view of a large profile takes tens of MB: only the latest few are kept. */
enum { SESSION_VIEWS = 8, SESSION_CANDIDATES = 20 };

struct session_candidate {
	char *text;        /* what the function is called; owned */
	uint32_t function; /* index in functions, or PROFILE_NONE */
};

struct session {
	struct profile *profile;               /* the caller's */
	const struct explore_options *options; /* the caller's */

	uint32_t *resources; /* [resource_count]: the chosen ones, in the profile's order; owned */
	size_t resource_count;
	bool resources_named;          /* by the user */
	struct view_options selection; /* its `resource` is set for each view */
	bool *processes;               /* selection.processes: owned */
	bool *label_sets;              /* selection.label_sets: owned */
	char *label_words;             /* what chose them, owned; NULL: all are */
	struct render_options render;

	struct view *views[SESSION_VIEWS]; /* latest used first; NULL behind the last */

	/* What an ambiguous name may have meant: `#1` and so on. */
	struct session_candidate candidates[SESSION_CANDIDATES];
	size_t candidate_count;
	size_t candidate_total; /* how many the name fitted in all */
	bool candidates_news;   /* not shown yet */

	uint64_t failed; /* commands that failed */
	bool quit;
};

/* One resource, the first, is chosen at first. Returns 0 or ERROR_MEMORY. */
int session_init(struct session *session, struct profile *profile, const struct explore_options *options,
		 struct error *error);
void session_release(struct session *session);

/* Makes `resources` (count of them) the chosen ones. */
int session_choose(struct session *session, const uint32_t *resources, size_t count, struct error *error);

/* The view of these options, made if it is not among the kept ones. It is the
 * session's, and valid until SESSION_VIEWS further calls. NULL: `error`. */
const struct view *session_view_of(struct session *session, const struct view_options *options, struct error *error);

/* ... of the selection, for one resource. */
const struct view *session_view(struct session *session, uint32_t resource, struct error *error);

/* The labels that `name` means in the view: a function's name, or `#2` of the last
 * list. If it fits several functions, ERROR_AMBIGUOUS, and the list is kept. The
 * set is the caller's: label_set_release. */
int session_labels(struct session *session, const struct view *view, const char *name, struct label_set *labels,
		   struct error *error);

/* Prints the list that the last ambiguous name left, once. */
void session_print_candidates(struct session *session, FILE *out);

#endif
