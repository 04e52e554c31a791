/* The rows of compiled Lisp (processor/lisp_row.h), for each state of a call. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <string.h>

#include "arch/arch.h"

/*
 *   CODE + 0x000   caller: the calls of the cases end at CALLER
 *   CODE + 0x100   callee, which begins with pop 8(%rbp); a case's instructions are at its `at`
 *   CODE + 0x180   a routine in assembler; SLOT has its address
 *
 *   INNER          the callee's frame: OUTER, and a return address if the callee has taken it
 *   OUTER          the caller's frame: OUTERMOST, and its return address
 */
enum {
	CODE = 0x10000,
	CODE_BYTES = 0x200,
	CALLER = CODE + 0x40,
	CALLEE = CODE + 0x100,
	ROUTINE = CODE + 0x180,
	SLOT = 0x50000460,
	STACK = 0x20000,
	STACK_WORDS = 64,
	INNER = STACK + 0x80,
	OUTER = STACK + 0x100,
	OUTERMOST = STACK + 0x180,
	RETURN_OF_CALLER = 0x7777,
	STALE = 0x8888,
};

struct world {
	uint8_t code[CODE_BYTES];
	uint64_t stack[STACK_WORDS];
	uint64_t unreadable; /* this word is not */
};

static int read_word(void *context, uint64_t address, uint64_t *value)
{
	struct world *world = context;
	if (address == world->unreadable)
		return -1;
	if (address == SLOT)
		*value = ROUTINE;
	else if (address >= CODE && address <= CODE + CODE_BYTES - sizeof(*value))
		memcpy(value, world->code + (address - CODE), sizeof(*value));
	else if (address >= STACK && address <= STACK + sizeof(world->stack) - sizeof(*value))
		memcpy(value, (const uint8_t *)world->stack + (address - STACK), sizeof(*value));
	else
		return -1;
	return 0;
}

static void put(struct world *world, uint64_t address, uint64_t value)
{
	memcpy((uint8_t *)world->stack + (address - STACK), &value, sizeof(value));
}

static void prepare(struct world *world, const uint8_t *call, size_t call_size)
{
	static const uint8_t entry[] = { 0x8f, 0x45, 0x08 }, routine[] = { 0x89, 0xd1 };
	*world = (struct world){ 0 };
	memset(world->code, 0x90, sizeof(world->code));
	memcpy(world->code + (CALLER - CODE) - call_size, call, call_size);
	memcpy(world->code + (CALLEE - CODE), entry, sizeof(entry));
	memcpy(world->code + (ROUTINE - CODE), routine, sizeof(routine));
	put(world, INNER, OUTER);
	put(world, INNER + 8, STALE);
	put(world, OUTER, OUTERMOST);
	put(world, OUTER + 8, RETURN_OF_CALLER);
}

/* Steps from a frame, and once more from its caller if that is the caller of the cases. */
static void check(struct world *world, enum unwind_from from, struct arch_frame frame, uint64_t first, uint64_t second)
{
	const struct arch_memory memory = { .read = read_word, .context = world };
	struct unwind_row row;
	uint64_t unreadable = 0;
	assert_true(arch_lisp_row(&memory, from, &frame, &row, &unreadable));
	assert_true(arch_step(&row, &memory, &frame, &unreadable));
	assert_int_equal(frame.pc, first);
	if (!second)
		return;
	assert_true(arch_lisp_row(&memory, UNWIND_FROM_LISP, &frame, &row, &unreadable));
	assert_true(arch_step(&row, &memory, &frame, &unreadable));
	assert_int_equal(frame.pc, second);
	assert_int_equal(frame.fp, OUTERMOST);
	assert_int_equal(frame.sp, OUTER + 16);
}

/* mov %rsp,%rbp; call CALLEE */
static const uint8_t direct[] = { 0x48, 0x8b, 0xec, 0xe8, CALLEE - CALLER, 0, 0, 0 };
/* mov %r8,%rbp; mov $STUB,%eax; call *%rax, where STUB is CALLEE */
static const uint8_t by_stub[] = { 0x49, 0x8b, 0xe8, 0xb8, 0, 0x01, 0x01, 0, 0xff, 0xd0 };
/* call *SLOT */
static const uint8_t by_slot[] = { 0xff, 0x14, 0x25, 0x60, 0x04, 0x00, 0x50 };

