#include <stdlib.h>

#include "base/memory_size.h"
#include "cmd/message.h"
#include "cmd/profile_open.h"
#include "cmd/store_options.h"
#include "cmd/view_options.h"
#include "reports/digest.h"
#include "reports/report.h"

enum { OPTION_BUDGET = OPTION_OWN };

static int read_budget(const struct invocation *invocation, size_t *budget)
{
	const char *text = option_value(invocation, OPTION_BUDGET);
	uint64_t bytes = DIGEST_BYTES_DEFAULT;
	if (text && (!memory_size_read(text, &bytes) || bytes < DIGEST_BYTES_LEAST || bytes > DIGEST_BYTES_MOST))
		return usage_error(invocation, "'%s' is not a number of bytes from %d to %d (--budget %d, or 4K)", text,
				   DIGEST_BYTES_LEAST, DIGEST_BYTES_MOST, DIGEST_BYTES_DEFAULT);
	*budget = (size_t)bytes;
	return EXIT_DONE;
}

/* Builds the summary of the first resource with hits, and the body profiles of the others. `report` and the rest of the request are
 * filled in. */
static int build(struct report_request *request, const struct view_request *view, struct results *results,
		 struct error *error)
{
	/* The summary chooses one resource, and moves it to the front. */
	uint32_t *resources = calloc(view->settings.resource_count + 1, sizeof(*resources));
	if (!resources)
		return error_set(error, ERROR_MEMORY, "out of memory");
	size_t count = view->settings.resource_count;
	for (size_t i = 0; i < count; i++)
		resources[i] = view->settings.resources[i];
	int status = report_prepare(request, error);
	if (status == 0)
		status = report_build_resource(request, request->resources[0], results, error);
	uint32_t first = request->resource_count > 0 ? request->resources[0] : 0;
	request->report = report_find("body");
	for (size_t i = 0; i < count && status == 0; i++)
		if (resources[i] != first)
			status = report_build_resource(request, resources[i], results, error);
	free(resources);
	return status;
}

static int build_and_print(struct invocation *invocation, struct view_request *view, size_t budget)
{
	struct results results = { 0 };
	struct error error = { 0 };
	struct report_request request = {
		.report = report_find("summary"),
		.profile = invocation->profile,
		.view = view->settings.view,
		.resources = view->settings.resources,
		.resource_count = view->settings.resource_count,
		.resources_named = option_given(invocation, OPTION_RESOURCE),
		.threshold = view->settings.threshold,
		.limit = view->settings.limit,
	};
	int status = build(&request, view, &results, &error);
	view->render.file = invocation->profile_path;
	if (status == 0)
		status = render_digest(stdout, &results, &view->render, budget, &error);
	results_release(&results);
	return status < 0 ? failure_of(invocation, &error) : EXIT_DONE;
}

static int run(struct invocation *invocation)
{
	struct view_request view;
	struct error error = { 0 };
	size_t budget = DIGEST_BYTES_DEFAULT;
	int status = read_budget(invocation, &budget);
	if (status != EXIT_DONE)
		return status;
	if (view_request_init(&view, invocation, invocation->profile, &error) < 0)
		return failure_of(invocation, &error);
	status = render_document_word(view.render.format)
			 ? build_and_print(invocation, &view, budget)
			 : usage_error(invocation, "--format csv is not available here (--format text or json)");
	view_request_release(&view);
	return status;
}

static const char *const usage[] = { "[OPTION]... [FILE]", NULL };

static const struct command_option options[] = {
	{ OPTION_BUDGET, 0, "budget", "BYTES", "Write at most BYTES, the most important facts first (512 to 1M)",
	  "2048" },
	ROW_RESOURCES("the first one with samples, beside the others"),
	ROWS_SELECTION,
	ROWS_STORE,
	ROWS_FRAMES,
	ROW_FORMAT,
	ROWS_LIMITS,
	{ 0 },
};

static const struct command_example examples[] = {
	{ "cpprof explain", "a profile in 2 KB: for a program, or for an assistant with little room" },
	{ "cpprof explain --budget 8K --format json run.data", "more of it, as JSON" },
	{ "cpprof explain -r page-faults run.data", "by where it takes page faults" },
	{ "cpprof explain perf.data", "the facts of another tool's file that 'cpprof import' reads" },
	{ 0 },
};

const struct command command_explain = {
	.name = "explain",
	.task = TASK_READ,
	.summary = "print the most important facts of a profile in a given number of bytes",
	.usage = usage,
	.options = options,
	.examples = examples,
	.words = document_option_words,
	.needs = NEEDS_PROFILE,
	.run = run,
};
