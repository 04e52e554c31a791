/* Takes a sample: walks the present thread's stack with the unwind rows that the monitor has put into the channel,
 * and writes a record into the ring. Async-signal-safe. */
#include "collect/shared/row_walk.h"

#include <string.h>

#include "collect/agent/core/channel.h"
#include "collect/agent/core/interpreted.h"
#include "collect/agent/core/runtime.h"
#include "collect/agent/hooks/hooks.h"
#include "processor/agent/machine.h"

const size_t runtime_walk_bytes = sizeof(struct walk);

/* --- memory ---
 *
 * A walk checks each page of the walked stack once: the kernel copies a word of it. After that the walk reads the
 * page directly, because no other thread unmaps the stack on which this one runs. The kernel copies all other memory
 * each time. */

enum { PAGE = 4096, NEAR_BYTES = 8 * 1024 * 1024 };

/* Returns whether a page of the stack is readable. Keeps the last two readable pages of this walk. */
static bool page_is_there(struct runtime_thread *thread, uint64_t page)
{
	uint64_t word;
	if (page == thread->pages[0] || page == thread->pages[1])
		return true;
	if (!runtime_copy(&word, sizeof(word), page * PAGE))
		return false;
	thread->pages[1] = thread->pages[0];
	thread->pages[0] = page;
	return true;
}

/* Sets the only page that is known to be readable; 0: none. */
static void set_page(struct runtime_thread *thread, uint64_t page)
{
	thread->pages[0] = page;
	thread->pages[1] = 0;
}

static inline int walk_copy(void *to, uint32_t bytes, uint64_t address)
{
	struct runtime_thread *thread = runtime_thread;
	if (address - thread->walk->now.sp >= NEAR_BYTES)
		return runtime_copy(to, bytes, address) ? 0 : -1;
	for (uint64_t page = address / PAGE; page <= (address + bytes - 1) / PAGE; page++)
		if (!page_is_there(thread, page))
			return -1;
	memcpy(to, (const void *)(uintptr_t)address, bytes);
	return 0;
}

/* --- other functions that row_walk.h needs --- */

static inline bool walk_find_code(struct walk *walk, uint64_t pc)
{
	const struct walk_code *codes = (const struct walk_code *)runtime.code;
	uint32_t low = walk->process.first;
	uint32_t high = low + walk->process.count;
	if (high > WALK_CODES || high < low)
		return false;
	while (low < high) {
		uint32_t middle = low + (high - low) / 2;
		if (pc < codes[middle].start) {
			high = middle;
		} else if (pc >= codes[middle].end) {
			low = middle + 1;
		} else {
			walk->code = codes[middle];
			return true;
		}
	}
	return false;
}

enum { SLOTS = CHANNEL_CHUNKS * CODE_CHUNK_SLOTS };

/* Returns whether all these slots are mapped. */
static inline bool has_slots(uint64_t first, uint64_t count)
{
	if (count == 0 || first + count > SLOTS)
		return false;
	for (uint64_t chunk = first >> CODE_CHUNK_SHIFT; chunk <= (first + count - 1) >> CODE_CHUNK_SHIFT; chunk++)
		if (!channel_chunk((uint32_t)chunk))
			return false;
	return true;
}

/* Returns another slot if this one is impossible: the tables may change during a walk, which is then repeated. */
static inline const void *slot_at(uint32_t number)
{
	static const uint64_t none;
	number = number < SLOTS ? number : 0;
	const uint8_t *chunk = channel_chunk(number >> CODE_CHUNK_SHIFT);
	return chunk ? chunk + (uint64_t)(number % CODE_CHUNK_SLOTS) * CODE_SLOT_BYTES : (const void *)&none;
}

/* Returns the index of the row that applies at the start of a page. */
static inline uint32_t page_start(uint32_t pages, uint32_t page)
{
	return ((const uint32_t *)slot_at(pages + page / 2))[page & 1];
}

