#include "cfi_world.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static int module_at(void *context, uint64_t pc, struct unwind_module *module)
{
	struct cfi_world *world = context;
	world->lookups++;
	if (pc < PC(TINY_BASE) || pc >= (world->end ? world->end : PC(TINY_BASE) + TINY_TEXT_BYTES))
		return -1;
	*module = (struct unwind_module){ .table = world->no_table ? NULL : world->table, .bias = BIAS, .id = 3 };
	return 0;
}

int cfi_world_read(void *context, uint64_t address, uint64_t *value)
{
	struct cfi_world *world = context;
	world->reads++;
	if (address >= STACK && address <= STACK + sizeof(world->stack) - sizeof(*value))
		memcpy(value, (const uint8_t *)world->stack + (address - STACK), sizeof(*value));
	else if (address >= PC(FUNCTION(0)) && address <= PC(FUNCTION(0)) + CODE_BYTES - sizeof(*value))
		memcpy(value, world->code + (address - PC(FUNCTION(0))), sizeof(*value));
	else
		return -1;
	return 0;
}

static bool joins(void *context, const struct unwind_frame *frame)
{
	const struct cfi_world *world = context;
	return frame->pc == world->join_at;
}

static uint64_t stack_start(void *context)
{
	const struct cfi_world *world = context;
	return world->stack_start;
}

static struct unwind_table *make_table(void)
{
	struct buffer section;
	buffer_init(&section);
	size_t cie = tiny_cie(&section, true, "z", BYTES(0x0c, 7, 8, 0x90, 1));
	tiny_fde(&section, true, cie, FUNCTION(LEAF), 0x100, BYTES(0));
	tiny_fde(&section, true, cie, FUNCTION(PUSHED), 0x100, BYTES(0x0e, 32, 0x86, 2));
	tiny_fde(&section, true, cie, FUNCTION(FRAMED), 0x100, BYTES(0x0c, 6, 16, 0x86, 2, 0x8c, 3));
	tiny_fde(&section, true, cie, FUNCTION(BY_R12), 0x100, BYTES(0x0c, 12, 8));
	tiny_fde(&section, true, cie, FUNCTION(SAVES_R12), 0x100, BYTES(0x0e, 32, 0x8c, 3));
	tiny_fde(&section, true, cie, FUNCTION(ODD), 0x100, BYTES(0x0e, 20));
	tiny_fde(&section, true, cie, FUNCTION(BY_RAX), 0x100, BYTES(0x0c, 0, 8));
	tiny_fde(&section, true, cie, FUNCTION(BY_R13), 0x100, BYTES(0x0c, 13, 8));
	tiny_fde(&section, true, cie, FUNCTION(FP_IN_R12), 0x100, BYTES(0x09, 6, 12));
	tiny_fde(&section, true, cie, FUNCTION(OUTERMOST), 0x100, BYTES(0x07, 16));
	size_t signal = tiny_cie(&section, true, "zS",
				 BYTES(0x0f, 4, 0x77, 0xa0, 1, 0x06, 0x10, 6, 3, 0x77, 0xf8, 0, 0x10, 16, 3, 0x77, 0xa8,
				       1, 0x10, 12, 3, 0x77, 0xc8, 0));
	tiny_fde(&section, true, signal, FUNCTION(SIGNAL) - 1, 0x101, BYTES(0));
	struct unwind_table *table = tiny_table(&section, NULL, true);
	buffer_release(&section);
	return table;
}

int cfi_world_set_up(void **state)
{
	struct cfi_world *world = calloc(1, sizeof(*world));
	assert_non_null(world);
	world->table = make_table();
	memcpy(world->code + 0x100 * SIGRETURN, "\x48\xc7\xc0\x0f\0\0\0\x0f\x05", 9);
	*state = world;
	return 0;
}

int cfi_world_tear_down(void **state)
{
	struct cfi_world *world = *state;
	unwind_table_free(world->table);
	free(world);
	return 0;
}

void cfi_world_start(struct cfi_world *world, uint64_t rip, uint64_t rsp, uint64_t rbp)
{
	world->registers.value[ARCH_PC_REGISTER] = rip;
	world->registers.value[ARCH_SP_REGISTER] = rsp;
	world->registers.value[ARCH_FP_REGISTER] = rbp;
}

struct unwind_result cfi_world_walk(struct cfi_world *world, size_t limit)
{
	struct unwind_source source = { .module_at = module_at,
					.read = cfi_world_read,
					.joins = joins,
					.stack_start = stack_start,
					.context = world };
	return unwind_walk(&source, &world->registers, world->frames, limit);
}

void cfi_world_put_ucontext(struct cfi_world *world, unsigned word, uint64_t rip, uint64_t rsp, uint64_t rbp,
			    uint64_t r12)
{
	world->stack[word + 72 / 8] = r12;
	world->stack[word + 120 / 8] = rbp;
	world->stack[word + 160 / 8] = rsp;
	world->stack[word + 168 / 8] = rip;
}
