#include "ui/page/compact.h"

#include <stdlib.h>
#include <string.h>

#include "base/cursor.h"
#include "base/slices.h"

/* Times in files are in microseconds, so the middle of a shorter period could fall into another one. */
static const uint64_t SHORTEST_NS = 10000;

/* Returns the shortest period with which the recording has at most COMPACT_PERIODS_MAX of them. */
static uint64_t choose_period(uint64_t duration_ns)
{
	static const unsigned factors[] = { 1, 2, 5 };
	for (uint64_t power = SHORTEST_NS;; power *= 10)
		for (size_t i = 0; i < sizeof(factors) / sizeof(*factors); i++)
			if (duration_ns / COMPACT_PERIODS_MAX < factors[i] * power)
				return factors[i] * power;
}

/* Times before the start are not part of any range, and remain. */
static uint64_t rounded(const struct compact *compact, uint64_t time_ns)
{
	uint64_t start_ns = compact->profile.start_ns;
	if (time_ns == 0 || time_ns < start_ns)
		return time_ns;
	uint64_t period = (time_ns - start_ns) / compact->period_ns;
	return start_ns + period * compact->period_ns + compact->period_ns / 2;
}

/* A hit with its labels, for sorting. */
struct labelled_hit {
	struct profile_hit hit;
	uint32_t labels;
};

static int order(uint64_t a, uint64_t b)
{
	return (a > b) - (a < b);
}

static int by_time_and_node(const void *left, const void *right)
{
	const struct labelled_hit *a = left, *b = right;
	int result = order(a->hit.time_ns, b->hit.time_ns);
	if (result == 0)
		result = order(a->hit.resource, b->hit.resource);
	if (result == 0)
		result = order(a->hit.thread, b->hit.thread);
	if (result == 0)
		result = order(a->labels, b->labels);
	if (result == 0)
		result = order(a->hit.node, b->hit.node);
	return result == 0 ? order(a->hit.count, b->hit.count) : result;
}

static int compact_hits(struct compact *compact, const struct profile *profile)
{
	size_t count = profile->hit_count;
	struct labelled_hit *sorted = malloc(count * sizeof(*sorted));
	compact->hits = malloc(count * sizeof(*compact->hits));
	compact->labels = profile->hit_label_count > 0 ? malloc(count * sizeof(*compact->labels)) : NULL;
	if (!sorted || !compact->hits || (!compact->labels && profile->hit_label_count > 0)) {
		free(sorted);
		return ERROR_MEMORY;
	}
	for (size_t i = 0; i < count; i++) {
		sorted[i] = (struct labelled_hit){ profile->hits[i], profile_hit_labels(profile, i) };
		sorted[i].hit.time_ns = rounded(compact, sorted[i].hit.time_ns);
	}
	qsort(sorted, count, sizeof(*sorted), by_time_and_node);
	for (size_t i = 0; i < count; i++) {
		compact->hits[i] = sorted[i].hit;
		if (compact->labels)
			compact->labels[i] = sorted[i].labels;
	}
	free(sorted);
	compact->profile.hits = compact->hits;
	compact->profile.hit_labels = compact->labels;
	compact->profile.hit_label_count = compact->labels ? count : 0;
	return 0;
}

static int compact_touches(struct compact *compact, const struct profile *profile)
{
	if (profile->touch_count == 0)
		return 0;
	compact->touches = malloc(profile->touch_count * sizeof(*compact->touches));
	if (!compact->touches)
		return ERROR_MEMORY;
	for (size_t i = 0; i < profile->touch_count; i++) {
		compact->touches[i] = profile->touches[i];
		compact->touches[i].time_ns = rounded(compact, profile->touches[i].time_ns);
	}
	compact->profile.touches = compact->touches;
	return 0;
}

/* --- nodes --- */

static int by_address(const void *left, const void *right, void *context)
{
	const struct profile *profile = context;
	uint32_t a = *(const uint32_t *)left, b = *(const uint32_t *)right;
	int result = order(profile->locations[a].module, profile->locations[b].module);
	if (result == 0)
		result = order(profile->locations[a].address, profile->locations[b].address);
	return result == 0 ? order(a, b) : result;
}

