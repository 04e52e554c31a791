#include <stdint.h>
#include <stdlib.h>

#include "analyze/analyses.h"
#include "analyze/lookup.h"
#include "cmd/message.h"
#include "cmd/rows.h"
#include "cmd/view_options.h"

/* One resource's prediction. */
struct part {
	struct view *view;             /* owned; NULL: its functions are not in this resource */
	struct lookup_what_if what_if; /* owned */
	struct what_if_result result;  /* owned */
};

/* Returns 0, ERROR_NOT_FOUND (kept in `error`: another resource may have the
 * functions), or another negative error. */
static int predict(struct part *part, const struct invocation *invocation, const struct view_options *options,
		   struct error *error)
{
	part->view = view_new(invocation->profile, options, error);
	if (!part->view)
		return error->code;
	int result = lookup_what_if_init(&part->what_if, part->view, (const char *const *)invocation->arguments,
					 invocation->argument_count, error);
	if (result == 0)
		result = analyze_what_if(part->view, part->what_if.paths, part->what_if.count, &part->result, error);
	if (result < 0) {
		lookup_what_if_release(&part->what_if);
		view_free(part->view);
		part->view = NULL;
	}
	return result;
}

static int predict_all(struct part *parts, struct view_request *request, const struct invocation *invocation,
		       size_t *predicted)
{
	struct error errors[2] = { 0 }; /* the first resource's that lacks the functions, and the current one's */
	for (size_t i = 0; i < request->resource_count; i++) {
		errors[1] = (struct error){ 0 };
		request->view.resource = request->resources[i];
		int result = predict(&parts[i], invocation, &request->view, &errors[1]);
		if (result < 0 && result != ERROR_NOT_FOUND)
			return failure_of(invocation, &errors[1]);
		if (result < 0 && !errors[0].code)
			errors[0] = errors[1];
		*predicted += result == 0;
	}
	if (*predicted == 0)
		return failure_of(invocation, &errors[0]);
	if (errors[0].code)
		notice(invocation, "not predicted for every resource: %s", errors[0].message);
	return EXIT_DONE;
}

static int run_request(struct view_request *request, const struct invocation *invocation)
{
	size_t predicted = 0, printed = 0;
	struct part *parts = calloc(request->resource_count, sizeof(*parts));
	if (!parts)
		return failure(invocation, "out of memory");
	int status = predict_all(parts, request, invocation, &predicted);
	for (size_t i = 0; i < request->resource_count; i++) {
		struct part *part = &parts[i];
		if (status == EXIT_DONE && part->view) {
			request->render.no_header = printed > 0;
			render_separate(stdout, request->render.format, printed++, predicted);
			render_what_if(stdout, part->view, part->what_if.paths, part->what_if.count, &part->result,
				       &request->render);
		}
		free(part->result.affected);
		lookup_what_if_release(&part->what_if);
		view_free(part->view);
	}
	if (status == EXIT_DONE)
		render_separate(stdout, request->render.format, predicted, predicted);
	free(parts);
	return status;
}

static int run(struct invocation *invocation)
{
	struct view_request request;
	struct error error = { 0 };
	if (view_request_init(&request, invocation, invocation->profile, &error) < 0)
		return failure_of(invocation, &error);
	int status = run_request(&request, invocation);
	view_request_release(&request);
	return status;
}

static const char *const usage[] = { "[OPTION]... [FILE] 'FN;FN;FN=FACTOR'...", NULL };

static const struct command_option options[] = {
	ROW_RESOURCES("all"), ROWS_SELECTION, ROWS_FRAMES, ROW_FORMAT("text, json or csv"), { 0 },
};

static const struct command_example examples[] = {
	{ "cpprof whatif 'main;uniquify_db;qsort=0'", "the total if that sort cost nothing" },
	{ "cpprof whatif run.data 'main;parse=50%' 'main;print=0.9'", "two changes at once" },
	{ 0 },
};

const struct command command_whatif = {
	.name = "whatif",
	.task = TASK_COMPARE,
	.summary = "predict the total if some call paths cost less",
	.usage = usage,
	.options = options,
	.examples = examples,
	.needs = NEEDS_PROFILE | NEEDS_PROFILE_BEFORE_TERMS,
	.argument_min = 1,
	.argument_max = SIZE_MAX,
	.run = run,
};
