#include "collect/sample/stacks/stack.h"

#include <stdlib.h>

#include "arch/arch.h"
#include "base/array.h"
#include "collect/sample/stacks/call_edges.h"
#include "collect/sample/stacks/deep_stack.h"
#include "collect/sample/stacks/interpreted.h"
#include "collect/sample/stacks/path_tree.h"
#include "collect/sample/stacks/stack_memory.h"
#include "collect/sample/stacks/walked_path.h"
#include "profile/module_name.h"

enum { FRAMES_MAX = 256 * 1024 };

struct stacks {
	struct profile *profile;
	struct processes *processes;
	struct modules *modules;
	struct unwind_frame *frames;
	uint32_t kernel_location, incomplete_location;
	uint32_t kernel_module; /* id in the profile's modules */
	bool shows_kernel;
	struct path_tree tree;

	/* The current sample. */
	const struct backend_sample *sample;
	struct thread *thread;
	struct process *process;
	struct stack_memory memory;
	bool false_root;       /* the walk ended at a root that no unwind rule confirms */
	size_t join;           /* index of the remembered frame where the walk stopped */
	uint64_t outermost_sp; /* in the outermost frame; 0: unknown */
	size_t first_outside;  /* index of the first frame found by a return address that was not copied; 0: none */

	bool went_generated; /* the walk went through generated code */
	struct interpreted *interpreted;
	struct interpreted_path interpreted_path;
	uint64_t *sps; /* of the native frames; owned */
	size_t sp_capacity;

	bool is_cut; /* too little of the stack was copied */
	struct call_edges *edges;
	struct walk_ends ends;
	struct stacks_cut cut_recently;
};

/* --- creation and release --- */

static int add_module(struct modules *modules, const char *name, uint32_t *id)
{
	int64_t module = modules_add_name(modules, name, MODULE_KERNEL);
	if (module >= 0)
		*id = modules_get(modules, (uint32_t)module, NULL, false)->id;
	return module < 0 ? (int)module : 0;
}

/* Adds a location without an address, which has only a name. */
static int add_name(struct stacks *stacks, struct modules *modules, const char *name, uint32_t *location)
{
	uint32_t id = 0;
	int status = add_module(modules, name, &id);
	if (status < 0)
		return status;
	int64_t added = profile_add_location(stacks->profile, id, 0);
	*location = (uint32_t)added;
	return added < 0 ? (int)added : 0;
}

struct stacks *stacks_new(struct profile *profile, struct processes *processes, struct modules *modules)
{
	struct stacks *stacks = calloc(1, sizeof(*stacks));
	if (!stacks)
		return NULL;
	stacks->profile = profile;
	stacks->processes = processes;
	stacks->modules = modules;
	uint32_t unknown_location = 0;
	stack_memory_init(&stacks->memory, processes);
	walk_ends_init(&stacks->ends);
	stacks->frames = malloc(FRAMES_MAX * sizeof(*stacks->frames));
	stacks->edges = call_edges_new(modules);
	stacks->interpreted = interpreted_new(profile);
	if (!stacks->frames || !stacks->edges || !stacks->interpreted ||
	    add_module(modules, MODULE_NAME_KERNEL, &stacks->kernel_module) < 0 ||
	    add_name(stacks, modules, "[kernel: exec or exit]", &stacks->kernel_location) < 0 ||
	    add_name(stacks, modules, "[incomplete stack]", &stacks->incomplete_location) < 0 ||
	    add_name(stacks, modules, "[unknown code]", &unknown_location) < 0) {
		stacks_free(stacks);
		return NULL;
	}
	path_tree_init(&stacks->tree, profile, unknown_location);
	return stacks;
}

void stacks_free(struct stacks *stacks)
{
	if (!stacks)
		return;
	stack_memory_release(&stacks->memory);
	call_edges_free(stacks->edges);
	interpreted_free(stacks->interpreted);
	free(stacks->sps);
	walk_ends_release(&stacks->ends);
	path_tree_release(&stacks->tree);
	free(stacks->frames);
	free(stacks);
}

