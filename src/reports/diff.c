#include "reports/diff.h"

#include <string.h>

/* One resource: its index and its view in each profile. */
struct pair {
	uint32_t resources[DIFF_SIDES];
	const struct view *views[DIFF_SIDES];
};

static const char *resource_name(const struct profile *profile, uint32_t resource)
{
	return profile_string(profile, profile->resources[resource].name);
}

static const char *resource_unit(const struct profile *profile, uint32_t resource)
{
	return profile_string(profile, profile->resources[resource].unit);
}

/* Returns the same resource of profile B, or PROFILE_NONE with the reason in `error`. */
static uint32_t other_resource(const struct diff_request *request, uint32_t resource, struct error *error)
{
	const struct profile *a = request->profiles[0], *b = request->profiles[1];
	const char *name = resource_name(a, resource);
	uint32_t other = profile_find_resource(b, name);
	if (other == PROFILE_NONE) {
		error_set(error, ERROR_NOT_FOUND, "'%s' has no resource '%s'", request->name_b, name);
		return PROFILE_NONE;
	}
	if (strcmp(resource_unit(a, resource), resource_unit(b, other)) == 0)
		return other;
	error_set(error, ERROR_NOT_FOUND, "resource '%s' is counted in '%s' in one profile and in '%s' in the other",
		  name, resource_unit(a, resource), resource_unit(b, other));
	return PROFILE_NONE;
}

/* Builds the list of one side, for one part of the section's report. If the side does not have the root, the list is
 * empty and *lacking is incremented. */
static int build_side(const struct diff_section *section, const struct report_part *part, const struct view *view,
		      struct result *side, size_t *lacking, struct error *error)
{
	const struct report_request request = { .report = section->report, .profile = view->profile };
	struct label_set roots = { 0 };
	side->type = part->type;
	side->view = view;
	int status = section->root ? lookup_functions(view, section->root, &roots, error) : 0;
	if (status == ERROR_NOT_FOUND || (section->is_default && (status == ERROR_AMBIGUOUS || status == ERROR_USAGE)))
		++*lacking;
	else if (status < 0)
		return status;
	status = part->build(&request, &roots, side, error);
	label_set_release(&roots);
	return status;
}

static int compare_lists(const struct diff_section *section, const struct report_part *part, const struct pair *pair,
			 struct result sides[DIFF_SIDES], struct result *result, struct error *error)
{
	size_t lacking = 0;
	int status = 0;
	for (size_t side = 0; side < DIFF_SIDES && status == 0; side++)
		status = build_side(section, part, pair->views[side], &sides[side], &lacking, error);
	if (status < 0)
		return status;
	if (lacking == DIFF_SIDES && pair->views[0]->total + pair->views[1]->total > 0) {
		if (!section->is_default)
			return error->code;
		error_set(&result->missing, ERROR_NOT_FOUND, "no function '%s' in either profile", section->root);
	}
	result->changes = analyze_diff(pair->views[0], sides[0].paths, pair->views[1], sides[1].paths, error);
	return result->changes ? 0 : error->code;
}

static int compare_part(const struct diff_section *section, const struct report_part *part, const struct pair *pair,
			struct results *results, struct error *error)
{
	struct result sides[DIFF_SIDES] = { 0 };
	struct error own = { 0 };
	struct result *result = results_add(results, error);
	if (!result)
		return error->code;
	*result = (struct result){
		.type = RESULT_DIFF, .heading = part->heading, .view = pair->views[0], .other = pair->views[1]
	};
	int status = compare_lists(section, part, pair, sides, result, &own);
	for (size_t side = 0; side < DIFF_SIDES; side++)
		path_list_free(sides[side].paths);
	if (status < 0)
		*error = own;
	return status;
}

static int make_views(const struct diff_request *request, const struct report *report, struct pair *pair,
		      struct results *results, struct error *error)
{
	for (size_t side = 0; side < DIFF_SIDES; side++) {
		struct view_options options = request->view;
		options.resource = pair->resources[side];
		if (report->fixes_by)
			options.by = report->by;
		pair->views[side] =
			results_keep_view(results, view_new(request->profiles[side], &options, error), error);
		if (!pair->views[side])
			return error->code;
	}
	return 0;
}

static int compare_resource(const struct diff_request *request, struct pair *pair, struct results *results,
			    struct error *error)
{
	int status = 0;
	for (size_t i = 0; i < request->section_count && status == 0; i++) {
		const struct diff_section *section = &request->sections[i];
		if (i == 0 || section->report->fixes_by)
			status = make_views(request, section->report, pair, results, error);
		for (size_t k = 0; k < REPORT_PARTS && section->report->parts[k].heading && status == 0; k++)
			status = compare_part(section, &section->report->parts[k], pair, results, error);
	}
	return status;
}

int diff_build(const struct diff_request *request, struct results *results, struct error *uncompared,
	       struct error *error)
{
	int status = 0;
	size_t compared = 0;
	*uncompared = (struct error){ 0 };
	for (size_t i = 0; i < request->section_count * DIFF_SIDES && status == 0; i++) {
		const struct report *report = request->sections[i / DIFF_SIDES].report;
		status = report->check ? report->check(request->profiles[i % DIFF_SIDES], error) : 0;
	}
	if (status < 0)
		return status;
	/* All resources are looked up before the first view is made. */
	for (size_t i = 0; i < request->resource_count; i++) {
		struct error reason = { 0 };
		if (other_resource(request, request->resources[i], &reason) != PROFILE_NONE)
			compared++;
		else if (!uncompared->code)
			*uncompared = reason;
	}
	if (uncompared->code && request->resources_named) {
		*error = *uncompared;
		return error->code;
	}
	if (compared == 0 && uncompared->code)
		return error_set(error, ERROR_NOT_FOUND, "the profiles have no resource in common: %s",
				 uncompared->message);
	for (size_t i = 0; i < request->resource_count && status == 0; i++) {
		struct pair pair = { .resources = { request->resources[i] } };
		pair.resources[1] = other_resource(request, request->resources[i], NULL);
		if (pair.resources[1] != PROFILE_NONE)
			status = compare_resource(request, &pair, results, error);
	}
	return status;
}
