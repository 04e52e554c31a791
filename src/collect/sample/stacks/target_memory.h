/*
 * Reads the present memory of the target with process_vm_readv, for stacks that a sample's copy does not
 * contain: one span above the copy, which grows upwards, and a few single pages (such as the other stack
 * of a signal handler). target_memory_begin forgets all of it, because it is valid for one sample only.
 */
#ifndef COLLECT_SAMPLE_STACKS_TARGET_MEMORY_H
#define COLLECT_SAMPLE_STACKS_TARGET_MEMORY_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

enum { TARGET_PAGE_BYTES = 4096, TARGET_PAGES = 8, TARGET_SPAN_MAX = 16 * 1024 * 1024 };

struct target_memory {
	pid_t pid;
	/* The span: `size` bytes at `start`. */
	uint8_t *span;
	uint64_t start;
	size_t size, capacity;
	/* Single pages; the oldest is replaced first. */
	struct target_page {
		uint64_t address; /* of a page; 1: none */
		uint8_t bytes[TARGET_PAGE_BYTES];
	} * pages;
	unsigned next_page;
};

void target_memory_init(struct target_memory *memory);
void target_memory_release(struct target_memory *memory);

/* Begins another sample, of process `pid`; 0: it is gone, and no memory is readable. */
void target_memory_begin(struct target_memory *memory, pid_t pid);

/* Reads the span anew from `start`: `size` bytes, or as many as are readable. Returns their number, which
 * is 0 also if the target has ended or may not be read. */
size_t target_memory_span(struct target_memory *memory, uint64_t start, size_t size);

/* Extends the span to `end`, at least doubling it. Returns 0, or -1 if the memory is not readable. */
int target_memory_extend(struct target_memory *memory, uint64_t end);

/* Makes the kernel map the pages of [from, to): the kernel's copy of a stack would end at a page that was
 * never touched, in each sample. The target finds zeros there, as it would have done anyway. */
void target_memory_touch(struct target_memory *memory, uint64_t from, uint64_t to);

/* Reads 8 bytes at any address. Returns 0, or -1 if they are not readable. */
int target_memory_word(struct target_memory *memory, uint64_t address, uint64_t *value);

#endif
