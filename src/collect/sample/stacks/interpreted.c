#include "collect/sample/stacks/interpreted.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/hash_map.h"
#include "frames/interpreters/interpreters.h"
#include "profile/module_name.h"

/* One code object of one process. */
struct code {
	uint64_t address;
	uint32_t pid, check;
	uint32_t next; /* another one with the same key, or HASH_MAP_NONE */
	uint32_t function;
	uint32_t file; /* string of the profile */
	uint32_t first_line;
	const struct interpreter_row *row;
	uint8_t *table; /* owned */
	size_t table_bytes;
};

struct interpreted {
	struct profile *profile;
	struct hash_map by_key; /* of address, pid and check -> index in `codes` */
	struct code *codes;
	size_t code_count, code_capacity;
	struct hash_map function_by_text; /* of name, file and first line -> function of the profile */
	struct hash_map location_by_line; /* of function and line -> location of the profile */
	struct interpreted_run *runs;     /* of the present path */
	size_t run_capacity;
};

struct interpreted *interpreted_new(struct profile *profile)
{
	struct interpreted *interpreted = calloc(1, sizeof(*interpreted));
	if (!interpreted)
		return NULL;
	interpreted->profile = profile;
	hash_map_init(&interpreted->by_key);
	hash_map_init(&interpreted->function_by_text);
	hash_map_init(&interpreted->location_by_line);
	return interpreted;
}

void interpreted_free(struct interpreted *interpreted)
{
	if (!interpreted)
		return;
	for (size_t i = 0; i < interpreted->code_count; i++)
		free(interpreted->codes[i].table);
	hash_map_release(&interpreted->by_key);
	hash_map_release(&interpreted->function_by_text);
	hash_map_release(&interpreted->location_by_line);
	free(interpreted->codes);
	free(interpreted->runs);
	free(interpreted);
}

/* --- texts --- */

enum { UTF8_MOST = 4 }; /* bytes of a character */

/* Appends a character in UTF-8. Returns the bytes, or 0 if there is no such character. */
static size_t encode(uint32_t character, char *to)
{
	enum { ONE = 0x80, TWO = 0x800, THREE = 0x10000, FOUR = 0x110000, BITS = 6, MASK = 0x3f };
	static const uint8_t first[] = { 0, 0, 0xc0, 0xe0, 0xf0 };
	if (character >= FOUR || character == 0)
		return 0;
	if (character < ONE) {
		*to = (char)character;
		return 1;
	}
	size_t bytes = character < TWO ? 2 : character < THREE ? 3 : UTF8_MOST;
	for (size_t i = bytes - 1; i > 0; i--, character >>= BITS)
		to[i] = (char)(ONE | (character & MASK));
	to[0] = (char)(first[bytes] | character);
	return bytes;
}

/* Adds a text in UTF-8 to the profile. A text that is longer than its room ends in "...".
 * Returns the string or a negative error. */
static int64_t add_text(struct profile *profile, const struct interpreted_text *text, const uint8_t *content,
			size_t room)
{
	static const char more[] = "...";
	char utf8[INTERPRETED_FILE_BYTES * UTF8_MOST + sizeof(more)];
	size_t bytes = 0, count = room / text->width;
	bool is_cut = text->characters > count;
	count = is_cut ? count : text->characters;
	for (size_t i = 0; i < count; i++) {
		uint32_t character = 0;
		memcpy(&character, content + i * text->width, text->width); /* as the processor orders bytes */
		bytes += encode(character, utf8 + bytes);
	}
	memcpy(utf8 + bytes, more, is_cut ? sizeof(more) : 0);
	utf8[is_cut ? bytes + sizeof(more) - 1 : bytes] = 0;
	return profile_add_string(profile, utf8);
}

/* --- descriptions --- */

static uint64_t key_of(uint64_t address, uint32_t pid, uint32_t check)
{
	return hash_u64(address ^ hash_u64((uint64_t)pid << 32 | check));
}

