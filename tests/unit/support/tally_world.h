/*
 * A tally as the runtime would have left it, made by hand: processes, threads and their objects, at addresses that
 * have nothing to do with where they are here.
 */
#ifndef TESTS_TALLY_WORLD_H
#define TESTS_TALLY_WORLD_H

#include <stddef.h>
#include <stdint.h>

#include "abi/tally.h"

struct tally_world {
	uint8_t *bytes; /* the file; owned */
	size_t size;
};

/* Where things are in the file; 0 is nothing. */
typedef size_t tally_offset;

void tally_world_init(struct tally_world *world, enum tally_measurement measurement);
void tally_world_release(struct tally_world *world);

/* The parts, in the file; valid until the next one is added. */
struct tally_header *tally_world_header(struct tally_world *world);
struct tally_process *tally_world_process(struct tally_world *world, tally_offset process);
struct tally_thread *tally_world_thread(struct tally_world *world, tally_offset thread);
struct tally_node *tally_world_node(struct tally_world *world, tally_offset node);
struct tally_edge *tally_world_edge(struct tally_world *world, tally_offset edge);
struct tally_tick *tally_world_tick(struct tally_world *world, tally_offset tick);

/* A resource "cpu" with this interval. */
void tally_world_add_request(struct tally_world *world, uint64_t interval);
tally_offset tally_world_add_process(struct tally_world *world, uint32_t number);
void tally_world_add_module(struct tally_world *world, tally_offset process, const char *path, uint64_t start,
			    uint64_t end, uint64_t bias);
/* A chunk with nothing behind its header. */
tally_offset tally_world_add_chunk(struct tally_world *world, enum tally_chunk_kind kind, uint32_t process,
				   uint32_t thread, uint64_t bytes);
tally_offset tally_world_add_thread(struct tally_world *world, uint32_t process, uint32_t number);
tally_offset tally_world_root(tally_offset thread);

/* A place of the source, in a chunk of probes: `probe` but for its texts. */
struct tally_world_texts {
	const char *name, *signature, *file, *group;
};
tally_offset tally_world_add_probe(struct tally_world *world, tally_offset chunk, const struct tally_probe *probe,
				   const struct tally_world_texts *texts);

/* Objects of the thread or chunk of objects. A call from the path `node`, of which the file has `count`, that leads to
 * a path of its own, which is returned; or, with a child, to that one. */
tally_offset tally_world_call(struct tally_world *world, tally_offset chunk, tally_offset node, uint64_t call_site,
			      uint64_t function, uint64_t count);
/* The edge alone; `child` 0: it has none. */
tally_offset tally_world_add_edge(struct tally_world *world, tally_offset chunk, tally_offset node, tally_offset child,
				  const struct tally_edge *edge);
tally_offset tally_world_add_tick(struct tally_world *world, tally_offset chunk, tally_offset node, uint64_t pc,
				  uint64_t hits, uint64_t samples);

/* What the process would have as the address of something in one of its chunks. */
uint64_t tally_world_address(tally_offset offset);

#endif
