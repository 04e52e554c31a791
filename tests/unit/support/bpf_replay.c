#include "bpf_replay.h"

#include <string.h>

#include "collect/shared/row_walk.h"

/* --- the functions that row_walk.h calls --- */

static const struct replay *replay;

/* Fills with zeros where memory cannot be read, as the kernel's helper does. */
static inline int walk_copy(void *to, uint32_t bytes, uint64_t address)
{
	int result = replay->copy(replay->context, to, bytes, address);
	if (result < 0)
		memset(to, 0, bytes);
	return result;
}

static inline bool walk_find_code(struct walk *walk, uint64_t pc)
{
	struct replay_code code;
	if (!replay->find_code(replay->context, pc, &code))
		return false;
	const struct unwind_table *table = code.table && code.table->row_count ? code.table : NULL;
	walk->code = (struct walk_code){
		.start = code.start,
		.end = code.end,
		.base = code.bias + (table ? table->base : 0),
		.row_count = table ? table->row_count : 0,
	};
	return true;
}

static inline bool walk_find_row(const struct walk *walk, uint32_t pc, struct unwind_row *row)
{
	struct replay_code code;
	if (!replay->find_code(replay->context, walk->code.start, &code))
		return false;
	const struct unwind_row *found = code.table == &unwind_table_generated
						 ? &unwind_row_generated
						 : unwind_table_row(code.table, code.table->base + pc);
	if (found)
		*row = *found;
	return found;
}

static inline bool walk_real_return(uint64_t slot, uint64_t *rip)
{
	return replay->real_return && replay->real_return(replay->context, slot, rip);
}

static inline uint64_t walk_stack_start(void)
{
	return replay->stack_start;
}

/* Stored stacks have no threads. */
static inline uint64_t walk_thread_pointer(void)
{
	return 0;
}

/* --- the replay --- */

void replay_walk(const struct replay *stored, const struct arch_registers *registers, struct replayed *replayed)
{
	static struct walk walk;
	/* The walk must set every field that it reads. */
	memset(&walk, 0x5a, sizeof(walk));
	replay = stored;
	walk.now = arch_frame_of(registers);
	walk.window_words = 0;
	walk.is_caller = 0;
	walk.left_stack = WALK_LEFT_NONE;
	walk.is_generated = 0;
	walk.count = 0;
	walk.code.start = walk.code.end = 0;
	uint32_t end = WALK_END_COUNT;
	for (uint32_t i = 0; i < WALK_FRAMES && end == WALK_END_COUNT; i++)
		end = walk_step(&walk, i);
	replayed->end = end == WALK_END_COUNT ? WALK_DEPTH : (enum walk_end)end;
	replayed->count = walk.count;
	replayed->is_generated = walk.is_generated;
	memcpy(replayed->pcs, walk.frames, walk.count * sizeof(walk.frames[0]));
}

/* Whether the kernel's walk and unwind_walk ended for the same reason. Only for ends after which the monitor does
 * not walk again. */
static bool is_same_end(const struct replayed *replayed, enum unwind_cause cause)
{
	switch (replayed->end) {
	case WALK_ROOT:
		return cause == (replayed->is_generated ? UNWIND_ROOT_NAMELESS : UNWIND_ROOT);
	case WALK_UNREADABLE:
		return cause == UNWIND_UNREADABLE;
	case WALK_NO_PROGRESS:
		return cause == UNWIND_NO_PROGRESS;
	case WALK_DEPTH:
		return cause == UNWIND_DEPTH;
	default:
		return false;
	}
}

const char *replay_differs(const struct replayed *replayed, const struct unwind_result *result,
			   const struct unwind_frame *frames)
{
	/* The kernel does not store a frame in code without a table; unwind_walk does. */
	bool lacks_code = replayed->end == WALK_NO_CODE || replayed->end == WALK_NO_ROWS;
	bool goes_on = lacks_code || replayed->end == WALK_NO_RULE || replayed->end == WALK_SLOW ||
		       replayed->end == WALK_NO_FRAME || replayed->end == WALK_NO_CALLER;
	if (result->count < replayed->count + lacks_code)
		return "it has too many frames";
	for (size_t i = 0; i < replayed->count; i++)
		if (replayed->pcs[i] != frames[i].pc)
			return "a frame differs";
	if (goes_on)
		return NULL; /* the monitor walks this stack again with unwind_walk */
	if (result->count != replayed->count)
		return "it has too few frames";
	return is_same_end(replayed, result->cause) ? NULL : "it ends otherwise";
}
