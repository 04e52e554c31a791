/* Label sets. A hash of a set's labels finds an equal set. */
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/error.h"
#include "profile/profile.h"

static const uint64_t KEY_STEP = UINT64_C(0x9e3779b97f4a7c15); /* next key after an unequal set with an equal hash */

static uint64_t hash_labels(const struct profile_label *labels, size_t count)
{
	uint64_t hash = count;
	for (size_t i = 0; i < count; i++)
		hash = hash_u64(hash + KEY_STEP + ((uint64_t)labels[i].key << 32 | labels[i].value));
	return hash;
}

static bool are_equal(const struct profile_label *a, const struct profile_label *b, size_t count)
{
	for (size_t at = 0; at < count; at++)
		if (a[at].key != b[at].key || a[at].value != b[at].value)
			return false;
	return true;
}

static const struct profile_label *labels_of(const struct profile *profile, uint32_t set)
{
	return profile->labels ? profile->labels + profile->label_sets[set].first_label : NULL;
}

/* Returns the set, or HASH_MAP_NONE with *key set to the key for adding it. */
static uint32_t find_set(const struct profile *profile, const struct profile_label *labels, size_t count, uint64_t *key)
{
	uint32_t found;
	*key = hash_labels(labels, count);
	while ((found = hash_map_get(&profile->set_by_labels, *key)) != HASH_MAP_NONE) {
		if (profile->label_sets[found].label_count == count &&
		    are_equal(labels_of(profile, found), labels, count))
			break;
		*key += KEY_STEP;
	}
	return found;
}

/* Indexes the sets that a reader of files appended. */
static int index_sets(struct profile *profile)
{
	if (hash_map_reserve(&profile->set_by_labels, profile->label_set_count) < 0)
		return ERROR_MEMORY;
	for (; profile->label_sets_indexed < profile->label_set_count; profile->label_sets_indexed++) {
		uint32_t set = (uint32_t)profile->label_sets_indexed;
		uint64_t key;
		if (find_set(profile, labels_of(profile, set), profile->label_sets[set].label_count, &key) ==
		    HASH_MAP_NONE)
			hash_map_put(&profile->set_by_labels, key, set);
	}
	return 0;
}

/* Sorts by key, and keeps the last label of each key. Sets are small, so it uses insertion. Returns how many labels
 * remain. */
static size_t sort_labels(const struct profile *profile, struct profile_label *labels, size_t count)
{
	size_t kept = 0;
	for (size_t i = 0; i < count; i++) {
		struct profile_label label = labels[i];
		const char *key = profile_string(profile, label.key);
		size_t at = kept;
		while (at > 0 && strcmp(profile_string(profile, labels[at - 1].key), key) > 0)
			at--;
		if (at > 0 && labels[at - 1].key == label.key) {
			labels[at - 1] = label;
			continue;
		}
		memmove(&labels[at + 1], &labels[at], (kept - at) * sizeof(*labels));
		labels[at] = label;
		kept++;
	}
	return kept;
}

int64_t profile_add_label_set(struct profile *profile, struct profile_label *labels, size_t count)
{
	if (profile->label_sets_indexed < profile->label_set_count && index_sets(profile) < 0)
		return ERROR_MEMORY;
	count = sort_labels(profile, labels, count);
	uint64_t key;
	uint32_t found = find_set(profile, labels, count, &key);
	if (found != HASH_MAP_NONE)
		return found;
	if (profile->label_set_count >= PROFILE_NONE || profile->label_count + count >= PROFILE_NONE)
		return ERROR_LIMIT;
	if (ARRAY_RESERVE(profile->label_sets, profile->label_set_capacity, profile->label_set_count + 1) < 0 ||
	    ARRAY_RESERVE(profile->labels, profile->label_capacity, profile->label_count + count) < 0 ||
	    hash_map_put(&profile->set_by_labels, key, (uint32_t)profile->label_set_count) < 0)
		return ERROR_MEMORY;
	profile->label_sets[profile->label_set_count] =
		(struct profile_label_set){ .first_label = (uint32_t)profile->label_count,
					    .label_count = (uint32_t)count };
	if (count > 0)
		memcpy(&profile->labels[profile->label_count], labels, count * sizeof(*labels));
	profile->label_count += count;
	profile->label_sets_indexed = profile->label_set_count + 1;
	return (int64_t)profile->label_set_count++;
}

