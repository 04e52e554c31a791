#include "analyze/view.h"

#include "analyze/transform.h"
#include "analyze/view_recorded.h"

struct view *view_new(const struct profile *profile, const struct view_options *options, struct error *error)
{
	struct view_options shown = *options;
	struct transformed *transformed;
	if (transformed_get(profile, options, &transformed, error) < 0)
		return NULL;
	shown.transforms = transformed ? transformed_list(transformed) : NULL;
	struct view *view = view_recorded_new(transformed ? transformed_profile(transformed) : profile, &shown, error);
	if (view)
		view->transformed = transformed;
	else
		transformed_drop(transformed);
	return view;
}

void view_free(struct view *view)
{
	struct transformed *transformed = view ? view->transformed : NULL;
	view_recorded_free(view);
	transformed_drop(transformed);
}
