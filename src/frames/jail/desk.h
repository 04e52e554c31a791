/* Where the process in the jail gets files: requests that the recorder serves. */
#ifndef FRAMES_JAIL_DESK_H
#define FRAMES_JAIL_DESK_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "frames/jail/download.h"
#include "frames/jail/wire.h"

/* The files of a jail: each counts once, however often it is opened. */
enum { DESK_NAME_BYTES = 128 };
struct desk_files {
	/* The first .dwo file of split debug information that is in none of the places where it was looked for; "": all are there. Its name without the folder,
	 * cut to fit. */
	char split_lacking[DESK_NAME_BYTES];
	uint64_t bytes; /* that were written to them, at most 1 GB in all */
	size_t count;
	struct {
		dev_t device;
		ino_t inode;
	} seen[256]; /* further files do not count */
};

/* Counts a file; -1: none. */
void desk_count(struct desk_files *files, int fd);

struct desk {
	size_t served;             /* requests of one module */
	size_t downloads;          /* files among them that were requested of servers */
	struct desk_files *files;  /* not owned */
	struct download *download; /* not owned; NULL: nothing is downloaded */
};

/*
 * Serves one request, and sends the answer. A file must be a regular one on a disk, and an ELF file: the process may be in
 * the hands of whoever made the module, and could write whatever it reads into the names.
 *
 * Returns 0, ERROR_CORRUPT (not a request), ERROR_LIMIT (too many) or ERROR_SYSTEM (the answer cannot be sent).
 */
int desk_answer(struct desk *desk, int socket, const struct wire_message *request);

#endif
