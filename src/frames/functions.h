/*
 * The functions of a profile while it is being symbolized: each one once.
 *
 * What makes two names one function: a function visible outside of its source
 * file is known by its name in its module; a static one by its name and where
 * it is declared, or without debug information by its name and source file
 * (scope); so parts and clones of one (`parse.cold`), copies in several units,
 * and inlined instances are all the same function.
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
		uint32_t name;     /* string */
		uint32_t file;     /* string; 0 unless static */
		uint32_t line;     /* 0 unless static */
		uint32_t scope;    /* 0 unless static and without debug information */
		uint32_t function; /* what it is the key of */
	} * keys;
	size_t key_count, key_capacity;
};

struct function_identity {
	const char *name;    /* as the user reads it */
	const char *key;     /* tells it from others in the module; NULL: the name does */
	const char *linkage; /* NULL: none */
	const char *file;    /* NULL: not known */
	uint32_t module;
	uint32_t line;
	uint32_t scope;
	bool is_static;
	uint8_t role;
};

/* Knows the functions that the profile has already. Returns 0 or ERROR_MEMORY;
 * call functions_release in any case. */
int functions_init(struct functions *functions, struct profile *profile);
void functions_release(struct functions *functions);

/* The function's id, added if new; what was not known about it is filled in. */
int64_t functions_add(struct functions *functions, const struct function_identity *identity);

#endif
