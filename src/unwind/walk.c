/* Walks a stack by unwind tables. */
#include "arch/arch.h"
#include "unwind/cfi.h"

enum { RECENT_ROWS = 16 }; /* 4 bits of a hash */

/*
 * A walk. Invariants:
 *
 * 1. `now` has the registers that rows need, of the last frame that is written; they are known and exact. pc is exact
 *    also in callers, where frames[].pc is not.
 * 2. frames[0 .. result.count) are written; the last one is the frame of `now`.
 * 3. `full` has all registers that are known at frames[full_frame]. The fast path does not update it; a step that
 *    needs more registers than rows first updates it frame by frame. The fast path and this update each pass a frame
 *    at most once, so a walk is linear.
 *
 *    locate -> step -+-> arch_step     the row has an equation
 *      ^             +-> step_slow     UNWIND_SLOW: the CFI itself
 *      |             +-> step_generated  UNWIND_FRAME: code that a run-time compiler made
 *      |             +-> step_no_rule  signal return, call site, frame pointer
 *      +--- enter <--+
 */
struct walk {
	const struct unwind_source *source;
	struct arch_memory memory; /* the source's */
	struct arch_memory code;   /* ... for generated code */
	struct unwind_frame *frames;
	struct arch_frame now;
	bool is_caller;  /* it was found by a return address: look it up by pc - 1 */
	bool from_lisp;  /* a row UNWIND_LISP led to it */
	bool from_frame; /* a frame pointer of generated code did */
	bool left_stack; /* a frame pointer of generated code led to another stack */
	bool has_module;
	struct unwind_module module; /* of `now`, if has_module */
	uint64_t goroutine;          /* a goroutine of the thread, of Go; 0: unknown */
	struct cfi_frame full;
	size_t full_frame;
	/* Cache of rows by pc: a recursion searches once, not at each depth. */
	struct {
		uint64_t pc;
		const struct unwind_row *row;
	} recent[RECENT_ROWS];
	struct unwind_result result;
};

enum { CONTINUE = -1 }; /* any other value is an enum unwind_cause, which ends the walk */

static const struct unwind_row *row_at(const struct unwind_module *module, uint64_t address)
{
	if (module->is_generated)
		return &unwind_row_generated;
	return module->table ? unwind_table_row(module->table, address) : NULL;
}

/* Returns the row of a frame directly after `locate`, or NULL if there is none. */
static const struct unwind_row *recent_row(struct walk *walk, const struct unwind_frame *frame)
{
	/* Multiplicative hashing (Knuth, The Art of Computer Programming, 6.4). */
	size_t at = (size_t)(frame->pc * UINT64_C(0x9e3779b97f4a7c15) >> 60);
	if (walk->recent[at].pc != frame->pc) {
		walk->recent[at].pc = frame->pc;
		walk->recent[at].row = walk->has_module ? row_at(&walk->module, frame->address) : NULL;
	}
	return walk->recent[at].row;
}

static bool in_text(const struct unwind_module *module, uint64_t pc)
{
	const struct unwind_table *table = module->table;
	return table && pc - module->bias - table->base < table->text_size &&
	       !(table->has_gaps && unwind_table_function(table, pc - module->bias, NULL) == 0);
}

static bool is_here(const struct walk *walk, uint64_t pc)
{
	return walk->has_module && in_text(&walk->module, pc);
}

/* Writes the frame of `now`. Tries the last frame's module first, because most calls stay in their module. */
static struct unwind_frame *locate(struct walk *walk)
{
	uint64_t pc = walk->now.pc - walk->is_caller;
	struct unwind_frame *frame = &walk->frames[walk->result.count++];
	if (!is_here(walk, pc))
		walk->has_module = walk->source->module_at(walk->source->context, pc, &walk->module) == 0;
	*frame = (struct unwind_frame){
		.pc = pc,
		.address = walk->has_module ? pc - walk->module.bias : pc,
		.sp = walk->now.sp,
		.fp = walk->now.fp,
		.module = walk->has_module ? walk->module.id : UINT32_MAX,
	};
	return frame;
}

static int unreadable(struct walk *walk, uint64_t address)
{
	walk->result.unreadable = address;
	return UNWIND_UNREADABLE;
}

static int root(const struct walk *walk)
{
	if (walk->result.used_frame_pointer)
		return UNWIND_ROOT_FRAME_POINTER;
	return walk->result.used_generated ? UNWIND_ROOT_NAMELESS : UNWIND_ROOT;
}

