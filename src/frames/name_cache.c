#include "frames/name_cache.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/array.h"
#include "base/buffer.h"
#include "profile/copy.h"
#include "profile/findings.h"
#include "profile/generated_code.h"
#include "profile/module_name.h"

int name_cache_init(struct name_cache *names)
{
	*names = (struct name_cache){ .profile = profile_new() };
	hash_map_init(&names->by_source);
	return names->profile ? 0 : ERROR_MEMORY;
}

void name_cache_release(struct name_cache *names)
{
	profile_free(names->profile);
	hash_map_release(&names->by_source);
	free(names->modules);
	free(names->known);
	*names = (struct name_cache){ 0 };
}

/* --- asking --- */

/* Returns our id of a module of the extract. */
static int64_t take_module(struct name_cache *names, const struct profile_extract *extract, uint32_t module)
{
	uint32_t source = extract->modules[module], known = hash_map_get(&names->by_source, source);
	if (known != HASH_MAP_NONE)
		return known;
	if (ARRAY_RESERVE(names->modules, names->module_capacity, names->profile->module_count + 1) < 0 ||
	    hash_map_reserve(&names->by_source, names->by_source.count + 1) < 0)
		return ERROR_MEMORY;
	int64_t added = profile_copy_module(names->profile, extract->profile, extract->profile->modules[module]);
	if (added < 0)
		return added;
	names->modules[added] = (struct name_cache_module){ .source = source };
	hash_map_put(&names->by_source, source, (uint32_t)added);
	return added;
}

/* Finds our ids of the locations of the extract. */
static int add_locations(struct name_cache *names, const struct profile_extract *extract)
{
	const struct profile *profile = extract->profile;
	if (ARRAY_RESERVE(names->known, names->known_capacity, profile->location_count) < 0)
		return ERROR_MEMORY;
	for (size_t i = 0; i < profile->location_count; i++) {
		const struct profile_location *row = &profile->locations[i];
		int64_t module = take_module(names, extract, row->module);
		int64_t added =
			module < 0 ? module : profile_add_location(names->profile, (uint32_t)module, row->address);
		if (added < 0)
			return (int)added;
		names->known[i] = (uint32_t)added;
	}
	return 0;
}

/* Returns what is known of a location of the extract. */
static const struct profile_location *cached_location(const struct name_cache *names, uint32_t location)
{
	return &names->profile->locations[names->known[location]];
}

/* Returns whether a location of the extract has frames, or needs none. */
static bool is_cached(const struct name_cache *names, uint32_t location)
{
	const struct profile_location *known = cached_location(names, location);
	return known->first_frame != PROFILE_NONE || names->profile->modules[known->module].kind == MODULE_THREAD;
}

/* Adds the weights of the nodes at addresses without a name to their modules: callers are shown too. `weights` has the hits at each node,
 * and gets those below it. */
static void add_weights(struct name_cache *names, const struct profile_extract *extract, uint64_t *weights,
			struct name_cache_lack *lack)
{
	const struct profile *profile = extract->profile;
	for (size_t i = profile->node_count; i-- > 0;) {
		const struct profile_node *node = &profile->nodes[i];
		if (node->parent != PROFILE_NONE)
			weights[node->parent] += weights[i];
		if (node->location == PROFILE_NONE || is_cached(names, node->location))
			continue;
		uint64_t *lacking = &names->modules[cached_location(names, node->location)->module].lacking;
		*lacking += weights[i];
		if (*lacking > lack->most_hits)
			lack->most_hits = *lacking;
	}
}

static int count_lacking(struct name_cache *names, const struct profile_extract *extract, struct name_cache_lack *lack)
{
	const struct profile *profile = extract->profile;
	uint64_t *weights = calloc(profile->node_count + 1, sizeof(*weights));
	if (!weights)
		return ERROR_MEMORY;
	for (size_t i = 0; i < names->profile->module_count; i++)
		names->modules[i].lacking = 0;
	for (size_t i = 0; i < profile->hit_count; i++) {
		uint32_t node = profile->hits[i].node, location = profile->nodes[node].location;
		weights[node] += profile->hits[i].count;
		lack->all_hits += profile->hits[i].count;
		if (location != PROFILE_NONE && !is_cached(names, location))
			lack->hits += profile->hits[i].count;
	}
	if (lack->locations > 0)
		add_weights(names, extract, weights, lack);
	free(weights);
	return 0;
}

int name_cache_request(struct name_cache *names, const struct profile_extract *extract, struct name_cache_lack *lack)
{
	const struct profile *profile = extract->profile;
	*lack = (struct name_cache_lack){ 0 };
	int status = add_locations(names, extract);
	if (status < 0)
		return status;
	for (uint32_t i = 0; i < profile->location_count; i++)
		lack->locations += !is_cached(names, i);
	return count_lacking(names, extract, lack);
}

/* --- finding --- */

struct opener {
	const struct name_cache *names;
	const struct frames_options *options;
	uint64_t hits_min;
};

static int open_of_source(void *context, uint32_t module, struct error *error)
{
	const struct opener *opener = context;
	return opener->options->open_module(opener->options->context, opener->names->modules[module].source, error);
}

static bool is_wanted(void *context, uint32_t module)
{
	const struct opener *opener = context;
	return opener->names->modules[module].lacking >= opener->hits_min;
}

/* Returns 1 + the size of the list of generated code, or 0 if there is none. */
static uint64_t list_size(struct opener *opener, uint32_t module)
{
	struct error none;
	struct stat status;
	int fd = open_of_source(opener, module, &none);
	uint64_t size = fd >= 0 && fstat(fd, &status) == 0 ? 1 + (uint64_t)status.st_size : 0;
	if (fd >= 0)
		close(fd);
	return size;
}

