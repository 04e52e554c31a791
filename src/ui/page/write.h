/* Writes the page: one HTML file that contains one profile or two, the engine that computes their figures, and the script that
 * draws them. */
#ifndef UI_PAGE_WRITE_H
#define UI_PAGE_WRITE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "base/sink.h"
#include "profile/event_source.h"
#include "profile/profile.h"

/* The contents of the page. */
struct page_contents {
	const struct profile *profiles[2]; /* [1] NULL: no comparison */
	bool no_source;                    /* without the text of source files */
	bool all_sources; /* also of files whose code was executed by processes of other users than the reader */
	struct event_source *events; /* of a trace; NULL: there are none */
};

/* The source files that the page contains. */
struct page_sources {
	size_t count;
	size_t absent;   /* files that were not found, or that the users of the profile's processes may not read */
	size_t foreign;  /* files of other users' processes */
	size_t left_out; /* files for which there was no more room */
	uint64_t bytes;
};

/* Writes the page and sets *sources. A profile goes in as its columns, deflated and in base64. Returns 0 or a negative error, with
 * `error` set: ERROR_MEMORY, those of the event source; the sink keeps the failure of a write. */
int page_write(struct sink *sink, const struct page_contents *contents, struct page_sources *sources,
	       struct error *error);

#endif
