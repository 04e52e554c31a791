/*
 * Probe points for OpenMP, by its tools interface, which clang's libomp provides and gcc's libgomp does not.
 *
 * The runtime calls back when something begins and when it ends. Both callbacks return at once, so no frame of
 * ours exists in between. Therefore a probe point is entered as if it were called at the lower end of the current
 * function's frame: calls during the probe point lie below it, and leaving that function leaves the probe point,
 * too. A worker thread has no such function. There the probe point lies in the frame from which the thread's first
 * callback came, which is the frame that waits for work.
 *
 *	main, which begins the region       a worker of the team
 *	  omp_parallel                        omp_parallel
 *	    f, called in the region             f
 *	    omp_barrier (waits)                 omp_barrier (waits, until there is another region)
 */
#include "collect/agent/wrap/ompt.h"

#include <stdbool.h>
#include <stddef.h>

#include "collect/agent/wrap/wrap.h"

WRAP_PROBE(parallel_probe, "omp_parallel", CPPROF_KIND_FUNCTION);
WRAP_PROBE(loop_probe, "omp_for", CPPROF_KIND_FUNCTION);
WRAP_PROBE(sections_probe, "omp_sections", CPPROF_KIND_FUNCTION);
WRAP_PROBE(single_probe, "omp_single", CPPROF_KIND_FUNCTION);
WRAP_PROBE(taskloop_probe, "omp_taskloop", CPPROF_KIND_FUNCTION);
WRAP_PROBE(task_probe, "omp_task", CPPROF_KIND_FUNCTION);
WRAP_PROBE(barrier_probe, "omp_barrier", CPPROF_KIND_WAIT);
WRAP_PROBE(taskwait_probe, "omp_taskwait", CPPROF_KIND_WAIT);
WRAP_PROBE(taskgroup_probe, "omp_taskgroup", CPPROF_KIND_WAIT);
WRAP_PROBE(reduction_probe, "omp_reduction", CPPROF_KIND_WAIT);
WRAP_PROBE(critical_probe, "omp_critical", CPPROF_KIND_WAIT);
WRAP_PROBE(atomic_probe, "omp_atomic", CPPROF_KIND_WAIT);
WRAP_PROBE(ordered_probe, "omp_ordered", CPPROF_KIND_WAIT);
WRAP_PROBE(lock_probe, "omp_lock", CPPROF_KIND_WAIT);

/* --- probe points without frames --- */

enum { OPEN_MOST = 32, SLOT_BITS = 7 };

/* A probe point that this thread has entered and not left. */
struct open_probe {
	struct cpprof_probe *descriptor;
	const void *caller, *frame_address;
	bool is_counted; /* cpprof_probe_leave must be called for it */
};
static _Thread_local struct open_probe open_probes[OPEN_MOST] __attribute__((tls_model("initial-exec")));
static _Thread_local uint32_t open_count __attribute__((tls_model("initial-exec")));
/* Stack position of a worker thread's first callback: all later frames of the thread lie below. 0: not a worker. */
static _Thread_local uint64_t thread_bottom __attribute__((tls_model("initial-exec")));

/* Returns the innermost counted call whose return slot is not below `here`, or NULL if there is none. */
static const struct cpprof_frame *frame_around(uint64_t here)
{
	const struct cpprof_thread *thread = cpprof_thread_1;
	const struct cpprof_frame *frame = thread->top;
	while (frame && frame->return_slot < here)
		frame--;
	return frame && frame->return_slot != UINT64_MAX ? frame : NULL;
}

