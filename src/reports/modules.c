#include "reports/report.h"

const struct report report_modules = {
	.name = "modules",
	.help = "Each program and library, with what it calls and without",
	.summary = "each program and library, with what it calls and without",
	.refuses = { { REPORT_BY, "it shows modules" } },
	.fixes_by = true,
	.by = VIEW_MODULE,
	.parts = { { "Module Profile", &result_names, build_functions },
		   { "Module Body Profile", &result_names, build_body } },
};
