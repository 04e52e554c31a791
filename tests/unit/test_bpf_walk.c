/* The walk that the kernel does (record/bpf/walk.h), replayed in user space over
 * stored registers, memory and rows: golden frames, and the same as unwind_walk's. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdlib.h>
#include <string.h>

#include "bpf_replay.h"

/* Where the kernel's return probes make functions return to. */
#define TRAMPOLINE UINT64_C(0x7fffffffe000)

/* Two modules with the same rows; each function has FUNCTION_BYTES. Of the second,
 * the map ends where its rows do not: behind GAP. */
enum { FUNCTION_BYTES = 0x100, STACK = 0x10000, STACK_WORDS = 2048, WORD = 8 };
enum { WINDOW_BYTES = BPF_WINDOW_WORDS * WORD };
#define BASE UINT64_C(0x1000)
#define FIRST UINT64_C(0x7f0000000000)
#define SECOND UINT64_C(0x7f0000100000)
#define NOWHERE UINT64_C(0x123456)

enum {
	LEAF,      /* CFA = rsp + 8 */
	PUSHED,    /* CFA = rsp + 32, rbp at CFA - 16 */
	FRAMED,    /* CFA = rbp + 16, rbp at CFA - 16 */
	REALIGNED, /* CFA = *(rbp - 8), rbp at rbp */
	LARGE,     /* CFA = rsp + 504: its return address is the window's last word, when rsp is its second */
	LARGER,    /* CFA = rsp + 512: ... the first one behind it */
	STUB,      /* PLT: CFA = rsp + 8, from byte 11 of 16 on rsp + 16 */
	OUTERMOST, /* end */
	SLOW,
	SIGNAL, /* ucontext at rsp; its row begins one byte before it */
	GAP,    /* no rule */
	ENTRY,  /* CFA = rsp + 8, behind a gap */
	FUNCTIONS
};

struct world {
	uint64_t stack[STACK_WORDS];
	struct unwind_table table;
	struct unwind_table empty;
	struct unwind_registers registers;
	struct replayed kernel;
	struct unwind_result user;
	struct unwind_frame frames[BPF_FRAMES];
	unsigned copies;                 /* that the kernel's walk made */
	uint64_t probed[2], returned[2]; /* slots, and what probes took away there */
	bool no_rows;                    /* in the second module */
};

static const struct unwind_row rows[] = {
	{ LEAF * FUNCTION_BYTES, 1, UNWIND_RSP, 0 },
	{ PUSHED * FUNCTION_BYTES, 4, UNWIND_RSP, -2 },
	{ FRAMED * FUNCTION_BYTES, 2, UNWIND_RBP, -2 },
	{ REALIGNED * FUNCTION_BYTES, -1, UNWIND_RBP_DEREF, 0 },
	{ LARGE * FUNCTION_BYTES, BPF_WINDOW_WORDS - 1, UNWIND_RSP, 0 },
	{ LARGER * FUNCTION_BYTES, BPF_WINDOW_WORDS, UNWIND_RSP, 0 },
	{ STUB * FUNCTION_BYTES, 1, UNWIND_PLT, 11 },
	{ OUTERMOST * FUNCTION_BYTES, 0, UNWIND_END, 0 },
	{ SLOW * FUNCTION_BYTES, 0, UNWIND_SLOW, 0 },
	{ SIGNAL * FUNCTION_BYTES - 1, 0, UNWIND_SIGNAL, 0 },
	{ GAP * FUNCTION_BYTES, 0, UNWIND_NO_RULE, 0 },
	{ ENTRY * FUNCTION_BYTES, 1, UNWIND_RSP, 0 },
	{ FUNCTIONS * FUNCTION_BYTES, 0, UNWIND_NO_RULE, 0 },
};
enum { ROWS = sizeof(rows) / sizeof(rows[0]) };

static uint64_t at(uint64_t module, unsigned function, unsigned offset)
{
	return module + BASE + (uint64_t)function * FUNCTION_BYTES + offset;
}

/* Where a call inside a function of the first module returns to. */
static uint64_t call_in(unsigned function)
{
	return at(FIRST, function, 0x20);
}

/* --- what both walks see --- */

