#include "collect/sample/stacks/call_edges.h"

#include <stdlib.h>

#include "arch/arch.h"
#include "arch/instruction.h"
#include "base/hash_map.h"

enum { RECENT_EDGES = 1024, RECENT_BITS = 10 };

static const uint32_t SEVERAL = PROFILE_NONE - 1;

struct call_edges {
	struct modules *modules;
	struct hash_map learnt;  /* hash of return address and called function -> 1 */
	struct hash_map callers; /* hash of thread, function and CFA -> node, or SEVERAL */
	/* Results for the pairs that were last tested. */
	struct recent_edge {
		uint64_t caller_address, callee_address;
		uint32_t caller_module, callee_module;
		bool known, fits;
	} recent[RECENT_EDGES];
};

struct call_edges *call_edges_new(struct modules *modules)
{
	struct call_edges *edges = calloc(1, sizeof(*edges));
	if (edges) {
		edges->modules = modules;
		hash_map_init(&edges->learnt);
		hash_map_init(&edges->callers);
	}
	return edges;
}

void call_edges_free(struct call_edges *edges)
{
	if (!edges)
		return;
	hash_map_release(&edges->learnt);
	hash_map_release(&edges->callers);
	free(edges);
}

static const struct module *module_of(const struct call_edges *edges, const struct unwind_frame *frame)
{
	return frame->module == UINT32_MAX ? NULL : modules_by_id(edges->modules, frame->module);
}

/* Returns the start of the function that a frame is in, or the frame's own address if the function is
 * unknown. */
static uint64_t function_of(const struct module *module, uint64_t address)
{
	const struct unwind_table *table = modules_table_at(module, address);
	uint64_t start = table ? unwind_table_function(table, address, NULL) : 0;
	return start ? start : address;
}

bool call_edges_is_made(const struct call_edges *edges, const struct unwind_frame *caller)
{
	enum { CODE_BYTES = 16 };
	const struct module *module = module_of(edges, caller);
	uint8_t code[CODE_BYTES];
	struct instruction first;
	const struct unwind_table *table = modules_table_at(module, caller->address);
	uint64_t start = table ? unwind_table_function(table, caller->address, NULL) : 0;
	return start && module->file && elf_file_copy(module->file, start, code, sizeof(code)) &&
	       instruction_decode(code, sizeof(code), start, &first) && first.is_padding &&
	       caller->address + 1 == start + first.bytes;
}

static uint64_t edge_key(const struct call_edges *edges, const struct unwind_frame *caller,
			 const struct unwind_frame *callee)
{
	uint64_t function = function_of(module_of(edges, callee), callee->address);
	uint64_t modules = (uint64_t)caller->module << 32 | callee->module;
	return hash_u64(caller->address ^ hash_u64(modules)) ^ hash_u64(function + 1);
}

static bool is_signal_frame(const struct module *module, uint64_t address)
{
	const struct unwind_table *table = modules_table_at(module, address);
	const struct unwind_row *row = table ? unwind_table_row(table, address) : NULL;
	return row && row->kind == UNWIND_SIGNAL;
}

/* Returns whether a function begins with a few instructions that jump to another one: a tail call. Conditional branches
 * inside of the function are passed over. */
static bool jumps_to(const struct module *module, uint64_t start, uint64_t function)
{
	enum { INSTRUCTIONS_MAX = 8, CODE_BYTES = 16 };
	uint8_t code[CODE_BYTES];
	struct instruction instruction;
	for (int i = 0; i < INSTRUCTIONS_MAX; i++) {
		if (!elf_file_copy(module->file, start, code, sizeof(code)) ||
		    !instruction_decode(code, sizeof(code), start, &instruction))
			return false;
		bool jumps = instruction.flow == INSTRUCTION_JUMP || instruction.flow == INSTRUCTION_BRANCH;
		if (jumps && instruction.has_target && function_of(module, instruction.target) == function)
			return true;
		if (instruction.flow != INSTRUCTION_NEXT && instruction.flow != INSTRUCTION_BRANCH)
			return false;
		start += instruction.bytes;
	}
	return false;
}

