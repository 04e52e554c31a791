/* `cpprof trace`: prints single events, one line each, while they happen. */
#include <inttypes.h>
#include <stdio.h>

#include "cmd/message.h"
#include "cmd/subject.h"
#include "cmd/trace_events.h"
#include "collect/sample/monitor.h"
#include "profile/findings.h"
#include "profile/quality.h"
#include "render/render.h"

enum { OPTION_MIN = SUBJECT_OPTIONS_END, OPTION_NAME, OPTION_PATH, OPTION_OUTPUT };

/* --- arguments --- */

/* Unless the user gives an interval, each event is shown. A clock has no events, so its default interval stays. */
static int take_intervals(struct record_options *options, struct error *error)
{
	if (options->resource_count == 0) {
		int result = resource_parse("syscalls", &options->resources[0], error);
		if (result < 0)
			return result;
		options->resource_count = 1;
	}
	for (size_t i = 0; i < options->resource_count; i++) {
		struct resource_request *request = &options->resources[i];
		if (request->default_interval && !resource_is_clock(request->row))
			request->interval = 1;
	}
	return 0;
}

static int take_filters(const struct invocation *invocation, const struct record_options *options,
			struct event_filter *filter, struct error *error)
{
	int result = 0;
	for (size_t i = 0; i < invocation->use_count && result == 0; i++) {
		const struct option_use *use = &invocation->uses[i];
		if (use->option->id == OPTION_MIN)
			result = event_filter_min(filter, use->value, options->resources, options->resource_count,
						  error);
		else if (use->option->id == OPTION_NAME)
			result = event_filter_name(filter, use->value, error);
		else if (use->option->id == OPTION_PATH)
			result = event_filter_function(filter, use->value, error);
	}
	return result;
}

static int take_words(const struct invocation *invocation, struct record_options *options, struct trace_events *events,
		      struct error *error)
{
	if (take_intervals(options, error) < 0)
		return error->code;
	if (process_list_is_empty(options->processes) && !options->command)
		return error_set(error, ERROR_USAGE, "missing argument COMMAND (a command, or -p PID)");
	events->requests = options->resources;
	events->request_count = options->resource_count;
	return take_filters(invocation, options, &events->filter, error);
}

/* --- the result --- */

/* Prints the functions that --path names but that were on no traced path. */
static void print_missing(struct event_filter *filter)
{
	size_t next = 0;
	for (struct near_names *missing; (missing = event_filter_missing(filter, &next));) {
		fputs("cpprof: no event has the function '", stderr);
		render_safe_text(stderr, missing->typed);
		fputs("' in its call path", stderr);
		render_safe_text(stderr, near_names_text(missing));
		fputc('\n', stderr);
	}
}

static void print_result(struct trace_events *events, const struct record_result *result)
{
	for (size_t i = 0; i < events->request_count; i++) {
		const struct resource_request *request = &events->requests[i];
		const struct trace_sum *sum = &events->sums[i];
		fprintf(stderr, "cpprof: %s: %" PRIu64 " of %" PRIu64 " event%s shown, ", request->name, sum->shown,
			sum->events, sum->events == 1 ? "" : "s");
		trace_print_amount(stderr, request, sum->amount);
		fprintf(stderr, " in all, %" PRIu64 " lost, by %s\n", sum->lost, result->backend);
	}
	const uint64_t lost = result->lost + events->dropped;
	if (lost > 0)
		fprintf(stderr,
			"cpprof: %" PRIu64
			" event%s lost (a filter, as syscalls:read, or an interval, as syscalls/10, makes fewer)\n",
			lost, lost == 1 ? "" : "s");
	print_missing(&events->filter);
	const uint64_t broken = quality_of(result->profile).broken;
	if (broken > 0)
		fprintf(stderr, "cpprof: %" PRIu64 " broken call path%s: the outer part is missing\n", broken,
			broken == 1 ? "" : "s");
}

/* Prints the findings of a trace, a line each. */
static void print_findings(const struct profile *profile)
{
	struct finding_walk walk = { 0 };
	for (const struct profile_finding *finding; (finding = finding_next(profile, &walk));) {
		if (!finding_is_traced(profile, finding))
			continue;
		fprintf(stderr, "cpprof: %s: ", finding_severity_name(finding->severity));
		render_safe_text(stderr, profile_string(profile, finding->text));
		fputc('\n', stderr);
	}
}

