#include <stdlib.h>

#include "reports/report.h"

static int build(const struct report_request *request, const struct label_set *roots, struct result *result,
		 struct error *error)
{
	(void)request;
	if (roots->count == 0)
		return 0;
	result->lines = analyze_lines(result->view, roots, error);
	return result->lines ? 0 : error->code;
}

const struct report report_source = {
	.name = "source",
	.letter = 's',
	.argument = REPORT_TAKES_FUNCTION,
	.help = "The source lines of function FN, with the hits beside each",
	.summary = "the source lines of a function and their hits",
	.detail = "Names are as for 'down'.\n",
	.refuses = { { REPORT_THRESHOLD | REPORT_LIMIT | REPORT_BY | REPORT_GROUP,
		       "it shows all lines of a function" } },
	.fixes_by = true,
	.by = VIEW_FUNCTION,
	.parts = { { "Source Line Profile", RESULT_LINES, build } },
};