static void enter(struct cpprof_probe *descriptor, const void *caller, uint64_t here)
{
	if (open_count >= OPEN_MOST) {
		open_count++;
		return;
	}
	if (__atomic_load_n(&descriptor->state, __ATOMIC_RELAXED) == CPPROF_STATE_OFF && open_count == 0)
		return;
	const struct cpprof_frame *frame = frame_around(here);
	const struct open_probe *last = open_count ? &open_probes[open_count - 1] : NULL;
	struct open_probe probe = { .descriptor = descriptor, .caller = caller };
	if (frame && last && frame->node->function == (uint64_t)(uintptr_t)last->descriptor) {
		probe.frame_address = last->frame_address; /* lies in that probe point */
		probe.caller = last->caller;
	} else if (frame) {
		probe.frame_address = (const void *)(uintptr_t)(frame->return_slot & ~(uint64_t)SLOT_BITS);
	} else {
		probe.frame_address = (const void *)(uintptr_t)(thread_bottom ? thread_bottom : here);
	}
	probe.is_counted = __atomic_load_n(&descriptor->state, __ATOMIC_RELAXED) != CPPROF_STATE_OFF &&
			   cpprof_probe_enter(descriptor, probe.caller, probe.frame_address) != NULL;
	open_probes[open_count++] = probe;
}

/* Leaves the probe point and all that were entered in it. Ignores an end without a beginning. */
static void leave(const struct cpprof_probe *descriptor)
{
	if (open_count > OPEN_MOST) {
		open_count--;
		return;
	}
	uint32_t at = open_count;
	while (at > 0 && open_probes[at - 1].descriptor != descriptor)
		at--;
	while (at > 0 && open_count >= at) {
		const struct open_probe *probe = &open_probes[--open_count];
		if (probe->is_counted)
			cpprof_probe_leave(probe->descriptor, probe->caller, probe->frame_address);
	}
}

#define HERE ((uint64_t)(uintptr_t)__builtin_dwarf_cfa())
#define CALLER __builtin_return_address(0)

static void at_endpoint(struct cpprof_probe *descriptor, int endpoint, const void *caller, uint64_t here)
{
	if (!descriptor)
		return;
	if (endpoint == OMPT_BEGINS)
		enter(descriptor, caller, here);
	else if (endpoint == OMPT_ENDS)
		leave(descriptor);
}

/* --- callbacks of the OpenMP runtime --- */

static void thread_begin(int type, union ompt_data *data)
{
	enum { WORKER = 2 };
	(void)data;
	if (type == WORKER)
		thread_bottom = HERE;
}

static void parallel_begin(union ompt_data *task, const void *frame, union ompt_data *parallel, unsigned wanted,
			   int flags, const void *caller)
{
	(void)task, (void)frame, (void)parallel, (void)wanted, (void)flags;
	enter(&parallel_probe, caller ? caller : CALLER, HERE);
}

static void parallel_end(union ompt_data *parallel, union ompt_data *task, int flags, const void *caller)
{
	(void)parallel, (void)task, (void)flags, (void)caller;
	leave(&parallel_probe);
}

/* Index 0 is the thread that has begun the region: parallel_begin has entered the probe point. */
static void implicit_task(int endpoint, union ompt_data *parallel, union ompt_data *task, unsigned threads,
			  unsigned index, int flags)
{
	(void)parallel, (void)task, (void)threads;
	if (index != 0 && !(flags & OMPT_TASK_INITIAL))
		at_endpoint(&parallel_probe, endpoint, CALLER, HERE);
}

static struct cpprof_probe *probe_of_work(int kind)
{
	switch (kind) {
	case OMPT_WORK_LOOP:
		return &loop_probe;
	case OMPT_WORK_SECTIONS:
		return &sections_probe;
	case OMPT_WORK_SINGLE:
		return &single_probe;
	case OMPT_WORK_TASKLOOP:
		return &taskloop_probe;
	default: /* other kinds, and threads that do not execute a `single` */
		return NULL;
	}
}

static void work(int kind, int endpoint, union ompt_data *parallel, union ompt_data *task, uint64_t count,
		 const void *caller)
{
	(void)parallel, (void)task, (void)count;
	at_endpoint(probe_of_work(kind), endpoint, caller ? caller : CALLER, HERE);
}

static struct cpprof_probe *probe_of_sync(int kind)
{
	switch (kind) {
	case OMPT_SYNC_TASKWAIT:
		return &taskwait_probe;
	case OMPT_SYNC_TASKGROUP:
		return &taskgroup_probe;
	case OMPT_SYNC_REDUCTION:
		return &reduction_probe;
	default:
		return &barrier_probe;
	}
}

