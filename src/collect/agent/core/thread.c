/* The registered threads of this process: their memory, slots and alternate stacks. */
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

#include "collect/agent/causal/causal.h"
#include "collect/agent/core/channel.h"
#include "collect/agent/core/interpreted.h"
#include "collect/agent/core/runtime.h"
#include "collect/agent/hooks/hooks.h"
#include "collect/agent/signals/signals.h"
#include "processor/agent/machine.h"

_Thread_local struct runtime_thread *runtime_thread __attribute__((tls_model("initial-exec")));

enum { PAGE = 4096, ALTERNATE_STACK_BYTES = 256 * 1024 };

/* --- the list of threads --- */

static struct runtime_thread *all[CHANNEL_THREADS]; /* by slot */
static uint32_t all_locked;

/* Held for some instructions, never in a handler. */
static void lock_all(void)
{
	while (__atomic_exchange_n(&all_locked, 1, __ATOMIC_ACQUIRE))
		machine_syscall(SYS_sched_yield, 0, 0, 0, 0, 0, 0);
}

static void unlock_all(void)
{
	__atomic_store_n(&all_locked, 0, __ATOMIC_RELEASE);
}

void runtime_each_thread(void (*visit)(struct runtime_thread *thread))
{
	sigset_t old;
	runtime_block_ticks(&old);
	lock_all();
	for (uint32_t i = 0; i < CHANNEL_THREADS; i++)
		if (all[i])
			visit(all[i]);
	unlock_all();
	real_sigmask(SIG_SETMASK, &old, NULL);
}

void runtime_block_ticks(sigset_t *old)
{
	sigset_t ticks;
	sigemptyset(&ticks);
	sigaddset(&ticks, runtime.signal);
	real_sigmask(SIG_BLOCK, &ticks, old);
}

/* --- slots --- */

static struct channel_thread *find_slot(void)
{
	static uint32_t hint;
	struct channel *channel = runtime.channel;
	for (uint32_t i = 0; i < CHANNEL_THREADS; i++) {
		uint32_t number = (hint + i) % CHANNEL_THREADS;
		uint32_t expected = CHANNEL_FREE;
		if (__atomic_compare_exchange_n(&channel->threads[number].state, &expected, CHANNEL_TAKEN, false,
						__ATOMIC_ACQUIRE, __ATOMIC_RELAXED)) {
			hint = number + 1;
			return &channel->threads[number];
		}
	}
	return NULL;
}

/* Takes a thread slot. Slots of threads that have ended become free when the monitor has read them to the end, so it
 * waits up to TRIES ms for one. If that was in vain, the next calls do not wait. */
static struct channel_thread *take_slot(void)
{
	enum { TRIES = 20 };
	static bool was_in_vain;
	const struct timespec wait = { .tv_nsec = 1000 * 1000 };
	struct channel_thread *slot = find_slot();
	for (int i = 0; i < TRIES && !slot && !was_in_vain && !runtime.alone && !runtime.channel->is_over; i++) {
		runtime_ring_bell();
		machine_syscall(SYS_nanosleep, (long)&wait, 0, 0, 0, 0, 0);
		slot = find_slot();
	}
	was_in_vain = !slot;
	if (!slot)
		__atomic_add_fetch(&runtime.process->threads_unwatched, 1, __ATOMIC_RELAXED);
	return slot;
}

static uint32_t number_of(const struct channel_thread *shared)
{
	return (uint32_t)(shared - runtime.channel->threads);
}

static void seed(struct runtime_thread *thread)
{
	const uint64_t golden = 0x9e3779b97f4a7c15;
	thread->random = (runtime_now_ns(CLOCK_MONOTONIC) ^ (uint64_t)thread->tid << 32) * golden | 1;
}

/* Takes a slot for the thread and maps its ring. Returns false if there is no slot or no memory. */
static bool attach_slot(struct runtime_thread *thread)
{
	thread->ring = NULL;
	thread->shared = take_slot();
	if (!thread->shared || runtime.alone)
		return thread->shared != NULL;
	thread->ring = channel_map_ring(number_of(thread->shared));
	if (thread->ring)
		return true;
	__atomic_store_n(&thread->shared->state, CHANNEL_FREE, __ATOMIC_RELEASE); /* it was not used */
	__atomic_add_fetch(&runtime.process->threads_unwatched, 1, __ATOMIC_RELAXED);
	__atomic_or_fetch(&runtime.process->findings, CHANNEL_FINDING_MEMORY, __ATOMIC_RELAXED);
	return false;
}

