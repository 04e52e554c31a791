/* Exact counts of arcs, (call site, function). All arcs are edges of the thread's root. No frames are kept. */
#include "collect/agent/hooks/paths.h"
#include "processor/agent/hooks_offsets.h"

static struct tally_edge **cached(struct hook_thread *thread, uint64_t function, uint64_t call_site)
{
	return &thread->cache[(call_site + (function >> CACHE_SHIFT)) % HOOK_CACHE];
}

/* Counts an arc that is not in the cache, and puts it there. (A free entry of the cache is &hooks_no_edge, never
 * NULL.) */
static __attribute__((noinline)) void count_slowly(struct hook_thread *thread, struct hook_call *call)
{
	struct tally_node *root = &thread->shared->root;
	struct tally_edge *edge = hooks_edge_find(thread, root, call);
	if (!edge) {
		call->flags = hooks_is_inlined_code(call) ? TALLY_EDGE_INLINED : 0;
		edge = hooks_edge_new(thread, root, call, false);
	}
	if (!edge)
		return;
	*cached(thread, call->function, call->call_site) = edge;
	hooks_count(&edge->count);
}

static void entered(struct hook_thread *thread, uint64_t function, uint64_t call_site, uint64_t return_slot)
{
	struct hook_call call = { .function = function, .call_site = call_site, .return_slot = return_slot };
	count_slowly(thread, &call);
}

static void enter(struct hook_thread *thread, uint64_t function, uint64_t call_site, uint64_t return_slot,
		  uint64_t code)
{
	struct tally_edge *edge = *cached(thread, function, call_site);
	if (__builtin_expect(edge->call_site == call_site && edge->function == function, 1)) {
		hooks_count(&edge->count);
		return;
	}
	struct hook_call call = { .function = function,
				  .call_site = call_site,
				  .return_slot = return_slot,
				  .code_address = code,
				  .code = hooks_code_word(code) };
	count_slowly(thread, &call);
}

const struct hook_measurement hooks_arcs = {
	.name = "arcs",
	.entered = entered,
	.enter = enter,
	.leave = hooks_no_call,
	.block = hooks_no_block,
	.tick = hooks_tick_root,
	.rewind = hooks_no_rewind,
	.flush = hooks_no_flush,
};
