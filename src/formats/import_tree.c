#include "formats/import_tree.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/quote.h"
#include "profile/module_name.h"

int import_tree_fail(const struct import_tree *tree, int code)
{
	return error_set(tree->error, code, "cannot read %s%s%s: %s", quote_mark(tree->name), tree->name,
			 quote_mark(tree->name), error_text(code));
}

int import_tree_open(struct import_tree *tree, const char *name, struct error *error)
{
	*tree = (struct import_tree){ .name = name, .error = error };
	buffer_init(&tree->key);
	hash_map_init(&tree->processes);
	hash_map_init(&tree->threads);
	hash_map_init(&tree->modules);
	tree->profile = profile_new();
	if (strings_init(&tree->keys) < 0 || !tree->profile)
		return import_tree_fail(tree, ERROR_MEMORY);
	return 0;
}

struct profile *import_tree_close(struct import_tree *tree, int code)
{
	struct profile *profile = tree->profile;
	strings_release(&tree->keys);
	free(tree->id_of);
	buffer_release(&tree->key);
	hash_map_release(&tree->processes);
	hash_map_release(&tree->threads);
	hash_map_release(&tree->modules);
	if (code < 0) {
		profile_free(profile);
		return NULL;
	}
	profile->symbolized = true;
	profile->ended = true;
	return profile;
}

/* Returns the id of a string, or 0 after an error, which `*code` then has. */
static uint32_t string_of(struct import_tree *tree, const char *text, int *code)
{
	int64_t id = text ? profile_add_string(tree->profile, text) : 0;
	if (id < 0)
		*code = (int)id;
	return id < 0 ? 0 : (uint32_t)id;
}

static int64_t checked(const struct import_tree *tree, int64_t result)
{
	return result < 0 ? import_tree_fail(tree, (int)result) : result;
}

bool import_tree_is_kernel(const char *path)
{
	static const char *const others[] = { "[vdso]", "[vsyscall]", "[unknown]", "[stack]",
					      "[heap]", "[anon]",     "[imported]" };
	size_t length = strlen(path);
	for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++)
		if (strcmp(path, others[i]) == 0)
			return false;
	return length > 2 && path[0] == '[' && path[length - 1] == ']';
}

int64_t import_tree_module(struct import_tree *tree, const char *path)
{
	int code = 0;
	bool is_kernel = import_tree_is_kernel(path);
	const char *named = path[0] ? path : "[imported]";
	uint32_t text = string_of(tree, is_kernel ? MODULE_NAME_KERNEL : named, &code);
	if (code < 0)
		return import_tree_fail(tree, code);
	uint32_t known = hash_map_get(&tree->modules, text);
	if (known != HASH_MAP_NONE)
		return known;
	const struct profile_module module = { .path = text,

					       .kind = is_kernel ? MODULE_KERNEL : MODULE_NAMES };
	int64_t id = profile_add_module(tree->profile, &module);
	if (id >= 0 && hash_map_put(&tree->modules, text, (uint32_t)id) < 0)
		id = ERROR_MEMORY;
	return checked(tree, id);
}

/* Returns the value of a hexadecimal digit, or -1. */
static int digit_of(char c)
{
	static const char digits[] = "0123456789abcdef";
	const char *found = c ? strchr(digits, c >= 'A' && c <= 'F' ? c - 'A' + 'a' : c) : NULL;
	return found ? (int)(found - digits) : -1;
}

void import_tree_build_id(struct import_tree *tree, uint32_t module, const char *text)
{
	enum { DIGIT_BITS = 4 };
	struct profile_module *row = &tree->profile->modules[module];
	size_t bytes = strlen(text) / 2;
	if (strlen(text) % 2 || bytes > PROFILE_BUILD_ID_MAX)
		return;
	for (size_t i = 0; i < bytes; i++)
		if (digit_of(text[2 * i]) < 0 || digit_of(text[2 * i + 1]) < 0)
			return;
	for (size_t i = 0; i < bytes; i++)
		row->build_id[i] = (uint8_t)(digit_of(text[2 * i]) << DIGIT_BITS | digit_of(text[2 * i + 1]));
	row->build_id_bytes = (uint8_t)bytes;
}

/* --- functions and locations --- */

/* Stores the id of the key in tree->key in `*slot`. Returns 1 if the key is new, and the caller
 * then sets tree->id_of[*slot]. */
static int find_key(struct import_tree *tree, uint32_t *slot)
{
	size_t had = tree->keys.count;
	int64_t key = buffer_error(&tree->key);
	if (key == 0)
		key = strings_add(&tree->keys, (const char *)tree->key.bytes, tree->key.size);
	if (key < 0)
		return (int)key;
	*slot = (uint32_t)key;
	if (tree->keys.count == had)
		return 0;
	return ARRAY_RESERVE(tree->id_of, tree->id_capacity, tree->keys.count) < 0 ? ERROR_MEMORY : 1;
}

