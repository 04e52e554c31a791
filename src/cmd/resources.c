/* What can be measured here, how, and why not. */
#include <inttypes.h>
#include <stdio.h>

#include "cmd/message.h"
#include "cmd/rows.h"
#include "record/backend.h"

static void print_interval(char *text, size_t bytes, const struct resource_row *row)
{
	enum { NS_PER_MS = 1000000 };
	if (row->is_time)
		snprintf(text, bytes, "%" PRIu64 "ms", row->default_interval / NS_PER_MS);
	else
		snprintf(text, bytes, "%" PRIu64, row->default_interval);
}

/* One line a resource: what it is, or why it cannot be had. */
static void print_row(const struct resource_row *row)
{
	char interval[32];
	bool user_only = false;
	struct error error;
	print_interval(interval, sizeof(interval), row);
	const struct resource_request request = { .row = row };
	if (backend_perf.probe(&request, &user_only, &error) < 0)
		printf("%-17s %-12s %-9s %-8s %s\n", row->name, row->gtick, interval, "-", error.message);
	else
		printf("%-17s %-12s %-9s %-8s %s%s\n", row->name, row->gtick, interval, backend_perf.name, row->summary,
		       user_only && row->modes == RESOURCE_ALL_MODES ? "; here in user mode only" : "");
}

static int run(struct invocation *invocation)
{
	(void)invocation;
	printf("%-17s %-12s %-9s %-8s %s\n", "resource", "gtick", "interval", "backend", "what it is, or why not here");
	for (const struct resource_row *row = resource_rows; row->name; row++)
		print_row(row);
	return EXIT_DONE;
}

static const char *const usage[] = { "", NULL };

static const struct command_option options[] = { { 0 } };

static const struct command_example examples[] = {
	{ "cpprof resources", "what can be measured on this machine, by this user" },
	{ 0 },
};

const struct command command_resources = {
	.name = "resources",
	.task = TASK_RECORD,
	.summary = "list what can be measured here, and why not",
	.usage = usage,
	.options = options,
	.examples = examples,
	.run = run,
};
