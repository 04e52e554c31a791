/*
 * Text that a program moved to anonymous memory at the same addresses, for huge pages (Node's --use-largepages, ClickHouse, HHVM). Such memory
 * counts as the file that was mapped there, or that is mapped directly before it, if its bytes are equal to the file's.
 *
 * A program maps the memory before it fills it, so memory that differs is compared again at the next samples, up to a limit.
 */
#ifndef COLLECT_SAMPLE_STATE_MOVED_TEXT_H
#define COLLECT_SAMPLE_STATE_MOVED_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "elf/elf_file.h"

struct moved_text {
	uint32_t pid;
	uint32_t module; /* index in modules: of the file */
	uint64_t start, end;
	uint64_t order; /* of the mapping: a later one is other memory */
	uint64_t bias;  /* run-time address = ELF virtual address + bias */
	unsigned tries; /* so far */
};

/* The memory whose bytes differed so far. */
struct moved_texts {
	struct moved_text *items; /* owned */
	size_t count, capacity;
};

void moved_texts_release(struct moved_texts *texts);

/* Adds memory for further comparisons. Returns 0 or ERROR_MEMORY. */
int moved_texts_add(struct moved_texts *texts, const struct moved_text *text);

/* Removes the memory that was compared often enough: MOVED_TEXT_TRIES. */
enum { MOVED_TEXT_TRIES = 1000 };
void moved_texts_remove_tried(struct moved_texts *texts);

/* Returns whether the process's memory has the bytes of the file. Compares pages that are spread over it. */
bool moved_text_is_equal(const struct moved_text *text, struct elf_file *file);

#endif
