/* The first half of a profile: what was measured, in which processes and threads, and all addresses. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "collect/count/parts.h"
#include "profile/module_name.h"

static const char *const measurement_names[] = TALLY_MEASUREMENT_NAMES;

const char *tally_measurement_name(uint32_t measurement)
{
	return measurement < TALLY_MEASUREMENTS ? measurement_names[measurement] : "";
}

/* --- resources --- */

/* The runtime counts time in ns, whatever the resource's own gtick is. */
static uint64_t ns_of_unit(const char *unit)
{
	static const struct {
		const char *unit;
		uint64_t ns;
	} units[] = { { "us", 1000 }, { "ms", 1000 * 1000 }, { "s", 1000 * 1000 * 1000 } };
	for (size_t i = 0; i < sizeof(units) / sizeof(units[0]); i++)
		if (strcmp(unit, units[i].unit) == 0)
			return units[i].ns;
	return 1;
}

/* Texts are in the order name, title, unit, backend, note. */
static int64_t add_resource(struct profile *profile, const char *const texts[5], const struct profile_resource *row)
{
	uint32_t ids[5];
	for (size_t i = 0; i < 5; i++) {
		int64_t id = profile_add_string(profile, texts[i]);
		if (id < 0)
			return id;
		ids[i] = (uint32_t)id;
	}
	struct profile_resource resource = *row;
	resource.name = ids[0];
	resource.title = ids[1];
	resource.unit = ids[2];
	resource.backend = ids[3];
	resource.note = ids[4];
	return profile_add_resource(profile, &resource);
}

int64_t tally_add_exact(struct profile *profile, const char *name, const char *title, const char *unit)
{
	const char *const texts[] = { name, title, unit, "hooks", "" };
	const struct profile_resource exact = { .kind = RESOURCE_EXACT, .interval = 1 };
	return add_resource(profile, texts, &exact);
}

static int64_t add_sampled(const struct tally *tally, struct profile *profile, uint32_t request)
{
	const struct tally_request *asked = &tally->header.requests[request];
	const char *const texts[] = { asked->name, asked->title, asked->unit, "hooks", "" };
	uint64_t gtick = ns_of_unit(asked->unit);
	struct profile_resource sampled = { .kind = RESOURCE_SAMPLED,
					    .interval = asked->interval > gtick ? asked->interval / gtick : 1 };
	for (size_t i = 0; i < tally->thread_count; i++) {
		sampled.total += tally->threads[i].shared->totals[request];
		sampled.lost += tally->threads[i].shared->lost[request];
	}
	sampled.total /= gtick;
	profile->lost += sampled.lost;
	return add_resource(profile, texts, &sampled);
}

static bool is_timed(const struct tally *tally)
{
	return tally->header.measurement == TALLY_PATHS_TIMED || tally->header.measurement == TALLY_TRACE;
}

static bool has_times(const struct tally *tally)
{
	for (size_t i = 0; i < tally->thread_count && is_timed(tally); i++) {
		const struct count_tree *tree = &tally->threads[i].tree;
		for (size_t path = 0; path < tree->path_count; path++)
			if (tree->paths[path].exclusive_ns > 0)
				return true;
	}
	return false;
}

/* Whether calls were timed of functions that wait for others. */
static bool has_waits(const struct tally *tally)
{
	for (size_t i = 0; i < tally->process_count && has_times(tally); i++)
		for (size_t j = 0; j < tally->processes[i].probe_count; j++)
			if (tally->processes[i].probes[j].flags & TALLY_PROBE_WAITS)
				return true;
	return false;
}

/* Says what was subtracted. */
static int64_t add_real(const struct tally *tally, struct profile *profile)
{
	char note[160] = "";
	const struct tally_header *header = &tally->header;
	if (tally->compensated_ns > 0)
		snprintf(note, sizeof(note),
			 "without the %.1f ns that a probe takes, of %" PRIu64 " calls: %.3f ms in all",
			 (double)(header->probe_inside_ps + header->probe_outside_ps) / 1e3, tally->compensated_calls,
			 (double)tally->compensated_ns / 1e6);
	const char *const texts[] = { "real", "Real Time", "ns", "hooks", note };
	const struct profile_resource exact = { .kind = RESOURCE_EXACT, .interval = 1 };
	return add_resource(profile, texts, &exact);
}

/* Says what was subtracted: of what falls between a call's two time stamps. */
static int64_t add_wait(const struct tally *tally, struct profile *profile)
{
	char note[80] = "";
	if (tally->compensated_ns > 0)
		snprintf(note, sizeof(note), "without the %.1f ns of a probe that fall into a call",
			 (double)tally->header.probe_inside_ps / 1e3);
	const char *const texts[] = { "wait", "Waiting Time", "ns", "hooks", note };
	const struct profile_resource exact = { .kind = RESOURCE_EXACT, .interval = 1 };
	return add_resource(profile, texts, &exact);
}