/* Sorts the locations. Returns the new number of each, which the caller frees, or NULL. */
static uint32_t *sort_locations(struct compact *compact, const struct profile *profile)
{
	size_t count = profile->location_count;
	uint32_t *old = malloc((count + 1) * sizeof(*old)), *new = malloc((count + 1) * sizeof(*new));
	compact->locations = malloc((count + 1) * sizeof(*compact->locations));
	if (!old || !new || !compact->locations) {
		free(old);
		free(new);
		return NULL;
	}
	for (uint32_t i = 0; i < count; i++)
		old[i] = i;
	qsort_r(old, count, sizeof(*old), by_address, (void *)profile);
	for (uint32_t i = 0; i < count; i++) {
		compact->locations[i] = profile->locations[old[i]];
		new[old[i]] = i;
	}
	free(old);
	compact->profile.locations = compact->locations;
	return new;
}

/* The location that calls a node's: the root calls as a last location. */
static uint64_t caller_of(const struct profile *profile, const struct profile_node *nodes, uint32_t node)
{
	uint32_t parent = nodes[node].parent;
	return parent == PROFILE_ROOT ? profile->location_count : nodes[parent].location;
}

static int by_number(const void *left, const void *right)
{
	return order(*(const uint64_t *)left, *(const uint64_t *)right);
}

/* Sets calls[] to the distinct calls of all nodes, in order: the caller in the high half, the called location in the low one. Returns
 * their number. */
static size_t list_calls(const struct profile *profile, const struct profile_node *nodes, uint64_t *calls)
{
	size_t count = 0, kept = 0;
	for (uint32_t i = 1; i < profile->node_count; i++)
		calls[count++] = caller_of(profile, nodes, i) << 32 | nodes[i].location;
	qsort(calls, count, sizeof(*calls), by_number);
	for (size_t i = 0; i < count; i++)
		if (kept == 0 || calls[kept - 1] != calls[i])
			calls[kept++] = calls[i];
	return kept;
}

/* Writes the table, and sets first[] to the first call of each caller. */
static void make_table(struct compact *compact, const uint64_t *calls, size_t count, size_t *first)
{
	size_t at = 0;
	for (uint64_t caller = 0; caller <= compact->profile.location_count; caller++) {
		size_t end = at;
		while (end < count && calls[end] >> 32 == caller)
			end++;
		first[caller] = at;
		buffer_append_varint(&compact->table, end - at);
		for (uint32_t before = 0; at < end; before = (uint32_t)calls[at++])
			buffer_append_varint(&compact->table, (uint32_t)calls[at] - before);
	}
}

static uint32_t rank_of(const uint64_t *calls, size_t count, size_t first, uint64_t call)
{
	const uint64_t *found = bsearch(&call, calls + first, count - first, sizeof(*calls), by_number);
	return (uint32_t)(found - (calls + first));
}

static int compact_nodes(struct compact *compact, const struct profile *profile)
{
	size_t count = profile->node_count;
	struct profile_node *nodes = malloc(count * sizeof(*nodes));
	uint64_t *calls = malloc(count * sizeof(*calls));
	size_t *first = malloc((profile->location_count + 1) * sizeof(*first));
	uint32_t *new = sort_locations(compact, profile);
	compact->nodes = malloc(count * sizeof(*compact->nodes));
	int status = nodes && calls && first && new && compact->nodes ? 0 : ERROR_MEMORY;
	if (status == 0) {
		nodes[0] = compact->nodes[0] = profile->nodes[0];
		for (size_t i = 1; i < count; i++)
			nodes[i] = (struct profile_node){ profile->nodes[i].parent, new[profile->nodes[i].location] };
		size_t call_count = list_calls(profile, nodes, calls);
		make_table(compact, calls, call_count, first);
		for (uint32_t i = 1; i < count; i++) {
			uint64_t caller = caller_of(profile, nodes, i);
			compact->nodes[i] =
				(struct profile_node){ nodes[i].parent, rank_of(calls, call_count, first[caller],
										caller << 32 | nodes[i].location) };
		}
		compact->profile.nodes = compact->nodes;
		status = buffer_error(&compact->table) ? ERROR_MEMORY : 0;
	}
	free(nodes);
	free(calls);
	free(first);
	free(new);
	return status;
}

