#include "collect/perf_data/perf_data.h"

#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>

#include "base/array.h"
#include "base/quote.h"
#include "collect/perf_data/file.h"
#include "collect/perf_data/layout.h"
#include "collect/perf_data/resources.h"
#include "collect/sample/kernel_symbols.h"
#include "collect/sample/sample_sink.h"
#include "frames/frames.h"
#include "frames/missing_names.h"
#include "profile/findings.h"
#include "profile/module_name.h"

static const int64_t NS_PER_S = 1000000000;

struct import {
	struct perf_data_file file;
	struct perf_data_resources resources;
	struct sample_sink sink;
	struct backend_sink backend_sink;
	uint64_t *addresses; /* of a call chain */
	size_t address_capacity;
	uint64_t kernel_start; /* address of the kernel's symbol _text or _stext in the recording; 0: unknown */
	char kernel_symbol[16];
	bool is_other_kernel;
};

/* --- samples --- */

/* Takes the path that perf found by frame pointers, or the sample's position alone. A caller's address is in its call. */
static int take_chain(struct import *import, const struct perf_record_chain *chain, uint64_t ip,
		      struct backend_sample *sample)
{
	size_t count = chain->count > 0 ? chain->count : !sample->in_kernel && ip != 0;
	if (ARRAY_RESERVE(import->addresses, import->address_capacity, count + 1) < 0)
		return ERROR_MEMORY;
	for (size_t i = 0; i < chain->count; i++)
		import->addresses[i] = chain->addresses[i] - (i > 0);
	if (chain->count == 0)
		import->addresses[0] = ip;
	sample->cause = count > 0 ? UNWIND_ROOT_FRAME_POINTER : UNWIND_NO_USER_STACK;
	sample->addresses = import->addresses;
	sample->address_count = count;
	return 0;
}

/* Without a call chain, only the position in the kernel is known. */
static void take_kernel(const uint64_t *ip, struct backend_sample *sample)
{
	if (sample->in_kernel && sample->kernel_count == 0 && *ip != 0) {
		sample->kernel = ip;
		sample->kernel_count = 1;
	}
}

static int take_sample(struct import *import, const struct perf_event_header *record, uint32_t event)
{
	enum { NO_LONGER_A_THREAD = UINT32_MAX };
	if (event == UINT32_MAX) {
		import->backend_sink.lost(import->backend_sink.context, 1);
		return 0;
	}
	const struct perf_event_attr *attr = &import->file.events[event].attr;
	const struct resource_request *request = &import->resources.requests[import->resources.of_event[event]];
	struct backend_sample sample;
	struct perf_record_chain chain;
	uint64_t ip;
	if (!perf_layout_sample(attr, record, &sample, &chain, &ip))
		return ERROR_CORRUPT;
	if (sample.tid == NO_LONGER_A_THREAD)
		sample.pid = sample.tid = 0;
	sample.request = import->resources.of_event[event];
	uint64_t period = perf_layout_period(attr, record);
	sample.hits = period > request->interval ? period / request->interval : 1;
	take_kernel(&ip, &sample);
	bool is_copied = sample.has_registers && !sample.other_abi && (attr->sample_type & PERF_SAMPLE_STACK_USER);
	int result = is_copied || sample.other_abi ? 0 : take_chain(import, &chain, ip, &sample);
	sample.has_registers = is_copied;
	if (result == 0)
		import->backend_sink.sample(import->backend_sink.context, &sample);
	return result;
}

/* --- side events --- */

/* perf reports the kernel as a map: "[kernel.kallsyms]_text". */
static void note_kernel(struct import *import, const struct backend_map *map)
{
	static const char prefix[] = "[kernel.kallsyms]";
	const char *symbol = map->path + sizeof(prefix) - 1;
	if (strncmp(map->path, prefix, sizeof(prefix) - 1) != 0 || strlen(symbol) >= sizeof(import->kernel_symbol))
		return;
	import->kernel_start = map->file_offset ? map->file_offset : map->start;
	memcpy(import->kernel_symbol, symbol, strlen(symbol) + 1);
}

