/*
 * Finds the stack of an address, and its bounds. There are three kinds:
 *
 *   the thread's own   the program's first stack, or the stack above which the C library keeps the thread's control block
 *   the alternate one  of handlers: the kernel reports it
 *   any other          a coroutine's, for example. Its bounds are unknown, and so is whether the memory above still
 *                      exists. So it is not read (thread->stack_high is 0, and all hooks take the slow way).
 *                      Addresses near the last event on it count as the same stack.
 *
 * The frames of one stack are a run, with a base below them. When a thread turns to a stack without frames, a new
 * run begins above the old one, which stays. When it turns to a stack with frames, all runs above that stack's run
 * are dropped. So a handler's run ends when the handler has returned, and a coroutine's frames are dropped when it
 * switches to its caller's stack.
 *
 * A handler on another stack may come when a hook has read `top` and not yet written it. The bounds then belong to
 * the handler's stack, and `top` is a frame of the interrupted stack, pushed over the base of the handler's run:
 *
 * 	hook reads top:  main | work                    handler returns:  main | work | base | handler
 * 	                                                hook writes top:  main | work | shallow           bounds: handler's
 *
 * The hooks' usual path compares frames only, and works in this state. Code that needs the bounds of the stack of
 * `top` calls hooks_stack_turn, which sets both with signals blocked, or hooks_stack_of.
 */
#include <fcntl.h>
#include <sys/resource.h>
#include <sys/syscall.h>

#include "collect/agent/hooks/paths.h"
#include "collect/agent/hooks/system.h"

/* --- mappings --- */

/* Reads a hexadecimal number, and skips the character behind it. */
static const char *read_hex(const char *text, const char *end, uint64_t *value)
{
	enum { DIGIT_BITS = 4, TEN = 10 };
	for (*value = 0; text < end; text++) {
		uint32_t digit = (uint32_t)*text - '0';
		uint32_t letter = (uint32_t)*text - 'a' + TEN;
		if (digit >= TEN && (letter < TEN || letter >= 1 << DIGIT_BITS))
			return text + 1;
		*value = *value << DIGIT_BITS | (digit < TEN ? digit : letter);
	}
	return end;
}

/* Finds a mapping in a file of lines that begin "low-high ", which is read piece by piece. */
static bool find_line(long fd, uint64_t address, struct hook_range *found)
{
	char text[1024];
	long kept = 0, got;
	while ((got = machine_syscall(SYS_read, fd, (long)text + kept, (long)sizeof(text) - kept, 0, 0, 0)) > 0) {
		const char *end = text + kept + got, *line = text;
		for (const char *at = line; at < end; at++) {
			if (*at != '\n')
				continue;
			read_hex(read_hex(line, at, &found->low), at, &found->high);
			if (hooks_is_in(*found, address))
				return true;
			line = at + 1;
		}
		kept = end - line;
		if (kept == (long)sizeof(text))
			kept = 0; /* a very long path: its rest is read as a line without numbers */
		for (long i = 0; i < kept; i++)
			text[i] = line[i];
	}
	return false;
}

/* Queries the kernel for the mapping or, if it is too old for that, reads all mappings. */
static bool find_mapping(uint64_t address, struct hook_range *found)
{
	struct {
		uint64_t size, flags, address, low, high, vma_flags, page_bytes, offset, inode;
		uint32_t major, minor, name_bytes, id_bytes;
		uint64_t name, id;
	} query = { .size = sizeof(query), .address = address };
	enum { PROCMAP_QUERY = 0xc0686611 };
	long fd = machine_syscall(SYS_openat, AT_FDCWD, (long)"/proc/self/maps", O_RDONLY | O_CLOEXEC, 0, 0, 0);
	if (fd < 0)
		return false;
	bool has = machine_syscall(SYS_ioctl, fd, (long)(uint32_t)PROCMAP_QUERY, (long)&query, 0, 0, 0) == 0;
	if (has)
		*found = (struct hook_range){ query.low, query.high };
	else
		has = find_line(fd, address, found);
	machine_syscall(SYS_close, fd, 0, 0, 0, 0, 0);
	return has;
}

/* --- the thread's own --- */

extern void *__libc_stack_end __attribute__((weak));

