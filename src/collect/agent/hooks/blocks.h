/*
 * Executions of basic blocks: one table per thread, in the tally (struct tally_blocks). The key of a block is the
 * return address of its hook. Blocks of one function are near each other in the table, as their code is:
 *
 *     slots[0 ... mask]      the first slot of a block, by hooks_block_slot
 *     slots[mask + 1 ...]    to the chunk's end: for blocks that find no free slot up to `mask`
 *
 * A handler may interrupt any of this and count blocks itself. So one instruction takes a slot (compare and
 * exchange; no lock, because only this thread uses the table), and one instruction raises a count. If a handler has
 * begun a larger table, a block that was found in the old one is counted there: the reader adds the two. The mask is
 * read before the table: an older, smaller mask fits a larger table.
 */
#ifndef COLLECT_AGENT_HOOKS_BLOCKS_H
#define COLLECT_AGENT_HOOKS_BLOCKS_H

#include "collect/agent/hooks/hooks.h"

/* Between two blocks lies at least a call, usually more code: 8 bytes of code make one slot. */
enum { HOOKS_BLOCK_BITS = 3 };

static inline uint64_t hooks_block_slot(uint64_t pc, uint64_t mask)
{
	enum { HIGH_BITS = 20 }; /* separates libraries whose addresses differ only in high bits */
	return ((pc >> HOOKS_BLOCK_BITS) ^ (pc >> HIGH_BITS)) & mask;
}

/* Counts a block that is in the first or second slot for its address. Returns false if it is not; then nothing was
 * counted. */
static inline __attribute__((always_inline)) bool hooks_block_count(struct hook_thread *thread, uint64_t pc)
{
	uint64_t mask = *(volatile uint64_t *)&thread->block_mask;
	struct tally_blocks *table = *(struct tally_blocks *volatile *)&thread->blocks;
	if (__builtin_expect(!table, 0))
		return false;
	struct tally_block *block = &table->blocks[hooks_block_slot(pc, mask)];
	if (__builtin_expect(block->pc == pc, 1)) {
		hooks_count(&block->count);
		return true;
	}
	if (block[1].pc != pc)
		return false;
	hooks_count(&block[1].count);
	return true;
}

/* Counts a block in any slot, or in a new one. `hook` is the kind of its hook. If there is no memory, the thread
 * stops counting. */
void hooks_block_count_slowly(struct hook_thread *thread, uint64_t pc, enum tally_hook hook);

/* Called by a block's hook when the thread does not measure blocks: it has no state yet, or measures something else. */
void hooks_block_unmeasured(struct hook_thread *thread, uint64_t pc, enum tally_hook hook);

#endif
