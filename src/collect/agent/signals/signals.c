/* Actions and alternate stacks as the program sees them, and the program's handlers of the agent's signals. */
#include "collect/agent/signals/signals.h"

#include <errno.h>
#include <link.h>
#include <string.h>
#include <sys/auxv.h>
#include <ucontext.h>

#include "collect/agent/core/real.h"
#include "collect/agent/core/runtime.h"
#include "collect/agent/signals/sets.h"

#ifndef AT_MINSIGSTKSZ
#define AT_MINSIGSTKSZ 51
#endif

enum {
	SIGNALS = 64,
	OWNED_MAX = 4,
	RESTORER_FLAG = 0x04000000, /* SA_RESTORER: the C library sets it, and sigaction returns it */
	/* Bytes of stack for our handlers, in addition to the kernel's frame. */
	HANDLER_BYTES = 4096,
	/* ... and for a handler of the program that ours interrupts. */
	PROGRAM_HANDLER_BYTES = 8192,
};

struct owned {
	int number;
	struct sigaction ours, program;
};

/* Guarded by the lock. */
static struct {
	uint32_t holder; /* process id; after a fork, the holder may be a thread that the child does not have */
	uint32_t owned_count;
	struct owned owned[OWNED_MAX];
	/* For signals that the agent does not own: the action that the program requested, of which the kernel has
	 * a changed version. */
	uint64_t asked_blocking; /* the handler blocks the timers' signal */
	uint64_t asked_stack;    /* ... runs on the alternate stack */
	bool has_stacks, has_small_stacks;
	uint64_t timers; /* the timers' signal, as a set; 0: not owned yet */
	uint64_t traps;  /* signals of processor exceptions that the agent owns */
} table;

/* --- the real functions --- */

int real_sigaction(int number, const struct sigaction *action, struct sigaction *old)
{
	return REAL(sigaction)(number, action, old);
}

int real_sigmask(int how, const sigset_t *set, sigset_t *old)
{
	return (int)-set_mask(how, (const uint64_t *)(const void *)set, (uint64_t *)(void *)old);
}

void real_signals_begin(void)
{
	(void)REAL(sigaction);
}

/* --- the lock --- */

static uint32_t process_id(void)
{
	return (uint32_t)machine_syscall(SYS_getpid, 0, 0, 0, 0, 0, 0);
}

static bool take_lock(uint32_t from, uint32_t here)
{
	return __atomic_compare_exchange_n(&table.holder, &from, here, false, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED);
}

/* Blocks all signals first, so that no handler finds the lock held by the code that it has interrupted. A holder
 * in another process was left by a fork or, if no fork was observed, may be the parent of this vfork child: the
 * parent releases the lock within microseconds. */
static void lock(uint64_t *old_mask)
{
	const uint64_t all = ALL_SIGNALS, longest_ns = 100 * 1000 * 1000;
	set_mask(SIG_SETMASK, &all, old_mask);
	uint32_t here = process_id();
	uint64_t start_ns = 0;
	while (!take_lock(0, here)) {
		uint64_t now = runtime_now_ns(CLOCK_MONOTONIC);
		start_ns = start_ns ? start_ns : now;
		uint32_t holder = __atomic_load_n(&table.holder, __ATOMIC_RELAXED);
		bool was_left = holder && holder != here && (here == runtime.pid || now - start_ns > longest_ns);
		if (was_left && take_lock(holder, here))
			return;
		machine_syscall(SYS_sched_yield, 0, 0, 0, 0, 0, 0);
	}
}

static void unlock(const uint64_t *old_mask)
{
	uint32_t here = process_id();
	(void)__atomic_compare_exchange_n(&table.holder, &here, 0, false, __ATOMIC_RELEASE, __ATOMIC_RELAXED);
	set_mask(SIG_SETMASK, old_mask, NULL);
}

