/*
 * What one process has mapped where: mappings in order of address, of which a new
 * one takes the place of whatever it covers, as mmap does.
 */
#ifndef COLLECT_SAMPLE_STATE_MAPS_H
#define COLLECT_SAMPLE_STATE_MAPS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct mapping {
	uint64_t start, end, file_offset;
	uint64_t told;   /* increases with the order of the events */
	uint32_t name;   /* string: name of its memory, see processes_name_of_memory */
	uint32_t module; /* for code: index in modules */
	bool has_bias;   /* for code: computed on first use, because the file must be read */
	uint64_t bias;   /* run-time address = ELF virtual address + bias */
};

struct maps {
	struct mapping *items; /* sorted by start, not overlapping; owned */
	size_t count, capacity;
};

void maps_release(struct maps *maps);

/* Forgets all mappings; the memory is kept. */
void maps_clear(struct maps *maps);

/* Replaces all by those of `from`. Returns 0 or ERROR_MEMORY, and then nothing changed. */
int maps_copy(struct maps *maps, const struct maps *from);

/* Adds one, start < end: the ends of older ones that it cuts stay. Returns 0 or
 * ERROR_MEMORY, and then nothing changed. */
int maps_insert(struct maps *maps, const struct mapping *mapping);

/* Index of the first mapping that ends above `address`; `count`: none does. */
size_t maps_first_above(const struct maps *maps, uint64_t address);

/* The mapping that holds `address`, or NULL. Valid until the next call that changes any. */
struct mapping *maps_at(const struct maps *maps, uint64_t address);

#endif
