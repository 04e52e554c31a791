#include "reports/report.h"

static int build(const struct report_request *request, const struct label_set *roots, struct result *result,
		 struct error *error)
{
	(void)roots;
	result->labels = analyze_label_groups(result->view, request->label_key, error);
	return result->labels ? 0 : error->code;
}

const struct report report_by_label = {
	.name = "by-label",
	.command = "labels",
	.argument = REPORT_TAKES_KEY,
	.help = "The share of each value of label KEY, or of each set of labels; with another report, that one for "
		"each",
	.summary = "the share of each value of a label, or of each set of labels",
	.needs = REPORT_NEEDS_LABELS | REPORT_DIVIDES,
	.refuses = { { REPORT_GROUP, "it shows labels" } },
	.parts = { { "Label Profile", RESULT_LABELS, build } },
};