static bool grows(const struct walk *walk, const struct arch_frame *caller)
{
	bool keeps = ARCH_LEAF_KEEPS_SP && !walk->is_caller && caller->sp == walk->now.sp;
	return keeps || caller->sp > walk->now.sp;
}

/* Makes the caller the present frame. The stack must grow, so that no loop is endless, unless the step `switches`
 * stacks: a signal frame (an alternate stack), a goroutine's call of C, or code such as longjmp that has installed only
 * some registers of another stack. */
static int enter(struct walk *walk, const struct arch_frame *caller, bool was_signal, bool switches)
{
	if (!switches && !grows(walk, caller))
		return UNWIND_NO_PROGRESS;
	walk->now = *caller;
	walk->is_caller = !was_signal;
	return caller->pc == 0 ? root(walk) : CONTINUE;
}

static bool is_known_code(const struct walk *walk, uint64_t pc)
{
	struct unwind_module module;
	return walk->source->module_at(walk->source->context, pc, &module) == 0;
}

/* --- by a rule that may be wrong --- */

/*
 * Steps from the innermost frame to code of the same function. Assembler calls routines within itself, by rules that
 * ignore these calls: LuaJIT's interpreter has one row for all of its code. Such a rule takes another word for the
 * return address. The instructions up to the routine's return give its position; if they do not decide, it is at
 * the stack pointer, which is a guess.
 */
static bool step_from_routine(struct walk *walk, struct arch_frame *caller)
{
	const struct unwind_frame *last = &walk->frames[walk->result.count - 1];
	uint64_t target, size, bias = walk->module.bias;
	*caller = walk->now;
	bool is_exact = arch_generated_step(&walk->memory, &walk->memory, caller);
	if ((!is_exact && !arch_guess_return(&walk->memory, 0, caller)) || !walk->has_module || !walk->module.table)
		return false;
	uint64_t start = unwind_table_function(walk->module.table, last->address, &size);
	if (start == 0 || caller->pc - bias - start > size || caller->sp <= walk->now.sp ||
	    arch_call_before(&walk->memory, caller->pc, &target) != ARCH_CALL || target - bias - start - 1 >= size - 1)
		return false;
	walk->result.used_frame_pointer |= !is_exact;
	return true;
}

/* Enters the caller that a rule led to. The innermost function's rule is doubted if its caller is no known code. A
 * return address of 0 is the root only behind a caller: nothing shows that the rule of the innermost function holds. */
static int enter_by_rule(struct walk *walk, const struct arch_frame *caller, bool switches)
{
	struct arch_frame routine;
	if (walk->is_caller || (!switches && !grows(walk, caller)))
		return enter(walk, caller, false, switches);
	bool is_doubtful = caller->pc == 0 || !(is_here(walk, caller->pc - 1) || is_known_code(walk, caller->pc - 1));
	if (is_doubtful && step_from_routine(walk, &routine))
		return enter(walk, &routine, false, false);
	if (is_doubtful && caller->pc == 0)
		return UNWIND_NO_CALLER;
	return enter(walk, caller, false, switches);
}

/* --- without a rule --- */

static bool is_stub(const struct walk *walk, uint64_t address)
{
	uint64_t code[2];
	return walk->memory.read(walk->memory.context, address, &code[0]) == 0 &&
	       walk->memory.read(walk->memory.context, address + sizeof(code[0]), &code[1]) == 0 &&
	       arch_is_stub((const uint8_t *)code, sizeof(code));
}

/* For code without a rule (assembler or crti's _init, for example) near its entry or exit: a word at the position of
 * a return address is one if a call precedes it, and a direct call has its target shortly before the pc or leads
 * through a stub. */
static bool step_by_call_site(const struct walk *walk, struct arch_frame *registers)
{
	enum { SMALL_FUNCTION_BYTES = 4096 };
	for (unsigned n = 0; n < ARCH_RETURN_GUESSES && !walk->is_caller; n++) {
		struct arch_frame caller = *registers;
		uint64_t target;
		if (!arch_guess_return(&walk->memory, n, &caller) ||
		    arch_call_before(&walk->memory, caller.pc, &target) != ARCH_CALL ||
		    (target != 0 && registers->pc - target >= SMALL_FUNCTION_BYTES && !is_stub(walk, target)) ||
		    !is_known_code(walk, caller.pc - 1))
			continue;
		*registers = caller;
		return true;
	}
	return false;
}

