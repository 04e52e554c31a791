#include "profile/identity.h"

#include <stdlib.h>
#include <string.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "base/error.h"
#include "profile/module_name.h"

/* The first byte of the hashed bytes. */
enum form {
	FORM_BUILD_ID = 1,
	FORM_PATH = 2,
	FORM_NAMES = 3,
	FORM_THREAD = 4,
};

static void add_byte(XXH64_state_t *hash, uint8_t byte)
{
	XXH64_update(hash, &byte, 1);
}

static void add_number(XXH64_state_t *hash, uint64_t number)
{
	uint8_t bytes[8];
	for (int i = 0; i < 8; i++)
		bytes[i] = (uint8_t)(number >> 8 * i);
	XXH64_update(hash, bytes, sizeof(bytes));
}

static void add_text(XXH64_state_t *hash, const char *text)
{
	XXH64_update(hash, text, strlen(text) + 1);
}

static void add_address(XXH64_state_t *hash, const struct profile *profile, const struct profile_location *location)
{
	const struct profile_module *module = &profile->modules[location->module];
	if (module->build_id_bytes > 0) {
		add_byte(hash, FORM_BUILD_ID);
		add_byte(hash, module->build_id_bytes);
		XXH64_update(hash, module->build_id, module->build_id_bytes);
	} else {
		const char *path = profile_string(profile, module->path);
		add_byte(hash, FORM_PATH);
		add_byte(hash, module->kind);
		XXH64_update(hash, path, module_path_length(path));
		add_byte(hash, 0);
	}
	/* The kernel is at another place after each start of the machine. */
	if (!module_is_kernel_code(profile, location->module))
		add_number(hash, location->address);
}

static void add_frames(XXH64_state_t *hash, const struct profile *profile, const struct profile_location *location)
{
	for (uint32_t i = 0; location->first_frame != PROFILE_NONE && i < location->frame_count; i++) {
		const struct profile_frame *frame = &profile->frames[location->first_frame + i];
		add_text(hash, profile_string(profile, profile->functions[frame->function].name));
		add_number(hash, frame->line);
	}
}

uint64_t profile_location_identity(const struct profile *profile, uint32_t id)
{
	const struct profile_location *location = &profile->locations[id];
	uint8_t kind = profile->modules[location->module].kind;
	XXH64_state_t hash;
	XXH64_reset(&hash, 0);
	if (kind == MODULE_THREAD)
		add_byte(&hash, FORM_THREAD);
	else if (kind == MODULE_NAMES)
		add_byte(&hash, FORM_NAMES);
	else
		add_address(&hash, profile, location);
	if (kind == MODULE_NAMES || location->by_frames || module_is_kernel_code(profile, location->module))
		add_frames(&hash, profile, location);
	return XXH64_digest(&hash);
}

uint64_t profile_node_identity(uint64_t parent_identity, uint64_t location_identity)
{
	XXH64_state_t hash;
	XXH64_reset(&hash, 0);
	add_number(&hash, parent_identity);
	add_number(&hash, location_identity);
	return XXH64_digest(&hash);
}

int profile_identities_init(struct profile_identities *identities, const struct profile *profile)
{
	identities->locations = calloc(profile->location_count + 1, sizeof(*identities->locations));
	identities->nodes = calloc(profile->node_count, sizeof(*identities->nodes));
	if (!identities->locations || !identities->nodes) {
		profile_identities_release(identities);
		return ERROR_MEMORY;
	}
	for (size_t i = 0; i < profile->location_count; i++)
		identities->locations[i] = profile_location_identity(profile, (uint32_t)i);
	identities->nodes[PROFILE_ROOT] = PROFILE_ROOT_IDENTITY;
	for (size_t i = 1; i < profile->node_count; i++)
		identities->nodes[i] = profile_node_identity(identities->nodes[profile->nodes[i].parent],
							     identities->locations[profile->nodes[i].location]);
	return 0;
}

void profile_identities_release(struct profile_identities *identities)
{
	free(identities->locations);
	free(identities->nodes);
	*identities = (struct profile_identities){ 0 };
}
