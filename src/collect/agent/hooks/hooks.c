/*
 * The hooks' state of this process and of each of its threads: when a thread gets a state, and when another thread continues with it.
 *
 *	hooks_none --first event--> a state of its own --hooks_thread_end--> ... --thread exited--> the next thread's
 *	      \--no state possible--> hooks_refused
 *
 * After 1000 threads a new thread continues in the tables of a thread that has exited, so that a program may start
 * any number of threads. All states are in a list that only grows. A thread takes the state of an exited thread by
 * writing its own number into it (compare and swap).
 */
#include "collect/agent/hooks/hooks.h"

#include <errno.h>
#include <limits.h>
#include <pthread.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>

#include "collect/agent/hooks/implementation.h"
#include "collect/agent/hooks/system.h"
#include "collect/agent/hooks/tally.h"
#include "collect/agent/hooks/trace.h"
#include "collect/agent/probes/registry.h"

/* The state of all threads that cannot be counted. */
static struct hook_thread hooks_refused = { .measurement = &hooks_off, .direct_low = UINT64_MAX };

_Thread_local struct hook_thread *hook_thread __attribute__((tls_model("initial-exec"))) = &hooks_none;

/* The same variable, under the name that cpprof/profiler.h uses. */
extern _Thread_local struct cpprof_thread *cpprof_thread_1 __attribute__((alias("hook_thread")));

static struct hook_thread *all; /* the list of all states */

static bool has_state(const struct hook_thread *thread)
{
	return thread != &hooks_none && thread != &hooks_refused;
}

/* The destructor of this key reports that a thread ends. Without the key, adopt() checks each thread with tgkill. */
static pthread_key_t end_key;
static bool has_end_key;

/* Destructors run when the thread's function has returned or called pthread_exit, which no hook reports. The
 * functions that they call are not called by the thread's function, so all its frames are dropped. */
static void leave_all(void)
{
	const struct hook_thread *thread = hook_thread;
	if (!has_state(thread) || thread->stack_high == 0)
		return;
	const struct hook_landing landing = { .stack_pointer = thread->stack_high - 1 };
	hooks_rewind(&landing);
}

/* Runs once in each of the PTHREAD_DESTRUCTOR_ITERATIONS rounds of destructors, so that the thread ends only after
 * the program's own destructors. In each round it runs first, as its key is an early one. */
static void thread_ends(void *round)
{
	uintptr_t rounds = (uintptr_t)round;
	if (rounds == 1)
		leave_all();
	if (rounds < PTHREAD_DESTRUCTOR_ITERATIONS && pthread_setspecific(end_key, (void *)(rounds + 1)) == 0)
		return;
	runtime_thread_end();
	hooks_thread_end();
}

/* pthread_setspecific allocates memory for keys other than the first 32. A hook sets the key, and must not allocate. */
void hooks_will_end(void)
{
	enum { KEYS_WITHOUT_MEMORY = 32 };
	has_end_key = pthread_key_create(&end_key, thread_ends) == 0 && end_key < KEYS_WITHOUT_MEMORY;
}

/* --- a thread's state --- */

enum {
	FRAMES_MOST = 512 * 1024, /* a stack of 8 MB has room for so many frames of 16 bytes */
	FRAMES_LEAST = 4 * 1024,
	FRAMES_STEP = 8,
	THREADS_OF_THEIR_OWN = 1000,
};

/* Returns fewer frames if the program's address space is limited. */
static uint64_t frames_to_reserve(void)
{
	struct rlimit limit;
	long got = machine_syscall(SYS_prlimit64, 0, RLIMIT_AS, 0, (long)&limit, 0, 0);
	return got == 0 && limit.rlim_cur != RLIM_INFINITY ? FRAMES_MOST / FRAMES_STEP : FRAMES_MOST;
}

