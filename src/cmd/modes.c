#include "cmd/modes.h"

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

int mode_report(const struct mode *mode, const struct view *view, const struct label_set *roots, const char *root,
		const struct render_options *render, struct error *error)
{
	struct path_list *list = mode->analyze(view, roots, error);
	if (!list)
		return error->code ? error->code : error_set(error, ERROR_MEMORY, "out of memory");
	if (mode->is_bare)
		render_names(stdout, mode->heading, view, list, render);
	else
		render_paths(stdout, mode->heading, root, view, list, render);
	path_list_free(list);
	return 0;
}
