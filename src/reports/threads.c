#include "reports/report.h"

static int build(const struct report_request *request, const struct label_set *roots, struct result *result,
		 struct error *error)
{
	(void)request;
	(void)roots;
	result->shares = analyze_shares(result->view->profile, &result->view->options, SHARE_OF_THREAD, error);
	return result->shares ? 0 : error->code;
}

/* The explorer has a setting named `thread`. */
const struct report report_threads = {
	.name = "threads",
	.command = "by-thread",
	.help = "The share of each thread",
	.summary = "the share of each thread",
	.refuses = { { REPORT_BY | REPORT_GROUP, "it shows threads" } },
	.parts = { { "Thread Profile", &result_shares, build } },
};