void compact_write_table(const struct compact *compact, struct buffer *bytes)
{
	if (compact->period_ns == 0)
		return;
	uint64_t size = compact->table.size;
	buffer_append(bytes, COMPACT_MAGIC, strlen(COMPACT_MAGIC));
	buffer_append(bytes, &size, sizeof(size));
	buffer_append(bytes, compact->table.bytes, compact->table.size);
}

int compact_find_table(struct compact_table *table, const void *bytes, size_t size)
{
	struct cursor cursor = cursor_over(bytes, size);
	const uint8_t *magic = cursor_bytes(&cursor, strlen(COMPACT_MAGIC));
	*table = (struct compact_table){ 0 };
	if (!magic || memcmp(magic, COMPACT_MAGIC, strlen(COMPACT_MAGIC)) != 0)
		return 0; /* a profile file, or what its reader refuses */
	uint64_t table_size = cursor_u64(&cursor);
	if (cursor.failed || table_size > cursor_left(&cursor))
		return ERROR_CORRUPT;
	table->bytes = cursor_bytes(&cursor, (size_t)table_size);
	table->size = (size_t)table_size;
	table->file = size - cursor_left(&cursor);
	return 0;
}

/* Reads the table. `first` is [location_count + 2], `called` has room for the bytes of the table, each of which is at most one number. */
static int read_table(const struct compact_table *table, size_t location_count, size_t *first, uint32_t *called)
{
	struct cursor cursor = cursor_over(table->bytes, table->size);
	size_t at = 0;
	for (size_t caller = 0; caller <= location_count; caller++) {
		first[caller] = at;
		uint64_t count = cursor_varint(&cursor), location = 0;
		if (cursor.failed || count > cursor_left(&cursor))
			return ERROR_CORRUPT;
		for (; count > 0; count--) {
			location += cursor_varint(&cursor);
			if (cursor.failed || location >= location_count)
				return ERROR_CORRUPT;
			called[at++] = (uint32_t)location;
		}
	}
	first[location_count + 1] = at;
	return 0;
}

/* The nodes whose locations are restored. */
struct restored {
	struct profile *profile;
	const size_t *first;
	const uint32_t *called;
	bool is_corrupt;
};

static void restore_nodes(void *context, size_t begin, size_t end)
{
	struct restored *restored = context;
	struct profile_node *nodes = restored->profile->nodes;
	const size_t *first = restored->first;
	for (uint32_t i = begin > 0 ? (uint32_t)begin : 1; i < end && !restored->is_corrupt; i++) {
		uint64_t caller = caller_of(restored->profile, nodes, i);
		uint32_t rank = nodes[i].location;
		if (rank < first[caller + 1] - first[caller])
			nodes[i].location = restored->called[first[caller] + rank];
		else
			restored->is_corrupt = true;
	}
}

int compact_restore(const struct compact_table *table, struct profile *profile)
{
	if (!table->bytes)
		return 0;
	size_t locations = profile->location_count;
	size_t *first = malloc((locations + 2) * sizeof(*first));
	uint32_t *called = malloc((table->size + 1) * sizeof(*called));
	int status = first && called ? read_table(table, locations, first, called) : ERROR_MEMORY;
	struct restored restored = { .profile = profile, .first = first, .called = called };
	if (status == 0)
		slices_run(profile->node_count, restore_nodes, &restored);
	if (restored.is_corrupt)
		status = ERROR_CORRUPT;
	free(first);
	free(called);
	return status;
}

/* --- all --- */

int compact_make(struct compact *compact, const struct profile *profile, size_t hits_most)
{
	*compact = (struct compact){ .profile = *profile };
	buffer_init(&compact->table);
	if (profile->hit_count <= hits_most)
		return 0;
	compact->period_ns = choose_period(profile_duration_ns(profile));
	int status = compact_hits(compact, profile);
	if (status == 0)
		status = compact_touches(compact, profile);
	if (status == 0)
		status = compact_nodes(compact, profile);
	if (status < 0)
		compact_release(compact);
	return status;
}

void compact_release(struct compact *compact)
{
	free(compact->hits);
	free(compact->labels);
	free(compact->touches);
	free(compact->locations);
	free(compact->nodes);
	buffer_release(&compact->table);
	*compact = (struct compact){ 0 };
}
