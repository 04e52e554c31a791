/*
 * gmon.out, the input of gprof: calls and samples of one object, by address.
 *
 * Import: each arc becomes two frames, the call site and the called function, with hits of `calls` (exact); each bin
 * of the histogram becomes one frame with merged hits of `cpu`; each block becomes one frame with hits of `blocks`.
 * The file has no other call paths, and so the profile has none. The importer does not name addresses.
 *
 * Export: gprof/from_profile.h.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/path.h"
#include "formats/format.h"
#include "gprof/from_profile.h"
#include "gprof/gmon.h"
#include "gprof/object.h"
#include "profile/findings.h"

enum { MODULE = 0 };

static const uint64_t SECOND_NS = 1000000000;

struct import {
	struct profile *profile;
	struct gmon gmon;
	struct object object;
	uint64_t outside; /* arcs and bins that are counted, but are not in the code of the object */
};

/* --- resources and owner --- */

static int64_t add_resource(struct profile *profile, const char *const texts[3], const struct profile_resource *row)
{
	struct profile_resource resource = *row;
	uint32_t *const fields[] = { &resource.name, &resource.title, &resource.unit, &resource.backend };
	const char *const all[] = { texts[0], texts[1], texts[2], "import" };
	for (size_t i = 0; i < sizeof(fields) / sizeof(fields[0]); i++) {
		int64_t id = profile_add_string(profile, all[i]);
		if (id < 0)
			return id;
		*fields[i] = (uint32_t)id;
	}
	return profile_add_resource(profile, &resource);
}

/* Adds the resource of the histograms, which all have one unit. A unit other than seconds is kept as samples. */
static int64_t add_sampled(struct import *import)
{
	const struct gmon_histogram *histogram = import->gmon.histograms;
	struct profile_resource row = { .kind = RESOURCE_MERGED, .interval = 1 };
	if (histogram->rate == 0 || strcmp(histogram->dimension, "seconds") != 0)
		return add_resource(import->profile, (const char *const[]){ "samples", "Samples", "sample" }, &row);
	row.interval = (SECOND_NS + histogram->rate / 2) / histogram->rate;
	row.interval = row.interval ? row.interval : 1;
	return add_resource(import->profile, (const char *const[]){ "cpu", "CPU Time", "ns" }, &row);
}

static int64_t add_counted(struct import *import, const char *name, const char *title, const char *unit)
{
	const struct profile_resource row = { .kind = RESOURCE_EXACT, .interval = 1 };
	return add_resource(import->profile, (const char *const[]){ name, title, unit }, &row);
}

static int add_owner(struct profile *profile, const struct object *object, const char *path)
{
	char *real = realpath(path, NULL);
	int64_t text = profile_add_string(profile, real ? real : path);
	free(real);
	int64_t name = profile_add_string(profile, path_basename(path));
	if (text < 0 || name < 0)
		return ERROR_MEMORY;
	struct profile_module module = { .path = (uint32_t)text,
					 .kind = MODULE_FILE,
					 .build_id_bytes = (uint8_t)object->build_id_bytes };
	memcpy(module.build_id, object->build_id, object->build_id_bytes);
	struct profile_process process = { .name = (uint32_t)name };
	return profile_add_module(profile, &module) < 0 || profile_add_process(profile, &process) < 0 ? ERROR_MEMORY
												      : 0;
}

/* --- hits --- */

/* Returns the node of an address below a node, or a negative error. */
static int64_t child(struct import *import, uint32_t node, uint64_t address)
{
	int64_t location = profile_add_location(import->profile, MODULE, address);
	return location < 0 ? location : profile_add_node(import->profile, node, (uint32_t)location);
}

