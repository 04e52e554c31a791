#include "reports/report.h"

static int build(const struct report_request *request, const struct label_set *roots, struct result *result,
		 struct error *error)
{
	(void)request;
	result->paths = analyze_up(result->view, roots, error);
	return result->paths ? 0 : error->code;
}

const struct report report_up = {
	.name = "up",
	.letter = 'u',
	.argument = REPORT_TAKES_FUNCTION,
	.help = "The call paths that end at function FN",
	.summary = "the call paths that end at a function",
	.detail = "Names are as for 'down'.\n",
	.parts = { { "Upward Call Path Profile", &result_paths, build } },
};
