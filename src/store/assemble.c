#include "store/assemble.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "profile/findings.h"
#include "profile/quality.h"
#include "profile_file/reader.h"
#include "store/batch.h"

/* A merge of files has a remedy of its own, and no store. */
static const char *action_of(const struct assemble *assemble)
{
	return assemble->selection->remedy ? "add up the recordings" : "read the store";
}

int assemble_corrupt(const struct assemble *assemble, const char *what)
{
	return error_set(assemble->error, ERROR_CORRUPT, "cannot %s: it is damaged: %s", action_of(assemble), what);
}

int assemble_fail(const struct assemble *assemble, int code)
{
	return error_set(assemble->error, code, "cannot %s: %s", action_of(assemble), error_text(code));
}

static int64_t round_down(int64_t unix_ns, int64_t bucket_ns)
{
	int64_t more = unix_ns % bucket_ns;
	more += more < 0 ? bucket_ns : 0;
	bool is_open = unix_ns == INT64_MAX || unix_ns < INT64_MIN + bucket_ns;
	return is_open ? unix_ns : unix_ns - more;
}

int assemble_round(struct store_selection *selection, int64_t bucket_ns, struct error *error)
{
	selection->from_unix_ns = round_down(selection->from_unix_ns, bucket_ns);
	selection->to_unix_ns = round_down(selection->to_unix_ns, bucket_ns);
	if (selection->from_unix_ns < selection->to_unix_ns)
		return 0;
	return error_set(error, ERROR_USAGE,
			 "the range of time is empty: its ends are rounded down to the store's buckets of %g s",
			 (double)bucket_ns / (double)STORE_NS_PER_S);
}

int assemble_init(struct assemble *assemble, const struct store_selection *selection, int64_t bucket_ns,
		  const struct assemble_source *source, struct error *error)
{
	*assemble =
		(struct assemble){ .selection = selection, .source = source, .bucket_ns = bucket_ns, .error = error };
	hash_map_init(&assemble->modules);
	hash_map_init(&assemble->functions);
	hash_map_init(&assemble->locations);
	hash_map_init(&assemble->stacks);
	hash_map_init(&assemble->marked);
	hash_map_init(&assemble->unknown);
	assemble->profile = profile_new();
	return assemble->profile ? 0 : assemble_fail(assemble, ERROR_MEMORY);
}

/* Returns whether the selection allows the memory of so many hits. */
static bool has_room(const struct assemble *assemble, size_t hits)
{
	uint64_t memory = assemble->selection->memory;
	return !memory || hits <= memory / sizeof(struct profile_hit);
}

int assemble_refuse_hits(const struct assemble *assemble, int code)
{
	bool is_limit = code == ERROR_LIMIT || (code == ERROR_MEMORY && assemble->selection->memory);
	if (!is_limit || assemble->selection->remedy)
		return assemble_fail(assemble, code);
	return error_set(assemble->error, ERROR_LIMIT,
			 "cannot read the store: its samples need more than the allowed memory "
			 "(--memory, or select fewer: --service, --host, --from%s)",
			 assemble->selection->is_sum ? "" : "; 'report --functions' adds them up and needs less");
}

/* The totals of a part of a recording are not known. */
static int cut_totals(struct profile *profile)
{
	for (size_t i = 0; i < profile->resource_count; i++)
		profile->resources[i].total = 0;
	finding_add_part(profile, "the selection has a part of the recording only");
	return profile->findings_error;
}

struct profile *assemble_finish(struct assemble *assemble, int status)
{
	struct profile *profile = assemble->profile;
	hash_map_release(&assemble->modules);
	hash_map_release(&assemble->functions);
	hash_map_release(&assemble->locations);
	hash_map_release(&assemble->stacks);
	hash_map_release(&assemble->marked);
	hash_map_release(&assemble->unknown);
	for (size_t i = 0; i < assemble->part_count; i++)
		description_map_release(&assemble->parts[i].map);
	free(assemble->parts);
	free(assemble->chain);
	free(assemble->frames);
	free(assemble->chosen);
	if (status == 0) {
		status = row_sums_put(&assemble->sums, profile, assemble->selection->memory);
		if (status < 0)
			assemble_refuse_hits(assemble, status);
	}
	row_sums_release(&assemble->sums);
	if (status == 0) {
		profile->symbolized = true;
		if (assemble->part_count > 1)
			quality_sum_findings(profile);
		status = assemble->is_cut ? cut_totals(profile) : 0;
	}
	if (status == 0) {
		if (profile_check(profile) < 0)
			status = assemble_corrupt(assemble, "its tables do not fit together");
	}
	if (status == 0)
		return profile;
	profile_free(profile);
	return NULL;
}

