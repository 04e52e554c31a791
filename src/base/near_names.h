/* Selects the few of many names that are nearest to one that does not exist, for "did you mean". It allocates no
 * memory; long names are cut. */
#ifndef BASE_NEAR_NAMES_H
#define BASE_NEAR_NAMES_H

#include <stddef.h>

enum { NEAR_NAMES = 5, NEAR_NAME_BYTES = 64 };

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
/* Adds the name at a distance that the caller measured. */
void near_names_add(struct near_names *near, const char *name, size_t distance);

/* Returns " (did you mean a, b?)", or "" if no name is near. Valid as long as `near`. */
const char *near_names_text(struct near_names *near);

#endif
