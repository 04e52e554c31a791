#include "collect/agent/interpose/sandbox.h"

#include <errno.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <time.h>

#include "collect/agent/core/filter.h"
#include "collect/agent/core/runtime.h"
#include "collect/agent/hooks/hooks.h"
#include "collect/agent/interpose/successor.h"
#include "collect/agent/signals/signals.h"
#include "processor/agent/machine.h"

/* --- the calls without which the agent does nothing in a thread, and those without which it sends no ticks --- */

enum { NO_HOW = ~0 };

static const struct filter_call for_counts[] = {
	{ SYS_clock_gettime, { CLOCK_MONOTONIC } },
	{ SYS_clock_gettime, { CLOCK_THREAD_CPUTIME_ID } },
};
/* One of them is needed to read memory that may be absent (core/sample.c). */
static const struct filter_call for_copies[] = {
	{ SYS_process_vm_readv, { 0 } },
	{ SYS_rt_sigprocmask, { NO_HOW } },
};
static const struct filter_call for_ticks[] = {
	{ SYS_getpid, { 0 } },
	{ SYS_rt_sigreturn, { 0 } },
	{ SYS_timer_settime, { 0, 0 } },
	{ SYS_timer_settime, { 0, TIMER_ABSTIME } },
	{ SYS_rt_sigprocmask, { SIG_BLOCK } },
	{ SYS_rt_sigprocmask, { SIG_UNBLOCK } },
	{ SYS_getrusage, { RUSAGE_THREAD } },
	{ SYS_sigaltstack, { 0 } },
};

#define PERMITTED(filters, calls) permitted(filters, calls, sizeof(calls) / sizeof((calls)[0]))

static size_t permitted(const struct machine_filter *filters, const struct filter_call *calls, size_t count)
{
	size_t found = 0;
	for (size_t i = 0; i < count; i++)
		found += filter_permits(filters, calls[i].number, calls[i].arguments);
	return found;
}

static bool permits_all(const struct machine_filter *filters, const struct filter_call *calls, size_t count)
{
	return permitted(filters, calls, count) == count;
}

#define PERMITS_ALL(filters, calls) permits_all(filters, calls, sizeof(calls) / sizeof((calls)[0]))

static bool permits_counts(const struct machine_filter *filters)
{
	static const struct filter_call own_number = { SYS_getpid, { 0 } };
	return PERMITS_ALL(filters, for_counts) &&
	       (permits_all(filters, &own_number, 1) || !filter_permits_processes(filters));
}

static bool permits_ticks(const struct machine_filter *filters)
{
	return permits_counts(filters) && PERMITTED(filters, for_copies) > 0 && PERMITS_ALL(filters, for_ticks);
}

/* --- copies of filters --- */

static size_t bytes_of(uint32_t count)
{
	return sizeof(struct machine_filter) + count * sizeof(struct sock_filter);
}

static struct machine_filter *new_filter(uint32_t count)
{
	struct machine_filter *filter = runtime_map(bytes_of(count));
	if (!filter)
		return NULL;
	filter->next = machine_filters;
	filter->count = count;
	return filter;
}

static struct machine_filter *strict_filter(void)
{
	struct machine_filter *filter = new_filter(0);
	if (filter)
		filter->is_strict = 1;
	return filter;
}

/* Returns a copy of a filter, or NULL if the kernel will refuse it. Without memory for the copy, returns NULL too. */
static struct machine_filter *copy_filter(long address)
{
	struct sock_fprog program;
	if (!runtime_copy(&program, sizeof(program), (uint64_t)address) || program.len == 0 ||
	    program.len > BPF_MAXINSNS)
		return NULL;
	struct machine_filter *filter = new_filter(program.len);
	if (!filter)
		return NULL;
	if (runtime_copy(filter->code, program.len * sizeof(filter->code[0]), (uint64_t)(uintptr_t)program.filter))
		return filter;
	runtime_unmap(filter, bytes_of(program.len));
	return NULL;
}

/* Finds the filter that the call will install. */
static struct machine_filter *find_filter(long number, const long arguments[3], bool *is_for_all)
{
	if (number == SYS_prctl && arguments[0] == PR_SET_SECCOMP)
		return arguments[1] == SECCOMP_MODE_STRICT   ? strict_filter()
		       : arguments[1] == SECCOMP_MODE_FILTER ? copy_filter(arguments[2])
							     : NULL;
	if (number != SYS_seccomp)
		return NULL;
	*is_for_all = arguments[0] == SECCOMP_SET_MODE_FILTER && arguments[1] & SECCOMP_FILTER_FLAG_TSYNC;
	return arguments[0] == SECCOMP_SET_MODE_STRICT   ? strict_filter()
	       : arguments[0] == SECCOMP_SET_MODE_FILTER ? copy_filter(arguments[2])
							 : NULL;
}

