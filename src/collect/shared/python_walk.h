/*
 * The walk of CPython's frames, where a sample is taken: in the kernel, or in the target. The includer provides
 * interpreter_copy. docs/languages.md describes the structures.
 *
 *   _PyRuntime -> interpreters -> threads                            found once for a thread
 *   thread -> [cframe (on the stack) ->] current frame -> previous ... each sample
 *
 * Each call of the function that interprets has a structure in its native frame, and interprets one run of frames. In 3.11
 * the structure is a cframe, and the run's last frame is marked as its entry. Since 3.12 it is a frame that C owns, which
 * stands for no function and follows the run's last one.
 *
 * Invariants:
 *   1. Each address is read by interpreter_copy, which fails where there is no memory. Nothing else is trusted: a frame's
 *      code has the type of code objects, or the walk ends.
 *   2. A walk has at most INTERPRETED_MOST steps, each of which adds at most two entries.
 */
#ifndef COLLECT_SHARED_PYTHON_WALK_H
#define COLLECT_SHARED_PYTHON_WALK_H

#include "abi/interpreter.h"
#include "abi/sample_record.h"

struct python_walk {
	struct interpreter of;
	uint64_t interpreter; /* the next one of the list */
	uint64_t thread;      /* the thread, or the next one of the list */
	uint64_t cframe;      /* of the present run; only before 3.12 */
	uint64_t frame;
	uint64_t tid; /* of the walked thread, in its own namespace */
	uint32_t count;
	uint32_t end; /* enum interpreted_end; INTERPRETED_END_COUNT: not ended */
	uint32_t steps;
	uint32_t spare;
	uint64_t frame_words[INTERPRETER_FRAME_BYTES / sizeof(uint64_t)];
	uint64_t code_words[INTERPRETER_CODE_BYTES / sizeof(uint64_t)];
	struct interpreted_frame frames[INTERPRETED_MOST];
};

#ifndef WALK_FUNCTION
#define WALK_FUNCTION static inline
#endif

/* The includer provides: copies `bytes` from the walked process. Returns 0 if they are readable. */
static inline int interpreter_copy(void *to, uint32_t bytes, uint64_t address);

enum {
	PYTHON_FIND_STEPS = 512, /* interpreters and threads that are looked at */
	PYTHON_OWNED_BY_C = 3,   /* _PyInterpreterFrame.owner: FRAME_OWNED_BY_CSTACK */
};

/* The field at an offset in bytes. The compilers align each field to its size, so a field lies
 * in one word; the bytes of the word behind a shorter field are above it in the result. Both
 * machines are little-endian. */
static inline uint64_t python_field(const uint64_t *words, uint32_t offset)
{
	return words[offset / sizeof(uint64_t)] >> (offset % sizeof(uint64_t) * 8);
}

static inline uint64_t python_frame_field(const struct python_walk *walk, uint32_t offset)
{
	return python_field(walk->frame_words, offset & (INTERPRETER_FRAME_BYTES - 1));
}

static inline uint64_t python_code_field(const struct python_walk *walk, uint32_t offset)
{
	return python_field(walk->code_words, offset & (INTERPRETER_CODE_BYTES - 1));
}

static inline bool python_read(uint64_t address, uint64_t *value)
{
	return interpreter_copy(value, sizeof(*value), address) == 0;
}

/* --- the thread --- */

/* Prepares to look for the thread. */
static inline void python_find_begin(struct python_walk *walk)
{
	walk->thread = 0;
	if (!python_read(walk->of.runtime + walk->of.python.runtime_interpreters, &walk->interpreter))
		walk->interpreter = 0;
}

/* Looks at one interpreter or thread. Returns 1 if the search has ended: walk->thread is the thread, or 0. */
WALK_FUNCTION uint32_t python_find_step(struct python_walk *walk)
{
	if (!walk)
		return 1;
	const struct python_layout *layout = &walk->of.python;
	uint64_t id = 0, at = walk->thread;
	if (at == 0) {
		uint64_t interpreter = walk->interpreter;
		if (interpreter == 0)
			return 1;
		if (!python_read(interpreter + layout->interpreter_next, &walk->interpreter))
			walk->interpreter = 0;
		if (!python_read(interpreter + layout->interpreter_threads, &walk->thread))
			walk->thread = 0;
		return 0;
	}
	if (python_read(at + layout->thread_id, &id) && id == walk->tid)
		return 1;
	if (!python_read(at + layout->thread_next, &walk->thread))
		walk->thread = 0;
	return 0;
}

