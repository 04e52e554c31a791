/*
 * Threads. Each begins in cpprof_thread_main, which makes the agent watch it and then runs the program's function.
 * It is watched until the last of its destructors has run.
 *
 *	creator                            new thread
 *	starting_new, describes itself
 *	real pthread_create  ------------> cpprof_thread_main: runtime_thread_begin(creator)
 *	  fails: starting_free               starting_free, the program's function
 *	                                   destructors: thread_ends, runtime_thread_end
 */
#include <errno.h>
#include <limits.h>
#include <pthread.h>
#include <stdarg.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <threads.h>

#include "collect/agent/causal/causal.h"
#include "collect/agent/core/real.h"
#include "collect/agent/core/runtime.h"
#include "collect/agent/hooks/hooks.h"
#include "collect/agent/interpose/loading.h"
#include "collect/agent/interpose/sandbox.h"
#include "collect/agent/signals/signals.h"
#include "processor/agent/machine.h"

/* The data that a new thread gets from its creator. The thread gives the memory back. */
struct starting {
	void *(*run)(void *argument);
	void *argument;
	bool program_blocks; /* see signals.h */
	uint64_t blocked_traps;
	const struct machine_filter *filters;
	struct tally_node *path; /* the creator's current path, as hooks have counted it; NULL: none */
	bool has_creator;
	struct sample_record creator;
	uint64_t frames[WALK_FRAMES]; /* the creator's frames, directly behind its record */
};

/* Memory that is kept for later threads. It does not come from the program's allocator. */
enum { STARTING_KEPT = 16 };
static struct starting *kept[STARTING_KEPT];

static struct starting *starting_new(void)
{
	for (int i = 0; i < STARTING_KEPT; i++) {
		struct starting *starting = __atomic_exchange_n(&kept[i], NULL, __ATOMIC_ACQ_REL);
		if (starting)
			return starting;
	}
	return runtime_map(sizeof(struct starting));
}

static void starting_free(struct starting *starting)
{
	for (int i = 0; i < STARTING_KEPT; i++) {
		struct starting *none = NULL;
		if (__atomic_compare_exchange_n(&kept[i], &none, starting, false, __ATOMIC_ACQ_REL, __ATOMIC_RELAXED))
			return;
	}
	runtime_unmap(starting, sizeof(*starting));
}

/* Returns the data for a new thread. Returns NULL if the process is not recorded or there is no memory; the thread
 * is then not watched. */
static struct starting *starting_of(void *(*run)(void *), void *argument)
{
	/* The thread may run code that was loaded since the last check. */
	if (__atomic_load_n(&loading_is_due, __ATOMIC_RELAXED))
		loading_check();
	causal_wakes();
	struct starting *starting = runtime.channel ? starting_new() : NULL;
	if (!starting)
		return NULL;
	starting->run = run;
	starting->argument = argument;
	starting->program_blocks = signals_thread.program_blocks;
	starting->blocked_traps = signals_thread.blocked_traps;
	starting->filters = machine_filters;
	starting->path = hooks_current();
	starting->has_creator = false;
	struct runtime_thread *thread = runtime_enter();
	if (thread) {
		starting->has_creator = runtime_describe_creator(thread, &starting->creator, starting->frames);
		runtime_leave(thread);
	}
	return starting;
}

/* --- the end --- */

static pthread_key_t last_key;
static bool has_last_key;

/* The destructor of a key that sets the key again in each round of destructors but the last. So it ends after all
 * destructors of the program, except those that do the same. */
static void thread_ends(void *round)
{
	uintptr_t rounds = (uintptr_t)round;
	if (rounds < PTHREAD_DESTRUCTOR_ITERATIONS && pthread_setspecific(last_key, (void *)(rounds + 1)) == 0)
		return;
	runtime_thread_end();
	hooks_thread_end();
}

static void request_thread_end(void)
{
	if (has_last_key && runtime_thread)
		(void)pthread_setspecific(last_key, (void *)1);
}

