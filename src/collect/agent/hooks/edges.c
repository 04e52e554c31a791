/*
 * The edges of a node: the calls that were made from its path.
 *
 *   1. All edges of a node are in its list, in which no edge is ever moved. The first NEAR_EDGES are found by
 *      following it.
 *   2. Those behind are found in the thread's table of (node, edge). When the table grows, the old one stays,
 *      because a handler may have interrupted code that reads it. An edge that a handler puts into the old one
 *      meanwhile is not in the new one; a second edge is then made for the same call, and the reader adds the
 *      counts.
 *   3. An edge is linked in when it is complete, by one instruction that fails if a handler was faster.
 */
#include <sys/mman.h>
#include <sys/syscall.h>

#include "collect/agent/hooks/paths.h"
#include "processor/agent/machine.h"

enum { NEAR_EDGES = 8, PROBES = 64 };

struct tally_edge hooks_no_edge = { .call_site = UINT64_MAX, .function = UINT64_MAX, .after = &hooks_no_edge };

struct slot {
	struct tally_edge *edge;
	struct tally_node *node; /* written after `edge`; NULL: the slot is free */
};

struct hook_edges {
	uint64_t mask, count;
	struct slot slots[];
};

/* --- the table --- */

enum { ANY_CALL_SITE = 0 };

static uint64_t turn(uint64_t value, uint32_t bits)
{
	enum { BITS = 64 };
	return value << bits | value >> (BITS - bits);
}

static uint64_t hash(const struct tally_node *node, uint64_t call_site, uint64_t function)
{
	enum { THIRD = 21, HALF = 32 };
	const uint64_t golden = 0x9e3779b97f4a7c15;
	return (((uint64_t)(uintptr_t)node ^ turn(call_site, THIRD) ^ turn(function, 2 * THIRD)) * golden) >> HALF;
}

/* Returns the edge of a call; with `call_site` ANY_CALL_SITE, the edge that put_both has entered for any call of the
 * function. */
static struct tally_edge *look_up(const struct hook_edges *edges, const struct tally_node *node, uint64_t call_site,
				  uint64_t function)
{
	uint64_t at = hash(node, call_site, function);
	for (uint32_t i = 0; edges && i < PROBES; i++) {
		const struct slot *slot = &edges->slots[(at + i) & edges->mask];
		if (!slot->node)
			return NULL;
		if (slot->node == node && slot->edge->function == function &&
		    (slot->edge->call_site == call_site || call_site == ANY_CALL_SITE))
			return slot->edge;
	}
	return NULL;
}

/* Returns false if the first PROBES slots are all taken. */
static bool put(struct hook_edges *edges, struct tally_node *node, uint64_t call_site, struct tally_edge *edge)
{
	uint64_t at = hash(node, call_site, edge->function);
	for (uint32_t i = 0; i < PROBES; i++) {
		struct slot *slot = &edges->slots[(at + i) & edges->mask];
		if (slot->node)
			continue;
		slot->edge = edge;
		__atomic_signal_fence(__ATOMIC_SEQ_CST);
		slot->node = node;
		edges->count++;
		return true;
	}
	return false;
}

