/*
 * Gives names and locations to probe points, after the code has got its names.
 *
 * A function is named like its symbol, so that all ways to measure it agree. If the code has no such name (the
 * function was inlined and there is no debug information, or the program is stripped), its name is made of the probe
 * point's signature. Other probe points are functions of their own, named after the function around them: "work:
 * row".
 */
#include <string.h>

#include "base/buffer.h"
#include "base/path.h"
#include "collect/count/parts.h"
#include "collect/count/signature.h"
#include "processor/names.h"

struct naming {
	struct tally *tally;
	struct profile *profile;
	struct hash_map
		locations; /* by (module, address) of a descriptor: finds the same probe point in other processes */
	struct hash_map functions; /* by (module, name): see function_key */
	struct buffer scratch;
};

/* The probe point that gets its name. */
struct naming_probe {
	const struct count_probe *probe;
	uint32_t process;
	uint32_t module; /* of its code or, if that is not known, of its descriptor */
	int64_t code;    /* location of its code; negative: not known */
	uint32_t frame;  /* frame of that location with the function's name; PROFILE_NONE: none has it */
};

static uint64_t function_key(uint32_t module, uint32_t name)
{
	return hash_u64((uint64_t)module << 32 | name);
}

static bool ends_with(const char *text, const char *end)
{
	size_t length = strlen(text), bytes = strlen(end);
	return length >= bytes && strcmp(text + length - bytes, end) == 0;
}

/* The headers of a cpprof that is not installed lie in a folder of any name, where only the function's name decides. */
bool tally_is_probe(const struct profile *profile, uint32_t function)
{
	const char *file = profile_string(profile, profile->functions[function].file);
	const char *name = profile_string(profile, profile->functions[function].name);
	if (ends_with(file, "cpprof/profiler.h") || ends_with(file, "cpprof/" ARCH_PROFILER_HEADER))
		return true;
	return strncmp(name, "cpprof_", sizeof("cpprof_") - 1) == 0 &&
	       (ends_with(file, "/profiler.h") || ends_with(file, "/" ARCH_PROFILER_HEADER));
}

/* --- functions that the profile has already --- */

static int index_functions(struct naming *naming)
{
	const struct profile *profile = naming->profile;
	for (size_t i = 0; i < profile->function_count; i++) {
		const struct profile_function *function = &profile->functions[i];
		uint64_t key = function_key(function->module, function->name);
		if (hash_map_get(&naming->functions, key) == HASH_MAP_NONE &&
		    hash_map_put(&naming->functions, key, (uint32_t)i) < 0)
			return ERROR_MEMORY;
	}
	return 0;
}

static bool same_file(const char *a, const char *b)
{
	return strcmp(path_basename(a), path_basename(b)) == 0;
}

/* Whether a function is an instance of a template: its signature ends with "[with T = int]" (gcc) or "[T = int]"
 * (clang). */
static bool is_instance(const struct count_probe *probe)
{
	size_t length = strlen(probe->signature);
	return count_is_function(probe) && length > 0 && probe->signature[length - 1] == ']';
}

/* Whether a function belongs to a probe point: by its name or, with `by_line`, by the line of its declaration. The
 * latter is for instances of templates, whose names may not follow from their signatures ("operator T"). */
static bool is_of(const struct profile *profile, uint32_t function, const struct count_probe *probe, bool by_line)
{
	const struct profile_function *of = &profile->functions[function];
	const char *wanted = count_is_function(probe) ? probe->name : probe->signature;
	if (by_line)
		return is_instance(probe) && of->line != 0 && of->line == probe->line &&
		       same_file(profile_string(profile, of->file), probe->file);
	return !wanted[0] || signature_is_of(profile_string(profile, of->name), wanted);
}

static uint32_t search_frames(const struct naming *naming, const struct naming_probe *at, bool by_line)
{
	const struct profile *profile = naming->profile;
	const struct profile_location *location = &profile->locations[at->code];
	for (uint32_t i = 0; location->first_frame != PROFILE_NONE && i < location->frame_count; i++) {
		uint32_t frame = location->first_frame + i, function = profile->frames[frame].function;
		if (!tally_is_probe(profile, function) && is_of(profile, function, at->probe, by_line))
			return frame;
	}
	return PROFILE_NONE;
}

