/*
 * A folder in which recordings wait for a store that cannot be reached: a file for each,
 * IDENTITY.spool, with the profile and what store_add needs. Files appear and disappear as a whole,
 * and a recording that was sent twice is in the store once, so that programs may be killed at any
 * moment. A file that no store can take becomes IDENTITY.bad, and is not tried again.
 */
#ifndef STORE_SPOOL_H
#define STORE_SPOOL_H

#include "store/store.h"

struct spool_counts {
	uint64_t sent, refused; /* refused: files that are now IDENTITY.bad */
};

struct spool_limit {
	uint64_t bytes;   /* of all files of the folder; 0: none */
	uint64_t dropped; /* counts the recordings that were removed to keep it */
};

/* Writes a recording to the folder, which is made if it does not exist. With a limit, first removes the recordings that wait longest, until
 * the new one fits. Returns 0 or a negative error: ERROR_LIMIT if there is no room beside what cannot be removed, the files that other
 * programs write; then nothing is removed. */
int spool_put(const char *folder, const struct store_recording *recording, struct spool_limit *limit,
	      struct error *error);

/* Returns whether recordings wait in the folder. */
bool spool_has(const char *folder);

/* Adds the recordings of the folder to the store, and removes their files. Returns 0, or a
 * negative error: the first one that the store or a file had. Damaged files, and those of
 * recordings beyond a limit, become IDENTITY.bad. If the store refuses another one, it is kept, and
 * the others are sent, unless the store is away. */
int spool_send(const char *folder, struct store *store, struct spool_counts *counts, struct error *error);

#endif
