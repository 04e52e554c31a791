/*
 * The rows of a profile that a name typed by the user stands for.
 *
 * Each call returns 0, or a negative error whose text repeats what was typed
 * and lists what there is instead: the near names, or all of a short list.
 * ERROR_USAGE: the text cannot be a name of this kind; ERROR_NOT_FOUND: the
 * profile has no row of that name; ERROR_AMBIGUOUS: it has several. A call
 * writes its result only on success.
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

/* A resource by name ("page-faults"), title ("Page Faults") or unique
 * beginning of the name. */
int lookup_resource(const struct profile *profile, const char *text, uint32_t *resource, struct error *error);

/* A thread by TID or name; "all": VIEW_ANY; "#3": row 3 of the profile's table,
 * for threads that share a TID or a name. A name that several threads have is
 * ambiguous; the error lists their TIDs. */
int lookup_thread(const struct profile *profile, const char *text, uint32_t *thread, struct error *error);

/* All processes with this PID, name or row ("#3"). Sets their elements of
 * `chosen`, [profile->process_count], and leaves the others as they are. */
int lookup_process(const struct profile *profile, const char *text, bool *chosen, struct error *error);
/* Processes by their control group: a path, which stands for all groups below
 * it, or a shell pattern ("*docker*"). A text without a leading slash may match
 * from any component of the path on: "cron.service". `chosen` as above. */
int lookup_cgroup(const struct profile *profile, const char *pattern, bool *chosen, struct error *error);

/* Label sets, [profile->label_set_count]: "tenant=acme" matches sets with that
 * value, "tenant" sets with that key. Several values of one key are
 * alternatives; several keys must all match. */
int lookup_label_sets(const struct profile *profile, const char *const *texts, size_t count, bool *chosen,
		      struct error *error);
/* A key of the profile's labels, as the string's number. */
int lookup_label_key(const struct profile *profile, const char *text, uint32_t *key, struct error *error);

/* The labels of the function (module, group) with this name, found as
 * view_find does; by function, that is one label, or the mains of several
 * programs. "no function 'qsrot'; near: qsort". Surrounding quotes are
 * removed first. The caller releases the set with label_set_release. */
int lookup_functions(const struct view *view, const char *name, struct label_set *labels, struct error *error);

/* What-if terms: "main;uniquify_db;qsort=0", the path from its outermost
 * function inwards and the factor of its cost ("0.5" or "50%"). */
struct lookup_what_if {
	struct what_if *paths; /* [count], for analyze_what_if; owned, as are their steps */
	size_t count;
};
int lookup_what_if_init(struct lookup_what_if *what_if, const struct view *view, const char *const *terms, size_t count,
			struct error *error);
void lookup_what_if_release(struct lookup_what_if *what_if); /* {0} is fine */

#endif
