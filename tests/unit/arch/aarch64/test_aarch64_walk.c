/* Walks of arm64 stacks that are made by hand: rows, rules evaluated in full, signals, code without rules. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdlib.h>
#include <string.h>

#include "processor/row_step.h"
#include "support/tiny_table.h"
#include "unwind/cfi.h"

static inline bool row_read(void *memory, uint64_t address, uint64_t *value)
{
	(void)memory, (void)address, (void)value;
	return false;
}

/* The module is loaded BIAS above its ELF addresses; each function has 0x100 bytes. */
enum { STACK = 0x10000, STACK_WORDS = 512, CODE_BYTES = 0x2000, FRAMES = 64 };
#define BIAS UINT64_C(0x7f0000000000)
#define PC(address) (BIAS + (address))
#define FUNCTION(number) ((uint64_t)TINY_BASE + 0x1000 + 0x100 * (uint64_t)(number))
#define SIGNATURE UINT64_C(0x5a7b000000000000)

/* Functions of the module. A record is x29 and behind it x30, as they were at the call. */
enum {
	LEAF,      /* CFA = sp, return address in x30 */
	RECORD,    /* CFA = sp + 32, record at sp */
	FRAMED,    /* CFA = x29 + 48, record at x29 */
	LARGE,     /* CFA = sp + 1040, record at sp + 16 */
	BY_X19,    /* CFA = x19 + 16, record at x19: a slow rule that needs another register */
	SAVES_X19, /* CFA = sp + 48, record at sp, x19 at sp + 16 */
	LONELY,    /* CFA = sp + 16, x30 alone at sp: slow, but the registers of rows do */
	BY_X0,     /* CFA = x0 + 16, record at x0: x0 does not outlive a call */
	OUTERMOST, /* return address undefined */
	SIGNAL,    /* siginfo at sp, ucontext behind it; its row begins one instruction before it */
	NO_RULES,  /* no FDE from here on */
	SIGRETURN, /* mov x8, #139; svc #0; without FDE */
};

enum { NOP = 0xd503201f, BL = 0x94000000, INSTRUCTION_BYTES = 4 };

struct world {
	uint64_t stack[STACK_WORDS];
	uint32_t code[CODE_BYTES / INSTRUCTION_BYTES]; /* at FUNCTION(0) */
	struct unwind_table *table;
	struct arch_registers registers;
	struct unwind_frame frames[FRAMES];
	unsigned reads;
};

static int module_at(void *context, uint64_t pc, struct unwind_module *module)
{
	const struct world *world = context;
	if (pc < PC(TINY_BASE) || pc >= PC(TINY_BASE) + TINY_TEXT_BYTES)
		return -1;
	*module = (struct unwind_module){ .table = world->table, .bias = BIAS, .id = 3 };
	return 0;
}

static int read_word(void *context, uint64_t address, uint64_t *value)
{
	struct world *world = context;
	world->reads++;
	if (address >= STACK && address <= STACK + sizeof(world->stack) - sizeof(*value))
		memcpy(value, (const uint8_t *)world->stack + (address - STACK), sizeof(*value));
	else if (address >= PC(FUNCTION(0)) && address <= PC(FUNCTION(0)) + CODE_BYTES - sizeof(*value))
		memcpy(value, (const uint8_t *)world->code + (address - PC(FUNCTION(0))), sizeof(*value));
	else
		return -1;
	return 0;
}

