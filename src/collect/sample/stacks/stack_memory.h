/*
 * The stack of one sample as memory: the bytes copied with it, and where these
 * end too early, what can be had instead (the picture is in stack.h). Says also
 * from which address up nothing has changed since the thread's last deep walk.
 */
#ifndef COLLECT_SAMPLE_STACKS_STACK_MEMORY_H
#define COLLECT_SAMPLE_STACKS_STACK_MEMORY_H

#include <stdbool.h>
#include <stdint.h>

#include "collect/sample/backend.h"
#include "collect/sample/stacks/deep_stack.h"
#include "collect/sample/stacks/target_memory.h"
#include "collect/sample/state/processes.h"

/* Where the memory above the copied stack comes from. */
enum above { ABOVE_NOT_ASKED, ABOVE_LIVE, ABOVE_REMEMBERED, ABOVE_NONE };

struct stack_memory {
	struct processes *processes; /* not owned */
	struct target_memory target;
	/* The sample at hand. */
	const struct backend_sample *sample;
	struct process *process;
	const struct deep_stack *deep; /* NULL: the thread was never seen deep */
	uint64_t start, end;           /* addresses of the copy */
	enum above above;
	bool distrust_live; /* the target's memory is not to be used */
	bool used_pages;    /* something came from neither the copy nor above it */
	bool zero_outside;  /* a word that was not copied was 0, as a root's return address is */
	uint64_t same_from; /* from here up nothing changed since `deep` was made; UINT64_MAX: not known */
};

void stack_memory_init(struct stack_memory *memory, struct processes *processes);
void stack_memory_release(struct stack_memory *memory);

/* Another sample, or another walk of the same. Nothing given is owned; all must
 * live until the next call. */
void stack_memory_begin(struct stack_memory *memory, const struct backend_sample *sample, struct process *process,
			const struct deep_stack *deep, bool distrust_live);

/* 8 bytes at an address. 0, or -1: not to be had. */
int stack_memory_read(struct stack_memory *memory, uint64_t address, uint64_t *value);

/* Whether the 8 bytes at an address were copied with the sample. */
bool stack_memory_has(const struct stack_memory *memory, uint64_t address);

/* Whether anything was read that was not copied. */
bool stack_memory_went_outside(const struct stack_memory *memory);

/* Keeps the bytes of a stack that was completed, for the next sample: all, or
 * those below where the walk joined the last one. 0 or ERROR_MEMORY. */
int stack_memory_remember(struct stack_memory *memory, struct deep_stack *deep, bool joined);

#endif
