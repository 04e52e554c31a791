#include "collect/sample/stacks/stack_memory.h"

#include <string.h>

enum {
	CHECK_BYTES = 256, /* must be equal where a copy and later memory meet */
	FIRST_SPAN_BYTES = 64 * 1024,
};

void stack_memory_init(struct stack_memory *memory, struct processes *processes)
{
	*memory = (struct stack_memory){ .processes = processes };
	target_memory_init(&memory->target);
}

void stack_memory_release(struct stack_memory *memory)
{
	target_memory_release(&memory->target);
}

/* Returns the length of the first part of two ranges, which may differ; the rest, up to the end, is equal. */
static size_t differing(const uint8_t *now, const uint8_t *old, size_t size)
{
	static const size_t steps[] = { 4096, 256 };
	for (size_t i = 0; i < sizeof(steps) / sizeof(steps[0]); i++)
		while (size >= steps[i] && memcmp(now + size - steps[i], old + size - steps[i], steps[i]) == 0)
			size -= steps[i];
	return size;
}

/* Returns the lowest address from which the span and the remembered bytes are equal up to the top, or
 * UINT64_MAX if they cannot be compared. */
static uint64_t find_same_from(const struct stack_memory *memory, const struct deep_stack *deep)
{
	size_t size;
	const uint8_t *old = deep_stack_at(deep, memory->end, &size);
	uint64_t start = memory->end;
	if (!old) { /* the remembered bytes begin further up */
		start = deep->top - deep->size;
		old = deep_stack_at(deep, start, &size);
	}
	if (!old || start < memory->target.start || deep->top > memory->target.start + memory->target.size)
		return UINT64_MAX;
	return start + differing(memory->target.span + (start - memory->target.start), old, size);
}

/* If everything above the copy is unchanged, the copy may be unchanged too, down to the frames that have
 * run since. */
static void extend_same_into_copy(struct stack_memory *memory)
{
	const struct deep_stack *deep = memory->deep;
	if (memory->same_from != memory->end)
		return;
	uint64_t lowest = deep->top - deep->size;
	uint64_t start = lowest > memory->start ? lowest : memory->start;
	size_t remembered;
	const uint8_t *old = deep_stack_at(deep, start, &remembered);
	if (old && start < memory->end)
		memory->same_from = start + differing(memory->sample->stack + (start - memory->start), old,
						      (size_t)(memory->end - start));
}

static enum above check_above(struct stack_memory *memory)
{
	const struct deep_stack *deep = memory->deep;
	size_t window = (size_t)(memory->end - memory->start);
	size_t check = window < CHECK_BYTES ? window : CHECK_BYTES;
	const uint8_t *end_of_copy = memory->sample->stack + window - check;
	uint64_t start = memory->end - check;
	size_t wanted = deep && deep->top > memory->end ? (size_t)(deep->top - start) : FIRST_SPAN_BYTES;
	size_t got = target_memory_span(&memory->target, start, wanted);
	if (!memory->distrust_live && got > check && memcmp(memory->target.span, end_of_copy, check) == 0) {
		if (deep)
			memory->same_from = find_same_from(memory, deep);
		return ABOVE_LIVE;
	}
	size_t remembered;
	const uint8_t *old = deep ? deep_stack_at(deep, start, &remembered) : NULL;
	if (old && remembered > check && memcmp(old, end_of_copy, check) == 0) {
		memory->same_from = memory->end;
		return ABOVE_REMEMBERED;
	}
	return ABOVE_NONE;
}

/* Returns whether the copy ends because no more was requested, not because the stack ends. */
static bool is_cut(const struct backend_sample *sample)
{
	return sample->stack_bytes > 0 && sample->stack_bytes == sample->stack_asked;
}

