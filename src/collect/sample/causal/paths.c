#include "collect/sample/causal/paths.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"

void causal_paths_init(struct causal_paths *paths)
{
	*paths = (struct causal_paths){ 0 };
	hash_map_init(&paths->path_by_edge);
	hash_map_init(&paths->function_by_start);
}

static void drop_codes(struct causal_paths *paths)
{
	for (size_t i = 0; i < paths->code_count; i++)
		free(paths->codes[i].items);
	paths->code_count = 0;
}

void causal_paths_release(struct causal_paths *paths)
{
	drop_codes(paths);
	for (size_t i = 0; i < paths->count; i++)
		free(paths->items[i].name);
	for (size_t i = 0; i < paths->module_count; i++)
		free(paths->modules[i]);
	free(paths->items);
	free(paths->functions);
	free(paths->modules);
	free(paths->codes);
	free(paths->module_of);
	hash_map_release(&paths->path_by_edge);
	hash_map_release(&paths->function_by_start);
	causal_paths_init(paths);
}

void causal_paths_begin(struct causal_paths *paths)
{
	drop_codes(paths);
	paths->module_of_count = 0;
	for (size_t i = 0; i < paths->count; i++) {
		paths->items[i].pid = 0;
		paths->items[i].node = PROFILE_NONE;
	}
}

/* --- code --- */

static struct causal_code *code_of(const struct causal_paths *paths, uint32_t pid)
{
	for (size_t i = 0; i < paths->code_count; i++)
		if (paths->codes[i].pid == pid)
			return &paths->codes[i];
	return NULL;
}

/* Returns our number of a module of this run's profile, by its path; or a negative error. */
static int64_t module_number(struct causal_paths *paths, const struct profile *profile, uint32_t module)
{
	const char *path = profile_string(profile, profile->modules[module].path);
	if (ARRAY_RESERVE(paths->module_of, paths->module_of_capacity, (size_t)module + 1) < 0)
		return ERROR_MEMORY;
	while (paths->module_of_count <= module)
		paths->module_of[paths->module_of_count++] = PROFILE_NONE;
	if (paths->module_of[module] != PROFILE_NONE)
		return paths->module_of[module];
	size_t found = 0;
	while (found < paths->module_count && strcmp(paths->modules[found], path) != 0)
		found++;
	if (found == paths->module_count) {
		char *copy = strdup(path);
		if (!copy || ARRAY_RESERVE(paths->modules, paths->module_capacity, found + 1) < 0) {
			free(copy);
			return ERROR_MEMORY;
		}
		paths->modules[paths->module_count++] = copy;
	}
	return paths->module_of[module] = (uint32_t)found;
}

int causal_paths_code(struct causal_paths *paths, uint32_t pid, const struct profile *profile,
		      const struct backend_code *code, size_t count)
{
	struct causal_code *of = code_of(paths, pid);
	if (count == 0) {
		if (of) {
			free(of->items);
			*of = paths->codes[--paths->code_count];
		}
		return 0;
	}
	for (size_t i = 0; i < count; i++)
		if (module_number(paths, profile, code[i].module) < 0)
			return ERROR_MEMORY;
	struct backend_code *items = malloc(count * sizeof(*items));
	if (!items || (!of && ARRAY_RESERVE(paths->codes, paths->code_capacity, paths->code_count + 1) < 0)) {
		free(items);
		return ERROR_MEMORY;
	}
	if (!of) {
		of = &paths->codes[paths->code_count++];
		*of = (struct causal_code){ .pid = pid };
	}
	memcpy(items, code, count * sizeof(*items));
	free(of->items);
	of->items = items;
	of->count = count;
	return 0;
}

static const struct backend_code *code_at(const struct causal_code *code, uint64_t pc)
{
	for (size_t i = 0; i < code->count; i++)
		if (pc >= code->items[i].start && pc < code->items[i].end)
			return &code->items[i];
	return NULL;
}

/* --- functions --- */

/* Returns the number of the function at a run-time address, PROFILE_NONE if the code has no
 * function there, or ERROR_MEMORY. */
static int64_t function_at(struct causal_paths *paths, const struct profile *profile, const struct backend_code *code,
			   uint64_t pc)
{
	enum { START_BITS = 44 };
	uint64_t size = 0, start = code->table ? unwind_table_function(code->table, pc - code->bias, &size) : 0;
	if (size == 0 || start >> START_BITS || profile->modules[code->module].kind != MODULE_FILE)
		return PROFILE_NONE;
	uint32_t module = paths->module_of[code->module];
	uint64_t key = (uint64_t)module << START_BITS | start;
	bool is_new;
	int64_t function = HASH_MAP_ITEM(&paths->function_by_start, key, paths->functions, paths->function_capacity,
					 paths->function_count, &is_new);
	if (is_new)
		paths->functions[function] = (struct causal_function){ .module = module, .start = start, .size = size };
	return function;
}

/* --- paths --- */

/* Returns the path of a function that is called on the path `parent`, or ERROR_MEMORY. */
static int64_t path_below(struct causal_paths *paths, uint32_t parent, uint32_t function)
{
	bool is_new;
	int64_t path = HASH_MAP_ITEM(&paths->path_by_edge, (uint64_t)parent << 32 | function, paths->items,
				     paths->capacity, paths->count, &is_new);
	if (is_new)
		paths->items[path] =
			(struct causal_path){ .parent = parent,
					      .function = function,
					      .depth = parent == PROFILE_NONE ? 1 : paths->items[parent].depth + 1,
					      .node = PROFILE_NONE };
	return path;
}

