#include "reports/report.h"

int build_body(const struct report_request *request, const struct label_set *roots, struct result *result,
	       struct error *error)
{
	(void)request, (void)roots;
	result->paths = analyze_body(result->view, error);
	return result->paths ? 0 : error->code;
}

const struct report report_body = {
	.name = "body",
	.letter = 'b',
	.help = "Each function without what it calls",
	.summary = "each function without what it calls",
	.parts = { { "Body Profile", &result_names, build_body } },
};
