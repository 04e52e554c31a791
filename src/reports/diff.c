#include "reports/diff.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/lookup.h"
#include "base/array.h"
#include "base/name_list.h"
#include "profile/companion.h"

/* One resource of all profiles. The arrays have a place for each profile, the profiles of A first. */
struct comparison {
	const struct diff_request *request;
	size_t count; /* profiles of both sides */
	uint32_t *resources;
	const struct view **views; /* the views belong to the results */
	struct result *sides;      /* per profile: the list that is compared; each is released when it was */
	struct diff_run *runs;
	struct diff_list **lists; /* all lists so far, for the marks; they belong to the results */
	size_t list_count, list_capacity;
	/* For each of the request's paths: whether a list has an entry with it, and else the reason why a view does not. */
	bool *path_found;
	struct error *path_errors;
};

static const char *resource_name(const struct profile *profile, uint32_t resource)
{
	return profile_string(profile, profile->resources[resource].name);
}

static const char *resource_unit(const struct profile *profile, uint32_t resource)
{
	return profile_string(profile, profile->resources[resource].unit);
}

static const char *name_of(const struct comparison *comparison, size_t recording)
{
	const struct diff_request *request = comparison->request;
	return request->names ? request->names[recording] : recording < request->counts[DIFF_A] ? "A" : "B";
}

static int resource_missing(const struct profile *profile, const char *of, const char *name, struct error *error)
{
	struct name_list all = { 0 };
	for (uint32_t i = 0; i < profile->resource_count; i++)
		name_list_add(&all, resource_name(profile, i));
	error_set(error, ERROR_NOT_FOUND, "'%s' has no resource '%s'%s%s", of, name, all.count ? "; it has " : "",
		  all.count ? name_list_text(&all) : "");
	name_list_release(&all);
	return ERROR_NOT_FOUND;
}

/* Sets `resources` to the indexes of this resource of the first profile in all profiles. Returns 0, or ERROR_NOT_FOUND with the
 * reason in `error`. */
static int find_resource(struct comparison *comparison, uint32_t resource, struct error *error)
{
	const struct diff_request *request = comparison->request;
	const struct profile *first = request->profiles[0];
	const char *name = resource_name(first, resource);
	for (size_t i = 0; i < comparison->count; i++) {
		const struct profile *profile = request->profiles[i];
		uint32_t other = i == 0 ? resource : profile_find_resource(profile, name);
		if (other == PROFILE_NONE)
			return resource_missing(profile, name_of(comparison, i), name, error);
		if (strcmp(resource_unit(first, resource), resource_unit(profile, other)) != 0)
			return error_set(error, ERROR_NOT_FOUND,
					 "resource '%s' is counted in '%s' in one profile and in '%s' in the other",
					 name, resource_unit(first, resource), resource_unit(profile, other));
		comparison->resources[i] = other;
	}
	return 0;
}

/* Builds the list of one profile, for one part of the section's report. If the profile does not have the root, the list is
 * empty and *lacking is incremented. */
static int build_side(const struct diff_section *section, const struct report_part *part, const struct view *view,
		      struct result *side, size_t *lacking, struct error *error)
{
	const struct report_request request = { .report = section->report, .profile = view->profile };
	struct label_set roots = { 0 };
	*side = (struct result){ .type = part->type, .view = view };
	int status = section->root ? lookup_functions(view, section->root, &roots, error) : 0;
	if (status == ERROR_NOT_FOUND || (section->is_default && (status == ERROR_AMBIGUOUS || status == ERROR_USAGE)))
		++*lacking;
	else if (status < 0)
		return status;
	status = part->build(&request, &roots, side, error);
	label_set_release(&roots);
	return status;
}

/* Looks up the paths in the view of one recording. `paths` has room for all. */
static int read_paths(struct comparison *comparison, size_t run, struct lookup_what_if *paths, struct error *error)
{
	const struct diff_request *request = comparison->request;
	*paths = (struct lookup_what_if){ .paths = calloc(request->path_count, sizeof(*paths->paths)) };
	if (!paths->paths)
		return error_set(error, ERROR_MEMORY, "out of memory");
	paths->count = request->path_count;
	for (size_t i = 0; i < request->path_count; i++) {
		struct lookup_what_if one;
		struct error reason = { 0 };
		int status = lookup_path_init(&one, comparison->views[run], request->paths[i], &reason);
		if (status == 0) {
			paths->paths[i] = one.paths[0];
			free(one.paths);
		} else if (status == ERROR_NOT_FOUND) {
			comparison->path_errors[i] = reason;
		} else {
			return error_set(error, status, "%s", reason.message);
		}
	}
	return 0;
}

