#include "reports/report.h"

int build_functions(const struct report_request *request, const struct label_set *roots, struct result *result,
		    struct error *error)
{
	(void)request, (void)roots;
	result->paths = analyze_functions(result->view, error);
	return result->paths ? 0 : error->code;
}

const struct report report_functions = {
	.name = "functions",
	.letter = 'f',
	.help = "Each function with what it calls",
	.summary = "each function with what it calls",
	.parts = { { "Function Profile", &result_names, build_functions } },
};
