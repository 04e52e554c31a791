/* The recordings that a command compares: `A B`, or several of each side with `--` between them, `A1 A2 -- B1 B2`. */
#ifndef CMD_RECORDINGS_H
#define CMD_RECORDINGS_H

#include "analyze/analyses.h"
#include "cmd/command.h"

struct recordings {
	const struct profile **profiles; /* the recordings of A, then the recordings of B; the array is owned */
	const char **names;              /* of their files; the array is owned */
	size_t counts[DIFF_SIDES];       /* of B 0: there is one recording, and no comparison */
	struct profile *loaded; /* the invocation's profile (NEEDS_PROFILE), which it owns; NULL: there is none */
};

/* Loads the recordings that the arguments name. With NEEDS_PROFILE, the invocation's profile is the first of them. Returns EXIT_DONE,
 * or prints a message and returns another exit status. The caller releases the recordings in any case. */
int recordings_open(const struct invocation *invocation, struct recordings *recordings);
void recordings_release(struct recordings *recordings); /* accepts {0} */

#endif