/* Keeps the entries with the requested paths. */
static int select_paths(struct comparison *comparison, struct diff_list *list, struct error *error)
{
	if (comparison->request->path_count == 0)
		return 0;
	struct lookup_what_if *paths = calloc(comparison->count, sizeof(*paths));
	if (!paths)
		return error_set(error, ERROR_MEMORY, "out of memory");
	int status = 0;
	for (size_t run = 0; run < comparison->count && status == 0; run++)
		status = read_paths(comparison, run, &paths[run], error);
	if (status == 0)
		diff_select_paths(list, paths, comparison->path_found);
	for (size_t run = 0; run < comparison->count; run++)
		lookup_what_if_release(&paths[run]);
	free(paths);
	return status;
}

static int check_paths(const struct comparison *comparison, struct error *error)
{
	for (size_t i = 0; i < comparison->request->path_count; i++) {
		if (comparison->path_found[i])
			continue;
		if (comparison->path_errors[i].code)
			*error = comparison->path_errors[i];
		else
			error_set(error, ERROR_NOT_FOUND,
				  "no compared list has the entry '%s' (a function, or a call path from main on, as "
				  "'main;parse'; --down FN compares those from FN on)",
				  comparison->request->paths[i]);
		return error->code;
	}
	return 0;
}

/* Returns the mean total of A in gticks. */
static double mean_total(const struct comparison *comparison)
{
	double sum = 0;
	for (size_t run = 0; run < comparison->request->counts[DIFF_A]; run++)
		sum += (double)comparison->views[run]->total * (double)comparison->views[run]->resource->interval;
	return sum / (double)comparison->request->counts[DIFF_A];
}

static int compare_lists(struct comparison *comparison, const struct diff_section *section,
			 const struct report_part *part, struct result *result, struct error *error)
{
	size_t lacking = 0, built = 0;
	uint64_t hits = 0;
	int status = 0;
	for (; built < comparison->count && status == 0; built++) {
		const struct view *view = comparison->views[built];
		status = build_side(section, part, view, &comparison->sides[built], &lacking, error);
		comparison->runs[built] = (struct diff_run){ view, comparison->sides[built].paths,
							     comparison->request->shares ? mean_total(comparison) : 0,
							     comparison->request->spread };
		hits += view->total;
	}
	if (status == 0 && lacking == comparison->count && hits > 0) {
		if (section->is_default)
			error_set(&result->missing, ERROR_NOT_FOUND, "no function '%s' in any profile", section->root);
		else
			status = error->code;
	}
	if (status == 0) {
		result->changes = analyze_diff(comparison->runs, comparison->request->counts, error);
		status = result->changes ? select_paths(comparison, result->changes, error) : error->code;
	}
	for (size_t i = 0; i < built; i++)
		path_list_free(comparison->sides[i].paths);
	return status;
}

static int compare_part(struct comparison *comparison, const struct diff_section *section,
			const struct report_part *part, struct results *results, struct error *error)
{
	struct error own = { 0 };
	struct result *result = results_add(results, error);
	if (!result)
		return error->code;
	*result = (struct result){ .type = &result_changes, .heading = part->heading, .view = comparison->views[0] };
	int status = compare_lists(comparison, section, part, result, &own);
	if (status == 0 && ARRAY_RESERVE(comparison->lists, comparison->list_capacity, comparison->list_count + 1) < 0)
		status = error_set(&own, ERROR_MEMORY, "out of memory");
	if (status < 0)
		*error = own;
	else if (comparison->request->path_count > 0 && result->changes->count == 0)
		results_drop_last(results);
	else
		comparison->lists[comparison->list_count++] = result->changes;
	return status;
}

