#include "tally_world.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define BASE UINT64_C(0x7f0000000000)

uint64_t tally_world_address(tally_offset offset)
{
	return offset ? BASE + offset : 0;
}

/* --- the file --- */

static tally_offset grow(struct tally_world *world, size_t bytes)
{
	uint8_t *grown = aligned_alloc(64, world->size + bytes);
	tally_offset at = world->size;
	if (!grown)
		abort();
	if (world->bytes)
		memcpy(grown, world->bytes, world->size);
	memset(grown + world->size, 0, bytes);
	free(world->bytes);
	world->bytes = grown;
	world->size += bytes;
	tally_world_header(world)->used = world->size;
	return at;
}

static void *at_offset(struct tally_world *world, tally_offset offset)
{
	return world->bytes + offset;
}

struct tally_header *tally_world_header(struct tally_world *world)
{
	return at_offset(world, 0);
}

struct tally_process *tally_world_process(struct tally_world *world, tally_offset process)
{
	return at_offset(world, process);
}

struct tally_thread *tally_world_thread(struct tally_world *world, tally_offset thread)
{
	return at_offset(world, thread);
}

struct tally_node *tally_world_node(struct tally_world *world, tally_offset node)
{
	return at_offset(world, node);
}

struct tally_edge *tally_world_edge(struct tally_world *world, tally_offset edge)
{
	return at_offset(world, edge);
}

struct tally_tick *tally_world_tick(struct tally_world *world, tally_offset tick)
{
	return at_offset(world, tick);
}

void tally_world_init(struct tally_world *world, enum tally_measurement measurement)
{
	*world = (struct tally_world){ 0 };
	grow(world, TALLY_HEADER_BYTES);
	struct tally_header *header = tally_world_header(world);
	memcpy(header->magic, TALLY_MAGIC, sizeof(header->magic));
	header->version = TALLY_VERSION;
	header->measurement = measurement;
	header->start_ns = 1000;
}

void tally_world_release(struct tally_world *world)
{
	free(world->bytes);
	*world = (struct tally_world){ 0 };
}

void tally_world_add_request(struct tally_world *world, uint64_t interval)
{
	struct tally_header *header = tally_world_header(world);
	header->requests[header->request_count++] =
		(struct tally_request){ .interval = interval, .name = "cpu", .title = "CPU Time", .unit = "ns" };
}

/* --- chunks --- */

tally_offset tally_world_add_chunk(struct tally_world *world, enum tally_chunk_kind kind, uint32_t process,
				   uint32_t thread, uint64_t bytes)
{
	tally_offset at = grow(world, bytes);
	*(struct tally_chunk *)at_offset(world, at) = (struct tally_chunk){
		.magic = TALLY_CHUNK_MAGIC,
		.kind = kind,
		.bytes = bytes,
		.used = sizeof(struct tally_chunk),
		.address = tally_world_address(at),
		.process = process,
		.thread = thread,
	};
	return at;
}

tally_offset tally_world_add_process(struct tally_world *world, uint32_t number)
{
	tally_offset at = tally_world_add_chunk(world, TALLY_PROCESS, number, 0, TALLY_GRANULE);
	struct tally_process *process = tally_world_process(world, at);
	process->chunk.used = sizeof(*process);
	process->pid = 100 + number;
	process->parent = UINT32_MAX;
	process->hooks = TALLY_HOOK_CYG;
	process->start_ns = 1000;
	process->end_ns = process->seen_ns = 2000;
	process->start_ticks = 10000;
	process->end_ticks = 12000;
	snprintf(process->name, sizeof(process->name), "program%u", number);
	return at;
}

void tally_world_add_module(struct tally_world *world, tally_offset at, const char *path, uint64_t start, uint64_t end,
			    uint64_t bias)
{
	struct tally_process *process = tally_world_process(world, at);
	struct tally_module *module = (struct tally_module *)((uint8_t *)process->modules + process->modules_bytes);
	size_t room = (strlen(path) + 1 + 7) / 8 * 8;
	module->bytes = (uint32_t)(sizeof(*module) + room);
	module->start = start;
	module->end = end;
	module->bias = bias;
	snprintf(module->path, room, "%s", path);
	process->modules_bytes += module->bytes;
}

