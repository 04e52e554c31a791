#include "reports/report.h"

static int build(const struct report_request *request, const struct label_set *roots, struct result *result,
		 struct error *error)
{
	(void)roots;
	struct lookup_what_if *terms = &result->terms;
	int status = lookup_what_if_init(terms, result->view, request->terms, request->term_count, error);
	if (status < 0)
		return status;
	return analyze_what_if(result->view, terms->paths, terms->count, &result->prediction, error);
}

const struct report report_what_if = {
	.name = "whatif",
	.argument = REPORT_TAKES_TERMS,
	.summary = "the total if call paths cost less",
	.detail = "A path is function names joined by ';', outermost first, and FACTOR what its cost\n"
		  "is multiplied by: 'whatif main;qsort=0 main;read_db=50%'.\n",
	.parts = { { "What-If Prediction", RESULT_WHAT_IF, build } },
};
