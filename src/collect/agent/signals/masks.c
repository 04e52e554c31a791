/* Signal masks as the program sees them: they show the agent's signals as the program has set them, whatever the
 * kernel's mask is (signals.h). */
#include <errno.h>

#include "collect/agent/core/runtime.h"
#include "collect/agent/signals/sets.h"
#include "collect/agent/signals/signals.h"

_Thread_local struct signals_thread signals_thread __attribute__((tls_model("initial-exec")));

/* Handlers on a small alternate stack always run with the timers' signal blocked. */
static bool is_on_small_stack(void)
{
	stack_t stack;
	return signals_has_small_stacks() && machine_syscall(SYS_sigaltstack, 0, (long)&stack, 0, 0, 0, 0) == 0 &&
	       stack.ss_flags & SS_ONSTACK;
}

void signals_unblock(void)
{
	uint64_t ours = signals_ours();
	if (!signals_thread.holds && !is_on_small_stack())
		set_mask(SIG_UNBLOCK, &ours, NULL);
}

static void note_program_mask(int how, uint64_t set)
{
	struct signals_thread *thread = &signals_thread;
	uint64_t ours = signals_ours();
	if (how == SIG_SETMASK || set & ours)
		thread->program_blocks = how != SIG_UNBLOCK && set & ours;
	if (!thread->program_blocks)
		thread->holds = false;
	uint64_t traps = set & signals_traps();
	thread->blocked_traps = how == SIG_SETMASK ? traps
				: how == SIG_BLOCK ? thread->blocked_traps | traps
						   : thread->blocked_traps & ~traps;
}

/* Sends this thread the signals again that arrived while the program had them blocked and that it has unblocked. */
static void resend_held(void)
{
	struct signals_thread *thread = &signals_thread;
	uint64_t due = thread->held_traps & ~thread->blocked_traps;
	thread->held_traps &= ~due;
	for (; due; due &= due - 1)
		machine_syscall(SYS_tgkill, runtime.pid, machine_syscall(SYS_gettid, 0, 0, 0, 0, 0, 0),
				__builtin_ctzll(due) + 1, 0, 0, 0);
}

/* Returns the set for the kernel in place of a set that the program passes. */
static uint64_t real_set(int how, uint64_t set)
{
	uint64_t ours = signals_ours();
	if (how != SIG_UNBLOCK)
		set &= ~signals_traps();
	if (how != SIG_UNBLOCK)
		return signals_thread.holds || (how == SIG_SETMASK && is_on_small_stack()) ? set | ours : set & ~ours;
	return is_on_small_stack() ? set & ~ours : set;
}

int signals_mask(int how, const void *set, void *old)
{
	/* Signals that the C library reserves for its own use. */
	const uint64_t reserved = BIT(32) | BIT(33);
	uint64_t ours = signals_ours(), now = set ? word_of(set) & ~reserved : 0, was;
	uint64_t traps = signals_thread.blocked_traps;
	bool program_blocked = signals_thread.program_blocks, is_child = ours && signals_in_vfork_child();
	if (set && how != SIG_BLOCK && how != SIG_UNBLOCK && how != SIG_SETMASK)
		return EINVAL;
	if (set && ours && !is_child) {
		note_program_mask(how, now);
		now = real_set(how, now);
	}
	long result =
		machine_call_of_program(SYS_rt_sigprocmask, how, set ? (long)&now : 0, (long)&was, sizeof(was), 0, 0);
	if (result == 0 && old)
		set_word(old, (is_child ? was : was & ~ours) | (program_blocked ? ours : 0) | traps);
	if (signals_thread.held_traps && !is_child)
		resend_held();
	return (int)-result;
}

void signals_thread_begin(sigset_t *mask)
{
	uint64_t set = word_of(mask), ours = signals_ours();
	if (set & ours)
		signals_thread.program_blocks = true;
	signals_thread.blocked_traps |= set & signals_traps();
	set_word(mask, set & ~ours & ~signals_traps());
}

/* The state that the program had set when it saved this mask is not recorded. A mask that blocks both neighbouring
 * signals is taken for one that blocks ours as well. */
void signals_jump(sigset_t *mask)
{
	uint64_t set = word_of(mask), ours = signals_ours(), neighbours = ours << 1 | ours >> 1;
	if (!ours || signals_in_vfork_child())
		return;
	signals_thread.program_blocks = (set & neighbours) == neighbours;
	if (!signals_thread.program_blocks)
		signals_thread.blocked_traps = 0;
	set_word(mask, set &= ~signals_traps());
	if (signals_has_small_stacks())
		return;
	signals_thread.holds = false;
	set_word(mask, set & ~ours);
}
