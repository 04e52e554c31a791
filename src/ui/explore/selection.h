/*
 * What the user's words select: text from a command line or from the
 * interactive loop, turned into the fields of the analyses' options.
 *
 * Every call returns 0, or a negative error with a sentence in `error` that
 * names what was typed and what there is instead (the near matches, or the
 * whole list where it is short). ERROR_USAGE: no such kind of word;
 * ERROR_NOT_FOUND: nothing of that name; ERROR_AMBIGUOUS: several. The
 * result is written only on success.
 */
#ifndef UI_EXPLORE_SELECTION_H
#define UI_EXPLORE_SELECTION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analyze/analyses.h"
#include "analyze/view.h"
#include "base/error.h"
#include "profile/profile.h"

/* What `report` and `explore` show unless told otherwise. */
#define SELECTION_THRESHOLD_DEFAULT 0.005
#define SELECTION_LIMIT_DEFAULT 40

/* A usage fraction, "0.01" or "1%": 0 to 1. */
int selection_threshold(const char *text, double *threshold, struct error *error);

/* A number of entries; 0 means all. */
int selection_limit(const char *text, size_t *limit, struct error *error);

/* "function", "callsite", "line", "module", or the beginning of one. */
int selection_by(const char *text, enum view_by *by, struct error *error);
const char *selection_by_name(enum view_by by);

/* "on" or "off" (also yes, no, 1, 0). */
int selection_switch(const char *text, bool *on, struct error *error);

/* Seconds since the recording began, "1.5", "1.5s", "200ms", as ns. */
int selection_seconds(const char *text, uint64_t *ns, struct error *error);

/* Both ends of a time range, either of which may be NULL or "" (open). Says so
 * if the range is empty. Sets from_ns and to_ns (0: no end). */
int selection_time(const char *from, const char *to, struct view_options *options, struct error *error);

/* A resource by name ("page-faults"), title ("Page Faults") or unique
 * beginning of the name. */
int selection_resource(const struct profile *profile, const char *text, uint32_t *resource, struct error *error);

/* A thread by TID or name; "all": VIEW_ANY; "#3": row 3 of the profile's table,
 * for what several threads share. A name that several threads have is
 * ambiguous, and the sentence lists their TIDs. */
int selection_thread(const struct profile *profile, const char *text, uint32_t *thread, struct error *error);

/* Processes by PID, name or row; all that have it. They are added to `chosen`,
 * [profile->process_count]. */
int selection_process(const struct profile *profile, const char *text, bool *chosen, struct error *error);
/* Processes by their control group: a path, which stands for all below it, or a
 * shell pattern ("*docker*"). Without a slash in front it may begin at any part
 * of the path: "cron.service". */
int selection_cgroup(const struct profile *profile, const char *pattern, bool *chosen, struct error *error);

/* Label sets, [profile->label_set_count], by words: "tenant=acme"; or a key alone, for
 * sets that have it. Of several values of one key any will do; of several keys all
 * must hold. */
int selection_label_sets(const struct profile *profile, const char *const *texts, size_t count, bool *chosen,
			 struct error *error);
/* A key of the profile's labels, as the string's number. */
int selection_label_key(const struct profile *profile, const char *text, uint32_t *key, struct error *error);

/* The labels that the user means by a function's name, as view_find says; by
 * function, that is one label, or the mains of several programs. "no function 'qsrot'; near: qsort". Surrounding
 * quotes are taken off. The set is the caller's: label_set_release. */
int selection_labels(const struct view *view, const char *name, struct label_set *labels, struct error *error);

/* What-if terms: "main;uniquify_db;qsort=0", the path from its outermost
 * function inwards and what its cost is multiplied by ("0.5" or "50%"). */
struct selection_what_if {
	struct what_if *paths; /* [count], for analyze_what_if; owned, as are their steps */
	size_t count;
};
int selection_what_if_init(struct selection_what_if *what_if, const struct view *view, const char *const *terms,
			   size_t count, struct error *error);
void selection_what_if_release(struct selection_what_if *what_if); /* {0} is fine */

#endif