static void sync_region_wait(int kind, int endpoint, union ompt_data *parallel, union ompt_data *task,
			     const void *caller)
{
	(void)parallel, (void)task;
	at_endpoint(probe_of_sync(kind), endpoint, caller ? caller : CALLER, HERE);
}

/* Returns NULL for attempts (omp_test_lock): the runtime does not report their result. */
static struct cpprof_probe *probe_of_mutex(int kind)
{
	switch (kind) {
	case OMPT_MUTEX_LOCK:
	case OMPT_MUTEX_NEST_LOCK:
		return &lock_probe;
	case OMPT_MUTEX_CRITICAL:
		return &critical_probe;
	case OMPT_MUTEX_ATOMIC:
		return &atomic_probe;
	case OMPT_MUTEX_ORDERED:
		return &ordered_probe;
	default:
		return NULL;
	}
}

static void mutex_acquire(int kind, unsigned hint, unsigned how, uint64_t mutex, const void *caller)
{
	(void)hint, (void)how, (void)mutex;
	at_endpoint(probe_of_mutex(kind), OMPT_BEGINS, caller ? caller : CALLER, HERE);
}

static void mutex_acquired(int kind, uint64_t mutex, const void *caller)
{
	(void)mutex, (void)caller;
	at_endpoint(probe_of_mutex(kind), OMPT_ENDS, NULL, 0);
}

/* ompt_data.value of explicit tasks. */
enum { TASK_NEW = 1, TASK_BEGUN = 2 };

static void task_create(union ompt_data *from, const void *frame, union ompt_data *task, int flags, int depends,
			const void *caller)
{
	(void)from, (void)frame, (void)depends, (void)caller;
	task->value = flags & OMPT_TASK_EXPLICIT ? TASK_NEW : 0;
}

/* A task that another one interrupts stays entered; the other one is entered in it. */
static void task_schedule(union ompt_data *before, int status, union ompt_data *next)
{
	bool has_ended = status == OMPT_TASK_COMPLETE || status == OMPT_TASK_CANCEL || status == OMPT_TASK_DETACH;
	if (has_ended && before && before->value == TASK_BEGUN) {
		before->value = 0;
		leave(&task_probe);
	}
	if (next && next->value == TASK_NEW) {
		next->value = TASK_BEGUN;
		enter(&task_probe, CALLER, HERE);
	}
}

/* --- beginning --- */

static int initialize(ompt_look_up look_up, int device, union ompt_data *tool)
{
	static const struct {
		int event;
		ompt_function callback;
	} rows[] = {
		{ OMPT_THREAD_BEGIN, (ompt_function)thread_begin },
		{ OMPT_PARALLEL_BEGIN, (ompt_function)parallel_begin },
		{ OMPT_PARALLEL_END, (ompt_function)parallel_end },
		{ OMPT_IMPLICIT_TASK, (ompt_function)implicit_task },
		{ OMPT_WORK, (ompt_function)work },
		{ OMPT_SYNC_REGION_WAIT, (ompt_function)sync_region_wait },
		{ OMPT_MUTEX_ACQUIRE, (ompt_function)mutex_acquire },
		{ OMPT_MUTEX_ACQUIRED, (ompt_function)mutex_acquired },
		{ OMPT_TASK_CREATE, (ompt_function)task_create },
		{ OMPT_TASK_SCHEDULE, (ompt_function)task_schedule },
	};
	(void)device, (void)tool;
	ompt_set_callback set = (ompt_set_callback)look_up("ompt_set_callback");
	for (size_t i = 0; set && i < sizeof(rows) / sizeof(rows[0]); i++)
		set(rows[i].event, rows[i].callback);
	return set != NULL;
}

static void finalize(union ompt_data *tool)
{
	(void)tool;
}

INTERPOSED struct ompt_start_tool_result *ompt_start_tool(unsigned version, const char *runtime)
{
	static struct ompt_start_tool_result result = { initialize, finalize, { 0 } };
	(void)version, (void)runtime;
	return &result;
}