static bool find_code(void *context, uint64_t pc, struct replay_code *code)
{
	struct world *world = context;
	uint64_t bias = pc >= SECOND ? SECOND : FIRST;
	*code = (struct replay_code){
		.start = bias + BASE,
		.end = at(bias, FUNCTIONS, bias == FIRST ? 0x80 : 0),
		.bias = bias,
		.table = bias == SECOND && world->no_rows ? &world->empty : &world->table,
	};
	return pc >= code->start && pc < code->end;
}

static int module_at(void *context, uint64_t pc, struct unwind_module *module)
{
	struct replay_code code;
	if (!find_code(context, pc, &code))
		return -1;
	*module = (struct unwind_module){ .table = code.table, .bias = code.bias };
	return 0;
}

static bool real_return(void *context, uint64_t slot, uint64_t *rip)
{
	const struct world *world = context;
	for (int i = 0; i < 2; i++)
		if (world->probed[i] == slot) {
			*rip = world->returned[i];
			return true;
		}
	return false;
}

static int copy(void *context, void *to, size_t bytes, uint64_t address)
{
	struct world *world = context;
	world->copies++;
	if (address < STACK || bytes > sizeof(world->stack) || address - STACK > sizeof(world->stack) - bytes)
		return -1;
	memcpy(to, (const uint8_t *)world->stack + (address - STACK), bytes);
	return 0;
}

static int read_word(void *context, uint64_t address, uint64_t *value)
{
	return copy(context, value, sizeof(*value), address);
}

static void walk_as_kernel(struct world *world)
{
	const struct replay replay = {
		.copy = copy,
		.find_code = find_code,
		.real_return = real_return,
		.context = world,
	};
	world->copies = 0;
	replay_walk(&replay, &world->registers, &world->kernel);
}

/* Walks in both ways, which must agree. */
static void walk(struct world *world, uint64_t rip, uint64_t rsp, uint64_t rbp)
{
	const struct unwind_source source = { .module_at = module_at, .read = read_word, .context = world };
	world->registers.value[UNWIND_RIP_REGISTER] = rip;
	world->registers.value[UNWIND_RSP_REGISTER] = rsp;
	world->registers.value[UNWIND_RBP_REGISTER] = rbp;
	world->user = unwind_walk(&source, &world->registers, world->frames, BPF_FRAMES);
	walk_as_kernel(world);
	const char *difference = replay_differs(&world->kernel, &world->user, world->frames);
	if (difference)
		fail_msg("%s: ends %d, unwind_walk's %d", difference, (int)world->kernel.end, (int)world->user.cause);
}

static void assert_frames(const struct world *world, enum bpf_walk_end end, const uint64_t *pcs, size_t count)
{
	assert_int_equal(world->kernel.end, end);
	assert_int_equal(world->kernel.count, count);
	for (size_t i = 0; i < count; i++)
		assert_int_equal(world->kernel.pcs[i], pcs[i]);
}

#define ASSERT_FRAMES(end, ...)                                      \
	assert_frames(world, end, (const uint64_t[]){ __VA_ARGS__ }, \
		      sizeof((const uint64_t[]){ __VA_ARGS__ }) / sizeof(uint64_t))

/* --- set-up --- */

static struct unwind_table make_table(void)
{
	enum { SHIFT = 8 };
	struct unwind_table table = {
		.base = BASE,
		.text_size = FUNCTIONS * FUNCTION_BYTES,
		.rows = (struct unwind_row *)rows,
		.row_count = ROWS,
		.page_count = FUNCTIONS + 1,
		.page_shift = SHIFT,
		.function_count = FUNCTIONS,
	};
	table.pages = calloc(table.page_count + 1, sizeof(*table.pages));
	table.functions = calloc(FUNCTIONS, sizeof(*table.functions));
	assert_true(table.pages && table.functions);
	for (uint32_t page = 0; page <= table.page_count; page++)
		for (uint32_t row = 0; row < ROWS && rows[row].pc <= page << SHIFT; row++)
			table.pages[page] = row;
	for (uint32_t i = 0; i < FUNCTIONS; i++) {
		table.functions[i].start = i * FUNCTION_BYTES - (i == SIGNAL);
		table.functions[i].size = i == GAP ? 1 : FUNCTION_BYTES - (i == SLOW) + (i == SIGNAL);
	}
	return table;
}

