/* Takes a sample: unwinds the current thread's user stack, and writes a record into the ring. */
#ifndef COLLECT_SAMPLE_BPF_PROGRAMS_SAMPLE_BPF_H
#define COLLECT_SAMPLE_BPF_PROGRAMS_SAMPLE_BPF_H

#include "collect/sample/bpf/programs/maps.bpf.h"
#include "collect/sample/bpf/programs/numbers.bpf.h"
#include "processor/bpf_registers.h"

uint64_t woken_ns; /* when a copied stack last woke the monitor */

enum { WAKE_AT_MOST_NS = 3 * 1000 * 1000 };
enum { PROCESS_STEPS = 12, ROW_STEPS = 20 };

/* --- functions for row_walk.h ---
 *
 * Linux 6.18's verifier fails ("verifier bug") where a callback of bpf_loop has another function write into its stack
 * before it has done so itself. Such functions are always inlined. */

static inline int walk_copy(void *to, uint32_t bytes, uint64_t address)
{
	return bpf_probe_read_user(to, bytes, (const void *)address);
}

static inline int interpreter_copy(void *to, uint32_t bytes, uint64_t address)
{
	return bpf_probe_read_user(to, bytes, (const void *)address);
}

/* Binary searches, as loops whose body the verifier checks once. */

struct search {
	uint64_t pc;
	uint32_t low, high;
};

static long halve_codes(uint32_t step, void *context)
{
	struct search *search = context;
	uint32_t middle = search->low + (search->high - search->low) / 2;
	const struct walk_code *code = search->low < search->high ? bpf_map_lookup_elem(&codes, &middle) : NULL;
	if (!code)
		return 1;
	if (search->pc < code->start) {
		search->high = middle;
	} else if (search->pc >= code->end) {
		search->low = middle + 1;
	} else {
		search->low = search->high = middle;
		return 1;
	}
	return 0;
}

WALK_FUNCTION bool walk_find_code(struct walk *walk, uint64_t pc)
{
	if (!walk)
		return false;
	uint32_t first = walk->process.first;
	struct search search = { .pc = pc, .low = first, .high = first + walk->process.count };
	bpf_loop(PROCESS_STEPS, halve_codes, &search, 0);
	const struct walk_code *code = bpf_map_lookup_elem(&codes, &search.low);
	if (!code || pc < code->start || pc >= code->end || search.low - first >= walk->process.count)
		return false;
	walk->code = *code;
	return true;
}

union slot {
	uint64_t word;
	struct unwind_row row;
};

/* Returns the word of a slot, or 0 if there is none. The first chunk has a map of its own, which is enough for most
 * programs. */
WALK_FUNCTION uint64_t slot_word(uint32_t number)
{
	uint32_t within = number & (CODE_CHUNK_SLOTS - 1);
	uint32_t chunk_number = number >> CODE_CHUNK_SHIFT;
	const uint64_t *word = NULL;
	if (chunk_number == 0) {
		word = bpf_map_lookup_elem(&first_chunk, &within);
	} else {
		void *chunk = bpf_map_lookup_elem(&chunks, &chunk_number);
		word = chunk ? bpf_map_lookup_elem(chunk, &within) : NULL;
	}
	return word ? *word : 0;
}

static long halve_rows(uint32_t step, void *context)
{
	struct search *search = context;
	if (search->low >= search->high)
		return 1;
	uint32_t middle = search->low + (search->high - search->low + 1) / 2;
	const union slot slot = { .word = slot_word(middle) };
	if (slot.row.pc <= search->pc)
		search->low = middle;
	else
		search->high = middle - 1;
	return 0;
}

/* Returns the number of the row in force where a page begins. */
static inline uint32_t page_start(uint32_t pages, uint32_t page)
{
	uint64_t pair = slot_word(pages + page / 2);
	return (uint32_t)(page & 1 ? pair >> 32 : pair);
}

/* Searches between the rows in force at the start of the pc's page and at the start of the next one. */
WALK_FUNCTION bool walk_find_row(const struct walk *walk, uint32_t pc, struct unwind_row *row)
{
	if (!walk || !row)
		return false;
	uint32_t page = pc >> (walk->code.page_shift & 31);
	uint32_t low = walk->code.row_count - 1;
	uint32_t high = low;
	if (page < walk->code.page_count) {
		low = page_start(walk->code.pages, page);
		high = page_start(walk->code.pages, page + 1);
	}
	struct search search = { .pc = pc, .low = walk->code.rows + low, .high = walk->code.rows + high };
	bpf_loop(ROW_STEPS, halve_rows, &search, 0);
	const union slot slot = { .word = slot_word(search.low) };
	*row = slot.row;
	return row->pc <= pc;
}

