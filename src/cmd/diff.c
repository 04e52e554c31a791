#include "cmd/diff.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "cmd/message.h"
#include "cmd/pager_output.h"
#include "cmd/recordings.h"
#include "cmd/report_options.h"
#include "cmd/store_options.h"
#include "cmd/view_options.h"

enum { OPTION_PATH = DIFF_OPTIONS_END, OPTION_SHARES, OPTION_MARKDOWN };

int diff_choose_sections(const struct invocation *invocation, struct diff_request *request)
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
		if (option_given(invocation, OPTION_BY) && report_refuses(report, SETTING_BY))
			return usage_error(invocation, "--by cannot be combined with --%s: %s (leave out --by)",
					   report->name, report_refuses(report, SETTING_BY));
	}
	if (!chosen) {
		request->sections[request->section_count++] =
			(struct diff_section){ .report = report_find("functions"), .is_default = true };
		request->sections[request->section_count++] =
			(struct diff_section){ .report = report_find("down"), .root = "main", .is_default = true };
	}
	return EXIT_DONE;
}

int diff_read_limit(const struct invocation *invocation, struct diff_request *request)
{
	const char *text = option_value(invocation, OPTION_FAIL_ABOVE);
	if (!text)
		return EXIT_DONE;
	char *end;
	size_t digits = strspn(text, "0123456789.");
	bool is_number = digits > 0 && (!text[digits] || strcmp(text + digits, "%") == 0);
	request->limit = strtod(text, &end) / 100;
	if (*end == '%')
		end++;
	if (!is_number || *end || !isfinite(request->limit))
		return usage_error(invocation, "'%s' is not a change in percent (--fail-above 5, or 0.5)", text);
	return EXIT_DONE;
}

/* Sets the paths, an array that the caller frees. */
static int read_paths(const struct invocation *invocation, struct diff_request *request)
{
	const char **paths = calloc(invocation->use_count + 1, sizeof(*paths));
	if (!paths)
		return failure(invocation, "out of memory");
	for (size_t i = 0; i < invocation->use_count; i++)
		if (invocation->uses[i].option->id == OPTION_PATH)
			paths[request->path_count++] = invocation->uses[i].value;
	request->paths = paths;
	return EXIT_DONE;
}

static int print_results(const struct invocation *invocation, FILE *out, const struct render_options *options,
			 const struct diff_request *request, const struct results *results, struct error *error)
{
	struct render_document document;
	int status = 0;
	render_begin(&document, out, options,
		     &(struct render_envelope){ .command = "diff",
						.profiles = request->profiles,
						.counts = { request->counts[DIFF_A], request->counts[DIFF_B] } });
	for (size_t i = 0; i < results->count && status == 0; i++) {
		const struct result *result = &results->items[i];
		if (result->missing.code)
			notice(invocation, "%s: --down FN compares other paths", result->missing.message);
		status = render_result(&document, result, error);
	}
	if (status == 0 && request->is_gate)
		render_gate_end(&document, results, request->limit);
	else if (status == 0)
		render_end(&document);
	return status;
}

static int print(const struct invocation *invocation, const struct render_options *options,
		 const struct diff_request *request, const struct results *results)
{
	struct pager_output page;
	struct error error = { 0 };
	int status = 0;
	if (pager_output_open(&page, options, !option_given(invocation, OPTION_NO_PAGER), &error) < 0)
		return failure_of(invocation, &error);
	if (option_given(invocation, OPTION_MARKDOWN))
		render_diff_markdown(page.stream, results, request->is_gate ? request->limit : NAN, options);
	else
		status = print_results(invocation, page.stream, options, request, results, &error);
	if (pager_output_close(&page, status == 0 ? &error : NULL) < 0)
		status = status < 0 ? status : error.code;
	if (status < 0)
		return failure_of(invocation, &error);
	return request->is_gate && render_exceeding(results) > 0 ? EXIT_EXCEEDED : EXIT_DONE;
}

int diff_set_views(struct diff_request *request, const struct view_options *options, struct error *error)
{
	size_t count = request->counts[DIFF_A] + request->counts[DIFF_B];
	struct view_options *views = calloc(count, sizeof(*views));
	for (size_t i = 0; views && i < count; i++)
		views[i] = *options;
	request->views = views;
	return views ? 0 : error_set(error, ERROR_MEMORY, "out of memory");
}