int assemble_check_found(const struct assemble *assemble, const char *store)
{
	const struct store_selection *selection = assemble->selection;
	bool has_hits = assemble->profile->hit_count > 0 || assemble->sums.count > 0;
	bool is_empty = assemble->part_count == 0 || (selection->labels.count > 0 && !has_hits);
	return is_empty ? error_set(assemble->error, ERROR_NOT_FOUND,
				    "no recording of store '%s' matches the selection (cpprof store stats)", store)
			: 0;
}

/* --- recordings --- */

static bool set_has_label(const struct profile *profile, uint32_t set, const struct store_label *label)
{
	const struct profile_label_set *row = &profile->label_sets[set];
	for (uint32_t i = 0; i < row->label_count; i++) {
		const struct profile_label *own = &profile->labels[row->first_label + i];
		if (strcmp(profile_string(profile, own->key), label->key) == 0)
			return strcmp(profile_string(profile, own->value), label->value) == 0;
	}
	return false;
}

/* Finds which of the new label sets have the selection's labels. */
static int choose_label_sets(struct assemble *assemble)
{
	const struct profile *profile = assemble->profile;
	const struct store_labels *labels = &assemble->selection->labels;
	bool *chosen = realloc(assemble->chosen, profile->label_set_count * sizeof(*chosen));
	if (!chosen)
		return assemble_fail(assemble, ERROR_MEMORY);
	assemble->chosen = chosen;
	for (; assemble->chosen_count < profile->label_set_count; assemble->chosen_count++) {
		bool has_all = true;
		for (size_t i = 0; i < labels->count && has_all; i++)
			has_all = set_has_label(profile, (uint32_t)assemble->chosen_count, &labels->items[i]);
		chosen[assemble->chosen_count] = has_all;
	}
	return 0;
}

bool assemble_needs(const struct assemble *assemble, size_t recording, int64_t resource)
{
	const struct description_map *map = &assemble->parts[recording].map;
	return resource < 0 || (uint64_t)resource >= map->resource_count || map->resources[resource] != PROFILE_NONE;
}

bool assemble_chooses(const struct assemble *assemble, size_t recording, int64_t resource, int64_t label_set)
{
	const struct description_map *map = &assemble->parts[recording].map;
	if (!assemble_needs(assemble, recording, resource))
		return false;
	return label_set < 0 || (uint64_t)label_set >= map->label_set_count ||
	       assemble->chosen[map->label_sets[label_set]];
}

/* Sets the times of the sum to those of the recording, as far as the selection takes it. */
static void add_times(struct assemble *assemble, const struct profile *description,
		      const struct assembled_recording *recording)
{
	const struct store_selection *selection = assemble->selection;
	struct profile *profile = assemble->profile;
	bool is_first = assemble->part_count == 0;
	int64_t start = recording->start_unix_ns, end = recording->end_unix_ns;
	if (is_first) {
		assemble->base_unix_ns = start;
		assemble->base_ns = description->start_ns;
		profile->start_unix_ns = selection->has_sources ? recording->start_unix_ns : description->start_unix_ns;
		profile->start_ns = description->start_ns;
		profile->ended = true;
	}
	assemble->is_cut = assemble->is_cut || start < selection->from_unix_ns || end > selection->to_unix_ns;
	end = end > selection->to_unix_ns ? selection->to_unix_ns : end;
	uint64_t end_ns = assemble->base_ns + (uint64_t)(end - assemble->base_unix_ns);
	if (is_first && start < selection->from_unix_ns) {
		uint64_t skipped_ns = (uint64_t)(selection->from_unix_ns - start);
		profile->start_unix_ns += profile->start_unix_ns ? (int64_t)skipped_ns : 0;
		profile->start_ns += profile->start_ns ? skipped_ns : 0;
	}
	if (end_ns > profile->end_ns)
		profile->end_ns = end_ns;
	profile->ended = profile->ended && recording->ended;
}

/* Sets *shift_ns to the difference between the recording's clock and the clock of the sum. Returns false
 * if its times are out of range. */
