/*
 * Runs the kernel's walk (collect/shared/row_walk.h) in user space, on registers, memory and unwind tables that a
 * test supplies.
 */
#ifndef TESTS_BPF_REPLAY_H
#define TESTS_BPF_REPLAY_H

#include "collect/sample/bpf/programs/shared.h"
#include "unwind/unwind.h"

struct replay_code {
	uint64_t start, end, bias;        /* as in struct backend_code */
	const struct unwind_table *table; /* NULL: none */
};

struct replay {
	/* Copies `bytes` bytes and returns 0, or returns -1 if not all of them can be read. */
	int (*copy)(void *context, void *to, size_t bytes, uint64_t address);
	/* Finds the code at a pc. Returns false if no code is mapped there. */
	bool (*find_code)(void *context, uint64_t pc, struct replay_code *code);
	/* Finds the return address that a return probe replaced in this return slot. Returns false if none did.
	 * NULL: the test has no return probes. */
	bool (*real_return)(void *context, uint64_t slot, uint64_t *rip);
	uint64_t stack_start; /* 0: unknown */
	void *context;
};

struct replayed {
	enum walk_end end;
	size_t count;
	bool is_generated; /* it went through generated code */
	uint64_t pcs[WALK_FRAMES];
};

void replay_walk(const struct replay *replay, const struct arch_registers *registers, struct replayed *replayed);

/* Compares the kernel's walk with the result of `unwind_walk` for the same stack with WALK_FRAMES as its limit.
 * Returns the first difference as text, or NULL if they agree. */
const char *replay_differs(const struct replayed *replayed, const struct unwind_result *result,
			   const struct unwind_frame *frames);

#endif