static int compare(const struct invocation *invocation, struct diff_request *request,
		   const struct recordings *recordings)
{
	struct view_request view;
	struct results results = { 0 };
	struct error error = { 0 }, uncompared = { 0 };
	request->profiles = recordings->profiles;
	request->names = recordings->names;
	for (int side = DIFF_A; side <= DIFF_B; side++)
		request->counts[side] = recordings->counts[side];
	if (view_request_init(&view, invocation, request->profiles[0], &error) < 0)
		return failure_of(invocation, &error);
	request->resources = view.settings.resources;
	request->resource_count = view.settings.resource_count;
	request->resources_named = option_given(invocation, OPTION_RESOURCE);
	request->shares = option_given(invocation, OPTION_SHARES);
	request->spread = view.settings.spread;
	request->threshold = view.settings.threshold;
	int result = diff_set_views(request, &view.settings.view, &error);
	if (result == 0)
		result = diff_build(request, &results, &uncompared, &error);
	if (result == 0 && uncompared.code)
		notice(invocation, "some resources were not compared: %s", uncompared.message);
	int status = result < 0 ? failure_of(invocation, &error) : print(invocation, &view.render, request, &results);
	results_release(&results);
	view_request_release(&view);
	free((void *)request->views);
	return status;
}

static int run(struct invocation *invocation)
{
	struct diff_request request = { .chance = DIFF_CHANCE, .is_gate = option_given(invocation, OPTION_FAIL_ABOVE) };
	struct recordings recordings = { 0 };
	int status = diff_choose_sections(invocation, &request);
	if (status == EXIT_DONE && option_given(invocation, OPTION_MARKDOWN) && option_given(invocation, OPTION_FORMAT))
		status = usage_error(invocation, "--markdown cannot be combined with --format (give one of them)");
	if (status == EXIT_DONE)
		status = diff_read_limit(invocation, &request);
	if (status == EXIT_DONE)
		status = read_paths(invocation, &request);
	if (status == EXIT_DONE)
		status = recordings_open(invocation, &recordings);
	if (status == EXIT_DONE)
		status = compare(invocation, &request, &recordings);
	recordings_release(&recordings);
	free((void *)request.paths);
	return status;
}

static const char *const usage[] = { "[REPORT] [OPTION]... A B", "[REPORT] [OPTION]... A1 A2... -- B1 B2...",
				     "--fail-above PERCENT [--path P]... [REPORT] [OPTION]... A1 A2... -- B1 B2...",
				     NULL };

static const struct command_option own_options[] = {
	{ OPTION_FAIL_ABOVE, 0, "fail-above", "PERCENT",
	  "Return exit status 3 if an entry uses more in B by over PERCENT, and by more than equal programs differ; "
	  "print these "
	  "entries",
	  NULL },
	{ OPTION_PATH, 0, "path", "P",
	  "Compare only this entry: a function, or a call path from main on (main;parse); may be given several times",
	  NULL },
	{ OPTION_SHARES, 0, "shares", NULL,
	  "Compare shares: scale the amounts so that each recording has the mean total of A; the speed of the machine "
	  "then has no "
	  "effect",
	  NULL },
	{ OPTION_MARKDOWN, 0, "markdown", NULL, "Write the marked changes as Markdown, for a comment on a web page",
	  NULL },
	ROW_RESOURCES("all of A"),
	ROW_THRESHOLD,
	ROW_LIMIT,
	ROW_SPREAD,
	ROW_BY,
	ROWS_STORE_SELECTION,
	ROWS_FRAMES,
	ROW_FORMAT,
	ROWS_TERMINAL,
	ROWS_LIMITS,
	{ 0 },
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
	{ "cpprof diff a1.data a2.data a3.data -- b1.data b2.data b3.data",
	  "the same from three recordings of each, whose differences from run to run are then known" },
	{ "cpprof diff --down parse -r cpu a.data b.data", "for the call paths below one function" },
	{ "cpprof diff --fail-above 5 --path parse a-?.data -- b-?.data",
	  "fails if parse became slower by more than 5 %" },
	{ "cpprof diff --markdown a-?.data -- b-?.data", "the changes, for a comment" },
	{ "cpprof diff before.pb.gz after.pb.gz", "other tools' files that 'cpprof import' reads" },
	{ 0 },
};

const struct command command_diff = {
	.name = "diff",
	.task = TASK_COMPARE,
	.summary = "compare recordings of two programs, and separate changes from noise",
	.usage = usage,
	.make_options = make_options,
	.examples = examples,
	.words = view_option_words,
	.exit_status =
		"0: done, and no change exceeds the limit; 3: --fail-above, and a change does; 1: failure; 2: usage "
		"error.",
	.argument_min = 2,
	.argument_max = SIZE_MAX,
	.takes_sums = view_takes_sums,
	.run = run,
};
