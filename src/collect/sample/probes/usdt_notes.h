/* Static probes that a program's author put in (DTRACE_PROBE of <sys/sdt.h>), as
 * the file's notes tell of them. */
#ifndef COLLECT_SAMPLE_PROBES_USDT_NOTES_H
#define COLLECT_SAMPLE_PROBES_USDT_NOTES_H

#include "base/error.h"
#include "base/near_names.h"

struct usdt_search {
	const char *provider, *probe; /* what is looked for */
	/* Of the last file that has it. */
	unsigned argument_count; /* the fewest that a place of it has */
	/* Over all files. */
	struct near_names near; /* "provider:probe" of others */
	size_t others;
};

/* Number of places in the file that are this probe; ERROR_...: it cannot be read. */
int usdt_notes_count(const char *path, struct usdt_search *search, struct error *error);

#endif
