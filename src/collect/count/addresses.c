/* Adds the modules of all processes to the profile, and finds the location of an address in a process. */
#include <string.h>

#include "base/lower_bound.h"
#include "collect/count/parts.h"
#include "profile/module_name.h"

/* Processes that map the same file (path, kind, build-id) share one module. */
static int64_t add_module(struct profile *profile, struct hash_map *known, const char *path, uint8_t kind,
			  const uint8_t *build_id, size_t build_id_bytes)
{
	uint64_t key = hash_bytes(path, strlen(path)) ^ hash_u64(kind);
	if (build_id_bytes > 0)
		key ^= hash_bytes(build_id, build_id_bytes);
	uint32_t found = hash_map_get(known, key);
	if (found != HASH_MAP_NONE)
		return found;
	int64_t text = profile_add_string(profile, path);
	if (text < 0)
		return text;
	struct profile_module row = { .path = (uint32_t)text, .kind = kind, .build_id_bytes = (uint8_t)build_id_bytes };
	if (build_id_bytes > 0)
		memcpy(row.build_id, build_id, build_id_bytes);
	int64_t id = profile_add_module(profile, &row);
	int result = id < 0 ? (int)id : hash_map_put(known, key, (uint32_t)id);
	return result < 0 ? result : id;
}

int tally_add_modules(struct tally *tally, struct profile *profile)
{
	struct hash_map known;
	hash_map_init(&known);
	int64_t id = 0;
	for (size_t i = 0; i < tally->process_count && id >= 0; i++) {
		const struct count_process *process = &tally->processes[i];
		for (size_t j = 0; j < process->module_count && id >= 0; j++) {
			struct count_module *module = &process->modules[j];
			if (!module->is_vdso && module->path[0] != '/')
				continue;
			id = add_module(profile, &known, module->path, module->is_vdso ? MODULE_VDSO : MODULE_FILE,
					module->build_id, module->build_id_bytes);
			module->id = (uint32_t)id;
			module->is_runtime = module_name_is_agent(module->path);
		}
	}
	hash_map_release(&known);
	return id < 0 ? (int)id : 0;
}

/* Returns the module that contains an address, or NULL if there is none or the profile does not have it: it is
 * neither a file nor the vDSO. */
static const struct count_module *module_at(const struct count_process *process, uint64_t address)
{
	size_t begun = LOWER_BOUND(i, 0, process->module_count, process->modules[i].start <= address);
	const struct count_module *found = begun > 0 ? &process->modules[begun - 1] : NULL;
	return found && address < found->end && found->id != PROFILE_NONE ? found : NULL;
}

int64_t tally_add_name(struct profile *profile, const char *name, enum module_kind kind)
{
	int64_t text = profile_add_string(profile, name);
	const struct profile_module row = { .path = (uint32_t)text, .kind = (uint8_t)kind };
	return text < 0 ? text : profile_add_module(profile, &row);
}

int64_t tally_anonymous_module(struct profile *profile)
{
	for (size_t i = 0; i < profile->module_count; i++)
		if (profile->modules[i].kind == MODULE_ANON)
			return (int64_t)i;
	return tally_add_name(profile, "[anon]", MODULE_ANON);
}

uint32_t tally_module(const struct tally *tally, uint32_t process, uint64_t address, uint64_t *bias)
{
	const struct count_module *module = module_at(&tally->processes[process], address);
	if (bias)
		*bias = module ? module->bias : 0;
	return module ? module->id : PROFILE_NONE;
}

bool tally_is_runtime(const struct tally *tally, uint32_t process, uint64_t address)
{
	const struct count_module *module = module_at(&tally->processes[process], address);
	return module && module->is_runtime;
}

int64_t tally_location(const struct tally *tally, struct profile *profile, uint32_t process, uint64_t address)
{
	struct count_process *in = &tally->processes[process];
	uint32_t known = hash_map_get(&in->locations, address);
	if (known != HASH_MAP_NONE)
		return known;
	const struct count_module *module = module_at(in, address);
	int64_t in_module = module ? module->id : tally_anonymous_module(profile);
	int64_t id = in_module < 0
			     ? in_module
			     : profile_add_location(profile, (uint32_t)in_module, module ? address - module->bias : 0);
	int result = id < 0 ? (int)id : hash_map_put(&in->locations, address, (uint32_t)id);
	return result < 0 ? result : id;
}

int64_t tally_call_site_location(const struct tally *tally, struct profile *profile, uint32_t process,
				 uint64_t call_site)
{
	return tally_location(tally, profile, process, call_site - 1);
}

/* The file has the lower half of the address; the function's code is in the module of its entry or descriptor. */
uint64_t tally_hook_code(const struct tally *tally, uint32_t process, const struct count_call *call)
{
	static const uint64_t half = UINT64_C(1) << 32;
	const struct count_module *module = module_at(&tally->processes[process], call->function);
	if (!(call->code & 1) || !module)
		return 0;
	for (uint64_t address = (module->start & ~(half - 1)) | (call->code - 1); address < module->end;
	     address += half)
		if (address >= module->start)
			return address;
	return 0;
}

/* Returns the outermost function at a location, or PROFILE_NONE if the location has no names yet. */
static uint32_t function_at(const struct profile *profile, uint32_t id)
{
	const struct profile_location *location = &profile->locations[id];
	return location->first_frame == PROFILE_NONE || location->frame_count == 0
		       ? PROFILE_NONE
		       : profile->frames[location->first_frame + location->frame_count - 1].function;
}

/* Hooks that report entries only (mcount, fentry) pass the address behind their call, which is looked up at the
 * call, as any return address. Other hooks pass the function's first byte; the byte before it belongs to another
 * function. If a process has both kinds of hooks, the address is taken as one behind a call if the names put it and
 * the byte before it in one function. A probe point has a location of its own once it has names; before, it gets
 * the location of the code that reached it first. */
int64_t tally_entry_location(const struct tally *tally, struct profile *profile, uint32_t process, uint64_t function)
{
	const struct count_probe *probe = tally_probe_at(tally, process, function);
	if (probe && probe->location != PROFILE_NONE)
		return probe->location;
	if (probe)
		return tally_call_site_location(tally, profile, process, probe->code ? probe->code : function + 1);
	uint32_t hooks = tally->processes[process].shared->hooks;
	bool may_be_behind = hooks & (TALLY_HOOK_MCOUNT | TALLY_HOOK_FENTRY);
	bool may_be_first = hooks & TALLY_HOOK_CYG || !may_be_behind;
	int64_t behind = may_be_behind ? tally_call_site_location(tally, profile, process, function) : 0;
	if (behind < 0 || !may_be_first)
		return behind;
	int64_t first = tally_location(tally, profile, process, function);
	if (first < 0 || !may_be_behind)
		return first;
	uint32_t named = function_at(profile, (uint32_t)first);
	return named != PROFILE_NONE && named == function_at(profile, (uint32_t)behind) ? behind : first;
}
