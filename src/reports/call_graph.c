#include <stdlib.h>

#include "reports/report.h"

/* A call graph is of time, unless the user names another resource. */
static int choose(struct report_request *request, struct error *error)
{
	(void)error;
	uint32_t resource = truth_resource(request->profile);
	if (request->resources_named || resource == PROFILE_NONE)
		return 0;
	request->resources[0] = resource;
	request->resource_count = 1;
	return 0;
}

static int build(const struct report_request *request, const struct label_set *roots, struct result *result,
		 struct error *error)
{
	(void)request, (void)roots;
	struct truth *truth = malloc(sizeof(*truth));
	if (!truth)
		return error_set(error, ERROR_MEMORY, "out of memory");
	int status = truth_init(truth, result->view->profile, &result->view->options, error);
	if (status < 0) {
		free(truth);
		return status;
	}
	result->truth = truth;
	if (!truth->calls)
		result->note = TRUTH_NO_CALLS;
	return 0;
}

const struct report report_call_graph = {
	.name = "call-graph",
	.letter = 'g',
	.help = "Each function between its callers and what it called, as gprof prints it, with the times of the call "
		"paths",
	.summary = "each function between its callers and what it called",
	.refuses = { { REPORT_THRESHOLD | REPORT_LIMIT | REPORT_BY | REPORT_GROUP,
		       "it shows all functions as gprof does" } },
	.choose = choose,
	.parts = { { "Call Graph Profile", RESULT_CALL_GRAPH, build } },
};