static int set_up(void **state)
{
	struct world *world = calloc(1, sizeof(*world));
	assert_non_null(world);
	world->table = make_table();
	world->empty.text_size = FUNCTIONS * FUNCTION_BYTES;
	*state = world;
	return 0;
}

static int tear_down(void **state)
{
	struct world *world = *state;
	free(world->table.pages);
	free(world->table.functions);
	free(world);
	return 0;
}

/* --- each kind of row --- */

static void steps_by_the_stack_pointer(void **state)
{
	struct world *world = *state;
	world->stack[0] = call_in(PUSHED); /* rsp 0x08, CFA 0x28 */
	world->stack[3] = 0x4444;          /* CFA - 16: its caller's rbp */
	world->stack[4] = at(SECOND, LEAF, 0x20);
	world->stack[5] = call_in(OUTERMOST);
	walk(world, call_in(LEAF), STACK, 1);
	ASSERT_FRAMES(BPF_WALK_ROOT, call_in(LEAF), call_in(PUSHED) - 1, at(SECOND, LEAF, 0x1f),
		      call_in(OUTERMOST) - 1);
	assert_int_equal(world->copies, 1); /* one window */
	/* A return address of 0 is the root as well. */
	world->stack[5] = 0;
	walk(world, call_in(LEAF), STACK, 1);
	ASSERT_FRAMES(BPF_WALK_ROOT, call_in(LEAF), call_in(PUSHED) - 1, at(SECOND, LEAF, 0x1f));
}

static void steps_by_the_frame_pointer(void **state)
{
	struct world *world = *state;
	world->stack[8] = STACK + 0x100; /* rbp of FRAMED's caller */
	world->stack[9] = call_in(PUSHED);
	world->stack[12] = STACK + 0x200; /* PUSHED: rsp 0x50, CFA 0x70, rbp at 0x60 */
	world->stack[13] = call_in(FRAMED);
	world->stack[64] = 0;
	world->stack[65] = call_in(OUTERMOST);
	walk(world, call_in(FRAMED), STACK, STACK + 0x40);
	ASSERT_FRAMES(BPF_WALK_ROOT, call_in(FRAMED), call_in(PUSHED) - 1, call_in(FRAMED) - 1, call_in(OUTERMOST) - 1);
}

static void steps_out_of_realigned_frames(void **state)
{
	struct world *world = *state;
	world->stack[7] = STACK + 0x80; /* rbp - 8: the CFA */
	world->stack[8] = STACK + 0x120;
	world->stack[15] = call_in(FRAMED);
	world->stack[36] = 0;
	world->stack[37] = call_in(OUTERMOST);
	walk(world, call_in(REALIGNED), STACK, STACK + 0x40);
	ASSERT_FRAMES(BPF_WALK_ROOT, call_in(REALIGNED), call_in(FRAMED) - 1, call_in(OUTERMOST) - 1);
	walk(world, call_in(REALIGNED), STACK, 0x40);
	ASSERT_FRAMES(BPF_WALK_UNREADABLE, call_in(REALIGNED));
}

static void steps_out_of_stubs(void **state)
{
	struct world *world = *state;
	world->stack[0] = call_in(OUTERMOST);
	world->stack[1] = call_in(LEAF);
	world->stack[2] = call_in(OUTERMOST);
	walk(world, at(FIRST, STUB, 0x10 + 10), STACK, 1);
	ASSERT_FRAMES(BPF_WALK_ROOT, at(FIRST, STUB, 0x1a), call_in(OUTERMOST) - 1);
	walk(world, at(FIRST, STUB, 0x10 + 11), STACK, 1);
	ASSERT_FRAMES(BPF_WALK_ROOT, at(FIRST, STUB, 0x1b), call_in(LEAF) - 1, call_in(OUTERMOST) - 1);
}

static void put_ucontext(struct world *world, unsigned word, uint64_t rip, uint64_t rsp, uint64_t rbp)
{
	world->stack[word + 120 / WORD] = rbp;
	world->stack[word + 160 / WORD] = rsp;
	world->stack[word + 168 / WORD] = rip;
}

