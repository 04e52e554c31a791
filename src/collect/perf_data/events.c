#include "collect/perf_data/events.h"

#include <linux/perf_event.h>
#include <string.h>

#include "collect/perf_data/perf_data.h"

const struct resource_row *perf_event_resource(uint32_t type, uint64_t config)
{
	/* Both clocks of perf are CPU time. */
	if (type == PERF_TYPE_SOFTWARE && config == PERF_COUNT_SW_CPU_CLOCK)
		config = PERF_COUNT_SW_TASK_CLOCK;
	for (const struct resource_row *row = resource_rows; row->name; row++)
		if (row->on_perf && row->perf_type == type && row->perf_config == config &&
		    row->modes == RESOURCE_ALL_MODES)
			return row;
	return NULL;
}

/* The names that perf prints. */
static const struct {
	const char *name;
	uint32_t type;
	uint64_t config;
} EVENTS[] = {
	{ "cpu-clock", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CPU_CLOCK },
	{ "task-clock", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_TASK_CLOCK },
	{ "page-faults", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS },
	{ "faults", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS },
	{ "minor-faults", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS_MIN },
	{ "major-faults", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS_MAJ },
	{ "context-switches", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CONTEXT_SWITCHES },
	{ "cs", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CONTEXT_SWITCHES },
	{ "cpu-migrations", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CPU_MIGRATIONS },
	{ "migrations", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CPU_MIGRATIONS },
	{ "cycles", PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES },
	{ "cpu-cycles", PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES },
	{ "instructions", PERF_TYPE_HARDWARE, PERF_COUNT_HW_INSTRUCTIONS },
	{ "cache-misses", PERF_TYPE_HARDWARE, PERF_COUNT_HW_CACHE_MISSES },
	{ "branch-misses", PERF_TYPE_HARDWARE, PERF_COUNT_HW_BRANCH_MISSES },
};

bool perf_data_resource(const char *event, struct perf_data_resource *resource)
{
	const struct resource_row *row = NULL;
	for (size_t i = 0; !row && i < sizeof(EVENTS) / sizeof(EVENTS[0]); i++)
		if (strcmp(EVENTS[i].name, event) == 0)
			row = perf_event_resource(EVENTS[i].type, EVENTS[i].config);
	if (row)
		*resource = (struct perf_data_resource){ row->name, row->title, row->gtick };
	return row != NULL;
}
