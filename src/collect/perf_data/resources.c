#include "collect/perf_data/resources.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "collect/perf_data/events.h"

/* The gticks between two samples if they were equal, otherwise 1: then each sample has as many hits as its period. */
static uint64_t interval_of(const struct perf_data_event *event)
{
	if (event->most_period > 0)
		return event->least_period == event->most_period ? event->most_period : 1;
	return event->attr.freq || event->attr.sample_period == 0 ? 1 : event->attr.sample_period;
}

static bool has_name(const struct perf_data_resources *resources, const char *name)
{
	for (size_t i = 0; i < resources->count; i++)
		if (strcmp(resources->requests[i].name, name) == 0)
			return true;
	return false;
}

static void add(struct perf_data_resources *resources, const struct perf_data_event *event, const char *event_name)
{
	enum { TRIES = 100 };
	struct resource_request *request = &resources->requests[resources->count];
	const struct resource_row *known = perf_event_resource(event->attr.type, event->attr.config);
	struct resource_row *row = &resources->rows[resources->count];
	*row = (struct resource_row){
		.name = "event", .title = "Event", .gtick = "event", .modes = RESOURCE_ALL_MODES
	};
	*request = (struct resource_request){ .row = known ? known : row, .interval = interval_of(event) };
	request->gtick = request->row->gtick;
	if (known && !has_name(resources, known->name)) {
		snprintf(request->name, sizeof(request->name), "%s", known->name);
		snprintf(request->title, sizeof(request->title), "%s", known->title);
	} else {
		snprintf(request->name, sizeof(request->name), "%s", event_name[0] ? event_name : "event");
		for (unsigned i = 2; has_name(resources, request->name) && i < TRIES; i++)
			snprintf(request->name, sizeof(request->name), "%.200s-%u",
				 event_name[0] ? event_name : "event", i);
		const char *kind = known ? known->title : "Event";
		snprintf(request->title, sizeof(request->title), "%s: %.200s", kind,
			 event_name[0] ? event_name : "unnamed");
	}
	resources->user_mode_only &= event->attr.exclude_kernel;
	resources->count++;
}

int perf_data_resources_init(struct perf_data_resources *resources, const struct perf_data_file *file,
			     struct error *error)
{
	*resources = (struct perf_data_resources){ .user_mode_only = true };
	resources->of_event = calloc(file->event_count + 1, sizeof(*resources->of_event));
	if (!resources->of_event)
		return error_memory(error);
	for (size_t i = 0; i < file->event_count; i++) {
		const struct perf_data_event *event = &file->events[i];
		resources->of_event[i] = UINT32_MAX;
		if (event->samples == 0)
			continue;
		if (resources->count == RESOURCE_REQUESTS_MAX)
			return error_set(error, ERROR_LIMIT,
					 "cannot import '%s': more than %d of its events have samples", file->name,
					 RESOURCE_REQUESTS_MAX);
		resources->of_event[i] = (uint32_t)resources->count;
		add(resources, event, perf_data_string(file, event->name));
	}
	return 0;
}

void perf_data_resources_release(struct perf_data_resources *resources)
{
	free(resources->of_event);
	resources->of_event = NULL;
}
