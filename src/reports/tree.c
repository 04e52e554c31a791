#include "analyze/subtree.h"
#include "reports/report.h"

static int build(const struct report_request *request, const struct label_set *roots, struct result *result,
		 struct error *error)
{
	result->tree = result->view;
	if (request->root)
		result->tree = result->subtree = subtree_new(result->view, roots, error);
	return result->tree ? 0 : error->code;
}

const struct report report_tree = {
	.name = "tree",
	.letter = 'T',
	.argument = REPORT_TAKES_SUBTREE,
	.help = "The tree of all call paths",
	.summary = "the sample tree, or the part of it below a function",
	.detail = "Below a function: its outermost calls are taken together as one tree; fractions\n"
		  "are of the whole selection. Names are as for 'down'.\n",
	.refuses = { { REPORT_GROUP, "it shows whole paths" } },
	.parts = { { "Sample Tree Profile", RESULT_TREE, build } },
};