static struct owned *find_owned(int number)
{
	for (uint32_t i = 0; i < table.owned_count; i++)
		if (table.owned[i].number == number)
			return &table.owned[i];
	return NULL;
}

uint64_t signals_ours(void)
{
	return table.timers;
}

uint64_t signals_traps(void)
{
	return table.traps;
}

bool signals_is_owned(int number)
{
	return find_owned(number) != NULL;
}

bool signals_is_taken(void)
{
	const struct owned *owned = find_owned(runtime.signal);
	return owned && owned->program.sa_handler != SIG_DFL && owned->program.sa_handler != SIG_IGN;
}

bool signals_in_vfork_child(void)
{
	return process_id() != runtime.pid;
}

/* --- actions --- */

/* Converts an action that the program has requested to the action for the kernel. */
static void make_real(int number, struct sigaction *action)
{
	uint64_t mask = word_of(&action->sa_mask) & ~signals_ours();
	bool on_stack = table.asked_stack & BIT(number);
	if (on_stack && table.has_small_stacks)
		mask |= signals_ours();
	set_word(&action->sa_mask, mask);
	/* If the program has set no alternate stack, its handler must not run on ours: it might need more than
	 * ours has, or leave it for another stack. */
	action->sa_flags &= ~SA_ONSTACK;
	if (on_stack && table.has_stacks)
		action->sa_flags |= SA_ONSTACK;
}

/* Converts an action of the kernel to the action that the program sees. */
static void make_program_view(int number, struct sigaction *action)
{
	uint64_t mask = word_of(&action->sa_mask) & ~signals_ours();
	set_word(&action->sa_mask, mask | (table.asked_blocking & BIT(number) ? signals_ours() : 0));
	action->sa_flags &= ~SA_ONSTACK;
	if (table.asked_stack & BIT(number))
		action->sa_flags |= SA_ONSTACK;
}

static void note_requested(int number, const struct sigaction *action)
{
	table.asked_blocking &= ~BIT(number);
	table.asked_stack &= ~BIT(number);
	if (word_of(&action->sa_mask) & signals_ours())
		table.asked_blocking |= BIT(number);
	if (action->sa_flags & SA_ONSTACK)
		table.asked_stack |= BIT(number);
}

static int act_unowned(int number, const struct sigaction *action, struct sigaction *old, bool is_child)
{
	if (real_sigaction(number, NULL, old) < 0)
		return errno;
	make_program_view(number, old);
	if (!action)
		return 0;
	struct sigaction now = *action;
	uint64_t asked_blocking = table.asked_blocking, asked_stack = table.asked_stack;
	if (!is_child) {
		note_requested(number, action);
		make_real(number, &now);
	}
	if (real_sigaction(number, &now, NULL) == 0)
		return 0;
	table.asked_blocking = asked_blocking;
	table.asked_stack = asked_stack;
	return errno;
}

static int act_owned(struct owned *owned, const struct sigaction *action, struct sigaction *old, bool is_child)
{
	*old = owned->program;
	if (!action)
		return 0;
	if (is_child)
		return real_sigaction(owned->number, action, NULL) < 0 ? errno : 0;
	owned->program = *action;
	owned->program.sa_flags |= RESTORER_FLAG;
	set_word(&owned->program.sa_mask, word_of(&action->sa_mask) & ~(BIT(SIGKILL) | BIT(SIGSTOP)));
	return 0;
}

int signals_action(int number, const struct sigaction *action, struct sigaction *old)
{
	struct sigaction wanted, was;
	uint64_t mask;
	int saved = errno;
	if (action) /* read with nothing locked: the program may have passed an invalid address */
		wanted = *action;
	if (!signals_ours() || number < 1 || number > SIGNALS) {
		int result = real_sigaction(number, action, old) < 0 ? errno : 0;
		errno = saved;
		return result;
	}
	lock(&mask);
	struct owned *owned = find_owned(number);
	bool is_child = signals_in_vfork_child();
	int result = owned ? act_owned(owned, action ? &wanted : NULL, &was, is_child)
			   : act_unowned(number, action ? &wanted : NULL, &was, is_child);
	unlock(&mask);
	errno = saved;
	if (result == 0 && old) {
		old->sa_sigaction = was.sa_sigaction;
		old->sa_flags = was.sa_flags;
		old->sa_restorer = was.sa_restorer;
		memcpy(&old->sa_mask, &was.sa_mask, sizeof(uint64_t));
	}
	return result;
}