static struct unwind_table *make_table(void)
{
	struct buffer section;
	buffer_init(&section);
	size_t cie = tiny_cie(&section, true, "z", BYTES(0x0c, 31, 0));
	tiny_fde(&section, true, cie, FUNCTION(LEAF), 0x100, BYTES(0));
	tiny_fde(&section, true, cie, FUNCTION(RECORD), 0x100, BYTES(0x0e, 32, 0x9d, 4, 0x9e, 3));
	tiny_fde(&section, true, cie, FUNCTION(FRAMED), 0x100, BYTES(0x0c, 29, 48, 0x9d, 6, 0x9e, 5));
	tiny_fde(&section, true, cie, FUNCTION(LARGE), 0x100, BYTES(0x0e, 0x90, 8, 0x9d, 0x80, 1, 0x9e, 0x7f));
	tiny_fde(&section, true, cie, FUNCTION(BY_X19), 0x100, BYTES(0x0c, 19, 16, 0x9d, 2, 0x9e, 1));
	tiny_fde(&section, true, cie, FUNCTION(SAVES_X19), 0x100, BYTES(0x0e, 48, 0x9d, 6, 0x9e, 5, 0x93, 4));
	tiny_fde(&section, true, cie, FUNCTION(LONELY), 0x100, BYTES(0x0e, 16, 0x9e, 2));
	tiny_fde(&section, true, cie, FUNCTION(BY_X0), 0x100, BYTES(0x0c, 0, 16, 0x9d, 2, 0x9e, 1));
	tiny_fde(&section, true, cie, FUNCTION(OUTERMOST), 0x100, BYTES(0x07, 30));
	size_t signal = tiny_cie(&section, true, "zS", BYTES(0x0c, 29, 0, 0x9d, 0, 0x05, 30, 0x7f));
	tiny_fde(&section, true, signal, FUNCTION(SIGNAL) - INSTRUCTION_BYTES, 0x100 + INSTRUCTION_BYTES, BYTES(0));
	struct unwind_table *table = tiny_table(&section, NULL, true);
	buffer_release(&section);
	return table;
}

static uint32_t *instruction_at(struct world *world, uint64_t pc)
{
	return &world->code[(pc - PC(FUNCTION(0))) / INSTRUCTION_BYTES];
}

static int set_up(void **state)
{
	struct world *world = calloc(1, sizeof(*world));
	assert_non_null(world);
	world->table = make_table();
	for (size_t i = 0; i < CODE_BYTES / INSTRUCTION_BYTES; i++)
		world->code[i] = NOP;
	uint32_t *sigreturn = instruction_at(world, PC(FUNCTION(SIGRETURN)));
	sigreturn[0] = 0xd2801168;
	sigreturn[1] = 0xd4000001;
	*state = world;
	return 0;
}

static int tear_down(void **state)
{
	struct world *world = *state;
	unwind_table_free(world->table);
	free(world);
	return 0;
}

/* Where a call inside function `number` returns to. */
static uint64_t call_in(unsigned number)
{
	return PC(FUNCTION(number)) + 0x20;
}

static void start(struct world *world, uint64_t pc, uint64_t sp, uint64_t fp, uint64_t lr)
{
	world->registers.value[ARCH_PC_REGISTER] = pc;
	world->registers.value[ARCH_SP_REGISTER] = sp;
	world->registers.value[ARCH_FP_REGISTER] = fp;
	world->registers.value[ARCH_LR_REGISTER] = lr;
}

static void put_record(struct world *world, uint64_t address, uint64_t fp, uint64_t lr)
{
	world->stack[(address - STACK) / 8] = fp;
	world->stack[(address - STACK) / 8 + 1] = lr;
}

static struct unwind_result walk(struct world *world, size_t limit)
{
	struct unwind_source source = { .module_at = module_at, .read = read_word, .context = world };
	return unwind_walk(&source, &world->registers, world->frames, limit);
}

/* --- by rows --- */

