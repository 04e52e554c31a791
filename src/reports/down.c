#include "reports/report.h"

static int build(const struct report_request *request, const struct label_set *roots, struct result *result,
		 struct error *error)
{
	(void)request;
	result->paths = analyze_down(result->view, roots, error);
	return result->paths ? 0 : error->code;
}

const struct report report_down = {
	.name = "down",
	.letter = 'd',
	.argument = REPORT_TAKES_FUNCTION,
	.help = "The call paths that start at function FN, outermost first",
	.summary = "the call paths that start at a function",
	.detail = "The function's name is the rest of the line: 'down ns::f(int, char)'. Enough of\n"
		  "it to be unique will do: 'f', 'ns::f'. '#2' is the second of the last list.\n",
	.parts = { { "Downward Call Path Profile", &result_paths, build } },
};
