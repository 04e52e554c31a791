#include "store/description.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "profile/copy.h"
#include "profile/findings.h"

struct adding {
	struct description_map *map;
	struct profile *to;
	const struct profile *from;
	int64_t shift_ns;
	const struct store_labels *labels;
	const struct store_selection *selection;
	struct error *error;
};

void description_map_release(struct description_map *map)
{
	free(map->resources);
	free(map->threads);
	free(map->label_sets);
	*map = (struct description_map){ 0 };
}

static uint64_t moved(const struct adding *adding, uint64_t time_ns)
{
	int64_t to;
	if (__builtin_add_overflow((int64_t)time_ns, adding->shift_ns, &to))
		to = (int64_t)time_ns;
	return time_ns == 0 ? 0 : to < 1 ? 1 : (uint64_t)to;
}

/* --- resources --- */

static int refuse_resource(const struct adding *adding, const struct profile_resource *a,
			   const struct profile_resource *b)
{
	const char *name = profile_string(adding->to, a->name);
	const char *remedy = adding->selection->remedy;
	remedy = remedy ? remedy : "select fewer: --service, --host, --from, or resources: -r";
	if (a->interval != b->interval)
		return error_set(adding->error, ERROR_USAGE,
				 "cannot add up '%s': recordings have intervals of %" PRIu64 " and %" PRIu64
				 " gticks (%s)",
				 name, a->interval, b->interval, remedy);
	return error_set(adding->error, ERROR_USAGE,
			 "cannot add up '%s': recordings measured it in different ways (%s)", name, remedy);
}

bool store_names_resource(const struct store_selection *selection, const char *name, const char *title)
{
	for (size_t i = 0; i < selection->resource_count; i++)
		if (strncmp(name, selection->resources[i], strlen(selection->resources[i])) == 0 ||
		    strcasecmp(title, selection->resources[i]) == 0)
			return true;
	return false;
}

static bool is_needed(const struct adding *adding, const struct profile_resource *row)
{
	const char *name = profile_string(adding->from, row->name), *title = profile_string(adding->from, row->title);
	return adding->selection->resource_count == 0 || strcmp(name, "calls") == 0 || strcmp(name, "lines") == 0 ||
	       store_names_resource(adding->selection, name, title);
}

/* Exact amounts and sums of an unknown number of samples add up to sums. Returns whether rows of these kinds can be added up. */
static bool add_kind(const struct adding *adding, struct profile_resource *sum, const struct profile_resource *row)
{
	if (sum->kind == row->kind)
		return true;
	if (resource_has_samples(sum) || resource_has_samples(row))
		return false;
	const char *note = profile_string(adding->from, row->note);
	int64_t id = row->kind == RESOURCE_SUMS ? profile_add_string(adding->to, note) : sum->note;
	if (id < 0)
		return false;
	sum->kind = RESOURCE_SUMS;
	sum->note = (uint32_t)id;
	return true;
}

static int add_resource(const struct adding *adding, uint32_t id)
{
	const struct profile_resource row = adding->from->resources[id];
	if (!is_needed(adding, &row)) {
		adding->map->resources[id] = PROFILE_NONE;
		return 0;
	}
	uint32_t known = profile_find_resource(adding->to, profile_string(adding->from, row.name));
	if (known == PROFILE_NONE) {
		int64_t added = profile_copy_resource(adding->to, adding->from, row);
		adding->map->resources[id] = (uint32_t)added;
		return added < 0 ? (int)added : 0;
	}
	struct profile_resource *sum = &adding->to->resources[known];
	adding->map->resources[id] = known;
	if (sum->interval != row.interval || !add_kind(adding, sum, &row) ||
	    strcmp(profile_string(adding->to, sum->unit), profile_string(adding->from, row.unit)) != 0)
		return refuse_resource(adding, sum, &row);
	bool is_known = sum->total && row.total && !__builtin_add_overflow(sum->total, row.total, &sum->total);
	if (!is_known)
		sum->total = 0;
	if (__builtin_add_overflow(sum->lost, row.lost, &sum->lost))
		sum->lost = UINT64_MAX;
	return 0;
}

/* --- processes, threads, causes, notes --- */

static int add_processes(const struct adding *adding)
{
	const struct profile *from = adding->from;
	size_t first = adding->to->process_count;
	if (adding->selection->is_sum)
		return 0;
	for (size_t i = 0; i < from->process_count; i++) {
		struct profile_process row = from->processes[i];
		row.start_ns = moved(adding, row.start_ns);
		row.end_ns = moved(adding, row.end_ns);
		int64_t id = profile_copy_process(adding->to, from, row);
		if (id < 0)
			return (int)id;
	}
	for (size_t i = 0; i < from->thread_count; i++) {
		struct profile_thread row = from->threads[i];
		row.process += (uint32_t)first;
		row.start_ns = moved(adding, row.start_ns);
		row.end_ns = moved(adding, row.end_ns);
		int64_t id = profile_copy_thread(adding->to, from, row);
		if (id < 0)
			return (int)id;
		adding->map->threads[i] = (uint32_t)id;
	}
	return 0;
}

