/* The walk of CPython's frames through an image of memory, whole and damaged. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "collect/shared/python_walk.h"
#include "frames/interpreters/interpreters.h"
#include "support/python_image.h"

static struct python_image image;
static struct python_walk walk;
static struct interpreted_code code;
static const struct python_layout *layout;

/* 3.11, 3.12, 3.13 */
static const uint32_t versions[] = { 0x030b0000, 0x030c0000, 0x030d0000 };

static inline int interpreter_copy(void *to, uint32_t bytes, uint64_t address)
{
	return python_image_copy(&image, to, bytes, address);
}

/* Walks the frames of a thread. Returns how the walk ended. */
static uint32_t walk_thread(uint64_t tid)
{
	walk = (struct python_walk){ .of = image.interpreter, .tid = tid };
	python_find_begin(&walk);
	for (uint32_t i = 0; i < PYTHON_FIND_STEPS && !python_find_step(&walk); i++)
		;
	if (!python_begin(&walk))
		return walk.end;
	for (uint32_t i = 0; walk.end == INTERPRETED_END_COUNT; i++) {
		assert_true(i < INTERPRETED_MOST);
		walk.end = python_step(&walk);
	}
	return walk.end;
}

static int make(void **state)
{
	const uint32_t *version = *state;
	layout = interpreters_python_layout(*version);
	assert_non_null(layout);
	python_image_make(&image, layout);
	return 0;
}

static void runs_are_noted(void **state)
{
	(void)state;
	assert_int_equal(walk_thread(PYTHON_IMAGE_TID), INTERPRETED_WHOLE);
	assert_int_equal(walk.count, 5);
	const uint64_t codes[] = { image.codes[0], image.codes[1], 0, image.codes[2], 0 };
	for (size_t i = 0; i < 5; i++)
		assert_int_equal(walk.frames[i].code, codes[i]);
	assert_int_equal(walk.frames[0].place, 2);
	assert_int_equal(walk.frames[1].place, 0);
	assert_int_equal(walk.frames[2].stack, image.runs[0]);
	assert_int_equal(walk.frames[4].stack, image.runs[1]);
	assert_int_not_equal(walk.frames[0].check, walk.frames[1].check);
}

static void unknown_thread_has_no_frames(void **state)
{
	(void)state;
	assert_int_equal(walk_thread(1), INTERPRETED_NO_THREAD);
	assert_int_equal(walk.count, 0);
}

static void functions_are_described(void **state)
{
	(void)state;
	walk_thread(PYTHON_IMAGE_TID);
	assert_true(python_describe(&walk, &walk.frames[1], &code));
	assert_int_equal(code.first_line, 20);
	assert_int_equal(code.name.characters, 5);
	assert_memory_equal(code.name_content, "outer", 5);
	assert_memory_equal(code.file_content, "/srv/app.py", code.file.characters);
	assert_int_equal(code.table_bytes, 2);
	assert_int_equal(interpreter_python.line_at(code.table, code.table_bytes, code.first_line, 2), 20);
	/* Memory that has another function now is not described as the old one. */
	image.bytes[image.codes[1] - image.start + layout->code_first_line]++;
	assert_false(python_describe(&walk, &walk.frames[1], &code));
}

/* Whatever one byte becomes, the walk ends with a cause, and notes nothing but code objects. */
static void damage_ends_the_walk(void **state)
{
	enum { STEP = 0x55 };
	(void)state;
	uint32_t ends[INTERPRETED_END_COUNT] = { 0 };
	size_t used = image.used;
	for (size_t at = 0; at < used; at++) {
		uint8_t was = image.bytes[at];
		image.bytes[at] = (uint8_t)(was + STEP);
		uint32_t end = walk_thread(PYTHON_IMAGE_TID);
		assert_true(end < INTERPRETED_END_COUNT);
		ends[end]++;
		for (uint32_t i = 0; i < walk.count; i++) {
			uint64_t type = 0;
			if (walk.frames[i].code == 0)
				continue;
			assert_int_equal(
				interpreter_copy(&type, sizeof(type), walk.frames[i].code + layout->object_type), 0);
			assert_int_equal(type, image.interpreter.code_type);
			python_describe(&walk, &walk.frames[i], &code);
		}
		image.bytes[at] = was;
	}
	assert_true(ends[INTERPRETED_WHOLE] > 0 && ends[INTERPRETED_NO_THREAD] > 0);
	assert_true(ends[INTERPRETED_UNREADABLE] > 0 && ends[INTERPRETED_CHANGED] > 0);
}

/* A list that leads back to itself ends at the limit. */
static void cycles_end(void **state)
{
	(void)state;
	walk_thread(PYTHON_IMAGE_TID);
	memcpy(image.bytes + (image.frame - image.start) + layout->frame_previous, &image.frame, sizeof(image.frame));
	assert_int_equal(walk_thread(PYTHON_IMAGE_TID), INTERPRETED_DEEP);
	assert_true(walk.count <= INTERPRETED_MOST);
	/* The same for a frame that adds no entry. */
	uint8_t *own = image.bytes + (image.codes[0] - image.start);
	memset(own + layout->code_first_line, 0, sizeof(uint32_t));
	memcpy(own + layout->code_file, own + layout->code_name, sizeof(uint64_t));
	assert_int_equal(walk_thread(PYTHON_IMAGE_TID), INTERPRETED_DEEP);
	assert_int_equal(walk.count, 0);
}

#define OF_EACH_VERSION(test)                                                                     \
	cmocka_unit_test_prestate_setup_teardown(test, make, NULL, (void *)&versions[0]),         \
		cmocka_unit_test_prestate_setup_teardown(test, make, NULL, (void *)&versions[1]), \
		cmocka_unit_test_prestate_setup_teardown(test, make, NULL, (void *)&versions[2])

int main(void)
{
	const struct CMUnitTest tests[] = {
		OF_EACH_VERSION(runs_are_noted),
		OF_EACH_VERSION(unknown_thread_has_no_frames),
		OF_EACH_VERSION(functions_are_described),
		OF_EACH_VERSION(damage_ends_the_walk),
		OF_EACH_VERSION(cycles_end),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