static int take_map(struct import *import, const struct perf_event_header *record, uint64_t time_ns)
{
	struct backend_map map;
	if (!perf_record_map(record, time_ns, &map))
		return 0; /* its code has no names then */
	if ((record->misc & PERF_RECORD_MISC_CPUMODE_MASK) != PERF_RECORD_MISC_USER) {
		note_kernel(import, &map);
		return 0;
	}
	const struct perf_data_build_id *known = map.build_id ? NULL : perf_data_build_id(&import->file, map.path);
	if (known && known->size > 0) {
		map.build_id = known->bytes;
		map.build_id_bytes = known->size;
		map.inode = 0; /* the file may be a copy, on another machine */
	}
	if (!map.is_data)
		import->backend_sink.map(import->backend_sink.context, &map);
	return 0;
}

static int take_record(struct import *import, size_t index, struct error *error)
{
	const struct perf_data_position *position = &import->file.records[index];
	const struct perf_event_header *record = perf_data_record(&import->file, index, error);
	int result = 0;
	if (!record)
		return error->code;
	if (record->type == PERF_RECORD_SAMPLE)
		result = take_sample(import, record, position->event);
	else if (record->type == PERF_RECORD_MMAP || record->type == PERF_RECORD_MMAP2)
		result = take_map(import, record, position->time_ns);
	/* perf itself writes a fork without a time for each thread that runs already; the thread's name follows. */
	else if (record->type != PERF_RECORD_FORK || position->time_ns != 0)
		perf_record_deliver(record, position->time_ns, &import->backend_sink, true);
	if (result == 0 && import->sink.out_of_memory)
		result = ERROR_MEMORY;
	return result < 0 ? error_set(error, result, "cannot read '%s': record %zu: %s", import->file.name, index,
				      result == ERROR_CORRUPT ? "a sample is damaged" : error_text(result))
			  : 0;
}

/* --- the rest of the profile --- */

static int describe(struct import *import)
{
	const struct perf_data_file *file = &import->file;
	struct profile *profile = import->sink.profile;
	const struct {
		const char *key;
		uint32_t text;
	} notes[] = { { "command", file->command }, { "host", file->host } };
	char text[256];
	for (size_t i = 0; i < sizeof(notes) / sizeof(notes[0]); i++)
		if (notes[i].text && profile_add_note(profile, notes[i].key, perf_data_string(file, notes[i].text)) < 0)
			return ERROR_MEMORY;
	snprintf(text, sizeof(text), "Linux %.100s %.100s", perf_data_string(file, file->release),
		 perf_data_string(file, file->processor));
	if (file->release && profile_add_note(profile, "kernel", text) < 0)
		return ERROR_MEMORY;
	snprintf(text, sizeof(text), "%u", file->cpus);
	if (file->cpus && profile_add_note(profile, "cpus", text) < 0)
		return ERROR_MEMORY;
	const struct backend_request request = { .resources = import->resources.requests,
						 .resource_count = import->resources.count,
						 .user_mode_only = import->resources.user_mode_only };
	return sample_sink_add_resources(&import->sink, &request, "perf record");
}

/* A recording begins with its first sample: perf waits for the command before that. */
static void set_times(struct import *import)
{
	struct profile *profile = import->sink.profile;
	const struct perf_data_file *file = &import->file;
	size_t first = 0;
	while (first < file->record_count && !(file->records[first].is_sample && file->records[first].time_ns))
		first++;
	if (first == file->record_count)
		return;
	profile->start_ns = file->records[first].time_ns;
	profile->end_ns = file->records[file->record_count - 1].time_ns;
}

static int check_machine(struct import *import, struct error *error)
{
	struct utsname here;
	const struct perf_data_file *file = &import->file;
	const char *processor = perf_data_string(file, file->processor);
	if (uname(&here) < 0)
		return error_set_errno(error, "cannot read the name of this machine's processor");
	import->is_other_kernel = file->release && strcmp(here.release, perf_data_string(file, file->release)) != 0;
	if (!processor[0] || strcmp(processor, here.machine) == 0)
		return 0;
	return error_set(error, ERROR_UNSUPPORTED,
			 "cannot import '%s': it was recorded on %s, and its stacks can be read only on such a machine",
			 file->name, QUOTE(processor));
}

/* --- names --- */

