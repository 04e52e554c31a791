#include "collect/sample/state/label_numbers.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"

void label_numbers_init(struct label_numbers *numbers)
{
	*numbers = (struct label_numbers){ 0 };
	hash_map_init(&numbers->sets);
}

void label_numbers_release(struct label_numbers *numbers)
{
	hash_map_release(&numbers->sets);
}

/* Makes a label of a line. Returns 1, 0 if the line is no label, or a negative error. */
static int read_line(struct profile *profile, const char *line, size_t bytes, struct profile_label *label)
{
	const char *equals = memchr(line, '=', bytes);
	if (!equals || equals == line || memchr(line, 0, bytes))
		return 0;
	size_t key_bytes = (size_t)(equals - line);
	int64_t key = strings_add(&profile->strings, line, key_bytes);
	int64_t value = key < 0 ? key : strings_add(&profile->strings, equals + 1, bytes - key_bytes - 1);
	if (value < 0)
		return (int)value;
	*label = (struct profile_label){ .key = (uint32_t)key, .value = (uint32_t)value };
	return 1;
}

int label_numbers_define(struct label_numbers *numbers, struct profile *profile, uint32_t number, const char *text,
			 size_t bytes)
{
	struct profile_label *labels = NULL;
	size_t count = 0, capacity = 0;
	int result = 0;
	for (size_t at = 0; at < bytes && result >= 0;) {
		const char *end = memchr(text + at, '\n', bytes - at);
		size_t length = end ? (size_t)(end - text) - at : bytes - at;
		result = ARRAY_RESERVE(labels, capacity, count + 1);
		if (result == 0)
			result = read_line(profile, text + at, length, &labels[count]);
		count += result == 1;
		at += length + 1;
	}
	int64_t set = result < 0 ? result : profile_add_label_set(profile, labels, count);
	free(labels);
	return set < 0 ? (int)set : hash_map_put(&numbers->sets, number, (uint32_t)set);
}

uint32_t label_numbers_get(struct label_numbers *numbers, uint32_t number)
{
	if (number == 0)
		return PROFILE_NO_LABELS;
	uint32_t set = hash_map_get(&numbers->sets, number);
	if (set != HASH_MAP_NONE)
		return set;
	numbers->unknown++;
	return PROFILE_NO_LABELS;
}
