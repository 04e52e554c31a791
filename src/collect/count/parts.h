/* Interfaces between the files of the reader. */
#ifndef COLLECT_COUNT_PARTS_H
#define COLLECT_COUNT_PARTS_H

#include "collect/count/tally.h"

/* processes.c: makes the table of processes, with their modules and mapped chunks, from the chunks. */
int tally_read_processes(struct tally *tally, const char *name, struct error *error);
/* Returns the process with that number in the file, or NULL if there is none. */
struct count_process *tally_find_process(const struct tally *tally, uint32_t number);
/* Returns the bytes of a thread's object at an address of its process, or NULL if the address is not a multiple of 8
 * or no chunk of the thread contains the whole object. */
const void *tally_object(const struct tally *tally, const struct count_thread *thread, uint64_t address, size_t bytes);

/* labels.c: adds the label sets of each process to the profile; skips damaged sets. Returns 0,
 * ERROR_MEMORY or ERROR_LIMIT. */
int tally_read_labels(struct tally *tally, struct profile *profile);

/* probes.c: reads the probe points that each process has reached from its chunks. */
int tally_read_probes(struct tally *tally, const char *name, struct error *error);

/* threads.c: makes the table of threads, with their trees and creators. */
int tally_read_threads(struct tally *tally, const char *name, struct error *error);

/* objects.c: builds a thread's tree from the objects that its process has made. Fills in `paths`, which is empty
 * before: each node's path, by the node's address. */
int tally_read_objects(const struct tally *tally, struct count_thread *thread, struct hash_map *paths, const char *name,
		       struct error *error);

/* compensate.c: subtracts the time that the probes took from the times of the trees' paths. Returns 0 or ERROR_MEMORY. */
int tally_compensate(struct tally *tally);

/* probes_off.c: adds findings for the probe points that switched themselves off or were switched off. Returns 0,
 * ERROR_MEMORY or ERROR_LIMIT. */
int tally_add_points_off(const struct tally *tally, struct profile *profile);
struct tally_probes_off {
	uint64_t throttled, switched;
};
struct tally_probes_off tally_probes_off(const struct tally *tally);

struct frames_options;
/* taken_addresses.c: adds notes about the functions whose addresses other functions take, from the files of modules with probe
 * points. Returns 0 or a negative error. */
int tally_note_taken_addresses(const struct tally *tally, struct profile *profile,
			       const struct frames_options *options);

/* losses.c: adds findings for what was not counted, and the findings of probes_off.c. Returns 0, ERROR_MEMORY or
 * ERROR_LIMIT. */
int tally_add_findings(const struct tally *tally, struct profile *profile);

/* resource_rows.c: adds a row for each resource that was counted or sampled. */
int tally_add_resources(struct tally *tally, struct profile *profile);

/* addresses.c: adds the modules of all processes. A file is one module, also if several processes map it. */
int tally_add_modules(struct tally *tally, struct profile *profile);

#endif
