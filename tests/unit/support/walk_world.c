#include "walk_world.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static const struct unwind_row rows[] = {
	{ LEAF * FUNCTION_BYTES, 1, UNWIND_SP, 0 },
	{ PUSHED * FUNCTION_BYTES, 4, UNWIND_SP, -2 },
	{ FRAMED * FUNCTION_BYTES, 2, UNWIND_FP, -2 },
	{ REALIGNED * FUNCTION_BYTES, -1, UNWIND_FP_DEREF, 0 },
	{ LARGE * FUNCTION_BYTES, WALK_WINDOW_WORDS - 1, UNWIND_SP, 0 },
	{ LARGER * FUNCTION_BYTES, WALK_WINDOW_WORDS, UNWIND_SP, 0 },
	{ STUB * FUNCTION_BYTES, 1, UNWIND_PLT, 11 },
	{ OUTERMOST * FUNCTION_BYTES, 0, UNWIND_END, 0 },
	{ SLOW * FUNCTION_BYTES, 0, UNWIND_SLOW, 0 },
	{ SIGNAL * FUNCTION_BYTES - 1, 0, UNWIND_SIGNAL, 0 },
	{ GAP * FUNCTION_BYTES, 0, UNWIND_NO_RULE, 0 },
	{ ENTRY * FUNCTION_BYTES, 1, UNWIND_SP, 0 },
	{ FUNCTIONS * FUNCTION_BYTES, 0, UNWIND_NO_RULE, 0 },
};
enum { ROWS = sizeof(rows) / sizeof(rows[0]) };

/* --- the input of both walks --- */

static bool find_code(void *context, uint64_t pc, struct replay_code *code)
{
	struct walk_world *world = context;
	uint64_t bias = pc >= SECOND ? SECOND : FIRST;
	if (pc >= GENERATED && pc < GENERATED + GENERATED_BYTES) {
		*code = (struct replay_code){ .start = GENERATED,
					      .end = GENERATED + GENERATED_BYTES,
					      .table = &unwind_table_generated };
		return true;
	}
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
	bool is_generated = code.table == &unwind_table_generated;
	*module = (struct unwind_module){ .table = is_generated ? NULL : code.table,
					  .bias = code.bias,
					  .is_generated = is_generated };
	return 0;
}

static bool real_return(void *context, uint64_t slot, uint64_t *rip)
{
	const struct walk_world *world = context;
	for (int i = 0; i < 2; i++)
		if (world->probed[i] == slot) {
			*rip = world->returned[i];
			return true;
		}
	return false;
}

static bool is_within(uint64_t start, size_t size, uint64_t address, size_t bytes)
{
	return address >= start && bytes <= size && address - start <= size - bytes;
}

static int copy(void *context, void *to, size_t bytes, uint64_t address)
{
	struct walk_world *world = context;
	world->copies++;
	if (is_within(STACK, sizeof(world->stack), address, bytes))
		memcpy(to, (const uint8_t *)world->stack + (address - STACK), bytes);
	else if (is_within(FIRST + BASE, sizeof(world->code), address, bytes))
		memcpy(to, world->code + (address - FIRST - BASE), bytes);
	else if (is_within(GENERATED, sizeof(world->generated), address, bytes))
		memcpy(to, world->generated + (address - GENERATED), bytes);
	else
		return -1;
	return 0;
}

static int read_word(void *context, uint64_t address, uint64_t *value)
{
	return copy(context, value, sizeof(*value), address);
}

void walk_world_walk_as_kernel(struct walk_world *world)
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

void walk_world_walk_as_user(struct walk_world *world, uint64_t rip, uint64_t rsp, uint64_t rbp)
{
	const struct unwind_source source = { .module_at = module_at, .read = read_word, .context = world };
	world->registers.value[ARCH_PC_REGISTER] = rip;
	world->registers.value[ARCH_SP_REGISTER] = rsp;
	world->registers.value[ARCH_FP_REGISTER] = rbp;
	world->user = unwind_walk(&source, &world->registers, world->frames, WALK_FRAMES);
}

void walk_world_walk(struct walk_world *world, uint64_t rip, uint64_t rsp, uint64_t rbp)
{
	walk_world_walk_as_user(world, rip, rsp, rbp);
	walk_world_walk_as_kernel(world);
	const char *difference = replay_differs(&world->kernel, &world->user, world->frames);
	if (difference)
		fail_msg("%s: ends %d, unwind_walk's %d", difference, (int)world->kernel.end, (int)world->user.cause);
}

void walk_world_assert_frames(const struct walk_world *world, enum walk_end end, const uint64_t *pcs, size_t count)
{
	assert_int_equal(world->kernel.end, end);
	assert_int_equal(world->kernel.count, count);
	for (size_t i = 0; i < count; i++)
		assert_int_equal(world->kernel.pcs[i], pcs[i]);
}

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

int walk_world_set_up(void **state)
{
	struct walk_world *world = calloc(1, sizeof(*world));
	assert_non_null(world);
	world->table = make_table();
	world->empty.text_size = FUNCTIONS * FUNCTION_BYTES;
	*state = world;
	return 0;
}

int walk_world_tear_down(void **state)
{
	struct walk_world *world = *state;
	free(world->table.pages);
	free(world->table.functions);
	free(world);
	return 0;
}
