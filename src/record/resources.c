#include "record/resources.h"

#include <ctype.h>
#include <float.h>
#include <linux/perf_event.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buffer.h"
#include "base/nearest.h"

enum { NS_PER_US = 1000, NS_PER_MS = 1000 * 1000, NS_PER_S = 1000 * 1000 * 1000 };

/* A shorter interval would spend most of the target's time on sampling (perf's
 * timers go no lower than 10 us); a longer one gives no samples to speak of. */
static const uint64_t TIME_MIN_NS = 20 * NS_PER_US;
static const uint64_t TIME_MAX_NS = 60 * (uint64_t)NS_PER_S;
static const uint64_t COUNT_MAX = UINT64_C(1000000000000);
/* The counters overflow into an interrupt, so hardware events have a floor too. */
static const uint64_t HARDWARE_MIN = 1000;

#define SOFTWARE(config) .on_perf = true, .perf_type = PERF_TYPE_SOFTWARE, .perf_config = (config)
#define HARDWARE(config) .is_hardware = true, .on_perf = true, .perf_type = PERF_TYPE_HARDWARE, .perf_config = (config)

const struct resource_row resource_rows[] = {
	{ .name = "cpu",
	  .title = "CPU Time",
	  .gtick = "ns",
	  .summary = "CPU time, in user mode and in the kernel",
	  .is_time = true,
	  .gtick_ns = 1,
	  .default_interval = NS_PER_MS,
	  SOFTWARE(PERF_COUNT_SW_TASK_CLOCK) },
	{ .name = "user",
	  .title = "User Time",
	  .gtick = "ns",
	  .summary = "CPU time in user mode",
	  .is_time = true,
	  .gtick_ns = 1,
	  .modes = RESOURCE_USER_MODE,
	  .default_interval = NS_PER_MS,
	  SOFTWARE(PERF_COUNT_SW_TASK_CLOCK) },
	{ .name = "sys",
	  .title = "System Time",
	  .gtick = "ns",
	  .summary = "CPU time in the kernel",
	  .is_time = true,
	  .gtick_ns = 1,
	  .modes = RESOURCE_KERNEL_MODE,
	  .needs_kernel = true,
	  .default_interval = NS_PER_MS,
	  SOFTWARE(PERF_COUNT_SW_TASK_CLOCK) },
	{ .name = "page-faults",
	  .hook = HOOK_EVENT,
	  .title = "Page Faults",
	  .gtick = "fault",
	  .summary = "page faults, minor and major",
	  .default_interval = 10,
	  SOFTWARE(PERF_COUNT_SW_PAGE_FAULTS) },
	{ .name = "minor-faults",
	  .hook = HOOK_EVENT,
	  .title = "Minor Page Faults",
	  .gtick = "fault",
	  .summary = "page faults served from memory",
	  .default_interval = 10,
	  SOFTWARE(PERF_COUNT_SW_PAGE_FAULTS_MIN) },
	{ .name = "major-faults",
	  .hook = HOOK_EVENT,
	  .title = "Major Page Faults",
	  .gtick = "fault",
	  .summary = "page faults that waited for a disk",
	  .default_interval = 1,
	  SOFTWARE(PERF_COUNT_SW_PAGE_FAULTS_MAJ) },
	{ .name = "context-switches",
	  .hook = HOOK_SWITCH,
	  .title = "Context Switches",
	  .gtick = "switch",
	  .summary = "times that the thread left the CPU",
	  .needs_kernel = true,
	  .default_interval = 1,
	  SOFTWARE(PERF_COUNT_SW_CONTEXT_SWITCHES) },
	{ .name = "migrations",
	  .hook = HOOK_EVENT,
	  .title = "CPU Migrations",
	  .gtick = "migration",
	  .summary = "times that the thread moved to another CPU",
	  .needs_kernel = true,
	  .default_interval = 1,
	  SOFTWARE(PERF_COUNT_SW_CPU_MIGRATIONS) },
	{ .name = "cycles",
	  .title = "CPU Cycles",
	  .gtick = "cycle",
	  .summary = "CPU cycles (hardware counter)",
	  .default_interval = 2000000,
	  HARDWARE(PERF_COUNT_HW_CPU_CYCLES) },
	{ .name = "instructions",
	  .title = "Instructions",
	  .gtick = "instruction",
	  .summary = "instructions retired (hardware counter)",
	  .default_interval = 2000000,
	  HARDWARE(PERF_COUNT_HW_INSTRUCTIONS) },
	{ .name = "cache-misses",
	  .title = "Cache Misses",
	  .gtick = "miss",
	  .summary = "last-level cache misses (hardware counter)",
	  .default_interval = 10000,
	  HARDWARE(PERF_COUNT_HW_CACHE_MISSES) },
	{ .name = "branch-misses",
	  .title = "Branch Misses",
	  .gtick = "miss",
	  .summary = "mispredicted branches (hardware counter)",
	  .default_interval = 10000,
	  HARDWARE(PERF_COUNT_HW_BRANCH_MISSES) },
	{ .name = NULL },
};

