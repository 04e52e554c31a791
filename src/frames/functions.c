#include "frames/functions.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/error.h"
#include "frames/native/names.h"

static uint64_t hash_key(const struct function_key *key)
{
	uint64_t hash = hash_u64((uint64_t)key->module << 32 | key->name);
	hash = hash_u64(hash ^ ((uint64_t)key->file << 32 | key->line));
	return hash_u64(hash + key->scope);
}

static bool same_key(const struct function_key *a, const struct function_key *b)
{
	return a->module == b->module && a->name == b->name && a->file == b->file && a->line == b->line &&
	       a->scope == b->scope;
}

/* Returns the function of a key, or PROFILE_NONE. Then *hash is the hash under which to store the key. */
static uint32_t find(const struct functions *functions, const struct function_key *key, uint64_t *hash)
{
	uint32_t index;
	/* On a collision, the hash is incremented. */
	for (*hash = hash_key(key); (index = hash_map_get(&functions->by_key, *hash)) != HASH_MAP_NONE; ++*hash)
		if (same_key(&functions->keys[index], key))
			return functions->keys[index].function;
	return PROFILE_NONE;
}

static int add_key(struct functions *functions, const struct function_key *key, uint64_t hash)
{
	if (ARRAY_RESERVE(functions->keys, functions->key_capacity, functions->key_count + 1) < 0 ||
	    hash_map_put(&functions->by_key, hash, (uint32_t)functions->key_count) < 0)
		return ERROR_MEMORY;
	functions->keys[functions->key_count++] = *key;
	return 0;
}

int functions_init(struct functions *functions, struct profile *profile)
{
	*functions = (struct functions){ .profile = profile };
	hash_map_init(&functions->by_key);
	for (size_t i = 0; i < profile->function_count; i++) {
		const struct profile_function *function = &profile->functions[i];
		bool is_rust = name_is_rust(profile_string(profile, function->linkage));
		struct function_key key = { .module = function->module,
					    .name = is_rust ? function->linkage : function->name,
					    .function = (uint32_t)i };
		uint64_t hash;
		if (find(functions, &key, &hash) == PROFILE_NONE && add_key(functions, &key, hash) < 0)
			return ERROR_MEMORY;
	}
	return 0;
}

void functions_release(struct functions *functions)
{
	hash_map_release(&functions->by_key);
	free(functions->keys);
	*functions = (struct functions){ 0 };
}

/* A symbol's name replaces DWARF's name. Of several symbols (`parse`, `parse.cold`), the shortest is the function's
 * linkage name. */
static void fill_in(struct profile *profile, uint32_t id, const struct profile_function *news)
{
	struct profile_function *function = &profile->functions[id];
	const char *linkage = profile_string(profile, function->linkage);
	const char *new_linkage = profile_string(profile, news->linkage);
	if (!linkage[0] && new_linkage[0])
		function->name = news->name;
	if (new_linkage[0] && (!linkage[0] || strlen(new_linkage) < strlen(linkage)))
		function->linkage = news->linkage;
	if (function->file == 0 && news->file != 0) {
		function->file = news->file;
		function->line = news->line;
	}
}

static int64_t add_function(struct functions *functions, uint32_t module, const struct function_identity *identity)
{
	const struct profile_function function = {
		.name = identity->name,
		.linkage = identity->linkage,
		.file = identity->file,
		.line = identity->line,
		.module = module,
		.role = identity->role,
	};
	struct function_key key = { .module = module, .name = identity->key ? identity->key : identity->name };
	if (identity->is_static && function.file != 0) {
		key.file = function.file;
		key.line = function.line;
	} else if (identity->is_static) {
		key.scope = identity->scope;
	}
	uint64_t hash;
	uint32_t known = find(functions, &key, &hash);
	if (known != PROFILE_NONE) {
		fill_in(functions->profile, known, &function);
		return known;
	}
	int64_t id = profile_add_function(functions->profile, &function);
	if (id < 0)
		return id;
	key.function = (uint32_t)id;
	int status = add_key(functions, &key, hash);
	return status < 0 ? status : id;
}

int64_t functions_add(struct functions *functions, uint32_t module, const struct function_identity *identity)
{
	struct profile *profile = functions->profile;
	int64_t id = add_function(functions, module, identity);
	if (id < 0 || identity->note == 0)
		return id;
	int64_t note = profile_add_note(profile, PROFILE_NOTE_NESTED, profile_string(profile, identity->note));
	return note < 0 ? note : id;
}