__attribute__((constructor)) static void make_last_key(void)
{
	cpprof_runtime_begin();
	has_last_key = runtime.channel && pthread_key_create(&last_key, thread_ends) == 0;
	/* The first thread may end by pthread_exit, before the others. */
	request_thread_end();
}

/* --- the beginning --- */

/* Reports recognize this frame by the function's name, and leave it out. */
static __attribute__((noinline)) void *cpprof_thread_main(void *context)
{
	struct starting *starting = context;
	void *(*run)(void *) = starting->run;
	void *argument = starting->argument;
	machine_filters = starting->filters; /* before the first system call of ours */
	signals_thread.program_blocks = starting->program_blocks;
	signals_thread.blocked_traps = starting->blocked_traps;
	(void)runtime_thread_begin(starting->has_creator ? &starting->creator : NULL);
	hooks_thread_created(starting->path);
	starting_free(starting);
	request_thread_end();
	return run(argument);
}

INTERPOSED int pthread_create(pthread_t *id, const pthread_attr_t *attributes, void *(*run)(void *), void *argument)
{
	struct starting *starting = starting_of(run, argument);
	if (!starting)
		return REAL(pthread_create)(id, attributes, run, argument);
	int result = REAL(pthread_create)(id, attributes, cpprof_thread_main, starting);
	if (result != 0)
		starting_free(starting);
	return result;
}

/* The thread's function returns an int, which is a part of the register that returns a pointer. So
 * cpprof_thread_main can be called in place of such a function, and it can call one. */
INTERPOSED int thrd_create(thrd_t *id, thrd_start_t run, void *argument)
{
	struct starting *starting = starting_of((void *(*)(void *))(void *)run, argument);
	if (!starting)
		return REAL(thrd_create)(id, run, argument);
	int result = REAL(thrd_create)(id, (thrd_start_t)(void *)cpprof_thread_main, starting);
	if (result != thrd_success)
		starting_free(starting);
	return result;
}

/* --- names --- */

static void announce_name(uint32_t tid, const char *name)
{
	int error = errno;
	struct runtime_thread *thread = runtime_enter();
	if (thread) {
		enum { NAME_BYTES = 15 };
		runtime_write_event(thread, CHANNEL_NAMED, tid, 0, name, strnlen(name, NAME_BYTES));
		hooks_named(tid, name, strnlen(name, NAME_BYTES));
		runtime_leave(thread);
	}
	errno = error;
}

/* Returns a thread's number, which is a part of the id of its CPU clock (see the kernel's CPUCLOCK_PID), or 0 if the
 * thread does not exist. */
static uint32_t tid_of(pthread_t id)
{
	enum { CLOCK_KIND_BITS = 3 };
	clockid_t clock;
	if (pthread_getcpuclockid(id, &clock) != 0)
		return 0;
	return ~(uint32_t)(clock >> CLOCK_KIND_BITS);
}

INTERPOSED int pthread_setname_np(pthread_t id, const char *name)
{
	int result = REAL(pthread_setname_np)(id, name);
	uint32_t tid = result == 0 && runtime_thread ? tid_of(id) : 0;
	if (tid)
		announce_name(tid, name);
	return result;
}

INTERPOSED int prctl(int option, ...)
{
	va_list more;
	va_start(more, option);
	unsigned long second = va_arg(more, unsigned long), third = va_arg(more, unsigned long);
	unsigned long fourth = va_arg(more, unsigned long), fifth = va_arg(more, unsigned long);
	va_end(more);
	struct sandbox sandbox;
	sandbox_begins(&sandbox, SYS_prctl, (const long[]){ option, (long)second, (long)third });
	int result = REAL(prctl)(option, second, third, fourth, fifth);
	sandbox_ended(&sandbox, result);
	if (option == PR_SET_NAME && result == 0 && runtime_thread)
		announce_name(runtime_thread->tid, (const char *)second);
	return result;
}