struct stacks_cut stacks_cut_recently(struct stacks *stacks)
{
	struct stacks_cut cut = stacks->cut_recently;
	stacks->cut_recently = (struct stacks_cut){ 0 };
	return cut;
}

int stacks_describe(struct stacks *stacks, uint32_t pid, const struct interpreted_code *code, size_t bytes)
{
	return interpreted_describe(stacks->interpreted, pid, code, bytes);
}

struct walk_ends *stacks_ends(struct stacks *stacks)
{
	return &stacks->ends;
}

/* --- callbacks of the unwinder --- */

static int read_word(void *context, uint64_t address, uint64_t *value)
{
	struct stacks *stacks = context;
	return stack_memory_read(&stacks->memory, address, value);
}

static int read_code(void *context, uint64_t address, uint64_t *value)
{
	struct stacks *stacks = context;
	return stack_memory_read_code(&stacks->memory, address, value);
}

static int module_at(void *context, uint64_t pc, struct unwind_module *module)
{
	struct stacks *stacks = context;
	return processes_module_at(stacks->processes, stacks->process, pc, module);
}

static bool joins(void *context, const struct unwind_frame *frame)
{
	struct stacks *stacks = context;
	const struct deep_stack *deep = stacks->thread->deep;
	/* Equal native frames may interpret other functions now. */
	if (stacks->sample->interpreted_count > 0)
		return false;
	/* The stack of a signal handler may be above everything that was compared. */
	if (frame->sp < stacks->memory.same_from || !deep || frame->sp >= deep->top)
		return false;
	stacks->join = deep_stack_find(deep, frame);
	return stacks->join != SIZE_MAX;
}

/* --- from frames to the tree --- */

/* Adds the frames [0, count), outermost last, below `node`. Returns the innermost node, or a negative
 * error. */
static int64_t add_path(struct stacks *stacks, uint32_t node, size_t count, struct deep_stack *deep)
{
	for (size_t i = count; i > 0; i--) {
		const struct unwind_frame *frame = &stacks->frames[i - 1];
		int64_t added = path_tree_add(&stacks->tree, node, frame, 0);
		if (added < 0)
			return added;
		added = interpreted_add(&stacks->interpreted_path, i - 1, (uint32_t)added);
		if (added < 0)
			return added;
		node = (uint32_t)added;
		struct deep_frame kept = { .pc = frame->pc, .sp = frame->sp, .fp = frame->fp, .node = node };
		if (deep && deep_stack_push(deep, &kept) < 0)
			return ERROR_MEMORY;
	}
	return node;
}

static int64_t add_name_node(struct stacks *stacks, uint32_t location)
{
	return profile_add_node(stacks->profile, PROFILE_ROOT, location);
}

/* Returns the node below which the current stack begins, which is whole. */
static uint32_t base_of(const struct stacks *stacks)
{
	const struct thread *thread = stacks->thread;
	bool is_copy = thread->base_copied != 0 && thread->base_copied == stacks->outermost_sp;
	return is_copy ? PROFILE_ROOT : thread->base_node;
}

bool stacks_is_cut(const struct stacks *stacks)
{
	return stacks->is_cut;
}

uint64_t stacks_outermost_sp(const struct stacks *stacks)
{
	return stacks->outermost_sp;
}

/* Adds the path of a complete stack of which only a part was copied. */
static int64_t add_deep_path(struct stacks *stacks, const struct unwind_result *result)
{
	if (!stacks->thread->deep)
		stacks->thread->deep = deep_stack_new();
	struct deep_stack *deep = stacks->thread->deep;
	if (!deep)
		return ERROR_MEMORY;
	uint32_t node = base_of(stacks);
	size_t count = result->count;
	if (result->joined) {
		node = deep->frames[stacks->join].node;
		count--; /* the frame that joins has its node already */
	}
	if (stack_memory_store(&stacks->memory, deep, result->joined) < 0)
		return ERROR_MEMORY;
	deep->frame_count = result->joined ? stacks->join + 1 : 0;
	deep->is_generated = stacks->went_generated;
	return add_path(stacks, node, count, deep);
}

