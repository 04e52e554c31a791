/* A program for walks: a module of functions whose rows come from call frame information, its code and its stack. */
#ifndef TESTS_CFI_WORLD_H
#define TESTS_CFI_WORLD_H

#include "support/tiny_table.h"
#include "unwind/cfi.h"

/* The module is loaded BIAS above its ELF addresses; each function has 0x100 bytes. */
enum { STACK = 0x10000, STACK_WORDS = 256, CODE_BYTES = 0x2000, FRAMES = 64 };
#define BIAS UINT64_C(0x7f0000000000)
#define PC(address) (BIAS + (address))
#define FUNCTION(number) ((uint64_t)TINY_BASE + 0x1000 + 0x100 * (uint64_t)(number))

/* Functions of the module. */
enum {
	LEAF,      /* CFA = rsp + 8 */
	PUSHED,    /* CFA = rsp + 32, rbp at CFA - 16 */
	FRAMED,    /* CFA = rbp + 16, rbp at CFA - 16, r12 at CFA - 24 */
	BY_R12,    /* CFA = r12 + 8: a slow rule that needs a fourth register */
	SAVES_R12, /* CFA = rsp + 32, r12 at CFA - 24 */
	ODD,       /* CFA = rsp + 20: slow, but needs only rip, rsp and rbp */
	BY_RAX,    /* CFA = rax + 8: rax is not preserved across calls */
	BY_R13,    /* CFA = r13 + 8 */
	FP_IN_R12, /* CFA = rsp + 8, rbp in r12: slow */
	OUTERMOST, /* return address undefined */
	SIGNAL,    /* ucontext at rsp */
	NO_RULES,  /* no FDE from here on */
	SIGRETURN, /* mov $15, %rax; syscall; without an FDE */
	FUNCTIONS
};

struct cfi_world {
	uint64_t stack[STACK_WORDS];
	uint8_t code[CODE_BYTES]; /* at FUNCTION(0) */
	struct unwind_table *table;
	struct arch_registers registers;
	struct unwind_frame frames[FRAMES];
	unsigned reads;
	uint64_t join_at;
	uint64_t stack_start;
	uint64_t end; /* of the module; 0: of the text */
	bool no_table;
	unsigned lookups; /* of modules */
};

/* Returns the return address of a call inside function `number`. */
static inline uint64_t call_in(unsigned number)
{
	return PC(FUNCTION(number)) + 0x20;
}

/* cmocka fixtures: *state is a world whose stack is all zeros. */
int cfi_world_set_up(void **state);
int cfi_world_tear_down(void **state);

/* The walks' reader: reads a word of the stack or of the code. */
int cfi_world_read(void *context, uint64_t address, uint64_t *value);

/* Sets the registers from which walks begin. The others are kept. */
void cfi_world_start(struct cfi_world *world, uint64_t rip, uint64_t rsp, uint64_t rbp);

/* Writes at most `limit` frames. */
struct unwind_result cfi_world_walk(struct cfi_world *world, size_t limit);

/* Writes a ucontext from a word of the stack on. */
void cfi_world_put_ucontext(struct cfi_world *world, unsigned word, uint64_t rip, uint64_t rsp, uint64_t rbp,
			    uint64_t r12);

#endif