static inline bool walk_find_row(const struct walk *walk, uint32_t pc, struct unwind_row *row)
{
	if (!has_slots(walk->code.rows, walk->code.row_count) ||
	    !has_slots(walk->code.pages, walk->code.page_count / 2 + 1))
		return false;
	uint32_t page = pc >> (walk->code.page_shift & 31);
	uint32_t low = walk->code.row_count - 1;
	uint32_t high = low;
	if (page < walk->code.page_count) {
		low = page_start(walk->code.pages, page);
		high = page_start(walk->code.pages, page + 1);
	}
	while (low < high) {
		uint32_t middle = low + (high - low + 1) / 2;
		if (((const struct unwind_row *)slot_at(walk->code.rows + middle))->pc <= pc)
			low = middle;
		else
			high = middle - 1;
	}
	*row = *(const struct unwind_row *)slot_at(walk->code.rows + low);
	return row->pc <= pc;
}

static inline bool walk_real_return(uint64_t slot, uint64_t *pc)
{
	(void)slot;
	(void)pc;
	return false;
}

/* The C libraries that load the agent describe their start code. */
static inline uint64_t walk_stack_start(void)
{
	return 0;
}

static inline uint64_t walk_thread_pointer(void)
{
	return machine_thread_pointer();
}

/* --- the walk --- */

/* Walks once. Returns false if the code tables changed meanwhile. */
static bool walk_once(struct walk *walk, const struct arch_registers *registers)
{
	enum { COUNT_SHIFT = 32 };
	uint64_t version = __atomic_load_n(&runtime.process->code_version, __ATOMIC_ACQUIRE);
	uint64_t code = __atomic_load_n(&runtime.process->code, __ATOMIC_ACQUIRE);
	walk->notes_sp = runtime.process->interpreter.kind != INTERPRETER_NONE;
	walk->process = (struct walk_process){ .first = (uint32_t)code, .count = (uint32_t)(code >> COUNT_SHIFT) };
	walk->now = arch_frame_of(registers);
	walk->window_words = 0;
	walk->is_caller = 0;
	walk->left_stack = WALK_LEFT_NONE;
	walk->is_generated = 0;
	walk->count = 0;
	walk->code.start = walk->code.end = 0;
	walk->end = WALK_END_COUNT;
	for (uint32_t i = 0; i < WALK_FRAMES && walk->end == WALK_END_COUNT; i++)
		walk->end = walk_step(walk, i);
	if (walk->end == WALK_END_COUNT)
		walk->end = WALK_DEPTH;
	return version % 2 == 0 && __atomic_load_n(&runtime.process->code_version, __ATOMIC_ACQUIRE) == version;
}

static void walk_stack(struct runtime_thread *thread, const struct arch_registers *registers)
{
	if (!walk_once(thread->walk, registers) && !walk_once(thread->walk, registers))
		thread->walk->end = WALK_NO_CODE;
}

/* Removes our own frames and puts `function` in front. */
static void trim(struct walk *walk, uint64_t function)
{
	uint32_t kept = 0;
	for (uint32_t i = 0; i < walk->count; i++) {
		if (walk->frames[i] - runtime.text_start < runtime.text_end - runtime.text_start)
			continue;
		walk->frames[kept] = walk->frames[i];
		if (walk->notes_sp)
			walk->sps[kept] = walk->sps[i];
		kept++;
	}
	if (function) {
		kept = kept < WALK_FRAMES ? kept : WALK_FRAMES - 1;
		memmove(walk->frames + 1, walk->frames, kept * sizeof(walk->frames[0]));
		if (walk->notes_sp) /* the function has no frame: the part of the stack before its caller is its */
			memmove(walk->sps + 1, walk->sps, kept * sizeof(walk->sps[0]));
		walk->frames[0] = function;
		kept++;
	}
	walk->count = kept;
}

/* --- the record --- */

static void write_walked(struct runtime_thread *thread)
{
	struct walk *walk = thread->walk;
	struct sample_record *record = &walk->record;
	record->frames = walk->count;
	const struct interpreted_frame *entries =
		interpreted_entries(thread, &record->interpreted, &record->interpreted_end);
	const struct runtime_part parts[] = {
		{ record, sizeof(*record) + walk->count * sizeof(walk->frames[0]) },
		{ walk->sps, record->interpreted ? walk->count * sizeof(walk->sps[0]) : 0 },
		{ entries, record->interpreted * sizeof(*entries) },
	};
	if (!runtime_ring_write_parts(thread, parts, sizeof(parts) / sizeof(parts[0])))
		thread->shared->lost[record->request % SAMPLE_REQUESTS]++;
}