/* Returns whether a frame is at its file's entry point. The code there, such as ld.so's, may have no
 * unwind rule that marks the root. */
static bool is_entry(const struct stacks *stacks, const struct unwind_frame *frame)
{
	enum { ENTRY_BYTES = 64 };
	const struct module *module =
		frame->module == UINT32_MAX ? NULL : modules_by_id(stacks->modules, frame->module);
	return module && module->file && frame->address - elf_file_entry(module->file) < ENTRY_BYTES;
}

static enum unwind_cause cause_of(const struct stacks *stacks, const struct unwind_result *result)
{
	enum unwind_cause cause = result->joined ? UNWIND_ROOT : result->cause;
	bool is_rooted = unwind_cause_is_root(cause);
	if (cause == UNWIND_NO_RULE_AT_PC && is_entry(stacks, &stacks->frames[result->count - 1]))
		return UNWIND_ROOT;
	if (is_rooted && stacks->memory.above == ABOVE_REMEMBERED)
		return UNWIND_ROOT_REMEMBERED;
	if (is_rooted && (stacks->memory.above == ABOVE_LIVE || stacks->memory.used_pages))
		return UNWIND_ROOT_COMPLETED;
	if (cause == UNWIND_UNREADABLE && result->count == 1 && stacks->sample->stack_bytes == 0)
		return UNWIND_NO_USER_STACK;
	if (cause == UNWIND_UNREADABLE && stacks->memory.above != ABOVE_NOT_ASKED)
		return UNWIND_STACK_SHORT;
	return cause;
}

static uint64_t stack_start(void *context)
{
	struct stacks *stacks = context;
	return processes_stack_start(stacks->processes, stacks->process);
}

/* Walks the stack. `distrust_live`: the target's memory was found to have changed. */
static struct unwind_result walk(struct stacks *stacks, bool distrust_live)
{
	const struct backend_sample *sample = stacks->sample;
	stack_memory_begin(&stacks->memory, sample, stacks->process, stacks->thread->deep, distrust_live);
	/* In a system call the pc is behind the instruction that is being executed, which may be
	 * its function's last one. */
	struct arch_registers registers = sample->registers;
	uint64_t *pc = &registers.value[ARCH_PC_REGISTER];
	uint8_t code[ARCH_SYSTEM_CALL_BYTES];
	if (sample->in_kernel &&
	    processes_code(stacks->processes, stacks->process, *pc - sizeof(code), code, sizeof(code)) &&
	    arch_ends_in_system_call(code))
		*pc -= sizeof(code);
	/* clang-format off */
	struct unwind_source source = { .module_at = module_at, .read = read_word, .read_code = read_code, .joins = joins,
					.stack_start = stack_start, .context = stacks };
	/* clang-format on */
	return unwind_walk(&source, &registers, stacks->frames, FRAMES_MAX);
}

/* Returns the row of a frame, or NULL if it has none. */
static const struct unwind_row *row_of(const struct stacks *stacks, const struct unwind_frame *frame)
{
	const struct module *module =
		frame->module == UINT32_MAX ? NULL : modules_by_id(stacks->modules, frame->module);
	const struct unwind_table *table = modules_table_at(module, frame->address);
	return table ? unwind_table_row(table, frame->address) : NULL;
}

/* Returns whether frame number `index` has no caller, by the unwind rules or as a runtime made it. */
static bool is_outermost(const struct stacks *stacks, size_t index)
{
	const struct unwind_frame *frame = &stacks->frames[index];
	const struct unwind_row *row = row_of(stacks, frame);
	return row && (row->kind == UNWIND_END || row->kind == UNWIND_NO_RULE ||
		       (index > 0 && call_edges_is_made(stacks->edges, frame)));
}

