/*
 * pprof, written: the profiles of Go's tools and of many services, a message of Protocol Buffers,
 * compressed by gzip. The numbers of the fields are from profile.proto
 * (github.com/google/pprof, proto/profile.proto).
 *
 *   sample_type   a resource; a value is the hits times the interval
 *   sample        a path, innermost location first, with a value per resource and labels: process, thread and the program's own
 *   location      a function and the functions that are inlined into it there, innermost first
 *   function      a function in a source file
 *   mapping       a module, with its build-id
 *   string 0      ""
 */
#include <stdlib.h>

#include "base/array.h"
#include "base/compare.h"
#include "base/hash_map.h"
#include "base/strings.h"
#include "formats/amount.h"
#include "formats/format.h"
#include "formats/gzip.h"
#include "formats/places.h"
#include "formats/pprof_fields.h"
#include "formats/protobuf.h"

struct pprof {
	const struct call_paths *paths;
	struct gzip gzip;
	struct strings strings;
	struct buffer message, inner, deepest; /* reused */
	struct places places;
	struct hash_map functions; /* (name, file) as strings -> id; ids begin at 1 */
	struct hash_map mappings;  /* path as a string -> id */
	uint32_t *shown;           /* the resources that are written */
	uint32_t shown_count;
	int status;
};

static void fail(struct pprof *pprof, int status)
{
	if (status < 0 && pprof->status == 0)
		pprof->status = status;
}

static uint64_t string_of(struct pprof *pprof, const char *text)
{
	int64_t id = strings_add(&pprof->strings, text, strlen(text));
	fail(pprof, id < 0 ? (int)id : 0);
	return id < 0 ? 0 : (uint64_t)id;
}

/* Writes the message as a field of the profile, and clears it. */
static void write_message(struct pprof *pprof, uint32_t field)
{
	fail(pprof, buffer_error(&pprof->message));
	struct buffer *head = &pprof->inner;
	protobuf_key(head, field, PROTOBUF_BYTES);
	buffer_append_varint(head, pprof->message.size);
	fail(pprof, buffer_error(head));
	gzip_write(&pprof->gzip, head->bytes, head->size);
	gzip_write(&pprof->gzip, pprof->message.bytes, pprof->message.size);
	buffer_clear(head);
	buffer_clear(&pprof->message);
}

static void write_number(struct pprof *pprof, uint32_t field, uint64_t number)
{
	protobuf_number(&pprof->message, field, number);
	fail(pprof, buffer_error(&pprof->message));
	gzip_write(&pprof->gzip, pprof->message.bytes, pprof->message.size);
	buffer_clear(&pprof->message);
}

/* --- places, functions, mappings --- */

/* Returns the id of a key, from 1 on; sets *is_new if it had none. */
static uint32_t id_of(struct pprof *pprof, struct hash_map *map, uint64_t key, bool *is_new)
{
	uint32_t id;
	int added = hash_map_number(map, key, &id);
	fail(pprof, added);
	*is_new = added != 0;
	return id;
}

static uint64_t function_of(struct pprof *pprof, const struct path_frame *frame)
{
	uint64_t name = string_of(pprof, frame->name), file = string_of(pprof, frame->file);
	bool is_new;
	uint32_t id = id_of(pprof, &pprof->functions, name << 32 | file, &is_new);
	if (!is_new)
		return id;
	protobuf_number(&pprof->message, FUNCTION_ID, id);
	protobuf_number(&pprof->message, FUNCTION_NAME, name);
	/* A name that is equal to the system's is demangled again by readers, which then shorten it. */
	if (strcmp(frame->linkage, frame->name) != 0)
		protobuf_number(&pprof->message, FUNCTION_SYSTEM_NAME, string_of(pprof, frame->linkage));
	protobuf_number(&pprof->message, FUNCTION_FILE, file);
	write_message(pprof, PROFILE_FUNCTION);
	return id;
}

