/* Static probes that a program's author inserted (DTRACE_PROBE of <sys/sdt.h>),
 * from the notes of a file. */
#ifndef COLLECT_SAMPLE_PROBES_USDT_NOTES_H
#define COLLECT_SAMPLE_PROBES_USDT_NOTES_H

#include "base/error.h"
#include "base/near_names.h"

struct usdt_search {
	const char *provider, *probe; /* the wanted probe */
	/* From the last file that has it: */
	unsigned argument_count; /* the smallest number of arguments at any position */
	/* Over all files. */
	struct near_names near; /* "provider:probe" of others */
	size_t others;
};

/* Returns the number of positions of this probe in the file, or an error if the
 * file cannot be read. */
int usdt_notes_count(const char *path, struct usdt_search *search, struct error *error);

#endif