/* Says what was not counted. */
static int64_t add_calls(const struct tally *tally, struct profile *profile)
{
	const struct tally_probes_off off = tally_probes_off(tally);
	char note[160] = "", throttled[80] = "", switched[80] = "";
	if (off.throttled > 0)
		snprintf(throttled, sizeof(throttled), "%" PRIu64 " probe point%s turned %s off after many calls",
			 off.throttled, off.throttled == 1 ? "" : "s", off.throttled == 1 ? "itself" : "themselves");
	if (off.switched > 0)
		snprintf(switched, sizeof(switched), "%" PRIu64 " probe point%s switched off for a time", off.switched,
			 off.switched == 1 ? " was" : "s were");
	if (throttled[0] || switched[0])
		snprintf(note, sizeof(note), "%s%s%s: see cpprof info", throttled,
			 throttled[0] && switched[0] ? ", " : "", switched);
	const char *const texts[] = { "calls", "Calls", "call", "hooks", note };
	const struct profile_resource exact = { .kind = RESOURCE_EXACT, .interval = 1 };
	return add_resource(profile, texts, &exact);
}

static int add_resources(struct tally *tally, struct profile *profile)
{
	int64_t id = 0;
	tally->calls = tally->real = tally->wait = tally->blocks = tally->lines = PROFILE_NONE;
	for (uint32_t i = 0; i < tally->header.request_count && id >= 0; i++) {
		id = add_sampled(tally, profile, i);
		tally->requests[i] = (uint32_t)id;
	}
	if (id >= 0 && tally->header.measurement != TALLY_OFF) {
		id = add_calls(tally, profile);
		tally->calls = (uint32_t)id;
	}
	if (id >= 0 && has_times(tally)) {
		id = add_real(tally, profile);
		tally->real = (uint32_t)id;
	}
	if (id >= 0 && has_waits(tally)) {
		id = add_wait(tally, profile);
		tally->wait = (uint32_t)id;
	}
	return id < 0 ? (int)id : 0;
}

/* --- processes, threads --- */

static int add_processes(struct tally *tally, struct profile *profile)
{
	for (size_t i = 0; i < tally->process_count; i++) {
		struct count_process *process = &tally->processes[i];
		const struct tally_process *shared = process->shared;
		const struct count_process *parent = tally_find_process(tally, shared->parent);
		char name[sizeof(shared->name)];
		memcpy(name, shared->name, sizeof(name));
		name[sizeof(name) - 1] = 0;
		int64_t text = profile_add_string(profile, name);
		if (text < 0)
			return (int)text;
		const struct profile_process row = { .pid = shared->pid,
						     .parent_pid = parent ? parent->shared->pid : 0,
						     .name = (uint32_t)text,
						     .start_ns = shared->start_ns,
						     .end_ns = shared->end_ns };
		int64_t id = profile_add_process(profile, &row);
		if (id < 0)
			return (int)id;
		process->id = (uint32_t)id;
		if (shared->seen_ns > profile->end_ns)
			profile->end_ns = shared->seen_ns;
		if (shared->end_ns > profile->end_ns)
			profile->end_ns = shared->end_ns;
	}
	return 0;
}

static int add_threads(struct tally *tally, struct profile *profile)
{
	for (size_t i = 0; i < tally->thread_count; i++) {
		struct count_thread *thread = &tally->threads[i];
		const struct tally_thread *shared = thread->shared;
		char name[sizeof(shared->name) + 1] = "";
		memcpy(name, shared->name, sizeof(shared->name));
		int64_t text = profile_add_string(profile, name);
		if (text < 0)
			return (int)text;
		const struct profile_thread row = { .tid = shared->tid,
						    .process = tally->processes[thread->process].id,
						    .name = (uint32_t)text,
						    .start_ns = shared->start_ns,
						    .end_ns = shared->end_ns };
		int64_t id = profile_add_thread(profile, &row);
		if (id < 0)
			return (int)id;
		thread->id = (uint32_t)id;
	}
	return 0;
}

/* --- modules and addresses --- */

/* The same file in several processes is one module. */
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

static int add_modules(struct tally *tally, struct profile *profile)
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

/* The module that has an address, if it has a file; or NULL. */
static const struct count_module *module_at(const struct count_process *process, uint64_t address)
{
	size_t low = 0, high = process->module_count;
	while (low < high) { /* the last one that begins at or below it */
		size_t middle = low + (high - low) / 2;
		if (process->modules[middle].start <= address)
			low = middle + 1;
		else
			high = middle;
	}
	const struct count_module *found = low > 0 ? &process->modules[low - 1] : NULL;
	return found && address < found->end && found->id != PROFILE_NONE ? found : NULL;
}