static bool step_by_frame_pointer(const struct walk *walk, struct arch_frame *registers)
{
	struct arch_frame caller = *registers;
	uint64_t target;
	if (!arch_frame_pointer_step(&walk->memory, &caller) || !is_known_code(walk, caller.pc - 1) ||
	    arch_call_before(&walk->memory, caller.pc, &target) == ARCH_NO_CALL)
		return false;
	*registers = caller;
	return true;
}

/* Returns whether a frame without a rule is start code: where the first thread's stack begins, there is no room for
 * more. musl describes no frame of its start code. */
static bool is_start_code(const struct walk *walk)
{
	uint64_t start = walk->source->stack_start ? walk->source->stack_start(walk->source->context) : 0;
	return unwind_is_start_code(walk->now.sp, start);
}

static bool ends_thread(const struct walk *walk, uint64_t pc)
{
	uint64_t code[2];
	return walk->code.read(walk->code.context, pc, &code[0]) == 0 &&
	       walk->code.read(walk->code.context, pc + sizeof(code[0]), &code[1]) == 0 &&
	       arch_ends_thread((const uint8_t *)code);
}

/* Returns whether a frame without a rule is the first one of a thread: its code ends the thread, or so does the code that it returns to, as
 * walk_begins_thread (collect/shared/row_walk.h). */
static bool begins_thread(const struct walk *walk)
{
	if (ends_thread(walk, walk->now.pc))
		return true;
	for (unsigned i = 0; i < UNWIND_START_WORDS; i++) {
		uint64_t word;
		if (walk->memory.read(walk->memory.context, walk->now.sp + i * sizeof(word), &word) != 0)
			return false;
		if (word != 0 && is_known_code(walk, word - 1) && ends_thread(walk, word))
			return true;
	}
	return false;
}

/* Enters the caller that a step without a rule has found. Such steps search from the stack pointer upwards. */
static int enter_above(struct walk *walk, const struct arch_frame *caller)
{
	return enter(walk, caller, false, false);
}

static int step_no_rule(struct walk *walk)
{
	struct arch_frame caller = walk->now;
	if (arch_is_sigreturn(&walk->memory, walk->now.pc)) {
		const struct unwind_row row = { .cfa = ARCH_SIGNAL_WORDS, .kind = UNWIND_SIGNAL };
		uint64_t address;
		if (!arch_step(&row, &walk->memory, &caller, &address))
			return unreadable(walk, address);
		return enter(walk, &caller, true, true);
	}
	if (!walk->is_caller && walk->result.count == 1 && arch_begins_thread(&walk->memory, &walk->full.registers))
		return root(walk);
	if (walk->is_caller && walk->has_module && (is_start_code(walk) || begins_thread(walk)))
		return root(walk);
	if (step_by_call_site(walk, &caller) || step_by_frame_pointer(walk, &caller)) {
		walk->result.used_frame_pointer = true;
		return enter_above(walk, &caller);
	}
	if (!walk->has_module)
		return UNWIND_NO_MODULE;
	if (walk->module.table && walk->module.table->is_haskell)
		return UNWIND_HASKELL;
	return walk->module.table && walk->module.table->row_count ? UNWIND_NO_RULE_AT_PC : UNWIND_NO_TABLE;
}

/* --- generated code --- */

/* Returns whether the leaf may not have made its frame yet or have none any more: as
 * walk_may_lack_frame (collect/shared/row_walk.h). */
static bool may_lack_frame(const struct walk *walk)
{
	uint64_t word;
	return !walk->is_caller && walk->memory.read(walk->memory.context, walk->now.sp, &word) == 0 &&
	       (word == walk->now.fp || is_known_code(walk, arch_code_address(word) - 1));
}

/* Returns whether a caller that the frame pointer led to can be one. Interpreters push return
 * addresses that no call precedes, but they are generated themselves. */
static bool is_credible_caller(const struct walk *walk, uint64_t pc)
{
	struct unwind_module module;
	uint64_t target;
	if (walk->source->module_at(walk->source->context, pc - 1, &module) != 0)
		return false;
	const struct unwind_row *row = row_at(&module, pc - 1 - module.bias);
	return (row && row->kind == UNWIND_FRAME) || arch_call_before(&walk->code, pc, &target) != ARCH_NO_CALL;
}

