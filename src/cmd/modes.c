#include "cmd/modes.h"

#include <fnmatch.h>

static struct path_list *functions(const struct view *view, const struct label_set *roots, struct error *error)
{
	(void)roots;
	return analyze_functions(view, error);
}

static struct path_list *body(const struct view *view, const struct label_set *roots, struct error *error)
{
	(void)roots;
	return analyze_body(view, error);
}

const struct mode modes[] = {
	{ OPTION_FUNCTIONS, "Function Profile", true, functions },
	{ OPTION_BODY, "Body Profile", true, body },
	{ OPTION_DOWN, "Downward Call Path Profile", false, analyze_down },
	{ OPTION_UP, "Upward Call Path Profile", false, analyze_up },
	{ 0 },
};

const struct mode *mode_find(int option_id)
{
	for (const struct mode *mode = modes; mode->heading; mode++)
		if (mode->id == option_id)
			return mode;
	return NULL;
}

static bool is_of_group(const struct view *view, uint32_t label, const char *group)
{
	const struct profile *profile = view->profile;
	uint32_t function = view->labels[label].function;
	const char *own = function == PROFILE_NONE ? "" : profile_string(profile, profile->functions[function].group);
	return own[0] && fnmatch(group, own, 0) == 0;
}

static void keep_group(const struct view *view, struct path_list *list, const char *group)
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

int mode_report(const struct mode *mode, const struct view *view, const struct label_set *roots, const char *root,
		const char *group, const struct render_options *render, struct error *error)
{
	struct path_list *list = mode->analyze(view, roots, error);
	if (!list)
		return error->code ? error->code : error_set(error, ERROR_MEMORY, "out of memory");
	if (group)
		keep_group(view, list, group);
	if (mode->is_bare)
		render_names(stdout, mode->heading, view, list, render);
	else
		render_paths(stdout, mode->heading, root, view, list, render);
	path_list_free(list);
	return 0;
}
