#include <stdlib.h>
#include <string.h>

#include "analyze/analyses.h"
#include "cmd/message.h"
#include "cmd/modes.h"
#include "cmd/profile_open.h"
#include "cmd/rows.h"
#include "explore/selection.h"

enum { SIDES = 2, SECTIONS_MAX = 2 };

/* One list to compare: of a mode, and of a root where it has one. */
struct section {
	const struct mode *mode;
	const char *root;
	bool is_optional; /* nobody asked for this root: it may be absent */
};

struct diff {
	struct invocation *invocation;
	struct profile *profiles[SIDES];
	struct view_request request; /* its resources are those of profiles[0] */
	struct section sections[SECTIONS_MAX];
	size_t section_count;
	size_t printed;
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
	int result = section->root ? selection_labels(view, section->root, &roots, error) : 0;
	if (result == ERROR_NOT_FOUND)
		(*lacking)++;
	else if (result < 0)
		return NULL;
	struct path_list *list = section->mode->analyze(view, &roots, error);
	label_set_release(&roots);
	return list;
}

static int print_section(struct diff *diff, const struct section *section, struct view *const views[SIDES],
			 size_t count)
{
	struct error error = { 0 };
	struct diff_list *changes = NULL;
	int lacking = 0, status = EXIT_DONE;
	struct path_list *a = list_of(section, views[0], &lacking, &error);
	struct path_list *b = a ? list_of(section, views[1], &lacking, &error) : NULL;
	if (!a || !b) {
		status = failure_of(diff->invocation, &error);
	} else if (lacking == SIDES && !section->is_optional && views[0]->total + views[1]->total > 0) {
		status = failure_of(diff->invocation, &error);
	} else if (!(changes = analyze_diff(views[0], a, views[1], b, &error))) {
		status = failure_of(diff->invocation, &error);
	} else {
		if (lacking == SIDES && section->is_optional)
			notice(diff->invocation, "no function '%s' in either profile: --down FN compares other paths",
			       section->root);
		diff->request.render.no_header = diff->printed > 0;
		render_separate(stdout, diff->request.render.format, diff->printed++, count);
		render_diff(stdout, section->mode->heading, views[0], views[1], changes, &diff->request.render);
	}
	path_list_free(a);
	path_list_free(b);
	diff_list_free(changes);
	return status;
}

static const char *resource_text(const struct profile *profile, const char *what, uint32_t resource)
{
	const struct profile_resource *row = &profile->resources[resource];
	return profile_string(profile, strcmp(what, "name") == 0 ? row->name : row->unit);
}

/* The same resource in profile B, or PROFILE_NONE after a message. */
static uint32_t other_resource(const struct diff *diff, uint32_t resource)
{
	const struct profile *a = diff->profiles[0], *b = diff->profiles[1];
	const char *name = resource_text(a, "name", resource);
	uint32_t other = profile_find_resource(b, name);
	if (other == PROFILE_NONE) {
		failure(diff->invocation, "'%s' has no resource '%s'; -r chooses one that both have",
			diff->invocation->arguments[1], name);
		return PROFILE_NONE;
	}
	if (strcmp(resource_text(a, "unit", resource), resource_text(b, "unit", other)) == 0)
		return other;
	failure(diff->invocation, "resource '%s' is counted in '%s' in one profile and in '%s' in the other", name,
		resource_text(a, "unit", resource), resource_text(b, "unit", other));
	return PROFILE_NONE;
}

static int print_resource(struct diff *diff, uint32_t resource)
{
	struct view *views[SIDES] = { NULL, NULL };
	uint32_t resources[SIDES] = { resource, other_resource(diff, resource) };
	int status = resources[1] == PROFILE_NONE ? EXIT_FAILED : EXIT_DONE;
	for (size_t side = 0; side < SIDES && status == EXIT_DONE; side++) {
		struct error error = { 0 };
		diff->request.view.resource = resources[side];
		views[side] = view_new(diff->profiles[side], &diff->request.view, &error);
		if (!views[side])
			status = failure_of(diff->invocation, &error);
	}
	size_t count = diff->section_count * diff->request.resource_count;
	for (size_t i = 0; i < diff->section_count && status == EXIT_DONE; i++)
		status = print_section(diff, &diff->sections[i], views, count);
	view_free(views[0]);
	view_free(views[1]);
	return status;
}

static int print_all(struct diff *diff)
{
	int status = EXIT_DONE;
	/* All are looked up before the first is printed. */
	for (size_t i = 0; i < diff->request.resource_count && status == EXIT_DONE; i++)
		if (other_resource(diff, diff->request.resources[i]) == PROFILE_NONE)
			status = EXIT_FAILED;
	for (size_t i = 0; i < diff->request.resource_count && status == EXIT_DONE; i++)
		status = print_resource(diff, diff->request.resources[i]);
	if (status == EXIT_DONE)
		render_separate(stdout, diff->request.render.format, diff->printed, diff->printed);
	return status;
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
		status = print_all(&diff);
	view_request_release(&diff.request);
	profile_free(diff.profiles[0]);
	profile_free(diff.profiles[1]);
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