/* Where the frames of the first thread end: the kernel stores argc, the arguments and the environment there, which
 * may be many times as long as all frames. Musl does not have it. */
extern void *__libc_stack_end __attribute__((weak));

/* Returns the number of readable bytes of a stack, at most `most`. The stack of a thread of the C library ends below
 * the thread's own block: the memory behind it may belong to another thread, which may unmap it during the copy. */
static size_t stack_bytes_at(struct runtime_thread *thread, uint64_t from, uint64_t most)
{
	uint64_t at = from, block = machine_thread_pointer();
	uint64_t end = block - from < most ? block : from + most;
	uint64_t frames_end = &__libc_stack_end ? (uint64_t)(uintptr_t)__libc_stack_end + sizeof(uint64_t) : 0;
	if (from < frames_end && frames_end < end)
		end = frames_end;
	set_page(thread, 0);
	while (at < end && page_is_there(thread, at / PAGE))
		at = (at / PAGE + 1) * PAGE;
	return (at < end ? at : end) - from;
}

/* Returns the largest copy of a stack that the ring may take now: a quarter of its room. An empty ring takes all of
 * SAMPLE_STACK_BYTES; while the monitor is late, the copies become shorter, and some twenty samples fit, not four. */
static uint64_t stack_bytes_to_copy(const struct runtime_thread *thread)
{
	uint64_t part = runtime_ring_room(thread) / 4;
	return part < SAMPLE_STACK_BYTES ? part : SAMPLE_STACK_BYTES;
}

/* Writes a record for the user-space fallback: the registers replace the frames, and the stack is copied from its
 * own memory. */
static void write_fallback(struct runtime_thread *thread, const struct arch_registers *registers)
{
	enum { ALIGNMENT = 8 };
	struct walk *walk = thread->walk;
	struct sample_record *record = &walk->record;
	uint64_t sp = registers->value[ARCH_SP_REGISTER];
	uint64_t most = stack_bytes_to_copy(thread);
	size_t bytes = stack_bytes_at(thread, sp, most);
	record->flags |= bytes == most && most < SAMPLE_STACK_BYTES ? SAMPLE_STACK_CUT : 0;
	bytes -= bytes % ALIGNMENT;
	memcpy(walk->frames, registers->value, sizeof(registers->value));
	record->frames = 0;
	record->stack_bytes = (uint32_t)bytes;
	const struct interpreted_frame *entries =
		interpreted_entries(thread, &record->interpreted, &record->interpreted_end);
	const struct runtime_part parts[] = {
		{ record, sizeof(*record) + sizeof(registers->value) },
		{ (const void *)(uintptr_t)sp, bytes },
		{ entries, record->interpreted * sizeof(*entries) },
	};
	if (!runtime_ring_write_parts(thread, parts, sizeof(parts) / sizeof(parts[0])))
		thread->shared->lost[record->request % SAMPLE_REQUESTS]++;
}

static struct sample_record new_record(const struct runtime_thread *thread, uint32_t request, uint64_t hits,
				       uint64_t amount)
{
	return (struct sample_record){
		.time_ns = runtime_stamp_ns(),
		.pid = runtime.pid,
		.tid = thread->tid,
		.request = (uint8_t)request,
		.about = thread->labels,
		.hits = hits,
		.amount = amount,
		.syscall = -1,
	};
}

/* Sets how the walk ended. */
static void set_end(struct walk *walk)
{
	walk->record.end = (uint8_t)walk->end;
	walk->record.flags |= walk->is_generated ? SAMPLE_GENERATED : 0;
}

