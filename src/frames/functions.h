/*
 * The functions of a profile while it is symbolized: each one once.
 *
 * Two names mean one function if their keys are equal. The key of a function that is visible outside of its source
 * file is its name and module. The key of a static function is its name and the position of its declaration, or
 * without debug information its name and source file (scope). So parts and clones of a function (`parse.cold`),
 * copies in several units, and inlined instances are the same function.
 */
#ifndef FRAMES_FUNCTIONS_H
#define FRAMES_FUNCTIONS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/hash_map.h"
#include "profile/profile.h"

struct functions {
	struct profile *profile;
	struct hash_map by_key; /* hash of a key -> index in keys */
	struct function_key {
		uint32_t module;
		uint32_t name;     /* string id */
		uint32_t file;     /* string id; 0 unless static */
		uint32_t line;     /* 0 unless static */
		uint32_t scope;    /* 0 unless static and without debug information */
		uint32_t function; /* the function that has this key */
	} * keys;
	size_t key_count, key_capacity;
};

/* A function as a provider describes it. Texts are numbers of strings: in the answer (naming_answer.h), then in the profile; 0: none. */
struct function_identity {
	uint32_t name; /* displayed name */
	uint32_t key;  /* distinguishes it from others in the module; 0: the name does */
	uint32_t linkage, file;
	uint32_t note; /* a value for PROFILE_NOTE_NESTED */
	uint32_t line, scope;
	uint8_t is_static, role, unused[2];
};

/* Registers the functions that the profile has already. Returns 0 or ERROR_MEMORY; call functions_release in any
 * case. */
int functions_init(struct functions *functions, struct profile *profile);
void functions_release(struct functions *functions);

/* Returns the id of a function of a module, or a negative error. Adds the function if it is new, and fills in what was unknown
 * about it. Adds its note. */
int64_t functions_add(struct functions *functions, uint32_t module, const struct function_identity *identity);

#endif