static void on_warning(void *context, const char *sentence)
{
	warning(context, "%s", sentence);
}

static int trace(struct invocation *invocation, struct record_options *options, struct trace_events *events)
{
	struct record_result result;
	struct error error = { 0 };
	const struct destination destination = trace_destination(events);
	options->destination = &destination;
	options->warn = on_warning;
	options->context = invocation;
	if (monitor_run(options, &result, &error) < 0)
		return failure_of(invocation, &error);
	print_result(events, &result);
	if (result.profile)
		print_findings(result.profile);
	profile_free(result.profile);
	if (result.incomplete)
		return failure(invocation, "the trace is incomplete: %s", error.message);
	return result.status;
}

static int run_with(struct invocation *invocation, struct record_options *options, void *context)
{
	(void)context;
	struct trace_events events = { .path = option_value(invocation, OPTION_OUTPUT) };
	struct error error = { 0 };
	int status = take_words(invocation, options, &events, &error);
	status = status < 0 ? failure_of(invocation, &error) : trace(invocation, options, &events);
	trace_events_release(&events);
	return status;
}

static int run(struct invocation *invocation)
{
	return subject_run(invocation, run_with, NULL);
}

static const char *const usage[] = {
	"[-r RES[/N]]... [FILTER]... [-o FILE] [--] COMMAND [ARG...]",
	"[-r RES[/N]]... [FILTER]... [-o FILE] {-p PID | --comm NAME}... [--duration S]",
	NULL,
};

static const struct command_option options[] = {
	{ SUBJECT_RESOURCE, 'r', "resource", "RES[/N]",
	  "Trace resource RES ('cpprof resources' lists them): each event, or on average every Nth gtick; may be given "
	  "up to 16 times",
	  "syscalls" },
	{ OPTION_MIN, 0, "min", "AMOUNT",
	  "Show only events of at least so much, as 64KiB or 5ms; once for each kind of amount", NULL },
	{ OPTION_NAME, 0, "name", "PATTERN",
	  "Show only events whose system call or resource matches PATTERN, as 'open*'; of several, one must match",
	  NULL },
	{ OPTION_PATH, 0, "path", "FUNCTION",
	  "Show only events with FUNCTION in their call path; of several, all must be there", NULL },
	{ OPTION_OUTPUT, 'o', "output", "FILE", "Write the events to FILE", "standard error" },
	SUBJECT_PROCESS_OPTIONS("Trace", "tracing"),
	SUBJECT_CHILDREN_OPTIONS,
	{ SUBJECT_DURATION, 0, "duration", "S", "With -p or --comm: end after S seconds", NULL },
	SUBJECT_NO_KERNEL_OPTION,
	SUBJECT_BACKEND_OPTION,
	{ 0 },
};

static const struct command_example examples[] = {
	{ "cpprof trace ./program", "each system call, with the path that makes it" },
	{ "cpprof trace --name 'open*' ./program", "which files does it open, and where?" },
	{ "cpprof trace -r write-bytes --min 64KiB ./program", "the large writes alone" },
	{ "cpprof trace -r blocked --min 10ms --path main -p 1234", "where a running process waits for long" },
	{ "cpprof trace -r calls:malloc --path parse ./program", "who calls malloc below parse" },
	{ 0 },
};

const struct command command_trace = {
	.name = "trace",
	.task = TASK_RECORD,
	.summary = "show single events as they happen, with their call paths",
	.usage = usage,
	.options = options,
	.examples = examples,
	.words = subject_option_words,
	.exit_status =
		"The command's own, or 128 + N if signal N ended it; 0 with -p and --comm. If the command was not run: "
		"127 if it "
		"does not exist, 126 if it is not executable, 2 for a usage error, 1 if nothing could be traced. Also "
		"1, after a message, if memory ran out or the output could not be written, so that events are missing.",
	.needs = STOPS_AT_ARGUMENT,
	.argument_min = 0,
	.argument_max = SIZE_MAX,
	.run = run,
};
