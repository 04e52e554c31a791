#include <sys/stat.h>

#include "cmd/message.h"
#include "cmd/pager_output.h"
#include "cmd/store_options.h"
#include "cmd/view_options.h"
#include "render/render.h"

static int print(const struct invocation *invocation, struct render_options *options)
{
	struct error error = { 0 };
	struct pager_output page;
	struct stat status;
	if (!render_document_word(options->format))
		return usage_error(invocation, "--format csv is not available here (--format text or json)");
	bool is_file = stat(invocation->profile_path, &status) == 0 && S_ISREG(status.st_mode);
	if (pager_output_open(&page, options, !option_given(invocation, OPTION_NO_PAGER), &error) < 0)
		return failure_of(invocation, &error);
	int result = render_info(page.stream, invocation->profile, invocation->profile_path,
				 is_file ? (uint64_t)status.st_size : 0, options);
	if (result < 0)
		error_set(&error, result, "out of memory");
	if (pager_output_close(&page, result == 0 ? &error : NULL) < 0 && result == 0)
		result = error.code;
	if (result < 0)
		return failure_of(invocation, &error);
	return EXIT_DONE;
}

static int run(struct invocation *invocation)
{
	struct view_request request;
	struct error error = { 0 };
	if (view_request_init(&request, invocation, NULL, &error) < 0)
		return failure_of(invocation, &error);
	int status = print(invocation, &request.render);
	view_request_release(&request);
	return status;
}

static const char *const usage[] = { "[OPTION]... [FILE]", "[OPTION]... --store URL", NULL };

static const struct command_option options[] = { ROWS_STORE_SELECTION, ROW_FORMAT, ROWS_TERMINAL, ROWS_LIMITS, { 0 } };

static const struct command_example examples[] = {
	{ "cpprof info", "what was recorded, what was lost, and why stacks were cut" },
	{ "cpprof info --format json run.data", "the same for a program" },
	{ "cpprof info profile.pb.gz", "the contents of another tool's file that 'cpprof import' reads" },
	{ 0 },
};

const struct command command_info = {
	.name = "info",
	.task = TASK_READ,
	.summary = "describe what was recorded, and its quality",
	.usage = usage,
	.options = options,
	.examples = examples,
	.words = document_option_words,
	.needs = NEEDS_PROFILE,
	.run = run,
};