/* Returns whether the caller of this frame is code that a signal interrupted, by the signal's frame in the
 * copied stack. */
static bool is_interrupted(const struct stacks *stacks, const struct unwind_frame *frame)
{
	const struct unwind_row *row = row_of(stacks, frame);
	return row && row->kind == UNWIND_SIGNAL && stack_memory_has(&stacks->memory, frame->sp);
}

/* Returns how many frames, from the innermost on, are credible. Pairs of frames whose return address was
 * copied are certain, and are learnt. All other pairs must fit. */
static size_t count_plausible(struct stacks *stacks, const struct unwind_result *result)
{
	size_t count = result->count;
	const struct unwind_frame *frames = stacks->frames;
	enum { TEACH_MAX = 256 }; /* the inner frames: the others were learnt before */
	bool teach = stacks->thread->deep || stack_memory_went_outside(&stacks->memory);
	stacks->first_outside = 0;
	stacks->false_root = false;
	for (size_t i = 1; teach && i < count; i++) {
		uint64_t slot = frames[i].sp - sizeof(uint64_t);
		bool copied = stack_memory_has(&stacks->memory, slot) || is_interrupted(stacks, &frames[i - 1]);
		if (!copied && stacks->first_outside == 0)
			stacks->first_outside = i;
		if (copied && i < TEACH_MAX)
			call_edges_add(stacks->edges, &frames[i], &frames[i - 1]);
		else if (!copied && !call_edges_fit(stacks->edges, &frames[i], &frames[i - 1]))
			return i;
	}
	/* A return address of 0 is a root, but memory that was read late may contain zeros. The frame
	 * itself is certain if its own return address was copied. */
	bool is_zero = stacks->memory.zero_outside && unwind_cause_is_root(result->cause) && !result->is_new_thread;
	bool doubtful = stacks->first_outside || is_zero;
	stacks->false_root = doubtful && !result->joined && !is_outermost(stacks, count - 1);
	return stacks->false_root && stacks->first_outside ? count - 1 : count;
}

/* Walks the stack, and once more without the target's memory if that had changed. */
static struct unwind_result walk_believably(struct stacks *stacks, enum unwind_cause *cause)
{
	struct unwind_result result = walk(stacks, false);
	size_t count = count_plausible(stacks, &result);
	bool changed = count < result.count || stacks->false_root ||
		       (stacks->memory.above == ABOVE_LIVE && !unwind_cause_whole(cause_of(stacks, &result)));
	if (changed && stacks->memory.above == ABOVE_LIVE && stacks->thread->deep) {
		result = walk(stacks, true);
		count = count_plausible(stacks, &result);
	}
	*cause = cause_of(stacks, &result);
	if (count < result.count || stacks->false_root) {
		result.count = count;
		*cause = UNWIND_STACK_SHORT;
	}
	return result;
}

/* Returns the assumed callers of the first frame whose return address was not copied, in a stack that
 * could not be completed: if the frame's function always had the same callers with a frame at that
 * position, it is taken to have them now. PROFILE_NONE: unknown. */
static uint32_t find_callers(struct stacks *stacks, const struct unwind_result *result)
{
	size_t outside = stacks->first_outside;
	/* Only for a stack that is cut exactly there. `outside` is 0 if not even one return address could be
	 * read. */
	if (outside == 0 || result->count != outside)
		return PROFILE_NONE;
	return call_edges_find_callers(stacks->edges, stacks->thread->id, &stacks->frames[outside - 1],
				       stacks->frames[outside].sp);
}

/* Remembers, for later samples, the callers of the first frame whose return address was not copied, in a
 * complete stack. */
static void store_callers(struct stacks *stacks, const struct unwind_result *result, uint32_t node)
{
	enum { CLIMB_MAX = 256 };
	size_t outside = stacks->first_outside;
	if (outside == 0 || outside >= result->count || outside > CLIMB_MAX)
		return;
	for (size_t i = 0; i < outside; i++)
		node = stacks->profile->nodes[node].parent;
	call_edges_store_callers(stacks->edges, stacks->thread->id, &stacks->frames[outside - 1],
				 stacks->frames[outside].sp, node);
}