static struct code *find(const struct interpreted *interpreted, uint64_t address, uint32_t pid, uint32_t check)
{
	uint32_t at = hash_map_get(&interpreted->by_key, key_of(address, pid, check));
	while (at != HASH_MAP_NONE) {
		struct code *code = &interpreted->codes[at];
		if (code->address == address && code->pid == pid && code->check == check)
			return code;
		at = code->next;
	}
	return NULL;
}

/* Returns the module of all functions of one language, "[Python]". */
static int64_t module_of(struct profile *profile, const char *language)
{
	char name[64];
	snprintf(name, sizeof(name), "[%s]", language);
	int64_t path = profile_add_string(profile, name);
	for (size_t i = 0; path >= 0 && i < profile->module_count; i++)
		if (profile->modules[i].kind == MODULE_NAMES && profile->modules[i].path == path)
			return (int64_t)i;
	const struct profile_module module = { .path = (uint32_t)path, .kind = MODULE_NAMES };
	return path < 0 ? path : profile_add_module(profile, &module);
}

/* Sets the function of a code object. Functions with the same name, file and first line are one. */
static int set_function(struct interpreted *interpreted, struct code *code, const struct interpreted_code *from)
{
	struct profile *profile = interpreted->profile;
	int64_t name = add_text(profile, &from->name, from->name_content, sizeof(from->name_content));
	int64_t file = add_text(profile, &from->file, from->file_content, sizeof(from->file_content));
	if (name < 0 || file < 0)
		return (int)(name < 0 ? name : file);
	code->file = (uint32_t)file;
	code->first_line = from->first_line;
	uint64_t key = hash_u64((uint64_t)name << 32 | (uint32_t)file) ^ hash_u64(from->first_line);
	code->function = hash_map_get(&interpreted->function_by_text, key);
	if (code->function != HASH_MAP_NONE)
		return 0;
	int64_t module = module_of(profile, code->row->language);
	if (module < 0)
		return (int)module;
	const struct profile_function function = {
		.name = (uint32_t)name, .module = (uint32_t)module, .file = (uint32_t)file, .line = from->first_line
	};
	int64_t added = profile_add_function(profile, &function);
	if (added < 0 || hash_map_put(&interpreted->function_by_text, key, (uint32_t)added) < 0)
		return added < 0 ? (int)added : ERROR_MEMORY;
	code->function = (uint32_t)added;
	return 0;
}

static bool is_valid(const struct interpreted_code *code, size_t bytes)
{
	const struct interpreted_text *texts[] = { &code->name, &code->file };
	if (bytes < INTERPRETED_FIXED_BYTES || !interpreters_row(code->kind) ||
	    code->table_bytes > bytes - INTERPRETED_FIXED_BYTES)
		return false;
	for (size_t i = 0; i < 2; i++)
		if (texts[i]->width != 1 && texts[i]->width != 2 && texts[i]->width != 4)
			return false;
	return true;
}

int interpreted_describe(struct interpreted *interpreted, uint32_t pid, const struct interpreted_code *from,
			 size_t bytes)
{
	if (!is_valid(from, bytes) || find(interpreted, from->code, pid, from->check))
		return 0;
	uint64_t key = key_of(from->code, pid, from->check);
	if (ARRAY_RESERVE(interpreted->codes, interpreted->code_capacity, interpreted->code_count + 1) < 0 ||
	    hash_map_reserve(&interpreted->by_key, interpreted->code_count + 1) < 0)
		return ERROR_MEMORY;
	struct code *code = &interpreted->codes[interpreted->code_count];
	*code = (struct code){ .address = from->code,
			       .pid = pid,
			       .check = from->check,
			       .next = hash_map_get(&interpreted->by_key, key),
			       .row = interpreters_row(from->kind),
			       .table_bytes = from->table_bytes };
	code->table = malloc(code->table_bytes + 1);
	int result = code->table ? set_function(interpreted, code, from) : ERROR_MEMORY;
	if (result < 0) {
		free(code->table);
		return result;
	}
	memcpy(code->table, from->table, code->table_bytes);
	hash_map_put(&interpreted->by_key, key, (uint32_t)interpreted->code_count++);
	return 0;
}

