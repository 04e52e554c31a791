#include "store/hash.h"

#include <string.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

/* Content on its way into a hash. Most of it is short, and a hash of one run of bytes is several times faster than one of pieces. */
struct content {
	uint8_t bytes[256];
	size_t size;
	bool is_long; /* `hash` has what came before `bytes`; otherwise it is not initialized */
	XXH64_state_t hash;
};

static void begin(struct content *content)
{
	content->size = 0;
	content->is_long = false;
}

static void add_bytes(struct content *content, const void *bytes, size_t size)
{
	if (size <= sizeof(content->bytes) - content->size) {
		memcpy(content->bytes + content->size, bytes, size);
		content->size += size;
		return;
	}
	if (!content->is_long)
		XXH64_reset(&content->hash, 0);
	content->is_long = true;
	XXH64_update(&content->hash, content->bytes, content->size);
	XXH64_update(&content->hash, bytes, size);
	content->size = 0;
}

static void add_number(struct content *content, uint64_t number)
{
	uint8_t bytes[8];
	for (int i = 0; i < 8; i++)
		bytes[i] = (uint8_t)(number >> 8 * i);
	add_bytes(content, bytes, sizeof(bytes));
}

static void add_text(struct content *content, const struct profile *profile, uint32_t id)
{
	add_bytes(content, profile_string(profile, id), strings_length(&profile->strings, id) + 1);
}

static uint64_t finish(struct content *content)
{
	if (content->is_long)
		XXH64_update(&content->hash, content->bytes, content->size);
	uint64_t value = content->is_long ? XXH64_digest(&content->hash) : XXH64(content->bytes, content->size, 0);
	return value ? value : 1;
}

uint64_t store_hash_module(const struct profile *profile, uint32_t id)
{
	const struct profile_module *module = &profile->modules[id];
	struct content content;
	begin(&content);
	add_number(&content, module->kind);
	add_text(&content, profile, module->path);
	add_bytes(&content, module->build_id, module->build_id_bytes);
	return finish(&content);
}

uint64_t store_hash_function(const struct profile *profile, uint32_t id, uint64_t module)
{
	const struct profile_function *function = &profile->functions[id];
	struct content content;
	begin(&content);
	add_text(&content, profile, function->name);
	add_text(&content, profile, function->linkage);
	add_text(&content, profile, function->file);
	add_text(&content, profile, function->group);
	add_number(&content, function->line);
	add_number(&content, function->role);
	add_number(&content, module);
	return finish(&content);
}

uint64_t store_hash_location(const struct profile *profile, const struct profile_location *location, uint8_t marks,
			     uint64_t module, const uint64_t *functions)
{
	bool is_named = profile->modules[location->module].kind == MODULE_NAMES;
	struct content content;
	begin(&content);
	add_number(&content, module);
	/* Locations of names have no address, only a number that distinguishes them. */
	add_number(&content, is_named ? 0 : location->address);
	add_number(&content, marks);
	for (uint32_t i = 0; location->first_frame != PROFILE_NONE && i < location->frame_count; i++) {
		const struct profile_frame *frame = &profile->frames[location->first_frame + i];
		add_number(&content, functions[frame->function]);
		add_text(&content, profile, frame->file);
		add_number(&content, frame->line);
		add_number(&content, frame->discriminator);
		add_number(&content, (uint64_t)frame->kind << 1 | frame->inlined);
	}
	return finish(&content);
}

uint64_t store_hash_stack(uint64_t parent, uint64_t location)
{
	struct content content;
	begin(&content);
	add_number(&content, parent);
	add_number(&content, location);
	return finish(&content);
}

uint64_t store_hash_list(const void *bytes, size_t size)
{
	struct content content;
	begin(&content);
	add_bytes(&content, bytes, size);
	return finish(&content);
}
