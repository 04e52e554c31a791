#include "reports/diff.h"

#include "cmd/message.h"
#include "cmd/profile_open.h"
#include "cmd/report_options.h"
#include "cmd/rows.h"
#include "cmd/view_options.h"

static int choose_sections(const struct invocation *invocation, struct diff_request *request)
{
	const struct option_use *chosen = NULL;
	for (size_t i = 0; i < invocation->use_count; i++) {
		const struct option_use *use = &invocation->uses[i];
		const struct report *report = report_of_option(use->option->id);
		if (!report)
			continue;
		if (chosen)
			return usage_error(invocation, "--%s cannot be combined with --%s (choose one report)",
					   chosen->option->name, use->option->name);
		chosen = use;
		request->sections[request->section_count++] =
			(struct diff_section){ .report = report, .root = use->value };
		if (option_given(invocation, OPTION_BY) && report_refuses(report, REPORT_BY))
			return usage_error(invocation, "--by cannot be combined with --%s: %s (leave out --by)",
					   report->name, report_refuses(report, REPORT_BY));
	}
	if (!chosen) {
		request->sections[request->section_count++] =
			(struct diff_section){ .report = report_find("functions"), .is_default = true };
		request->sections[request->section_count++] =
			(struct diff_section){ .report = report_find("down"), .root = "main", .is_default = true };
	}
	return EXIT_DONE;
}

static int print(const struct invocation *invocation, const struct render_options *options,
		 const struct diff_request *request, const struct results *results)
{
	struct render_document document;
	struct error error = { 0 };
	int status = 0;
	render_begin(&document, stdout, options,
		     &(struct render_envelope){
			     .command = "diff", .profile = request->profiles[0], .other = request->profiles[1] });
	for (size_t i = 0; i < results->count && status == 0; i++) {
		const struct result *result = &results->items[i];
		if (result->missing.code)
			notice(invocation, "%s: --down FN compares other paths", result->missing.message);
		status = render_result(&document, result, &error);
	}
	if (status < 0)
		return failure_of(invocation, &error);
	render_end(&document);
	return EXIT_DONE;
}

static int build_and_print(const struct invocation *invocation, struct diff_request *request)
{
	struct view_request view;
	struct results results = { 0 };
	struct error error = { 0 }, uncompared = { 0 };
	if (view_request_init(&view, invocation, request->profiles[0], &error) < 0)
		return failure_of(invocation, &error);
	request->view = view.view;
	request->resources = view.resources;
	request->resource_count = view.resource_count;
	request->resources_named = option_given(invocation, OPTION_RESOURCE);
	int result = diff_build(request, &results, &uncompared, &error);
	if (result == 0 && uncompared.code)
		notice(invocation, "some resources were not compared: %s", uncompared.message);
	int status = result < 0 ? failure_of(invocation, &error) : print(invocation, &view.render, request, &results);
	results_release(&results);
	view_request_release(&view);
	return status;
}

static int run(struct invocation *invocation)
{
	struct profile *profiles[DIFF_SIDES] = { 0 };
	struct diff_request request = { .name_b = invocation->arguments[1] };
	int status = choose_sections(invocation, &request);
	for (size_t side = 0; side < DIFF_SIDES && status == EXIT_DONE; side++) {
		request.profiles[side] = profiles[side] = profile_open(invocation, invocation->arguments[side]);
		status = profiles[side] ? EXIT_DONE : EXIT_FAILED;
	}
	if (status == EXIT_DONE)
		status = build_and_print(invocation, &request);
	for (size_t side = 0; side < DIFF_SIDES; side++)
		profile_free(profiles[side]);
	return status;
}

static const char *const usage[] = { "[REPORT] [OPTION]... A B", NULL };

static const struct command_option own_options[] = {
	ROW_RESOURCES("all of A"), ROW_THRESHOLD, ROW_LIMIT, ROW_BY, ROWS_FRAMES, ROW_FORMAT, ROW_MEMORY, { 0 },
};

static const struct command_option *make_options(void)
{
	static struct command_option rows[REPORT_OPTION_ROWS(own_options)];
	return report_options_fill(rows, report_is_list,
				   "Each function with what it calls; the default is this and --down main",
				   own_options);
}

static const struct command_example examples[] = {
	{ "cpprof diff cpprof.data.old cpprof.data", "what the last change to the program did" },
	{ "cpprof diff --down parse -r cpu a.data b.data", "for the call paths below one function" },
	{ 0 },
};

const struct command command_diff = {
	.name = "diff",
	.task = TASK_COMPARE,
	.summary = "compare two profiles, and separate changes from noise",
	.usage = usage,
	.make_options = make_options,
	.examples = examples,
	.words = view_option_words,
	.argument_min = 2,
	.argument_max = 2,
	.run = run,
};