/* Steps from generated code that called C, which runs on a stack above the stack of the generated
 * code, as Erlang's does: once in a walk, and only to generated code (as walk_apply,
 * collect/shared/row_walk.h). */
static bool step_to_lower_stack(struct walk *walk, struct arch_frame *caller)
{
	struct unwind_module module;
	uint64_t unreadable;
	if (!walk->is_caller || walk->left_stack || walk->now.fp >= walk->now.sp || walk->now.fp % sizeof(uint64_t) ||
	    !arch_step(&unwind_row_generated, &walk->memory, caller, &unreadable) ||
	    walk->source->module_at(walk->source->context, caller->pc - 1, &module) != 0)
		return false;
	const struct unwind_row *row = row_at(&module, caller->pc - 1 - module.bias);
	walk->left_stack = row && row->kind == UNWIND_FRAME;
	return walk->left_stack;
}

static int enter_by_frame(struct walk *walk, const struct arch_frame *caller, bool switches)
{
	int cause = enter(walk, caller, false, switches);
	walk->from_frame = true;
	return cause;
}

static int step_generated(struct walk *walk)
{
	struct arch_frame caller = walk->now;
	bool was_frame = walk->from_frame;
	walk->from_frame = false;
	/* A runtime that keeps frame pointers marks its outermost frame by 0, as the ABI does. */
	if (walk->is_caller && was_frame && walk->now.fp == 0)
		return root(walk);
	walk->result.used_generated = true;
	if (may_lack_frame(walk) && arch_generated_step(&walk->code, &walk->memory, &caller) &&
	    is_credible_caller(walk, caller.pc))
		return enter_above(walk, &caller);
	caller = walk->now;
	if (arch_frame_pointer_step(&walk->memory, &caller) && is_credible_caller(walk, caller.pc))
		return enter_by_frame(walk, &caller, false);
	caller = walk->now;
	if (step_to_lower_stack(walk, &caller))
		return enter_by_frame(walk, &caller, true);
	caller = walk->now;
	if (arch_generated_step(&walk->code, &walk->memory, &caller) && is_credible_caller(walk, caller.pc))
		return enter_above(walk, &caller);
	/* The ABI's mark of an outermost frame: Erlang's scheduler has it where no process runs. */
	return walk->is_caller && walk->now.fp == 0 ? root(walk) : UNWIND_NO_FRAME;
}

/* --- the slow path --- */

static void set_three_registers(struct cfi_frame *frame, uint64_t pc, uint64_t sp, uint64_t fp)
{
	frame->registers.value[ARCH_PC_REGISTER] = pc;
	frame->registers.value[ARCH_SP_REGISTER] = sp;
	frame->registers.value[ARCH_FP_REGISTER] = fp;
	frame->known |=
		UINT64_C(1) << ARCH_PC_REGISTER | UINT64_C(1) << ARCH_SP_REGISTER | UINT64_C(1) << ARCH_FP_REGISTER;
}

/* Steps walk->full to its caller, for a frame that the fast path has passed. Registers that cannot be computed
 * become unknown. Returns whether it was a signal frame. */
static bool step_all_registers(struct walk *walk, const struct unwind_frame *frame)
{
	struct cfi_frame *full = &walk->full;
	struct unwind_module module;
	const struct unwind_row *row = NULL;
	uint64_t ucontext = frame->sp;
	if (walk->source->module_at(walk->source->context, frame->pc, &module) == 0)
		row = row_at(&module, frame->address);
	bool has_rule = row && row->kind != UNWIND_NO_RULE && row->kind != UNWIND_FRAME;
	bool is_signal = has_rule ? row->kind == UNWIND_SIGNAL
				  : arch_is_sigreturn(&walk->memory, full->registers.value[ARCH_PC_REGISTER]);
	if (is_signal) {
		ucontext += (has_rule ? (uint64_t)row->cfa : ARCH_SIGNAL_WORDS) * sizeof(uint64_t);
		bool read = arch_read_ucontext(&walk->memory, ucontext, &full->registers, &full->unreadable);
		full->known = read ? CFI_ALL_REGISTERS : 0;
		full->assumed = 0;
	} else if (has_rule && row->kind == UNWIND_SWITCH) {
		return false; /* it keeps the registers that a callee keeps */
	} else if (has_rule && (row->kind == UNWIND_LISP || unwind_leaves_stack(row->kind))) {
		full->known = full->assumed = 0; /* it keeps none */
	} else if (!has_rule || cfi_step(module.table, module.bias, frame->pc, walk->source, full) != CFI_OK) {
		full->known = full->assumed = 0;
	}
	return is_signal;
}

