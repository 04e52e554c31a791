/*
 * Downloads debug files from the servers in DEBUGINFOD_URLS, by elfutils' client. A process of its own does that, so that neither the
 * recorder, which may be root, nor the jail, which has no network, runs the code that talks with servers:
 *
 *   recorder                              child
 *   download_get            --- fork -->  gives up its privileges (jail/confine.h), loads libdebuginfod
 *   shows the progress      <-- bytes --  writes the file into debuginfod's cache, or finds it there
 *   ends it beyond a limit  <-- file ---  a descriptor, or the reason why there is none
 *
 * The file is foreign data: the caller checks that it is an ELF file, and only the jail reads it.
 *
 * Life cycle: download_init, download_get for each file; nothing has to be released.
 */
#ifndef FRAMES_JAIL_DOWNLOAD_H
#define FRAMES_JAIL_DOWNLOAD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

struct profile;

struct download_limits {
	uint64_t file_bytes; /* a larger file is refused */
	uint64_t stall_ns;   /* without a byte; the servers are not asked again */
	uint64_t total_ns;   /* for all files */
};

enum { DOWNLOAD_REASON_BYTES = 160 };

struct download {
	/* Called about ten times a second while a file is downloaded; `total` is 0 while the size is unknown. May be NULL. */
	void (*progress)(void *context, uint64_t done, uint64_t total);
	void *context;
	struct download_limits limits;
	uint64_t spent_ns; /* in all calls */
	bool is_over;      /* the servers are not asked again: a limit of time, ^C, or no connection */
	unsigned lacking;  /* files that no server has; the caller may reset this */
	unsigned failed;   /* files that were not downloaded for another reason; the caller may reset this */
	char reason[DOWNLOAD_REASON_BYTES]; /* of the last failure: "no answer within 30 s" */
};

/* Sets the limits: from elfutils' variables DEBUGINFOD_TIMEOUT and DEBUGINFOD_MAXTIME, or else 30 s and 600 s; 2 GB. */
void download_init(struct download *download);

/* Whether the user names a server. */
bool download_has_servers(void);

/* Returns a descriptor of the debug file with this build-id, or a negative error: ERROR_NOT_FOUND (no server has it), or
 * another one with download->reason set. */
int download_get(struct download *download, const uint8_t *build_id, size_t bytes);

/* Adds the findings about files that were not downloaded, and resets their numbers. */
void download_add_findings(struct download *download, struct profile *profile);

#endif
