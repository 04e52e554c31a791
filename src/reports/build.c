/* Builds results from a request: resources, sections, views, roots. */
#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/lookup.h"
#include "analyze/path_errors.h"
#include "base/name_list.h"
#include "base/quote.h"
#include "profile/companion.h"
#include "reports/ranks.h"
#include "reports/report.h"

/* --- resources and labels --- */

/* Adds the names of all groups of the profile to `list`. Returns whether one
 * fits the pattern, or ERROR_MEMORY. */
static int find_group(const struct profile *profile, const char *pattern, struct name_list *list)
{
	bool *is_listed = calloc(profile->strings.count + 1, sizeof(*is_listed));
	int fits = is_listed ? 0 : ERROR_MEMORY;
	for (size_t i = 0; i < profile->function_count && fits == 0; i++) {
		uint32_t group = profile->functions[i].group;
		const char *name = profile_string(profile, group);
		if (!name[0] || is_listed[group])
			continue;
		is_listed[group] = true;
		name_list_add(list, name);
		fits = fnmatch(pattern, name, 0) == 0;
	}
	free(is_listed);
	return fits;
}

/* Whether a function of the profile is in a group that fits the pattern. */
static int check_group(const struct profile *profile, const char *pattern, struct error *error)
{
	struct name_list list = { 0 };
	int fits = find_group(profile, pattern, &list);
	int status = 0;
	if (fits < 0)
		status = error_set(error, ERROR_MEMORY, "out of memory");
	else if (fits == 0 && list.count == 0)
		status = report_find("groups")->check(profile, error);
	else if (fits == 0)
		status = error_set(error, ERROR_NOT_FOUND, "no group %s in this profile; it has %s", QUOTE(pattern),
				   name_list_text(&list));
	name_list_release(&list);
	return status;
}

/* Replaces corrected resources by what was measured. */
static void choose_raw(struct report_request *request)
{
	for (size_t i = 0; i < request->resource_count; i++) {
		uint32_t raw = companion_of(request->profile, request->resources[i], COMPANION_RAW);
		if (raw != PROFILE_NONE)
			request->resources[i] = raw;
	}
}

int report_prepare(struct report_request *request, struct error *error)
{
	const struct report *report = request->report;
	request->label_key = LABEL_EVERY_KEY;
	if (report->fixes_by)
		request->view.by = report->by;
	if (report->needs & REPORT_NEEDS_ADDRESSES)
		request->view.keep_view_nodes = true;
	if (report_refuses(report, SETTING_ZEROS))
		request->view.zeros = false;
	int status = report->check ? report->check(request->profile, error) : 0;
	if (status == 0 && request->group)
		status = check_group(request->profile, request->group, error);
	if (status == 0 && report->choose)
		status = report->choose(request, error);
	if (status == 0 && request->is_raw)
		choose_raw(request);
	bool needs_labels = request->is_divided || (report->needs & REPORT_NEEDS_LABELS);
	/* Without a key, the lookup sets the error: the profile has no labels. */
	if (status == 0 && needs_labels && (request->key || request->profile->label_count == 0))
		status = lookup_label_key(request->profile, request->key ? request->key : "", &request->label_key,
					  error);
	return status;
}

/* --- one view --- */

static bool is_of_group(const struct view *view, uint32_t label, const char *group)
{
	const struct profile *profile = view->profile;
	uint32_t function = view->labels[label].function;
	const char *own = function == PROFILE_NONE ? "" : profile_string(profile, profile->functions[function].group);
	return own[0] && fnmatch(group, own, 0) == 0;
}

static void select_group(const struct view *view, struct path_list *list, const char *group)
{
	size_t kept = 0;
	for (size_t i = 0; i < list->count; i++) {
		const struct path_entry *entry = &list->entries[i];
		const uint32_t *labels = path_labels(list, entry);
		if (entry->length > 0 && is_of_group(view, labels[entry->length - 1], group))
			list->entries[kept++] = *entry;
	}
	list->count = kept;
}

