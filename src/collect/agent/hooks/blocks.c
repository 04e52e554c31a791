/* The measurement `blocks`: executions of basic blocks. Calls are counted as arcs, if their hooks are compiled in as
 * well. */
#include "collect/agent/hooks/blocks.h"

enum { FIRST_BYTES = TALLY_GRANULE };

static uint64_t slots_of(const struct tally_blocks *table)
{
	return (table->chunk.bytes - sizeof(*table)) / sizeof(table->blocks[0]);
}

/* Returns the mask of the largest power of two that leaves slots behind it. */
static uint64_t mask_for(uint64_t slots)
{
	uint64_t size = 1;
	while (size * 2 < slots)
		size *= 2;
	return size - 1;
}

/* Makes the first table, or one of twice the size. Returns false if there is no memory; the thread has then stopped. */
static bool grow(struct hook_thread *thread, enum tally_hook hook)
{
	const struct tally_blocks *old = thread->blocks;
	struct tally_chunk *chunk = tally_chunk_new(old ? old->chunk.bytes * 2 : FIRST_BYTES, thread->number);
	if (!chunk) {
		hooks_stop_thread(thread);
		return false;
	}
	struct tally_blocks *table = (struct tally_blocks *)chunk;
	chunk->used = sizeof(*table) + slots_of(table) * sizeof(table->blocks[0]);
	tally_chunk_finish(chunk, TALLY_BLOCK_COUNTS);
	__atomic_or_fetch(&hooks.process->hooks, (uint32_t)hook, __ATOMIC_RELAXED);
	/* hooks/blocks.h states the reason for this order. */
	*(volatile uint64_t *)&thread->block_count = 0;
	*(struct tally_blocks *volatile *)&thread->blocks = table;
	*(volatile uint64_t *)&thread->block_mask = mask_for(slots_of(table));
	return true;
}

/* Returns the entry of a block, and makes it if there is room; or NULL if there is none. */
static struct tally_block *find(struct hook_thread *thread, uint64_t pc)
{
	uint64_t mask = *(volatile uint64_t *)&thread->block_mask;
	struct tally_blocks *table = *(struct tally_blocks *volatile *)&thread->blocks;
	if (!table)
		return NULL;
	struct tally_block *end = &table->blocks[slots_of(table)];
	for (struct tally_block *block = &table->blocks[hooks_block_slot(pc, mask)]; block < end; block++) {
		uint64_t found = 0;
		if (block->pc == 0 && thread->block_count > mask - mask / 4)
			return NULL;
		if (block->pc == 0)
			tally_register_code(pc);
		if (block->pc == 0 &&
		    __atomic_compare_exchange_n(&block->pc, &found, pc, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED))
			hooks_count(&thread->block_count);
		if (block->pc == pc)
			return block;
	}
	return NULL;
}

void hooks_block_count_slowly(struct hook_thread *thread, uint64_t pc, enum tally_hook hook)
{
	struct tally_block *block = find(thread, pc);
	while (!block && grow(thread, hook))
		block = find(thread, pc);
	if (block)
		hooks_count(&block->count);
}

void hooks_block_unmeasured(struct hook_thread *thread, uint64_t pc, enum tally_hook hook)
{
	bool is_first = thread == &hooks_none;
	thread->measurement->block(thread, pc);
	/* Lets reports state how the program was compiled. */
	if (is_first && hooks.process)
		__atomic_or_fetch(&hooks.process->hooks, (uint32_t)hook, __ATOMIC_RELAXED);
}

/* --- the vtable --- */

static void block(struct hook_thread *thread, uint64_t pc)
{
	if (!hooks_block_count(thread, pc))
		hooks_block_count_slowly(thread, pc, TALLY_HOOK_BLOCK);
}

static void entered(struct hook_thread *thread, uint64_t function, uint64_t call_site, uint64_t return_slot)
{
	hooks_arcs.entered(thread, function, call_site, return_slot);
}

static void enter(struct hook_thread *thread, uint64_t function, uint64_t call_site, uint64_t return_slot,
		  uint64_t code)
{
	hooks_arcs.enter(thread, function, call_site, return_slot, code);
}

static void leave(struct hook_thread *thread, uint64_t function, uint64_t call_site, uint64_t return_slot)
{
	hooks_arcs.leave(thread, function, call_site, return_slot);
}

static void tick(struct hook_thread *thread, uint32_t request, uint64_t hits, const void *context)
{
	hooks_arcs.tick(thread, request, hits, context);
}

static void rewind_to(struct hook_thread *thread, const struct hook_landing *landing)
{
	hooks_arcs.rewind(thread, landing);
}

static void flush(struct hook_thread *thread)
{
	hooks_arcs.flush(thread);
}

const struct hook_measurement hooks_blocks = {
	.name = "blocks",
	.entered = entered,
	.enter = enter,
	.leave = leave,
	.block = block,
	.tick = tick,
	.rewind = rewind_to,
	.flush = flush,
};
