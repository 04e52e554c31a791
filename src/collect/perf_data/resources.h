/* The resources that the events of a perf.data file measure. */
#ifndef COLLECT_PERF_DATA_RESOURCES_H
#define COLLECT_PERF_DATA_RESOURCES_H

#include "collect/perf_data/file.h"
#include "resources/resources.h"

struct perf_data_resources {
	struct resource_request requests[RESOURCE_REQUESTS_MAX];
	struct resource_row rows[RESOURCE_REQUESTS_MAX]; /* of events that are none of our resources */
	size_t count;
	uint32_t *of_event; /* the request of each event, or UINT32_MAX if it has no samples; owned */
	bool user_mode_only;
};

/* Returns 0, or a negative error: ERROR_LIMIT if more events have samples than a profile has room for. */
int perf_data_resources_init(struct perf_data_resources *resources, const struct perf_data_file *file,
			     struct error *error);
void perf_data_resources_release(struct perf_data_resources *resources);

#endif
