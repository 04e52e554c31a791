/*
 * Builds a thread's tree from the objects in its chunks: nodes, and lists of edges and ticks, linked by their
 * addresses in the process. Each node is read once, breadth first, so that parents precede their children and deep
 * trees need no recursion. Each object that is read uses up bytes of the chunks, so that a list without an end is
 * detected.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "collect/count/parts.h"

struct reading {
	const struct tally *tally;
	struct count_thread *thread;
	struct count_tree *tree;
	struct hash_map *paths; /* paths by the addresses of their nodes */
	uint64_t *nodes;        /* addresses, by path */
	size_t node_capacity;
	uint64_t *children; /* by call: address of a child node that had no path yet; 0: it had one */
	size_t child_capacity;
	uint64_t left; /* bytes of objects that may still be read */
	const char *name;
	struct error *error;
};

static int damaged(const struct reading *reading, const char *what)
{
	return error_set(reading->error, ERROR_CORRUPT,
			 "'%s' is damaged: %s of thread %" PRIu32 " have invalid references", reading->name, what,
			 reading->thread->shared->tid);
}

/* Copies an object, so that the bytes that are checked are those that are used, and subtracts its size from `left`.
 * Returns false if the thread's chunks do not have it. */
static bool take(struct reading *reading, const void *pointer, void *object, size_t bytes)
{
	const void *found = tally_object(reading->tally, reading->thread, (uint64_t)(uintptr_t)pointer, bytes);
	if (!found || reading->left < bytes)
		return false;
	reading->left -= bytes;
	memcpy(object, found, bytes);
	return true;
}

static int put_node(struct reading *reading, uint32_t path, uint64_t address)
{
	if (ARRAY_RESERVE(reading->nodes, reading->node_capacity, path + (size_t)1) < 0)
		return ERROR_MEMORY;
	reading->nodes[path] = address;
	return hash_map_put(reading->paths, address, path);
}

/* --- calls --- */

/* Makes a path for a node below `path` that no earlier call led to. */
static int64_t begin_path(struct reading *reading, uint32_t path, const struct tally_edge *edge)
{
	int64_t added = count_tree_add_path(reading->tree, path, edge->function);
	int result = added < 0 ? (int)added : put_node(reading, (uint32_t)added, (uint64_t)(uintptr_t)edge->child);
	return result < 0 ? result : added;
}

/* Returns the path that an edge leads to, TALLY_NONE if the edge has no child or the child has no path yet, or a
 * negative error. */
static int64_t find_child(struct reading *reading, uint32_t path, const struct tally_edge *edge)
{
	struct tally_node child;
	uint64_t address = (uint64_t)(uintptr_t)edge->child;
	uint32_t known = address ? hash_map_get(reading->paths, address) : TALLY_NONE;
	if (address == 0 || known != HASH_MAP_NONE)
		return known;
	const void *found = tally_object(reading->tally, reading->thread, address, sizeof(child));
	if (!found)
		return damaged(reading, "calls");
	memcpy(&child, found, sizeof(child));
	if (edge->flags & TALLY_EDGE_FOLDED || (uint64_t)(uintptr_t)child.parent != reading->nodes[path])
		return TALLY_NONE;
	return begin_path(reading, path, edge);
}

static int add_call(struct reading *reading, uint32_t path, const struct tally_edge *edge)
{
	int64_t child = find_child(reading, path, edge);
	if (child < 0)
		return (int)child;
	struct count_call call = { .call_site = edge->call_site,
				   .function = edge->function,
				   .count = edge->count,
				   .path = path,
				   .child = (uint32_t)child,
				   .flags = edge->flags,
				   .code = edge->code };
	/* If the child wrongly belongs to another parent, keep the call, as a folded one. */
	if (call.child != TALLY_NONE && reading->tree->paths[call.child].parent != path)
		call.flags |= TALLY_EDGE_FOLDED;
	int64_t added = count_tree_add_call(reading->tree, &call);
	if (added < 0)
		return (int)added;
	if (ARRAY_RESERVE(reading->children, reading->child_capacity, (size_t)added + 1) < 0)
		return ERROR_MEMORY;
	reading->children[added] = call.child == TALLY_NONE ? (uint64_t)(uintptr_t)edge->child : 0;
	return 0;
}

