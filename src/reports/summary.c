#include <stdlib.h>

#include "profile/companion.h"
#include "reports/report.h"

/* Shows the first resource that has hits, if the user named none. */
static int choose(struct report_request *request, struct error *error)
{
	const struct profile *profile = request->profile;
	uint32_t chosen = PROFILE_NONE;
	if (request->resources_named || request->resource_count == 0)
		return 0;
	bool *has_hits = calloc(profile->resource_count, sizeof(*has_hits));
	if (!has_hits)
		return error_set(error, ERROR_MEMORY, "out of memory");
	for (size_t i = 0; i < profile->hit_count; i++)
		has_hits[profile->hits[i].resource] = true;
	for (size_t i = 0; i < request->resource_count && chosen == PROFILE_NONE; i++)
		if (has_hits[request->resources[i]])
			chosen = request->resources[i];
	free(has_hits);
	request->resources[0] = chosen != PROFILE_NONE ? chosen : request->resources[0];
	request->resource_count = 1;
	return 0;
}

static int build(const struct report_request *request, const struct label_set *roots, struct result *result,
		 struct error *error)
{
	const struct view *view = result->view;
	(void)request;
	(void)roots;
	result->paths = analyze_body(view, error);
	result->shares = analyze_shares(view->profile, &view->options, SHARE_OF_PROCESS, error);
	result->own = analyze_own_code(view, error);
	result->kernel = analyze_kernel_work(view, error);
	bool has_own = result->own && result->own->charged_count > 0;
	result->lines = has_own ? analyze_hot_own_lines(view, error) : analyze_hot_lines(view, error);
	bool has_all = result->paths && result->shares && result->lines && result->own && result->kernel;
	return has_all ? 0 : error->code;
}

const struct report report_summary = {
	.name = "summary",
	.summary = "what was recorded, what is hot, and what to ask next",
	.refuses = { { REPORT_THRESHOLD | REPORT_LIMIT | REPORT_BY | REPORT_GROUP, "it is one screen" } },
	.fixes_by = true,
	.by = VIEW_FUNCTION,
	.choose = choose,
	.parts = { { "Summary", RESULT_SUMMARY, build } },
};