static const struct profile_module *module_of(const struct profile *profile, const char *path)
{
	for (size_t i = 0; i < profile->module_count; i++)
		if (strcmp(profile_string(profile, profile->modules[i].path), path) == 0)
			return &profile->modules[i];
	return NULL;
}

static uint64_t mapping_of(struct pprof *pprof, const struct path_frame *frame)
{
	uint64_t path = string_of(pprof, frame->module);
	bool is_new;
	if (path == 0)
		return 0;
	uint32_t id = id_of(pprof, &pprof->mappings, path, &is_new);
	if (!is_new)
		return id;
	const struct profile_module *module = module_of(pprof->paths->profile, frame->module);
	char text[2 * PROFILE_BUILD_ID_MAX + 1] = "";
	for (size_t i = 0; module && i < module->build_id_bytes; i++)
		snprintf(text + 2 * i, 3, "%02x", module->build_id[i]);
	protobuf_number(&pprof->message, MAPPING_ID, id);
	protobuf_number(&pprof->message, MAPPING_FILE, path);
	protobuf_number(&pprof->message, MAPPING_BUILD_ID, string_of(pprof, text));
	for (uint32_t field = MAPPING_HAS_FUNCTIONS; field <= MAPPING_HAS_INLINE; field++)
		protobuf_number(&pprof->message, field, 1);
	write_message(pprof, PROFILE_MAPPING);
	return id;
}

/* Readers show the first mapping as that of the program. */
static void write_program(struct pprof *pprof)
{
	const struct profile *profile = pprof->paths->profile;
	for (size_t i = 0; i < profile->function_count; i++) {
		const struct profile_function *function = &profile->functions[i];
		if (function->role != ROLE_MAIN || function->module == PROFILE_NONE)
			continue;
		const struct path_frame program = { .module = profile_string(profile,
									     profile->modules[function->module].path) };
		mapping_of(pprof, &program);
		return;
	}
}

/* The lines of a location come innermost first. Functions and mappings are written before the location that has them. */
static void write_locations(struct pprof *pprof, const bool *used)
{
	const struct path_frame *frames = pprof->paths->frames;
	for (uint32_t i = 0; i < pprof->places.count && pprof->status == 0; i++) {
		if (!used[i])
			continue;
		struct buffer *lines = &pprof->deepest;
		uint64_t mapping = mapping_of(pprof, &frames[pprof->places.items[i].frame]);
		for (uint32_t at = i; at != PROFILE_NONE; at = pprof->places.items[at].outer) {
			const struct path_frame *frame = &frames[pprof->places.items[at].frame];
			uint64_t function = function_of(pprof, frame);
			protobuf_number(&pprof->inner, LINE_FUNCTION, function);
			protobuf_number(&pprof->inner, LINE_NUMBER, frame->line);
			protobuf_message(lines, LOCATION_LINE, &pprof->inner);
		}
		protobuf_number(&pprof->message, LOCATION_ID, i + UINT64_C(1));
		protobuf_number(&pprof->message, LOCATION_MAPPING, mapping);
		buffer_append(&pprof->message, lines->bytes, lines->size);
		fail(pprof, buffer_error(lines));
		buffer_clear(lines);
		write_message(pprof, PROFILE_LOCATION);
	}
}

/* --- samples --- */

static void append_type(struct pprof *pprof, const struct profile_resource *resource)
{
	const struct profile *profile = pprof->paths->profile;
	const char *unit = format_unit(profile_string(profile, resource->unit));
	protobuf_number(&pprof->message, VALUE_TYPE_TYPE, string_of(pprof, profile_string(profile, resource->name)));
	protobuf_number(&pprof->message, VALUE_TYPE_UNIT, string_of(pprof, unit));
}

static void append_label(struct pprof *pprof, const char *key, const char *text, uint64_t number)
{
	protobuf_number(&pprof->inner, LABEL_KEY, string_of(pprof, key));
	protobuf_number(&pprof->inner, LABEL_TEXT, text ? string_of(pprof, text) : 0);
	protobuf_number(&pprof->inner, LABEL_NUMBER, number);
	protobuf_message(&pprof->message, SAMPLE_LABEL, &pprof->inner);
}

