#include <stdint.h>

#include "cmd/message.h"
#include "cmd/pager_output.h"
#include "cmd/store_options.h"
#include "cmd/view_options.h"
#include "reports/report.h"

/* Prints the results of the resources that have the functions. */
static int print(const struct invocation *invocation, const struct render_options *options,
		 const struct results *results)
{
	struct render_document document;
	struct pager_output page;
	struct error error = { 0 };
	const struct error *missing = NULL;
	int status = 0;
	for (size_t i = 0; i < results->count && !missing; i++)
		missing = results->items[i].missing.code ? &results->items[i].missing : NULL;
	if (missing)
		notice(invocation, "some resources were not predicted: %s", missing->message);
	if (pager_output_open(&page, options, !option_given(invocation, OPTION_NO_PAGER), &error) < 0)
		return failure_of(invocation, &error);
	render_begin(&document, page.stream, options,
		     &(struct render_envelope){ .command = "whatif", .profile = invocation->profile });
	for (size_t i = 0; i < results->count && status == 0; i++)
		if (!results->items[i].missing.code)
			status = render_result(&document, &results->items[i], &error);
	if (status == 0)
		render_end(&document);
	if (pager_output_close(&page, status == 0 ? &error : NULL) < 0)
		status = status < 0 ? status : error.code;
	if (status < 0)
		return failure_of(invocation, &error);
	return EXIT_DONE;
}

static int run(struct invocation *invocation)
{
	struct view_request view;
	struct results results = { 0 };
	struct error error = { 0 };
	if (view_request_init(&view, invocation, invocation->profile, &error) < 0)
		return failure_of(invocation, &error);
	struct report_request request = {
		.report = report_find("whatif"),
		.profile = invocation->profile,
		.view = view.settings.view,
		.resources = view.settings.resources,
		.resource_count = view.settings.resource_count,
		.terms = (const char *const *)invocation->arguments,
		.term_count = invocation->argument_count,
	};
	int result = report_prepare(&request, &error);
	if (result == 0)
		result = report_build(&request, &results, &error);
	int status = result < 0 ? failure_of(invocation, &error) : print(invocation, &view.render, &results);
	results_release(&results);
	view_request_release(&view);
	return status;
}

static const char *const usage[] = { "[OPTION]... [FILE] 'FN;FN;FN=FACTOR'...", NULL };

static const struct command_option options[] = {
	ROW_RESOURCES("all"), ROWS_SELECTION, ROWS_STORE, ROWS_FRAMES, ROW_FORMAT, ROWS_TERMINAL, ROWS_LIMITS, { 0 },
};

static const struct command_example examples[] = {
	{ "cpprof whatif 'main;uniquify_db;qsort=0'", "the total if that sort cost nothing" },
	{ "cpprof whatif run.data 'main;parse=50%' 'main;print=0.9'", "two changes at once" },
	{ "cpprof whatif perf.data 'main;parse=0'", "the same for another tool's file that 'cpprof import' reads" },
	{ 0 },
};

const struct command command_whatif = {
	.name = "whatif",
	.task = TASK_COMPARE,
	.summary = "predict the total if some call paths cost less",
	.usage = usage,
	.options = options,
	.examples = examples,
	.words = view_option_words,
	.needs = NEEDS_PROFILE | NEEDS_PROFILE_BEFORE_TERMS,
	.argument_min = 1,
	.argument_max = SIZE_MAX,
	.takes_sums = view_takes_sums,
	.run = run,
};
