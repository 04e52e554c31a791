#include "collect/sample/priority.h"

#include <sched.h>
#include <sys/resource.h>

enum { MONITOR_NICE = -15 };

void priority_raise(void)
{
	const struct sched_param lowest = { .sched_priority = sched_get_priority_min(SCHED_FIFO) };
	setpriority(PRIO_PROCESS, 0, MONITOR_NICE);
	sched_setscheduler(0, SCHED_FIFO | SCHED_RESET_ON_FORK, &lowest);
}

void priority_lower(void)
{
	const struct sched_param ordinary = { .sched_priority = 0 };
	sched_setscheduler(0, SCHED_OTHER | SCHED_RESET_ON_FORK, &ordinary);
}
