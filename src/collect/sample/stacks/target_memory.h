/*
 * The target's memory as it is now, read with process_vm_readv: for stacks that
 * a sample's copy does not hold. One span above the copy, growing upwards, and
 * a few pages from anywhere else (the other stack of a signal handler).
 * Everything is forgotten with target_memory_begin: it was true for one sample.
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
	/* Single pages, the oldest replaced first. */
	struct target_page {
		uint64_t address; /* of a page; 1: none */
		uint8_t bytes[TARGET_PAGE_BYTES];
	} * pages;
	unsigned next_page;
};

void target_memory_init(struct target_memory *memory);
void target_memory_release(struct target_memory *memory);

/* Another sample: of process `pid`. */
void target_memory_begin(struct target_memory *memory, pid_t pid);

/* Reads the span anew from `start`, `size` bytes or as many as there are;
 * returns how many: 0 also when the target is gone or may not be read. */
size_t target_memory_span(struct target_memory *memory, uint64_t start, size_t size);

/* Makes the span reach to `end`, at least doubling it. 0, or -1: not readable. */
int target_memory_extend(struct target_memory *memory, uint64_t end);

/* Has the pages of [from, to) mapped: a page of stack that was never touched stops
 * the kernel's copy of a stack there, each time. It sees only zeros where there
 * was nothing, as it would itself. */
void target_memory_touch(struct target_memory *memory, uint64_t from, uint64_t to);

/* 8 bytes from anywhere. 0, or -1: not readable. */
int target_memory_word(struct target_memory *memory, uint64_t address, uint64_t *value);

#endif
