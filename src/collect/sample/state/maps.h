/*
 * The mappings of one process, in order of address. A new mapping replaces everything that it covers, as
 * mmap does.
 */
#ifndef COLLECT_SAMPLE_STATE_MAPS_H
#define COLLECT_SAMPLE_STATE_MAPS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct mapping {
	uint64_t start, end, file_offset;
	uint64_t order;                          /* increases with the order of the events */
	uint32_t name;                           /* string: name of its memory, see processes_name_of_memory */
	uint32_t module;                         /* for code: index in modules */
	bool has_bias;                           /* for code: computed on first use, because the file must be read */
	bool knows_trampolines, has_trampolines; /* the same for memory with CPython's trampolines (arch_trampoline) */
	uint64_t bias;                           /* run-time address = ELF virtual address + bias */
};

struct maps {
	struct mapping *items; /* sorted by start, not overlapping; owned */
	size_t count, capacity;
};

void maps_release(struct maps *maps);

/* Forgets all mappings; the memory is kept. */
void maps_clear(struct maps *maps);

/* Replaces all mappings by the mappings of `from`. Returns 0, or ERROR_MEMORY with no change. */
int maps_copy(struct maps *maps, const struct maps *from);

/* Adds a mapping, start < end; the parts of older mappings outside of it stay. Returns 0, or ERROR_MEMORY
 * with no change. */
int maps_insert(struct maps *maps, const struct mapping *mapping);

/* Removes what is mapped in a range; the parts outside of it stay. Returns 0, or ERROR_MEMORY with no change. */
int maps_remove(struct maps *maps, uint64_t start, uint64_t end);

/* Returns the index of the first mapping that ends above `address`, or `count` if there is none. */
size_t maps_first_above(const struct maps *maps, uint64_t address);

/* Returns the mapping that contains `address`, or NULL. Valid until the next call that changes any. */
struct mapping *maps_at(const struct maps *maps, uint64_t address);

#endif