/* Clears the old content of the slot. The ring continues at the position where the monitor has stopped reading. */
static void fill_slot(struct runtime_thread *thread)
{
	struct channel_thread *shared = thread->shared;
	shared->pid = runtime.pid;
	shared->tid = thread->tid;
	shared->process = runtime.process_number;
	shared->start_ns = runtime_stamp_ns();
	shared->head = __atomic_load_n(&shared->tail, __ATOMIC_ACQUIRE);
	memset(shared->clocks, 0, sizeof(shared->clocks));
	memset(shared->lost, 0, sizeof(shared->lost));
	shared->bounded = 0;
	shared->lost_events = 0;
	shared->moved = (struct channel_moved){ 0 };
	for (uint32_t i = 0; i < runtime.channel->request_count; i++)
		runtime_set_mark(thread, i);
	__atomic_store_n(&shared->state, CHANNEL_LIVE, __ATOMIC_RELEASE);
}

/* --- stacks --- */

/* A tick needs some KB of stack. The stack of a coroutine or of a deep recursion may not have them, so the thread
 * gets an alternate stack, unless the program has set one. */
static void set_alternate_stack(struct runtime_thread *thread)
{
	stack_t old;
	stack_t ours = { .ss_sp = (uint8_t *)thread + runtime_thread_bytes(), .ss_size = ALTERNATE_STACK_BYTES };
	if (machine_syscall(SYS_sigaltstack, 0, (long)&old, 0, 0, 0, 0) < 0 || !(old.ss_flags & SS_DISABLE))
		return;
	if (machine_syscall(SYS_sigaltstack, (long)&ours, 0, 0, 0, 0, 0) == 0)
		thread->alternate_stack = ours.ss_sp;
}

static void drop_alternate_stack(struct runtime_thread *thread)
{
	stack_t now;
	const stack_t none = { .ss_flags = SS_DISABLE };
	if (thread->alternate_stack && machine_syscall(SYS_sigaltstack, 0, (long)&now, 0, 0, 0, 0) == 0 &&
	    now.ss_sp == thread->alternate_stack)
		machine_syscall(SYS_sigaltstack, (long)&none, 0, 0, 0, 0, 0);
}

/* --- begin and end --- */

size_t runtime_thread_bytes(void)
{
	size_t bytes = sizeof(struct runtime_thread) + runtime_walk_bytes;
	return (bytes + PAGE - 1) / PAGE * PAGE;
}

size_t runtime_thread_all_bytes(void)
{
	return runtime_thread_bytes() + ALTERNATE_STACK_BYTES;
}

static void free_thread(struct runtime_thread *thread)
{
	interpreted_release(thread);
	channel_unmap_ring(thread->ring);
	runtime_unmap(thread, runtime_thread_all_bytes());
}

static struct runtime_thread *new_thread(void)
{
	struct runtime_thread *thread = runtime_map(runtime_thread_all_bytes());
	if (!thread)
		return NULL;
	thread->walk = (struct walk *)(thread + 1);
	thread->tid = (uint32_t)machine_syscall(SYS_gettid, 0, 0, 0, 0, 0, 0);
	seed(thread);
	if (attach_slot(thread))
		return thread;
	free_thread(thread);
	return NULL;
}

static void enlist(struct runtime_thread *thread)
{
	fill_slot(thread);
	lock_all();
	all[number_of(thread->shared)] = thread;
	unlock_all();
}

static void measure(struct runtime_thread *thread)
{
	causal_thread_begins(thread);
	tick_create(thread);
	if (runtime.on)
		tick_start(thread);
	if (runtime.fp_kinds)
		fp_start(thread);
}

/* Writes the path that created the thread, if it is known. */
static void write_creator(struct runtime_thread *thread, const struct sample_record *creator)
{
	if (!creator)
		return;
	struct sample_record record = *creator;
	record.about = thread->tid;
	record.time_ns = runtime_stamp_ns();
	if (!runtime_ring_write(thread, &record, sizeof(record), creator + 1, record.frames * sizeof(uint64_t)))
		thread->shared->lost_events++;
}