bool signals_interrupt(int number, bool interrupts)
{
	uint64_t mask;
	lock(&mask);
	struct owned *owned = find_owned(number);
	if (owned)
		owned->program.sa_flags =
			interrupts ? owned->program.sa_flags & ~SA_RESTART : owned->program.sa_flags | SA_RESTART;
	unlock(&mask);
	return owned != NULL;
}

/* Installs the program's handlers that request the alternate stack again, after the state of the stacks has
 * changed. Covers only the requests that were recorded. */
static void install_again(void)
{
	for (int number = 1; number <= SIGNALS; number++) {
		struct sigaction action;
		if (!(table.asked_stack & BIT(number)) || find_owned(number) ||
		    real_sigaction(number, NULL, &action) < 0)
			continue;
		make_real(number, &action);
		real_sigaction(number, &action, NULL);
	}
}

/* Records and changes the handlers that the program has installed before the agent started. */
static void find_actions(void)
{
	for (int number = 1; number <= SIGNALS; number++) {
		struct sigaction action;
		if (find_owned(number) || real_sigaction(number, NULL, &action) < 0)
			continue;
		if (action.sa_handler == SIG_DFL || action.sa_handler == SIG_IGN)
			continue;
		note_requested(number, &action);
		make_real(number, &action);
		real_sigaction(number, &action, NULL);
	}
}

static bool is_note_of_go(const ElfW(Nhdr) * note)
{
	enum { GO_BUILD_ID = 4 };
	return note->n_type == GO_BUILD_ID && note->n_namesz == sizeof("Go\0") &&
	       memcmp(note + 1, "Go\0", sizeof("Go\0")) == 0;
}

/* Whether a module contains Go's runtime: it has a note with the build-id that Go's linker writes. */
static int find_go(struct dl_phdr_info *module, size_t bytes, void *unused)
{
	(void)bytes;
	(void)unused;
	for (unsigned i = 0; i < module->dlpi_phnum; i++) {
		const ElfW(Phdr) *part = &module->dlpi_phdr[i];
		const char *at = (const char *)(module->dlpi_addr + part->p_vaddr), *end = at + part->p_filesz;
		while (part->p_type == PT_NOTE && (size_t)(end - at) > sizeof(ElfW(Nhdr))) {
			const ElfW(Nhdr) *note = (const void *)at;
			size_t name = ((size_t)note->n_namesz + 3) & ~(size_t)3;
			size_t text = ((size_t)note->n_descsz + 3) & ~(size_t)3;
			if ((size_t)(end - at) - sizeof(*note) < name + text)
				break;
			if (is_note_of_go(note))
				return 1;
			at += sizeof(*note) + name + text;
		}
	}
	return 0;
}

/* Whether the program's handlers may run on the alternate stack of this thread. Go's runtime
 * looks for a stack by a system call, takes the agent's for one of the C library, and requires
 * that its handlers run there. */
static bool program_has_stacks(void)
{
	stack_t stack;
	bool is_set =
		machine_syscall(SYS_sigaltstack, 0, (long)&stack, 0, 0, 0, 0) == 0 && !(stack.ss_flags & SS_DISABLE);
	return is_set || dl_iterate_phdr(find_go, NULL) != 0;
}

