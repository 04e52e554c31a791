#include "reports/report.h"

static int build(const struct report_request *request, const struct label_set *roots, struct result *result,
		 struct error *error)
{
	(void)request;
	(void)roots;
	result->shares = analyze_shares(result->view->profile, &result->view->options, SHARE_OF_PROCESS, error);
	return result->shares ? 0 : error->code;
}

/* The explorer has a setting named `process`. */
const struct report report_processes = {
	.name = "processes",
	.command = "by-process",
	.help = "The share of each process",
	.summary = "the share of each process",
	.refuses = { { REPORT_BY | REPORT_GROUP, "it shows processes" } },
	.parts = { { "Process Profile", &result_shares, build } },
};