static void steps_out_of_signals(void **state)
{
	struct world *world = *state;
	/* A handler on an alternate stack above the interrupted one. */
	world->stack[0x80] = at(FIRST, SIGNAL, 0);
	put_ucontext(world, 0x81, at(FIRST, FRAMED, 0), STACK, STACK + 0x40);
	world->stack[8] = 0;
	world->stack[9] = call_in(OUTERMOST);
	walk(world, call_in(LEAF), STACK + 0x400, 1);
	ASSERT_FRAMES(BPF_WALK_ROOT, call_in(LEAF), at(FIRST, SIGNAL, 0), at(FIRST, FRAMED, 0), call_in(OUTERMOST) - 1);
	/* One that returns to itself ends at the limit. */
	put_ucontext(world, 0x81, call_in(LEAF), STACK + 0x400, 1);
	walk(world, call_in(LEAF), STACK + 0x400, 1);
	assert_int_equal(world->kernel.end, BPF_WALK_DEPTH);
	assert_int_equal(world->kernel.count, BPF_FRAMES);
	put_ucontext(world, 0x81, 0, STACK, 1);
	walk(world, call_in(LEAF), STACK + 0x400, 1);
	ASSERT_FRAMES(BPF_WALK_ROOT, call_in(LEAF), at(FIRST, SIGNAL, 0));
	/* The stack ends within the context. */
	world->stack[STACK_WORDS - 20] = at(FIRST, SIGNAL, 0);
	walk(world, call_in(LEAF), STACK + (STACK_WORDS - 20) * WORD, 1);
	ASSERT_FRAMES(BPF_WALK_UNREADABLE, call_in(LEAF), at(FIRST, SIGNAL, 0));
}

static void knows_starts_that_nobody_called(void **state)
{
	struct world *world = *state;
	/* makecontext: it returns to the very start of a function, behind a gap. */
	world->stack[0] = at(FIRST, ENTRY, 0);
	world->stack[1] = 0;
	walk(world, call_in(LEAF), STACK, 1);
	ASSERT_FRAMES(BPF_WALK_ROOT, call_in(LEAF), at(FIRST, ENTRY, 0));
	/* Behind another function, it seems to be called in that. */
	world->stack[0] = at(FIRST, PUSHED, 0);
	walk(world, call_in(LEAF), STACK, 1);
	assert_int_equal(world->kernel.pcs[1], at(FIRST, PUSHED, 0) - 1);
}

static void sees_through_return_probes(void **state)
{
	struct world *world = *state;
	world->stack[0] = call_in(PUSHED); /* rsp 0x08, CFA 0x28 */
	world->stack[4] = call_in(LEAF);
	world->stack[5] = call_in(OUTERMOST);
	walk(world, call_in(LEAF), STACK, 1);
	const struct replayed plain = world->kernel;
	for (int i = 0; i < 2; i++) {
		world->probed[i] = STACK + (4U + (unsigned)i) * WORD;
		world->returned[i] = world->stack[4 + i];
		world->stack[4 + i] = TRAMPOLINE;
	}
	walk_as_kernel(world);
	assert_frames(world, BPF_WALK_ROOT, plain.pcs, plain.count);
	/* What was there before is unknown as well, or is no probe's. */
	world->returned[1] = NOWHERE;
	walk_as_kernel(world);
	assert_frames(world, BPF_WALK_NO_CODE, plain.pcs, plain.count - 1);
	world->probed[1] = 0;
	walk_as_kernel(world);
	assert_frames(world, BPF_WALK_NO_CODE, plain.pcs, plain.count - 1);
}

/* --- ends --- */

static void leaves_slow_rules_to_the_monitor(void **state)
{
	struct world *world = *state;
	world->stack[0] = call_in(SLOW);
	walk(world, call_in(LEAF), STACK, 1);
	ASSERT_FRAMES(BPF_WALK_SLOW, call_in(LEAF), call_in(SLOW) - 1);
}

