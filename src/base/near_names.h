/*
 * "Did you mean": whether two words are similar, and the few of many names that are nearest to one that does not exist. It allocates no
 * memory; long names are cut.
 */
#ifndef BASE_NEAR_NAMES_H
#define BASE_NEAR_NAMES_H

#include <stdbool.h>
#include <stddef.h>

/* Whether a user who typed `typed` may have meant `word`: their edit distance is at most a third of the longer one's
 * length, or one is the start of the other (at least 2 bytes). */
bool text_resembles(const char *typed, const char *word);

enum { NEAR_NAMES = 5, NEAR_NAME_BYTES = 81 };

struct near_names {
	const char *typed; /* the name that does not exist; not owned */
	size_t count;
	size_t distances[NEAR_NAMES];
	char names[NEAR_NAMES][NEAR_NAME_BYTES]; /* nearest first */
	char text[NEAR_NAMES * (NEAR_NAME_BYTES + 2) + 32];
};

void near_names_init(struct near_names *near, const char *typed);

/* Adds the name if it resembles the typed one. */
void near_names_offer(struct near_names *near, const char *name);

/* The same for the name of a function, C or C++, of `length` bytes, behind which a suffix may follow; `shown` is what a message shows for
 * it. Compares, without regard to case, by edit distance and common substring, the typed word with the whole name and with its last
 * components. */
void near_names_offer_function(struct near_names *near, const char *name, size_t length, const char *shown);

/* Returns " (did you mean a, b?)", or "" if no name is near. Valid as long as `near`. */
const char *near_names_text(struct near_names *near);

#endif