enum { PENDING_MAX = 64 };

/* Returns the kernel's list of the return addresses that return probes have replaced, innermost first. */
static inline struct return_instance *pending_returns(void)
{
	return BPF_CORE_READ(bpf_get_current_task_btf(), utask, return_instances);
}

struct return_search {
	struct return_instance *pending;
	uint64_t slot;
	uint64_t found; /* 0: not yet */
};

static long check_return_address(uint32_t index, void *context)
{
	struct return_search *search = context;
	struct return_instance *pending = search->pending;
	if (!pending)
		return 1;
	if (BPF_CORE_READ(pending, stack) == search->slot && !BPF_CORE_READ(pending, chained))
		search->found = BPF_CORE_READ(pending, orig_ret_vaddr);
	search->pending = BPF_CORE_READ(pending, next);
	return search->found != 0;
}

WALK_FUNCTION bool walk_real_return(uint64_t slot, uint64_t *pc)
{
	if (!pc)
		return false;
	struct return_search search = { .pending = pending_returns(), .slot = slot };
	bpf_loop(PENDING_MAX, check_return_address, &search, 0);
	if (search.found)
		*pc = search.found;
	return search.found != 0;
}

static __always_inline uint64_t walk_stack_start(void)
{
	return BPF_CORE_READ(bpf_get_current_task_btf(), mm, start_stack);
}

static __always_inline uint64_t walk_thread_pointer(void)
{
	return thread_pointer(bpf_get_current_task_btf());
}

/* --- the record --- */

enum { NO_SCRATCH = UINT32_MAX };

/* Returns the number of a buffer that no other program uses, or NO_SCRATCH. */
static uint32_t take_scratch(void)
{
	uint32_t first = bpf_get_smp_processor_id() * BPF_SCRATCHES_PER_CPU;
	for (uint32_t i = 0; i < BPF_SCRATCHES_PER_CPU; i++) {
		uint32_t number = first + i;
		struct scratch *scratch = bpf_map_lookup_elem(&scratches, &number);
		if (scratch && __sync_lock_test_and_set(&scratch->busy, 1) == 0)
			return number;
	}
	return NO_SCRATCH;
}

static void release_scratch(struct scratch *scratch)
{
	__sync_lock_test_and_set(&scratch->busy, 0);
}

static void add_lost(uint32_t request)
{
	uint64_t *lost =
		request < SAMPLE_REQUESTS ? &results.lost[request & (SAMPLE_REQUESTS - 1)] : &results.lost_creations;
	__sync_fetch_and_add(lost, 1);
}

/* Writes a record into the ring. The monitor is woken when a quarter of the ring is full, and for a copied
 * stack, because it may have to read the rest of the stack before that changes. Otherwise the monitor
 * polls. */
WALK_FUNCTION int submit(const struct scratch *scratch, uint64_t bytes)
{
	if (!scratch)
		return 0;
	enum {
		MOST = sizeof(struct sample_record) + ARCH_REGISTERS * 8 + SAMPLE_STACK_BYTES +
		       SAMPLE_KERNEL_FRAMES * 8 + INTERPRETED_MOST * sizeof(struct interpreted_frame)
	};
	const struct sample_record *record = &scratch->walk.record;
	uint64_t waiting = bpf_ringbuf_query(&ring, BPF_RB_AVAIL_DATA);
	uint64_t size = bpf_ringbuf_query(&ring, BPF_RB_RING_SIZE);
	bool is_urgent = waiting > size / 4;
	/* Not for each copied stack: the monitor would run between any two ticks of the clock, and its
	 * time would be counted as the target's. */
	if (record->kind == SAMPLE_FALLBACK && record->time_ns - woken_ns > WAKE_AT_MOST_NS) {
		woken_ns = record->time_ns;
		is_urgent = true;
	}
	uint64_t flags = is_urgent ? BPF_RB_FORCE_WAKEUP : BPF_RB_NO_WAKEUP;
	if (bytes > MOST || bpf_ringbuf_output(&ring, (void *)record, bytes, flags) != 0)
		add_lost(record->request);
	return 0;
}

static long walk_once(uint32_t index, void *context)
{
	struct scratch *scratch = *(struct scratch **)context;
	uint32_t end = walk_step(&scratch->walk, index);
	scratch->walk.end = end;
	return end != WALK_END_COUNT;
}