static void reaches_the_root(void **state)
{
	struct world *world = *state;
	start(world, PC(FUNCTION(LEAF)), STACK, 0x77, call_in(RECORD));
	put_record(world, STACK, STACK + 0x40, call_in(FRAMED));          /* RECORD: CFA at 0x20 */
	put_record(world, STACK + 0x40, 0x4444, call_in(LARGE));          /* FRAMED: CFA at 0x70 */
	put_record(world, STACK + 0x70 + 16, 0x5555, call_in(OUTERMOST)); /* LARGE: CFA at 0x480 */
	struct unwind_result result = walk(world, FRAMES);
	assert_int_equal(result.cause, UNWIND_ROOT);
	assert_int_equal(result.count, 5);
	assert_int_equal(world->frames[0].pc, PC(FUNCTION(LEAF)));
	assert_int_equal(world->frames[0].address, FUNCTION(LEAF));
	assert_int_equal(world->frames[0].module, 3);
	/* The leaf's caller has the leaf's sp. */
	assert_int_equal(world->frames[1].pc, call_in(RECORD) - 1);
	assert_int_equal(world->frames[1].sp, STACK);
	assert_int_equal(world->frames[1].fp, 0x77);
	assert_int_equal(world->frames[2].pc, call_in(FRAMED) - 1);
	assert_int_equal(world->frames[2].sp, STACK + 0x20);
	assert_int_equal(world->frames[2].fp, STACK + 0x40);
	assert_int_equal(world->frames[3].pc, call_in(LARGE) - 1);
	assert_int_equal(world->frames[3].sp, STACK + 0x70);
	assert_int_equal(world->frames[3].fp, 0x4444);
	assert_int_equal(world->frames[4].pc, call_in(OUTERMOST) - 1);
	assert_int_equal(world->frames[4].sp, STACK + 0x480);
	assert_int_equal(world->frames[4].fp, 0x5555);
	/* Two reads for each record, none for the leaf. */
	assert_int_equal(world->reads, 6);
	/* A return address of 0 is the root as well. */
	put_record(world, STACK + 0x40, 0x4444, 0);
	result = walk(world, FRAMES);
	assert_int_equal(result.cause, UNWIND_ROOT);
	assert_int_equal(result.count, 3);
}

static void signatures_are_taken_off(void **state)
{
	struct world *world = *state;
	start(world, PC(FUNCTION(LEAF)), STACK, 0x77, call_in(RECORD) | SIGNATURE);
	put_record(world, STACK, STACK + 0x40, call_in(LONELY) | SIGNATURE);
	world->stack[0x20 / 8] = call_in(OUTERMOST) | SIGNATURE;
	struct unwind_result result = walk(world, FRAMES);
	assert_int_equal(result.cause, UNWIND_ROOT);
	assert_int_equal(result.count, 4);
	assert_int_equal(world->frames[1].pc, call_in(RECORD) - 1);
	assert_int_equal(world->frames[2].pc, call_in(LONELY) - 1);
	assert_int_equal(world->frames[3].pc, call_in(OUTERMOST) - 1);
}

static void says_why_not(void **state)
{
	struct world *world = *state;
	start(world, PC(FUNCTION(RECORD)), STACK, 0x77, 0);
	put_record(world, STACK, 0x77, call_in(RECORD));
	put_record(world, STACK + 0x20, 0x77, 0x1234);
	struct unwind_result result = walk(world, FRAMES);
	assert_int_equal(result.cause, UNWIND_NO_MODULE);
	assert_int_equal(result.count, 3);
	assert_int_equal(world->frames[2].module, UINT32_MAX);
	assert_int_equal(walk(world, 2).cause, UNWIND_DEPTH);
	put_record(world, STACK + 0x20, 0x77, call_in(NO_RULES));
	assert_int_equal(walk(world, FRAMES).cause, UNWIND_NO_RULE_AT_PC);
	/* Only the leaf's return address is in x30. */
	put_record(world, STACK + 0x20, 0x77, call_in(LEAF));
	result = walk(world, FRAMES);
	assert_int_equal(result.cause, UNWIND_NO_PROGRESS);
	assert_int_equal(result.count, 3);
	start(world, PC(FUNCTION(RECORD)), 0x50, 0x77, 0);
	result = walk(world, FRAMES);
	assert_int_equal(result.cause, UNWIND_UNREADABLE);
	assert_int_equal(result.unreadable, 0x50);
	assert_int_equal(result.count, 1);
	/* x29 points below sp: the stack would shrink. */
	start(world, PC(FUNCTION(FRAMED)), STACK + 0x80, STACK, 0);
	assert_int_equal(walk(world, FRAMES).cause, UNWIND_NO_PROGRESS);
	/* x29 = 0 marks no outermost frame: a function without rules may use the register for anything. */
	start(world, PC(FUNCTION(RECORD)), STACK, 0x77, 0);
	put_record(world, STACK, 0, call_in(NO_RULES));
	assert_int_equal(walk(world, FRAMES).cause, UNWIND_NO_RULE_AT_PC);
	start(world, PC(FUNCTION(NO_RULES)), STACK, 0, 0);
	assert_int_equal(walk(world, FRAMES).cause, UNWIND_NO_RULE_AT_PC);
}

/* --- no rule --- */