static int make_views(struct comparison *comparison, const struct report *report, struct results *results,
		      struct error *error)
{
	for (size_t i = 0; i < comparison->count; i++) {
		struct view_options options = comparison->request->views[i];
		options.resource = comparison->resources[i];
		options.zeros = false; /* a path that one side lacks counts as 0 */
		if (report->fixes_by)
			options.by = report->by;
		struct view *view = view_new(comparison->request->profiles[i], &options, error);
		comparison->views[i] = results_keep_view(results, view, error);
		if (!comparison->views[i])
			return error->code;
	}
	return 0;
}

static int compare_resource(struct comparison *comparison, struct results *results, struct error *error)
{
	const struct diff_request *request = comparison->request;
	int status = 0;
	for (size_t i = 0; i < request->section_count && status == 0; i++) {
		const struct diff_section *section = &request->sections[i];
		if (i == 0 || section->report->fixes_by)
			status = make_views(comparison, section->report, results, error);
		for (size_t k = 0; k < REPORT_PARTS && section->report->parts[k].heading && status == 0; k++)
			status = compare_part(comparison, section, &section->report->parts[k], results, error);
	}
	return status;
}

/* Sets *uncompared to the reason why a resource that the first profile lacks is not compared. */
static void find_added(const struct comparison *comparison, struct error *uncompared)
{
	const struct diff_request *request = comparison->request;
	for (size_t i = 1; i < comparison->count && !uncompared->code; i++)
		for (uint32_t k = 0; k < request->profiles[i]->resource_count && !uncompared->code; k++) {
			const char *name = resource_name(request->profiles[i], k);
			if (!companion_is(request->profiles[i], k) &&
			    profile_find_resource(request->profiles[0], name) == PROFILE_NONE)
				resource_missing(request->profiles[0], name_of(comparison, 0), name, uncompared);
		}
}

/* Looks up all resources before the first view is made. */
static int check_resources(struct comparison *comparison, struct error *uncompared, struct error *error)
{
	const struct diff_request *request = comparison->request;
	size_t compared = 0;
	*uncompared = (struct error){ 0 };
	for (size_t i = 0; i < request->resource_count; i++) {
		struct error reason = { 0 };
		if (find_resource(comparison, request->resources[i], &reason) == 0)
			compared++;
		else if (!uncompared->code)
			*uncompared = reason;
	}
	if (!uncompared->code && !request->resources_named)
		find_added(comparison, uncompared);
	if (uncompared->code && request->resources_named) {
		*error = *uncompared;
		return error->code;
	}
	if (uncompared->code && request->is_gate)
		return error_set(error, ERROR_USAGE, "%s, and a gate compares all resources (-r chooses some)",
				 uncompared->message);
	if (compared == 0 && uncompared->code)
		return error_set(error, ERROR_NOT_FOUND, "the profiles have no resource in common: %s",
				 uncompared->message);
	return 0;
}

static int check_reports(const struct comparison *comparison, struct error *error)
{
	const struct diff_request *request = comparison->request;
	int status = 0;
	for (size_t i = 0; i < request->section_count; i++) {
		const struct report *report = request->sections[i].report;
		for (size_t k = 0; k < comparison->count && status == 0 && report->check; k++)
			status = report->check(request->profiles[k], error);
	}
	return status;
}

/* The reason why a gate refuses single recordings, and the remedy. */
#define UNKNOWN_SPREAD "single recordings do not show how much equal programs differ"
#define SEVERAL "several of each side: A1 A2 A3 -- B1 B2 B3"

/* Refuses recordings that were to have exact counts, and lack a part of the run or some events. */
static int check_wholeness(const struct comparison *comparison, const struct diff_list *list, struct error *error)
{
	for (size_t i = 0; i < comparison->count; i++) {
		const struct view *view = list->views[i];
		const struct profile_finding *part = diff_missing_part(view);
		uint64_t all = 0, lost = diff_lost_events(view, &all);
		if (part)
			return error_set(error, ERROR_USAGE,
					 "'%s' does not have the whole run (%s), and " UNKNOWN_SPREAD " (" SEVERAL ")",
					 name_of(comparison, i), profile_string(view->profile, part->text));
		if (lost > 0)
			return error_set(
				error, ERROR_USAGE,
				"'%s' lost %" PRIu64 " of %" PRIu64 " %s, and without these a single recording "
				"is not exact (record again, or with --backend bpf, or " SEVERAL ")",
				name_of(comparison, i), lost, all, profile_string(view->profile, view->resource->name));
	}
	return 0;
}