/* Returns the innermost frame at the probe point's code whose function has the probe point's name, or PROFILE_NONE.
 * For a region it is the frame of the function around it, or the innermost one if the region has no signature. */
static uint32_t find_frame(const struct naming *naming, const struct naming_probe *at)
{
	if (at->code < 0)
		return PROFILE_NONE;
	uint32_t frame = search_frames(naming, at, false);
	return frame == PROFILE_NONE ? search_frames(naming, at, true) : frame;
}

/* --- functions of their own --- */

static void append_around(struct naming *naming, const struct naming_probe *at)
{
	const struct profile *profile = naming->profile;
	if (at->frame != PROFILE_NONE)
		buffer_append_string(
			&naming->scratch,
			profile_string(profile, profile->functions[profile->frames[at->frame].function].name));
	else
		signature_append(&naming->scratch, at->probe->signature);
}

static int64_t make_name(struct naming *naming, const struct naming_probe *at)
{
	const struct count_probe *probe = at->probe;
	buffer_clear(&naming->scratch);
	if (!count_is_function(probe)) {
		append_around(naming, at);
		if (naming->scratch.size > 0)
			buffer_append_string(&naming->scratch, ": ");
		buffer_append_string(&naming->scratch, probe->name);
	} else {
		signature_append(&naming->scratch, probe->signature[0] ? probe->signature : probe->name);
	}
	buffer_append_byte(&naming->scratch, 0);
	return buffer_error(&naming->scratch)
		       ? ERROR_MEMORY
		       : profile_add_string(naming->profile, (const char *)naming->scratch.bytes);
}

static int64_t add_function(struct naming *naming, const struct naming_probe *at)
{
	struct profile *profile = naming->profile;
	int64_t name = make_name(naming, at);
	int64_t file = name < 0 ? name : profile_add_string(profile, at->probe->file);
	if (file < 0)
		return file;
	uint64_t key = function_key(at->module, (uint32_t)name);
	uint32_t known = hash_map_get(&naming->functions, key);
	if (known != HASH_MAP_NONE)
		return known;
	const struct profile_function function = {
		.name = (uint32_t)name,
		.module = at->module,
		.file = (uint32_t)file,
		.line = at->probe->line,
		.role = count_is_function(at->probe) && strcmp(profile_string(profile, (uint32_t)name), "main") == 0
				? ROLE_MAIN
				: ROLE_NONE,
	};
	int64_t id = profile_add_function(profile, &function);
	return id < 0 || hash_map_put(&naming->functions, key, (uint32_t)id) == 0 ? id : ERROR_MEMORY;
}

static int64_t choose_function(struct naming *naming, const struct naming_probe *at)
{
	struct profile *profile = naming->profile;
	bool is_known = count_is_function(at->probe) && at->frame != PROFILE_NONE;
	int64_t id = is_known ? profile->frames[at->frame].function : add_function(naming, at);
	int64_t group = id < 0 ? id : profile_add_string(profile, at->probe->group);
	if (group < 0)
		return group;
	if (profile->functions[id].group == 0)
		profile->functions[id].group = (uint32_t)group;
	return id;
}

/* --- locations --- */

/* A function that is one in the machine code, too, has the address of its code. Others have the address of their
 * descriptor, which is not code: so they are not confused with the function into which they are inlined. */
static uint64_t address_of(const struct naming *naming, const struct naming_probe *at)
{
	uint64_t bias;
	tally_module(naming->tally, at->process, at->probe->address, &bias);
	if (!count_is_function(at->probe) || at->frame == PROFILE_NONE)
		return at->probe->address - bias;
	const struct profile_location *code = &naming->profile->locations[at->code];
	return at->frame == code->first_frame + code->frame_count - 1 ? code->address : at->probe->address - bias;
}

static int64_t add_location(struct naming *naming, const struct naming_probe *at)
{
	struct profile *profile = naming->profile;
	int64_t function = choose_function(naming, at);
	int64_t file = function < 0 ? function : profile_add_string(profile, at->probe->file);
	if (file < 0)
		return file;
	const struct profile_frame frame = { .function = (uint32_t)function,
					     .file = (uint32_t)file,
					     .line = at->probe->line };
	int64_t first = profile_add_frame(profile, &frame);
	int64_t id = first < 0 ? first : profile_append_location(profile, at->module, address_of(naming, at));
	if (id < 0)
		return id;
	profile->locations[id].first_frame = (uint32_t)first;
	profile->locations[id].frame_count = 1;
	return id;
}