static void normal_frames(void **state)
{
	(void)state;
	struct world world;
	prepare(&world, direct, sizeof(direct));
	put(&world, INNER + 8, CALLER);
	check(&world, UNWIND_FROM_NONE, (struct arch_frame){ .pc = CALLEE + 0x20, .sp = INNER - 16, .fp = INNER },
	      CALLER, RETURN_OF_CALLER);
	check(&world, UNWIND_FROM_LISP, (struct arch_frame){ .pc = CALLEE + 0x20, .sp = INNER - 16, .fp = INNER },
	      CALLER, RETURN_OF_CALLER);
	check(&world, UNWIND_FROM_OTHER, (struct arch_frame){ .pc = CALLEE + 0x20, .sp = INNER - 16, .fp = INNER },
	      CALLER, RETURN_OF_CALLER);
}

static void states_of_a_call(void **state)
{
	(void)state;
	struct world world;
	/* Prepared: rbp is the callee's, whose return address is an old word. The caller is the leaf. */
	prepare(&world, direct, sizeof(direct));
	check(&world, UNWIND_FROM_NONE, (struct arch_frame){ .pc = CALLER - 5, .sp = INNER, .fp = INNER },
	      RETURN_OF_CALLER, 0);
	prepare(&world, by_stub, sizeof(by_stub));
	check(&world, UNWIND_FROM_NONE, (struct arch_frame){ .pc = CALLER - 7, .sp = INNER, .fp = INNER },
	      RETURN_OF_CALLER, 0);
	check(&world, UNWIND_FROM_NONE, (struct arch_frame){ .pc = CALLER - 2, .sp = INNER, .fp = INNER },
	      RETURN_OF_CALLER, 0);
	/* Entered: the return address is at rsp. Also in a stub, which has other instructions. */
	prepare(&world, direct, sizeof(direct));
	put(&world, INNER - 8, CALLER);
	check(&world, UNWIND_FROM_NONE, (struct arch_frame){ .pc = CALLEE, .sp = INNER - 8, .fp = INNER }, CALLER,
	      RETURN_OF_CALLER);
	static const uint8_t jump[] = { 0xff, 0x25, 0x10 };
	prepare(&world, by_stub, sizeof(by_stub));
	memcpy(world.code + (CALLEE - CODE), jump, sizeof(jump));
	put(&world, INNER - 8, CALLER);
	check(&world, UNWIND_FROM_NONE, (struct arch_frame){ .pc = CALLEE, .sp = INNER - 8, .fp = INNER }, CALLER,
	      RETURN_OF_CALLER);
	/* Left: rbp is the caller's. */
	static const uint8_t leave[] = { 0x48, 0x8b, 0xe5, 0xf8, 0x5d, 0xc3 };
	prepare(&world, direct, sizeof(direct));
	memcpy(world.code + (CALLEE - CODE) + 0x20, leave, sizeof(leave));
	put(&world, INNER + 8, CALLER);
	check(&world, UNWIND_FROM_NONE, (struct arch_frame){ .pc = CALLEE + 0x23, .sp = INNER, .fp = INNER }, CALLER,
	      RETURN_OF_CALLER);
	check(&world, UNWIND_FROM_NONE, (struct arch_frame){ .pc = CALLEE + 0x24, .sp = INNER, .fp = INNER }, CALLER,
	      RETURN_OF_CALLER);
	check(&world, UNWIND_FROM_NONE, (struct arch_frame){ .pc = CALLEE + 0x25, .sp = INNER + 8, .fp = OUTER },
	      CALLER, RETURN_OF_CALLER);
}