/* --- paths --- */

/* Returns the number of the native frame whose part of the stack has the address, or `frames` if there is none. The
 * outermost frame's part ends nowhere: the walk ended there. */
static size_t frame_with(uint64_t address, const uint64_t *sps, size_t frames)
{
	for (size_t i = 0; i < frames; i++)
		if (address >= sps[i] && (i + 1 == frames || address < sps[i + 1]))
			return i;
	return frames;
}

/* Finds the runs of the entries. Returns their number or a negative error. */
static int64_t find_runs(struct interpreted *interpreted, const struct backend_sample *sample, const uint64_t *sps,
			 size_t frames)
{
	size_t found = 0, first = 0;
	for (size_t i = 0; i < sample->interpreted_count; i++) {
		const struct interpreted_frame *entry = &sample->interpreted[i];
		if (entry->code != 0 && !find(interpreted, entry->code, sample->pid, entry->check))
			return ERROR_NOT_FOUND;
		if (entry->code != 0)
			continue;
		if (ARRAY_RESERVE(interpreted->runs, interpreted->run_capacity, found + 1) < 0)
			return ERROR_MEMORY;
		struct interpreted_run *run = &interpreted->runs[found];
		*run = (struct interpreted_run){ first, i - first, frame_with(entry->stack, sps, frames) };
		if (run->native == frames || (found > 0 && run->native <= run[-1].native))
			return ERROR_CORRUPT;
		first = i + 1;
		found++;
	}
	return first == sample->interpreted_count ? (int64_t)found : ERROR_CORRUPT;
}

int interpreted_begin(struct interpreted *interpreted, const struct backend_sample *sample, const uint64_t *sps,
		      size_t frames, struct interpreted_path *path)
{
	*path = (struct interpreted_path){ .interpreted = interpreted,
					   .pid = sample->pid,
					   .entries = sample->interpreted };
	int64_t found = find_runs(interpreted, sample, sps, frames);
	if (found < 0)
		return (int)found;
	path->runs = interpreted->runs;
	path->count = path->left = (size_t)found;
	return 0;
}

static int64_t location_at(struct interpreted *interpreted, const struct code *code, uint32_t place)
{
	struct profile *profile = interpreted->profile;
	uint32_t line = code->row->line_at(code->table, code->table_bytes, code->first_line, place);
	uint64_t key = (uint64_t)code->function << 32 | line;
	uint32_t known = hash_map_get(&interpreted->location_by_line, key);
	if (known != HASH_MAP_NONE)
		return known;
	const struct profile_frame frame = {
		.function = code->function, .file = code->file, .line = line, .kind = FRAME_INTERPRETER
	};
	uint32_t module = profile->functions[code->function].module;
	int64_t first = profile_add_frame(profile, &frame);
	int64_t location = first < 0 ? first : profile_append_location(profile, module, key);
	if (location < 0)
		return location;
	profile->locations[location].first_frame = (uint32_t)first;
	profile->locations[location].frame_count = 1;
	return hash_map_put(&interpreted->location_by_line, key, (uint32_t)location) < 0 ? ERROR_MEMORY : location;
}

int64_t interpreted_add_run(struct interpreted_path *path, size_t native, uint32_t node)
{
	/* A broken path has no frames outside of the frames that were found. */
	while (path->left > 0 && path->runs[path->left - 1].native > native)
		path->left--;
	if (path->left == 0 || path->runs[path->left - 1].native != native)
		return node;
	const struct interpreted_run *run = &path->runs[--path->left];
	struct interpreted *interpreted = path->interpreted;
	for (size_t i = run->first + run->count; i > run->first; i--) {
		const struct interpreted_frame *entry = &path->entries[i - 1];
		const struct code *code = find(interpreted, entry->code, path->pid, entry->check);
		int64_t location = code ? location_at(interpreted, code, entry->place) : ERROR_NOT_FOUND;
		int64_t added =
			location < 0 ? location : profile_add_node(interpreted->profile, node, (uint32_t)location);
		if (added < 0)
			return added;
		node = (uint32_t)added;
	}
	return node;
}