int profile_label_hits(struct profile *profile, size_t first, uint32_t label_set)
{
	if (first < profile->hit_label_count)
		profile->hit_label_count = first;
	if (label_set == PROFILE_NO_LABELS)
		return 0;
	if (ARRAY_RESERVE(profile->hit_labels, profile->hit_label_capacity, profile->hit_count) < 0)
		return ERROR_MEMORY;
	for (size_t i = profile->hit_label_count; i < first; i++)
		profile->hit_labels[i] = PROFILE_NO_LABELS;
	for (size_t i = first; i < profile->hit_count; i++)
		profile->hit_labels[i] = label_set;
	profile->hit_label_count = profile->hit_count;
	return 0;
}

uint32_t profile_label_value(const struct profile *profile, uint32_t label_set, uint32_t key)
{
	const struct profile_label_set *set = &profile->label_sets[label_set];
	for (uint32_t i = 0; i < set->label_count; i++)
		if (profile->labels[set->first_label + i].key == key)
			return profile->labels[set->first_label + i].value;
	return PROFILE_NONE;
}

/* Returns the set with the labels of `set` and this one, unless `set` has a label with its key, or a negative error. `room` has space for
 * all. */
static int64_t extend_set(struct profile *profile, uint32_t set, const struct profile_label *label,
			  struct profile_label *room)
{
	const struct profile_label_set *row = &profile->label_sets[set];
	if (profile_label_value(profile, set, label->key) != PROFILE_NONE)
		return set;
	if (row->label_count > 0)
		memcpy(room, labels_of(profile, set), row->label_count * sizeof(*room));
	room[row->label_count] = *label;
	return profile_add_label_set(profile, room, row->label_count + (size_t)1);
}

/* Sets extended[set] for each of `count` sets. */
static int extend_sets(struct profile *profile, const struct profile_label *label, uint32_t *extended, size_t count)
{
	struct profile_label *room = malloc((profile->label_count + 1) * sizeof(*room));
	int64_t set = room ? 0 : ERROR_MEMORY;
	for (uint32_t i = 0; i < count && set >= 0; i++) {
		set = extend_set(profile, i, label, room);
		extended[i] = set < 0 ? PROFILE_NO_LABELS : (uint32_t)set;
	}
	free(room);
	return set < 0 ? (int)set : 0;
}

int profile_label_all(struct profile *profile, const char *key, const char *value)
{
	int64_t key_id = strings_add(&profile->strings, key, strlen(key));
	int64_t value_id = strings_add(&profile->strings, value, strlen(value));
	if (key_id < 0 || value_id < 0)
		return (int)(key_id < 0 ? key_id : value_id);
	const struct profile_label label = { .key = (uint32_t)key_id, .value = (uint32_t)value_id };
	size_t count = profile->label_set_count;
	uint32_t *extended = calloc(count, sizeof(*extended));
	int status = extended ? extend_sets(profile, &label, extended, count) : ERROR_MEMORY;
	if (status == 0)
		status = profile_label_hits(profile, profile->hit_label_count, extended[PROFILE_NO_LABELS]);
	for (size_t i = 0; i < profile->hit_label_count && status == 0; i++)
		if (profile->hit_labels[i] < count) /* the others are extended */
			profile->hit_labels[i] = extended[profile->hit_labels[i]];
	free(extended);
	return status;
}

bool profile_labels_all(const struct profile *profile, const char *key)
{
	int64_t id = strings_find(&profile->strings, key, strlen(key));
	bool any = false, all = id >= 0;
	for (uint32_t set = 0; set < profile->label_set_count && all && !any; set++)
		any = profile_label_value(profile, set, (uint32_t)id) != PROFILE_NONE;
	for (size_t i = 0; i < profile->hit_count && all; i++)
		all = profile_label_value(profile, profile_hit_labels(profile, i), (uint32_t)id) != PROFILE_NONE;
	return all && any;
}