static int read_calls(struct reading *reading, uint32_t path, const struct tally_edge *first)
{
	for (const struct tally_edge *at = first; at;) {
		struct tally_edge edge;
		if (!take(reading, at, &edge, sizeof(edge)))
			return damaged(reading, "calls");
		int result = add_call(reading, path, &edge);
		if (result < 0)
			return result;
		at = edge.next;
	}
	return 0;
}

/* Sets the paths of folded calls, which may have been read after the calls. */
static int find_folded(struct reading *reading)
{
	for (size_t i = 0; i < reading->tree->call_count; i++) {
		if (reading->children[i] == 0)
			continue;
		uint32_t child = hash_map_get(reading->paths, reading->children[i]);
		if (child == HASH_MAP_NONE)
			return damaged(reading, "calls");
		reading->tree->calls[i].child = child;
		reading->tree->calls[i].flags |= TALLY_EDGE_FOLDED;
	}
	return 0;
}

/* --- ticks and nodes --- */

static int read_ticks(struct reading *reading, uint32_t path, const struct tally_tick *first)
{
	for (const struct tally_tick *at = first; at;) {
		struct tally_tick tick;
		if (!take(reading, at, &tick, sizeof(tick)) || tick.request >= reading->tally->header.request_count)
			return damaged(reading, "samples");
		struct count_tick added = {
			.pc = tick.pc,
			.hits = tick.hits,
			.samples = tick.samples,
			.path = path,
			.request = tick.request,
			.labels = tick.labels,
		};
		int64_t result = count_tree_add_tick(reading->tree, &added);
		if (result < 0)
			return (int)result;
		at = tick.next;
	}
	return 0;
}

static int read_node(struct reading *reading, uint32_t path)
{
	struct tally_node node;
	if (!take(reading, (const void *)(uintptr_t)reading->nodes[path], &node, sizeof(node)))
		return damaged(reading, "call paths");
	reading->tree->paths[path].number = node.number;
	reading->tree->paths[path].exclusive_ns =
		tally_ns(&reading->tally->processes[reading->thread->process], node.exclusive_ticks);
	int result = read_calls(reading, path, node.edges);
	return result < 0 ? result : read_ticks(reading, path, node.ticks);
}

static uint64_t bytes_of_objects(const struct tally *tally, const struct count_thread *thread)
{
	uint64_t bytes = 0;
	for (uint32_t i = 0; i < thread->chunk_count; i++)
		bytes += tally->chunks[thread->first_chunk + i].size;
	return bytes;
}

static int read_nodes(struct reading *reading)
{
	const struct tally_chunk *chunk = &reading->thread->shared->chunk;
	int result = put_node(reading, COUNT_ROOT, chunk->address + offsetof(struct tally_thread, root));
	for (size_t path = 0; path < reading->tree->path_count && result == 0; path++)
		result = read_node(reading, (uint32_t)path);
	return result == 0 ? find_folded(reading) : result;
}

int tally_read_objects(const struct tally *tally, struct count_thread *thread, struct hash_map *paths, const char *name,
		       struct error *error)
{
	struct reading reading = {
		.tally = tally,
		.thread = thread,
		.tree = &thread->tree,
		.paths = paths,
		.left = bytes_of_objects(tally, thread),
		.name = name,
		.error = error,
	};
	error->code = 0;
	int result = read_nodes(&reading);
	free(reading.nodes);
	free(reading.children);
	return result == 0 || error->code ? result : error_set(error, result, "%s", error_text(result));
}
