/*
 * The stack of one sample, as memory that a walk reads: the bytes that were copied with the sample and, where these end too early, the
 * bytes of other sources (stack.h has the picture). Also finds the lowest address above which the stack has not changed since the
 * thread's last deep walk.
 */
#ifndef COLLECT_SAMPLE_STACKS_STACK_MEMORY_H
#define COLLECT_SAMPLE_STACKS_STACK_MEMORY_H

#include <stdbool.h>
#include <stdint.h>

#include "collect/sample/backend.h"
#include "collect/sample/stacks/deep_stack.h"
#include "collect/sample/stacks/target_memory.h"
#include "collect/sample/state/processes.h"

/* The source of the memory above the copied stack. */
enum above { ABOVE_NOT_ASKED, ABOVE_LIVE, ABOVE_REMEMBERED, ABOVE_NONE };

struct stack_memory {
	struct processes *processes; /* not owned */
	struct target_memory target;
	/* The current sample. */
	const struct backend_sample *sample;
	struct process *process;
	const struct deep_stack *deep; /* NULL: the thread has had no deep stack */
	uint64_t start, end;           /* addresses of the copy */
	enum above above;
	bool distrust_live; /* the target's memory must not be used */
	bool used_pages;    /* a word came neither from the copy nor from the memory above it */
	bool zero_outside;  /* a word that was not copied was 0, as a root's return address is */
	uint64_t same_from; /* from here up nothing has changed since `deep` was filled; UINT64_MAX: unknown */
};

void stack_memory_init(struct stack_memory *memory, struct processes *processes);
void stack_memory_release(struct stack_memory *memory);

/* Begins another sample, or another walk of the same one. Owns none of its arguments; all must be valid
 * until the next call. */
void stack_memory_begin(struct stack_memory *memory, const struct backend_sample *sample, struct process *process,
			const struct deep_stack *deep, bool distrust_live);

/* Reads 8 bytes at an address. Returns 0, or -1 if they are not available. */
int stack_memory_read(struct stack_memory *memory, uint64_t address, uint64_t *value);
/* The same for code: of the module's file, or as the target has it now. That is no memory from outside of the stack. */
int stack_memory_read_code(struct stack_memory *memory, uint64_t address, uint64_t *value);

/* Returns whether the 8 bytes at an address were copied with the sample. */
bool stack_memory_has(const struct stack_memory *memory, uint64_t address);

/* Returns whether a word was read that was not copied. */
bool stack_memory_went_outside(const struct stack_memory *memory);

/* Keeps the bytes of a completed stack for the next sample: all of them or, if the walk joined the last
 * one, those below that point. Returns 0 or ERROR_MEMORY. */
int stack_memory_store(struct stack_memory *memory, struct deep_stack *deep, bool joined);

#endif