static int read_above(struct stack_memory *memory, uint64_t address, uint64_t *value)
{
	if (memory->above == ABOVE_NOT_ASKED)
		memory->above = check_above(memory);
	const uint8_t *bytes = NULL;
	size_t size = 0;
	if (memory->above == ABOVE_LIVE && target_memory_extend(&memory->target, address + sizeof(*value)) == 0) {
		bytes = memory->target.span + (address - memory->target.start);
		size = sizeof(*value);
	} else if (memory->above == ABOVE_REMEMBERED) {
		bytes = deep_stack_at(memory->deep, address, &size);
	}
	if (!bytes || size < sizeof(*value))
		return -1;
	memcpy(value, bytes, sizeof(*value));
	return 0;
}

bool stack_memory_has(const struct stack_memory *memory, uint64_t address)
{
	/* Registers may contain any value: no sum here may overflow. */
	uint64_t offset = address - memory->start;
	return offset < memory->sample->stack_bytes && memory->sample->stack_bytes - offset >= sizeof(uint64_t);
}

int stack_memory_read(struct stack_memory *memory, uint64_t address, uint64_t *value)
{
	const struct backend_sample *sample = memory->sample;
	if (stack_memory_has(memory, address)) {
		memcpy(value, sample->stack + (address - memory->start), sizeof(*value));
		return 0;
	}
	int result;
	if (is_cut(sample) && address >= memory->end && address - memory->end < TARGET_SPAN_MAX - CHECK_BYTES) {
		result = read_above(memory, address, value);
	} else if (processes_code(memory->processes, memory->process, address, value, sizeof(*value))) {
		return 0; /* code, where there is no unwind rule */
	} else {
		memory->used_pages = true;
		result = target_memory_word(&memory->target, address, value);
		/* The copy would contain it if there were no absent page before it. */
		if (result == 0 && address >= memory->end && address - memory->start < sample->stack_asked)
			target_memory_touch(&memory->target, memory->end, address);
	}
	memory->zero_outside |= result == 0 && *value == 0;
	return result;
}

int stack_memory_read_code(struct stack_memory *memory, uint64_t address, uint64_t *value)
{
	if (processes_code(memory->processes, memory->process, address, value, sizeof(*value)))
		return 0;
	return target_memory_word(&memory->target, address, value);
}

int stack_memory_store(struct stack_memory *memory, struct deep_stack *deep, bool joined)
{
	int result = 0;
	if (memory->above == ABOVE_LIVE) {
		uint64_t end = joined ? memory->same_from : memory->target.start + memory->target.size;
		if (!joined)
			deep_stack_clear(deep);
		if (end > memory->target.start)
			result = deep_stack_store(deep, memory->target.start, memory->target.span,
						  (size_t)(end - memory->target.start));
	}
	uint64_t end = joined && memory->same_from < memory->end ? memory->same_from : memory->end;
	if (result == 0)
		result = deep_stack_store(deep, memory->start, memory->sample->stack, (size_t)(end - memory->start));
	return result;
}

void stack_memory_begin(struct stack_memory *memory, const struct backend_sample *sample, struct process *process,
			const struct deep_stack *deep, bool distrust_live)
{
	memory->sample = sample;
	memory->process = process;
	memory->deep = deep;
	memory->distrust_live = distrust_live;
	memory->start = sample->registers.value[ARCH_SP_REGISTER];
	memory->end = memory->start + sample->stack_bytes;
	memory->above = ABOVE_NOT_ASKED;
	memory->used_pages = false;
	memory->zero_outside = false;
	memory->same_from = UINT64_MAX;
	target_memory_begin(&memory->target, processes_are_past(memory->processes) ? 0 : (pid_t)sample->pid);
	/* A thread with a deep stack will need the memory above. An early look makes changes less likely,
	 * and most of the copy need not be walked either. */
	if (deep && is_cut(sample)) {
		memory->above = check_above(memory);
		extend_same_into_copy(memory);
	}
}

bool stack_memory_went_outside(const struct stack_memory *memory)
{
	return memory->above != ABOVE_NOT_ASKED || memory->used_pages;
}
