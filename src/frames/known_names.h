/*
 * The names of locations that were named before, for profiles that are made again and again from one recording: each address is
 * named once, however many profiles it is in.
 *
 * The profiles are extracts (profile/extract.h) of one growing source. This object remembers names by the ids of locations and
 * modules in that source.
 *
 *   known_names_init -> (known_names_renew -> known_names_ask -> [known_names_find] -> known_names_give)... -> known_names_release
 */
#ifndef FRAMES_KNOWN_NAMES_H
#define FRAMES_KNOWN_NAMES_H

#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "frames/frames.h"
#include "profile/extract.h"
#include "profile/profile.h"

struct known_names {
	struct profile *profile; /* owned: modules and locations that were asked for, and what is known of them */
	uint32_t *locations;     /* owned: by location of the source, that of `profile`; PROFILE_NONE: none */
	uint32_t *modules;       /* owned: ... by module */
	uint32_t *sources;       /* owned: by module of `profile`, that of the source */
	uint64_t *lacking;       /* owned: ... the hits at or below addresses without a name in the last extract */
	uint64_t *lists; /* owned: ... for generated code, 1 + the size of the list that named it; 0: there was none */
	size_t location_count, module_count, source_count, location_capacity, module_capacity, source_capacity,
		lacking_capacity, list_capacity;
};

int known_names_init(struct known_names *names);
void known_names_release(struct known_names *names); /* accepts {0} */

/* Forgets that generated code has no name where its runtime's list has grown since, so that it is asked for again. options->open_module as
 * below. */
void known_names_renew(struct known_names *names, const struct frames_options *options);

/* The part of an extract that has no name yet: locations; hits at such a location; and, for the module with the most of them, the sum over such
 * locations of the hits at or below them. */
struct known_names_lack {
	size_t locations;
	uint64_t hits, most_hits, all_hits;
};

/* Asks for the names of an extract's locations. Returns 0 or a negative error. */
int known_names_ask(struct known_names *names, const struct profile_extract *extract, struct known_names_lack *lack);

/* Names what was asked for in the modules that have at least `hits_min` hits at or below addresses without a name in the last
 * extract; 0: everything that was
 * ever asked for. options->open_module gets the ids of modules in the source. Returns 0 or a negative error. */
int known_names_find(struct known_names *names, uint64_t hits_min, const struct frames_options *options,
		     struct error *error);

/* Gives the extract's locations their frames. One that has no name yet is in a function that stands for its module: "[libfoo.so: not
 * named yet]". Returns 0 or a negative error. */
int known_names_give(const struct known_names *names, struct profile_extract *extract);

#endif