static int64_t name_probe(struct naming *naming, uint32_t process, const struct count_probe *probe)
{
	uint64_t bias;
	uint32_t module = tally_module(naming->tally, process, probe->address, &bias);
	uint64_t key = hash_u64(probe->address - bias) ^ hash_u64(module + UINT64_C(1));
	uint32_t known = module == PROFILE_NONE ? HASH_MAP_NONE : hash_map_get(&naming->locations, key);
	if (known != HASH_MAP_NONE)
		return known;
	struct naming_probe at = { .probe = probe, .process = process, .module = module, .code = ERROR_NOT_FOUND };
	if (probe->code) {
		at.code = tally_call_site_location(naming->tally, naming->profile, process, probe->code);
		if (at.code < 0)
			return at.code;
		at.module = naming->profile->locations[at.code].module;
	}
	int64_t in = at.module == PROFILE_NONE ? tally_anonymous_module(naming->profile) : at.module;
	if (in < 0)
		return in;
	at.module = (uint32_t)in;
	at.frame = find_frame(naming, &at);
	int64_t id = add_location(naming, &at);
	if (id >= 0 && module != PROFILE_NONE && hash_map_put(&naming->locations, key, (uint32_t)id) < 0)
		return ERROR_MEMORY;
	return id;
}

static int name_process(struct naming *naming, uint32_t process)
{
	struct count_process *in = &naming->tally->processes[process];
	for (size_t i = 0; i < in->probe_count; i++) {
		if (in->probes[i].location != PROFILE_NONE)
			continue;
		int64_t location = name_probe(naming, process, &in->probes[i]);
		if (location < 0)
			return (int)location;
		in->probes[i].location = (uint32_t)location;
	}
	return 0;
}

/* --- functions of the C library that libcpprof-wrap measures --- */

static bool module_begins_with(const struct profile *profile, uint32_t module, const char *start)
{
	const char *name = path_basename(profile_string(profile, profile->modules[module].path));
	return strncmp(name, start, strlen(start)) == 0;
}

static uint32_t find_module(const struct profile *profile, const char *start)
{
	for (uint32_t i = 0; i < profile->module_count; i++)
		if (module_begins_with(profile, i, start))
			return i;
	return PROFILE_NONE;
}

/* Makes a wrapper the function of the C library that it measures, which the profile may have from samples within it:
 * they would be two functions with one name. */
static void merge_wrapper(struct naming *naming, uint32_t wrapper, uint32_t libc)
{
	struct profile *profile = naming->profile;
	struct profile_function *from = &profile->functions[wrapper];
	uint32_t real = hash_map_get(&naming->functions, function_key(libc, from->name));
	from->module = libc;
	if (real == HASH_MAP_NONE)
		return;
	if (profile->functions[real].group == 0)
		profile->functions[real].group = from->group;
	for (size_t i = 0; i < profile->frame_count; i++)
		if (profile->frames[i].function == wrapper)
			profile->frames[i].function = real;
}

static void merge_wrappers(struct naming *naming)
{
	struct profile *profile = naming->profile;
	uint32_t wrap = find_module(profile, "libcpprof-wrap.so"), libc = find_module(profile, "libc.so");
	if (wrap == PROFILE_NONE || libc == PROFILE_NONE)
		return;
	for (uint32_t i = 0; i < profile->function_count; i++) {
		const struct profile_function *function = &profile->functions[i];
		/* The constructs of OpenMP are functions of no library. */
		bool is_construct = strncmp(profile_string(profile, function->name), "omp_", 4) == 0;
		if (function->module == wrap && function->group != 0 && !is_construct)
			merge_wrapper(naming, i, libc);
	}
}

int tally_name_probes(struct tally *tally, struct profile *profile)
{
	struct naming naming = { .tally = tally, .profile = profile };
	hash_map_init(&naming.locations);
	hash_map_init(&naming.functions);
	buffer_init(&naming.scratch);
	int result = index_functions(&naming);
	for (uint32_t i = 0; i < tally->process_count && result == 0; i++)
		result = name_process(&naming, i);
	if (result == 0)
		merge_wrappers(&naming);
	hash_map_release(&naming.locations);
	hash_map_release(&naming.functions);
	buffer_release(&naming.scratch);
	return result;
}
