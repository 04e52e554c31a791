/*
 * Finds the rows of a profile that a name from the user means.
 *
 * Each function returns 0, or a negative error. The error's text repeats the name and lists what the profile has:
 * similar names, or all names of a short list. ERROR_USAGE: the text cannot be a name of this kind. ERROR_NOT_FOUND:
 * no row has the name. ERROR_AMBIGUOUS: several rows have it. Results are written only on success.
 */
#ifndef ANALYZE_LOOKUP_H
#define ANALYZE_LOOKUP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analyze/analyses.h"
#include "analyze/view.h"
#include "base/error.h"
#include "profile/profile.h"

/* Sets ERROR_NOT_FOUND for a profile without resources. */
int lookup_no_resources(struct error *error);

/* Finds a resource by name ("page-faults"), by title ("Page Faults") or by a unique prefix of its name. */
int lookup_resource(const struct profile *profile, const char *text, uint32_t *resource, struct error *error);

/* Finds a thread by TID or name. "all" gives VIEW_ANY. "#3" is row 3 of the profile's table, for threads that share
 * a TID or a name. A name of several threads is ambiguous; the error lists their TIDs. */
int lookup_thread(const struct profile *profile, const char *text, uint32_t *thread, struct error *error);

/* Finds all processes with this PID, name or row ("#3"). Sets their elements of `chosen` [profile->process_count]
 * and leaves the others unchanged. */
int lookup_process(const struct profile *profile, const char *text, bool *chosen, struct error *error);
/* Finds processes by control group. `pattern` is a path, which includes all groups below it, or a shell pattern
 * ("*docker*"). Without a leading slash it may match from any component of the path: "cron.service". Sets `chosen`
 * like lookup_process. */
int lookup_cgroup(const struct profile *profile, const char *pattern, bool *chosen, struct error *error);

/* Finds label sets and writes `chosen` [profile->label_set_count]. "tenant=acme" matches sets with that value,
 * "tenant" sets with that key. Several values of one key are alternatives; several keys must all match. */
int lookup_label_sets(const struct profile *profile, const char *const *texts, size_t count, bool *chosen,
		      struct error *error);
/* Finds a key of the profile's labels. Sets *key to its string id. */
int lookup_label_key(const struct profile *profile, const char *text, uint32_t *key, struct error *error);

/* Finds the labels of the function (module, group) with this name, by the rules of view_find. The labels belong to
 * one function, or to the mains of several programs. Removes surrounding quotes from the name first. An error is
 * like "no function 'qsrot' (did you mean qsort?)". The caller releases the set with label_set_release. */
int lookup_functions(const struct view *view, const char *name, struct label_set *labels, struct error *error);

/* Reads what-if terms: "main;uniquify_db;qsort=0" is a path from its outermost function inwards, and the factor of
 * its cost ("0.5" or "50%"). */
struct lookup_what_if {
	struct what_if *paths; /* [count], for analyze_what_if; the paths and their steps are owned */
	size_t count;
};
int lookup_what_if_init(struct lookup_what_if *what_if, const struct view *view, const char *const *terms, size_t count,
			struct error *error);
/* Reads one path without a factor, "main;uniquify_db;qsort", which gets factor 1. */
int lookup_path_init(struct lookup_what_if *path, const struct view *view, const char *text, struct error *error);
void lookup_what_if_release(struct lookup_what_if *what_if); /* accepts {0} */

#endif
