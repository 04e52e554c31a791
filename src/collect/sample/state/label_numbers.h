/* Maps a backend's numbers of label sets to the profile's ids. */
#ifndef COLLECT_SAMPLE_STATE_LABEL_NUMBERS_H
#define COLLECT_SAMPLE_STATE_LABEL_NUMBERS_H

#include <stddef.h>
#include <stdint.h>

#include "base/hash_map.h"
#include "profile/profile.h"

struct label_numbers {
	struct hash_map sets; /* a number -> id of a label set of the profile */
	uint64_t unknown;     /* samples with an unknown number */
};

void label_numbers_init(struct label_numbers *numbers);
void label_numbers_release(struct label_numbers *numbers);

/* Defines `number`, from now on, as the set of the text's "key=value" lines; skips lines of another form.
 * Returns 0, or ERROR_MEMORY or ERROR_LIMIT with the number unchanged. */
int label_numbers_define(struct label_numbers *numbers, struct profile *profile, uint32_t number, const char *text,
			 size_t bytes);

/* Returns the profile's label set for a sample's number. Counts an unknown number, and returns the empty
 * set for it. */
uint32_t label_numbers_get(struct label_numbers *numbers, uint32_t number);

#endif