/* Returns the address of the probed instruction if the kernel executes a copy of it in a slot elsewhere,
 * otherwise `pc`. */
static uint64_t real_pc(uint64_t pc)
{
	enum { SLOT_BYTES = 128 };
	struct uprobe_task *task = BPF_CORE_READ(bpf_get_current_task_btf(), utask);
	if (!task)
		return pc;
	uint64_t distance = pc - BPF_CORE_READ(task, xol_vaddr);
	return distance < SLOT_BYTES ? BPF_CORE_READ(task, vaddr) + distance : pc;
}

static __always_inline void walk_stack(struct scratch *scratch, uint32_t pid)
{
	const struct pt_regs *registers = (const struct pt_regs *)bpf_task_pt_regs(bpf_get_current_task_btf());
	struct walk *walk = &scratch->walk;
	walk->now = registers_frame(registers);
	walk->now.pc = real_pc(walk->now.pc);
	/* In a system call, the current instruction is the instruction that made the call. */
	if (registers_are_behind_call(registers))
		walk->now.pc -= ARCH_SYSTEM_CALL_BYTES;
	walk->window_words = 0;
	walk->is_caller = 0;
	walk->left_stack = WALK_LEFT_NONE;
	walk->count = 0;
	walk->code.start = walk->code.end = 0;
	struct walk_process *process = bpf_map_lookup_elem(&processes, &pid);
	walk->process.first = process ? process->first : 0;
	walk->process.count = process ? process->count : 0;
	walk->notes_sp = process && process->interpreter.kind != INTERPRETER_NONE;
	walk->end = WALK_END_COUNT;
	bpf_loop(WALK_FRAMES, walk_once, &scratch, 0);
	if (walk->end == WALK_END_COUNT)
		walk->end = WALK_DEPTH;
}

/* Copies all registers, for the user-space fallback. */
static void copy_registers(struct scratch *scratch, const struct pt_regs *registers)
{
	uint64_t *to = scratch->walk.frames;
	registers_copy(registers, to);
	to[ARCH_PC_REGISTER] = real_pc(to[ARCH_PC_REGISTER]);
}

/* Puts the return addresses that return probes have replaced back into a copied stack. */
struct restoring {
	struct return_instance *pending;
	struct scratch *scratch;
	uint64_t from;
};

static long restore_one(uint32_t index, void *context)
{
	struct restoring *restoring = context;
	struct return_instance *pending = restoring->pending;
	if (!pending)
		return 1;
	uint64_t offset = BPF_CORE_READ(pending, stack) - restoring->from;
	uint8_t *stack = (uint8_t *)(restoring->scratch->walk.frames + ARCH_REGISTERS);
	if (offset < restoring->scratch->walk.record.stack_bytes && !BPF_CORE_READ(pending, chained))
		*(uint64_t *)(stack + (offset & (SAMPLE_STACK_BYTES - 8))) = BPF_CORE_READ(pending, orig_ret_vaddr);
	restoring->pending = BPF_CORE_READ(pending, next);
	return 0;
}

struct copying {
	struct scratch *scratch;
	uint64_t from;
	uint32_t first; /* the bytes in front of the first whole page */
};

/* A callback, not a loop: the verifier would check each turn, which takes as long as all other code of a sample. */
static long copy_page(uint32_t index, void *context)
{
	struct copying *copying = context;
	struct sample_record *record = &copying->scratch->walk.record;
	uint8_t *stack = (uint8_t *)(copying->scratch->walk.frames + ARCH_REGISTERS);
	/* From the index, not from a sum: the verifier would check each turn, for the sum has other bounds then. */
	uint32_t at = copying->first + (index & (SAMPLE_STACK_PAGES - 1)) * SAMPLE_PAGE_BYTES;
	if (at > SAMPLE_STACK_BYTES - SAMPLE_PAGE_BYTES)
		return 1;
	long failed = bpf_probe_read_user(stack + at, SAMPLE_PAGE_BYTES, (const void *)(copying->from + at));
	if (failed)
		record->absent |= 1u << ((index + 1) & 31);
	else
		record->stack_bytes = at + SAMPLE_PAGE_BYTES;
	return 0;
}

/* Copies the stack. Pages that were never touched or are swapped out are absent. The record's stack_bytes
 * go up to the end of the last page that is present. */