/* Amounts that differ between equal runs need several recordings of each side. Returns ERROR_USAGE with the reason if it has fewer. */
static int check_recordings(const struct comparison *comparison, const struct diff_list *list, struct error *error)
{
	if (list->is_repeatable || (list->runs[DIFF_A] > 1 && list->runs[DIFF_B] > 1))
		return 0;
	if (check_wholeness(comparison, list, error) < 0)
		return error->code;
	const struct profile_resource *resource = list->views[0]->resource;
	for (size_t i = 0; i < comparison->count && resource->kind == RESOURCE_EXACT; i++)
		resource = list->views[i]->resource;
	bool is_counted =
		resource->kind == RESOURCE_EXACT || (resource->kind == RESOURCE_SAMPLED && resource->interval == 1);
	const char *how = resource->kind == RESOURCE_SUMS ? "is the sum of an unknown number of samples"
			  : is_counted                    ? "depends on the machine too"
							  : "is sampled";
	return error_set(error, ERROR_USAGE, "resource '%s' %s, and " UNKNOWN_SPREAD " (" SEVERAL ")",
			 profile_string(list->views[0]->profile, list->views[0]->resource->name), how);
}

/* Marks the entries that exceed the limit. What the end of a recording lacks would look like an improvement. */
static int gate(const struct comparison *comparison, struct error *error)
{
	const struct diff_request *request = comparison->request;
	for (size_t k = 0; k < comparison->count; k++)
		if (!request->profiles[k]->ended)
			return error_set(error, ERROR_TRUNCATED,
					 "'%s' is incomplete: a gate needs whole recordings (record again)",
					 request->names[k]);
	for (size_t i = 0; i < comparison->list_count; i++) {
		struct diff_list *list = comparison->lists[i];
		if (check_recordings(comparison, list, error) < 0)
			return error->code;
		diff_gate(list, request->limit, request->threshold);
	}
	return 0;
}

static int compare_all(struct comparison *comparison, struct results *results, struct error *uncompared,
		       struct error *error)
{
	const struct diff_request *request = comparison->request;
	int status = check_reports(comparison, error);
	if (status == 0)
		status = check_resources(comparison, uncompared, error);
	for (size_t i = 0; i < request->resource_count && status == 0; i++)
		if (find_resource(comparison, request->resources[i], NULL) == 0)
			status = compare_resource(comparison, results, error);
	if (status == 0 && diff_mark(comparison->lists, comparison->list_count, request->chance) < 0)
		status = error_set(error, ERROR_MEMORY, "cannot compare the profiles: out of memory");
	if (status == 0)
		status = check_paths(comparison, error);
	return status == 0 && request->is_gate ? gate(comparison, error) : status;
}

int diff_build(const struct diff_request *request, struct results *results, struct error *uncompared,
	       struct error *error)
{
	size_t count = request->counts[DIFF_A] + request->counts[DIFF_B];
	struct comparison comparison = {
		.request = request,
		.count = count,
		.resources = calloc(count, sizeof(*comparison.resources)),
		.views = calloc(count, sizeof(*comparison.views)),
		.sides = calloc(count, sizeof(*comparison.sides)),
		.runs = calloc(count, sizeof(*comparison.runs)),
		.path_found = calloc(request->path_count + 1, sizeof(*comparison.path_found)),
		.path_errors = calloc(request->path_count + 1, sizeof(*comparison.path_errors)),
	};
	bool ready = comparison.resources && comparison.views && comparison.sides && comparison.runs &&
		     comparison.path_found && comparison.path_errors;
	int status = ready ? compare_all(&comparison, results, uncompared, error)
			   : error_set(error, ERROR_MEMORY, "cannot compare the profiles: out of memory");
	free(comparison.resources);
	free(comparison.views);
	free(comparison.sides);
	free(comparison.runs);
	free(comparison.lists);
	free(comparison.path_found);
	free(comparison.path_errors);
	return status;
}