/* The samples of one path, thread and label set. */
struct group {
	uint32_t path, thread, label_set;
};

static void append_labels(struct pprof *pprof, const struct group *group)
{
	const struct profile *profile = pprof->paths->profile;
	if (group->thread != PROFILE_NONE) {
		const struct profile_thread *thread = &profile->threads[group->thread];
		const struct profile_process *process = &profile->processes[thread->process];
		append_label(pprof, "process", profile_string(profile, process->name), 0);
		append_label(pprof, "pid", NULL, process->pid);
		append_label(pprof, "thread", profile_string(profile, thread->name), 0);
		append_label(pprof, "tid", NULL, thread->tid);
	}
	const struct profile_label_set *set = &profile->label_sets[group->label_set];
	for (uint32_t i = 0; i < set->label_count; i++) {
		const struct profile_label *label = &profile->labels[set->first_label + i];
		append_label(pprof, profile_string(profile, label->key), profile_string(profile, label->value), 0);
	}
}

static void write_sample(struct pprof *pprof, const struct group *group, const uint64_t *hits)
{
	const struct call_paths *paths = pprof->paths;
	const struct profile *profile = paths->profile;
	for (uint32_t at = group->path; at != 0; at = pprof->places.caller[at])
		buffer_append_varint(&pprof->inner, pprof->places.of_path[at] + UINT64_C(1));
	protobuf_message(&pprof->message, SAMPLE_LOCATIONS, &pprof->inner);
	for (uint32_t i = 0; i < pprof->shown_count; i++) {
		uint32_t resource = pprof->shown[i];
		buffer_append_varint(&pprof->inner,
				     amount_of(profile, resource, hits[resource - paths->first_resource]));
	}
	protobuf_message(&pprof->message, SAMPLE_VALUES, &pprof->inner);
	append_labels(pprof, group);
	write_message(pprof, PROFILE_SAMPLE);
}

static int by_group(const void *left, const void *right)
{
	const struct path_hit *a = left, *b = right;
	return COMPARE(a->path, b->path) ?: COMPARE(a->thread, b->thread) ?: COMPARE(a->label_set, b->label_set);
}

/* Returns the hits in the order of by_group, or NULL without memory: first a counting sort by
 * path, because most paths have few hits. */
static struct path_hit *sort_by_group(const struct path_hit *hits, size_t count, size_t path_count)
{
	struct path_hit *sorted = malloc((count + 1) * sizeof(*sorted));
	size_t *ends = calloc(path_count + 1, sizeof(*ends));
	if (!sorted || !ends) {
		free(sorted);
		free(ends);
		return NULL;
	}
	for (size_t i = 0; i < count; i++)
		ends[hits[i].path + 1]++;
	for (size_t i = 1; i <= path_count; i++)
		ends[i] += ends[i - 1];
	/* ends[path]: at first where the path's hits begin, and at last where they end */
	for (size_t i = 0; i < count; i++)
		sorted[ends[hits[i].path]++] = hits[i];
	for (size_t i = 0, first = 0; i < path_count; first = ends[i++])
		if (ends[i] - first > 1)
			qsort(sorted + first, ends[i] - first, sizeof(*sorted), by_group);
	free(ends);
	return sorted;
}

/* Writes the samples, and before them the locations of their paths. */
static void write_samples(struct pprof *pprof)
{
	const struct call_paths *paths = pprof->paths;
	size_t count;
	struct path_hit *by_time = call_paths_hits(paths, &count);
	struct path_hit *hits = by_time ? sort_by_group(by_time, count, paths->count) : NULL;
	free(by_time);
	uint64_t *sums = calloc(paths->resource_count + 1, sizeof(*sums));
	bool *used = hits ? places_used(&pprof->places, hits, count) : NULL;
	if (used)
		write_locations(pprof, used);
	free(used);
	if (!hits || !sums || !used)
		fail(pprof, ERROR_MEMORY);
	for (size_t i = 0, next; pprof->status == 0 && i < count && !sink_failed(pprof->gzip.out); i = next) {
		memset(sums, 0, paths->resource_count * sizeof(*sums));
		for (next = i; next < count && by_group(&hits[i], &hits[next]) == 0; next++)
			sums[hits[next].resource - paths->first_resource] += hits[next].count;
		const struct group group = { hits[i].path, hits[i].thread, hits[i].label_set };
		write_sample(pprof, &group, sums);
	}
	free(hits);
	free(sums);
}