/* Adds a path that does not reach its root and cannot be completed. */
static int64_t add_broken_path(struct stacks *stacks, const struct unwind_result *result)
{
	int64_t node = add_name_node(stacks, stacks->incomplete_location);
	return node < 0 ? node : add_path(stacks, (uint32_t)node, result->count, NULL);
}

/* --- stacks that the backend unwound --- */

/* Prepares to add the interpreter's frames to the path, by the stack pointers of the native
 * frames. If these are not known, a whole path is not whole. Returns 0 or ERROR_MEMORY. */
static int begin_interpreted(struct stacks *stacks, const uint64_t *sps, size_t frames, enum unwind_cause *cause)
{
	const struct backend_sample *sample = stacks->sample;
	stacks->interpreted_path = (struct interpreted_path){ 0 };
	if (sample->interpreted_count == 0 && !interpreted_has_failed(sample))
		return 0;
	int result = sps && sample->interpreted_end == INTERPRETED_WHOLE
			     ? interpreted_begin(stacks->interpreted, sample, sps, frames, &stacks->interpreted_path)
			     : ERROR_CORRUPT;
	if (result < 0 && unwind_cause_whole(*cause))
		*cause = UNWIND_INTERPRETER;
	return result == ERROR_MEMORY ? result : 0;
}

/* The same for a stack that was unwound here. */
static int begin_unwound(struct stacks *stacks, size_t frames, enum unwind_cause *cause)
{
	if (ARRAY_RESERVE(stacks->sps, stacks->sp_capacity, frames) < 0)
		return ERROR_MEMORY;
	for (size_t i = 0; stacks->sample->interpreted_count > 0 && i < frames; i++)
		stacks->sps[i] = stacks->frames[i].sp;
	return begin_interpreted(stacks, stacks->sps, frames, cause);
}

static int64_t add_walked(struct stacks *stacks, enum unwind_cause *cause)
{
	struct walked_path path = {
		.tree = &stacks->tree,
		.processes = stacks->processes,
		.process = stacks->process,
		.base = stacks->thread->base_node,
		.interpreted = &stacks->interpreted_path,
	};
	*cause = stacks->sample->cause;
	int begun = begin_interpreted(stacks, stacks->sample->stack_pointers, stacks->sample->address_count, cause);
	if (begun < 0)
		return begun;
	stacks->went_generated = *cause == UNWIND_ROOT_NAMELESS;
	int64_t node = walked_path_add_whole(&path, stacks->sample, cause);
	if (unwind_cause_whole(*cause))
		return node;
	node = add_name_node(stacks, stacks->incomplete_location);
	return node < 0 ? node : walked_path_add_broken(&path, (uint32_t)node, stacks->sample);
}

/* --- stacks that are unwound here --- */

static int64_t add_stack(struct stacks *stacks, enum unwind_cause *cause)
{
	struct unwind_result result = walk_believably(stacks, cause);
	int begun = begin_unwound(stacks, result.count, cause);
	if (begun < 0)
		return begun;
	bool whole = unwind_cause_whole(*cause);
	stacks->went_generated = result.used_generated || (result.joined && stacks->thread->deep->is_generated);
	bool cut = stack_memory_went_outside(&stacks->memory);
	stacks->cut_recently.stacks += cut;
	stacks->cut_recently.too_late += cut && !whole;
	stacks->is_cut = *cause == UNWIND_STACK_SHORT;
	bool is_interpreted = stacks->sample->interpreted_count > 0;
	uint32_t callers = whole || is_interpreted ? PROFILE_NONE : find_callers(stacks, &result);
	if (callers != PROFILE_NONE)
		*cause = UNWIND_ROOT_REMEMBERED;
	if (*cause == UNWIND_NO_USER_STACK)
		return add_name_node(stacks, stacks->kernel_location);
	if (callers != PROFILE_NONE)
		return add_path(stacks, callers, result.count, NULL);
	if (!whole)
		return add_broken_path(stacks, &result);
	stacks->outermost_sp = result.joined ? stacks->thread->deep->frames[0].sp : stacks->frames[result.count - 1].sp;
	bool deep = stacks->memory.above == ABOVE_LIVE || stacks->memory.above == ABOVE_REMEMBERED;
	int64_t node = deep ? add_deep_path(stacks, &result) : add_path(stacks, base_of(stacks), result.count, NULL);
	if (node >= 0)
		store_callers(stacks, &result, (uint32_t)node);
	return node;
}

