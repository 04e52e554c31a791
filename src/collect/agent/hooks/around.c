/*
 * A measurement that wraps the chosen one (`inner`) when each call of a probe point needs more work: timing it, or
 * calling the user's implementation. The data of an active call stands beside its frame, so that it stays right when
 * a jump leaves calls.
 *
 *     frames  root | main | work | row |          of the thread, as the inner measurement has them
 *     notes        | ...  | ...  | ... |          ours: when it was entered, what the implementation has returned
 */
#include "collect/agent/hooks/around.h"

#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>

#include "collect/agent/hooks/paths.h"
#include "collect/agent/probes/registry.h"

struct hook_note {
	uint64_t function;   /* of the active call (a probe descriptor's address); 0: no call */
	uint64_t ticks;      /* time stamp of the entry */
	uint64_t value;      /* the value that the implementation returned */
	uint64_t was_called; /* ... 1: it was called for the entry */
};

static const struct hook_measurement *inner; /* NULL: no measurement is wrapped */
static const struct cpprof_implementation *implementation;
static bool times_calls;

/* The stack address from which this thread called the implementation; 0: the implementation is not active. */
static _Thread_local uint64_t at_work __attribute__((tls_model("initial-exec")));

/* --- notes --- */

static struct hook_note *map_notes(struct hook_thread *thread)
{
	uint64_t bytes = thread->notes_bytes = (uint64_t)(thread->limit - thread->frames) * sizeof(struct hook_note);
	long mapped = machine_syscall(SYS_mmap, 0, (long)bytes, PROT_READ | PROT_WRITE,
				      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	return mapped < 0 && mapped > -4096 ? NULL : (struct hook_note *)mapped;
}

/* Returns the note of a frame, or NULL if there is no memory. */
static struct hook_note *note_of(struct hook_thread *thread, const struct hook_frame *frame)
{
	struct hook_note *none = NULL;
	if (__builtin_expect(!thread->notes, 0)) {
		struct hook_note *notes = map_notes(thread);
		/* If a handler was faster, its mapping is used and ours stays unused. */
		if (notes)
			(void)machine_replace(&thread->notes, none, notes);
	}
	return thread->notes && frame < thread->limit ? thread->notes + (frame - thread->frames) : NULL;
}

/* --- the implementation --- */

/* Returns false if the implementation is active in this thread: a handler has interrupted it, or it has called a
 * function with probe points. Such events are not reported to it. If a jump has left it, at_work is an address in a
 * part of the stack that has ended, and it is no longer active. */
static bool begin_work(void)
{
	uint64_t here = RUNTIME_HERE;
	if (__builtin_expect(at_work != 0, 0) && !runtime_is_gone(at_work, here))
		return false;
	at_work = here;
	return true;
}

static void call_enter(struct hook_note *note)
{
	if (!begin_work())
		return;
	note->value = implementation->enter((const struct cpprof_probe *)(uintptr_t)note->function);
	note->was_called = 1;
	at_work = 0;
}

static void call_leave(const struct hook_note *note)
{
	if (!note->was_called || !begin_work())
		return;
	implementation->leave((const struct cpprof_probe *)(uintptr_t)note->function, note->value);
	at_work = 0;
}

/* --- the measurement --- */

static void entered(struct hook_thread *thread, uint64_t function, uint64_t call_site, uint64_t return_slot)
{
	inner->entered(thread, function, call_site, return_slot);
}

static void enter(struct hook_thread *thread, uint64_t function, uint64_t call_site, uint64_t return_slot,
		  uint64_t code)
{
	inner->enter(thread, function, call_site, return_slot, code);
	const struct hook_frame *top = thread->top;
	if (!(return_slot & HOOK_FRAME_PROBE) || top->return_slot != return_slot || top->node->function != function)
		return;
	struct hook_note *note = note_of(thread, top);
	if (!note)
		return;
	*note = (struct hook_note){ .function = function };
	if (implementation)
		call_enter(note);
	note->ticks = machine_time_stamp();
}

/* Moves the note of this call out of the frame. Returns false if the frame is not this call's, or has no note. */
static bool take_note(struct hook_thread *thread, const struct hook_frame *frame, uint64_t function,
		      uint64_t return_slot, struct hook_note *taken)
{
	struct hook_note *note = frame->return_slot == return_slot ? note_of(thread, frame) : NULL;
	if (!note || note->function != function)
		return false;
	*taken = *note;
	note->function = 0;
	return true;
}

static void finish(const struct hook_note *note, uint64_t now)
{
	if (times_calls)
		probes_took(note->function, now - note->ticks);
	if (implementation)
		call_leave(note);
}

/* Usually the call is the frame on top: then the implementation is called while the call's path is still current. If
 * it is not, it is the frame above the new top, once the inner measurement has dropped it. */
static void leave(struct hook_thread *thread, uint64_t function, uint64_t call_site, uint64_t return_slot)
{
	uint64_t now = machine_time_stamp();
	bool is_probe = return_slot & HOOK_FRAME_PROBE;
	struct hook_note note;
	bool is_known = is_probe && take_note(thread, thread->top, function, return_slot, &note);
	if (is_known)
		finish(&note, now);
	inner->leave(thread, function, call_site, return_slot);
	if (is_probe && !is_known && thread->top + 1 < thread->limit &&
	    take_note(thread, thread->top + 1, function, return_slot, &note))
		finish(&note, now);
}

static void block(struct hook_thread *thread, uint64_t pc)
{
	inner->block(thread, pc);
}

static void tick(struct hook_thread *thread, uint32_t request, uint64_t hits, const void *context)
{
	inner->tick(thread, request, hits, context);
}

static void rewind_to(struct hook_thread *thread, const struct hook_landing *landing)
{
	inner->rewind(thread, landing);
}

static void flush(struct hook_thread *thread)
{
	inner->flush(thread);
}

static const struct hook_measurement around = {
	.name = "around",
	.entered = entered,
	.enter = enter,
	.leave = leave,
	.block = block,
	.tick = tick,
	.rewind = rewind_to,
	.flush = flush,
};

/* --- wrapping and unwrapping --- */

const struct hook_measurement *hooks_inner(void)
{
	return inner ? inner : hooks.measurement;
}

bool hooks_have_frames(void)
{
	const struct hook_measurement *chosen = hooks_inner();
	return chosen != &hooks_off && chosen != &hooks_arcs && chosen != &hooks_blocks;
}

static void put_around(void)
{
	if (!hooks_have_frames())
		return;
	inner = hooks_inner();
	hooks_measure_by(times_calls || implementation ? &around : inner);
}

void hooks_time_calls(bool on)
{
	times_calls = on;
	put_around();
}

void hooks_set_implementation(const struct cpprof_implementation *loaded)
{
	implementation = loaded;
	put_around();
}