WALK_FUNCTION int copy_stack(struct scratch *scratch)
{
	const struct pt_regs *registers = (const struct pt_regs *)bpf_task_pt_regs(bpf_get_current_task_btf());
	if (!scratch)
		return 0;
	struct sample_record *record = &scratch->walk.record;
	uint8_t *stack = (uint8_t *)(scratch->walk.frames + ARCH_REGISTERS);
	uint64_t from = registers_frame(registers).sp;
	uint32_t at = SAMPLE_PAGE_BYTES - (from & (SAMPLE_PAGE_BYTES - 1)); /* up to the page's end */
	struct copying copying = { scratch, from, at };
	record->stack_bytes = 0;
	record->absent = 0;
	if (bpf_probe_read_user(stack, at, (const void *)from) == 0)
		record->stack_bytes = at;
	else
		record->absent = 1;
	bpf_loop(SAMPLE_STACK_PAGES - 1, copy_page, &copying, 0);
	struct restoring restoring = { pending_returns(), scratch, from };
	bpf_loop(PENDING_MAX, restore_one, &restoring, 0);
	return 0;
}

/* Returns how the walk of such a thread ends before it begins, or WALK_END_COUNT if it can begin. */
static uint32_t no_walk(struct task_struct *task, const struct pt_regs *registers, struct bpf_thread *thread,
			uint64_t now)
{
	/* Not task->mm: for each load of a pointer from a typed one, the verifier searches the names of all types. */
	if (!BPF_CORE_READ(task, mm) ||
	    (bpf_core_field_exists(task->in_execve) && BPF_CORE_READ_BITFIELD(task, in_execve)))
		return WALK_NO_STACK;
	if (registers_are_32_bit(registers))
		return WALK_OTHER_ABI;
	return thread->hand_over_until_ns > now ? WALK_KNOWN_DEEP : WALK_END_COUNT;
}

/* Appends the kernel's frames to a record whose other content ends at `bytes`. Returns where the record ends then. */
WALK_FUNCTION uint64_t append_kernel(struct scratch *scratch, uint64_t bytes)
{
	if (!scratch)
		return 0;
	enum { MOST = ARCH_REGISTERS * 8 + SAMPLE_STACK_BYTES };
	uint32_t count = scratch->kernel_count;
	uint64_t at = (bytes - sizeof(struct sample_record) + 7) / 8 * 8;
	scratch->walk.record.kernel_frames = 0;
	if (count == 0 || count > SAMPLE_KERNEL_FRAMES || at > MOST ||
	    bpf_probe_read_kernel((uint8_t *)scratch->walk.frames + at, count * 8, scratch->kernel) != 0)
		return bytes;
	scratch->walk.record.kernel_frames = count;
	return sizeof(struct sample_record) + at + count * 8;
}

/* --- the functions of interpreted programs --- */

static long find_thread_once(uint32_t index, void *context)
{
	struct scratch *scratch = *(struct scratch **)context;
	return python_find_step(&scratch->python) != 0;
}

static long interpreted_once(uint32_t index, void *context)
{
	struct scratch *scratch = *(struct scratch **)context;
	uint32_t end = python_step(&scratch->python);
	scratch->python.end = end;
	return end != INTERPRETED_END_COUNT;
}

/* Notes the frames of the process's interpreter, if it has one, in the buffer. Returns false if it has none. */
WALK_FUNCTION bool walk_interpreted(struct scratch *scratch)
{
	enum { NOT_AGAIN_NS = 10 * 1000 * 1000 };
	struct task_struct *task = bpf_get_current_task_btf();
	struct bpf_thread *thread = bpf_task_storage_get(&threads, task, 0, 0);
	if (!scratch || !thread)
		return false;
	uint32_t pid = thread->pid;
	struct walk_process *process = bpf_map_lookup_elem(&processes, &pid);
	if (!process || process->interpreter.kind == INTERPRETER_NONE)
		return false;
	struct python_walk *python = &scratch->python;
	python->of = process->interpreter;
	python->tid = innermost_thread_number(task);
	python->thread = thread->interpreted;
	if (!python_begin(python)) {
		uint64_t now = scratch->walk.record.time_ns;
		if (thread->not_interpreted_until_ns > now)
			return false;
		python_find_begin(python);
		bpf_loop(PYTHON_FIND_STEPS, find_thread_once, &scratch, 0);
		thread->interpreted = python->thread;
		thread->not_interpreted_until_ns = now + NOT_AGAIN_NS;
		if (!python_begin(python))
			return false;
	}
	bpf_loop(INTERPRETED_MOST, interpreted_once, &scratch, 0);
	return true;
}

