/*
 * The state of one run of the loop: the settings, a cache of views, and the list of candidates that `#2` refers to.
 * Commands (ui/explore/command.h) read and change it.
 */
#ifndef UI_EXPLORE_SESSION_H
#define UI_EXPLORE_SESSION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "analyze/settings.h"
#include "analyze/view_cache.h"
#include "base/error.h"
#include "profile/profile.h"
#include "render/render.h"
#include "ui/explore/options.h"

enum { SESSION_CANDIDATES = 20 };

struct session_candidate {
	char *text;        /* the function's name; owned */
	uint32_t function; /* index in functions, or PROFILE_NONE */
};

struct session {
	struct profile *profile;               /* not owned */
	const struct explore_options *options; /* not owned */

	struct settings
		settings;     /* its resources are in the profile's order; the view's resource is set for each view */
	bool resources_named; /* the user named them */
	struct render_options render;

	struct view_cache views;

	/* The functions that an ambiguous name may have meant: `#1` and so on. */
	struct session_candidate candidates[SESSION_CANDIDATES];
	size_t candidate_count;
	size_t candidate_total; /* number of all functions that matched the name */
	bool candidates_news;   /* not printed yet */

	uint64_t failed; /* number of commands that failed */
	bool quit;
};

/* Initializes a session in which only the first resource is chosen. Returns 0 or ERROR_MEMORY. */
int session_init(struct session *session, struct profile *profile, const struct explore_options *options,
		 struct error *error);
void session_release(struct session *session);

/* Returns the view with these options, and makes it if it is not in the cache; or NULL and sets `error`. The session
 * owns the view, which is valid until VIEW_CACHE_VIEWS further calls. */
const struct view *session_view_of(struct session *session, const struct view_options *options, struct error *error);

/* Returns the view of the selection for one resource, as above. */
const struct view *session_view(struct session *session, uint32_t resource, struct error *error);

/* Finds the labels in the view that `name` means: a function's name, or `#2` of the last list. If several functions
 * match, stores a list of them and returns ERROR_AMBIGUOUS. The caller releases the set with label_set_release. */
int session_labels(struct session *session, const struct view *view, const char *name, struct label_set *labels,
		   struct error *error);

/* Prints the list that the last ambiguous name left, once. */
void session_print_candidates(struct session *session, FILE *out);

/* --- the amount that was recorded of each resource, in one pass over the hits --- */

/* Returns [resource_count] totals: samples, or gticks of an exact resource. The caller frees the array. Returns
 * NULL: ERROR_MEMORY. */
uint64_t *totals_new(const struct profile *profile, struct error *error);

/* Prints "2676 samples" or "12 calls". */
void totals_print(FILE *out, const struct profile *profile, uint32_t resource, uint64_t total);

#endif
