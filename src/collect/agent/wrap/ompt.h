/*
 * The part of the OpenMP tools interface (OMPT, OpenMP 5.0) that wrap/omp.c uses, with the standard's numbers and
 * types. It is declared here because a compiler need not have the header: the program's OpenMP runtime finds the
 * tool when it starts.
 */
#ifndef COLLECT_AGENT_WRAP_OMPT_H
#define COLLECT_AGENT_WRAP_OMPT_H

#include <stdint.h>

enum ompt_event {
	OMPT_THREAD_BEGIN = 1,
	OMPT_PARALLEL_BEGIN = 3,
	OMPT_PARALLEL_END = 4,
	OMPT_TASK_CREATE = 5,
	OMPT_TASK_SCHEDULE = 6,
	OMPT_IMPLICIT_TASK = 7,
	OMPT_SYNC_REGION_WAIT = 16,
	OMPT_WORK = 20,
	OMPT_MUTEX_ACQUIRE = 26,
	OMPT_MUTEX_ACQUIRED = 27
};

enum ompt_endpoint { OMPT_BEGINS = 1, OMPT_ENDS = 2 };

enum ompt_task_flags { OMPT_TASK_INITIAL = 1, OMPT_TASK_EXPLICIT = 4 };

enum ompt_task_status { OMPT_TASK_COMPLETE = 1, OMPT_TASK_CANCEL = 3, OMPT_TASK_DETACH = 4 };

enum ompt_sync { OMPT_SYNC_TASKWAIT = 5, OMPT_SYNC_TASKGROUP = 6, OMPT_SYNC_REDUCTION = 7 }; /* others: barriers */

enum ompt_work { OMPT_WORK_LOOP = 1, OMPT_WORK_SECTIONS = 2, OMPT_WORK_SINGLE = 3, OMPT_WORK_TASKLOOP = 7 };

enum ompt_mutex {
	OMPT_MUTEX_LOCK = 1,
	OMPT_MUTEX_TEST_LOCK = 2,
	OMPT_MUTEX_NEST_LOCK = 3,
	OMPT_MUTEX_TEST_NEST_LOCK = 4,
	OMPT_MUTEX_CRITICAL = 5,
	OMPT_MUTEX_ATOMIC = 6,
	OMPT_MUTEX_ORDERED = 7
};

union ompt_data { /* a value that the tool stores for a thread, parallel region or task */
	uint64_t value;
	void *ptr;
};

typedef void (*ompt_function)(void);
typedef ompt_function (*ompt_look_up)(const char *name);
typedef int (*ompt_set_callback)(int event, ompt_function callback);

struct ompt_start_tool_result {
	int (*initialize)(ompt_look_up look_up, int device, union ompt_data *tool);
	void (*finalize)(union ompt_data *tool);
	union ompt_data tool;
};

/* An OpenMP runtime looks up this function by its name. */
struct ompt_start_tool_result *ompt_start_tool(unsigned version, const char *runtime);

#endif
