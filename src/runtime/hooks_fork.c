/*
 * The child of a fork: what its parent has counted stays the parent's. The one thread that is left gets tables of its
 * own, in which the calls that have not returned are there as paths that were called 0 times.
 */
#include <string.h>
#include <sys/syscall.h>

#include "runtime/hooks.h"
#include "runtime/tally.h"
#include "runtime/x86_64/machine.h"

/* How `node` was called, from that site if possible; NULL: it is not known (TALLY_EDGE_FOLDED). */
static const struct tally_edge *edge_to(const struct tally_node *node, uint64_t site)
{
	const struct tally_edge *found = NULL;
	for (const struct tally_edge *edge = node->parent ? node->parent->edges : NULL; edge; edge = edge->next)
		if (edge->child == node && (!found || edge->site == site))
			found = edge;
	return found;
}

/* The copy of a path below `parent`; NULL: there is no room. */
static struct tally_node *copy_node(struct hook_thread *thread, struct tally_node *parent,
				    const struct tally_node *node, uint64_t site)
{
	const struct tally_edge *before = edge_to(node, site);
	struct tally_node *copy = tally_object_new(thread, sizeof(*copy));
	struct tally_edge *edge = copy ? tally_object_new(thread, sizeof(*edge)) : NULL;
	if (!edge)
		return NULL;
	copy->function = node->function;
	copy->parent = parent;
	if (hooks.header->measurement == TALLY_TRACE)
		copy->number = ++thread->paths_numbered;
	*edge = before ? *before : (struct tally_edge){ .site = site, .function = node->function };
	edge->count = 0;
	edge->child = copy;
	edge->next = parent->edges;
	thread->nodes++;
	__atomic_store_n(&parent->edges, edge, __ATOMIC_RELEASE);
	return copy;
}

bool hooks_copy_frames(struct hook_thread *thread, const struct hook_frame *top)
{
	struct tally_node *last = thread->frames->node;
	const struct tally_node *last_before = NULL;
	for (struct hook_frame *frame = thread->frames + 1; frame <= top; frame++) {
		const struct tally_node *before = frame->node;
		if (before && !before->function)
			last = thread->frames->node;
		else if (before && before != last_before)
			last = copy_node(thread, last, before, frame->site);
		if (!last)
			return false;
		last_before = before;
		frame->node = last;
		thread->top = frame;
	}
	return true;
}