/* Finds the root's labels. A view without hits has no functions to find. */
static int find_roots(const struct report_request *request, struct result *result, struct label_set *roots,
		      struct error *error)
{
	const struct report_source *source = request->source;
	const struct view *view = result->view;
	if (!request->root || request->report->argument == REPORT_TAKES_PATH)
		return 0;
	int status = 0;
	if (view->total > 0)
		status = source ? source->roots(source->context, view, request->root, roots, error)
				: lookup_functions(view, request->root, roots, error);
	if (status < 0 && status != ERROR_NOT_FOUND)
		return status;
	result->root = strdup(roots->name ? roots->name : request->root);
	return result->root ? status : error_set(error, ERROR_MEMORY, "out of memory");
}

static int build_part(const struct report_request *request, const struct report_part *part, struct result *result,
		      struct error *error)
{
	struct label_set roots = { 0 };
	struct error own = { 0 };
	result->type = part->type;
	result->heading = part->heading;
	int status = find_roots(request, result, &roots, &own);
	if (status == ERROR_NOT_FOUND)
		result->missing = own;
	if (status == 0 || status == ERROR_NOT_FOUND)
		status = part->build(request, &roots, result, &own);
	if (status == 0 && request->group && result->paths)
		select_group(result->view, result->paths, request->group);
	if (status == 0 && ranks_are_compared(request) && !result->missing.code)
		status = ranks_compare(request, part, &roots, result, &own);
	label_set_release(&roots);
	if (status == ERROR_NOT_FOUND) {
		result->missing = result->missing.code ? result->missing : own;
		return 0;
	}
	if (status < 0)
		*error = own;
	return status;
}

/* Sets the errors of a result from the result of the same part for the errors' view. */
static int add_errors(const struct report_request *request, const struct report_part *part, const struct view *errors,
		      struct result *result, struct error *error)
{
	struct results own = { 0 };
	struct result *found = results_add(&own, error);
	if (!found)
		return error->code;
	found->view = errors;
	int status = build_part(request, part, found, error);
	if (status == 0 && !found->missing.code && result->shares) {
		result->errors = share_errors(result->shares, found->shares, error);
		status = result->errors ? 0 : error->code;
	} else if (status == 0 && !found->missing.code) {
		const struct path_rows rows = { result->paths ? result->view : result->tree, result->paths };
		const struct path_rows those = { found->paths ? found->view : found->tree, found->paths };
		result->errors = path_errors(&rows, &those, error);
		status = result->errors ? 0 : error->code;
	}
	results_release(&own);
	return status;
}

/* Sets *errors to the view of the resource's errors, which belongs to the results, or to NULL if it has none. Returns 0 or a
 * negative error. */
static int errors_view(const struct report_request *request, const struct view_options *options,
		       struct results *results, const struct view **errors, struct error *error)
{
	struct view_options own = *options;
	*errors = NULL;
	own.resource = companion_of(request->profile, options->resource, COMPANION_ERROR);
	if (own.resource == PROFILE_NONE)
		return 0;
	*errors = results_keep_view(results, view_new(request->profile, &own, error), error);
	return *errors ? 0 : error->code;
}

/* Returns the view of these options, which the source or the results own, or NULL on error. */
static const struct view *find_view(const struct report_request *request, const struct view_options *options,
				    struct results *results, struct error *error)
{
	const struct report_source *source = request->source;
	return source ? source->view(source->context, options, error)
		      : results_keep_view(results, view_new(request->profile, options, error), error);
}

/* The same of the hits that have a rank. */
static const struct view *find_view_of_ranks(const struct report_request *request, const struct view_options *options,
					     struct results *results, struct error *error)
{
	struct view_options own = *options;
	bool *sets = rank_label_sets(request->profile, options->label_sets, error);
	own.label_sets = sets;
	own.keep_view_nodes = true;
	const struct view *view = sets ? find_view(request, &own, results, error) : NULL;
	free(sets);
	return view;
}