/* Sends the monitor the description of the function of one entry, if it does not have it. */
WALK_FUNCTION int describe(struct scratch *scratch, uint32_t index)
{
	if (!scratch)
		return 0;
	const struct interpreted_frame frame = scratch->python.frames[index & (INTERPRETED_MOST - 1)];
	const uint64_t golden = 0x9e3779b97f4a7c15;
	uint64_t of_process = ((uint64_t)frame.check << 32 | scratch->walk.record.pid) * golden;
	uint64_t hash = ((frame.code ^ of_process) * golden) | 1;
	uint32_t place = hash >> 32 & (DESCRIBED - 1);
	uint64_t *seen = bpf_map_lookup_elem(&described, &place);
	if (frame.code == 0 || !seen || *seen == hash)
		return 0;
	uint32_t number = take_scratch();
	struct scratch *other = bpf_map_lookup_elem(&scratches, &number);
	if (!other)
		return 0;
	struct interpreted_code *code = (struct interpreted_code *)other->walk.frames;
	if (python_describe(&scratch->python, &frame, code)) {
		uint32_t bytes = INTERPRETED_FIXED_BYTES + (code->table_bytes & (INTERPRETED_TABLE_BYTES - 1));
		other->walk.record = (struct sample_record){
			.time_ns = scratch->walk.record.time_ns,
			.pid = scratch->walk.record.pid,
			.kind = SAMPLE_DESCRIPTION,
			.request = SAMPLE_NO_REQUEST,
			.stack_bytes = bytes,
		};
		if (bpf_ringbuf_output(&ring, &other->walk.record, sizeof(struct sample_record) + bytes,
				       BPF_RB_NO_WAKEUP) == 0)
			*seen = hash;
	}
	release_scratch(other);
	return 0;
}

static long describe_once(uint32_t index, void *context)
{
	struct scratch *scratch = *(struct scratch **)context;
	if (index >= scratch->python.count)
		return 1;
	describe(scratch, index);
	return 0;
}

/* Appends the stack pointers of a walk, and the interpreter's entries, to a record whose other content ends at `bytes`.
 * Returns where the record ends then. */
WALK_FUNCTION uint64_t append_interpreted(struct scratch *scratch, uint64_t bytes)
{
	if (!scratch)
		return 0;
	enum { MOST = ARCH_REGISTERS * 8 + SAMPLE_STACK_BYTES + SAMPLE_KERNEL_FRAMES * 8 };
	struct sample_record *record = &scratch->walk.record;
	uint64_t at = (bytes - sizeof(struct sample_record) + 7) / 8 * 8;
	uint32_t frames = record->frames, entries = scratch->python.count;
	uint8_t *content = (uint8_t *)scratch->walk.frames;
	if (frames > WALK_FRAMES || entries > INTERPRETED_MOST || entries == 0 || at > MOST - WALK_FRAMES * 8)
		return bytes;
	bpf_loop(INTERPRETED_MOST, describe_once, &scratch, 0);
	if (frames > 0 && bpf_probe_read_kernel(content + at, frames * 8, scratch->walk.sps) != 0)
		return bytes;
	at += frames * 8;
	if (at > MOST || bpf_probe_read_kernel(content + at, entries * sizeof(struct interpreted_frame),
					       scratch->python.frames) != 0)
		return bytes;
	record->interpreted = entries;
	return sizeof(struct sample_record) + at + entries * sizeof(struct interpreted_frame);
}

/* Writes the record of a walk that has ended. */
WALK_FUNCTION int write_sample(struct scratch *scratch)
{
	if (!scratch)
		return 0;
	struct walk *walk = &scratch->walk;
	struct sample_record *record = &walk->record;
	uint32_t end = walk->end;
	if (end < WALK_END_COUNT)
		__sync_fetch_and_add(&results.ends[end], 1);
	record->end = end;
	record->kind = end <= WALK_OTHER_ABI ? SAMPLE_WALKED : SAMPLE_FALLBACK;
	if (walk->is_generated)
		record->flags |= SAMPLE_GENERATED;
	record->stack_bytes = 0;
	record->frames = 0;
	uint64_t bytes = sizeof(*record);
	if (record->kind == SAMPLE_WALKED) {
		record->frames = walk->count;
		bytes += (uint64_t)walk->count * 8;
	} else {
		copy_registers(scratch, (const struct pt_regs *)bpf_task_pt_regs(bpf_get_current_task_btf()));
		copy_stack(scratch);
		bytes += ARCH_REGISTERS * 8 + record->stack_bytes;
	}
	bytes = append_kernel(scratch, bytes);
	if (walk->notes_sp && walk_interpreted(scratch)) {
		record->interpreted_end = scratch->python.end;
		bytes = append_interpreted(scratch, bytes);
	}
	submit(scratch, bytes);
	return 0;
}

