/* Finds label sets by the keys and values that the program set. */
#include <stdlib.h>
#include <string.h>

#include "analyze/label_groups.h"
#include "analyze/lookup.h"
#include "base/name_list.h"
#include "base/quote.h"

/* One text: a key and a value (string ids), or ANY_VALUE. */
struct label_pattern {
	uint32_t key, value;
};
static const uint32_t ANY_VALUE = PROFILE_NONE;

static int key_missing(const struct profile *profile, const char *text, struct error *error)
{
	size_t count;
	struct label_key *keys = analyze_label_keys(profile, &count);
	struct name_list all = { 0 };
	if (!keys)
		return error_set(error, ERROR_MEMORY, "out of memory");
	for (size_t i = 0; i < count; i++)
		name_list_add(&all, profile_string(profile, keys[i].key));
	int status = count ? error_set(error, ERROR_NOT_FOUND, "no label %s in this profile; it has %s", QUOTE(text),
				       name_list_text(&all))
			   : error_set(error, ERROR_NOT_FOUND,
				       "the profile has no labels (cpprof_label sets them, in a program that is "
				       "recorded with --backend preload)");
	name_list_release(&all);
	free(keys);
	return status;
}

static int compare_texts(const void *left, const void *right)
{
	return strcmp(*(const char *const *)left, *(const char *const *)right);
}

static int value_missing(const struct profile *profile, const char *text, uint32_t key, struct error *error)
{
	const char **values = calloc(profile->label_count + 1, sizeof(*values));
	struct name_list all = { 0 };
	size_t count = 0;
	if (!values)
		return error_set(error, ERROR_MEMORY, "out of memory");
	for (size_t i = 0; i < profile->label_count; i++)
		if (profile->labels[i].key == key)
			values[count++] = profile_string(profile, profile->labels[i].value);
	qsort(values, count, sizeof(*values), compare_texts);
	for (size_t i = 0; i < count; i++)
		if (i == 0 || strcmp(values[i - 1], values[i]) != 0)
			name_list_add(&all, values[i]);
	int status = error_set(error, ERROR_NOT_FOUND, "no hits with the label %s; the values of %s are %s",
			       QUOTE(text), profile_string(profile, key), name_list_text(&all));
	name_list_release(&all);
	free(values);
	return status;
}

/* Returns the key that equals the first `bytes` of the text, or PROFILE_NONE. */
static uint32_t find_key(const struct profile *profile, const char *text, size_t bytes)
{
	for (size_t i = 0; i < profile->label_count; i++) {
		const char *key = profile_string(profile, profile->labels[i].key);
		if (strlen(key) == bytes && memcmp(key, text, bytes) == 0)
			return profile->labels[i].key;
	}
	return PROFILE_NONE;
}

int lookup_label_key(const struct profile *profile, const char *text, uint32_t *key, struct error *error)
{
	uint32_t found = find_key(profile, text, strlen(text));
	if (found == PROFILE_NONE)
		return key_missing(profile, text, error);
	*key = found;
	return 0;
}

static int read_pattern(const struct profile *profile, const char *text, struct label_pattern *label_pattern,
			struct error *error)
{
	const char *equals = strchr(text, '=');
	label_pattern->key = find_key(profile, text, equals ? (size_t)(equals - text) : strlen(text));
	label_pattern->value = ANY_VALUE;
	if (label_pattern->key == PROFILE_NONE)
		return key_missing(profile, text, error);
	if (!equals)
		return 0;
	for (size_t i = 0; i < profile->label_count && label_pattern->value == ANY_VALUE; i++) {
		const struct profile_label *label = &profile->labels[i];
		if (label->key == label_pattern->key && strcmp(profile_string(profile, label->value), equals + 1) == 0)
			label_pattern->value = label->value;
	}
	return label_pattern->value == ANY_VALUE ? value_missing(profile, text, label_pattern->key, error) : 0;
}

static bool grants(const struct profile *profile, uint32_t set, const struct label_pattern *label_pattern)
{
	uint32_t value = profile_label_value(profile, set, label_pattern->key);
	return value != PROFILE_NONE && (label_pattern->value == ANY_VALUE || label_pattern->value == value);
}

/* Returns whether the set matches, for each key among the wishes, at least one of the wishes with that key. */
static bool grants_all(const struct profile *profile, uint32_t set, const struct label_pattern *wishes, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		bool granted = false;
		for (size_t k = 0; k < count && !granted; k++)
			granted = wishes[k].key == wishes[i].key && grants(profile, set, &wishes[k]);
		if (!granted)
			return false;
	}
	return true;
}

int lookup_label_sets(const struct profile *profile, const char *const *texts, size_t count, bool *chosen,
		      struct error *error)
{
	struct label_pattern *wishes = calloc(count + 1, sizeof(*wishes));
	if (!wishes)
		return error_set(error, ERROR_MEMORY, "out of memory");
	int status = 0;
	bool any = false;
	for (size_t i = 0; i < count && status == 0; i++)
		status = read_pattern(profile, texts[i], &wishes[i], error);
	for (uint32_t set = 0; set < profile->label_set_count && status == 0; set++) {
		chosen[set] = grants_all(profile, set, wishes, count);
		any = any || chosen[set];
	}
	if (status == 0 && !any)
		status = error_set(error, ERROR_NOT_FOUND, "no hit has all these labels");
	free(wishes);
	return status;
}
