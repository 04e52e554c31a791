#include "fed_sink.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int fed_begin(void **state)
{
	struct fed *fed = calloc(1, sizeof(*fed));
	struct error error;
	if (!fed || sample_sink_init(&fed->sink, &error) < 0)
		return -1;
	*state = fed;
	fed->backend_sink = sample_sink_for_backend(&fed->sink);
	struct resource_request request;
	const struct backend_request asked = { .resources = &request, .resource_count = 1 };
	if (resource_parse("page-faults", &request, &error) < 0 ||
	    sample_sink_add_resources(&fed->sink, &asked, "test") < 0)
		return -1;
	fed_map(fed, FED_PID, FED_CODE, FED_CODE + 0x1000, "/a", false);
	return 0;
}

int fed_end(void **state)
{
	struct fed *fed = *state;
	int result = profile_check(fed->sink.profile);
	sample_sink_release(&fed->sink);
	free(fed);
	return result;
}

void fed_map(struct fed *fed, uint32_t pid, uint64_t start, uint64_t end, const char *path, bool is_data)
{
	const struct backend_map map = {
		.is_data = is_data, .pid = pid, .start = start, .size = end - start, .path = path
	};
	fed->backend_sink.map(fed->backend_sink.context, &map);
}

struct backend_sample fed_stack(uint32_t pid, uint32_t tid, enum unwind_cause cause, const uint64_t *addresses)
{
	struct backend_sample sample = {
		.pid = pid, .tid = tid, .hits = 1, .time_ns = 1, .syscall = BACKEND_NO_SYSCALL
	};
	sample.cause = cause;
	sample.addresses = addresses;
	while (addresses[sample.address_count])
		sample.address_count++;
	return sample;
}

uint32_t fed_sample(struct fed *fed, struct backend_sample sample)
{
	const struct profile *profile = fed->sink.profile;
	size_t had = profile->hit_count;
	fed->backend_sink.sample(fed->backend_sink.context, &sample);
	return profile->hit_count == had + 1 ? profile->hits[had].node : PROFILE_NONE;
}

const char *fed_path(struct fed *fed, uint32_t node)
{
	const struct profile *profile = fed->sink.profile;
	/* Writes from the end of the text backward, since a node refers to its parent only. */
	char *at = fed->text + sizeof(fed->text) - 1;
	*at = 0;
	for (; node != PROFILE_ROOT; node = profile->nodes[node].parent) {
		const struct profile_location *location = &profile->locations[profile->nodes[node].location];
		const struct profile_module *module = &profile->modules[location->module];
		const char *path = profile_string(profile, module->path);
		char frame[256];
		bool has_address = module->kind == MODULE_FILE;
		int length = has_address ? snprintf(frame, sizeof(frame), "%s+%" PRIx64, path, location->address)
					 : snprintf(frame, sizeof(frame), "%s", path);
		bool is_last = *at == 0;
		at -= length + !is_last;
		memcpy(at, frame, (size_t)length);
		if (!is_last)
			at[length] = ' ';
	}
	return at;
}

uint64_t fed_cause(struct fed *fed, enum unwind_cause cause)
{
	const struct profile *profile = fed->sink.profile;
	if (walk_ends_publish(stacks_ends(fed->sink.stacks), fed->sink.profile) < 0)
		return UINT64_MAX;
	for (size_t i = 0; i < profile->cause_count; i++)
		if (strcmp(profile_string(profile, profile->causes[i].text), unwind_cause_text(cause)) == 0)
			return profile->causes[i].count;
	return 0;
}
