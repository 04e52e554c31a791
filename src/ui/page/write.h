/* Writes the page: one HTML file that contains one profile or the recordings of a comparison, the engine that computes their figures, and the script that
 * draws them. */
#ifndef UI_PAGE_WRITE_H
#define UI_PAGE_WRITE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analyze/analyses.h"
#include "base/error.h"
#include "base/sink.h"
#include "profile/code.h"
#include "profile/event_source.h"
#include "profile/file_users.h"
#include "profile/profile.h"
#include "ui/page/lanes.h"
#include "ui/page/stored_code.h"

/* The contents of the page. */
struct page_contents {
	const struct profile *const *profiles; /* the recordings of A, then the recordings of B */
	size_t counts[DIFF_SIDES];             /* of B 0: no comparison */
	double spread;                         /* struct diff_run; the reader of the page can change it */
	bool no_source;                        /* without the text of source files */
	bool all_sources; /* also of files whose code was executed by processes of other users than the reader */
	const struct code_source *code; /* of the first recording of each side; NULL: the page has no machine code */
	struct event_source *events;    /* of a trace; NULL: there are none */
};

/* The contents of a page beside its profiles: source files, machine code, and events of a trace. */
struct page_written {
	size_t count;
	size_t absent;   /* files that were not found, or that the users of the profile's processes may not read */
	size_t foreign;  /* files of other users' processes */
	size_t left_out; /* files for which there was no more room */
	uint64_t bytes;
	struct stored_code_written code; /* of both sides */
	struct lanes_written events;     /* calls and marks */
};

/* Returns whether only processes of the reader executed the code of a file (own_files.c). Whoever gets the page can read what it contains of files. */
bool page_is_own(struct file_users *users, const struct profile *profile, const char *path);

/* Writes the page and sets *written. A profile goes in as its columns, deflated and in base64. Returns 0 or a negative error, with
 * `error` set: ERROR_MEMORY, the errors of the event source; the sink keeps the failure of a write. */
int page_write(struct sink *sink, const struct page_contents *contents, struct page_written *written,
	       struct error *error);

/* --- data in the page (embed.c) --- */

/* Writes data into the page: deflated, in base64, in elements that the browser does not run.
 *
 *   <div hidden id="ID" data-bytes="SIZE"><script type="text/plain">PART</script>
 *   <script type="text/plain">PART</script>
 *   </div>
 *
 * Each part is the base64 of at most 48 KiB. A browser that reads one long text copies it again and again while it grows:
 * for 6 MB in one element, Chromium touches 28 MB of memory more than for parts. */

/* `size` is the number of bytes before they are deflated; `id` needs no escapes. A period_ns above 0
 * (ui/page/compact.h) becomes the attribute data-period. Returns 0 or ERROR_MEMORY. */
int page_embed(struct sink *sink, const char *id, uint64_t period_ns, const void *bytes, size_t size,
	       struct error *error);

#endif