/* --- the profile --- */

static void write_head(struct pprof *pprof)
{
	const struct profile *profile = pprof->paths->profile;
	for (uint32_t i = 0; i < pprof->shown_count; i++) {
		append_type(pprof, &profile->resources[pprof->shown[i]]);
		write_message(pprof, PROFILE_SAMPLE_TYPE);
	}
	write_number(pprof, PROFILE_TIME_NS, profile->start_unix_ns > 0 ? (uint64_t)profile->start_unix_ns : 0);
	write_number(pprof, PROFILE_DURATION_NS, profile_duration_ns(profile));
	if (pprof->shown_count > 0) {
		const struct profile_resource *first = &profile->resources[pprof->shown[0]];
		append_type(pprof, first);
		write_message(pprof, PROFILE_PERIOD_TYPE);
		write_number(pprof, PROFILE_PERIOD, first->interval);
	}
	const char *command = profile_note(profile, "command");
	if (command)
		write_number(pprof, PROFILE_COMMENT, string_of(pprof, command));
}

static void write_strings(struct pprof *pprof)
{
	for (uint32_t i = 0; i < pprof->strings.count && pprof->status == 0; i++) {
		protobuf_text(&pprof->message, PROFILE_STRING, strings_get(&pprof->strings, i));
		fail(pprof, buffer_error(&pprof->message));
		gzip_write(&pprof->gzip, pprof->message.bytes, pprof->message.size);
		buffer_clear(&pprof->message);
	}
}

static int write_all(struct pprof *pprof)
{
	pprof->shown_count = written_resources(pprof->paths, pprof->shown);
	write_head(pprof);
	write_program(pprof);
	write_samples(pprof);
	write_strings(pprof);
	return pprof->status;
}

static int pprof_export(const struct format_input *input, struct sink *out, struct error *error)
{
	(void)error; /* format_export sets it */
	const struct call_paths *paths = input->paths;
	struct pprof pprof = { .paths = paths };
	buffer_init(&pprof.message);
	buffer_init(&pprof.inner);
	buffer_init(&pprof.deepest);
	hash_map_init(&pprof.functions);
	hash_map_init(&pprof.mappings);
	pprof.shown = malloc((paths->resource_count + 1) * sizeof(*pprof.shown));
	int status = places_init(&pprof.places, paths);
	if (strings_init(&pprof.strings) < 0 || !pprof.shown)
		status = ERROR_MEMORY;
	if (status == 0)
		status = gzip_begin(&pprof.gzip, out);
	if (status == 0) {
		status = write_all(&pprof);
		gzip_end(&pprof.gzip);
	}
	strings_release(&pprof.strings);
	buffer_release(&pprof.message);
	buffer_release(&pprof.inner);
	buffer_release(&pprof.deepest);
	places_release(&pprof.places);
	hash_map_release(&pprof.functions);
	hash_map_release(&pprof.mappings);
	free(pprof.shown);
	return status;
}

const struct format format_pprof = {
	.name = "pprof",
	.title = "pprof profile",
	.ending = "pb.gz",
	.summary = "for 'go tool pprof', Pyroscope and others: all resources, threads, labels, lines and inlined "
		   "functions",
	.options = FORMAT_RESOURCE | FORMAT_FRAMES | FORMAT_SELECTION,
	.paths = FORMAT_BY_LINE,
	.has_several = true,
	.is_binary = true,
	.recognise = pprof_recognise,
	.import = pprof_import,
	.export = pprof_export,
};