/* One module stands for all code without a file. */
static int64_t anonymous_module(struct profile *profile)
{
	for (size_t i = 0; i < profile->module_count; i++)
		if (profile->modules[i].kind == MODULE_ANON)
			return (int64_t)i;
	int64_t text = profile_add_string(profile, "[anon]");
	const struct profile_module row = { .path = (uint32_t)text, .kind = MODULE_ANON };
	return text < 0 ? text : profile_add_module(profile, &row);
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
	int64_t in_module = module ? module->id : anonymous_module(profile);
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

/* What named function has the code at a location; PROFILE_NONE: it has no names yet. */
static uint32_t function_at(const struct profile *profile, uint32_t id)
{
	const struct profile_location *location = &profile->locations[id];
	return location->first_frame == PROFILE_NONE || location->frame_count == 0
		       ? PROFILE_NONE
		       : profile->frames[location->first_frame + location->frame_count - 1].function;
}

/* Hooks that know entries alone tell an address behind their call, which is to be looked up in the call, as any
 * return address; others the first byte of the function, before which is another one. Where a process has both
 * the names decide. Probe points have locations of their own, but that of the code that reached them until they have names. */
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

static int add_locations_of(const struct tally *tally, const struct count_thread *thread, struct profile *profile)
{
	const struct count_tree *tree = &thread->tree;
	int64_t id = 0;
	for (size_t i = 0; i < tree->call_count && id >= 0; i++) {
		id = tally_entry_location(tally, profile, thread->process, tree->calls[i].function);
		if (id >= 0 && tree->calls[i].call_site != 0)
			id = tally_call_site_location(tally, profile, thread->process, tree->calls[i].call_site);
	}
	for (size_t i = 0; i < tree->tick_count && id >= 0; i++)
		if (!tally_is_runtime(tally, thread->process, tree->ticks[i].pc))
			id = tally_location(tally, profile, thread->process, tree->ticks[i].pc);
	return id < 0 ? (int)id : 0;
}

/* Their names come from the code, also of those that nobody has called. */
static int add_probes_of(const struct tally *tally, uint32_t process, struct profile *profile)
{
	const struct count_process *in = &tally->processes[process];
	int64_t id = 0;
	for (size_t i = 0; i < in->probe_count && id >= 0; i++)
		if (in->probes[i].code)
			id = tally_call_site_location(tally, profile, process, in->probes[i].code);
	return id < 0 ? (int)id : 0;
}

static int add_locations(struct tally *tally, struct profile *profile)
{
	int result = 0;
	for (size_t i = 0; i < tally->thread_count && result == 0; i++)
		result = add_locations_of(tally, &tally->threads[i], profile);
	for (uint32_t i = 0; i < tally->process_count && result == 0; i++)
		result = add_probes_of(tally, i, profile);
	return result;
}

/* --- description --- */

static int describe(const struct tally *tally, struct profile *profile)
{
	static const struct {
		uint32_t hook;
		const char *name;
	} names[] = {
		{ TALLY_HOOK_MCOUNT, "mcount" },
		{ TALLY_HOOK_FENTRY, "__fentry__" },
		{ TALLY_HOOK_CYG, "__cyg_profile_func_enter" },
		{ TALLY_HOOK_BLOCK, "__sanitizer_cov_trace_pc" },
		{ TALLY_HOOK_GUARD, "__sanitizer_cov_trace_pc_guard" },
		{ TALLY_HOOK_PROBE, "source" },
	};
	int64_t result =
		profile_add_note(profile, TALLY_NOTE_MEASUREMENT, tally_measurement_name(tally->header.measurement));
	uint32_t hooks = 0;
	for (size_t i = 0; i < tally->process_count; i++)
		hooks |= tally->processes[i].shared->hooks;
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]) && result >= 0; i++)
		if (hooks & names[i].hook)
			result = profile_add_note(profile, TALLY_NOTE_HOOK, names[i].name);
	profile->start_ns = tally->header.start_ns;
	profile->start_unix_ns = tally->header.start_unix_ns;
	profile->ended = true;
	return result < 0 ? (int)result : 0;
}

int tally_locations(struct tally *tally, struct profile *profile, struct error *error)
{
	int (*const steps[])(struct tally *, struct profile *) = { add_resources, add_processes, add_threads,
								   add_modules, add_locations };
	int result = describe(tally, profile);
	for (size_t i = 0; i < sizeof(steps) / sizeof(steps[0]) && result == 0; i++)
		result = steps[i](tally, profile);
	if (result == 0 && tally->header.measurement == TALLY_BLOCKS)
		return tally_block_locations(tally, profile, error);
	return result < 0 ? error_set(error, result, "%s", error_text(result)) : 0;
}