/* --- a sample --- */

/* Returns whether there is no user stack, only the kernel's own work. */
static bool is_kernel_work(const struct stacks *stacks, bool walked)
{
	const struct backend_sample *sample = stacks->sample;
	if (stacks->process->between_programs || sample->cause == UNWIND_NO_USER_STACK)
		return true;
	/* The kernel reports the end of a process before it removes the process's memory. */
	if (stacks->process->living == 0)
		return true;
	if (walked)
		return unwind_cause_whole(sample->cause) && sample->address_count == 0;
	/* In exec the registers still belong to the old program, whose stack no longer exists. */
	return !sample->has_registers || (sample->in_kernel && sample->stack_bytes == 0);
}

/* Adds the path of the current sample. Returns its node, and sets *cause to how its walk ended. */
static int64_t add_sample(struct stacks *stacks, enum unwind_cause *cause)
{
	const struct backend_sample *sample = stacks->sample;
	/* A stack that the backend could not unwind to its end may have been copied for us. */
	bool walked = unwind_cause_whole(sample->cause) ? sample->addresses != NULL : !sample->has_registers;
	if (sample->other_abi) {
		*cause = UNWIND_OTHER_ABI;
		return add_name_node(stacks, stacks->incomplete_location);
	}
	if (is_kernel_work(stacks, walked)) {
		*cause = UNWIND_NO_USER_STACK;
		return add_name_node(stacks, stacks->kernel_location);
	}
	return walked ? add_walked(stacks, cause) : add_stack(stacks, cause);
}

/* Makes a sample the current one, and adds its path. Returns its node, and sets *cause to how its walk
 * ended. */
static int64_t take_up(struct stacks *stacks, struct thread *thread, const struct backend_sample *sample,
		       enum unwind_cause *cause)
{
	stacks->sample = sample;
	stacks->thread = thread;
	stacks->outermost_sp = 0;
	stacks->went_generated = false;
	stacks->is_cut = false;
	stacks->process = processes_of(stacks->processes, thread);
	return add_sample(stacks, cause);
}

void stacks_show_kernel(struct stacks *stacks, bool shows)
{
	stacks->shows_kernel = shows;
}

int64_t stacks_add(struct stacks *stacks, struct thread *thread, const struct backend_sample *sample)
{
	enum unwind_cause cause = UNWIND_ROOT;
	int64_t node = take_up(stacks, thread, sample, &cause);
	const struct walk_end_place place = { (uint32_t)node, sample->time_ns, stacks->went_generated };
	int result = node < 0 ? (int)node : walk_ends_add(&stacks->ends, cause, &place);
	if (result < 0)
		return result;
	if (stacks->shows_kernel && sample->in_kernel && sample->kernel_count == 0)
		return kernel_path_add_whole(&stacks->tree, (uint32_t)node, stacks->kernel_module);
	return kernel_path_add(&stacks->tree, (uint32_t)node, stacks->kernel_module, sample);
}

int64_t stacks_add_uncounted(struct stacks *stacks, struct thread *thread, const struct backend_sample *sample)
{
	enum unwind_cause cause = UNWIND_ROOT;
	int64_t node = take_up(stacks, thread, sample, &cause);
	bool has_path = unwind_cause_whole(cause) && cause != UNWIND_NO_USER_STACK;
	return node < 0 || has_path ? node : PROFILE_ROOT;
}