int signals_own(int number, const struct sigaction *ours)
{
	uint64_t mask;
	lock(&mask);
	struct owned *owned = &table.owned[table.owned_count];
	bool refused = table.owned_count == OWNED_MAX || real_sigaction(number, ours, &owned->program) < 0;
	if (!refused) {
		owned->number = number;
		owned->ours = *ours;
		table.owned_count++;
	}
	if (!refused && number != runtime.signal) {
		table.traps |= BIT(number);
		signals_thread.blocked_traps |= mask & BIT(number);
		mask &= ~BIT(number);
	}
	if (!refused && number == runtime.signal) {
		table.timers = BIT(number);
		table.has_stacks = program_has_stacks();
		find_actions();
		signals_thread.program_blocks = mask & BIT(number);
		mask &= ~BIT(number);
	}
	unlock(&mask);
	return refused ? -1 : 0;
}

/* --- the program's handlers of signals that are ours --- */

static long queue_to_self(int number, siginfo_t *info)
{
	long thread = machine_syscall(SYS_gettid, 0, 0, 0, 0, 0, 0);
	long result = machine_syscall(SYS_rt_tgsigqueueinfo, process_id(), thread, number, (long)info, 0, 0);
	return result < 0 ? machine_syscall(SYS_tgkill, process_id(), thread, number, 0, 0, 0) : result;
}

/* Applies the default action, which ends the process. Process 1 of a container survives it and gets our action
 * back. */
static void act_by_default(int number, siginfo_t *info)
{
	const struct sigaction standard = { .sa_handler = SIG_DFL };
	uint64_t mask = BIT(number), old;
	const struct owned *owned = find_owned(number);
	real_sigaction(number, &standard, NULL);
	queue_to_self(number, info);
	set_mask(SIG_UNBLOCK, &mask, &old);
	set_mask(SIG_SETMASK, &old, NULL);
	if (owned)
		real_sigaction(number, &owned->ours, NULL);
}

/* Queues the signal again, and blocks it in the interrupted code: it stays pending when our handler has returned. */
static void hold(siginfo_t *info, ucontext_t *context)
{
	signals_thread.holds = true;
	set_word(&context->uc_sigmask, word_of(&context->uc_sigmask) | signals_ours());
	queue_to_self(runtime.signal, info);
}

/* Reads the action that the program has set; one with SA_RESETHAND becomes the default action. Returns false if
 * the agent does not own the signal. */
static bool take_action(int number, struct sigaction *action)
{
	uint64_t mask;
	lock(&mask);
	struct owned *owned = find_owned(number);
	if (owned) {
		*action = owned->program;
		bool is_handler = action->sa_handler != SIG_DFL && action->sa_handler != SIG_IGN;
		if (is_handler && action->sa_flags & (int)SA_RESETHAND)
			owned->program.sa_handler = SIG_DFL;
	}
	unlock(&mask);
	return owned != NULL;
}

/* Runs the program's handler with the mask that it requested. Like the rest of the program, it does not block the
 * timers' signal. */
static void run_handler(const struct sigaction *action, int number, siginfo_t *info, ucontext_t *context)
{
	struct signals_thread *thread = &signals_thread;
	uint64_t ours = signals_ours(), saved;
	uint64_t blocked = word_of(&action->sa_mask) | (action->sa_flags & SA_NODEFER ? 0 : BIT(number));
	uint64_t mask = (word_of(&context->uc_sigmask) | blocked) & ~ours;
	bool program_blocked = thread->program_blocks;
	thread->program_blocks = program_blocked || blocked & ours;
	set_mask(SIG_SETMASK, &mask, &saved);
	if (action->sa_flags & SA_SIGINFO)
		action->sa_sigaction(number, info, context);
	else
		((void (*)(int, siginfo_t *, void *))(void (*)(void))action->sa_handler)(number, info, context);
	set_mask(SIG_SETMASK, &saved, NULL);
	thread->program_blocks = program_blocked;
	if (thread->holds && !program_blocked) {
		thread->holds = false;
		set_word(&context->uc_sigmask, word_of(&context->uc_sigmask) & ~ours);
	}
}

