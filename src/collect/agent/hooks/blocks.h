/*
 * Executions of basic blocks: a table per thread, in the tally (struct tally_blocks), by where the block's hook returns
 * to. Blocks of one function lie side by side in it, as their code does:
 *
 *     slots[0 ... mask]      where an entry belongs, by hooks_block_slot
 *     slots[mask + 1 ...]    to the chunk's end: where those go that find no place at the end of the first
 *
 * A handler may interrupt any of this and count blocks itself. So a slot is taken by one instruction (compare and
 * exchange, of this thread alone: no lock), a count is raised by one, and where a handler has begun a larger table,
 * what was looked up in the old one is counted there: both are added up. The mask is read before the table: an older,
 * smaller one fits a larger table.
 */
#ifndef COLLECT_AGENT_HOOKS_BLOCKS_H
#define COLLECT_AGENT_HOOKS_BLOCKS_H

#include "collect/agent/hooks/hooks.h"

/* Two blocks have at least a call between them, mostly more: so many bytes make one slot. */
enum { HOOKS_BLOCK_BITS = 3 };

static inline uint64_t hooks_block_slot(uint64_t pc, uint64_t mask)
{
	enum { HIGH_BITS = 20 }; /* of libraries that lie the same way, far apart */
	return ((pc >> HOOKS_BLOCK_BITS) ^ (pc >> HIGH_BITS)) & mask;
}

/* False: it is not where it is looked for first; nothing was counted. */
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

/* ... wherever it is, or else in a new entry. `hook`: of which kind it is. Where there is no memory, the thread
 * stops. */
void hooks_block_count_slowly(struct hook_thread *thread, uint64_t pc, enum tally_hook hook);

/* The thread does not measure blocks: not yet, or something else. */
void hooks_block_unmeasured(struct hook_thread *thread, uint64_t pc, enum tally_hook hook);

#endif