tally_offset tally_world_add_thread(struct tally_world *world, uint32_t process, uint32_t number)
{
	tally_offset at = tally_world_add_chunk(world, TALLY_THREAD, process, number, TALLY_GRANULE);
	struct tally_thread *thread = tally_world_thread(world, at);
	thread->chunk.used = sizeof(*thread);
	thread->tid = 100 + process + number;
	thread->creator_process = UINT32_MAX;
	snprintf(thread->name, sizeof(thread->name), "thread%u", number);
	return at;
}

tally_offset tally_world_root(tally_offset thread)
{
	return thread + offsetof(struct tally_thread, root);
}

/* Appends a text to the texts of a probe, which have `bytes` bytes so far. Returns the offset at which it begins. */
static uint32_t add_text(struct tally_probe *probe, uint32_t *bytes, const char *text)
{
	uint32_t at = *bytes;
	size_t length = text ? strlen(text) + 1 : 1;
	memcpy(probe->texts + at, text ? text : "", length);
	*bytes += (uint32_t)length;
	return at;
}

tally_offset tally_world_add_probe(struct tally_world *world, tally_offset chunk, const struct tally_probe *probe,
				   const struct tally_world_texts *texts)
{
	struct tally_probes *probes = at_offset(world, chunk);
	tally_offset at = chunk + sizeof(*probes) + probes->probes_bytes;
	struct tally_probe *made = at_offset(world, at);
	uint32_t bytes = 0;
	*made = *probe;
	add_text(made, &bytes, texts->name);
	made->signature = add_text(made, &bytes, texts->signature);
	made->file = add_text(made, &bytes, texts->file);
	made->group = add_text(made, &bytes, texts->group);
	made->bytes = (uint32_t)(sizeof(*made) + bytes + 7) / 8 * 8;
	probes->probes_bytes += made->bytes;
	probes->chunk.used = sizeof(*probes) + probes->probes_bytes;
	return at;
}

/* --- objects --- */

static tally_offset take(struct tally_world *world, tally_offset at, size_t bytes)
{
	struct tally_chunk *chunk = at_offset(world, at);
	if (chunk->bytes - chunk->used < bytes)
		abort();
	chunk->used += bytes;
	return at + chunk->used - bytes;
}

static void *pointer(tally_offset offset)
{
	return (void *)(uintptr_t)tally_world_address(offset);
}

tally_offset tally_world_add_edge(struct tally_world *world, tally_offset chunk, tally_offset node, tally_offset child,
				  const struct tally_edge *edge)
{
	tally_offset at = take(world, chunk, sizeof(*edge));
	struct tally_edge *made = tally_world_edge(world, at);
	*made = *edge;
	made->child = pointer(child);
	made->next = tally_world_node(world, node)->edges;
	tally_world_node(world, node)->edges = pointer(at);
	return at;
}

tally_offset tally_world_call(struct tally_world *world, tally_offset chunk, tally_offset node, uint64_t call_site,
			      uint64_t function, uint64_t count)
{
	tally_offset child = take(world, chunk, sizeof(struct tally_node));
	*tally_world_node(world, child) = (struct tally_node){ .function = function, .parent = pointer(node) };
	const struct tally_edge edge = { .call_site = call_site, .function = function, .count = count };
	tally_world_add_edge(world, chunk, node, child, &edge);
	return child;
}

tally_offset tally_world_add_tick(struct tally_world *world, tally_offset chunk, tally_offset node, uint64_t pc,
				  uint64_t hits, uint64_t samples)
{
	tally_offset at = take(world, chunk, sizeof(struct tally_tick));
	*tally_world_tick(world, at) = (struct tally_tick){ .pc = pc, .hits = hits, .samples = samples };
	tally_world_tick(world, at)->next = tally_world_node(world, node)->ticks;
	tally_world_node(world, node)->ticks = pointer(at);
	return at;
}
