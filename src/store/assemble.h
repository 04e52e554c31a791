/*
 * Builds a profile from the rows of a store. The rows may come from anywhere: each call checks its
 * row, and a row that does not fit is an error of code ERROR_CORRUPT.
 *
 * Life cycle: assemble_init; for each recording assemble_recording, and at any time after it its
 * hits and touches; assemble_finish in any case. Recordings come in the order of their starts. The
 * names of call paths are read from the store when a hit first needs them: assemble_stack calls a
 * struct assemble_source.
 */
#ifndef STORE_ASSEMBLE_H
#define STORE_ASSEMBLE_H

#include "base/hash_map.h"
#include "store/description.h"
#include "store/row_sums.h"
#include "store/store.h"

struct assembled_recording {
	const void *description;
	size_t description_bytes;
	int64_t start_unix_ns, end_unix_ns, first_bucket;
	bool ended;
	struct store_labels labels;
	const char *name; /* for messages */
};

/* Rows of names, by their ids in the store, which are not 0. Texts are not owned, and valid
 * until the next call of the function. */
struct assembled_module {
	const char *path;
	int64_t kind;
	const void *build_id;
	size_t build_id_bytes;
};

struct assembled_function {
	const char *name, *linkage, *file, *group;
	int64_t module; /* 0: none */
	int64_t line, role;
};

struct assembled_frame {
	int64_t function;
	const char *file; /* NULL: that of the function */
	int64_t line, discriminator, kind;
	bool inlined;
};

struct assembled_location {
	int64_t module;
	uint64_t address;
	int64_t marks; /* store/hash.h */
};

struct assembled_stack {
	int64_t parent; /* 0: the location is the outermost one */
	int64_t location;
};

/* A kind of store reads its rows. Each function returns 1, 0 if there is no such row, or a
 * negative error with the error of assemble_init set. */
struct assemble_source {
	void *context;
	int (*module)(void *context, int64_t id, struct assembled_module *row);
	int (*function)(void *context, int64_t id, struct assembled_function *row);
	int (*location)(void *context, int64_t id, struct assembled_location *row);
	/* Frames of a location, the innermost one first: `depth` is 0, 1 and so on, up to the
	 * first one that does not exist. */
	int (*frame)(void *context, int64_t location, size_t depth, struct assembled_frame *row);
	int (*stack)(void *context, int64_t id, struct assembled_stack *row);
};

/* A recording that was added up. */
struct assembled_part {
	struct description_map map;
	int64_t first_bucket, start_unix_ns;
};

struct assemble {
	struct profile *profile; /* owned until assemble_finish */
	const struct store_selection *selection;
	const struct assemble_source *source;
	int64_t bucket_ns;
	struct hash_map modules, functions, locations, stacks; /* ids of the profile by those of the store */
	struct hash_map marked;  /* the profile's locations to which unknown tail calls lead */
	struct hash_map unknown; /* (caller, callee), locations, of the calls that have their row */
	int64_t *chain;          /* stacks from a hit up to the first known one; owned */
	size_t chain_count, chain_capacity;
	struct profile_frame *frames; /* of one location; owned */
	size_t frame_capacity;
	struct row_sums sums;         /* hits that assemble_finish appends to those of the profile */
	struct assembled_part *parts; /* owned */
	size_t part_count, part_capacity;
	int64_t base_unix_ns; /* start of the first recording */
	uint64_t base_ns;     /* the same in the profile */
	bool *chosen;         /* by label set of the profile: has the selection's labels; owned */
	size_t chosen_count;
	bool is_cut; /* the selection's times leave out a part of a recording */
	struct error *error;
};

/* A row of hits or touches. */
struct assembled_row {
	size_t recording;                 /* of assemble_recording */
	int64_t resource, thread, labels; /* ids of the recording; thread -1: none */
	int64_t bucket;                   /* from the recording's first one on; BATCH_NO_TIME */
	uint32_t node;
	int64_t hits, samples; /* touches: no samples */
	int64_t address;
	const char *mapping; /* touches only */
};

/* Rounds the times of a selection down to buckets, so that ranges of time that meet add up. Returns 0, or a negative error if no time is left. */
int assemble_round(struct store_selection *selection, int64_t bucket_ns, struct error *error);

int assemble_init(struct assemble *assemble, const struct store_selection *selection, int64_t bucket_ns,
		  const struct assemble_source *source, struct error *error);

/* Returns the number of the recording, from 0 on, or a negative error. */
int64_t assemble_recording(struct assemble *assemble, const struct assembled_recording *recording);

/* Returns whether the selection needs a resource of a recording; below, whether it chooses its hits with a label set. Ids that the recording does not
 * have are chosen, and their rows are then an error. */
bool assemble_needs(const struct assemble *assemble, size_t recording, int64_t resource);
bool assemble_chooses(const struct assemble *assemble, size_t recording, int64_t resource, int64_t label_set);

/* The buckets of a recording that the selection chooses: first <= bucket < end. */
void assemble_buckets(const struct assemble *assemble, size_t recording, int64_t *first, int64_t *end);

/* Returns the node of a stack, or a negative error. */
int64_t assemble_stack(struct assemble *assemble, int64_t id);

int assemble_hit(struct assemble *assemble, const struct assembled_row *row);
int assemble_touch(struct assemble *assemble, const struct assembled_row *row);

/* Returns an error if the selection was empty, else 0. `store` is named in the message. */
int assemble_check_found(const struct assemble *assemble, const char *store);

/* Returns the profile, which the caller frees, if `status` is 0; else NULL. Releases everything else. */
struct profile *assemble_finish(struct assemble *assemble, int status);

/* Sets the error to "cannot read the store: it is damaged (...)". Returns ERROR_CORRUPT. */
int assemble_corrupt(const struct assemble *assemble, const char *what);

/* Sets the error of hits that cannot be added: with ERROR_LIMIT, that they need too much memory. Returns `code`. */
int assemble_refuse_hits(const struct assemble *assemble, int code);

/* Sets the error to "cannot read the store: REASON". Returns `code`. */
int assemble_fail(const struct assemble *assemble, int code);

#endif