static struct hook_thread *map_state(uint64_t frames)
{
	uint64_t bytes = sizeof(struct hook_thread) + frames * sizeof(struct hook_frame);
	long mapped = machine_syscall(SYS_mmap, 0, (long)bytes, PROT_READ | PROT_WRITE,
				      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (system_is_error(mapped))
		return NULL;
	struct hook_thread *thread = (void *)mapped;
	thread->frames = (struct hook_frame *)(thread + 1);
	thread->limit = thread->frames + frames;
	return thread;
}

static struct hook_thread *new_state(uint32_t tid)
{
	struct hook_thread *thread = NULL;
	for (uint64_t frames = frames_to_reserve(); !thread && frames >= FRAMES_LEAST; frames /= FRAMES_STEP)
		thread = map_state(frames);
	if (!thread)
		return NULL;
	thread->owner.tid = tid;
	thread->owner.next = __atomic_load_n(&all, __ATOMIC_RELAXED);
	while (!__atomic_compare_exchange_n(&all, &thread->owner.next, thread, true, __ATOMIC_RELEASE,
					    __ATOMIC_RELAXED))
		;
	return thread;
}

static bool is_gone(uint32_t tid, uint32_t here)
{
	return tid == here || machine_syscall(SYS_tgkill, hooks.process->pid, tid, 0, 0, 0, 0) == -ESRCH;
}

/* Defined in a program built with ThreadSanitizer, which observes the code of cpprof/profiler.h and our memset. It
 * would report a race between a thread and the thread that adopts its state. */
extern void __tsan_init(void) __attribute__((weak));

/* Gives the state of an exited thread to the current one, `here`. Returns the state, or NULL if there is none. */
static struct hook_thread *adopt(uint32_t here)
{
	if (__tsan_init)
		return NULL;
	for (struct hook_thread *thread = __atomic_load_n(&all, __ATOMIC_ACQUIRE); thread;
	     thread = thread->owner.next) {
		uint32_t tid = __atomic_load_n(&thread->owner.tid, __ATOMIC_RELAXED);
		bool may_be_gone = __atomic_load_n(&thread->owner.has_ended, __ATOMIC_ACQUIRE) || !has_end_key;
		if (may_be_gone && is_gone(tid, here) &&
		    __atomic_compare_exchange_n(&thread->owner.tid, &tid, here, false, __ATOMIC_ACQUIRE,
						__ATOMIC_RELAXED))
			return thread;
	}
	return NULL;
}

/* Clears all data of the previous thread; keeps the memory and the position in the list. */
static void clear(struct hook_thread *thread)
{
	struct hook_frame *frames = thread->frames, *limit = thread->limit;
	struct hook_owner owner = { .next = thread->owner.next, .tid = thread->owner.tid };
	struct hook_note *notes = thread->notes;
	uint64_t notes_bytes = thread->notes_bytes;
	memset(thread, 0, sizeof(*thread));
	thread->notes = notes;
	thread->notes_bytes = notes_bytes;
	thread->frames = frames;
	thread->limit = limit;
	thread->owner = owner;
}

/* Makes the tables of a cleared state. Returns false if there is no room. */
static bool begin_tables(struct hook_thread *thread)
{
	uint32_t number = __atomic_fetch_add(&hooks.process->threads, 1, __ATOMIC_RELAXED);
	struct tally_thread *shared = (struct tally_thread *)tally_chunk_new(TALLY_GRANULE, number);
	if (!shared)
		return false;
	shared->chunk.used = sizeof(*shared);
	shared->tid = thread->owner.tid;
	shared->creator_process = UINT32_MAX;
	shared->start_ns = runtime_stamp_ns();
	machine_syscall(SYS_prctl, PR_GET_NAME, (long)shared->name, 0, 0, 0, 0);
	tally_chunk_finish(&shared->chunk, TALLY_THREAD);
	thread->shared = shared;
	thread->chunk = &shared->chunk;
	thread->number = number;
	thread->last_ticks = machine_time_stamp();
	return true;
}

/* Continues in the tables of an exited thread, whose state was adopted. */
static void inherit_tables(struct hook_thread *thread)
{
	struct tally_thread *shared = thread->shared;
	thread->owner.has_ended = 0;
	memset(thread->owner.totals, 0, sizeof(thread->owner.totals));
	shared->tid = thread->owner.tid;
	shared->threads_before++;
	shared->end_ns = 0;
	machine_syscall(SYS_prctl, PR_GET_NAME, (long)shared->name, 0, 0, 0, 0);
	hooks_frames_begin(thread, &shared->root);
	thread->last_ticks = machine_time_stamp();
}

static void take_measurement(struct hook_thread *thread)
{
	const struct hook_measurement *wanted =
		__atomic_load_n(&hooks.on, __ATOMIC_RELAXED) ? hooks.measurement : &hooks_off;
	__atomic_store_n(&thread->measurement, thread->owner.has_stopped ? &hooks_off : wanted, __ATOMIC_RELEASE);
	hooks_allow_direct(thread);
}

/* Returns a state for the current thread, or NULL if there is no room for one. */
static struct hook_thread *take_state(uint32_t tid)
{
	struct hook_thread *thread = adopt(tid);
	if (thread && thread->shared && !thread->owner.has_stopped &&
	    __atomic_load_n(&hooks.process->threads, __ATOMIC_RELAXED) >= THREADS_OF_THEIR_OWN) {
		inherit_tables(thread);
		return thread;
	}
	if (thread)
		clear(thread);
	else
		thread = new_state(tid);
	if (thread && begin_tables(thread)) {
		hooks_frames_begin(thread, &thread->shared->root);
		return thread;
	}
	if (thread) { /* a later thread may adopt it */
		thread->owner.tid = 0;
		thread->owner.has_ended = 1;
	}
	return NULL;
}

/* --- threads begin and end --- */

/* Called with all signals blocked. */
static struct hook_thread *begin_thread(struct tally_node *creator)
{
	/* A child of vfork shares its parent's memory: the parent would continue with the child's state. */
	if (system_pid() != hooks.process->pid)
		return &hooks_refused;
	struct hook_thread *thread = hooks.measurement == &hooks_off ? NULL : take_state(system_tid());
	hook_thread = thread ? thread : &hooks_refused;
	if (!thread && hooks.measurement != &hooks_off)
		__atomic_add_fetch(&hooks.process->threads_refused, 1, __ATOMIC_RELAXED);
	if (!thread)
		return &hooks_refused;
	if (creator) {
		thread->shared->creator = creator;
		thread->shared->creator_process = hooks.process_number;
	}
	take_measurement(thread);
	if (has_end_key)
		(void)pthread_setspecific(end_key, (void *)1);
	return thread;
}

static struct hook_thread *begin_unless_begun(struct tally_node *creator)
{
	uint64_t old;
	hooks_begin();
	if (hook_thread != &hooks_none)
		return hook_thread;
	/* false: this thread is inside hooks_begin, which called an instrumented function */
	bool have_begun = hooks_have_begun();
	if (!hooks.header || !have_begun) {
		if (have_begun)
			hook_thread = &hooks_refused;
		return &hooks_refused;
	}
	system_block_signals(&old);
	struct hook_thread *thread = begin_thread(creator);
	system_restore_signals(&old);
	runtime_begin_alone();
	return thread;
}

struct hook_thread *hooks_thread_begin(void)
{
	return begin_unless_begun(NULL);
}

void hooks_thread_created(struct tally_node *creator)
{
	if (!hooks.header)
		return;
	struct hook_thread *thread = begin_unless_begun(creator);
	if (!creator || !has_state(thread))
		return;
	/* A tick of its timer may have made the state, without the creator. */
	thread->shared->creator = creator;
	thread->shared->creator_process = hooks.process_number;
}

struct tally_node *hooks_current(void)
{
	struct hook_thread *thread = hook_thread;
	uint64_t pc, stack_pointer;
	if (!has_state(thread))
		return NULL;
	hooks_where(NULL, &pc, &stack_pointer);
	return hooks_frames_current(thread, stack_pointer, pc);
}

void hooks_thread_end(void)
{
	struct hook_thread *thread = hook_thread;
	if (!has_state(thread))
		return;
	hooks.measurement->flush(thread);
	machine_syscall(SYS_prctl, PR_GET_NAME, (long)thread->shared->name, 0, 0, 0, 0);
	thread->shared->end_ns = runtime_stamp_ns();
	tally_note_time(hooks.process);
	__atomic_store_n(&thread->owner.has_ended, 1, __ATOMIC_RELEASE);
}

void hooks_refuse_thread(void)
{
	hook_thread = &hooks_refused;
}

void hooks_leave_out(void (*leave_out)(const void *start, uint64_t bytes))
{
	for (struct hook_thread *thread = __atomic_load_n(&all, __ATOMIC_ACQUIRE); thread;
	     thread = thread->owner.next) {
		leave_out(thread, (uint64_t)((uint8_t *)thread->limit - (uint8_t *)thread));
		leave_out(thread->notes, thread->notes_bytes);
	}
}

void hooks_stop_thread(struct hook_thread *thread)
{
	if (__atomic_exchange_n(&thread->owner.has_stopped, 1, __ATOMIC_RELAXED))
		return;
	__atomic_add_fetch(&hooks.process->threads_stopped, 1, __ATOMIC_RELAXED);
	take_measurement(thread);
}

void hooks_named(uint32_t tid, const char *name, size_t bytes)
{
	for (struct hook_thread *thread = __atomic_load_n(&all, __ATOMIC_ACQUIRE); thread;
	     thread = thread->owner.next) {
		struct tally_thread *shared = thread->shared;
		if (thread->owner.tid != tid || !shared)
			continue;
		bytes = bytes < sizeof(shared->name) ? bytes : sizeof(shared->name) - 1;
		memset(shared->name, 0, sizeof(shared->name));
		memcpy(shared->name, name, bytes);
	}
}

/* --- samples --- */

void hooks_tick(uint32_t request, uint64_t hits, const void *context)
{
	struct hook_thread *thread = hook_thread;
	thread->measurement->tick(thread, request, hits, context);
}

/* The clocks may be older than the state: gticks that they counted before it existed are added as well. */
void hooks_total(const struct runtime_thread *clocks)
{
	static const uint64_t often_ns = 100 * 1000 * 1000;
	struct hook_thread *thread = hook_thread;
	if (!has_state(thread))
		return;
	for (uint32_t i = 0; i < hooks.header->request_count && i < TALLY_REQUESTS; i++) {
		uint64_t total = clocks->shared->clocks[i].total;
		thread->shared->totals[i] += total - thread->owner.totals[i];
		thread->owner.totals[i] = total;
	}
	if (__atomic_load_n(&hooks.header->is_over, __ATOMIC_RELAXED))
		__atomic_store_n(&runtime.channel->is_over, 1, __ATOMIC_RELAXED);
	uint64_t now = runtime_now_ns(CLOCK_MONOTONIC);
	if (now - thread->owner.seen_ns > often_ns) {
		thread->owner.seen_ns = now;
		tally_note_time(hooks.process);
	}
}

/* --- on and off, and the end --- */

void hooks_turn(bool on)
{
	if (!hooks.header)
		return;
	if (!on && has_state(hook_thread))
		hooks.measurement->flush(hook_thread);
	__atomic_store_n(&hooks.on, on, __ATOMIC_SEQ_CST);
	for (struct hook_thread *thread = __atomic_load_n(&all, __ATOMIC_ACQUIRE); thread;
	     thread = thread->owner.next) {
		thread->last_ticks = machine_time_stamp();
		take_measurement(thread);
	}
}

void hooks_measure_by(const struct hook_measurement *measurement)
{
	hooks.measurement = measurement;
	for (struct hook_thread *thread = __atomic_load_n(&all, __ATOMIC_ACQUIRE); thread; thread = thread->owner.next)
		take_measurement(thread);
}

static void note_end(uint64_t end_ns)
{
	tally_note_time(hooks.process);
	if (runtime.alone && runtime.process && runtime.process->findings & CHANNEL_FINDING_SIGNAL)
		__atomic_or_fetch(&hooks.process->hooks, TALLY_NO_TIMER, __ATOMIC_RELAXED);
	if (has_state(hook_thread))
		hook_thread->shared->end_ns = end_ns;
	hooks.process->end_ns = end_ns;
}

void hooks_flush(void)
{
	if (has_state(hook_thread))
		hooks.measurement->flush(hook_thread);
}

void hooks_finish(void)
{
	/* In a child of vfork, hooks.process is the parent's and stays as it is. */
	if (!hooks.header || system_pid() != hooks.process->pid)
		return;
	int error = errno;
	implementation_finish();
	if (has_state(hook_thread))
		hooks.measurement->flush(hook_thread);
	if (runtime.alone && runtime_thread)
		tick_count_rest(runtime_thread);
	note_end(runtime_stamp_ns());
	errno = error;
}

void hooks_clear_end(void)
{
	if (hooks.header && system_pid() == hooks.process->pid)
		note_end(0);
}

void hooks_sandboxed(void)
{
	if (hooks.header)
		__atomic_or_fetch(&hooks.process->hooks, TALLY_SANDBOXED, __ATOMIC_RELAXED);
}

void hooks_stop_stamps(void)
{
	if (!has_state(hook_thread) ||
	    (hooks.header->measurement != TALLY_PATHS_TIMED && hooks.header->measurement != TALLY_TRACE))
		return;
	hooks.measurement->flush(hook_thread);
	hooks_stop_thread(hook_thread);
}

/* --- fork --- */

/* Unmaps the states of threads that do not exist in the child. */
static void drop_others(struct hook_thread *thread)
{
	struct hook_thread *next = NULL;
	for (struct hook_thread *other = all; other; other = next) {
		next = other->owner.next;
		uint64_t bytes = (uint64_t)((uint8_t *)other->limit - (uint8_t *)other);
		if (other != thread && other->notes)
			machine_syscall(SYS_munmap, (long)other->notes, (long)other->notes_bytes, 0, 0, 0, 0);
		if (other != thread)
			machine_syscall(SYS_munmap, (long)other, (long)bytes, 0, 0, 0, 0);
	}
	all = has_state(thread) ? thread : NULL;
	if (all)
		all->owner.next = NULL;
}

/* Replaces all references to the parent's tables; the frames stay. */
static void renew_tables(struct hook_thread *thread)
{
	const struct hook_frame *top = thread->top;
	const struct tally_thread *before = thread->shared;
	struct hook_thread *next = thread->owner.next;
	thread->owner = (struct hook_owner){ .next = next, .tid = system_tid() };
	thread->nodes = thread->paths_numbered = 0;
	hooks_trace_begin_ring(thread, NULL);
	thread->edges = NULL;
	thread->blocks = NULL;
	thread->block_mask = thread->block_count = 0;
	hooks_clear_arcs(thread);
	if (!begin_tables(thread) || !hooks_copy_frames(thread, top))
		hooks_stop_thread(thread);
	/* The thread's creator is a path of the parent process, as before. */
	thread->shared->creator = before->creator;
	thread->shared->creator_process = before->creator_process;
	take_measurement(thread);
}

void hooks_forked(void)
{
	struct hook_thread *thread = hook_thread;
	const struct tally_process *before = hooks.process;
	if (!hooks.header)
		return;
	drop_others(thread);
	hooks.process_number = __atomic_fetch_add(&hooks.header->processes, 1, __ATOMIC_RELAXED);
	struct tally_process *process = tally_process_new(before);
	if (process)
		hooks.process = process;
	else
		hooks.measurement = &hooks_off;
	probes_forked();
	hooks_labels_forked();
	implementation_forked();
	if (!has_state(thread))
		hook_thread = &hooks_none;
	else if (process)
		renew_tables(thread);
	else
		hooks_stop_thread(thread);
}