/* --- all threads --- */

static void stop_all(struct sandbox *sandbox)
{
	sandbox->was_on = runtime.on;
	runtime.is_stopped = true;
	__atomic_store_n(&runtime.on, false, __ATOMIC_SEQ_CST);
	if (!sandbox->was_on)
		return;
	runtime_each_thread(tick_stop);
	if (runtime.fp_kinds)
		fp_turn(runtime_thread);
	quiet_await_work();
}

static void start_all(const struct sandbox *sandbox)
{
	runtime.is_stopped = false;
	__atomic_store_n(&runtime.on, sandbox->was_on, __ATOMIC_SEQ_CST);
	if (!sandbox->was_on)
		return;
	runtime_each_thread(tick_start);
	if (runtime.fp_kinds)
		fp_turn(runtime_thread);
}

static void begin_for_all(struct sandbox *sandbox, bool goes_on)
{
	if (!goes_on)
		stop_all(sandbox);
	sandbox->before = machine_filters_of_all;
	filter_is_to_come = true;
	__atomic_store_n(&machine_filters_of_all, sandbox->filter, __ATOMIC_SEQ_CST);
	quiet_await_calls();
	if (!goes_on) {
		runtime_each_thread(tick_pause); /* threads that were just beginning have timers, too */
		quiet_await_ticks();
	}
	filter_is_to_come = false;
}

static void refused_for_all(const struct sandbox *sandbox, bool goes_on)
{
	__atomic_store_n(&machine_filters_of_all, sandbox->before, __ATOMIC_RELEASE);
	if (!goes_on)
		start_all(sandbox);
}

/* --- the present thread --- */

static void begin_here(struct sandbox *sandbox)
{
	struct runtime_thread *thread = runtime_thread;
	if (sandbox->filter->is_strict)
		hooks_stop_stamps();
	if (!thread || permits_ticks(sandbox->filter))
		return;
	if (!permits_counts(sandbox->filter)) {
		sandbox->has_ended = true;
		runtime_thread_end();
		return;
	}
	sandbox->has_stopped_ticks = thread->has_timer || thread->fp;
	sandbox->had_fp = thread->fp != NULL;
	if (thread->fp)
		fp_stop(thread);
	tick_finish(thread);
}

static void refused_here(const struct sandbox *sandbox)
{
	if (sandbox->has_ended)
		runtime_thread_begin_again();
	struct runtime_thread *thread = runtime_thread;
	if (!thread || !sandbox->has_stopped_ticks)
		return;
	tick_create(thread);
	if (runtime.on)
		tick_start(thread);
	if (sandbox->had_fp)
		fp_start(thread);
}

/* --- the call --- */

void sandbox_begins(struct sandbox *sandbox, long number, const long arguments[3])
{
	*sandbox = (struct sandbox){ .filter = NULL };
	bool installs = (number == SYS_prctl && arguments[0] == PR_SET_SECCOMP) ||
			(number == SYS_seccomp && arguments[0] <= SECCOMP_SET_MODE_FILTER);
	/* The parent of a child of vfork goes on with this memory, and without the child's filter. */
	if (!installs || !signals_ours() || signals_in_vfork_child())
		return;
	int error = errno;
	sandbox->filter = find_filter(number, arguments, &sandbox->is_for_all);
	if (sandbox->filter && successor_dies(sandbox->filter))
		sandbox->entry = successor_prepare();
	if (sandbox->filter && sandbox->is_for_all)
		begin_for_all(sandbox, permits_ticks(sandbox->filter));
	else if (sandbox->filter)
		begin_here(sandbox);
	errno = error;
}

/* After the call succeeded, makes no system call. (One that synchronizes threads returns the number of a thread if it
 * fails; with a listener it returns a descriptor.) */
void sandbox_ended(struct sandbox *sandbox, long result)
{
	struct machine_filter *filter = sandbox->filter;
	if (!filter)
		return;
	bool is_installed = result == 0 || (result > 0 && !sandbox->is_for_all);
	successor_prepared(sandbox->entry, is_installed);
	bool is_stopped = sandbox->is_for_all ? runtime.is_stopped : sandbox->has_ended || sandbox->has_stopped_ticks;
	if (is_installed) {
		machine_filters = filter;
		if (is_stopped && runtime.process)
			__atomic_or_fetch(&runtime.process->findings, CHANNEL_FINDING_SANDBOX, __ATOMIC_RELAXED);
		if (is_stopped)
			hooks_sandboxed();
		return;
	}
	int error = errno;
	if (sandbox->is_for_all)
		refused_for_all(sandbox, !is_stopped);
	else
		refused_here(sandbox);
	runtime_unmap(filter, bytes_of(filter->count));
	errno = error;
}