/* Returns whether the code in front of the return address can call the callee. */
static bool code_fits(const struct call_edges *edges, const struct unwind_frame *caller,
		      const struct unwind_frame *callee)
{
	const struct module *from = module_of(edges, caller);
	const struct module *to = module_of(edges, callee);
	if (!from || !from->file)
		return false;
	/* No call leads into a signal handler, or out of interrupted code. */
	if (is_signal_frame(from, caller->address) || is_signal_frame(to, callee->address))
		return true;
	if (call_edges_is_made(edges, caller))
		return true;
	uint64_t return_address = caller->address + 1;
	uint8_t code[ARCH_CALL_BYTES];
	uint64_t target;
	if (!elf_file_copy(from->file, return_address - sizeof(code), code, sizeof(code)) ||
	    arch_call_in(code, return_address, &target) != ARCH_CALL)
		return false;
	if (target == 0 || (from == to && function_of(to, target) == function_of(to, callee->address)))
		return true;
	if (from == to && jumps_to(to, target, function_of(to, callee->address)))
		return true;
	/* A stub leads to another module, or to an exported function of the same one: such an edge has to be learnt. */
	uint8_t stub[16];
	return from != to && elf_file_copy(from->file, target, stub, sizeof(stub)) && arch_is_stub(stub, sizeof(stub));
}

bool call_edges_fit(struct call_edges *edges, const struct unwind_frame *caller, const struct unwind_frame *callee)
{
	struct recent_edge pair = { .caller_address = caller->address,
				    .callee_address = callee->address,
				    .caller_module = caller->module,
				    .callee_module = callee->module,
				    .known = true };
	uint64_t mixed = (caller->address * 31 + callee->address) * UINT64_C(0x9e3779b97f4a7c15);
	struct recent_edge *recent = &edges->recent[mixed >> (64 - RECENT_BITS)];
	if (recent->known && recent->caller_address == pair.caller_address &&
	    recent->callee_address == pair.callee_address && recent->caller_module == pair.caller_module &&
	    recent->callee_module == pair.callee_module)
		return recent->fits;
	pair.fits = code_fits(edges, caller, callee) ||
		    hash_map_get(&edges->learnt, edge_key(edges, caller, callee)) != HASH_MAP_NONE;
	*recent = pair;
	return pair.fits;
}

void call_edges_add(struct call_edges *edges, const struct unwind_frame *caller, const struct unwind_frame *callee)
{
	if (call_edges_fit(edges, caller, callee))
		return;
	hash_map_put(&edges->learnt, edge_key(edges, caller, callee), 1);
	uint64_t mixed = (caller->address * 31 + callee->address) * UINT64_C(0x9e3779b97f4a7c15);
	edges->recent[mixed >> (64 - RECENT_BITS)].known = false;
}

static uint64_t frame_key(const struct call_edges *edges, uint32_t thread, const struct unwind_frame *inner,
			  uint64_t cfa)
{
	uint64_t function = function_of(module_of(edges, inner), inner->address);
	return hash_u64(cfa + hash_u64(function + hash_u64((uint64_t)thread << 32 | inner->module)));
}

void call_edges_store_callers(struct call_edges *edges, uint32_t thread, const struct unwind_frame *inner, uint64_t cfa,
			      uint32_t node)
{
	uint64_t key = frame_key(edges, thread, inner, cfa);
	uint32_t known = hash_map_get(&edges->callers, key);
	if (known == HASH_MAP_NONE || (known != node && known != SEVERAL))
		hash_map_put(&edges->callers, key, known == HASH_MAP_NONE ? node : SEVERAL);
}

uint32_t call_edges_find_callers(const struct call_edges *edges, uint32_t thread, const struct unwind_frame *inner,
				 uint64_t cfa)
{
	uint32_t known = hash_map_get(&edges->callers, frame_key(edges, thread, inner, cfa));
	return known == SEVERAL ? PROFILE_NONE : known;
}