/* --- frames --- */

/* Prepares to walk the frames of walk->thread, which may be 0 or have ended: it is the thread
 * only if its number still is that. Returns false if it is not. */
WALK_FUNCTION bool python_begin(struct python_walk *walk)
{
	uint64_t id = 0;
	if (!walk)
		return false;
	const struct python_layout *layout = &walk->of.python;
	walk->count = walk->steps = 0;
	walk->end = INTERPRETED_NO_THREAD;
	if (walk->thread == 0 || !python_read(walk->thread + layout->thread_id, &id) || id != walk->tid)
		return false;
	walk->end = INTERPRETED_END_COUNT;
	walk->frame = 0;
	uint64_t at = walk->thread + layout->thread_frame;
	if (layout->thread_frame == 0 && python_read(walk->thread + layout->thread_cframe, &walk->cframe))
		at = walk->cframe + layout->cframe_current;
	else if (layout->thread_frame == 0)
		at = 0;
	if (!python_read(at, &walk->frame))
		walk->end = INTERPRETED_UNREADABLE;
	return true;
}

/* Reads the head of a code object. Returns whether it is one, and sets *check. */
static inline uint32_t python_read_code(struct python_walk *walk, uint64_t code, uint32_t *check)
{
	enum { HIGH = 32, FACTOR = 0x9e3779b1 };
	const struct python_layout *layout = &walk->of.python;
	if (interpreter_copy(walk->code_words, layout->code_bytes & (INTERPRETER_CODE_BYTES - 1), code) != 0)
		return INTERPRETED_UNREADABLE;
	if (python_code_field(walk, layout->object_type) != walk->of.code_type)
		return INTERPRETED_CHANGED;
	uint64_t mixed = (uint32_t)python_code_field(walk, layout->code_first_line);
	mixed = mixed * FACTOR ^ python_code_field(walk, layout->code_file);
	mixed = mixed * FACTOR ^ python_code_field(walk, layout->code_name);
	mixed = mixed * FACTOR ^ python_code_field(walk, layout->code_table);
	*check = (uint32_t)(mixed ^ mixed >> HIGH);
	return INTERPRETED_WHOLE;
}

/* Returns whether the code that was read is the interpreter's own: it is from no file, for which 3.12 has nothing and 3.13 the function's name. */
static inline bool python_is_own_code(const struct python_walk *walk)
{
	const struct python_layout *layout = &walk->of.python;
	return (uint32_t)python_code_field(walk, layout->code_first_line) == 0 &&
	       python_code_field(walk, layout->code_file) == python_code_field(walk, layout->code_name);
}

static inline void python_add(struct python_walk *walk, const struct interpreted_frame *frame)
{
	walk->frames[walk->count & (INTERPRETED_MOST - 1)] = *frame;
	walk->count++;
}

/* Notes one frame and steps to its caller. Sets walk->end when there is no other one. */
WALK_FUNCTION uint32_t python_step(struct python_walk *walk)
{
	if (!walk)
		return INTERPRETED_NO_THREAD;
	const struct python_layout *layout = &walk->of.python;
	if (walk->frame == 0)
		return INTERPRETED_WHOLE;
	if (walk->count > INTERPRETED_MOST - 2 || ++walk->steps == INTERPRETED_MOST)
		return INTERPRETED_DEEP;
	if (interpreter_copy(walk->frame_words, layout->frame_bytes & (INTERPRETER_FRAME_BYTES - 1), walk->frame) != 0)
		return INTERPRETED_UNREADABLE;
	uint64_t previous = python_frame_field(walk, layout->frame_previous);
	if (layout->frame_owner && (python_frame_field(walk, layout->frame_owner) & UINT8_MAX) == PYTHON_OWNED_BY_C) {
		python_add(walk, &(struct interpreted_frame){ .stack = walk->frame });
		walk->frame = previous;
		return INTERPRETED_END_COUNT;
	}
	struct interpreted_frame frame = { .code = python_frame_field(walk, layout->frame_code) };
	uint32_t end = python_read_code(walk, frame.code, &frame.check);
	if (end != INTERPRETED_WHOLE)
		return end;
	int64_t place =
		(int64_t)(python_frame_field(walk, layout->frame_instruction) - frame.code - layout->code_instructions);
	frame.place = place > 0 ? (uint32_t)place : 0; /* a frame that has not begun is before its first instruction */
	if (!python_is_own_code(walk))
		python_add(walk, &frame);
	if (layout->frame_is_entry && python_frame_field(walk, layout->frame_is_entry) & UINT8_MAX) {
		python_add(walk, &(struct interpreted_frame){ .stack = walk->cframe });
		if (!python_read(walk->cframe + layout->cframe_previous, &walk->cframe))
			return INTERPRETED_UNREADABLE;
	}
	walk->frame = previous;
	return INTERPRETED_END_COUNT;
}

