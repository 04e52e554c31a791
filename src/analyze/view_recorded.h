/* Views of paths as they were recorded: view_new and transforms are made of them. Internal to analyze/. */
#ifndef ANALYZE_VIEW_RECORDED_H
#define ANALYZE_VIEW_RECORDED_H

#include "analyze/view.h"
#include "base/error.h"

/* Like view_new, without the transforms of `options`. */
struct view *view_recorded_new(const struct profile *profile, const struct view_options *options, struct error *error);
void view_recorded_free(struct view *view); /* accepts NULL */

#endif
