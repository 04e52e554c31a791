#include "store/hash.h"

#include <string.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

static void add_number(XXH64_state_t *hash, uint64_t number)
{
	uint8_t bytes[8];
	for (int i = 0; i < 8; i++)
		bytes[i] = (uint8_t)(number >> 8 * i);
	XXH64_update(hash, bytes, sizeof(bytes));
}

static void add_text(XXH64_state_t *hash, const struct profile *profile, uint32_t id)
{
	const char *text = profile_string(profile, id);
	XXH64_update(hash, text, strlen(text) + 1);
}

static uint64_t finish(const XXH64_state_t *hash)
{
	uint64_t value = XXH64_digest(hash);
	return value ? value : 1;
}

uint64_t store_hash_module(const struct profile *profile, uint32_t id)
{
	const struct profile_module *module = &profile->modules[id];
	XXH64_state_t hash;
	XXH64_reset(&hash, 0);
	add_number(&hash, module->kind);
	add_text(&hash, profile, module->path);
	XXH64_update(&hash, module->build_id, module->build_id_bytes);
	return finish(&hash);
}

uint64_t store_hash_function(const struct profile *profile, uint32_t id)
{
	const struct profile_function *function = &profile->functions[id];
	XXH64_state_t hash;
	XXH64_reset(&hash, 0);
	add_text(&hash, profile, function->name);
	add_text(&hash, profile, function->linkage);
	add_text(&hash, profile, function->file);
	add_text(&hash, profile, function->group);
	add_number(&hash, function->line);
	add_number(&hash, function->role);
	add_number(&hash, function->module == PROFILE_NONE ? 0 : store_hash_module(profile, function->module));
	return finish(&hash);
}

uint64_t store_hash_location(const struct profile *profile, const struct profile_location *location, uint8_t marks,
			     uint64_t module, const uint64_t *functions)
{
	bool is_named = profile->modules[location->module].kind == MODULE_NAMES;
	XXH64_state_t hash;
	XXH64_reset(&hash, 0);
	add_number(&hash, module);
	/* Locations of names have no address, only a number that distinguishes them. */
	add_number(&hash, is_named ? 0 : location->address);
	add_number(&hash, marks);
	for (uint32_t i = 0; location->first_frame != PROFILE_NONE && i < location->frame_count; i++) {
		const struct profile_frame *frame = &profile->frames[location->first_frame + i];
		add_number(&hash, functions[frame->function]);
		add_text(&hash, profile, frame->file);
		add_number(&hash, frame->line);
		add_number(&hash, frame->discriminator);
		add_number(&hash, (uint64_t)frame->kind << 1 | frame->inlined);
	}
	return finish(&hash);
}

uint64_t store_hash_stack(uint64_t parent, uint64_t location)
{
	XXH64_state_t hash;
	XXH64_reset(&hash, 0);
	add_number(&hash, parent);
	add_number(&hash, location);
	return finish(&hash);
}