static bool has_note(const struct profile *profile, size_t end, const char *key, const char *value)
{
	for (size_t i = 0; i < end; i++)
		if (strcmp(profile_string(profile, profile->notes[i].key), key) == 0 &&
		    strcmp(profile_string(profile, profile->notes[i].value), value) == 0)
			return true;
	return false;
}

static int add_notes(const struct adding *adding)
{
	const struct profile *from = adding->from;
	size_t end = adding->to->note_count;
	for (size_t i = 0; i < from->note_count; i++) {
		const char *key = profile_string(from, from->notes[i].key);
		const char *value = profile_string(from, from->notes[i].value);
		int64_t id = has_note(adding->to, end, key, value) ? 0 : profile_add_note(adding->to, key, value);
		if (id < 0)
			return (int)id;
	}
	for (size_t i = 0; i < from->cause_count; i++) {
		int status =
			profile_count_cause(adding->to, profile_string(from, from->causes[i].text), &from->causes[i]);
		if (status < 0)
			return status;
	}
	return findings_sum(adding->to, from);
}

/* --- labels --- */

/* Adds a set with its labels and those of the recording whose keys it lacks. `room` has space for all. */
static int add_label_set(const struct adding *adding, uint32_t id, struct profile_label *room)
{
	const struct profile_label_set *set = &adding->from->label_sets[id];
	size_t count = 0;
	for (size_t i = 0; i < adding->labels->count; i++) {
		int64_t key = profile_add_string(adding->to, adding->labels->items[i].key);
		int64_t value = key < 0 ? key : profile_add_string(adding->to, adding->labels->items[i].value);
		if (value < 0)
			return (int)value;
		room[count++] = (struct profile_label){ .key = (uint32_t)key, .value = (uint32_t)value };
	}
	/* The last of several labels with one key counts: the program's own. */
	for (uint32_t i = 0; i < set->label_count; i++) {
		const struct profile_label *label = &adding->from->labels[set->first_label + i];
		int64_t key = profile_copy_text(adding->to, adding->from, label->key);
		int64_t value = key < 0 ? key : profile_copy_text(adding->to, adding->from, label->value);
		if (value < 0)
			return (int)value;
		room[count++] = (struct profile_label){ .key = (uint32_t)key, .value = (uint32_t)value };
	}
	int64_t added = profile_add_label_set(adding->to, room, count);
	adding->map->label_sets[id] = (uint32_t)added;
	return added < 0 ? (int)added : 0;
}

static int add_label_sets(const struct adding *adding)
{
	size_t most = 0;
	for (size_t i = 0; i < adding->from->label_set_count; i++)
		if (adding->from->label_sets[i].label_count > most)
			most = adding->from->label_sets[i].label_count;
	struct profile_label *room = calloc(most + adding->labels->count + 1, sizeof(*room));
	int status = room ? 0 : ERROR_MEMORY;
	for (size_t i = 0; i < adding->from->label_set_count && status == 0; i++)
		status = add_label_set(adding, (uint32_t)i, room);
	free(room);
	return status;
}

static int begin(const struct adding *adding)
{
	struct description_map *map = adding->map;
	const struct profile *from = adding->from;
	size_t threads = adding->selection->is_sum ? 0 : from->thread_count;
	*map = (struct description_map){
		.resources = calloc(from->resource_count + 1, sizeof(*map->resources)),
		.threads = calloc(threads + 1, sizeof(*map->threads)),
		.label_sets = calloc(from->label_set_count + 1, sizeof(*map->label_sets)),
		.resource_count = from->resource_count,
		.thread_count = from->thread_count,
		.label_set_count = from->label_set_count,
	};
	return map->resources && map->threads && map->label_sets ? 0 : ERROR_MEMORY;
}

int description_sum(struct description_map *map, struct profile *to, const struct profile *from, int64_t shift_ns,
		    const struct store_labels *labels, const struct store_selection *selection, struct error *error)
{
	const struct adding adding = { .map = map,
				       .to = to,
				       .from = from,
				       .shift_ns = shift_ns,
				       .labels = labels,
				       .selection = selection,
				       .error = error };
	int status = begin(&adding);
	for (size_t i = 0; i < from->resource_count && status == 0; i++)
		status = add_resource(&adding, (uint32_t)i);
	if (status == ERROR_USAGE)
		return status;
	if (status == 0)
		status = add_processes(&adding);
	if (status == 0)
		status = add_notes(&adding);
	if (status == 0)
		status = add_label_sets(&adding);
	if (__builtin_add_overflow(to->lost, from->lost, &to->lost))
		to->lost = UINT64_MAX;
	return status < 0 ? error_set(error, status, "cannot add up recordings: %s", error_text(status)) : 0;
}
