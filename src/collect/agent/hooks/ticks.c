/*
 * Charges samples to call paths: each node has a list of (address, request, labels) -> hits. The
 * end of a long list is not searched, so an address may get a second entry; the reader adds the
 * hits.
 */
#include "collect/agent/hooks/paths.h"
#include "processor/agent/machine.h"

enum { NEAR_TICKS = 1024 };

/* The properties that distinguish the samples of a path. */
struct tick_key {
	uint64_t pc;
	uint32_t request;
	uint32_t labels;
};

static bool is_for(const struct tally_tick *tick, const struct tick_key *key)
{
	return tick->pc == key->pc && tick->request == key->request && tick->labels == key->labels;
}

static struct tally_tick *find(const struct tally_node *node, const struct tick_key *key)
{
	uint32_t passed = 0;
	for (struct tally_tick *tick = node->ticks; tick && passed < NEAR_TICKS; tick = tick->next, passed++)
		if (is_for(tick, key))
			return tick;
	return NULL;
}

static struct tally_tick *make(struct hook_thread *thread, struct tally_node *node, const struct tick_key *key)
{
	tally_register_code(key->pc);
	struct tally_tick *tick = tally_object_new(thread, sizeof(*tick));
	if (!tick)
		return NULL;
	tick->pc = key->pc;
	tick->request = key->request;
	tick->labels = key->labels;
	do
		tick->next = node->ticks;
	while (!machine_replace(&node->ticks, tick->next, tick));
	return tick;
}

void hooks_tick_at(struct hook_thread *thread, struct tally_node *node, uint64_t pc, uint32_t request, uint64_t hits)
{
	const struct tick_key key = { .pc = pc,
				      .request = request,
				      .labels = runtime_thread ? runtime_thread->labels : 0 };
	struct tally_tick *tick = find(node, &key);
	if (!tick)
		tick = make(thread, node, &key);
	if (!tick) {
		thread->shared->lost[request % TALLY_REQUESTS] += hits;
		return;
	}
	machine_add_word(&tick->hits, hits);
	machine_add_word(&tick->samples, 1);
}

static bool is_ours(uint64_t address)
{
	return address - runtime.text_start < runtime.text_end - runtime.text_start;
}

/* Returns true if the hooks have called the dynamic linker on this stack. A jump out of the linker leaves
 * hooks_asking set, so the distance is checked. */
static bool is_in_linker(uint64_t stack_pointer)
{
	enum { TAKEN_BYTES = 1024 };
	return hooks_asking - stack_pointer < TAKEN_BYTES;
}

/* This library is compiled with frame pointers. */
static void find_caller(uint64_t *pc, uint64_t *stack_pointer)
{
	enum { FRAMES = 32 };
	const uint64_t *frame = __builtin_frame_address(0);
	for (int i = 0; i < FRAMES && is_ours(frame[1]); i++)
		frame = (const uint64_t *)(uintptr_t)frame[0];
	*pc = frame[1] - 1;
	*stack_pointer = (uint64_t)(uintptr_t)(frame + 2);
}

void hooks_where(const void *context, uint64_t *pc, uint64_t *stack_pointer)
{
	if (!context) {
		find_caller(pc, stack_pointer);
		return;
	}
	*pc = machine_program_counter_of(context);
	*stack_pointer = machine_stack_pointer_of(context);
	if (is_in_linker(*stack_pointer) && is_ours((uint64_t)(uintptr_t)&find_caller))
		*pc = (uint64_t)(uintptr_t)&find_caller;
	if (is_ours(*pc))
		__atomic_add_fetch(&hooks.process->samples_elsewhere, 1, __ATOMIC_RELAXED);
}

void hooks_tick_current(struct hook_thread *thread, uint32_t request, uint64_t hits, const void *context)
{
	uint64_t pc, stack_pointer;
	hooks_where(context, &pc, &stack_pointer);
	hooks_tick_at(thread, hooks_frames_current(thread, stack_pointer, pc), pc, request, hits);
}

void hooks_tick_root(struct hook_thread *thread, uint32_t request, uint64_t hits, const void *context)
{
	uint64_t pc, stack_pointer;
	hooks_where(context, &pc, &stack_pointer);
	hooks_tick_at(thread, &thread->shared->root, pc, request, hits);
}