static void follows_frame_pointers(void **state)
{
	struct world *world = *state;
	start(world, PC(FUNCTION(NO_RULES)), STACK, STACK + 0x40, 0);
	put_record(world, STACK + 0x40, STACK + 0x80, call_in(FRAMED));
	put_record(world, STACK + 0x80, 0, call_in(OUTERMOST));
	*instruction_at(world, call_in(FRAMED) - INSTRUCTION_BYTES) = BL;
	struct unwind_result result = walk(world, FRAMES);
	assert_int_equal(result.cause, UNWIND_ROOT_FRAME_POINTER);
	assert_true(result.used_frame_pointer);
	assert_int_equal(result.count, 3);
	assert_int_equal(world->frames[1].sp, STACK + 0x50);
	/* Not where the saved address does not follow a call, */
	*instruction_at(world, call_in(FRAMED) - INSTRUCTION_BYTES) = NOP;
	assert_int_equal(walk(world, FRAMES).cause, UNWIND_NO_RULE_AT_PC);
	/* and not into the unknown. */
	put_record(world, STACK + 0x40, STACK + 0x80, 0x1234);
	assert_int_equal(walk(world, FRAMES).cause, UNWIND_NO_RULE_AT_PC);
	start(world, PC(FUNCTION(NO_RULES)), STACK, STACK + 0x44, 0);
	assert_int_equal(walk(world, FRAMES).cause, UNWIND_NO_RULE_AT_PC);
}

static void recognises_the_call(void **state)
{
	struct world *world = *state;
	uint64_t distance = FUNCTION(NO_RULES) - (FUNCTION(RECORD) + 0x20 - INSTRUCTION_BYTES);
	uint32_t *call = instruction_at(world, call_in(RECORD) - INSTRUCTION_BYTES);
	*call = BL | (uint32_t)(distance / INSTRUCTION_BYTES);
	start(world, PC(FUNCTION(NO_RULES)) + 8, STACK, 1, call_in(RECORD));
	put_record(world, STACK, 0, call_in(OUTERMOST));
	struct unwind_result result = walk(world, FRAMES);
	assert_int_equal(result.cause, UNWIND_ROOT_FRAME_POINTER);
	assert_int_equal(result.count, 3);
	/* A call to somewhere else is none of this function. */
	*call += 0x800 / INSTRUCTION_BYTES;
	assert_int_equal(walk(world, FRAMES).cause, UNWIND_NO_RULE_AT_PC);
}

/* --- signals --- */

/* struct rt_sigframe of the kernel at `address`: siginfo, ucontext. */
static void put_signal_frame(struct world *world, uint64_t address, const struct arch_registers *registers)
{
	uint64_t ucontext = address + ARCH_SIGNAL_WORDS * sizeof(uint64_t);
	for (unsigned i = 0; i < ARCH_REGISTERS; i++)
		world->stack[(ucontext + UCONTEXT_X0 - STACK) / 8 + i] = registers->value[i];
}

static void steps_out_of_signals(void **state)
{
	struct world *world = *state;
	const unsigned ways[] = { SIGNAL, SIGRETURN };
	for (size_t i = 0; i < sizeof(ways) / sizeof(ways[0]); i++) {
		/* A handler on an alternate stack above the interrupted one, which a leaf runs on. */
		start(world, PC(FUNCTION(LEAF)), STACK, 0x77, call_in(RECORD));
		put_signal_frame(world, STACK + 0x800, &world->registers);
		put_record(world, STACK, 0x88, call_in(OUTERMOST));
		start(world, PC(FUNCTION(LEAF)), STACK + 0x800, STACK + 0x900, PC(FUNCTION(ways[i])));
		struct unwind_result result = walk(world, FRAMES);
		assert_int_equal(result.cause, UNWIND_ROOT);
		assert_int_equal(result.count, 5);
		assert_int_equal(world->frames[2].pc, PC(FUNCTION(LEAF))); /* exact: its first instruction */
		assert_int_equal(world->frames[2].sp, STACK);
		assert_int_equal(world->frames[2].fp, 0x77);
		assert_int_equal(world->frames[3].pc, call_in(RECORD) - 1);
		assert_int_equal(world->frames[3].sp, STACK);
		assert_int_equal(world->frames[4].fp, 0x88);
	}
	/* A signal frame that returns to itself ends at the limit. */
	start(world, PC(FUNCTION(SIGNAL)), STACK + 0x800, 0, 0);
	put_signal_frame(world, STACK + 0x800, &world->registers);
	struct unwind_result result = walk(world, FRAMES);
	assert_int_equal(result.cause, UNWIND_DEPTH);
	assert_int_equal(result.count, FRAMES);
}

