#include "store/service_parts.h"

#include <stdlib.h>
#include <string.h>

#include "base/strings.h"

/* --- which part has what --- */

static uint32_t part_of_thread(const struct service_parts *parts, uint32_t thread)
{
	const struct profile *profile = parts->recording->profile;
	return thread == PROFILE_NONE ? 0 : parts->of_process[profile->threads[thread].process];
}

/* Numbers the services in the order of their first processes: 0 is the service of the recording. */
static int number_services(struct service_parts *parts, struct strings *services)
{
	const struct store_recording *recording = parts->recording;
	for (size_t i = 0; i < recording->profile->process_count; i++) {
		const char *service = recording->services[i];
		/* String 0 is "". */
		bool is_own = strcmp(service, recording->service) == 0;
		int64_t id = is_own ? 0 : strings_add(services, service, strlen(service));
		if (id < 0)
			return (int)id;
		parts->of_process[i] = (uint32_t)id;
	}
	return 0;
}

static void count_rows(struct service_parts *parts)
{
	const struct profile *profile = parts->recording->profile;
	for (size_t i = 0; i < profile->hit_count; i++)
		parts->hits[part_of_thread(parts, profile->hits[i].thread)]++;
	for (size_t i = 0; i < profile->touch_count; i++)
		parts->touches[part_of_thread(parts, profile->touches[i].thread)]++;
}

/* Removes the services without rows: part 0 takes their processes. `numbers` has room for the new number of each service. */
static void remove_idle(struct service_parts *parts, const struct strings *services, uint32_t *numbers)
{
	size_t kept = 1;
	for (size_t i = 1; i < services->count; i++) {
		bool is_idle = parts->hits[i] + parts->touches[i] == 0;
		numbers[i] = is_idle ? 0 : (uint32_t)kept;
		if (is_idle)
			continue;
		parts->hits[kept] = parts->hits[i];
		parts->touches[kept++] = parts->touches[i];
	}
	parts->count = kept;
	for (size_t i = 0; i < parts->recording->profile->process_count; i++) {
		parts->of_process[i] = numbers[parts->of_process[i]];
		if (parts->of_process[i] > 0)
			parts->services[parts->of_process[i]] = parts->recording->services[i];
	}
}

/* Makes one part of a recording with the hits of only one service. */
static void join_single(struct service_parts *parts)
{
	if (parts->count != 2 || parts->hits[0] + parts->touches[0] > 0)
		return;
	parts->count = 1;
	parts->services[0] = parts->services[1];
	memset(parts->of_process, 0, parts->recording->profile->process_count * sizeof(*parts->of_process));
}

int service_parts_init(struct service_parts *parts, const struct store_recording *recording)
{
	struct strings services;
	*parts = (struct service_parts){ .recording = recording,
					 .of_process = calloc(recording->profile->process_count + 1,
							      sizeof(*parts->of_process)) };
	int status = strings_init(&services);
	if (!parts->of_process)
		status = ERROR_MEMORY;
	if (status == 0)
		status = number_services(parts, &services);
	uint32_t *numbers = calloc(services.count + 1, sizeof(*numbers));
	parts->services = calloc(services.count + 1, sizeof(*parts->services));
	parts->hits = calloc(services.count + 1, sizeof(*parts->hits));
	parts->touches = calloc(services.count + 1, sizeof(*parts->touches));
	if (!numbers || !parts->services || !parts->hits || !parts->touches)
		status = ERROR_MEMORY;
	if (status == 0) {
		parts->services[0] = recording->service;
		count_rows(parts);
		remove_idle(parts, &services, numbers);
		join_single(parts);
	}
	free(numbers);
	strings_release(&services);
	return status;
}

void service_parts_release(struct service_parts *parts)
{
	free((void *)parts->services);
	free(parts->of_process);
	free(parts->hits);
	free(parts->touches);
	*parts = (struct service_parts){ 0 };
}

/* --- a part --- */

/* Changes the bytes that are not of the file alone. */
static void set_identity(struct store_recording *part, uint32_t number)
{
	for (size_t i = STORE_FILE_BYTES; i < STORE_IDENTITY_BYTES; i++, number >>= 8)
		part->identity[i] ^= (uint8_t)number;
}

static int copy_resources(struct service_part *part, bool is_rest)
{
	struct profile *profile = &part->profile;
	size_t bytes = profile->resource_count * sizeof(*part->resources);
	part->resources = malloc(bytes + 1);
	if (!part->resources)
		return ERROR_MEMORY;
	if (bytes > 0)
		memcpy(part->resources, profile->resources, bytes);
	for (size_t i = 0; i < profile->resource_count; i++) {
		part->resources[i].total = 0;
		if (!is_rest)
			part->resources[i].lost = 0;
	}
	profile->resources = part->resources;
	return 0;
}