static void ends_where_there_is_no_rule(void **state)
{
	struct world *world = *state;
	world->stack[0] = call_in(GAP);
	walk(world, call_in(LEAF), STACK, 1);
	ASSERT_FRAMES(BPF_WALK_NO_RULE, call_in(LEAF), call_in(GAP) - 1);
	walk(world, call_in(GAP), STACK, 0);
	ASSERT_FRAMES(BPF_WALK_NO_RULE, call_in(GAP));
	/* The deepest frame's mark, in a caller only. */
	walk(world, call_in(LEAF), STACK, 0);
	ASSERT_FRAMES(BPF_WALK_ROOT, call_in(LEAF), call_in(GAP) - 1);
	/* Behind the last rule. */
	world->stack[0] = at(FIRST, FUNCTIONS, 0x40);
	walk(world, call_in(LEAF), STACK, 1);
	ASSERT_FRAMES(BPF_WALK_NO_RULE, call_in(LEAF), at(FIRST, FUNCTIONS, 0x3f));
}

static void ends_in_unknown_code(void **state)
{
	struct world *world = *state;
	world->stack[0] = at(SECOND, LEAF, 0x20);
	world->stack[1] = NOWHERE;
	walk(world, call_in(LEAF), STACK, 1);
	ASSERT_FRAMES(BPF_WALK_NO_CODE, call_in(LEAF), at(SECOND, LEAF, 0x1f));
	world->no_rows = true;
	walk(world, call_in(LEAF), STACK, 1);
	ASSERT_FRAMES(BPF_WALK_NO_ROWS, call_in(LEAF));
	walk(world, NOWHERE, STACK, 1);
	assert_int_equal(world->kernel.end, BPF_WALK_NO_CODE);
	assert_int_equal(world->kernel.count, 0);
}

static void ends_where_memory_does(void **state)
{
	struct world *world = *state;
	walk(world, call_in(LEAF), STACK - WORD, 1);
	ASSERT_FRAMES(BPF_WALK_UNREADABLE, call_in(LEAF));
	uint64_t last = STACK + (STACK_WORDS - 1) * WORD;
	world->stack[STACK_WORDS - 1] = call_in(LEAF);
	walk(world, call_in(LEAF), last, 1);
	ASSERT_FRAMES(BPF_WALK_UNREADABLE, call_in(LEAF), call_in(LEAF) - 1);
	/* The return address can be read, rbp cannot, and the other way round. */
	walk(world, call_in(FRAMED), STACK, STACK - WORD);
	ASSERT_FRAMES(BPF_WALK_UNREADABLE, call_in(FRAMED));
	walk(world, call_in(FRAMED), STACK, last);
	ASSERT_FRAMES(BPF_WALK_UNREADABLE, call_in(FRAMED));
	/* At the ends of all addresses. */
	walk(world, call_in(LEAF), UINT64_MAX - 3, 1);
	ASSERT_FRAMES(BPF_WALK_UNREADABLE, call_in(LEAF));
	walk(world, call_in(FRAMED), STACK, UINT64_MAX - 7);
	ASSERT_FRAMES(BPF_WALK_UNREADABLE, call_in(FRAMED));
}

static void ends_where_the_stack_does_not_grow(void **state)
{
	struct world *world = *state;
	world->stack[2] = call_in(LEAF);
	walk(world, call_in(FRAMED), STACK + 0x80, STACK + 8);
	ASSERT_FRAMES(BPF_WALK_NO_PROGRESS, call_in(FRAMED));
	walk(world, call_in(FRAMED), STACK + 24, STACK + 8); /* nor stands still */
	ASSERT_FRAMES(BPF_WALK_NO_PROGRESS, call_in(FRAMED));
}

static void ends_at_its_limit(void **state)
{
	struct world *world = *state;
	/* The leaf, BPF_FRAMES - 2 callers, and the outermost one. */
	for (size_t i = 0; i < BPF_FRAMES; i++)
		world->stack[i] = call_in(LEAF);
	world->stack[BPF_FRAMES - 2] = call_in(OUTERMOST);
	walk(world, call_in(LEAF), STACK, 1);
	assert_int_equal(world->kernel.end, BPF_WALK_ROOT);
	assert_int_equal(world->kernel.count, BPF_FRAMES);
	assert_int_equal(world->kernel.pcs[BPF_FRAMES - 1], call_in(OUTERMOST) - 1);
	assert_in_range(world->copies, BPF_FRAMES / BPF_WINDOW_WORDS, BPF_FRAMES / BPF_WINDOW_WORDS + 1);
	/* One more. */
	world->stack[BPF_FRAMES - 2] = call_in(LEAF);
	world->stack[BPF_FRAMES - 1] = call_in(OUTERMOST);
	walk(world, call_in(LEAF), STACK, 1);
	assert_int_equal(world->kernel.end, BPF_WALK_DEPTH);
	assert_int_equal(world->kernel.count, BPF_FRAMES);
	for (size_t i = 1; i < BPF_FRAMES; i++)
		assert_int_equal(world->kernel.pcs[i], call_in(LEAF) - 1);
}