/* Returns whether the running kernel has the recorded one's symbols at the same addresses. */
static bool is_same_kernel(const struct import *import)
{
	FILE *symbols = import->is_other_kernel || import->kernel_start == 0 ? NULL : fopen("/proc/kallsyms", "re");
	char line[512], name[256];
	bool same = false;
	unsigned long long address;
	while (symbols && !same && fgets(line, sizeof(line), symbols))
		same = sscanf(line, "%llx %*c %255s", &address, name) == 2 && address == import->kernel_start &&
		       strcmp(name, import->kernel_symbol) == 0;
	if (symbols)
		fclose(symbols);
	return same;
}

static int open_module(void *context, uint32_t module, struct error *error)
{
	struct import *import = context;
	const struct profile *profile = import->sink.profile;
	if (!module_is_kernel_code(profile, module))
		return modules_open_for_names(import->sink.modules, module, error);
	if (is_same_kernel(import))
		return kernel_symbols_open(profile, NULL, NULL, error);
	return error_set(error, ERROR_NOT_FOUND,
			 "this kernel is not the recorded one, or shows its symbols to root only");
}

/* Reports that the copied stacks were too short. The memory of the threads is gone, so that nothing completes a stack (stacks/stack.h): the
 * remembered bytes of a thread come from stacks that were completed. To remember also the stacks that were copied whole was tried: of 200
 * samples of sqlite3, 2 had such a stack, and it completed none of the others. */
static void add_cut_stacks(struct profile *profile, const struct walk_ends *ends)
{
	enum { TOLERATED_PERCENT = 1, PERCENT = 100 };
	uint64_t stacks = 0, cut = ends->causes[UNWIND_STACK_SHORT];
	for (size_t i = 0; i < UNWIND_CAUSE_COUNT; i++)
		stacks += ends->causes[i];
	if (cut > stacks / PERCENT * TOLERATED_PERCENT)
		finding_add(
			profile, FINDING_STACKS_CUT, cut,
			"{# copied stack ends|# copied stacks end} too early (perf record --call-graph dwarf,32768)");
}

static int name_addresses(struct import *import, struct error *error)
{
	struct profile *profile = import->sink.profile;
	struct walk_ends *ends = stacks_ends(import->sink.stacks);
	uint64_t *times = generated_paths_times(&ends->generated, profile);
	const struct frames_options options = { .open_module = open_module,
						.context = import,
						.finds_tail_calls = true,
						.times = times,
						.time_count = times ? profile->location_count : 0 };
	int result = frames_name_profile(profile, &options, error);
	free(times);
	if (result < 0)
		return result;
	walk_ends_resolve(ends, profile);
	add_cut_stacks(profile, ends);
	result = walk_ends_publish(ends, profile);
	if (result == 0)
		result = missing_names_add_all(profile);
	return result < 0 ? error_set(error, result, "%s", error_text(result)) : 0;
}

/* --- all of it --- */

static int prepare(struct import *import, struct error *error)
{
	struct sample_sink *sink = &import->sink;
	if (sample_sink_init(sink, error) < 0)
		return error->code;
	set_times(import);
	const struct profile *profile = sink->profile;
	int64_t lasted_s = (int64_t)(profile->end_ns - profile->start_ns) / NS_PER_S;
	modules_set_past(sink->modules, import->file.modified_s - lasted_s - 1, import->is_other_kernel);
	processes_set_past(sink->processes);
	import->backend_sink = sample_sink_for_backend(sink);
	return describe(import) < 0 ? error_memory(error) : 0;
}

static int take_all(struct import *import, struct error *error)
{
	int result = check_machine(import, error);
	if (result == 0)
		result = perf_data_resources_init(&import->resources, &import->file, error);
	if (result == 0)
		result = prepare(import, error);
	for (size_t i = 0; result == 0 && i < import->file.record_count; i++)
		result = take_record(import, i, error);
	if (result == 0 && import->file.is_cut)
		import->backend_sink.lost(import->backend_sink.context, 1);
	if (result == 0)
		result = name_addresses(import, error);
	return result;
}

struct profile *perf_data_read(FILE *in, const char *name, struct error *error)
{
	struct import import = { 0 };
	struct profile *profile = NULL;
	if (perf_data_open(&import.file, in, name, error) < 0)
		return NULL;
	if (take_all(&import, error) == 0) {
		profile = import.sink.profile;
		profile->ended = true;
		import.sink.profile = NULL;
	}
	sample_sink_release(&import.sink);
	perf_data_resources_release(&import.resources);
	free(import.addresses);
	perf_data_close(&import.file);
	return profile;
}