/* Adds hits of the path `call_site`, `address`, or of `address` only if `call_site` is 0. */
static int add_hit(struct import *import, uint32_t resource, uint64_t call_site, uint64_t address, uint64_t count)
{
	int64_t node = PROFILE_ROOT;
	if (count == 0)
		return 0;
	if (address < import->object.low || address >= import->object.high)
		import->outside++;
	if (call_site > 0)
		node = child(import, (uint32_t)node, call_site - 1);
	if (node >= 0)
		node = child(import, (uint32_t)node, address);
	if (node < 0)
		return (int)node;
	import->profile->resources[resource].total += count * import->profile->resources[resource].interval;
	return profile_add_hit(import->profile, 0, PROFILE_NONE, (uint32_t)node, resource, count);
}

/* Returns the address that represents a bin. gprof counts in units of two bytes, and a unit in which a function
 * begins belongs to that function. The second byte of the unit is in the function in any case. */
static uint64_t address_of_bin(const struct gmon_histogram *histogram, size_t bin)
{
	uint64_t range = histogram->high - histogram->low;
	uint64_t from = histogram->low + (uint64_t)((__uint128_t)range * bin / histogram->bin_count);
	uint64_t to = histogram->low + (uint64_t)((__uint128_t)range * (bin + 1) / histogram->bin_count);
	uint64_t address = from + (((to - from - (to > from)) / 2) | 1);
	return address < to ? address : from;
}

static int import_histograms(struct import *import)
{
	if (import->gmon.histogram_count == 0)
		return 0;
	int64_t resource = add_sampled(import);
	if (resource < 0)
		return (int)resource;
	int code = 0;
	for (size_t i = 0; i < import->gmon.histogram_count && code == 0; i++) {
		const struct gmon_histogram *histogram = &import->gmon.histograms[i];
		for (size_t bin = 0; bin < histogram->bin_count && code == 0; bin++)
			code = add_hit(import, (uint32_t)resource, 0, address_of_bin(histogram, bin),
				       histogram->bins[bin]);
	}
	return code;
}

static int import_arcs(struct import *import)
{
	const struct gmon *gmon = &import->gmon;
	if (gmon->arc_count == 0)
		return 0;
	int64_t resource = add_counted(import, "calls", "Calls", "call");
	if (resource < 0)
		return (int)resource;
	int code = 0;
	for (size_t i = 0; i < gmon->arc_count && code == 0; i++)
		code = add_hit(import, (uint32_t)resource, gmon->arcs[i].from, gmon->arcs[i].self, gmon->arcs[i].count);
	return code;
}

static int import_blocks(struct import *import)
{
	const struct gmon *gmon = &import->gmon;
	if (gmon->block_count == 0)
		return 0;
	int64_t resource = add_counted(import, "blocks", "Basic Blocks", "block");
	if (resource < 0)
		return (int)resource;
	int code = 0;
	for (size_t i = 0; i < gmon->block_count && code == 0; i++)
		code = add_hit(import, (uint32_t)resource, 0, gmon->blocks[i].address, gmon->blocks[i].count);
	return code;
}

/* gmon.out does not contain the name of its program. Addresses outside of the code show that the image is another
 * build. */
static int add_findings(struct import *import, const char *name, const char *path)
{
	if (import->outside > 0)
		finding_add(import->profile, FINDING_ADDRESSES_OUTSIDE, import->outside,
			    "{# address|# addresses} of %s {is|are} not in the code of %s", name, path);
	return import->profile->findings_error;
}

/* Takes a count from what remains of the limit. Returns false if it is larger. */
static bool take(uint64_t *room, uint64_t count)
{
	if (count > *room)
		return false;
	*room -= count;
	return true;
}

/* Refuses counts that no program makes, so that their sums fit into a profile. */
static int check_counts(const struct gmon *gmon, const char *name, struct error *error)
{
	uint64_t room = UINT64_C(1) << 48;
	bool fits = true;
	for (size_t i = 0; i < gmon->arc_count && fits; i++)
		fits = take(&room, gmon->arcs[i].count);
	for (size_t i = 0; i < gmon->block_count && fits; i++)
		fits = take(&room, gmon->blocks[i].count);
	return fits ? 0 : error_set(error, ERROR_LIMIT, "%s: the counts add up to more than 2^48", name);
}

