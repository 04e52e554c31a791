/* The lanes that the engine holds. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/transform.h"
#include "ui/page/engine.h"

void lane_set_take(struct lane_set *set, struct lanes *lanes)
{
	lanes_free(set->lanes);
	short_names_free(set->names);
	*set = (struct lane_set){ .lanes = lanes };
}

int engine_load_events(struct engine *engine, const void *bytes, size_t size, struct error *error)
{
	struct lanes *lanes = lanes_read(bytes, size, error);
	if (!lanes)
		return error->code;
	lane_set_take(&engine->lanes[ENGINE_TRACE], lanes);
	return 0;
}

static struct short_names *names_of_lanes(const struct lanes *lanes)
{
	struct short_names_item *items = calloc(lanes->name_count + 1, sizeof(*items));
	for (size_t i = 0; i < lanes->name_count && items; i++)
		items[i] = (struct short_names_item){ lanes->names[i], (uint32_t)strlen(lanes->names[i]) };
	struct short_names *names = items ? short_names_new(items, lanes->name_count) : NULL;
	free(items);
	return names;
}

void lane_set_short_name(struct lane_set *set, size_t name, size_t columns, struct buffer *to)
{
	if (!set->names)
		set->names = names_of_lanes(set->lanes);
	if (set->names)
		short_names_append(set->names, name, columns, to);
	else
		to->error = ERROR_MEMORY;
}

int engine_sample_lane(struct engine *engine, const char *text, uint32_t thread, uint64_t period_ns,
		       uint64_t *detail_ns, struct error *error)
{
	struct page_request request;
	int status = page_request_read(&request, engine, NULL, text, error);
	if (status < 0)
		return status;
	const struct profile *profile = request.profile;
	struct view_options options = request.settings.view;
	/* Transforms are of the paths of all views, which begin with the thread's creator. */
	view_cache_share(&engine->views, profile, &options);
	struct transformed *transformed;
	status = transformed_get(profile, &options, &transformed, error);
	if (status < 0) {
		page_request_release(&request);
		return status;
	}
	if (transformed)
		profile = transformed_profile(transformed);
	options.transforms = NULL;
	options.thread = thread;
	options.no_stitch = true;
	options.keep_view_nodes = true;
	struct view *view = thread < profile->thread_count ? view_new(profile, &options, error) : NULL;
	struct lanes *lanes = NULL;
	if (thread >= profile->thread_count)
		error_set(error, ERROR_NOT_FOUND, "no thread number %" PRIu32, thread);
	else if (view)
		lanes = lanes_sampled(view, period_ns, LANES_SAMPLED_MOST, detail_ns, error);
	view_free(view);
	transformed_drop(transformed);
	page_request_release(&request);
	if (!lanes)
		return error->code;
	lane_set_take(&engine->lanes[ENGINE_SAMPLED], lanes);
	return 0;
}