/* Builds all parts of the report from the hits that `options` select. `section` is NULL if the view is not a
 * section. */
static int build_view(const struct report_request *request, const struct view_options *options,
		      const struct label_group *section, struct results *results, struct error *error)
{
	const struct view *errors = NULL;
	bool over_ranks = ranks_are_compared(request);
	const struct view *view = over_ranks ? find_view_of_ranks(request, options, results, error)
					     : find_view(request, options, results, error);
	int status = !view ? error->code : over_ranks ? 0 : errors_view(request, options, results, &errors, error);
	for (size_t i = 0; i < REPORT_PARTS && request->report->parts[i].heading && status == 0; i++) {
		const struct report_part *part = &request->report->parts[i];
		struct result *result = results_add(results, error);
		if (!result)
			return error->code;
		result->view = view;
		result->is_section = section;
		if (section)
			result->section = *section;
		status = build_part(request, part, result, error);
		if (status == 0 && errors && !result->missing.code && (result->paths || result->tree || result->shares))
			status = add_errors(request, part, errors, result, error);
	}
	return status;
}

/* --- one resource --- */

size_t report_groups_shown(const struct view *view, const struct label_group_list *list, double threshold, size_t limit,
			   size_t *reaching)
{
	*reaching = 0;
	while (*reaching < list->count && (double)list->groups[*reaching].hits / (double)view->total >= threshold)
		++*reaching;
	return limit > 0 && limit < *reaching ? limit : *reaching;
}

/* Builds a section for each of the first `count` groups. */
static int build_groups(const struct report_request *request, const struct view_options *options,
			const struct label_group_list *list, size_t count, struct results *results, struct error *error)
{
	static const struct label_group none = { 0 };
	int status = 0;
	if (count == 0) /* an empty section reports that there are no groups */
		status = build_view(request, options, &none, results, error);
	for (size_t i = 0; i < count && status == 0; i++) {
		struct view_options own = *options;
		bool *sets = label_group_sets(list, i, request->profile, options->label_sets, error);
		if (!sets)
			return error->code;
		own.label_sets = sets;
		status = build_view(request, &own, &list->groups[i], results, error);
		free(sets);
	}
	if (status == 0)
		results->items[results->count - 1].sections_left_out = list->count - count;
	return status;
}

static int build_sections(const struct report_request *request, const struct view_options *options,
			  struct results *results, struct error *error)
{
	struct view *view = view_new(request->profile, options, error);
	struct label_group_list *list = view ? analyze_label_groups(view, request->label_key, error) : NULL;
	size_t reaching;
	int status = error->code;
	if (list)
		status = build_groups(request, options, list,
				      report_groups_shown(view, list, request->threshold, request->limit, &reaching),
				      results, error);
	label_group_list_free(list);
	view_free(view);
	return status;
}

int report_build_resource(const struct report_request *request, uint32_t resource, struct results *results,
			  struct error *error)
{
	struct view_options options = request->view;
	options.resource = resource;
	return request->is_divided ? build_sections(request, &options, results, error)
				   : build_view(request, &options, NULL, results, error);
}

int report_build(const struct report_request *request, struct results *results, struct error *error)
{
	const struct error *missing = NULL;
	bool found = false;
	int status = 0;
	for (size_t i = 0; i < request->resource_count && status == 0; i++)
		status = report_build_resource(request, request->resources[i], results, error);
	for (size_t i = 0; i < results->count; i++) {
		const struct result *result = &results->items[i];
		found = found || (!result->missing.code && result->view->total > 0);
		if (result->missing.code && !missing)
			missing = &result->missing;
	}
	if (status == 0 && missing && !found) {
		*error = *missing;
		status = error->code;
	}
	return status;
}