/* --- slow rules --- */

static void slow_rules_get_all_registers(void **state)
{
	struct world *world = *state;
	/* leaf, SAVES_X19, BY_X19 (by the restored x19), LONELY, the end */
	start(world, PC(FUNCTION(LEAF)), STACK, 1, call_in(SAVES_X19));
	world->registers.value[19] = 0xbad;
	put_record(world, STACK, 2, call_in(BY_X19));        /* CFA at 0x30 */
	world->stack[0x10 / 8] = STACK + 0x50;               /* x19 */
	put_record(world, STACK + 0x50, 3, call_in(LONELY)); /* CFA at 0x60 */
	world->stack[0x60 / 8] = call_in(OUTERMOST);         /* CFA at 0x70 */
	struct unwind_result result = walk(world, FRAMES);
	assert_int_equal(result.cause, UNWIND_ROOT);
	assert_int_equal(result.count, 5);
	assert_int_equal(world->frames[2].fp, 2);
	assert_int_equal(world->frames[3].sp, STACK + 0x60);
	assert_int_equal(world->frames[3].fp, 3);
	assert_int_equal(world->frames[4].sp, STACK + 0x70);
	assert_int_equal(world->frames[4].fp, 3);
	/* At the leaf itself all registers are at hand. */
	start(world, PC(FUNCTION(BY_X0)), STACK, 1, 0);
	world->registers.value[0] = STACK + 0x90;
	put_record(world, STACK + 0x90, 4, call_in(OUTERMOST));
	result = walk(world, FRAMES);
	assert_int_equal(result.cause, UNWIND_ROOT);
	assert_int_equal(result.count, 2);
}

static void slow_rules_may_fail(void **state)
{
	struct world *world = *state;
	start(world, PC(FUNCTION(LEAF)), STACK, 1, call_in(BY_X0));
	world->registers.value[0] = STACK + 0x90;
	put_record(world, STACK + 0x90, 4, call_in(OUTERMOST));
	assert_int_equal(walk(world, FRAMES).cause, UNWIND_BAD_RULE);
	start(world, PC(FUNCTION(BY_X19)), STACK, 1, 0);
	world->registers.value[19] = 0x60;
	struct unwind_result result = walk(world, FRAMES);
	assert_int_equal(result.cause, UNWIND_UNREADABLE);
	assert_int_equal(result.unreadable, 0x68); /* the return address */
}

static void slow_rules_behind_signals(void **state)
{
	struct world *world = *state;
	/* The interrupted code's x19 is in the ucontext. */
	start(world, PC(FUNCTION(LEAF)), STACK, 0x77, call_in(BY_X19));
	world->registers.value[19] = STACK + 0x50;
	put_signal_frame(world, STACK + 0x800, &world->registers);
	put_record(world, STACK + 0x50, 3, call_in(OUTERMOST));
	start(world, PC(FUNCTION(LEAF)), STACK + 0x800, 0x99, PC(FUNCTION(SIGNAL)));
	world->registers.value[19] = 0xbad;
	struct unwind_result result = walk(world, FRAMES);
	assert_int_equal(result.cause, UNWIND_ROOT);
	assert_int_equal(result.count, 5);
	assert_int_equal(world->frames[4].sp, STACK + 0x60);
}

int main(void)
{
#define T(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
	const struct CMUnitTest tests[] = {
		T(reaches_the_root),
		T(signatures_are_taken_off),
		T(says_why_not),
		T(follows_frame_pointers),
		T(recognises_the_call),
		T(steps_out_of_signals),
		T(slow_rules_get_all_registers),
		T(slow_rules_may_fail),
		T(slow_rules_behind_signals),
	};
	return cmocka_run_group_tests_name("aarch64_walk", tests, NULL, NULL);
}
