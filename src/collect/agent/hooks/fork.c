/*
 * The child of a fork. The counts of its parent stay the parent's. The only thread that remains gets tables of its
 * own, in which the calls that have not returned appear as paths that were called 0 times.
 */
#include <sys/mman.h>
#include <sys/syscall.h>

#include "collect/agent/hooks/paths.h"
#include "processor/agent/machine.h"

/* Returns the edge by which `node` was called, from `call_site` if possible, or NULL if it is unknown
 * (TALLY_EDGE_FOLDED). */
static const struct tally_edge *edge_to(const struct tally_node *node, uint64_t call_site)
{
	const struct tally_edge *found = NULL;
	for (const struct tally_edge *edge = node->parent ? node->parent->edges : NULL; edge; edge = edge->next)
		if (edge->child == node && (!found || edge->call_site == call_site))
			found = edge;
	return found;
}

/* Finds or makes the child's copy of `node`, a path of the parent process, below `parent`. Returns NULL if there is
 * no room. */
static struct tally_node *copy_node(struct hook_thread *thread, struct tally_node *parent,
				    const struct tally_node *node, uint64_t call_site)
{
	const struct tally_edge *before = edge_to(node, call_site);
	const struct hook_call call = {
		.function = before ? before->function : node->function,
		.call_site = before ? before->call_site : call_site,
		.flags = before ? before->flags : 0,
		.code = before ? before->code : 0,
	};
	struct tally_edge *edge = hooks_edge_find(thread, parent, &call);
	if (!edge)
		edge = hooks_edge_new(thread, parent, &call, true);
	return edge ? edge->child : NULL;
}

/* Clears the frames above `top`. They refer to the parent's nodes, and a later push might use them again. */
static void clear_above(struct hook_thread *thread, const struct hook_frame *top)
{
	static const uintptr_t page = 4096;
	uintptr_t from = (uintptr_t)(top + 1), end = (uintptr_t)thread->limit;
	uintptr_t whole = (from + page - 1) / page * page;
	for (uint8_t *at = (uint8_t *)from; (uintptr_t)at < whole && (uintptr_t)at < end; at++)
		*at = 0;
	if (whole < end)
		machine_syscall(SYS_madvise, (long)whole, (long)(end - whole), MADV_DONTNEED, 0, 0, 0);
}

bool hooks_copy_frames(struct hook_thread *thread, const struct hook_frame *top)
{
	struct tally_node *last = &thread->shared->root;
	const struct tally_node *last_before = NULL;
	thread->frames->node = last;
	thread->frames->guess = &hooks_no_edge;
	for (struct hook_frame *frame = thread->frames + 1; frame <= top; frame++) {
		const struct tally_node *before = frame->node;
		if (before && !before->function)
			last = &thread->shared->root;
		else if (before && before != last_before)
			last = copy_node(thread, last, before, frame->call_site);
		if (!last)
			return false;
		last_before = before;
		frame->node = last;
		frame->guess = &hooks_no_edge;
		thread->top = frame;
	}
	clear_above(thread, top);
	return true;
}
