#include "reports/report.h"

#include <string.h>

const struct report *const reports[] = {
#define X(name) &report_##name,
	REPORTS(X)
#undef X
		NULL,
};

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