/* Writes a record with the current thread's stack. `order` describes the event; the rest of the record is
 * filled in here. `taken` is the number of a buffer that has the kernel's stack already, or NO_SCRATCH. A separate
 * function, so that the verifier checks it once. */
__attribute__((noinline)) int take_sample(const struct sample_record *order, uint32_t taken)
{
	struct task_struct *task = bpf_get_current_task_btf();
	struct bpf_thread *thread = bpf_task_storage_get(&threads, task, 0, 0);
	struct pt_regs *registers = (struct pt_regs *)bpf_task_pt_regs(task);
	uint32_t number = taken == NO_SCRATCH ? take_scratch() : taken;
	struct scratch *scratch = bpf_map_lookup_elem(&scratches, &number);
	if (!scratch || !order || !thread) {
		if (scratch)
			release_scratch(scratch);
		add_lost(order ? order->request : SAMPLE_NO_REQUEST);
		return 0;
	}
	if (taken == NO_SCRATCH)
		scratch->kernel_count = 0;
	thread->is_sampled++;
	struct walk *walk = &scratch->walk;
	struct sample_record *record = &walk->record;
	*record = *order;
	record->time_ns = bpf_ktime_get_ns();
	record->pid = thread->pid;
	record->tid = thread->tid;
	record->flags |= registers_call(registers) >= 0 ? SAMPLE_IN_KERNEL : 0;
	walk->count = 0;
	walk->is_generated = 0;
	walk->end = no_walk(task, registers, thread, record->time_ns);
	walk->notes_sp = walk->end == WALK_KNOWN_DEEP; /* the interpreter's frames are wanted, if there are any */
	if (walk->end == WALK_END_COUNT)
		walk_stack(scratch, thread->pid);
	if (walk->end == WALK_DEPTH)
		thread->hand_over_until_ns = record->time_ns + WALK_DEEP_LASTS_NS;
	write_sample(scratch);
	release_scratch(scratch);
	thread->is_sampled--;
	return 0;
}

/* Takes a buffer and writes the kernel's own stack into it, as the program's context shows it: the stack of the code that
 * was interrupted or that has reached the tracepoint; none if that is user code. Returns the buffer's number for
 * take_sample. Inlined into each program, because the kernel knows the type of a context only there. */
static __always_inline uint32_t take_kernel_stack(void *context)
{
	uint32_t number = settings.kernel_stacks ? take_scratch() : NO_SCRATCH;
	struct scratch *scratch = bpf_map_lookup_elem(&scratches, &number);
	if (!scratch)
		return NO_SCRATCH;
	long bytes = bpf_get_stack(context, scratch->kernel, sizeof(scratch->kernel), 0);
	scratch->kernel_count = bytes > 0 ? (uint32_t)bytes / 8 : 0;
	return number;
}

/* Writes a record for another thread, which sleeps. Its memory cannot be read from here, but it does not
 * change until the monitor reads it. */
static void submit_asleep(struct task_struct *task, struct bpf_thread *thread, uint32_t request, uint64_t hits,
			  uint64_t amount)
{
	struct pt_regs *registers = (struct pt_regs *)bpf_task_pt_regs(task);
	uint32_t number = take_scratch();
	struct scratch *scratch = bpf_map_lookup_elem(&scratches, &number);
	if (!scratch) {
		add_lost(request);
		return;
	}
	scratch->walk.record = (struct sample_record){
		.time_ns = bpf_ktime_get_ns(),
		.pid = thread->pid,
		.tid = thread->tid,
		.kind = SAMPLE_FALLBACK,
		.end = WALK_ASLEEP,
		.request = request,
		.flags = SAMPLE_IN_KERNEL,
		.hits = hits,
		.amount = amount,
		.syscall = -1,
	};
	copy_registers(scratch, registers);
	__sync_fetch_and_add(&results.ends[WALK_ASLEEP], 1);
	long bytes = settings.kernel_stacks ? bpf_get_task_stack(task, scratch->kernel, sizeof(scratch->kernel), 0) : 0;
	scratch->kernel_count = bytes > 0 ? (uint32_t)bytes / 8 : 0;
	submit(scratch, append_kernel(scratch, sizeof(struct sample_record) + ARCH_REGISTERS * 8));
	release_scratch(scratch);
}

#endif
