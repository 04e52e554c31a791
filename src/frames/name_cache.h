/*
 * A cache of names, for many profiles that are made one after the other from one growing recording: each address is searched once, however
 * many profiles contain it.
 *
 * The profiles are extracts (profile/extract.h) of the recording's profile, the source. The key of a name is the module's id in the source,
 * and the address.
 *
 *   name_cache_init -> (name_cache_renew -> name_cache_request -> [name_cache_find] -> name_cache_apply)... -> name_cache_release
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
	struct profile *profile; /* owned: the requested modules and locations, and the names found so far */
	struct name_cache_module {
		uint32_t source;  /* its id in the source */
		uint64_t lacking; /* hits at or below addresses without a name in the last extract */
		uint64_t list;    /* of generated code: 1 + the size of the list that named it; 0: there was none */
	} * modules;              /* owned: by module of `profile` */
	size_t module_capacity;
	struct hash_map by_source; /* module of the source -> module of `profile` */
	uint32_t *known;           /* owned: location of the last extract -> location of `profile` */
	size_t known_capacity;
};

int name_cache_init(struct name_cache *names);
void name_cache_release(struct name_cache *names); /* accepts {0} */

/* Removes the result "no name" of generated code whose runtime's list has grown since, so that name_cache_find searches it again.
 * options->open_module as below. */
void name_cache_renew(struct name_cache *names, const struct frames_options *options);

/* The part of an extract that has no name yet. */
struct name_cache_lack {
	size_t locations; /* without a name */
	uint64_t hits;    /* of these locations themselves */
	uint64_t
		most_hits; /* per module, the sum over its locations without a name of the hits at or below them: the largest such sum */
	uint64_t all_hits; /* of the extract */
};

/* Requests the names of an extract's locations. Returns 0 or a negative error. */
int name_cache_request(struct name_cache *names, const struct profile_extract *extract, struct name_cache_lack *lack);

/* Searches the requested names of the modules that have at least `hits_min` hits at or below addresses without a name in the last
 * extract; 0: all names that were ever requested. options->open_module gets the ids of modules in the source. Returns 0 or a negative error. */
int name_cache_find(struct name_cache *names, uint64_t hits_min, const struct frames_options *options,
		    struct error *error);

/* Adds their frames to the locations of the extract that was requested last. A location without a name yet gets a function that stands
 * for its module: "[libfoo.so: not named yet]". Returns 0 or a negative error. */
int name_cache_apply(const struct name_cache *names, struct profile_extract *extract);

#endif