void signals_chain(int number, siginfo_t *info, void *context)
{
	struct sigaction action;
	bool is_fault = info->si_code > 0 && number != runtime.signal;
	if (number == runtime.signal && signals_thread.program_blocks) {
		hold(info, context);
		return;
	}
	if (!is_fault && signals_thread.blocked_traps & BIT(number)) {
		signals_thread.held_traps |= BIT(number);
		return;
	}
	if (!take_action(number, &action))
		return;
	/* A fault cannot be ignored: the kernel applies the default action. */
	if (action.sa_handler == SIG_DFL || (action.sa_handler == SIG_IGN && is_fault))
		act_by_default(number, info);
	else if (action.sa_handler != SIG_IGN)
		run_handler(&action, number, info, context);
}

/* --- alternate stacks --- */

static uint64_t frame_bytes(void)
{
	uint64_t bytes = getauxval(AT_MINSIGSTKSZ);
	return bytes ? bytes : (uint64_t)MINSIGSTKSZ;
}

bool signals_has_small_stacks(void)
{
	return table.has_small_stacks;
}

/* Called if an alternate stack has no room for one of our frames: our handlers then run on the stack that they
 * interrupt. */
static void leave_stacks(void)
{
	for (uint32_t i = 0; i < table.owned_count; i++) {
		struct sigaction *ours = &table.owned[i].ours;
		if (!(ours->sa_flags & SA_ONSTACK))
			continue;
		ours->sa_flags &= ~SA_ONSTACK;
		real_sigaction(table.owned[i].number, ours, NULL);
	}
}

static void fit_actions(uint64_t bytes)
{
	bool is_small = bytes < 2 * frame_bytes() + HANDLER_BYTES + PROGRAM_HANDLER_BYTES / 2;
	bool is_tiny = bytes < frame_bytes() + HANDLER_BYTES;
	if (!table.has_stacks || (is_small && !table.has_small_stacks)) {
		table.has_stacks = true;
		table.has_small_stacks = table.has_small_stacks || is_small;
		install_again();
	}
	if (is_tiny)
		leave_stacks();
}

long signals_set_stack(const stack_t *stack)
{
	uint64_t mask;
	if (!signals_ours())
		return machine_call_of_program(SYS_sigaltstack, (long)stack, 0, 0, 0, 0, 0);
	lock(&mask);
	long result = machine_call_of_program(SYS_sigaltstack, (long)stack, 0, 0, 0, 0, 0);
	if (result == 0)
		fit_actions(stack->ss_size);
	unlock(&mask);
	return result;
}

/* --- exec --- */

/* Makes the kernel ignore the agent's signals that the program ignores, or sets our actions again. The timers'
 * signal is left out in the process itself: ignoring it would lose a tick, and with it all that follow. */
static void ignore_ignored(bool ignores)
{
	for (uint32_t i = 0; i < table.owned_count; i++) {
		const struct owned *owned = &table.owned[i];
		const struct sigaction *action = ignores ? &owned->program : &owned->ours;
		if (owned->program.sa_handler == SIG_IGN &&
		    (owned->number != runtime.signal || signals_in_vfork_child()))
			real_sigaction(owned->number, action, NULL);
	}
}

void signals_before_exec(void)
{
	uint64_t blocked = signals_thread.blocked_traps | (signals_thread.program_blocks ? signals_ours() : 0);
	ignore_ignored(true);
	if (blocked)
		set_mask(SIG_BLOCK, &blocked, NULL);
}

void signals_after_exec(void)
{
	uint64_t traps = signals_thread.blocked_traps;
	ignore_ignored(false);
	if (traps && !signals_in_vfork_child())
		set_mask(SIG_UNBLOCK, &traps, NULL);
	if (signals_thread.program_blocks && !signals_in_vfork_child())
		signals_unblock();
}
