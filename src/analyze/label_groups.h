/* Groups the hits of a view by their labels: by the value of one key, or by whole label sets. */
#ifndef ANALYZE_LABEL_GROUPS_H
#define ANALYZE_LABEL_GROUPS_H

#include <stdint.h>

#include "analyze/view.h"
#include "base/error.h"
#include "profile/profile.h"

struct label_group {
	const struct profile_label *labels; /* the labels that its hits share; they belong to the profile */
	size_t label_count;                 /* 0: hits without labels, or without the key */
	uint64_t hits;                      /* > 0 */
};

struct label_group_list {
	struct label_group *groups; /* by decreasing hits, ties by their labels' texts */
	size_t count;
	uint32_t *group_of_set; /* [profile->label_set_count]: index in groups; PROFILE_NONE: no hits */
};

#define LABEL_EVERY_KEY PROFILE_NONE

/* `key` is a string of the profile, or LABEL_EVERY_KEY to group by label sets. Returns NULL: ERROR_MEMORY. */
struct label_group_list *analyze_label_groups(const struct view *view, uint32_t key, struct error *error);
void label_group_list_free(struct label_group_list *list); /* accepts NULL */

/* Returns the label sets of one group that are also in `chosen` (NULL: all), in the form of view_options.label_sets:
 * [profile->label_set_count]. The caller frees the array. Returns NULL: ERROR_MEMORY. */
bool *label_group_sets(const struct label_group_list *list, size_t group, const struct profile *profile,
		       const bool *chosen, struct error *error);

struct label_key {
	uint32_t key;  /* string id */
	size_t values; /* number of distinct values */
};

/* Returns the keys of the profile's labels, sorted by text, and sets *count. The caller frees the array. Returns
 * NULL: ERROR_MEMORY. */
struct label_key *analyze_label_keys(const struct profile *profile, size_t *count);

#endif