static void clear_nameless(struct profile *profile, uint32_t module)
{
	for (size_t i = 0; i < profile->location_count; i++) {
		struct profile_location *location = &profile->locations[i];
		if (location->module != module || !generated_code_is_nameless(profile, (uint32_t)i))
			continue;
		location->first_frame = PROFILE_NONE;
		location->frame_count = 0;
	}
}

void name_cache_renew(struct name_cache *names, const struct frames_options *options)
{
	struct opener opener = { names, options, 0 };
	for (uint32_t i = 0; i < names->profile->module_count && options->open_module; i++) {
		if (names->profile->modules[i].kind != MODULE_ANON)
			continue;
		uint64_t size = list_size(&opener, i);
		if (size > names->modules[i].list)
			clear_nameless(names->profile, i);
		names->modules[i].list = size;
	}
}

int name_cache_find(struct name_cache *names, uint64_t hits_min, const struct frames_options *options,
		    struct error *error)
{
	struct opener opener = { names, options, hits_min };
	const struct frames_options own = {
		.open_module = options->open_module ? open_of_source : NULL,
		.wants_module = hits_min > 0 ? is_wanted : NULL,
		.context = &opener,
		.limits = options->limits,
	};
	names->profile->symbolized = false; /* names what was added since the last call */
	return frames_name_profile(names->profile, &own, error);
}

/* --- applying --- */

struct applying {
	const struct profile *from;
	struct profile *to;
	uint32_t *functions; /* owned: by function of `from`, 1 + its copy; 0: none yet */
	uint32_t *pending;   /* owned: by module of `to`, 1 + the function of what is not named yet; 0: none yet */
};

static int64_t copy_function(struct applying *applying, uint32_t id, uint32_t module)
{
	if (applying->functions[id] != 0)
		return applying->functions[id] - 1;
	struct profile_function row = applying->from->functions[id];
	row.module = row.module == PROFILE_NONE ? PROFILE_NONE : module;
	int64_t copy = profile_copy_function(applying->to, applying->from, row);
	if (copy >= 0)
		applying->functions[id] = 1 + (uint32_t)copy;
	return copy;
}

static int copy_frames(struct applying *applying, uint32_t location, const struct profile_location *known)
{
	struct profile_location *given = &applying->to->locations[location];
	uint32_t first = (uint32_t)applying->to->frame_count;
	for (uint32_t i = 0; i < known->frame_count; i++) {
		struct profile_frame row = applying->from->frames[known->first_frame + i];
		int64_t function = copy_function(applying, row.function, given->module);
		row.function = (uint32_t)function;
		int64_t added = function < 0 ? function : profile_copy_frame(applying->to, applying->from, row);
		if (added < 0)
			return (int)added;
	}
	given->first_frame = first;
	given->frame_count = known->frame_count;
	return 0;
}

/* Returns the function that stands for what is not named yet in a module. */
static int64_t pending_function(struct applying *applying, uint32_t module)
{
	if (applying->pending[module] != 0)
		return applying->pending[module] - 1;
	struct buffer text;
	size_t length;
	const char *name = module_name(profile_string(applying->to, applying->to->modules[module].path), &length);
	buffer_init(&text);
	/* "[kernel]" becomes "[kernel: not named yet]". */
	bool has_brackets = length >= 2 && name[0] == '[' && name[length - 1] == ']';
	buffer_printf(&text, "[%.*s: not named yet]", (int)(length - 2 * has_brackets), name + has_brackets);
	buffer_append_byte(&text, 0);
	int64_t id = buffer_error(&text) ? ERROR_MEMORY : profile_add_string(applying->to, (const char *)text.bytes);
	buffer_release(&text);
	if (id < 0)
		return id;
	const struct profile_function row = { .name = (uint32_t)id, .module = module };
	int64_t added = profile_add_function(applying->to, &row);
	if (added >= 0)
		applying->pending[module] = 1 + (uint32_t)added;
	return added;
}

static int add_pending_name(struct applying *applying, uint32_t location)
{
	struct profile_location *given = &applying->to->locations[location];
	int64_t function = pending_function(applying, given->module);
	const struct profile_frame row = { .function = (uint32_t)function };
	int64_t added = function < 0 ? function : profile_add_frame(applying->to, &row);
	if (added < 0)
		return (int)added;
	given->first_frame = (uint32_t)added;
	given->frame_count = 1;
	return 0;
}

static int apply(struct applying *applying, const struct name_cache *names)
{
	int status = 0;
	for (uint32_t i = 0; i < applying->to->location_count && status == 0; i++) {
		const struct profile_location *known = cached_location(names, i);
		if (applying->to->modules[applying->to->locations[i].module].kind == MODULE_THREAD)
			continue;
		status = known->first_frame == PROFILE_NONE ? add_pending_name(applying, i)
							    : copy_frames(applying, i, known);
	}
	return status;
}

int name_cache_apply(const struct name_cache *names, struct profile_extract *extract)
{
	struct applying applying = {
		.from = names->profile,
		.to = extract->profile,
		.functions = calloc(names->profile->function_count + 1, sizeof(*applying.functions)),
		.pending = calloc(extract->profile->module_count + 1, sizeof(*applying.pending)),
	};
	int status = applying.functions && applying.pending ? apply(&applying, names) : ERROR_MEMORY;
	free(applying.functions);
	free(applying.pending);
	if (status == 0)
		status = findings_copy(extract->profile, names->profile);
	if (status == 0)
		status = frames_assign_roles(extract->profile);
	extract->profile->symbolized = status == 0;
	return status;
}
