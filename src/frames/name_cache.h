/*
 * The names of locations that were named before, for profiles that are made again and again from one recording: each address is
 * named once, however many profiles it is in.
 *
 * The profiles are extracts (profile/extract.h) of one growing source. This object remembers names by the ids of modules in that source,
 * and by addresses.
 *
 *   name_cache_init -> (name_cache_renew -> name_cache_ask -> [name_cache_find] -> name_cache_give)... -> name_cache_release
 */
#ifndef FRAMES_NAME_CACHE_H
#define FRAMES_NAME_CACHE_H

#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "frames/frames.h"
#include "profile/extract.h"
#include "profile/profile.h"

struct name_cache {
	struct profile *profile; /* owned: modules and locations that were asked for, and what is known of them */
	struct name_cache_module {
		uint32_t source;  /* its id in the source */
		uint64_t lacking; /* hits at or below addresses without a name in the last extract */
		uint64_t list;    /* of generated code: 1 + the size of the list that named it; 0: there was none */
	} * modules;              /* owned: by module of `profile` */
	size_t module_capacity;
	struct hash_map by_source; /* module of the source -> module of `profile` */
	uint32_t *known;           /* owned: by location of the last extract, that of `profile` */
	size_t known_capacity;
};

int name_cache_init(struct name_cache *names);
void name_cache_release(struct name_cache *names); /* accepts {0} */

/* Forgets that generated code has no name where its runtime's list has grown since, so that it is asked for again. options->open_module as
 * below. */
void name_cache_renew(struct name_cache *names, const struct frames_options *options);

/* The part of an extract that has no name yet: locations; hits at such a location; and, for the module with the most of them, the sum over such
 * locations of the hits at or below them. */
struct name_cache_lack {
	size_t locations;
	uint64_t hits, most_hits, all_hits;
};

/* Asks for the names of an extract's locations. Returns 0 or a negative error. */
int name_cache_ask(struct name_cache *names, const struct profile_extract *extract, struct name_cache_lack *lack);

/* Names what was asked for in the modules that have at least `hits_min` hits at or below addresses without a name in the last
 * extract; 0: everything that was
 * ever asked for. options->open_module gets the ids of modules in the source. Returns 0 or a negative error. */
int name_cache_find(struct name_cache *names, uint64_t hits_min, const struct frames_options *options,
		    struct error *error);

/* Gives the locations of the extract that was asked for last their frames. One that has no name yet is in a function that stands for its module: "[libfoo.so: not
 * named yet]". Returns 0 or a negative error. */
int name_cache_give(const struct name_cache *names, struct profile_extract *extract);

#endif
