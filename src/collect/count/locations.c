/* The first half of a profile: the measurement, its processes and threads, and the locations of all addresses. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "collect/count/parts.h"
#include "profile/module_name.h"

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
						     .end_ns = shared->end_ns,
						     .user = tally->source.owner };
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

static int add_locations_of(const struct tally *tally, const struct count_thread *thread, struct profile *profile)
{
	const struct count_tree *tree = &thread->tree;
	int64_t id = 0;
	for (size_t i = 0; i < tree->call_count && id >= 0; i++) {
		id = tally_entry_location(tally, profile, thread->process, tree->calls[i].function);
		if (id >= 0 && tree->calls[i].call_site != 0)
			id = tally_call_site_location(tally, profile, thread->process, tree->calls[i].call_site);
		uint64_t code = tally_hook_code(tally, thread->process, &tree->calls[i]);
		if (id >= 0 && code != 0)
			id = tally_call_site_location(tally, profile, thread->process, code);
	}
	for (size_t i = 0; i < tree->tick_count && id >= 0; i++)
		if (!tally_is_runtime(tally, thread->process, tree->ticks[i].pc))
			id = tally_location(tally, profile, thread->process, tree->ticks[i].pc);
	return id < 0 ? (int)id : 0;
}

/* Adds the code of all probe points, which gives them their names, also of those without a counted call. */
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
	int (*const steps[])(struct tally *, struct profile *) = { tally_add_resources, add_processes, add_threads,
								   tally_add_modules, add_locations };
	int result = describe(tally, profile);
	for (size_t i = 0; i < sizeof(steps) / sizeof(steps[0]) && result == 0; i++)
		result = steps[i](tally, profile);
	if (result == 0 && tally->header.measurement == TALLY_BLOCKS)
		return tally_block_locations(tally, profile, error);
	return result < 0 ? error_set(error, result, "%s", error_text(result)) : 0;
}
