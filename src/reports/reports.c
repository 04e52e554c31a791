/* The table of reports: one line for each report, which is defined in NAME.c. The build reads the names from here. */
#include <string.h>

#include "reports/report.h"

#define REPORTS(X)    \
	X(functions)  \
	X(summary)    \
	X(body)       \
	X(down)       \
	X(up)         \
	X(tree)       \
	X(source)     \
	X(lines)      \
	X(asm)        \
	X(counts)     \
	X(pages)      \
	X(call_graph) \
	X(modules)    \
	X(processes)  \
	X(threads)    \
	X(by_label)   \
	X(groups)     \
	X(what_if)

#define X(name) extern const struct report report_##name;
REPORTS(X)
#undef X

const struct report *const reports[] = {
#define X(name) &report_##name,
	REPORTS(X)
#undef X
		NULL,
};
_Static_assert(sizeof(reports) / sizeof(reports[0]) <= REPORTS_MAX + 1, "tables of REPORTS_MAX rows overflow");

const struct report *report_find(const char *name)
{
	for (size_t i = 0; reports[i]; i++)
		if (strcmp(reports[i]->name, name) == 0)
			return reports[i];
	return NULL;
}

const char *report_refuses(const struct report *report, unsigned options)
{
	for (size_t i = 0; i < REPORT_REFUSALS && report->refuses[i].options; i++)
		if (report->refuses[i].options & options)
			return report->refuses[i].reason;
	return NULL;
}

bool report_is_list(const struct report *report)
{
	for (size_t i = 0; i < REPORT_PARTS && report->parts[i].heading; i++)
		if (report->parts[i].type != &result_names && report->parts[i].type != &result_paths)
			return false;
	return true;
}