/* --- the window --- */

static void reads_up_to_the_windows_end(void **state)
{
	struct world *world = *state;
	world->stack[0] = call_in(LARGE);
	world->stack[BPF_WINDOW_WORDS - 1] = call_in(OUTERMOST);
	walk(world, call_in(LEAF), STACK, 1);
	ASSERT_FRAMES(BPF_WALK_ROOT, call_in(LEAF), call_in(LARGE) - 1, call_in(OUTERMOST) - 1);
	assert_int_equal(world->copies, 1);
	world->stack[0] = call_in(LARGER);
	world->stack[BPF_WINDOW_WORDS] = call_in(PUSHED);
	world->stack[BPF_WINDOW_WORDS + 4] = call_in(OUTERMOST);
	walk(world, call_in(LEAF), STACK, 1);
	ASSERT_FRAMES(BPF_WALK_ROOT, call_in(LEAF), call_in(LARGER) - 1, call_in(PUSHED) - 1, call_in(OUTERMOST) - 1);
	assert_int_equal(world->copies, 2);
	/* Below it, as where an alternate stack is left. */
	world->stack[0x80] = at(FIRST, SIGNAL, 0);
	put_ucontext(world, 0x81, call_in(LEAF), STACK + 0x300, 1);
	world->stack[0x60] = call_in(OUTERMOST);
	walk(world, call_in(LEAF), STACK + 0x400, 1);
	ASSERT_FRAMES(BPF_WALK_ROOT, call_in(LEAF), at(FIRST, SIGNAL, 0), call_in(LEAF), call_in(OUTERMOST) - 1);
	assert_int_equal(world->copies, 2);
}

static void reads_near_the_stacks_end(void **state)
{
	struct world *world = *state;
	for (unsigned words = 1; words <= BPF_WINDOW_WORDS + 2; words++) {
		unsigned first = STACK_WORDS - words;
		for (unsigned i = first; i < STACK_WORDS; i++)
			world->stack[i] = call_in(LEAF);
		world->stack[STACK_WORDS - 1] = call_in(OUTERMOST);
		walk(world, call_in(LEAF), STACK + first * WORD, 1);
		assert_int_equal(world->kernel.end, BPF_WALK_ROOT);
		assert_int_equal(world->kernel.count, words + 1);
	}
	/* What a failed copy leaves behind is not the window. */
	unsigned first = STACK_WORDS - BPF_WINDOW_WORDS - 2;
	world->stack[first] = call_in(LARGER);
	world->stack[first + 4] = STACK + (STACK_WORDS - 1) * WORD; /* rbp - 8 */
	world->stack[first + BPF_WINDOW_WORDS] = call_in(REALIGNED);
	walk(world, call_in(LEAF), STACK + first * WORD, STACK + (first + 5) * WORD);
	ASSERT_FRAMES(BPF_WALK_NO_PROGRESS, call_in(LEAF), call_in(LARGER) - 1, call_in(REALIGNED) - 1);
	world->stack[first + 4] = STACK + STACK_WORDS * WORD;
	walk(world, call_in(LEAF), STACK + first * WORD, STACK + (first + 5) * WORD);
	ASSERT_FRAMES(BPF_WALK_ROOT, call_in(LEAF), call_in(LARGER) - 1, call_in(REALIGNED) - 1,
		      call_in(OUTERMOST) - 1);
}