static void begin_key(struct import_tree *tree, char kind, uint32_t module)
{
	buffer_clear(&tree->key);
	buffer_append_byte(&tree->key, (uint8_t)kind);
	buffer_append_varint(&tree->key, module);
}

static void add_to_key(struct import_tree *tree, const char *text, size_t bytes)
{
	buffer_append_varint(&tree->key, bytes);
	buffer_append(&tree->key, text, bytes);
}

static void add_text_to_key(struct import_tree *tree, const char *text)
{
	add_to_key(tree, text ? text : "", text ? strlen(text) : 0);
}

static const char *home_of(const struct import_frame *frame)
{
	return frame->home ? frame->home : frame->file;
}

static int64_t add_function(struct import_tree *tree, uint32_t module, const struct import_frame *frame)
{
	int code = 0;
	int64_t name = strings_add(&tree->profile->strings, frame->function, frame->function_bytes);
	bool is_main = frame->function_bytes == 4 && memcmp(frame->function, "main", 4) == 0;
	struct profile_function function = { .name = (uint32_t)name,
					     .linkage = string_of(tree, frame->linkage, &code),
					     .module = module,
					     .file = string_of(tree, home_of(frame), &code),
					     .line = frame->start_line,
					     .role = is_main ? ROLE_MAIN : ROLE_NONE };
	if (name < 0 || code < 0)
		return name < 0 ? name : code;
	return profile_add_function(tree->profile, &function);
}

static int64_t function_of(struct import_tree *tree, uint32_t module, const struct import_frame *frame)
{
	uint32_t slot;
	begin_key(tree, 'f', module);
	add_to_key(tree, frame->function, frame->function_bytes);
	add_text_to_key(tree, frame->linkage);
	add_text_to_key(tree, home_of(frame));
	buffer_append_varint(&tree->key, frame->start_line);
	int is_new = find_key(tree, &slot);
	if (is_new < 0)
		return is_new;
	if (!is_new)
		return tree->id_of[slot];
	int64_t id = add_function(tree, module, frame);
	tree->id_of[slot] = id < 0 ? PROFILE_NONE : (uint32_t)id;
	return id;
}

static int add_frame(struct import_tree *tree, uint32_t module, const struct import_frame *from, bool is_inlined)
{
	int code = 0;
	int64_t function = function_of(tree, module, from);
	if (function < 0)
		return (int)function;
	const struct profile_frame frame = { .function = (uint32_t)function,
					     .file = string_of(tree, from->file, &code),
					     .line = from->line,
					     .inlined = is_inlined,
					     .kind = (uint8_t)from->kind };
	int64_t id = code < 0 ? code : profile_add_frame(tree->profile, &frame);
	return id < 0 ? (int)id : 0;
}

static int64_t add_location(struct import_tree *tree, uint32_t module, const struct import_frame *frames, size_t count)
{
	struct profile *profile = tree->profile;
	size_t first = profile->frame_count;
	int code = 0;
	for (size_t i = 0; code == 0 && i < count; i++)
		code = add_frame(tree, module, &frames[i], i + 1 < count);
	/* Locations of names have no address; a number of their own distinguishes them. */
	int64_t location = code < 0 ? code : profile_add_location(profile, module, profile->location_count);
	if (location < 0)
		return location;
	profile->locations[location].first_frame = (uint32_t)first;
	profile->locations[location].frame_count = (uint32_t)count;
	return location;
}

int64_t import_tree_location(struct import_tree *tree, uint32_t module, const struct import_frame *frames, size_t count)
{
	uint32_t slot;
	begin_key(tree, 'l', module);
	for (size_t i = 0; i < count; i++) {
		add_to_key(tree, frames[i].function, frames[i].function_bytes);
		add_text_to_key(tree, frames[i].linkage);
		add_text_to_key(tree, frames[i].file);
		add_text_to_key(tree, home_of(&frames[i]));
		buffer_append_varint(&tree->key, frames[i].line);
		buffer_append_varint(&tree->key, frames[i].start_line);
		buffer_append_byte(&tree->key, (uint8_t)frames[i].kind);
	}
	int is_new = find_key(tree, &slot);
	if (is_new < 0)
		return import_tree_fail(tree, is_new);
	if (!is_new)
		return tree->id_of[slot];
	int64_t id = add_location(tree, module, frames, count);
	tree->id_of[slot] = id < 0 ? PROFILE_NONE : (uint32_t)id;
	return checked(tree, id);
}

/* --- threads, resources, hits --- */

static int64_t process_of(struct import_tree *tree, uint32_t pid, const char *name)
{
	int code = 0;
	uint32_t known = hash_map_get(&tree->processes, pid);
	if (known != HASH_MAP_NONE)
		return known;
	const struct profile_process process = { .pid = pid, .name = string_of(tree, name, &code) };
	int64_t id = code < 0 ? code : profile_add_process(tree->profile, &process);
	if (id >= 0 && hash_map_put(&tree->processes, pid, (uint32_t)id) < 0)
		id = ERROR_MEMORY;
	return id;
}