static bool is_first_thread(void)
{
	return machine_syscall(SYS_gettid, 0, 0, 0, 0, 0, 0) == machine_syscall(SYS_getpid, 0, 0, 0, 0, 0, 0);
}

/* The first thread's stack grows, into addresses that the kernel reserves for it. */
static struct hook_range first_threads(void)
{
	const uint64_t least = 64ULL << 20, most = 1ULL << 40;
	struct rlimit limit;
	struct hook_range range = { 0, 0 };
	if (!&__libc_stack_end || !find_mapping((uint64_t)(uintptr_t)__libc_stack_end, &range))
		return (struct hook_range){ 0, 0 };
	if (machine_syscall(SYS_prlimit64, 0, RLIMIT_STACK, 0, (long)&limit, 0, 0) < 0 || limit.rlim_cur < least)
		limit.rlim_cur = least;
	range.low = range.high - (limit.rlim_cur < most ? limit.rlim_cur : most);
	return range;
}

static uint64_t find_range(void *range, uint64_t unused)
{
	(void)unused;
	struct hook_range *found = range;
	uint64_t control_block = machine_thread_pointer();
	if (is_first_thread())
		*found = first_threads();
	else if (find_mapping(control_block, found))
		found->high = control_block;
	return 0;
}

static struct hook_range own_stack(struct hook_thread *thread)
{
	struct hook_range range = { thread->own_low, thread->own_high };
	/* In the child of a fork the parent's range is still right: the thread runs on its copy of the stack. */
	if (range.high)
		return range;
	(void)hooks_keep_vectors(find_range, &range, 0);
	if (!range.high)
		range = (struct hook_range){ 1, 1 };
	thread->own_low = range.low;
	thread->own_high = range.high;
	return range;
}

/* --- the others --- */

static bool is_on_alternate(uint64_t address, struct hook_range *range)
{
	stack_t alternate = { .ss_size = 0 };
	if (machine_syscall(SYS_sigaltstack, 0, (long)&alternate, 0, 0, 0, 0) < 0 || alternate.ss_flags & SS_DISABLE)
		return false;
	range->low = (uint64_t)(uintptr_t)alternate.ss_sp;
	range->high = range->low + alternate.ss_size;
	return hooks_is_in(*range, address);
}

/* Addresses that count as the same stack of a coroutine: how far calls go down from it, and come back up. */
enum { NEAR_BELOW = 32 * 1024, NEAR_ABOVE = 2 * 1024 };

static struct hook_range near(uint64_t address)
{
	return (struct hook_range){ address - NEAR_BELOW, address + NEAR_ABOVE };
}

/* --- runs --- */

static struct hook_frame *base_of(const struct hook_thread *thread, struct hook_frame *top)
{
	struct hook_frame *base = thread->run;
	if (base < thread->frames || base > top || !hooks_frame_is_base(base))
		for (base = top; !hooks_frame_is_base(base); base--)
			;
	return base;
}

/* Returns the last frame of the run from `base` to `top` that lies on a stack, or NULL if it is another stack's run.
 * Frames of a handler that came between two instructions of a hook may lie above it, without a base. */
static struct hook_frame *last_on(struct hook_range stack, const struct hook_frame *base, struct hook_frame *top)
{
	if (top == base || (!hooks_is_in(stack, top->return_slot) && !hooks_is_in(stack, base[1].return_slot)))
		return NULL;
	while (!hooks_is_in(stack, top->return_slot))
		top--;
	return top;
}

/* Returns the last frame of a stack's run, or NULL if it has none. */
static struct hook_frame *find_run(struct hook_thread *thread, struct hook_range stack)
{
	struct hook_frame *top = thread->top;
	for (;;) {
		struct hook_frame *base = base_of(thread, top);
		struct hook_frame *last = top == thread->frames ? top : last_on(stack, base, top);
		thread->run = base;
		if (last)
			return last;
		if (base == thread->frames)
			return NULL;
		top = base - 1;
		thread->run = NULL;
	}
}

/* Begins a run behind `top`, or drops all frames if there is no room for a base. A base has no guess: if its calls
 * were guessed, the thread's next turn to another stack would stay undetected. */