/* A routine in assembler has no frame; one that calls others makes the usual one. */
static void routines(void **state)
{
	(void)state;
	struct world world;
	prepare(&world, by_slot, sizeof(by_slot));
	put(&world, INNER - 8, CALLER);
	const struct arch_frame within = { .pc = ROUTINE + 4, .sp = INNER - 8, .fp = OUTER };
	check(&world, UNWIND_FROM_NONE, within, CALLER, RETURN_OF_CALLER);
	/* The same word at rsp means nothing in other code. */
	put(&world, OUTER + 8, RETURN_OF_CALLER);
	check(&world, UNWIND_FROM_NONE, (struct arch_frame){ .pc = CODE + 16, .sp = INNER - 8, .fp = OUTER },
	      RETURN_OF_CALLER, 0);
	static const uint8_t frame[] = { 0x55, 0x48, 0x89, 0xe5, 0x90 };
	memcpy(world.code + (ROUTINE - CODE), frame, sizeof(frame));
	check(&world, UNWIND_FROM_NONE, (struct arch_frame){ .pc = ROUTINE, .sp = INNER - 8, .fp = OUTER }, CALLER,
	      RETURN_OF_CALLER);
	put(&world, INNER - 16, OUTER);
	check(&world, UNWIND_FROM_NONE, (struct arch_frame){ .pc = ROUTINE + 1, .sp = INNER - 16, .fp = OUTER }, CALLER,
	      RETURN_OF_CALLER);
	check(&world, UNWIND_FROM_NONE, (struct arch_frame){ .pc = ROUTINE + 4, .sp = INNER - 16, .fp = INNER - 16 },
	      CALLER, RETURN_OF_CALLER);
}

/* C code calls Lisp by a wrapper that keeps 32 bytes of arguments above the rbp of C. */
static void wrappers_of_callbacks(void **state)
{
	(void)state;
	struct world world;
	static const uint8_t end[] = { 0x48, 0x8b, 0xe5, 0x5d, 0x48, 0x8b, 0x04, 0x24, 0x48, 0x83, 0xc4, 0x20, 0xc3 };
	prepare(&world, by_slot, sizeof(by_slot));
	memcpy(world.code + (CALLER - CODE), end, sizeof(end));
	put(&world, INNER, OUTER);
	put(&world, INNER + 40, RETURN_OF_CALLER);
	check(&world, UNWIND_FROM_OTHER, (struct arch_frame){ .pc = CALLER, .sp = INNER, .fp = INNER },
	      RETURN_OF_CALLER, 0);
	/* Lisp calls no wrapper. */
	check(&world, UNWIND_FROM_LISP, (struct arch_frame){ .pc = CALLER, .sp = INNER, .fp = INNER }, STALE, 0);
}

static void unreadable_memory(void **state)
{
	(void)state;
	struct world world;
	const struct arch_memory memory = { .read = read_word, .context = &world };
	const uint64_t words[] = { CALLEE - 8, CALLEE, INNER };
	prepare(&world, direct, sizeof(direct));
	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
		struct arch_frame frame = { .pc = CALLEE, .sp = INNER - 8, .fp = INNER };
		struct unwind_row row;
		uint64_t unreadable = 0;
		world.unreadable = words[i];
		assert_false(arch_lisp_row(&memory, UNWIND_FROM_NONE, &frame, &row, &unreadable));
		assert_int_equal(unreadable, words[i]);
	}
}

static void calls_of_the_runtime(void **state)
{
	(void)state;
	/* push %rbp; push %rbp; mov %rsp,%rbp; lea cards,%r12; mov (%r12),%r12; call *-3(%rax) */
	static const uint8_t code[] = { 0x90, 0x55, 0x55, 0x48, 0x89, 0xe5, 0x4c, 0x8d, 0x25, 0xfe, 0x43, 0x01, 0x00,
					0x4d, 0x8b, 0x24, 0x24, 0xff, 0x50, 0xfd, 0x73, 0x03, 0x90, 0x90, 0x90, 0x90 };
	struct unwind_row row = { 0 };
	size_t at = 0, end = 0;
	assert_true(arch_next_lisp_call(code, sizeof(code), &at, &end, &row));
	assert_int_equal(at, 17);
	assert_int_equal(end, 20);
	assert_int_equal(row.kind, UNWIND_FP);
	assert_int_equal(row.cfa, 2);
	assert_int_equal(row.fp, -2);
	at = end;
	assert_false(arch_next_lisp_call(code, sizeof(code), &at, &end, &row));
	at = 0;
	assert_false(arch_next_lisp_call(code, 19, &at, &end, &row)); /* cut off */
	at = 2;
	assert_false(arch_next_lisp_call(code, sizeof(code), &at, &end, &row));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(normal_frames),     cmocka_unit_test(states_of_a_call),
		cmocka_unit_test(routines),          cmocka_unit_test(wrappers_of_callbacks),
		cmocka_unit_test(unreadable_memory), cmocka_unit_test(calls_of_the_runtime),
	};
	return cmocka_run_group_tests_name("x86_64_lisp", tests, NULL, NULL);
}
