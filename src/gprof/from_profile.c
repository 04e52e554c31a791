#include "gprof/from_profile.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/path.h"
#include "gprof/image.h"
#include "gprof/object.h"
#include "gprof/truth.h"
#include "profile/file_users.h"

enum {
	MOST_BINS = 8 << 20,
	PAGE_BYTES = 4096,
	EXACT_RATE = 10000, /* for times that are counted, not sampled: in units of 0.1 ms */
	MOST_PER_HIT = 16,
};

static const uint64_t SECOND_NS = 1000000000;

struct making {
	const struct profile *profile;
	uint32_t module; /* any module of the file */
	uint32_t calls;  /* resource, or PROFILE_NONE; so are the next two */
	uint32_t blocks;
	uint32_t time;
	uint64_t per_hit;   /* ticks of the histogram per hit; 0: hits are ns */
	uint8_t *is_inside; /* owned; per location: whether it is in this object */
	struct object object;
	struct image image; /* without symbols if the file cannot be read */
	struct gmon *gmon;
};

/* --- modules and resources --- */

/* Returns the first module of the same file, which usually is `module`. */
static uint32_t same_file(const struct profile *profile, uint32_t module)
{
	const struct profile_module *wanted = &profile->modules[module];
	for (uint32_t i = 0; i < module; i++) {
		const struct profile_module *other = &profile->modules[i];
		if (other->path == wanted->path && other->kind == wanted->kind &&
		    other->build_id_bytes == wanted->build_id_bytes &&
		    memcmp(other->build_id, wanted->build_id, wanted->build_id_bytes) == 0)
			return i;
	}
	return module;
}

static uint32_t module_of_node(const struct profile *profile, uint32_t node)
{
	uint32_t location = profile->nodes[node].location;
	return location == PROFILE_NONE ? PROFILE_NONE : profile->locations[location].module;
}

/* Returns the resource of that name if it is counted exactly, or PROFILE_NONE. */
static uint32_t find_exact(const struct profile *profile, const char *name)
{
	uint32_t found = profile_find_resource(profile, name);
	return found != PROFILE_NONE && !resource_has_samples(&profile->resources[found]) ? found : PROFILE_NONE;
}

void gmon_counted(const struct profile *profile, bool *marks)
{
	uint32_t calls = find_exact(profile, "calls"), blocks = find_exact(profile, "blocks");
	memset(marks, 0, profile->module_count * sizeof(*marks));
	for (size_t i = 0; i < profile->hit_count; i++) {
		const struct profile_hit *hit = &profile->hits[i];
		uint32_t module = module_of_node(profile, hit->node);
		if ((hit->resource == calls || hit->resource == blocks) && module != PROFILE_NONE)
			marks[module] = true;
	}
	for (uint32_t i = 0; i < profile->module_count; i++) {
		if (!marks[i])
			continue;
		marks[i] = false;
		if (profile->modules[i].kind == MODULE_FILE)
			marks[same_file(profile, i)] = true;
	}
}

static bool is_called(const struct profile *profile, uint32_t module, const char *name)
{
	return strcmp(path_basename(profile_string(profile, profile->modules[module].path)), name) == 0;
}

static bool is_same_build(const struct image *image, const struct profile_module *module)
{
	return module->build_id_bytes > 0 && module->build_id_bytes == image->build_id_bytes &&
	       memcmp(module->build_id, image->build_id, image->build_id_bytes) == 0;
}

uint32_t gmon_module(const struct profile *profile, const struct image *image, bool *is_other_build)
{
	uint32_t by_name = PROFILE_NONE;
	*is_other_build = false;
	for (uint32_t i = 0; i < profile->module_count; i++) {
		const struct profile_module *module = &profile->modules[i];
		if (module->kind != MODULE_FILE)
			continue;
		if (is_same_build(image, module))
			return i;
		if (by_name == PROFILE_NONE &&
		    strcmp(path_basename(profile_string(profile, module->path)), path_basename(image->path)) == 0)
			by_name = i;
	}
	*is_other_build = by_name != PROFILE_NONE && profile->modules[by_name].build_id_bytes > 0;
	return by_name;
}