static void take_sample(struct runtime_thread *thread, const struct arch_registers *registers, uint64_t function)
{
	struct walk *walk = thread->walk;
	struct sample_record *record = &walk->record;
	thread->samples++;
	if (thread->deep_until_ns > record->time_ns) {
		walk->count = 0;
		walk->end = WALK_KNOWN_DEEP;
		walk->is_generated = 0;
	} else {
		walk_stack(thread, registers);
	}
	if (walk->end == WALK_DEPTH)
		thread->deep_until_ns = record->time_ns + WALK_DEEP_LASTS_NS;
	interpreted_walk(thread, record->time_ns);
	set_end(walk);
	record->kind = walk->end <= WALK_OTHER_ABI ? SAMPLE_WALKED : SAMPLE_FALLBACK;
	if (record->kind == SAMPLE_FALLBACK) {
		write_fallback(thread, registers);
	} else {
		trim(walk, function);
		write_walked(thread);
	}
}

__attribute__((noinline)) void runtime_sample_here(struct runtime_thread *thread, uint32_t request, uint64_t hits,
						   uint64_t amount, uint64_t function)
{
	struct arch_registers registers;
	if (runtime.alone) {
		hooks_tick(request, hits, NULL);
		return;
	}
	machine_registers_here(&registers);
	thread->walk->record = new_record(thread, request, hits, amount);
	set_page(thread, registers.value[ARCH_SP_REGISTER] / PAGE); /* this function runs on it */
	take_sample(thread, &registers, function);
}

void runtime_sample_interrupted(struct runtime_thread *thread, uint32_t request, uint64_t hits, uint64_t amount,
				const void *context)
{
	struct arch_registers registers;
	if (runtime.alone) {
		hooks_tick(request, hits, context);
		return;
	}
	machine_registers_of(context, &registers);
	thread->walk->record = new_record(thread, request, hits, amount);
	set_page(thread, 0); /* the stack may have overflowed */
	take_sample(thread, &registers, 0);
}

bool runtime_walk_interrupted(struct runtime_thread *thread, const void *context)
{
	struct arch_registers registers;
	struct walk *walk = thread->walk;
	if (runtime.alone)
		return false;
	machine_registers_of(context, &registers);
	thread->samples++;
	walk->record = new_record(thread, 0, 0, 0);
	set_page(thread, 0);
	walk_stack(thread, &registers);
	interpreted_walk(thread, walk->record.time_ns);
	set_end(walk);
	walk->record.kind = walk->end <= WALK_OTHER_ABI ? SAMPLE_WALKED : SAMPLE_FALLBACK;
	trim(walk, 0);
	return runtime_can_repeat(thread);
}

bool runtime_walk_is_below(const struct runtime_thread *thread, const struct channel_range *path, uint32_t frames)
{
	const struct walk *walk = thread->walk;
	if (walk->end != WALK_ROOT || walk->count < frames)
		return false;
	for (uint32_t i = 0; i < frames; i++) {
		uint64_t pc = walk->frames[walk->count - 1 - i];
		if (pc < path[i].start || pc >= path[i].end)
			return false;
	}
	return true;
}

bool runtime_can_repeat(const struct runtime_thread *thread)
{
	return !runtime.alone && thread->walk->record.kind == SAMPLE_WALKED;
}

void runtime_sample_again(struct runtime_thread *thread, uint32_t request, uint64_t hits, uint64_t amount)
{
	struct walk *walk = thread->walk;
	uint8_t end = walk->record.end, flags = walk->record.flags;
	walk->record = new_record(thread, request, hits, amount);
	walk->record.end = end;
	walk->record.flags = flags;
	write_walked(thread);
}

__attribute__((noinline)) bool runtime_describe_creator(struct runtime_thread *thread, struct sample_record *record,
							uint64_t *frames)
{
	struct arch_registers registers;
	if (runtime.alone)
		return false;
	machine_registers_here(&registers);
	struct walk *walk = thread->walk;
	thread->samples++;
	walk->record = new_record(thread, SAMPLE_NO_REQUEST, 0, 0);
	set_page(thread, registers.value[ARCH_SP_REGISTER] / PAGE);
	walk_stack(thread, &registers);
	interpreted_clear(thread);
	if (walk->end != WALK_ROOT) {
		walk->record.kind = SAMPLE_FALLBACK; /* there is no path to repeat */
		return false;
	}
	trim(walk, 0);
	set_end(walk);
	walk->record.frames = walk->count;
	*record = walk->record;
	memcpy(frames, walk->frames, walk->count * sizeof(frames[0]));
	return true;
}
