#include "analyze/label_groups.h"

#include <stdlib.h>
#include <string.h>

#include "analyze/build.h"

/* Adds up the hits of the view by label set. Returns 0 or ERROR_MEMORY. */
static int sum_sets(const struct view *view, uint64_t *hits)
{
	const struct profile *profile = view->profile;
	struct selection selection;
	int status = selection_begin(&selection, view);
	for (size_t i = 0; i < profile->hit_count && status == 0; i++) {
		struct profile_hit taken;
		if (profile->hits[i].resource == view->options.resource && selection_part(&selection, i, &taken))
			hits[profile_hit_labels(profile, i)] += taken.count;
	}
	selection_end(&selection);
	return status;
}

static const struct profile_label *find_label(const struct profile *profile, uint32_t set, uint32_t key)
{
	const struct profile_label_set *row = &profile->label_sets[set];
	for (uint32_t i = 0; i < row->label_count; i++)
		if (profile->labels[row->first_label + i].key == key)
			return &profile->labels[row->first_label + i];
	return NULL;
}

static struct label_group group_of(const struct profile *profile, uint32_t set, uint32_t key)
{
	const struct profile_label_set *row = &profile->label_sets[set];
	if (key == LABEL_EVERY_KEY)
		return (struct label_group){ .labels = row->label_count ? &profile->labels[row->first_label] : NULL,
					     .label_count = row->label_count };
	const struct profile_label *label = find_label(profile, set, key);
	return (struct label_group){ .labels = label, .label_count = label ? 1 : 0 };
}

/* Assigns each label set with hits to a group. `of_value` [strings.count + 1] maps a key's value to its group,
 * PROFILE_NONE if it has none yet; the element after the last string is for hits without the key. */
static void make_groups(struct label_group_list *list, const struct profile *profile, uint32_t key,
			const uint64_t *hits, uint32_t *of_value)
{
	for (uint32_t set = 0; set < profile->label_set_count; set++) {
		list->group_of_set[set] = PROFILE_NONE;
		if (hits[set] == 0)
			continue;
		struct label_group group = group_of(profile, set, key);
		uint32_t fresh = (uint32_t)list->count;
		uint32_t *known = &fresh;
		if (key != LABEL_EVERY_KEY) {
			known = &of_value[group.label_count ? group.labels->value : profile->strings.count];
			if (*known == PROFILE_NONE)
				*known = fresh;
		}
		if (*known == fresh)
			list->groups[list->count++] = group;
		list->groups[*known].hits += hits[set];
		list->group_of_set[set] = *known;
	}
}

/* --- order --- */

struct ordered {
	struct label_group group;
	uint32_t was; /* its number before sorting */
	const struct profile *profile;
};

static int compare_labels(const struct profile *profile, const struct label_group *a, const struct label_group *b)
{
	for (size_t i = 0; i < a->label_count && i < b->label_count; i++) {
		int order =
			strcmp(profile_string(profile, a->labels[i].key), profile_string(profile, b->labels[i].key));
		if (order == 0)
			order = strcmp(profile_string(profile, a->labels[i].value),
				       profile_string(profile, b->labels[i].value));
		if (order != 0)
			return order;
	}
	return (a->label_count > b->label_count) - (a->label_count < b->label_count);
}

static int compare_groups(const void *left, const void *right)
{
	const struct ordered *a = left, *b = right;
	if (a->group.hits != b->group.hits)
		return a->group.hits < b->group.hits ? 1 : -1;
	return compare_labels(a->profile, &a->group, &b->group);
}

static int sort_groups(struct label_group_list *list, const struct profile *profile)
{
	struct ordered *ordered = calloc(list->count + 1, sizeof(*ordered));
	uint32_t *now = calloc(list->count + 1, sizeof(*now));
	bool good = ordered && now;
	for (size_t i = 0; good && i < list->count; i++)
		ordered[i] = (struct ordered){ .group = list->groups[i], .was = (uint32_t)i, .profile = profile };
	if (good && list->count > 0)
		qsort(ordered, list->count, sizeof(*ordered), compare_groups);
	for (size_t i = 0; good && i < list->count; i++) {
		list->groups[i] = ordered[i].group;
		now[ordered[i].was] = (uint32_t)i;
	}
	for (size_t set = 0; good && set < profile->label_set_count; set++)
		if (list->group_of_set[set] != PROFILE_NONE)
			list->group_of_set[set] = now[list->group_of_set[set]];
	free(ordered);
	free(now);
	return good ? 0 : ERROR_MEMORY;
}

/* --- analysis --- */

struct label_group_list *analyze_label_groups(const struct view *view, uint32_t key, struct error *error)
{
	const struct profile *profile = view->profile;
	size_t sets = profile->label_set_count, values = key == LABEL_EVERY_KEY ? 0 : profile->strings.count;
	struct label_group_list *list = calloc(1, sizeof(*list));
	uint64_t *hits = calloc(sets, sizeof(*hits));
	uint32_t *of_value = malloc((values + 1) * sizeof(*of_value));
	if (list) {
		list->groups = calloc(sets, sizeof(*list->groups));
		list->group_of_set = calloc(sets, sizeof(*list->group_of_set));
	}
	bool good = list && list->groups && list->group_of_set && hits && of_value && sum_sets(view, hits) == 0;
	if (good) {
		memset(of_value, 0xff, (values + 1) * sizeof(*of_value)); /* PROFILE_NONE */
		make_groups(list, profile, key, hits, of_value);
		good = sort_groups(list, profile) == 0;
	}
	free(hits);
	free(of_value);
	if (good)
		return list;
	label_group_list_free(list);
	error_set(error, ERROR_MEMORY, "out of memory while summing up labels");
	return NULL;
}

void label_group_list_free(struct label_group_list *list)
{
	if (!list)
		return;
	free(list->groups);
	free(list->group_of_set);
	free(list);
}

bool *label_group_sets(const struct label_group_list *list, size_t group, const struct profile *profile,
		       const bool *chosen, struct error *error)
{
	bool *sets = calloc(profile->label_set_count, sizeof(*sets));
	if (!sets)
		error_set(error, ERROR_MEMORY, "out of memory while selecting labels");
	for (size_t i = 0; sets && i < profile->label_set_count; i++)
		sets[i] = list->group_of_set[i] == group && (!chosen || chosen[i]);
	return sets;
}

/* --- keys --- */

static int compare_pairs(const void *left, const void *right, void *context)
{
	const struct profile_label *a = left, *b = right;
	int order = strcmp(profile_string(context, a->key), profile_string(context, b->key));
	return order ? order : (a->value > b->value) - (a->value < b->value);
}

struct label_key *analyze_label_keys(const struct profile *profile, size_t *count)
{
	size_t labels = profile->label_count;
	struct label_key *keys = calloc(labels + 1, sizeof(*keys));
	struct profile_label *sorted = malloc((labels + 1) * sizeof(*sorted));
	*count = 0;
	if (!keys || !sorted) {
		free(keys);
		free(sorted);
		return NULL;
	}
	if (labels > 0) {
		memcpy(sorted, profile->labels, labels * sizeof(*sorted));
		qsort_r(sorted, labels, sizeof(*sorted), compare_pairs, (void *)profile);
	}
	for (size_t i = 0; i < labels; i++) {
		if (i == 0 || sorted[i].key != sorted[i - 1].key)
			keys[(*count)++].key = sorted[i].key;
		if (i == 0 || sorted[i].key != sorted[i - 1].key || sorted[i].value != sorted[i - 1].value)
			keys[*count - 1].values++;
	}
	free(sorted);
	return keys;
}