uint32_t gmon_program(const struct profile *profile)
{
	const char *name = profile->process_count ? profile_string(profile, profile->processes[0].name) : "";
	uint32_t with_main = PROFILE_NONE, named = PROFILE_NONE;
	for (uint32_t i = 0; i < profile->function_count; i++) {
		uint32_t module = profile->functions[i].module;
		if (profile->functions[i].role != ROLE_MAIN || module == PROFILE_NONE ||
		    profile->modules[module].kind != MODULE_FILE)
			continue;
		if (is_called(profile, module, name))
			return same_file(profile, module);
		if (with_main == PROFILE_NONE)
			with_main = module;
	}
	for (uint32_t i = 0; i < profile->module_count && named == PROFILE_NONE; i++)
		if (profile->modules[i].kind == MODULE_FILE && is_called(profile, i, name))
			named = i;
	if (with_main == PROFILE_NONE)
		with_main = named;
	for (uint32_t i = 0; i < profile->module_count && with_main == PROFILE_NONE; i++)
		if (profile->modules[i].kind == MODULE_FILE)
			with_main = i;
	return with_main == PROFILE_NONE ? PROFILE_NONE : same_file(profile, with_main);
}

/* --- the histogram's shape --- */

static uint64_t greatest_divisor(uint64_t a, uint64_t b)
{
	while (b) {
		uint64_t rest = a % b;
		a = b;
		b = rest;
	}
	return a;
}

/* Returns a rate, in ticks per second, at which a hit is a whole number of ticks. If that number would be large, a
 * hit is one tick and the rate is rounded. */
static uint32_t choose_rate(struct making *making)
{
	if (making->time == PROFILE_NONE)
		return 100;
	const struct profile_resource *resource = &making->profile->resources[making->time];
	if (!resource_has_samples(resource)) {
		making->per_hit = 0;
		return EXACT_RATE;
	}
	uint64_t divisor = greatest_divisor(SECOND_NS, resource->interval);
	making->per_hit = resource->interval / divisor;
	if (making->per_hit <= MOST_PER_HIT)
		return (uint32_t)(SECOND_NS / divisor);
	making->per_hit = 1;
	uint64_t rate = (SECOND_NS + resource->interval / 2) / resource->interval;
	return rate ? (uint32_t)rate : 1;
}

/* Sets the object's range to the range of its sampled addresses, for a file that cannot be read. */
static void estimate_range(struct making *making)
{
	const struct profile *profile = making->profile;
	uint64_t low = UINT64_MAX, high = 0;
	for (size_t i = 0; i < profile->location_count; i++) {
		uint64_t address = profile->locations[i].address;
		if (!making->is_inside[i])
			continue;
		low = address < low ? address : low;
		high = address > high ? address : high;
	}
	if (low > high || high > UINT64_MAX - 2 * PAGE_BYTES)
		return;
	making->object.low = low / PAGE_BYTES * PAGE_BYTES;
	making->object.high = (high / PAGE_BYTES + 1) * PAGE_BYTES;
}

static int add_shape(struct making *making)
{
	struct object *object = &making->object;
	if (object->low >= object->high)
		estimate_range(making);
	if (object->low >= object->high || object->high > UINT64_MAX / 2)
		return 0;
	uint64_t width = GMON_UNIT_BYTES; /* gprof's unit: bins must not be narrower */
	while ((object->high - object->low) / width >= MOST_BINS)
		width *= 2;
	struct gmon_histogram shape = { .low = object->low / width * width,
					.abbreviation = 's',
					.dimension = "seconds" };
	shape.bin_count = (size_t)((object->high - shape.low + width - 1) / width);
	shape.high = shape.low + shape.bin_count * width;
	shape.rate = choose_rate(making);
	int64_t added = gmon_add_histogram(making->gmon, &shape);
	return added < 0 ? (int)added : 0;
}

/* --- hits --- */

static uint64_t from_of(const struct making *making, uint32_t parent)
{
	uint32_t location = making->profile->nodes[parent].location;
	if (location == PROFILE_NONE || !making->is_inside[location])
		return making->object.outside;
	/* A jump has no return address. */
	return making->profile->locations[location].address + !making->profile->locations[location].is_tail;
}

/* gprof assigns a unit that two functions share to the second one. So samples of the first function in that unit are
 * moved to the unit before. */
static uint64_t sample_address(const struct making *making, uint64_t address)
{
	const struct image *image = &making->image;
	uint32_t symbol = image_find(image, address);
	if (symbol == IMAGE_NONE || address % GMON_UNIT_BYTES != 0 || image_find(image, address + 1) == symbol ||
	    image->symbols[symbol].start > address - GMON_UNIT_BYTES)
		return address;
	return address - GMON_UNIT_BYTES;
}