static void reads_unaligned_stacks(void **state)
{
	struct world *world = *state;
	for (unsigned shift = 1; shift < WORD; shift++) {
		uint64_t words[] = { call_in(LEAF), call_in(PUSHED), 0, 0, 0, call_in(OUTERMOST) };
		memcpy((uint8_t *)world->stack + shift, words, sizeof(words));
		walk(world, call_in(LEAF), STACK + shift, 1);
		ASSERT_FRAMES(BPF_WALK_ROOT, call_in(LEAF), call_in(LEAF) - 1, call_in(PUSHED) - 1,
			      call_in(OUTERMOST) - 1);
	}
	/* From one alignment to another within the same window. */
	uint64_t outermost = call_in(OUTERMOST);
	world->stack[0] = call_in(FRAMED);
	world->stack[2] = 0;
	memcpy((uint8_t *)world->stack + 0x2b, &outermost, WORD);
	walk(world, call_in(LEAF), STACK, STACK + 0x23);
	ASSERT_FRAMES(BPF_WALK_ROOT, call_in(LEAF), call_in(FRAMED) - 1, call_in(OUTERMOST) - 1);
}

/* --- any stack --- */

static uint64_t seed;

static uint64_t draw(uint64_t below)
{
	seed ^= seed << 13;
	seed ^= seed >> 7;
	seed ^= seed << 17;
	return (seed >> 11) % below;
}

/* Mostly a place in code, mostly in LEAF or PUSHED; else on the stack, or 0, or any. */
static uint64_t draw_word(void)
{
	uint64_t kind = draw(32);
	if (kind < 26)
		return at(draw(4) ? FIRST : SECOND, (unsigned)draw(kind < 22 ? FRAMED : FUNCTIONS + 1),
			  (unsigned)draw(FUNCTION_BYTES));
	if (kind < 29)
		return STACK + draw(STACK_WORDS) * WORD;
	return kind < 30 ? STACK + draw(STACK_WORDS * WORD) : kind < 31 ? 0 : draw(UINT64_MAX);
}

static void agrees_with_unwind_walk(void **state)
{
	enum { STACKS = 30000, WORDS = 160 };
	struct world *world = *state;
	unsigned ends[BPF_WALK_END_COUNT] = { 0 };
	size_t frames = 0;
	for (unsigned i = 1; i <= STACKS; i++) {
		seed = i * UINT64_C(0x9e3779b97f4a7c15);
		for (unsigned word = STACK_WORDS - WORDS; word < STACK_WORDS; word++)
			world->stack[word] = draw_word();
		world->no_rows = draw(8) == 0;
		uint64_t rsp = STACK + (STACK_WORDS - 1 - draw(WORDS)) * WORD;
		walk(world, draw_word(), rsp, draw(2) ? draw_word() : rsp + draw(20) * WORD);
		ends[world->kernel.end]++;
		frames += world->kernel.count;
	}
	static const enum bpf_walk_end often[] = { BPF_WALK_ROOT,       BPF_WALK_NO_CODE, BPF_WALK_NO_ROWS,
						   BPF_WALK_NO_RULE,    BPF_WALK_SLOW,    BPF_WALK_UNREADABLE,
						   BPF_WALK_NO_PROGRESS };
	for (size_t i = 0; i < sizeof(often) / sizeof(often[0]); i++)
		assert_true(ends[often[i]] > STACKS / 1000);
	assert_true(frames > STACKS * 2);
}

int main(void)
{
#define T(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
	const struct CMUnitTest tests[] = {
		T(steps_by_the_stack_pointer),
		T(steps_by_the_frame_pointer),
		T(steps_out_of_realigned_frames),
		T(steps_out_of_stubs),
		T(steps_out_of_signals),
		T(knows_starts_that_nobody_called),
		T(sees_through_return_probes),
		T(leaves_slow_rules_to_the_monitor),
		T(ends_where_there_is_no_rule),
		T(ends_in_unknown_code),
		T(ends_where_memory_does),
		T(ends_where_the_stack_does_not_grow),
		T(ends_at_its_limit),
		T(reads_up_to_the_windows_end),
		T(reads_near_the_stacks_end),
		T(reads_unaligned_stacks),
		T(agrees_with_unwind_walk),
	};
	return cmocka_run_group_tests_name("bpf_walk", tests, NULL, NULL);
}
