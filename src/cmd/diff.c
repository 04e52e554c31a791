#include <stdlib.h>
#include <string.h>

#include "analyze/analyses.h"
#include "analyze/lookup.h"
#include "cmd/message.h"
#include "cmd/modes.h"
#include "cmd/profile_open.h"
#include "cmd/rows.h"

enum { SIDES = 2, SECTIONS_MAX = 2 };

/* One list to compare: of a mode, and of a root where it has one. */
struct section {
	const struct mode *mode;
	const char *root;
	bool is_optional; /* nobody asked for this root: it may be absent */
};

/* One resource that both profiles have. */
struct part {
	uint32_t resources[SIDES];
	struct view *views[SIDES];               /* owned */
	struct diff_list *changes[SECTIONS_MAX]; /* owned */
};

/*
 * Everything that can fail is done before the first line is printed: find_parts,
 * then compare_part for each, then print.
 */
struct diff {
	struct invocation *invocation;
	struct profile *profiles[SIDES];
	struct view_request request; /* its resources are those of profiles[0] */
	struct section sections[SECTIONS_MAX];
	size_t section_count;
	struct part *parts; /* owned */
	size_t part_count;
};

static int choose_sections(struct diff *diff)
{
	const struct invocation *invocation = diff->invocation;
	for (size_t i = 0; i < invocation->use_count; i++) {
		const struct option_use *use = &invocation->uses[i];
		if (use->option->id < OPTION_OWN)
			continue;
		if (diff->section_count > 0)
			return usage_error(invocation, "--functions, --body, --down and --up do not go together");
		diff->sections[diff->section_count++] =
			(struct section){ .mode = mode_find(use->option->id), .root = use->value };
	}
	if (diff->section_count == 0) {
		diff->sections[diff->section_count++] = (struct section){ .mode = mode_find(OPTION_FUNCTIONS) };
		diff->sections[diff->section_count++] =
			(struct section){ .mode = mode_find(OPTION_DOWN), .root = "main", .is_optional = true };
	}
	return EXIT_DONE;
}

/* The list of one side. A root that only the other side has gives an empty one;
 * `*lacking` then counts up. NULL: `error`. */
static struct path_list *list_of(const struct section *section, const struct view *view, int *lacking,
				 struct error *error)
{
	struct label_set roots = { 0 };
	int result = section->root ? lookup_functions(view, section->root, &roots, error) : 0;
	if (result == ERROR_NOT_FOUND || (result == ERROR_AMBIGUOUS && section->is_optional))
		(*lacking)++;
	else if (result < 0)
		return NULL;
	struct path_list *list = section->mode->analyze(view, &roots, error);
	label_set_release(&roots);
	return list;
}

static int compare_section(const struct diff *diff, const struct section *section, struct view *const views[SIDES],
			   struct diff_list **changes)
{
	struct error error = { 0 };
	int lacking = 0;
	struct path_list *a = list_of(section, views[0], &lacking, &error);
	struct path_list *b = a ? list_of(section, views[1], &lacking, &error) : NULL;
	bool is_missing = lacking == SIDES && views[0]->total + views[1]->total > 0;
	if (a && b && (!is_missing || section->is_optional))
		*changes = analyze_diff(views[0], a, views[1], b, &error);
	if (*changes && is_missing)
		notice(diff->invocation, "no function '%s' in either profile: --down FN compares other paths",
		       section->root);
	path_list_free(a);
	path_list_free(b);
	return *changes ? EXIT_DONE : failure_of(diff->invocation, &error);
}

static int compare_part(struct diff *diff, struct part *part)
{
	struct error error = { 0 };
	int status = EXIT_DONE;
	for (size_t side = 0; side < SIDES; side++) {
		diff->request.view.resource = part->resources[side];
		part->views[side] = view_new(diff->profiles[side], &diff->request.view, &error);
		if (!part->views[side])
			return failure_of(diff->invocation, &error);
	}
	for (size_t i = 0; i < diff->section_count && status == EXIT_DONE; i++)
		status = compare_section(diff, &diff->sections[i], part->views, &part->changes[i]);
	return status;
}

static const char *resource_name(const struct profile *profile, uint32_t resource)
{
	return profile_string(profile, profile->resources[resource].name);
}

static const char *resource_unit(const struct profile *profile, uint32_t resource)
{
	return profile_string(profile, profile->resources[resource].unit);
}

