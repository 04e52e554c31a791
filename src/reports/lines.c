#include "reports/report.h"

static int build(const struct report_request *request, const struct label_set *roots, struct result *result,
		 struct error *error)
{
	(void)request;
	(void)roots;
	result->lines = analyze_hot_lines(result->view, error);
	return result->lines ? 0 : error->code;
}

const struct report report_lines = {
	.name = "lines",
	.help = "The hot source lines of all files",
	.summary = "the hot source lines of all files",
	.refuses = { { REPORT_BY | REPORT_GROUP, "it shows lines" } },
	.fixes_by = true,
	.by = VIEW_FUNCTION,
	.parts = { { "Hot Line Profile", RESULT_HOT_LINES, build } },
};
