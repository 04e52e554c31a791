#include "reports/report.h"

static int check(const struct profile *profile, struct error *error)
{
	for (size_t i = 0; i < profile->function_count; i++)
		if (profile_string(profile, profile->functions[i].group)[0])
			return 0;
	return error_set(error, ERROR_NOT_FOUND,
			 "no function of this profile belongs to a group (the source declares groups: docs/source.md)");
}

const struct report report_groups = {
	.name = "groups",
	.help = "Each group of functions that the source declares, with what it calls and without",
	.summary = "each group of functions, with what it calls and without",
	.refuses = { { REPORT_BY | REPORT_GROUP, "it shows all groups" } },
	.fixes_by = true,
	.by = VIEW_GROUP,
	.check = check,
	.parts = { { "Group Profile", &result_names, build_functions },
		   { "Group Body Profile", &result_names, build_body } },
};
