/*
 * Builds a tally by hand, as the runtime would have left it: processes, threads and their objects. The addresses
 * in it differ from the addresses at which the test holds the bytes.
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

/* An offset in the file. 0 means none. */
typedef size_t tally_offset;

void tally_world_init(struct tally_world *world, enum tally_measurement measurement);
void tally_world_release(struct tally_world *world);

/* Return a part of the file, valid until the next part is added. */
struct tally_header *tally_world_header(struct tally_world *world);
struct tally_process *tally_world_process(struct tally_world *world, tally_offset process);
struct tally_thread *tally_world_thread(struct tally_world *world, tally_offset thread);
struct tally_node *tally_world_node(struct tally_world *world, tally_offset node);
struct tally_edge *tally_world_edge(struct tally_world *world, tally_offset edge);
struct tally_tick *tally_world_tick(struct tally_world *world, tally_offset tick);

/* Adds a resource "cpu" with this interval. */
void tally_world_add_request(struct tally_world *world, uint64_t interval);
tally_offset tally_world_add_process(struct tally_world *world, uint32_t number);
void tally_world_add_module(struct tally_world *world, tally_offset process, const char *path, uint64_t start,
			    uint64_t end, uint64_t bias);
/* Adds a chunk that has only a header. */
tally_offset tally_world_add_chunk(struct tally_world *world, enum tally_chunk_kind kind, uint32_t process,
				   uint32_t thread, uint64_t bytes);
tally_offset tally_world_add_thread(struct tally_world *world, uint32_t process, uint32_t number);
tally_offset tally_world_root(tally_offset thread);

/* The texts of a probe descriptor. tally_world_add_probe adds it to a chunk of probe descriptors, with all other
 * fields copied from `probe`. */
struct tally_world_texts {
	const char *name, *signature, *file, *group;
};
tally_offset tally_world_add_probe(struct tally_world *world, tally_offset chunk, const struct tally_probe *probe,
				   const struct tally_world_texts *texts);

/* Add objects to the chunk of a thread, or to a chunk of objects. tally_world_call adds an edge below the path
 * `node` with this count, and a new child node, which it returns. */
tally_offset tally_world_call(struct tally_world *world, tally_offset chunk, tally_offset node, uint64_t call_site,
			      uint64_t function, uint64_t count);
/* Adds only an edge. `child` 0: the edge has no child node. */
tally_offset tally_world_add_edge(struct tally_world *world, tally_offset chunk, tally_offset node, tally_offset child,
				  const struct tally_edge *edge);
tally_offset tally_world_add_tick(struct tally_world *world, tally_offset chunk, tally_offset node, uint64_t pc,
				  uint64_t hits, uint64_t samples);

/* Returns the address that the recorded process would have for an offset in one of its chunks. */
uint64_t tally_world_address(tally_offset offset);

#endif
