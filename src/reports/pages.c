#include "reports/report.h"

/* Keeps the resources whose samples have addresses. A resource that the user named must have them. */
static int choose(struct report_request *request, struct error *error)
{
	const struct profile *profile = request->profile;
	size_t kept = 0;
	for (size_t i = 0; i < request->resource_count; i++) {
		uint32_t resource = request->resources[i];
		if (pages_are_known(profile, resource))
			request->resources[kept++] = resource;
		else if (request->resources_named)
			return error_set(error, ERROR_NOT_FOUND,
					 "no addresses were recorded with '%s' (record with -r page-faults)",
					 profile_string(profile, profile->resources[resource].name));
	}
	request->resource_count = kept;
	return kept ? 0
		    : error_set(error, ERROR_NOT_FOUND,
				"no touched addresses were recorded (record with -r page-faults)");
}

static int build(const struct report_request *request, const struct label_set *roots, struct result *result,
		 struct error *error)
{
	(void)request, (void)roots;
	result->pages = analyze_pages(result->view, error);
	return result->pages ? 0 : error->code;
}

const struct report report_pages = {
	.name = "pages",
	.letter = 'P',
	.help = "Which memory page faults touched, and on which paths",
	.summary = "which memory page faults touched, and on which paths",
	.needs = REPORT_NEEDS_ADDRESSES,
	.refuses = { { REPORT_LABEL | REPORT_BY_LABEL, "touched memory has no labels" },
		     { REPORT_GROUP, "it shows memory" } },
	.choose = choose,
	.parts = { { "Touched Page Profile", RESULT_PAGES, build } },
};