static void begin_run(struct hook_thread *thread, struct hook_frame *top)
{
	struct hook_frame *base = top + 1 < thread->limit ? top + 1 : thread->frames;
	if (base != thread->frames)
		*base = (struct hook_frame){ top->node, HOOK_FRAME_BASE, 0, &hooks_no_edge };
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	thread->top = thread->run = base;
}

/* Drops runs that have no frames. */
static struct hook_frame *without_empty_run(struct hook_frame *top, const struct hook_frame *frames)
{
	while (top != frames && hooks_frame_is_base(top))
		top--;
	return top;
}

/* --- turns --- */

struct hook_range hooks_stack_of(const struct hook_thread *thread, const struct hook_frame *top)
{
	const struct hook_range last = { thread->stack_low, thread->stack_high };
	const struct hook_range own = { thread->own_low, thread->own_high };
	if (hooks_is_in(last, top->return_slot))
		return last;
	return hooks_is_in(own, top->return_slot) ? own : (struct hook_range){ 0, 0 };
}

bool hooks_stack_is_at(const struct hook_thread *thread, const struct hook_frame *top, struct hook_range stack)
{
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	return thread->top == top && thread->stack_low == stack.low && thread->stack_high == stack.high;
}

/* Returns true if a frame is on a stack, or is a base. */
static bool is_on(struct hook_range stack, const struct hook_frame *frame)
{
	return hooks_frame_is_base(frame) || hooks_is_in(stack, frame->return_slot);
}

/* Returns true if the thread's bounds and its top belong to the stack that contains `address`. Sets *top and *stack
 * in any case. */
static bool is_there(const struct hook_thread *thread, uint64_t address, struct hook_frame **top,
		     struct hook_range *stack)
{
	*top = thread->top;
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	*stack = (struct hook_range){ thread->stack_low, thread->stack_high };
	const struct hook_range other = { thread->other_low, thread->other_high }, here = near(address);
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	if (thread->top != *top)
		return false;
	if (hooks_is_in(*stack, address))
		return is_on(*stack, *top);
	return here.low >= other.low && here.high <= other.high && is_on(other, *top);
}

static void set_bounds(struct hook_thread *thread, struct hook_range stack, bool is_known)
{
	thread->stack_low = is_known ? stack.low : UINT64_MAX;
	thread->stack_high = is_known ? stack.high : 0;
	hooks_allow_direct(thread);
	thread->other_low = is_known ? 0 : stack.low;
	thread->other_high = is_known ? 0 : stack.high;
}

static void set_top(struct hook_thread *thread, struct hook_range stack, uint64_t interrupted)
{
	struct hook_frame *top = thread->top, *run = find_run(thread, stack);
	if (run) {
		thread->top = run;
		return;
	}
	struct hook_range before = hooks_stack_of(thread, top);
	top = hooks_frames_whole(before, top, hooks_is_in(before, interrupted) ? interrupted : 0);
	begin_run(thread, without_empty_run(top, thread->frames));
}

/* Turns to the stack that contains `address`. Handlers must not come meanwhile. */
static void turn(struct hook_thread *thread, uint64_t address, uint64_t interrupted)
{
	struct hook_range stack = own_stack(thread), other = { thread->other_low, thread->other_high };
	bool is_known = hooks_is_in(stack, address);
	if (!is_known && hooks_is_in(other, address) && is_on(other, thread->top)) {
		/* The assumed range grows with the events. */
		struct hook_range here = near(address);
		thread->other_low = here.low < other.low ? here.low : other.low;
		thread->other_high = here.high > other.high ? here.high : other.high;
		return;
	}
	is_known = is_known || is_on_alternate(address, &stack);
	if (!is_known)
		stack = near(address);
	set_top(thread, stack, interrupted);
	set_bounds(thread, stack, is_known);
}

struct hook_frame *hooks_stack_turn(struct hook_thread *thread, uint64_t address, uint64_t call_site,
				    struct hook_range *stack)
{
	struct hook_frame *top;
	uint64_t signals;
	if (is_there(thread, address, &top, stack))
		return top;
	system_block_interruptions(&signals);
	turn(thread, address, call_site ? machine_interrupted_by(call_site, address) : 0);
	(void)is_there(thread, address, &top, stack);
	system_restore_signals(&signals);
	return top;
}