static struct hook_edges *new_table(uint64_t slots)
{
	uint64_t bytes = sizeof(struct hook_edges) + slots * sizeof(struct slot);
	long memory = machine_syscall(SYS_mmap, 0, (long)bytes, PROT_READ | PROT_WRITE,
				      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (memory < 0 && memory > -4096)
		return NULL;
	struct hook_edges *edges = (struct hook_edges *)memory;
	edges->mask = slots - 1;
	return edges;
}

/* Enters an edge by its call site, and also as ANY_CALL_SITE if it is the node's first edge to the function in the
 * table. */
static void put_both(struct hook_edges *edges, struct tally_node *node, struct tally_edge *edge)
{
	if (!look_up(edges, node, ANY_CALL_SITE, edge->function))
		put(edges, node, ANY_CALL_SITE, edge);
	if (!look_up(edges, node, edge->call_site, edge->function))
		put(edges, node, edge->call_site, edge);
}

static void grow(struct hook_thread *thread)
{
	enum { FIRST_SLOTS = 1024, TIMES = 4 };
	const struct hook_edges *old = thread->edges;
	struct hook_edges *edges = new_table(old ? (old->mask + 1) * TIMES : FIRST_SLOTS);
	if (!edges)
		return;
	for (uint64_t i = 0; old && i <= old->mask; i++) {
		const struct slot *slot = &old->slots[i];
		if (!slot->node)
			continue;
		put_both(edges, slot->node, slot->edge);
	}
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	thread->edges = edges;
}

static void enlist(struct hook_thread *thread, struct tally_node *node, struct tally_edge *edge)
{
	if (!thread->edges || thread->edges->count * 2 > thread->edges->mask)
		grow(thread);
	if (thread->edges)
		put_both(thread->edges, node, edge);
}

/* --- edges --- */

static bool is_for(const struct tally_edge *edge, const struct hook_call *call)
{
	return edge->call_site == call->call_site && edge->function == call->function;
}

struct tally_edge *hooks_edge_find(const struct hook_thread *thread, const struct tally_node *node,
				   const struct hook_call *call)
{
	struct tally_edge *edge = node->edges;
	uint32_t passed = 0;
	while (edge && passed < NEAR_EDGES && !is_for(edge, call)) {
		edge = edge->next;
		passed++;
	}
	return passed < NEAR_EDGES ? edge : look_up(thread->edges, node, call->call_site, call->function);
}

/* --- new edges --- */

/* Returns the child that another edge of the node has for this function, or NULL if there is none. */
static struct tally_node *find_child(const struct hook_thread *thread, const struct tally_node *node, uint64_t function)
{
	uint32_t passed = 0;
	for (const struct tally_edge *edge = node->edges; edge && passed < NEAR_EDGES; edge = edge->next, passed++)
		if (edge->function == function && !(edge->flags & TALLY_EDGE_FOLDED))
			return edge->child;
	if (passed < NEAR_EDGES)
		return NULL;
	const struct tally_edge *edge = look_up(thread->edges, node, ANY_CALL_SITE, function);
	return edge && !(edge->flags & TALLY_EDGE_FOLDED) ? edge->child : NULL;
}

static struct tally_node *new_node(struct hook_thread *thread, struct tally_node *parent, uint64_t function)
{
	struct tally_node *node = tally_object_new(thread, sizeof(*node));
	if (!node)
		return NULL;
	node->function = function;
	node->parent = parent;
	node->recent = &hooks_no_edge;
	thread->nodes++;
	if (hooks.header->measurement == TALLY_TRACE)
		node->number = __atomic_add_fetch(&thread->paths_numbered, 1, __ATOMIC_RELAXED);
	return node;
}

/* Appends an edge to the node's list, or, if the list is longer, inserts it behind the first NEAR_EDGES. */
static void link_edge(struct hook_thread *thread, struct tally_node *node, struct tally_edge *edge)
{
	struct tally_edge **at = &node->edges;
	uint32_t count = 0;
	for (; *at && count < NEAR_EDGES; at = &(*at)->next)
		count++;
	do
		edge->next = *at;
	while (!machine_replace(at, edge->next, edge));
	if (count == NEAR_EDGES)
		enlist(thread, node, edge);
}

static struct tally_edge *new_edge(struct hook_thread *thread, struct tally_node *node, const struct hook_call *call,
				   struct tally_node *child, uint32_t flags)
{
	struct tally_edge *edge = tally_object_new(thread, sizeof(*edge));
	if (!edge)
		return NULL;
	edge->call_site = call->call_site;
	edge->function = call->function;
	edge->child = child;
	edge->after = edge;
	edge->flags = call->flags | flags | (hooks_call_is_within(call) ? TALLY_EDGE_WITHIN : 0);
	edge->code = call->code ? call->code : call->distance;
	link_edge(thread, node, edge);
	return edge;
}

/* The thread has too many nodes for a new one. Returns a node with the same function: the nearest one towards the
 * root or, if there is none, a child of the root, which is made if necessary. Returns NULL if there is no memory. */
static struct tally_node *fold(struct hook_thread *thread, struct tally_node *node, const struct hook_call *call)
{
	struct tally_node *root = &thread->shared->root;
	struct tally_node *child;
	for (child = node; child && child->function != call->function; child = child->parent)
		;
	if (!child)
		child = find_child(thread, root, call->function);
	if (child)
		return child;
	child = new_node(thread, root, call->function);
	const struct hook_call foreign = { .function = call->function,
					   .call_site = call->call_site,
					   .code_address = call->code_address,
					   .flags = TALLY_EDGE_FOREIGN,
					   .code = call->code };
	return child && new_edge(thread, root, &foreign, child, 0) ? child : NULL;
}

struct wanted {
	struct hook_thread *thread;
	struct tally_node *node;
	const struct hook_call *call;
};

/* Records which hook reported the call, so that reports can state how the program was compiled. Among the hooks that
 * report entries only, __fentry__ is called by a function's first instruction, or by the instruction behind a landing mark. */
static void note_hook(const struct hook_call *call)
{
	enum { ENTRIES = TALLY_HOOK_MCOUNT | TALLY_HOOK_FENTRY, FIRST_CALL_END = 10 };
	uint32_t hook = TALLY_HOOK_CYG;
	uint64_t start, end;
	if ((!call->code && hooks.process->hooks & ENTRIES) || call->return_slot & HOOK_FRAME_PROBE)
		return;
	if (!call->code)
		hook = hooks_function_bounds(call->function, &start, &end) &&
				       call->function - start <= FIRST_CALL_END &&
				       !machine_pushes_frame_pointer((const uint8_t *)(uintptr_t)start)
			       ? TALLY_HOOK_FENTRY
			       : TALLY_HOOK_MCOUNT;
	if (!(hooks.process->hooks & hook))
		__atomic_or_fetch(&hooks.process->hooks, hook, __ATOMIC_RELAXED);
}

static uint64_t make(void *argument, uint64_t has_child)
{
	const struct wanted *wanted = argument;
	struct hook_thread *thread = wanted->thread;
	const struct hook_call *call = wanted->call;
	struct tally_node *child = NULL;
	uint32_t flags = 0;
	tally_register_code(call->call_site);
	tally_register_code(call->function);
	note_hook(call);
	if (has_child) {
		child = find_child(thread, wanted->node, call->function);
		if (!child && thread->nodes >= TALLY_NODES_MAX && wanted->node != &thread->shared->root)
			flags = TALLY_EDGE_FOLDED;
		if (!child)
			child = flags ? fold(thread, wanted->node, call)
				      : new_node(thread, wanted->node, call->function);
		if (!child)
			return 0;
	}
	return (uintptr_t)new_edge(thread, wanted->node, call, child, flags);
}

struct tally_edge *hooks_edge_new(struct hook_thread *thread, struct tally_node *node, const struct hook_call *call,
				  bool has_child)
{
	struct wanted wanted = { thread, node, call };
	return (struct tally_edge *)(uintptr_t)hooks_keep_vectors(make, &wanted, has_child);
}

void hooks_clear_arcs(struct hook_thread *thread)
{
	if (hooks.measurement != &hooks_arcs && hooks.measurement != &hooks_blocks)
		return;
	for (uint32_t i = 0; i < HOOK_CACHE; i++)
		thread->cache[i] = &hooks_no_edge;
}
