#include "reports/report.h"

static int check(const struct profile *profile, struct error *error)
{
	uint32_t lines = profile_find_resource(profile, "lines");
	if (lines == PROFILE_NONE)
		return error_set(error, ERROR_NOT_FOUND,
				 "no executions of lines were counted (compile with -g -fsanitize-coverage=trace-pc "
				 "(gcc) or -fsanitize-coverage=trace-pc-guard,pc-table,no-prune (clang; link without "
				 "it), and record with --instrumented=blocks)");
	if (profile->resources[lines].total == 0)
		return error_set(error, ERROR_NOT_FOUND,
				 "no executions of lines were counted: no block with a hook was executed, or the "
				 "program was compiled without -g");
	return 0;
}

/* The executions of lines are a separate resource. */
static int choose(struct report_request *request, struct error *error)
{
	uint32_t lines = profile_find_resource(request->profile, "lines");
	if (request->resources_named && (request->resource_count != 1 || request->resources[0] != lines))
		return error_set(error, ERROR_USAGE,
				 "executions of lines are counted by the resource 'lines' alone (-r lines)");
	request->resources[0] = lines;
	request->resource_count = 1;
	return 0;
}

static int build(const struct report_request *request, const struct label_set *roots, struct result *result,
		 struct error *error)
{
	(void)request;
	if (roots->count > 0) {
		result->lines = analyze_line_counts(result->view, roots, error);
		if (!result->lines)
			return error->code;
	}
	if (result->lines && result->lines->count > 0)
		return 0;
	return error_set(error, ERROR_NOT_FOUND,
			 "no lines of '%s' were counted: its code has no hooks at its blocks, or no line table",
			 result->root);
}

const struct report report_counts = {
	.name = "counts",
	.argument = REPORT_TAKES_FUNCTION,
	.help = "With --source: how often each line was executed, of all threads",
	.summary = "how often each source line of a function was executed",
	.detail = "Names are as for 'down'.\n",
	.refines = "source",
	.refuses = { { REPORT_THRESHOLD | REPORT_LIMIT | REPORT_BY | REPORT_GROUP | REPORT_BY_LABEL | REPORT_SELECTION,
		       "it shows all lines of a function, as all threads together executed them" } },
	.fixes_by = true,
	.by = VIEW_FUNCTION,
	.check = check,
	.choose = choose,
	.parts = { { "Line Count Profile", RESULT_LINE_COUNTS, build } },
};