/* --- descriptions --- */

/* Reads the head of a text, and returns the address of its characters, or 0. */
static inline uint64_t python_text(const struct python_walk *walk, uint64_t address, struct interpreted_text *text)
{
	enum { KIND_SHIFT = 2, KIND_MASK = 7, COMPACT = 32, ASCII = 64 };
	const struct python_layout *layout = &walk->of.python;
	uint32_t state = 0;
	uint64_t length = 0;
	*text = (struct interpreted_text){ .width = 1 };
	if (!python_read(address + layout->text_length, &length) ||
	    interpreter_copy(&state, sizeof(state), address + layout->text_state) != 0 || !(state & COMPACT))
		return 0;
	text->characters = length < UINT32_MAX ? (uint32_t)length : UINT32_MAX;
	text->width = state >> KIND_SHIFT & KIND_MASK;
	return address + (state & ASCII ? layout->text_ascii : layout->text_other);
}

/* Describes the code object of one entry. Returns false if it has changed, or cannot be read. */
WALK_FUNCTION bool python_describe(struct python_walk *walk, const struct interpreted_frame *frame,
				   struct interpreted_code *to)
{
	uint32_t check = 0;
	uint64_t size = 0;
	if (!walk || !frame || !to || python_read_code(walk, frame->code, &check) != INTERPRETED_WHOLE ||
	    check != frame->check)
		return false;
	const struct python_layout *layout = &walk->of.python;
	to->code = frame->code;
	to->check = check;
	to->kind = INTERPRETER_PYTHON;
	to->first_line = (uint32_t)python_code_field(walk, layout->code_first_line);
	uint64_t name = python_text(walk, python_code_field(walk, layout->code_name), &to->name);
	uint64_t file = python_text(walk, python_code_field(walk, layout->code_file), &to->file);
	uint64_t table = python_code_field(walk, layout->code_table);
	if (name == 0 || file == 0 || !python_read(table + layout->bytes_size, &size))
		return false;
	to->is_table_cut = size > INTERPRETED_TABLE_BYTES - 1;
	to->table_bytes = to->is_table_cut ? INTERPRETED_TABLE_BYTES - 1 : (uint32_t)size;
	uint64_t name_bytes = (uint64_t)to->name.characters * to->name.width;
	uint64_t file_bytes = (uint64_t)to->file.characters * to->file.width;
	uint32_t name_most = name_bytes < INTERPRETED_NAME_BYTES ? (uint32_t)name_bytes : INTERPRETED_NAME_BYTES;
	uint32_t file_most = file_bytes < INTERPRETED_FILE_BYTES ? (uint32_t)file_bytes : INTERPRETED_FILE_BYTES;
	if (interpreter_copy(to->name_content, name_most, name) != 0 ||
	    interpreter_copy(to->file_content, file_most, file) != 0)
		return false;
	/* Read again where it is masked: the verifier forgets the bounds of a value that was put aside. */
	uint32_t table_most = *(volatile uint32_t *)&to->table_bytes & (INTERPRETED_TABLE_BYTES - 1);
	return interpreter_copy(to->table, table_most, table + layout->bytes_content) == 0;
}

#endif
