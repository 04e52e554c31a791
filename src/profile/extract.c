#include "profile/extract.h"

#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "profile/copy.h"
#include "profile/findings.h"

/* The new ids by the ids of the source; PROFILE_NONE: not needed, or not copied yet. Node ids are marked with WANTED first. */
struct copying {
	const struct profile *from;
	struct profile *to;
	struct profile_extract *extract;
	uint32_t *nodes, *modules, *threads, *processes; /* owned */
};

static const uint32_t WANTED = PROFILE_NONE - 1;

static uint32_t *new_map(size_t count)
{
	uint32_t *map = malloc((count + 1) * sizeof(*map));
	if (map)
		memset(map, 0xff, (count + 1) * sizeof(*map));
	return map;
}

static int begin(struct copying *copying)
{
	const struct profile *from = copying->from;
	struct profile_extract *extract = copying->extract;
	copying->nodes = new_map(from->node_count);
	copying->modules = new_map(from->module_count);
	copying->threads = new_map(from->thread_count);
	copying->processes = new_map(from->process_count);
	extract->modules = new_map(from->module_count);
	copying->to = extract->profile = profile_new();
	return copying->nodes && copying->modules && copying->threads && copying->processes && extract->modules &&
			       extract->profile
		       ? 0
		       : ERROR_MEMORY;
}

static void end(struct copying *copying)
{
	free(copying->nodes);
	free(copying->modules);
	free(copying->threads);
	free(copying->processes);
}

static int64_t copy_process(struct copying *copying, uint32_t id)
{
	if (copying->processes[id] != PROFILE_NONE)
		return copying->processes[id];
	int64_t copy = profile_copy_process(copying->to, copying->from, copying->from->processes[id]);
	if (copy >= 0)
		copying->processes[id] = (uint32_t)copy;
	return copy;
}

static int64_t copy_thread(struct copying *copying, uint32_t id)
{
	if (id == PROFILE_NONE || copying->threads[id] != PROFILE_NONE)
		return id == PROFILE_NONE ? id : copying->threads[id];
	struct profile_thread row = copying->from->threads[id];
	int64_t process = copy_process(copying, row.process);
	row.process = (uint32_t)process;
	int64_t copy = process < 0 ? process : profile_copy_thread(copying->to, copying->from, row);
	if (copy >= 0)
		copying->threads[id] = (uint32_t)copy;
	return copy;
}

static int64_t copy_module(struct copying *copying, uint32_t id)
{
	if (copying->modules[id] != PROFILE_NONE)
		return copying->modules[id];
	int64_t copy = profile_copy_module(copying->to, copying->from, copying->from->modules[id]);
	if (copy >= 0) {
		copying->modules[id] = (uint32_t)copy;
		copying->extract->modules[copy] = id;
	}
	return copy;
}

static int64_t copy_location(struct copying *copying, uint32_t id)
{
	const struct profile_location *row = &copying->from->locations[id];
	int64_t module = copy_module(copying, row->module);
	int64_t copy = module < 0 ? module : profile_add_location(copying->to, (uint32_t)module, row->address);
	if (copy >= 0)
		copying->to->locations[copy].is_tail = row->is_tail;
	return copy;
}

/* Copies the nodes on the ways from the root to the nodes of the hits, in their order: a parent still precedes its children. */
static int copy_nodes(struct copying *copying, const struct profile_hit *hits, size_t count)
{
	const struct profile *from = copying->from;
	uint32_t *nodes = copying->nodes;
	nodes[PROFILE_ROOT] = PROFILE_ROOT;
	for (size_t i = 0; i < count; i++)
		for (uint32_t node = hits[i].node; nodes[node] == PROFILE_NONE; node = from->nodes[node].parent)
			nodes[node] = WANTED;
	for (uint32_t node = 1; node < from->node_count; node++) {
		if (nodes[node] != WANTED)
			continue;
		int64_t location = copy_location(copying, from->nodes[node].location);
		int64_t copy = location < 0 ? location
					    : profile_append_node(copying->to, nodes[from->nodes[node].parent],
								  (uint32_t)location);
		if (copy < 0)
			return (int)copy;
		nodes[node] = (uint32_t)copy;
	}
	return 0;
}

static int copy_hits(struct copying *copying, const struct profile_hit *hits, size_t count)
{
	int status = profile_reserve_hits(copying->to, count);
	for (size_t i = 0; i < count && status == 0; i++) {
		struct profile_hit row = hits[i];
		int64_t thread = copy_thread(copying, row.thread);
		row.thread = (uint32_t)thread;
		row.node = copying->nodes[row.node];
		status = thread < 0 ? (int)thread : profile_add_hit_row(copying->to, &row);
	}
	return status;
}

static int copy_resources(struct copying *copying)
{
	for (size_t i = 0; i < copying->from->resource_count; i++) {
		int64_t copy = profile_copy_resource(copying->to, copying->from, copying->from->resources[i]);
		if (copy < 0)
			return (int)copy;
	}
	return 0;
}

static int copy_description(struct copying *copying)
{
	const struct profile *from = copying->from;
	struct profile *to = copying->to;
	to->start_ns = from->start_ns;
	to->end_ns = from->end_ns;
	to->start_unix_ns = from->start_unix_ns;
	to->lost = from->lost;
	for (size_t i = 0; i < from->note_count; i++) {
		int64_t copy = profile_add_note(to, profile_string(from, from->notes[i].key),
						profile_string(from, from->notes[i].value));
		if (copy < 0)
			return (int)copy;
	}
	return findings_copy(to, from);
}

int profile_extract(struct profile_extract *extract, const struct profile *from, const struct profile_hit *hits,
		    size_t count)
{
	*extract = (struct profile_extract){ 0 };
	struct copying copying = { .from = from, .extract = extract };
	int status = begin(&copying);
	if (status == 0)
		status = copy_resources(&copying);
	if (status == 0)
		status = copy_description(&copying);
	if (status == 0)
		status = copy_nodes(&copying, hits, count);
	if (status == 0)
		status = copy_hits(&copying, hits, count);
	end(&copying);
	if (status < 0)
		profile_extract_release(extract);
	return status;
}

void profile_extract_release(struct profile_extract *extract)
{
	profile_free(extract->profile);
	free(extract->modules);
	*extract = (struct profile_extract){ 0 };
}