/* The same resource in profile B, or PROFILE_NONE with the reason in `error`. */
static uint32_t other_resource(const struct diff *diff, uint32_t resource, struct error *error)
{
	const struct profile *a = diff->profiles[0], *b = diff->profiles[1];
	const char *name = resource_name(a, resource);
	uint32_t other = profile_find_resource(b, name);
	if (other == PROFILE_NONE) {
		error_set(error, ERROR_NOT_FOUND, "'%s' has no resource '%s'", diff->invocation->arguments[1], name);
		return PROFILE_NONE;
	}
	if (strcmp(resource_unit(a, resource), resource_unit(b, other)) == 0)
		return other;
	error_set(error, ERROR_NOT_FOUND, "resource '%s' is counted in '%s' in one profile and in '%s' in the other",
		  name, resource_unit(a, resource), resource_unit(b, other));
	return PROFILE_NONE;
}

/* Without -r, what only one profile has is left out, but not silently. */
static int find_parts(struct diff *diff)
{
	const struct view_request *request = &diff->request;
	bool is_asked = option_given(diff->invocation, OPTION_RESOURCE);
	diff->parts = calloc(request->resource_count + 1, sizeof(*diff->parts));
	if (!diff->parts)
		return failure(diff->invocation, "out of memory");
	struct error errors[2] = { 0 }; /* the first, and the current one */
	for (size_t i = 0; i < request->resource_count; i++) {
		errors[1] = (struct error){ 0 };
		uint32_t other = other_resource(diff, request->resources[i], &errors[1]);
		if (other != PROFILE_NONE) {
			struct part *part = &diff->parts[diff->part_count++];
			*part = (struct part){ .resources = { request->resources[i], other } };
			continue;
		}
		if (is_asked)
			return failure_of(diff->invocation, &errors[1]);
		if (!errors[0].code)
			errors[0] = errors[1];
	}
	if (diff->part_count == 0 && errors[0].code)
		return failure(diff->invocation, "the profiles have no resource in common: %s", errors[0].message);
	if (errors[0].code)
		notice(diff->invocation, "not every resource is compared: %s", errors[0].message);
	return EXIT_DONE;
}

static void print(struct diff *diff)
{
	struct render_options *render = &diff->request.render;
	size_t printed = 0, count = diff->section_count * diff->part_count;
	for (size_t i = 0; i < diff->part_count; i++) {
		const struct part *part = &diff->parts[i];
		for (size_t k = 0; k < diff->section_count; k++) {
			render->no_header = printed > 0;
			render_separate(stdout, render->format, printed++, count);
			render_diff(stdout, diff->sections[k].mode->heading, part->views[0], part->views[1],
				    part->changes[k], render);
		}
	}
	render_separate(stdout, render->format, count, count);
}

static void release(struct diff *diff)
{
	for (size_t i = 0; i < diff->part_count; i++) {
		for (size_t k = 0; k < SECTIONS_MAX; k++)
			diff_list_free(diff->parts[i].changes[k]);
		for (size_t side = 0; side < SIDES; side++)
			view_free(diff->parts[i].views[side]);
	}
	free(diff->parts);
	view_request_release(&diff->request);
	for (size_t side = 0; side < SIDES; side++)
		profile_free(diff->profiles[side]);
}

static int run(struct invocation *invocation)
{
	struct diff diff = { .invocation = invocation };
	struct error error = { 0 };
	int status = choose_sections(&diff);
	for (size_t side = 0; side < SIDES && status == EXIT_DONE; side++) {
		diff.profiles[side] = profile_open(invocation, invocation->arguments[side]);
		status = diff.profiles[side] ? EXIT_DONE : EXIT_FAILED;
	}
	if (status == EXIT_DONE && view_request_init(&diff.request, invocation, diff.profiles[0], &error) < 0)
		status = failure_of(invocation, &error);
	if (status == EXIT_DONE)
		status = find_parts(&diff);
	for (size_t i = 0; i < diff.part_count && status == EXIT_DONE; i++)
		status = compare_part(&diff, &diff.parts[i]);
	if (status == EXIT_DONE)
		print(&diff);
	release(&diff);
	return status;
}

static const char *const usage[] = { "[--functions|--body|--down FN|--up FN] [OPTION]... A B", NULL };

static const struct command_option options[] = {
	ROWS_MODES("Each function with what it calls; the default is this and --down main"),
	ROW_RESOURCES("all of A"),
	ROW_THRESHOLD,
	ROW_LIMIT,
	ROW_BY,
	ROWS_FRAMES,
	ROW_FORMAT("text, json or csv"),
	{ 0 },
};

static const struct command_example examples[] = {
	{ "cpprof diff cpprof.data.old cpprof.data", "what the last change to the program did" },
	{ "cpprof diff --down parse -r cpu a.data b.data", "for the call paths below one function" },
	{ 0 },
};

const struct command command_diff = {
	.name = "diff",
	.task = TASK_COMPARE,
	.summary = "compare two profiles, and tell changes from noise",
	.usage = usage,
	.options = options,
	.examples = examples,
	.argument_min = 2,
	.argument_max = 2,
	.run = run,
};
