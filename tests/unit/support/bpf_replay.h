/*
 * The kernel's walk (collect/shared/row_walk.h) in user space, over registers, memory and
 * tables that a test stores.
 */
#ifndef TESTS_BPF_REPLAY_H
#define TESTS_BPF_REPLAY_H

#include "collect/sample/bpf/programs/shared.h"
#include "unwind/unwind.h"

struct replay_code {
	uint64_t start, end, bias;        /* as of struct backend_code */
	const struct unwind_table *table; /* NULL: none */
};

struct replay {
	/* Copies all of it, 0, or nothing, -1. */
	int (*copy)(void *context, void *to, size_t bytes, uint64_t address);
	/* The code at a pc; false: none is known. */
	bool (*find_code)(void *context, uint64_t pc, struct replay_code *code);
	/* What a return probe took away from a slot of the stack; false: nothing. NULL: there is none. */
	bool (*real_return)(void *context, uint64_t slot, uint64_t *rip);
	void *context;
};

struct replayed {
	enum walk_end end;
	size_t count;
	uint64_t pcs[WALK_FRAMES];
};

void replay_walk(const struct replay *replay, const struct arch_registers *registers, struct replayed *replayed);

/* What is wrong with the kernel's walk, if `unwind_walk` of the same stack, with
 * WALK_FRAMES as its limit, is right; NULL: nothing. */
const char *replay_differs(const struct replayed *replayed, const struct unwind_result *result,
			   const struct unwind_frame *frames);

#endif
