#include "cmd/modes.h"

#include <stdlib.h>

static struct path_list *functions(const struct view *view, uint32_t root, struct error *error)
{
	(void)root;
	return analyze_functions(view, error);
}

static struct path_list *body(const struct view *view, uint32_t root, struct error *error)
{
	(void)root;
	return analyze_body(view, error);
}

const struct mode modes[] = {
	{ OPTION_FUNCTIONS, "Function Profile", false, true, functions },
	{ OPTION_BODY, "Body Profile", false, true, body },
	{ OPTION_DOWN, "Downward Call Path Profile", true, false, analyze_down },
	{ OPTION_UP, "Upward Call Path Profile", true, false, analyze_up },
	{ 0 },
};

const struct mode *mode_find(int option_id)
{
	for (const struct mode *mode = modes; mode->heading; mode++)
		if (mode->id == option_id)
			return mode;
	return NULL;
}

struct path_list *path_list_empty(void)
{
	return calloc(1, sizeof(struct path_list));
}

int mode_report(const struct mode *mode, const struct view *view, uint32_t root, const struct render_options *render,
		struct error *error)
{
	struct path_list *list =
		mode->has_root && root == PROFILE_NONE ? path_list_empty() : mode->analyze(view, root, error);
	if (!list)
		return error->code ? error->code : error_set(error, ERROR_MEMORY, "out of memory");
	if (mode->is_bare)
		render_names(stdout, mode->heading, view, list, render);
	else
		render_paths(stdout, mode->heading, view, list, render);
	path_list_free(list);
	return 0;
}