static int add_hit(struct making *making, const struct profile_hit *hit)
{
	const struct profile_node *node = &making->profile->nodes[hit->node];
	if (node->location == PROFILE_NONE || !making->is_inside[node->location])
		return 0;
	uint64_t address = making->profile->locations[node->location].address;
	int code = 0;
	if (hit->resource == making->calls)
		code = gmon_add_arc(making->gmon, from_of(making, node->parent), address, hit->count);
	else if (hit->resource == making->blocks)
		code = gmon_add_block(making->gmon, address, hit->count);
	else if (hit->resource == making->time && making->gmon->histogram_count > 0)
		code = gmon_add_sample(making->gmon, sample_address(making, address),
				       hit->count * (making->per_hit ? making->per_hit : 1));
	return code == ERROR_NOT_FOUND ? 0 : code; /* not found: outside of this build's code */
}

/* Converts bins that hold ns to ticks. */
static void round_bins(struct making *making)
{
	static const uint64_t TICK_NS = 1000000000 / EXACT_RATE;
	if (making->per_hit != 0 || making->time == PROFILE_NONE || making->gmon->histogram_count == 0)
		return;
	struct gmon_histogram *histogram = &making->gmon->histograms[0];
	for (size_t i = 0; i < histogram->bin_count; i++)
		histogram->bins[i] = histogram->bins[i] / TICK_NS + (histogram->bins[i] % TICK_NS >= TICK_NS / 2);
}

static int mark_inside(struct making *making)
{
	const struct profile *profile = making->profile;
	uint32_t first = same_file(profile, making->module);
	bool *is_same = calloc(profile->module_count + 1, sizeof(*is_same));
	making->is_inside = calloc(profile->location_count + 1, sizeof(*making->is_inside));
	int code = is_same && making->is_inside ? 0 : ERROR_MEMORY;
	for (uint32_t i = 0; i < profile->module_count && code == 0; i++)
		is_same[i] = same_file(profile, i) == first;
	for (size_t i = 0; i < profile->location_count && code == 0; i++)
		making->is_inside[i] = is_same[profile->locations[i].module];
	free(is_same);
	return code;
}

static bool is_that_build(const struct object *object, const struct profile_module *module)
{
	return module->build_id_bytes == 0 || (module->build_id_bytes == object->build_id_bytes &&
					       memcmp(module->build_id, object->build_id, object->build_id_bytes) == 0);
}

/* If the file cannot be read or has another build-id now, the object's range remains unknown; that is not an error. */
static int read_object(struct making *making, const struct profile_module *module)
{
	static const struct image_options options = { .no_demangle = true };
	const char *path = profile_string(making->profile, module->path);
	int fd = file_users_open_once(making->profile, path);
	int code = fd >= 0           ? object_read_from(&making->object, fd, path, NULL)
		   : errno == ENOMEM ? ERROR_MEMORY
				     : ERROR_NOT_FOUND;
	if (!is_that_build(&making->object, module))
		making->object = (struct object){ 0 };
	bool has_code = code == 0 && making->object.high != 0;
	if (has_code)
		code = image_open_from(&making->image, fd, path, &options, NULL);
	if (fd >= 0)
		close(fd);
	if (!has_code)
		return code == ERROR_MEMORY ? code : 0;
	/* A file that exceeds a limit is an error: the jail was needed, and the figures would lack their functions. */
	return code == ERROR_MEMORY || code == ERROR_LIMIT || code == ERROR_CORRUPT ? code : 0;
}

static int make(struct making *making)
{
	const struct profile *profile = making->profile;
	int code = read_object(making, &profile->modules[making->module]);
	if (code == 0)
		code = mark_inside(making);
	if (code == 0)
		code = add_shape(making);
	for (size_t i = 0; i < profile->hit_count && code == 0; i++)
		code = add_hit(making, &profile->hits[i]);
	round_bins(making);
	if (code == 0)
		code = gmon_merge_equal(making->gmon);
	free(making->is_inside);
	image_close(&making->image);
	return code;
}

int gmon_from_profile(const struct profile *profile, uint32_t module, uint32_t resource, struct gmon *gmon,
		      struct error *error)
{
	struct making making = {
		.profile = profile,
		.module = module,
		.calls = find_exact(profile, "calls"),
		.blocks = find_exact(profile, "blocks"),
		.time = resource == PROFILE_NONE ? truth_resource(profile) : resource,
		.per_hit = 1,
		.gmon = gmon,
	};
	if (resource != PROFILE_NONE && !truth_is_time(profile, resource))
		return error_set(error, ERROR_UNSUPPORTED, "cannot write '%s' as gmon.out: it is not a time (-r cpu)",
				 profile_string(profile, profile->resources[resource].name));
	int code = make(&making);
	return code < 0 ? error_set(error, code, "cannot write '%s' as gmon.out: %s",
				    profile_string(profile, profile->modules[module].path), error_text(code))
			: 0;
}
