/* The hits of a view by what labels they have: by the value of one key, or by whole
 * label sets. */
#ifndef ANALYZE_LABEL_GROUPS_H
#define ANALYZE_LABEL_GROUPS_H

#include <stdint.h>

#include "analyze/view.h"
#include "base/error.h"
#include "profile/profile.h"

struct label_group {
	const struct profile_label *labels; /* what its hits have in common; they are the profile's */
	size_t label_count;                 /* 0: hits without labels, or without that key */
	uint64_t hits;                      /* > 0 */
};

struct label_group_list {
	struct label_group *groups; /* by decreasing hits, ties by their labels' texts */
	size_t count;
	uint32_t *group_of_set; /* [profile->label_set_count]: index in groups; PROFILE_NONE: it has no hits */
};

#define LABEL_EVERY_KEY PROFILE_NONE

/* `key`: a string of the profile, or LABEL_EVERY_KEY: then the groups are the label
 * sets. NULL: ERROR_MEMORY. */
struct label_group_list *analyze_label_groups(const struct view *view, uint32_t key, struct error *error);
void label_group_list_free(struct label_group_list *list); /* NULL is fine */

/* The label sets of one group that `chosen` (NULL: all) has as well, for view_options:
 * [profile->label_set_count], to be freed. NULL: ERROR_MEMORY. */
bool *label_group_sets(const struct label_group_list *list, size_t group, const struct profile *profile,
		       const bool *chosen, struct error *error);

struct label_key {
	uint32_t key;  /* string */
	size_t values; /* different ones */
};

/* The keys of the profile's labels, by their texts; the list is to be freed. NULL: ERROR_MEMORY. */
struct label_key *analyze_label_keys(const struct profile *profile, size_t *count);

#endif