/* Updates walk->full to the frame of `now`. */
static void catch_up(struct walk *walk)
{
	for (; walk->full_frame + 1 < walk->result.count; walk->full_frame++) {
		const struct unwind_frame *frame = &walk->frames[walk->full_frame];
		bool was_signal = step_all_registers(walk, frame);
		const struct unwind_frame *next = frame + 1;
		/* If the next frame is a signal frame, this pc is one too high; that frame's rule does not use pc. */
		set_three_registers(&walk->full, next->pc + !was_signal, next->sp, next->fp);
	}
	walk->full.known |= arch_frame_put(&walk->now, &walk->full.registers);
}

static enum cfi_status step_by_cfi(const struct walk *walk, struct cfi_frame *frame)
{
	const struct unwind_frame *last = &walk->frames[walk->result.count - 1];
	return cfi_step(walk->module.table, walk->module.bias, last->pc, walk->source, frame);
}

static bool is_known(const struct cfi_frame *frame, unsigned number)
{
	return frame->known >> number & 1;
}

/* Steps with registers that a callee may have changed by the ABI: assembler calls its own
 * routines by rules of its own (OpenSSL's AES-GCM keeps its CFA in one). The return address must
 * be behind a call: of this function, or else the step is a guess. */
static enum cfi_status step_assuming(struct walk *walk, struct cfi_frame *frame)
{
	const struct unwind_frame *last = &walk->frames[walk->result.count - 1];
	uint64_t target;
	*frame = walk->full;
	frame->known |= frame->assumed;
	enum cfi_status status = step_by_cfi(walk, frame);
	if (status != CFI_OK)
		return status;
	const struct arch_frame caller = arch_frame_of(&frame->registers);
	if (caller.sp <= walk->now.sp || !is_known_code(walk, caller.pc - 1) ||
	    arch_call_before(&walk->memory, caller.pc, &target) != ARCH_CALL)
		return CFI_UNKNOWN;
	uint64_t start = unwind_table_function(walk->module.table, last->address, NULL);
	walk->result.used_frame_pointer |= target - walk->module.bias != start;
	return CFI_OK;
}

static int step_slow(struct walk *walk)
{
	/* The registers of rows are often sufficient (an odd offset, fp saved far away). */
	struct cfi_frame frame = { 0 };
	frame.known = arch_frame_put(&walk->now, &frame.registers);
	enum cfi_status status = step_by_cfi(walk, &frame);
	if (status == CFI_UNKNOWN || (status == CFI_OK && !is_known(&frame, ARCH_FP_REGISTER))) {
		catch_up(walk);
		frame = walk->full;
		status = step_by_cfi(walk, &frame);
		if (status == CFI_UNKNOWN && walk->is_caller)
			status = step_assuming(walk, &frame);
		if (status == CFI_OK) {
			walk->full = frame;
			walk->full_frame++;
		}
	}
	if (status == CFI_ROOT)
		return root(walk);
	if (status == CFI_UNREADABLE)
		return unreadable(walk, frame.unreadable);
	if (status != CFI_OK || !is_known(&frame, ARCH_FP_REGISTER))
		return UNWIND_BAD_RULE;
	const struct arch_frame caller = arch_frame_of(&frame.registers);
	if (frame.is_signal)
		return enter(walk, &caller, true, true);
	return enter_by_rule(walk, &caller, !walk->is_caller);
}

/* --- the loop --- */

static int step_lisp(struct walk *walk)
{
	struct arch_frame caller = walk->now;
	struct unwind_row row;
	uint64_t address;
	enum unwind_from from = !walk->is_caller  ? UNWIND_FROM_NONE
				: walk->from_lisp ? UNWIND_FROM_LISP
						  : UNWIND_FROM_OTHER;
	if (!arch_lisp_row(&walk->memory, from, &caller, &row, &address) ||
	    !arch_step(&row, &walk->memory, &caller, &address))
		return unreadable(walk, address);
	return enter(walk, &caller, false, false);
}

