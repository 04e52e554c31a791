/*
 * Arbitrary bytes as the memory of a Python process: the walk of its frames ends, notes at most as many entries as it may, and
 * every function that it notes can be described or not, without a read outside of the memory. Built for libFuzzer, or with
 * replay.c. The memory begins at address 0x10000, with _PyRuntime; PyCode_Type is at 0x10040.
 */
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "collect/shared/python_walk.h"
#include "frames/interpreters/interpreters.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { START = 0x10000, CODE_TYPE = START + 0x40, TID = 4321 };

static const uint32_t versions[] = { 0x030b0000, 0x030c0000, 0x030d0000 };

static const uint8_t *memory;
static size_t memory_bytes;

static inline int interpreter_copy(void *to, uint32_t bytes, uint64_t address)
{
	uint64_t at = address - START;
	if (at > memory_bytes || bytes > memory_bytes - at)
		return -1;
	memcpy(to, memory + at, bytes);
	return 0;
}

static void require(bool holds)
{
	if (!holds)
		abort();
}

static void walk_as(uint32_t version)
{
	static struct python_walk walk;
	static struct interpreted_code code;
	memset(&walk, 0, offsetof(struct python_walk, frames));
	walk.of = (struct interpreter){ .runtime = START,
					.code_type = CODE_TYPE,
					.kind = INTERPRETER_PYTHON,
					.python = *interpreters_python_layout(version) };
	walk.tid = TID;
	python_find_begin(&walk);
	for (uint32_t i = 0; i < PYTHON_FIND_STEPS && !python_find_step(&walk); i++)
		;
	if (!python_begin(&walk))
		return;
	uint32_t steps = 0;
	for (; walk.end == INTERPRETED_END_COUNT; steps++)
		walk.end = python_step(&walk);
	require(steps <= INTERPRETED_MOST && walk.count <= INTERPRETED_MOST && walk.end < INTERPRETED_END_COUNT);
	for (uint32_t i = 0; i < walk.count; i++)
		if (walk.frames[i].code && python_describe(&walk, &walk.frames[i], &code)) {
			require(code.table_bytes < INTERPRETED_TABLE_BYTES);
			interpreter_python.line_at(code.table, code.table_bytes, code.first_line, walk.frames[i].place);
		}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	memory = data;
	memory_bytes = size;
	for (size_t i = 0; i < sizeof(versions) / sizeof(versions[0]); i++)
		walk_as(versions[i]);
	return 0;
}