static bool shift_of(const struct assemble *assemble, const struct assembled_recording *recording,
		     const struct profile *description, int64_t *shift_ns)
{
	bool is_first = assemble->part_count == 0;
	int64_t duration_ns;
	*shift_ns = 0;
	if (recording->start_unix_ns < (is_first ? INT64_MIN : assemble->base_unix_ns) ||
	    __builtin_sub_overflow(recording->end_unix_ns, recording->start_unix_ns, &duration_ns) || duration_ns < 0 ||
	    description->start_ns > INT64_MAX)
		return false;
	return is_first || (!__builtin_sub_overflow(recording->start_unix_ns, assemble->base_unix_ns, shift_ns) &&
			    !__builtin_add_overflow(*shift_ns, (int64_t)assemble->base_ns, shift_ns) &&
			    !__builtin_sub_overflow(*shift_ns, (int64_t)description->start_ns, shift_ns));
}

static int add_description(struct assemble *assemble, const struct assembled_recording *recording,
			   const struct profile *description)
{
	int64_t shift_ns;
	if (!shift_of(assemble, recording, description, &shift_ns))
		return assemble_corrupt(assemble, "a recording's times are out of range");
	if (ARRAY_RESERVE(assemble->parts, assemble->part_capacity, assemble->part_count + 1) < 0)
		return assemble_fail(assemble, ERROR_MEMORY);
	add_times(assemble, description, recording);
	struct assembled_part *part = &assemble->parts[assemble->part_count++];
	part->first_bucket = recording->first_bucket;
	part->start_unix_ns = recording->start_unix_ns;
	int status = description_sum(&part->map, assemble->profile, description, shift_ns, &recording->labels,
				     assemble->selection, assemble->error);
	return status == 0 ? choose_label_sets(assemble) : status;
}

int64_t assemble_recording(struct assemble *assemble, const struct assembled_recording *recording)
{
	struct profile *description = reader_load_bytes(recording->description, recording->description_bytes,
							recording->name, assemble->selection->memory, assemble->error);
	if (!description)
		return assemble->error->code == ERROR_MEMORY || assemble->error->code == ERROR_LIMIT
			       ? assemble->error->code
			       : assemble_corrupt(assemble, "a recording's description cannot be read");
	int status = add_description(assemble, recording, description);
	profile_free(description);
	return status < 0 ? status : (int64_t)assemble->part_count - 1;
}

/* --- hits --- */

static int64_t bucket_of(const struct assemble *assemble, const struct assembled_part *part, int64_t unix_ns)
{
	int64_t bucket = unix_ns / assemble->bucket_ns - (unix_ns % assemble->bucket_ns < 0);
	return bucket - part->first_bucket;
}

void assemble_buckets(const struct assemble *assemble, size_t recording, int64_t *first, int64_t *end)
{
	const struct store_selection *selection = assemble->selection;
	const struct assembled_part *part = &assemble->parts[recording];
	bool has_start = part->start_unix_ns >= selection->from_unix_ns;
	/* Hits without a time are at the start of their recording. */
	*first = selection->from_unix_ns == INT64_MIN || has_start ? BATCH_NO_TIME
								   : bucket_of(assemble, part, selection->from_unix_ns);
	*end = selection->to_unix_ns == INT64_MAX ? INT64_MAX : bucket_of(assemble, part, selection->to_unix_ns);
}

/* Sets the time of a bucket in the profile; 0: not known. Returns false if it is out of range. */
static bool time_of(const struct assemble *assemble, const struct assembled_row *row, uint64_t *time_ns)
{
	const struct assembled_part *part = &assemble->parts[row->recording];
	int64_t unix_ns, since_ns;
	*time_ns = 0;
	if (row->bucket == BATCH_NO_TIME && !assemble->selection->has_sources)
		return true;
	if (row->bucket == BATCH_NO_TIME)
		unix_ns = part->start_unix_ns;
	else if (row->bucket < 0 || __builtin_add_overflow(row->bucket, part->first_bucket, &unix_ns) ||
		 __builtin_mul_overflow(unix_ns, assemble->bucket_ns, &unix_ns))
		return false;
	if (unix_ns < part->start_unix_ns)
		unix_ns = part->start_unix_ns;
	if (__builtin_sub_overflow(unix_ns, assemble->base_unix_ns, &since_ns))
		return false;
	*time_ns = assemble->base_ns + (uint64_t)since_ns;
	if (*time_ns < assemble->profile->start_ns)
		*time_ns = assemble->profile->start_ns;
	*time_ns += *time_ns == 0;
	return true;
}

