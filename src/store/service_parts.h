/*
 * A recording of several services in parts, each of which is a recording of one service:
 *
 *   part 1, 2, ...   the processes, threads, hits and touches of a service
 *   part 0           what belongs to no process of the other parts: hits without a thread, the processes without hits, and what is
 *                    counted for the recording as a whole: losses, findings, causes. Its service is that of the recording
 *
 * Each hit is in one part. Resources have no totals in the parts, because their totals are of all processes together. If only one
 * service has hits, part 0 is the whole recording, of this service.
 *
 * The identity of part 0 is that of the recording. Those of the others begin with the same STORE_FILE_BYTES. A store takes all parts
 * together.
 *
 * Life cycle: service_parts_init; for each part service_part_init, any reading, service_part_release; service_parts_release. The recording
 * must outlive them.
 */
#ifndef STORE_SERVICE_PARTS_H
#define STORE_SERVICE_PARTS_H

#include "base/strings.h"
#include "store/store.h"

struct service_parts {
	const struct store_recording *recording;
	size_t count;           /* 1 or more */
	const char **services;  /* [count]; owned array */
	uint32_t *of_process;   /* owned: the part of each process */
	size_t *hits, *touches; /* [count]: the numbers of rows; owned */
};

struct service_part {
	struct store_recording recording;
	struct profile profile; /* shares all tables with the whole recording but those below, which it owns */
	struct profile_resource *resources;
	struct profile_process *processes;
	struct profile_thread *threads;
	struct profile_hit *hits;
	uint32_t *hit_labels;
	struct profile_touch *touches;
};

/* Returns 0, ERROR_MEMORY or ERROR_LIMIT; in any case the caller releases the parts. */
int service_parts_init(struct service_parts *parts, const struct store_recording *recording);
void service_parts_release(struct service_parts *parts);

/* Returns 0 or ERROR_MEMORY; in any case the caller releases the part. */
int service_part_init(struct service_part *part, const struct service_parts *parts, uint32_t number);
void service_part_release(struct service_part *part);

#endif
