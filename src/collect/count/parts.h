/* Between the files of the reader. */
#ifndef COLLECT_COUNT_PARTS_H
#define COLLECT_COUNT_PARTS_H

#include "collect/count/tally.h"

/* processes.c: the table of processes with their modules and mapped chunks, from the chunks. */
int tally_read_processes(struct tally *tally, const char *name, struct error *error);
/* The process of that number in the file, or NULL. */
struct count_process *tally_find_process(const struct tally *tally, uint32_t number);
/* The bytes of an object of the thread that is at an address of its process, aligned to 8 and whole in one
 * of its chunks; NULL: there is none. */
const void *tally_object(const struct tally *tally, const struct count_thread *thread, uint64_t address, size_t bytes);

/* probes.c: the probe points that each process has reached, from its chunks. */
int tally_read_probes(struct tally *tally, const char *name, struct error *error);

/* threads.c: the table of threads; then who created whom, once all have their trees. */
int tally_read_threads(struct tally *tally, const char *name, struct error *error);

/* objects.c: a thread's tree from the objects that its process has made. `paths`, empty: the path that each
 * node has become, by the node's address. */
int tally_read_objects(const struct tally *tally, struct count_thread *thread, struct hash_map *paths, const char *name,
		       struct error *error);

/* compensate.c: what the probes took is taken from the times of the trees' paths. */
void tally_compensate(struct tally *tally);

/* probes_off.c: adds findings of the probe points that turned themselves off or were switched off. 0, ERROR_MEMORY or
 * ERROR_LIMIT. */
int tally_add_points_off(const struct tally *tally, struct profile *profile);
struct tally_probes_off {
	uint64_t throttled, switched;
};
struct tally_probes_off tally_probes_off(const struct tally *tally);

struct frames_options;
/* taken.c: whose addresses functions take, as the files of modules with probe points tell it; as notes of the profile. */
int tally_note_taken(const struct tally *tally, struct profile *profile, const struct frames_options *options);

/* losses.c: adds findings of what was not counted, and those of sites_off.c. 0, ERROR_MEMORY or ERROR_LIMIT. */
int tally_add_findings(const struct tally *tally, struct profile *profile);

/* resource_rows.c: a row for each resource that was counted or sampled. */
int tally_add_resources(struct tally *tally, struct profile *profile);

/* addresses.c: the modules of all processes; those of one file are one. */
int tally_add_modules(struct tally *tally, struct profile *profile);

/* Fills in `error`; returns ERROR_MEMORY. */
int tally_out_of_memory(struct error *error);

#endif