static int step_to_goroutine(struct walk *walk, const struct unwind_row *row)
{
	struct arch_frame caller = walk->now;
	struct arch_memory memory = walk->memory;
	uint64_t address;
	catch_up(walk);
	if (is_known(&walk->full, ARCH_GOROUTINE_REGISTER))
		memory.goroutine = walk->goroutine = walk->full.registers.value[ARCH_GOROUTINE_REGISTER];
	/* The C code on the way to an outer callback has lost the register, but all goroutines of a stack lead to its thread. */
	if (row->kind == UNWIND_CALLBACK)
		memory.goroutine = walk->goroutine;
	if (!arch_step(row, &memory, &caller, &address))
		return UNWIND_NO_GOROUTINE;
	return enter(walk, &caller, false, true);
}

static int step(struct walk *walk, const struct unwind_row *row)
{
	bool is_lisp = row && row->kind == UNWIND_LISP;
	if (is_lisp) {
		int cause = step_lisp(walk);
		walk->from_lisp = true;
		return cause;
	}
	walk->from_lisp = false;
	walk->from_frame &= row && row->kind == UNWIND_FRAME;
	if (!row || row->kind == UNWIND_NO_RULE)
		return step_no_rule(walk);
	if (row->kind == UNWIND_END)
		return root(walk);
	if (row->kind == UNWIND_SLOW)
		return step_slow(walk);
	if (row->kind == UNWIND_FRAME)
		return step_generated(walk);
	if (unwind_leaves_stack(row->kind) && row->kind != UNWIND_SWITCH)
		return step_to_goroutine(walk, row);
	struct arch_frame caller = walk->now;
	uint64_t address;
	if (!arch_step(row, &walk->memory, &caller, &address))
		return unreadable(walk, address);
	if (row->kind == UNWIND_SIGNAL)
		return enter(walk, &caller, true, true);
	return enter_by_rule(walk, &caller, row->kind == UNWIND_SWITCH);
}

static bool is_gap(const struct unwind_row *row)
{
	return !row || row->kind == UNWIND_NO_RULE;
}

/* Returns whether a return address is the start of a function, which no call can leave there: makecontext makes a
 * function return to the start of another one. */
static bool returns_to_start(const struct walk *walk, const struct unwind_frame *frame)
{
	uint64_t start = frame->address + 1;
	return walk->has_module && walk->module.table &&
	       unwind_table_function(walk->module.table, start, NULL) == start;
}

struct unwind_result unwind_walk(const struct unwind_source *source, const struct arch_registers *registers,
				 struct unwind_frame *frames, size_t limit)
{
	struct walk walk = {
		.source = source,
		.frames = frames,
		.memory = { .read = source->read, .context = source->context },
		.code = { .read = source->read_code ? source->read_code : source->read, .context = source->context },
		.now = arch_frame_of(registers),
		.full = { .registers = *registers, .known = CFI_ALL_REGISTERS },
	};
	int cause = UNWIND_DEPTH;
	while (walk.result.count < limit) {
		struct unwind_frame *frame = locate(&walk);
		if (walk.result.count == 2 && !walk.has_module && arch_begins_thread(&walk.memory, registers)) {
			walk.result.count = 1; /* by the rule of the thread that made it, it has a caller */
			walk.result.is_new_thread = true;
			cause = UNWIND_ROOT;
			break;
		}
		const struct unwind_row *row = recent_row(&walk, frame);
		if (walk.is_caller && is_gap(row) && returns_to_start(&walk, frame)) {
			frame->pc++;
			frame->address++;
			row = recent_row(&walk, frame);
		} else if (walk.is_caller && row && row->kind == UNWIND_SIGNAL) {
			/* The kernel returns to the start of a signal frame's code: no call precedes it. */
			frame->pc++;
			frame->address++;
		}
		if (walk.is_caller && source->joins && source->joins(source->context, frame)) {
			walk.result.joined = true;
			break;
		}
		cause = step(&walk, row);
		bool ended_at_once = walk.result.count == 1 &&
				     (cause == UNWIND_UNREADABLE || cause == UNWIND_NO_CALLER || cause == UNWIND_ROOT);
		if (ended_at_once && arch_begins_thread(&walk.memory, registers)) {
			cause = UNWIND_ROOT;
			walk.result.is_new_thread = true;
		}
		if (cause != CONTINUE)
			break;
		cause = UNWIND_DEPTH;
	}
	walk.result.cause = (enum unwind_cause)cause;
	return walk.result;
}