static struct profile *gmon_import(FILE *in, const char *name, const char *image, struct error *error)
{
	struct import import = { .profile = profile_new() };
	gmon_init(&import.gmon);
	struct error why = { 0 };
	int code = object_read(&import.object, image, &why);
	if (code == 0)
		code = gmon_read(&import.gmon, in, name, &why);
	if (code == 0)
		code = check_counts(&import.gmon, name, &why);
	if (code == 0)
		code = import.profile ? add_owner(import.profile, &import.object, image) : ERROR_MEMORY;
	if (code == 0)
		code = import_histograms(&import);
	if (code == 0)
		code = import_arcs(&import);
	if (code == 0)
		code = import_blocks(&import);
	if (code == 0)
		code = add_findings(&import, name, image);
	gmon_release(&import.gmon);
	if (code == 0) {
		import.profile->ended = true;
		return import.profile;
	}
	error_set(error, code, "%s", why.code ? why.message : error_text(code));
	profile_free(import.profile);
	return NULL;
}

/* --- export --- */

/* Returns whether `end` is the last components of a path, or the whole path. */
static bool path_ends_in(const char *path, const char *end)
{
	size_t length = strlen(path), end_length = strlen(end);
	if (end_length > length || strcmp(path + length - end_length, end) != 0)
		return false;
	return end_length == length || path[length - end_length - 1] == '/';
}

/* Finds the module with the requested name. Of several, the first with counted calls or blocks is preferred. */
static int find_module(const struct profile *profile, const char *name, uint32_t *found, struct error *error)
{
	bool *counted = calloc(profile->module_count + 1, sizeof(*counted));
	if (!counted)
		return error_memory(error);
	gmon_counted(profile, counted);
	*found = PROFILE_NONE;
	for (uint32_t i = 0; i < profile->module_count; i++) {
		const struct profile_module *module = &profile->modules[i];
		if (module->kind == MODULE_FILE && path_ends_in(profile_string(profile, module->path), name) &&
		    (*found == PROFILE_NONE || (counted[i] && !counted[*found])))
			*found = i;
	}
	free(counted);
	if (*found == PROFILE_NONE)
		return error_set(error, ERROR_NOT_FOUND, "this profile has no program or library '%s'", name);
	return 0;
}

static int gmon_export(const struct format_input *input, struct sink *out, struct error *error)
{
	const struct profile *profile = input->profile;
	uint32_t module = gmon_program(profile);
	if (input->object) {
		int code = find_module(profile, input->object, &module, error);
		if (code < 0)
			return code;
	}
	if (module == PROFILE_NONE)
		return error_set(error, ERROR_NOT_FOUND,
				 "cannot write gmon.out: the profile has names, but no addresses");
	struct gmon gmon;
	gmon_init(&gmon);
	int code = gmon_from_profile(profile, module, input->view.resource, &gmon, error);
	if (code == 0)
		code = gmon_write(&gmon, out, error);
	gmon_release(&gmon);
	return code;
}

static bool gmon_recognise(const unsigned char *start, size_t bytes)
{
	static const char mark[] = "gmon";
	return bytes >= sizeof(mark) - 1 && memcmp(start, mark, sizeof(mark) - 1) == 0;
}

const struct format format_gmon = {
	.name = "gmon",
	.title = "gmon.out",
	.ending = "out",
	.summary = "gmon.out, the input of gprof: calls and samples of one program or library",
	.options = FORMAT_RESOURCE | FORMAT_OBJECT | FORMAT_SELECTION,
	.needs = FORMAT_NEEDS_IMAGE,
	.has_several = true,
	.is_binary = true,
	.recognise = gmon_recognise,
	.import = gmon_import,
	.export = gmon_export,
};