/* Sets nodes[i] to the node of the sample's frame i. Returns false if nodes and frames do not
 * fit together: the profile has the kernel's frames, or the path was completed. */
static bool nodes_of(const struct profile *profile, uint32_t node, size_t frames, uint32_t *nodes)
{
	for (size_t i = 0; i < frames; i++) {
		if (node == PROFILE_ROOT)
			return false;
		nodes[i] = node;
		node = profile->nodes[node].parent;
	}
	return node == PROFILE_ROOT ||
	       profile->modules[profile->locations[profile->nodes[node].location].module].kind == MODULE_THREAD;
}

int causal_paths_add(struct causal_paths *paths, const struct profile *profile, const struct backend_sample *sample,
		     uint32_t node)
{
	uint32_t nodes[1024], path = PROFILE_NONE;
	const size_t frames = sample->address_count;
	const struct causal_code *code = code_of(paths, sample->pid);
	if (!code || !sample->addresses || sample->cause != UNWIND_ROOT || frames > sizeof(nodes) / sizeof(nodes[0]) ||
	    !nodes_of(profile, node, frames, nodes))
		return 0;
	paths->hits += sample->hits;
	for (size_t i = frames; i-- > 0;) {
		const struct backend_code *at = code_at(code, sample->addresses[i]);
		int64_t function = at ? function_at(paths, profile, at, sample->addresses[i]) : PROFILE_NONE;
		if (function == PROFILE_NONE)
			return 0;
		int64_t below = function < 0 ? function : path_below(paths, path, (uint32_t)function);
		if (below < 0)
			return (int)below;
		struct causal_path *item = &paths->items[below];
		item->hits += sample->hits;
		item->pid = sample->pid;
		item->node = nodes[i];
		if (path != PROFILE_NONE && item->hits > paths->items[path].most)
			paths->items[path].most = item->hits;
		path = (uint32_t)below;
	}
	return 0;
}

/* --- choosing --- */

/* A path with nearly all hits gains what it is faster by, so it is a candidate only if there is no other one. */
static bool is_candidate(const struct causal_paths *paths, const struct causal_path *path, bool may_be_all)
{
	enum { LEAST_SHARE = 20, NEARLY = 20 };
	return path->hits * LEAST_SHARE >= paths->hits &&
	       (may_be_all || path->hits <= paths->hits - paths->hits / NEARLY) &&
	       path->depth <= BACKEND_EXPERIMENT_FRAMES && path->most <= path->hits - path->hits / NEARLY;
}

static uint32_t choose(const struct causal_paths *paths, uint64_t random, bool may_be_all)
{
	uint64_t all = 0;
	for (size_t i = 0; i < paths->count; i++)
		all += is_candidate(paths, &paths->items[i], may_be_all) ? paths->items[i].hits : 0;
	uint64_t left = all ? random % all : 0;
	for (size_t i = 0; i < paths->count; i++) {
		if (!is_candidate(paths, &paths->items[i], may_be_all))
			continue;
		if (left < paths->items[i].hits)
			return (uint32_t)i;
		left -= paths->items[i].hits;
	}
	return PROFILE_NONE;
}

uint32_t causal_paths_choose(const struct causal_paths *paths, uint64_t random)
{
	enum { FEWEST_HITS = 20 };
	if (paths->hits < FEWEST_HITS)
		return PROFILE_NONE;
	uint32_t path = choose(paths, random, false);
	return path != PROFILE_NONE ? path : choose(paths, random, true);
}

static bool locate(const struct causal_paths *paths, const struct causal_code *code, uint32_t number,
		   struct backend_function *found)
{
	const struct causal_function *function = &paths->functions[number];
	for (size_t i = 0; i < code->count; i++) {
		const struct backend_code *item = &code->items[i];
		uint64_t start = function->start + item->bias;
		if (item->module >= paths->module_of_count || paths->module_of[item->module] != function->module ||
		    start < item->start || start >= item->end)
			continue;
		*found = (struct backend_function){ .start = start, .end = start + function->size };
		return true;
	}
	return false;
}

size_t causal_paths_locate(const struct causal_paths *paths, uint32_t path, uint32_t pid,
			   struct backend_function functions[BACKEND_EXPERIMENT_FRAMES])
{
	const struct causal_code *code = code_of(paths, pid);
	size_t depth = paths->items[path].depth;
	if (!code || depth > BACKEND_EXPERIMENT_FRAMES)
		return 0;
	for (size_t i = depth; i-- > 0; path = paths->items[path].parent)
		if (!locate(paths, code, paths->items[path].function, &functions[i]))
			return 0;
	return depth;
}

/* --- names --- */

static const struct profile_function *function_of(const struct profile *profile, uint32_t node)
{
	const struct profile_location *location = &profile->locations[profile->nodes[node].location];
	if (location->first_frame == PROFILE_NONE || location->frame_count == 0)
		return NULL;
	/* The outermost frame is not inlined. */
	return &profile->functions[profile->frames[location->first_frame + location->frame_count - 1].function];
}

int causal_paths_name(struct causal_paths *paths, const struct profile *profile)
{
	for (size_t i = 0; i < paths->count; i++) {
		struct causal_path *path = &paths->items[i];
		const struct profile_function *function =
			path->node != PROFILE_NONE && !path->name ? function_of(profile, path->node) : NULL;
		if (!function)
			continue;
		path->name = strdup(function->role == ROLE_START ? "" : profile_string(profile, function->name));
		if (!path->name)
			return ERROR_MEMORY;
	}
	return 0;
}
