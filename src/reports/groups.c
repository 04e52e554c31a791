#include "reports/report.h"

const struct report report_groups = {
	.name = "groups",
	.help = "Each group of functions that the source declares, with what it calls and without",
	.summary = "each group of functions, with what it calls and without",
	.refuses = { { REPORT_BY | REPORT_GROUP, "it shows all groups" } },
	.fixes_by = true,
	.by = VIEW_GROUP,
	.parts = { { "Group Profile", RESULT_NAMES, build_functions },
		   { "Group Body Profile", RESULT_NAMES, build_body } },
};
