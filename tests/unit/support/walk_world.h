/*
 * A small synthetic program for both walks, the kernel's (collect/shared/row_walk.h) and unwind_walk: a stack and
 * two modules that have one unwind row of each kind, and generated code.
 */
#ifndef TESTS_WALK_WORLD_H
#define TESTS_WALK_WORLD_H

#include "bpf_replay.h"

/* The return address that the kernel's return probes put into return slots. */
#define TRAMPOLINE UINT64_C(0x7fffffffe000)

/* Two modules with the same rows. Each function has FUNCTION_BYTES. The mapping of the first module extends beyond
 * its last row. */
enum { FUNCTION_BYTES = 0x100, GENERATED_BYTES = 0x1000, STACK = 0x10000, STACK_WORDS = 2048, WORD = 8 };
#define BASE UINT64_C(0x1000)
#define FIRST UINT64_C(0x7f0000000000)
#define SECOND UINT64_C(0x7f0000100000)
/* Memory of generated code, which has GENERATED_BYTES. */
#define GENERATED UINT64_C(0x7f0000200000)
#define NOWHERE UINT64_C(0x123456)

enum {
	LEAF,      /* CFA = rsp + 8 */
	PUSHED,    /* CFA = rsp + 32, rbp at CFA - 16 */
	FRAMED,    /* CFA = rbp + 16, rbp at CFA - 16 */
	REALIGNED, /* CFA = *(rbp - 8), rbp at rbp */
	LARGE,     /* CFA = rsp + 504: the return address is the window's last word if rsp is its second */
	LARGER,    /* CFA = rsp + 512: the return address is then the first word after the window */
	STUB,      /* PLT: CFA = rsp + 8, and rsp + 16 from byte 11 of 16 */
	OUTERMOST, /* end */
	SLOW,
	SIGNAL, /* ucontext at rsp; its row begins one byte before the function */
	GAP,    /* no rule */
	ENTRY,  /* CFA = rsp + 8, after a gap */
	FUNCTIONS
};

/* The input of the walks, and their results. */
struct walk_world {
	uint64_t stack[STACK_WORDS];
	uint8_t code[FUNCTIONS * FUNCTION_BYTES + FUNCTION_BYTES]; /* of the first module */
	uint8_t generated[GENERATED_BYTES];
	struct unwind_table table;
	struct unwind_table empty;
	struct arch_registers registers;
	struct replayed kernel;
	struct unwind_result user;
	struct unwind_frame frames[WALK_FRAMES];
	unsigned copies;                 /* made by the kernel's walk */
	uint64_t probed[2], returned[2]; /* return slots, and the addresses that probes replaced in them */
	bool no_rows;                    /* the second module has no rows */
};

static inline uint64_t at(uint64_t module, unsigned function, unsigned offset)
{
	return module + BASE + (uint64_t)function * FUNCTION_BYTES + offset;
}

/* Returns the return address of a call inside a function of the first module. */
static inline uint64_t call_in(unsigned function)
{
	return at(FIRST, function, 0x20);
}

/* cmocka fixtures: *state is a world whose stack is all zeros. */
int walk_world_set_up(void **state);
int walk_world_tear_down(void **state);

/* Walks the stack both ways. The test fails if the two walks disagree. */
void walk_world_walk(struct walk_world *world, uint64_t rip, uint64_t rsp, uint64_t rbp);

/* Walks it only as the monitor does. */
void walk_world_walk_as_user(struct walk_world *world, uint64_t rip, uint64_t rsp, uint64_t rbp);

/* Walks the same registers again, only as the kernel does. */
void walk_world_walk_as_kernel(struct walk_world *world);

void walk_world_assert_frames(const struct walk_world *world, enum walk_end end, const uint64_t *pcs, size_t count);

#define ASSERT_FRAMES(end, ...)                                                 \
	walk_world_assert_frames(world, end, (const uint64_t[]){ __VA_ARGS__ }, \
				 sizeof((const uint64_t[]){ __VA_ARGS__ }) / sizeof(uint64_t))

#endif
