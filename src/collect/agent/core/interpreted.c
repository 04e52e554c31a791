#include "collect/agent/core/interpreted.h"

#include <string.h>

#include "collect/shared/python_walk.h"

enum { PAGE = 4096, PAGES_SEEN = 64, CODES_SEEN = 8192, NS_PER_MS = 1000000 };

/* The memory of the walks of one thread. */
struct interpreted_memory {
	struct python_walk python;
	/* Pages that were readable in the present walk, by the lowest bits of their numbers: the
	 * thread's own frames and functions stay while it is interrupted. */
	uint64_t pages[PAGES_SEEN];
	/* The structures of other threads are read, which these may free at any time: the kernel copies them. */
	bool reads_others;
	struct {
		struct sample_record record;
		struct interpreted_code code;
		uint64_t padding;
	} description;
};

/* Hashes of the functions that the monitor has descriptions of, each at a place that depends on it; 0: none. */
static uint64_t described[CODES_SEEN];

static bool is_readable(struct interpreted_memory *memory, uint64_t page)
{
	uint64_t word, *seen = &memory->pages[page % PAGES_SEEN];
	if (*seen == page)
		return true;
	if (!runtime_copy(&word, sizeof(word), page * PAGE))
		return false;
	*seen = page;
	return true;
}

static inline int interpreter_copy(void *to, uint32_t bytes, uint64_t address)
{
	struct interpreted_memory *memory = runtime_thread->interpreted;
	if (bytes == 0)
		return 0;
	if (address + bytes < address)
		return -1;
	if (memory->reads_others)
		return runtime_copy(to, bytes, address) ? 0 : -1;
	for (uint64_t page = address / PAGE; page <= (address + bytes - 1) / PAGE; page++)
		if (!is_readable(memory, page))
			return -1;
	memcpy(to, (const void *)(uintptr_t)address, bytes);
	return 0;
}

/* Copies the process's interpreter. Returns false if it has none, or it changes just now. */
static bool get_interpreter(struct interpreter *interpreter)
{
	const struct channel_process *process = runtime.process;
	uint64_t version = __atomic_load_n(&process->code_version, __ATOMIC_ACQUIRE);
	if (process->interpreter.kind == INTERPRETER_NONE)
		return false;
	*interpreter = process->interpreter;
	return version % 2 == 0 && __atomic_load_n(&process->code_version, __ATOMIC_ACQUIRE) == version &&
	       interpreter->kind == INTERPRETER_PYTHON;
}

/* Finds the thread's structure, which the interpreter may not have made yet. Returns false if there is none. */
static bool begin(struct runtime_thread *thread, struct python_walk *python, uint64_t now)
{
	static const uint64_t not_again_ns = 10 * (uint64_t)NS_PER_MS;
	python->tid = thread->tid;
	python->thread = thread->interpreter_thread;
	if (python_begin(python))
		return true;
	if (thread->not_interpreted_until_ns > now)
		return false;
	thread->interpreted->reads_others = true;
	python_find_begin(python);
	uint32_t step = 0;
	while (step < PYTHON_FIND_STEPS && !python_find_step(python))
		step++;
	thread->interpreted->reads_others = false;
	thread->interpreter_thread = step < PYTHON_FIND_STEPS ? python->thread : 0;
	thread->not_interpreted_until_ns = now + not_again_ns;
	python->thread = thread->interpreter_thread;
	return python_begin(python);
}

/* Writes a description of the function of an entry, if the monitor has none. */
static void describe(struct runtime_thread *thread, const struct interpreted_frame *entry, uint64_t now)
{
	enum { HALF = 32, ALIGNMENT = 8 };
	static const uint64_t golden = 0x9e3779b97f4a7c15;
	struct interpreted_memory *memory = thread->interpreted;
	uint64_t hash = ((entry->code ^ (uint64_t)entry->check << HALF) * golden) | 1;
	uint64_t *seen = &described[hash >> HALF & (CODES_SEEN - 1)];
	if (entry->code == 0 || __atomic_load_n(seen, __ATOMIC_RELAXED) == hash ||
	    !python_describe(&memory->python, entry, &memory->description.code))
		return;
	size_t bytes = INTERPRETED_FIXED_BYTES + memory->description.code.table_bytes;
	struct sample_record *record = &memory->description.record;
	*record = (struct sample_record){ .time_ns = now,
					  .pid = runtime.pid,
					  .tid = thread->tid,
					  .kind = SAMPLE_DESCRIPTION,
					  .request = SAMPLE_NO_REQUEST,
					  .stack_bytes = (uint32_t)bytes,
					  .syscall = -1 };
	size_t padded = (bytes + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
	if (runtime_ring_write(thread, &memory->description, sizeof(*record) + padded, NULL, 0))
		__atomic_store_n(seen, hash, __ATOMIC_RELAXED);
}

void interpreted_walk(struct runtime_thread *thread, uint64_t now)
{
	struct interpreter interpreter;
	interpreted_clear(thread);
	if (!get_interpreter(&interpreter))
		return;
	if (!thread->interpreted)
		thread->interpreted = runtime_map(sizeof(*thread->interpreted));
	if (!thread->interpreted)
		return;
	struct python_walk *python = &thread->interpreted->python;
	memset(thread->interpreted->pages, 0, sizeof(thread->interpreted->pages));
	python->of = interpreter;
	if (!begin(thread, python, now))
		return;
	while (python->end == INTERPRETED_END_COUNT)
		python->end = python_step(python);
	for (uint32_t i = 0; i < python->count; i++)
		describe(thread, &python->frames[i], now);
}

void interpreted_clear(struct runtime_thread *thread)
{
	if (!thread->interpreted)
		return;
	thread->interpreted->python.count = 0;
	thread->interpreted->python.end = INTERPRETED_WHOLE;
}

const struct interpreted_frame *interpreted_entries(const struct runtime_thread *thread, uint16_t *count, uint8_t *end)
{
	const struct interpreted_memory *memory = thread->interpreted;
	*count = memory ? (uint16_t)memory->python.count : 0;
	*end = memory ? (uint8_t)memory->python.end : INTERPRETED_WHOLE;
	return memory ? memory->python.frames : NULL;
}

void interpreted_forked(void)
{
	for (size_t i = 0; i < CODES_SEEN; i++)
		__atomic_store_n(&described[i], 0, __ATOMIC_RELAXED);
}

void interpreted_release(struct runtime_thread *thread)
{
	if (thread->interpreted)
		runtime_unmap(thread->interpreted, sizeof(*thread->interpreted));
	thread->interpreted = NULL;
}
