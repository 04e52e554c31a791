#include "support/python_image.h"

#include <string.h>

enum { START = 0x10000, ALIGNMENT = 16 };

static uint64_t take(struct python_image *image, size_t bytes)
{
	uint64_t at = image->start + image->used;
	image->used += (bytes + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
	return at;
}

static void put(struct python_image *image, uint64_t address, uint64_t value, size_t bytes)
{
	memcpy(image->bytes + (address - image->start), &value, bytes);
}

static void put_word(struct python_image *image, uint64_t address, uint64_t value)
{
	put(image, address, value, sizeof(value));
}

static uint64_t add_text(struct python_image *image, const struct python_layout *layout, const char *text)
{
	enum { COMPACT_ASCII = 1 << 2 | 1 << 5 | 1 << 6 };
	size_t length = strlen(text);
	uint64_t at = take(image, layout->text_ascii + length + 1);
	put_word(image, at + layout->text_length, length);
	put(image, at + layout->text_state, COMPACT_ASCII, sizeof(uint32_t));
	memcpy(image->bytes + (at - image->start) + layout->text_ascii, text, length);
	return at;
}

static uint64_t add_code(struct python_image *image, const struct python_layout *layout, const char *name,
			 uint32_t first_line)
{
	/* One entry for two instructions without columns, whose line is the first one. */
	static const uint8_t table[] = { 0x80 | 13 << 3 | 1, 0 };
	enum { INSTRUCTION_BYTES = 64 };
	uint64_t at = take(image, layout->code_instructions + INSTRUCTION_BYTES);
	uint64_t bytes = take(image, layout->bytes_content + sizeof(table));
	put_word(image, at + layout->object_type, image->interpreter.code_type);
	put(image, at + layout->code_first_line, first_line, sizeof(first_line));
	put_word(image, at + layout->code_file, first_line ? add_text(image, layout, "/srv/app.py") : 0);
	put_word(image, at + layout->code_name, first_line ? add_text(image, layout, name) : 0);
	put_word(image, at + layout->code_table, bytes);
	put_word(image, bytes + layout->bytes_size, sizeof(table));
	memcpy(image->bytes + (bytes - image->start) + layout->bytes_content, table, sizeof(table));
	return at;
}

static uint64_t add_frame(struct python_image *image, const struct python_layout *layout, uint64_t code,
			  uint64_t previous, uint32_t place)
{
	uint64_t at = take(image, layout->frame_bytes);
	put_word(image, at + layout->frame_code, code);
	put_word(image, at + layout->frame_previous, previous);
	put_word(image, at + layout->frame_instruction, code + layout->code_instructions + place);
	return at;
}

/* Adds what ends a run behind its last frame. Returns the frame that C owns, if the version has one. */
static uint64_t end_run(struct python_image *image, const struct python_layout *layout, uint64_t last,
			uint64_t previous)
{
	enum { OWNED_BY_C = 3 };
	if (!layout->frame_owner) {
		put(image, last + layout->frame_is_entry, true, 1);
		put_word(image, last + layout->frame_previous, previous);
		return 0;
	}
	uint64_t entry = add_frame(image, layout, 0, previous, 0);
	put(image, entry + layout->frame_owner, OWNED_BY_C, 1);
	put_word(image, last + layout->frame_previous, entry);
	return entry;
}

static uint64_t add_cframe(struct python_image *image, const struct python_layout *layout, uint64_t frame,
			   uint64_t previous)
{
	enum { CFRAME_BYTES = 24 };
	uint64_t at = take(image, CFRAME_BYTES);
	put_word(image, at + layout->cframe_current, frame);
	put_word(image, at + layout->cframe_previous, previous);
	return at;
}

static uint64_t add_thread(struct python_image *image, const struct python_layout *layout, uint64_t next, uint64_t tid,
			   uint64_t cframe, uint64_t frame)
{
	enum { THREAD_BYTES = 256 };
	uint64_t at = take(image, THREAD_BYTES);
	put_word(image, at + layout->thread_next, next);
	put_word(image, at + layout->thread_id, tid);
	if (layout->thread_frame)
		put_word(image, at + layout->thread_frame, frame);
	else
		put_word(image, at + layout->thread_cframe, cframe);
	return at;
}

static uint64_t add_interpreter(struct python_image *image, const struct python_layout *layout, uint64_t next,
				uint64_t thread)
{
	uint64_t at = take(image, layout->interpreter_threads + sizeof(uint64_t));
	put_word(image, at + layout->interpreter_next, next);
	put_word(image, at + layout->interpreter_threads, thread);
	return at;
}

/* Adds the frames. Returns the innermost cframe, if the version has any. */
static uint64_t add_frames(struct python_image *image, const struct python_layout *layout)
{
	uint64_t main = add_frame(image, layout, image->codes[2], 0, 2);
	uint64_t main_entry = end_run(image, layout, main, 0);
	uint64_t outer = add_frame(image, layout, image->codes[1], 0, 0), above = outer;
	uint64_t outer_entry = end_run(image, layout, outer, main);
	if (layout->frame_owner)
		above = add_frame(image, layout, add_code(image, layout, NULL, 0), outer, 0);
	image->frame = add_frame(image, layout, image->codes[0], above, 2);
	if (layout->thread_frame) {
		image->runs[0] = outer_entry;
		image->runs[1] = main_entry;
		return 0;
	}
	uint64_t first = add_cframe(image, layout, main, add_cframe(image, layout, 0, 0));
	uint64_t second = add_cframe(image, layout, image->frame, first);
	image->runs[0] = layout->frame_owner ? outer_entry : second;
	image->runs[1] = layout->frame_owner ? main_entry : first;
	return second;
}

void python_image_make(struct python_image *image, const struct python_layout *layout)
{
	enum { TYPE_BYTES = 64, OTHER = 1234, LINES = 10 };
	*image = (struct python_image){ .start = START };
	image->interpreter = (struct interpreter){ .kind = INTERPRETER_PYTHON, .python = *layout };
	image->interpreter.runtime = take(image, layout->runtime_interpreters + sizeof(uint64_t));
	image->interpreter.code_type = take(image, TYPE_BYTES);
	static const char *const names[] = { "inner", "outer", "main" };
	for (uint32_t i = 0; i < 3; i++)
		image->codes[i] = add_code(image, layout, names[i], LINES * (i + 1));
	uint64_t cframe = add_frames(image, layout), idle = add_cframe(image, layout, 0, 0);
	uint64_t thread = add_thread(image, layout, 0, PYTHON_IMAGE_TID, cframe, image->frame);
	thread = add_thread(image, layout, thread, OTHER, idle, 0);
	uint64_t last = add_interpreter(image, layout, 0, thread);
	uint64_t first = add_interpreter(image, layout, last, add_thread(image, layout, 0, OTHER + 1, idle, 0));
	put_word(image, image->interpreter.runtime + layout->runtime_interpreters, first);
}

int python_image_copy(const struct python_image *image, void *to, uint32_t bytes, uint64_t address)
{
	uint64_t at = address - image->start;
	if (at > sizeof(image->bytes) || bytes > sizeof(image->bytes) - at)
		return -1;
	memcpy(to, image->bytes + at, bytes);
	return 0;
}
