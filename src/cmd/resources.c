/* What can be measured here, how, and why not. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "cmd/message.h"
#include "cmd/rows.h"
#include "record/backends.h"

/* As it would be typed: "syscalls[:NAME]", "calls:FUNCTION[@MODULE]". */
static int print_name(char *text, size_t bytes, const struct resource_row *row)
{
	if (!row->parameters)
		return snprintf(text, bytes, "%s", row->name);
	return snprintf(text, bytes, row->parameters_optional ? "%s[:%s]" : "%s:%s", row->name, row->parameters);
}

/* As it would be typed, too. */
static void print_interval(char *text, size_t bytes, const struct resource_row *row)
{
	enum { NS_PER_MS = 1000000, KIB = 1024 };
	uint64_t interval = row->default_interval;
	if (row->is_time)
		snprintf(text, bytes, "%" PRIu64 "ms", interval * row->gtick_ns / NS_PER_MS);
	else if (strcmp(row->gtick, "byte") == 0 && interval % KIB == 0)
		snprintf(text, bytes, "%" PRIu64 "KiB", interval / KIB);
	else
		snprintf(text, bytes, "%" PRIu64, interval);
}

/* The first backend that measures it here. NULL: none does, and `error` is the
 * reason of one that could elsewhere. */
static const struct backend_vtable *find_backend(const struct resource_row *row, bool *user_only, struct error *error)
{
	struct resource_request request = {
		.row = row,
		.interval = row->default_interval,
		.default_interval = true,
		.gtick = row->gtick,
		.target.syscall = RESOURCE_ALL_SYSCALLS,
	};
	snprintf(request.name, sizeof(request.name), "%s", row->name);
	snprintf(request.title, sizeof(request.title), "%s", row->title);
	for (size_t i = 0; record_backends[i]; i++) {
		struct error reason;
		*user_only = false;
		if (record_backends[i]->probe(&request, user_only, &reason) >= 0)
			return record_backends[i];
		/* Of a resource that perf has, what keeps perf from it: it asks for less. */
		if (i == 0 || row->on_perf)
			*error = reason;
	}
	return NULL;
}

static int name_width(void)
{
	int width = 0;
	for (const struct resource_row *row = resource_rows; row->name; row++) {
		int length = print_name(NULL, 0, row);
		width = length > width ? length : width;
	}
	return width;
}

/* One line a resource: what it is, or why it cannot be had. */
static void print_row(const struct resource_row *row, int width)
{
	char name[128], interval[32];
	bool user_only = false;
	struct error error = { 0 };
	print_name(name, sizeof(name), row);
	print_interval(interval, sizeof(interval), row);
	const struct backend_vtable *backend = find_backend(row, &user_only, &error);
	printf("%-*s %-11s %-9s %-7s %s%s\n", width, name, row->gtick, interval, backend ? backend->name : "-",
	       backend ? row->summary : error.message,
	       backend && user_only && row->modes == RESOURCE_ALL_MODES ? "; here in user mode only" : "");
}

static int run(struct invocation *invocation)
{
	(void)invocation;
	int width = name_width();
	printf("%-*s %-11s %-9s %-7s %s\n", width, "resource", "gtick", "interval", "backend",
	       "what it is, or why not here");
	for (const struct resource_row *row = resource_rows; row->name; row++)
		print_row(row, width);
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