/* Copies the processes and threads. Sets the new ids of threads. */
static int copy_threads(struct service_part *part, const struct service_parts *parts, uint32_t number, uint32_t *ids)
{
	const struct profile *whole = parts->recording->profile;
	struct profile *profile = &part->profile;
	uint32_t *processes = calloc(whole->process_count + 1, sizeof(*processes)); /* new ids */
	part->processes = malloc((whole->process_count + 1) * sizeof(*part->processes));
	part->threads = malloc((whole->thread_count + 1) * sizeof(*part->threads));
	bool has_memory = processes && part->processes && part->threads;
	profile->process_count = profile->thread_count = 0;
	for (size_t i = 0; i < whole->process_count && has_memory; i++) {
		if (parts->of_process[i] != number)
			continue;
		processes[i] = (uint32_t)profile->process_count;
		part->processes[profile->process_count++] = whole->processes[i];
	}
	for (uint32_t i = 0; i < whole->thread_count && has_memory; i++) {
		if (part_of_thread(parts, i) != number)
			continue;
		ids[i] = (uint32_t)profile->thread_count;
		part->threads[profile->thread_count] = whole->threads[i];
		part->threads[profile->thread_count++].process = processes[whole->threads[i].process];
	}
	profile->processes = part->processes;
	profile->threads = part->threads;
	free(processes);
	return has_memory ? 0 : ERROR_MEMORY;
}

/* Sets row.thread to its new id. */
static void renumber(uint32_t *thread, const uint32_t *ids)
{
	if (*thread != PROFILE_NONE)
		*thread = ids[*thread];
}

static int copy_rows(struct service_part *part, const struct service_parts *parts, uint32_t number, const uint32_t *ids)
{
	const struct profile *whole = parts->recording->profile;
	struct profile *profile = &part->profile;
	part->hits = malloc((parts->hits[number] + 1) * sizeof(*part->hits));
	part->hit_labels = malloc((parts->hits[number] + 1) * sizeof(*part->hit_labels));
	part->touches = malloc((parts->touches[number] + 1) * sizeof(*part->touches));
	if (!part->hits || !part->hit_labels || !part->touches)
		return ERROR_MEMORY;
	profile->hit_count = profile->touch_count = 0;
	for (size_t i = 0; i < whole->hit_count; i++) {
		if (part_of_thread(parts, whole->hits[i].thread) != number)
			continue;
		part->hit_labels[profile->hit_count] = profile_hit_labels(whole, i);
		part->hits[profile->hit_count] = whole->hits[i];
		renumber(&part->hits[profile->hit_count++].thread, ids);
	}
	for (size_t i = 0; i < whole->touch_count; i++) {
		if (part_of_thread(parts, whole->touches[i].thread) != number)
			continue;
		part->touches[profile->touch_count] = whole->touches[i];
		renumber(&part->touches[profile->touch_count++].thread, ids);
	}
	profile->hits = part->hits;
	profile->hit_labels = part->hit_labels;
	profile->hit_label_count = profile->hit_count;
	profile->touches = part->touches;
	return 0;
}

int service_part_init(struct service_part *part, const struct service_parts *parts, uint32_t number)
{
	const struct profile *whole = parts->recording->profile;
	bool is_rest = number == 0;
	*part = (struct service_part){ .recording = *parts->recording, .profile = *whole };
	part->recording.services = NULL;
	part->recording.service = parts->services[number];
	part->recording.profile = &part->profile;
	if (parts->count == 1)
		return 0;
	if (!is_rest) {
		set_identity(&part->recording, number);
		part->profile.lost = 0;
		part->profile.finding_count = part->profile.cause_count = 0;
	}
	uint32_t *ids = calloc(whole->thread_count + 1, sizeof(*ids));
	int status = ids ? copy_resources(part, is_rest) : ERROR_MEMORY;
	if (status == 0)
		status = copy_threads(part, parts, number, ids);
	if (status == 0)
		status = copy_rows(part, parts, number, ids);
	free(ids);
	return status;
}

void service_part_release(struct service_part *part)
{
	free(part->resources);
	free(part->processes);
	free(part->threads);
	free(part->hits);
	free(part->hit_labels);
	free(part->touches);
	*part = (struct service_part){ 0 };
}