/* Writes the first records of the ring: the path that created the thread, and its name. */
static void introduce(struct runtime_thread *thread, const struct sample_record *creator)
{
	write_creator(thread, creator);
	/* The thread may have ended before the monitor could read its name from /proc. */
	enum { NAME_BYTES = 16 };
	char name[NAME_BYTES] = { 0 };
	machine_syscall(SYS_prctl, PR_GET_NAME, (long)name, 0, 0, 0, 0);
	runtime_write_event(thread, CHANNEL_THREAD, 0, 0, name, strnlen(name, sizeof(name)));
}

/* A thread that has ended is not registered again, whatever functions its last destructors call. */
static _Thread_local bool has_ended __attribute__((tls_model("initial-exec")));

struct runtime_thread *runtime_thread_begin(const struct sample_record *creator)
{
	sigset_t all_signals, old;
	if (runtime_thread || !runtime.channel || has_ended || runtime_is_elsewhere())
		return runtime_thread;
	sigfillset(&all_signals); /* a handler of the program could also call this function */
	real_sigmask(SIG_SETMASK, &all_signals, &old);
	signals_thread_begin(&old);
	struct runtime_thread *thread = new_thread();
	if (thread) {
		set_alternate_stack(thread);
		enlist(thread);
		introduce(thread, creator);
		runtime_thread = thread;
		measure(thread);
	}
	real_sigmask(SIG_SETMASK, &old, NULL);
	return thread;
}

struct runtime_thread *runtime_thread_begin_main(enum channel_event event, int64_t detail, const char *text)
{
	struct runtime_thread *thread = new_thread();
	if (!thread)
		return NULL;
	set_alternate_stack(thread);
	enlist(thread);
	runtime_write_event(thread, event, 0, detail, text, strlen(text));
	runtime_thread = thread;
	measure(thread);
	return thread;
}

void runtime_thread_forked(int64_t parent_pid, const struct sample_record *creator)
{
	struct runtime_thread *thread = runtime_thread;
	tick_forked();
	all_locked = 0;
	for (uint32_t i = 0; i < CHANNEL_THREADS; i++) {
		if (all[i] && runtime.alone)
			all[i]->shared->state = CHANNEL_FREE; /* in this process's copy */
		if (all[i] && all[i] != thread)
			free_thread(all[i]); /* the thread does not exist in this process */
		all[i] = NULL;
	}
	if (!thread)
		return;
	thread->tid = runtime.pid;
	thread->has_timer = thread->has_cpu_timer = false;
	thread->busy = 0;
	thread->alloc_lanes = 0;
	thread->interpreter_thread = 0;
	interpreted_forked();
	seed(thread);
	channel_unmap_ring(thread->ring);
	if (!runtime.channel || !attach_slot(thread)) {
		runtime_thread = NULL;
		return;
	}
	enlist(thread);
	write_creator(thread, creator);
	runtime_write_event(thread, CHANNEL_FORKED, 0, parent_pid, NULL, 0);
	measure(thread);
}

void runtime_thread_end(void)
{
	struct runtime_thread *thread = runtime_thread;
	sigset_t old;
	if (!thread || runtime_is_elsewhere())
		return;
	causal_wakes(); /* a thread that joins this one */
	runtime_block_ticks(&old);
	has_ended = true;
	thread->busy = RUNTIME_HELD;
	if (thread->fp)
		fp_stop(thread);
	tick_finish(thread);
	hooks_total(thread);
	runtime_write_event(thread, CHANNEL_EXITS, 0, 0, NULL, 0);
	lock_all();
	all[number_of(thread->shared)] = NULL;
	unlock_all();
	runtime_thread = NULL;
	__atomic_store_n(&thread->shared->state, runtime.alone ? CHANNEL_FREE : CHANNEL_ENDED, __ATOMIC_RELEASE);
	drop_alternate_stack(thread);
	free_thread(thread);
	real_sigmask(SIG_SETMASK, &old, NULL);
}

void runtime_thread_begin_again(void)
{
	has_ended = false;
	(void)runtime_thread_begin(NULL);
}
