#include "collect/sample/preload/code.h"

#include <stdlib.h>

enum { CHUNK_BYTES = CODE_CHUNK_SLOTS * CODE_SLOT_BYTES, COUNT_SHIFT = 32 };

struct preload_code {
	uint8_t *memory; /* the channel */
	preload_find_process *find;
	void *context;
};

static uint8_t *add_chunk(void *context, uint32_t number)
{
	const struct preload_code *code = context;
	return number < CHANNEL_CHUNKS ? code->memory + CHANNEL_CHUNKS_AT + (uint64_t)number * CHUNK_BYTES : NULL;
}

/* Sets the code of a process. The version is odd meanwhile: a walk during which it changed is repeated. */
static void set_code(struct channel_process *process, uint64_t word, const struct interpreter *interpreter)
{
	uint64_t version = __atomic_load_n(&process->code_version, __ATOMIC_RELAXED) & ~UINT64_C(1);
	__atomic_store_n(&process->code_version, version + 1, __ATOMIC_SEQ_CST);
	process->interpreter = *interpreter;
	__atomic_store_n(&process->code, word, __ATOMIC_SEQ_CST);
	__atomic_store_n(&process->code_version, version + 2, __ATOMIC_SEQ_CST);
}

/* A process without a slot unwinds no stacks, and needs no code. */
static int set_process(void *context, uint32_t pid, const struct walk_process *run)
{
	const struct preload_code *code = context;
	struct channel_process *process = code->find(code->context, pid);
	if (process)
		set_code(process, run->first | (uint64_t)run->count << COUNT_SHIFT, &run->interpreter);
	return 0;
}

static void drop_process(void *context, uint32_t pid)
{
	const struct preload_code *code = context;
	struct channel_process *process = code->find(code->context, pid);
	if (process)
		set_code(process, 0, &(struct interpreter){ 0 });
}

struct code_loader *preload_code_loader_new(struct channel *channel, preload_find_process *find, void *context,
					    struct error *error)
{
	struct preload_code *code = malloc(sizeof(*code));
	if (!code) {
		error_memory(error);
		return NULL;
	}
	*code = (struct preload_code){ .memory = (uint8_t *)channel, .find = find, .context = context };
	const struct code_storage storage = {
		.context = code,
		.codes = (struct walk_code *)(code->memory + CHANNEL_CODES),
		.add_chunk = add_chunk,
		.set_process = set_process,
		.drop_process = drop_process,
		.release = free,
	};
	return code_loader_new(&storage, error);
}