static bool is_sound(const struct assemble *assemble, const struct assembled_row *row)
{
	const struct description_map *map = &assemble->parts[row->recording].map;
	return row->resource >= 0 && (uint64_t)row->resource < map->resource_count &&
	       map->resources[row->resource] != PROFILE_NONE && row->thread >= -1 &&
	       (row->thread < 0 || (uint64_t)row->thread < map->thread_count) && row->labels >= 0 &&
	       (uint64_t)row->labels < map->label_set_count && row->hits > 0 && row->samples >= 0;
}

static uint32_t thread_of(const struct assemble *assemble, const struct assembled_row *row)
{
	return row->thread < 0 ? PROFILE_NONE : assemble->parts[row->recording].map.threads[row->thread];
}

/* Appends a hit to those of the profile. `samples` is 0 if they are not known. */
static int append_hit(struct assemble *assemble, struct profile_hit *hit, uint32_t labels, uint64_t samples)
{
	struct profile *profile = assemble->profile;
	size_t first = profile->hit_count;
	if (samples > UINT32_MAX)
		return assemble_corrupt(assemble, "a row of hits is out of range");
	if (!has_room(assemble, first + 1))
		return assemble_refuse_hits(assemble, ERROR_LIMIT);
	hit->more_samples = samples ? (uint32_t)(samples - 1) : 0;
	int status = profile_add_hit_row(profile, hit);
	if (status == 0 && labels != PROFILE_NO_LABELS)
		status = profile_label_hits(profile, first, labels);
	return status < 0 ? assemble_refuse_hits(assemble, status) : 0;
}

static int add_to_sum(struct assemble *assemble, const struct profile_hit *hit, uint32_t labels, uint64_t samples)
{
	const struct row_sum row = { .node = hit->node,
				     .resource = hit->resource,
				     .labels = labels,
				     .size = samples ? hit->count / samples : 0,
				     .hits = hit->count };
	int status = row_sums_add(&assemble->sums, &row);
	if (status == ERROR_LIMIT)
		return assemble_corrupt(assemble, "a row of hits is out of range");
	if (status == 0 && !has_room(assemble, assemble->sums.count))
		status = ERROR_LIMIT;
	return status < 0 ? assemble_refuse_hits(assemble, status) : 0;
}

int assemble_hit(struct assemble *assemble, const struct assembled_row *row)
{
	struct profile *profile = assemble->profile;
	uint64_t time_ns;
	if (!is_sound(assemble, row) || !time_of(assemble, row, &time_ns) ||
	    (uint64_t)row->hits > PROFILE_HITS_MOST - profile->hits_added)
		return assemble_corrupt(assemble, "a row of hits is out of range");
	uint32_t resource = assemble->parts[row->recording].map.resources[row->resource];
	uint32_t labels = assemble->parts[row->recording].map.label_sets[row->labels];
	bool is_sampled = profile->resources[resource].kind == RESOURCE_SAMPLED;
	uint64_t samples = is_sampled ? (uint64_t)row->samples : 0;
	if (is_sampled && (samples == 0 || (uint64_t)row->hits % samples))
		return assemble_corrupt(assemble, "samples do not divide their hits");
	struct profile_hit hit = {
		.time_ns = time_ns, .count = (uint64_t)row->hits, .node = row->node, .resource = resource
	};
	if (assemble->selection->is_sum)
		return add_to_sum(assemble, &hit, labels, samples);
	hit.thread = thread_of(assemble, row);
	return append_hit(assemble, &hit, labels, samples);
}

int assemble_touch(struct assemble *assemble, const struct assembled_row *row)
{
	struct profile *profile = assemble->profile;
	uint64_t time_ns;
	if (!is_sound(assemble, row) || !time_of(assemble, row, &time_ns) || row->hits > UINT32_MAX)
		return assemble_corrupt(assemble, "a row of touches is out of range");
	int64_t mapping = profile_add_string(profile, row->mapping);
	const struct profile_touch touch = { .time_ns = time_ns,
					     .address = (uint64_t)row->address,
					     .node = row->node,
					     .thread = thread_of(assemble, row),
					     .resource = assemble->parts[row->recording].map.resources[row->resource],
					     .count = (uint32_t)row->hits,
					     .mapping = (uint32_t)mapping };
	int64_t id = mapping < 0 ? mapping : profile_add_touch(profile, &touch);
	return id < 0 ? assemble_fail(assemble, (int)id) : 0;
}