static const struct resource_row *find_row(const char *name, size_t length)
{
	for (const struct resource_row *row = resource_rows; row->name; row++)
		if (strlen(row->name) == length && memcmp(row->name, name, length) == 0)
			return row;
	return NULL;
}

static int unknown_name(const char *name, struct error *error)
{
	struct buffer list;
	buffer_init(&list);
	for (int resembling = 1; resembling >= 0 && list.size == 0; resembling--)
		for (const struct resource_row *row = resource_rows; row->name; row++)
			if (!resembling || text_resembles(name, row->name))
				buffer_printf(&list, "%s%s", list.size ? ", " : "", row->name);
	buffer_append_byte(&list, 0);
	const char *names = buffer_error(&list) ? "see 'cpprof record --help'" : (const char *)list.bytes;
	error_set(error, ERROR_USAGE, "there is no resource '%s'; did you mean: %s", name, names);
	buffer_release(&list);
	return ERROR_USAGE;
}

/* What a number's unit multiplies it by; 0: no such unit. */
static double unit_factor(const struct resource_row *row, const char *unit)
{
	static const struct {
		const char *unit;
		bool is_time;
		double factor;
	} units[] = {
		{ "ns", true, 1 },         { "us", true, NS_PER_US }, { "\u00b5s", true, NS_PER_US },
		{ "ms", true, NS_PER_MS }, { "s", true, NS_PER_S },   { "", false, 1 },
		{ "k", false, 1e3 },       { "K", false, 1e3 },       { "M", false, 1e6 },
		{ "G", false, 1e9 },
	};
	for (size_t i = 0; i < sizeof(units) / sizeof(units[0]); i++)
		if (units[i].is_time == row->is_time && strcmp(units[i].unit, unit) == 0)
			return units[i].factor;
	return 0;
}

int resource_parse_interval(const struct resource_row *row, const char *words, uint64_t *interval, struct error *error)
{
	const char *form =
		row->is_time ? "a time with its unit, as 1ms, 500us or 0.1s" : "a whole number, as 10, 5k or 1M";
	char *end = NULL;
	/* strtod also reads "inf", hex and signs: none is an interval. */
	double number =
		isdigit((unsigned char)words[0]) && words[1] != 'x' && words[1] != 'X' ? strtod(words, &end) : -1;
	double factor = end ? unit_factor(row, end) : 0;
	/* 1.001 has no exact binary form: the product may be off by its last bits. */
	double product = number * factor;
	double gticks = round(product);
	if (number < 0 || factor == 0)
		return error_set(error, ERROR_USAGE, "'%s' is no interval for %s: give %s", words, row->name, form);
	if (!row->is_time && fabs(product - gticks) > 2 * DBL_EPSILON * product)
		return error_set(error, ERROR_USAGE, "the interval of %s is %s, not %s", row->name, form, words);
	if (row->is_time && (gticks < (double)TIME_MIN_NS || gticks > (double)TIME_MAX_NS))
		return error_set(error, ERROR_USAGE, "an interval of %s for %s makes no sense: give 20us to 60s", words,
				 row->name);
	uint64_t least = row->is_hardware ? HARDWARE_MIN : 1;
	if (!row->is_time && (gticks < (double)least || gticks > (double)COUNT_MAX))
		return error_set(error, ERROR_USAGE, "an interval of %s for %s makes no sense: give %llu to 1000G",
				 words, row->name, (unsigned long long)least);
	*interval = (uint64_t)gticks;
	return 0;
}

int resource_parse(const char *words, struct resource_request *request, struct error *error)
{
	const char *slash = strchr(words, '/');
	size_t length = slash ? (size_t)(slash - words) : strlen(words);
	char name[64];
	snprintf(name, sizeof(name), "%.*s", (int)length, words);
	const struct resource_row *row = find_row(words, length);
	if (!row)
		return unknown_name(name, error);
	*request =
		(struct resource_request){ .row = row, .interval = row->default_interval, .default_interval = !slash };
	snprintf(request->name, sizeof(request->name), "%s", name);
	return slash ? resource_parse_interval(row, slash + 1, &request->interval, error) : 0;
}