int64_t import_tree_thread(struct import_tree *tree, uint32_t pid, uint32_t tid, const char *process_name,
			   const char *thread_name)
{
	enum { PID_SHIFT = 32 };
	int code = 0;
	uint64_t key = (uint64_t)pid << PID_SHIFT | tid;
	uint32_t known = hash_map_get(&tree->threads, key);
	if (known != HASH_MAP_NONE)
		return known;
	int64_t process = process_of(tree, pid, process_name);
	if (process < 0)
		return checked(tree, process);
	const struct profile_thread thread = { .tid = tid,
					       .process = (uint32_t)process,
					       .name = string_of(tree, thread_name, &code) };
	int64_t id = code < 0 ? code : profile_add_thread(tree->profile, &thread);
	if (id >= 0 && hash_map_put(&tree->threads, key, (uint32_t)id) < 0)
		id = ERROR_MEMORY;
	return checked(tree, id);
}

int64_t import_tree_resource(struct import_tree *tree, const char *name, const char *unit)
{
	int code = 0;
	if (tree->profile->resource_count >= IMPORT_RESOURCES_MOST)
		return error_set(tree->error, ERROR_LIMIT, "cannot read %s%s%s: it has more than %d resources",
				 quote_mark(tree->name), tree->name, quote_mark(tree->name), IMPORT_RESOURCES_MOST);
	uint32_t id = string_of(tree, name, &code);
	const struct profile_resource resource = { .name = id,
						   .title = id,
						   .unit = string_of(tree, unit, &code),
						   .backend = string_of(tree, "import", &code),
						   .kind = RESOURCE_SAMPLED,
						   .interval = 1 };
	return checked(tree, code < 0 ? code : profile_add_resource(tree->profile, &resource));
}

int import_tree_amounts(struct import_tree *tree, uint32_t resource, enum import_amounts amounts)
{
	static const char note[] = "the file does not state how many samples these are, so no error is known";
	static const enum resource_kind kinds[] = {
		[IMPORT_SAMPLES] = RESOURCE_MERGED, [IMPORT_EXACT] = RESOURCE_EXACT, [IMPORT_SUMS] = RESOURCE_SUMS
	};
	int code = 0;
	uint32_t text = amounts == IMPORT_SUMS ? string_of(tree, note, &code) : 0;
	struct profile_resource *row = &tree->profile->resources[resource];
	row->kind = (uint8_t)kinds[amounts];
	row->note = text;
	return (int)checked(tree, code);
}

int import_tree_counted(struct import_tree *tree, const char *name, const char *unit, uint32_t *id)
{
	int64_t added = import_tree_resource(tree, name, unit);
	if (added < 0)
		return (int)added;
	*id = (uint32_t)added;
	return import_tree_amounts(tree, *id, IMPORT_EXACT);
}

void import_tree_find_intervals(struct import_tree *tree)
{
	struct profile *profile = tree->profile;
	uint64_t amounts[IMPORT_RESOURCES_MOST] = { 0 };
	bool differ[IMPORT_RESOURCES_MOST] = { false };
	for (size_t i = 0; i < profile->resource_count; i++)
		differ[i] = profile->resources[i].kind != RESOURCE_SAMPLED;
	for (size_t i = 0; i < profile->hit_count; i++) {
		const struct profile_hit *hit = &profile->hits[i];
		differ[hit->resource] |= amounts[hit->resource] && amounts[hit->resource] != hit->count;
		amounts[hit->resource] = hit->count;
	}
	for (size_t i = 0; i < profile->hit_count; i++)
		if (!differ[profile->hits[i].resource])
			profile->hits[i].count = 1;
	for (size_t i = 0; i < profile->resource_count; i++)
		if (!differ[i] && amounts[i])
			profile->resources[i].interval = amounts[i];
}

int import_tree_command(struct import_tree *tree, const char *command)
{
	bool has_command = command && command[0];
	return has_command && profile_add_note(tree->profile, "command", command) < 0
		       ? import_tree_fail(tree, ERROR_MEMORY)
		       : 0;
}

int import_tree_hit(struct import_tree *tree, uint64_t time_ns, uint32_t thread, uint32_t node, uint32_t resource,
		    uint64_t count)
{
	if (count > PROFILE_HITS_MOST - tree->profile->hits_added)
		return error_set(tree->error, ERROR_LIMIT, "cannot read %s%s%s: its values add up to more than 2^62",
				 quote_mark(tree->name), tree->name, quote_mark(tree->name));
	int code = profile_add_hit(tree->profile, time_ns, thread, node, resource, count);
	return code < 0 ? import_tree_fail(tree, code) : 0;
}
