/*
 * OTLP profiles: the message ProfilesData of OpenTelemetry (otlp_fields.h), not compressed.
 *
 *   ResourceProfiles   a process; its pid and name are attributes
 *     Profile          a resource of cpprof; a value is the hits times the interval
 *       Sample         a stack, its attributes (thread and labels), and a value and a time for each hit; only the sum of the values
 *                      if the resource has hits without a time
 *   ProfilesDictionary stacks, locations, functions, modules, strings, attributes (otlp_dictionary.h)
 */
#include <stdlib.h>

#include "base/compare.h"
#include "formats/amount.h"
#include "formats/format.h"
#include "formats/otlp_dictionary.h"
#include "formats/otlp_fields.h"
#include "formats/protobuf.h"

struct otlp {
	const struct call_paths *paths;
	struct otlp_dictionary dictionary;
	struct path_hit *hits;                                               /* sorted by by_identity */
	struct buffer process, scope, profile, sample, inner, values, times; /* messages that are being made; reused */
};

/* The hits of a sample are equal in all but the time. */
static int by_sample(const void *left, const void *right)
{
	const struct path_hit *a = left, *b = right;
	return COMPARE(a->process, b->process) ?: COMPARE(a->resource, b->resource) ?: COMPARE(a->path, b->path) ?:
	       COMPARE(a->thread, b->thread) ?: COMPARE(a->label_set, b->label_set);
}

static int by_identity(const void *left, const void *right)
{
	const struct path_hit *a = left, *b = right;
	return by_sample(a, b) ?: COMPARE(a->time_ns, b->time_ns);
}

/* --- samples --- */

static void append_attributes(struct otlp *otlp, const struct path_hit *hit)
{
	const struct profile *profile = otlp->paths->profile;
	const struct profile_label_set *set = &profile->label_sets[hit->label_set];
	if (hit->thread != PROFILE_NONE) {
		const struct profile_thread *thread = &profile->threads[hit->thread];
		const char *name = profile_string(profile, thread->name);
		buffer_append_varint(&otlp->inner, otlp_number_attribute(&otlp->dictionary, "thread.id", thread->tid));
		buffer_append_varint(&otlp->inner, otlp_text_attribute(&otlp->dictionary, "thread.name", name));
	}
	for (uint32_t i = 0; i < set->label_count; i++) {
		const struct profile_label *label = &profile->labels[set->first_label + i];
		buffer_append_varint(&otlp->inner,
				     otlp_text_attribute(&otlp->dictionary, profile_string(profile, label->key),
							 profile_string(profile, label->value)));
	}
	if (otlp->inner.size > 0)
		protobuf_message(&otlp->sample, OTLP_SAMPLE_ATTRIBUTES, &otlp->inner);
}

static uint64_t unix_ns(const struct profile *profile, uint64_t time_ns)
{
	uint64_t start = profile->start_unix_ns > 0 ? (uint64_t)profile->start_unix_ns : 0;
	return start + (time_ns > profile->start_ns ? time_ns - profile->start_ns : 0);
}

/* Writes hits [first, end), which are one sample. */
static void append_sample(struct otlp *otlp, size_t first, size_t end, bool has_times)
{
	const struct profile *profile = otlp->paths->profile;
	uint64_t sum = 0;
	for (size_t i = first; i < end; i++) {
		uint64_t amount = amount_of(profile, otlp->hits[i].resource, otlp->hits[i].count);
		sum = amount_sum(sum, amount);
		if (has_times) {
			buffer_append_varint(&otlp->values, amount);
			protobuf_append_fixed64(&otlp->times, unix_ns(profile, otlp->hits[i].time_ns));
		}
	}
	if (!has_times)
		buffer_append_varint(&otlp->values, sum);
	protobuf_number(&otlp->sample, OTLP_SAMPLE_STACK, otlp_stack(&otlp->dictionary, otlp->hits[first].path));
	append_attributes(otlp, &otlp->hits[first]);
	protobuf_message(&otlp->sample, OTLP_SAMPLE_VALUES, &otlp->values);
	if (has_times)
		protobuf_message(&otlp->sample, OTLP_SAMPLE_TIMES_UNIX_NS, &otlp->times);
	protobuf_message(&otlp->profile, OTLP_PROFILE_SAMPLE, &otlp->sample);
}

/* --- profiles --- */

static void append_type(struct otlp *otlp, enum otlp_profile_field field, const struct profile_resource *resource)
{
	const struct profile *profile = otlp->paths->profile;
	const char *unit = format_unit(profile_string(profile, resource->unit));
	protobuf_number(&otlp->inner, OTLP_VALUE_TYPE_TYPE,
			otlp_string(&otlp->dictionary, profile_string(profile, resource->name)));
	protobuf_number(&otlp->inner, OTLP_VALUE_TYPE_UNIT, otlp_string(&otlp->dictionary, unit));
	protobuf_message(&otlp->profile, field, &otlp->inner);
}

/* Writes hits [first, end), which are of one process and resource. */
static void append_profile(struct otlp *otlp, size_t first, size_t end)
{
	const struct profile *profile = otlp->paths->profile;
	const struct profile_resource *resource = &profile->resources[otlp->hits[first].resource];
	bool has_times = true;
	for (size_t i = first; i < end && has_times; i++)
		has_times = otlp->hits[i].time_ns > 0;
	append_type(otlp, OTLP_PROFILE_SAMPLE_TYPE, resource);
	for (size_t i = first, next; i < end && otlp->dictionary.status == 0; i = next) {
		for (next = i + 1; next < end && by_sample(&otlp->hits[i], &otlp->hits[next]) == 0;)
			next++;
		append_sample(otlp, i, next, has_times);
	}
	protobuf_fixed64(&otlp->profile, OTLP_PROFILE_TIME_UNIX_NS, unix_ns(profile, profile->start_ns));
	protobuf_number(&otlp->profile, OTLP_PROFILE_DURATION_NS, profile_duration_ns(profile));
	append_type(otlp, OTLP_PROFILE_PERIOD_TYPE, resource);
	protobuf_number(&otlp->profile, OTLP_PROFILE_PERIOD, resource->interval);
	protobuf_message(&otlp->scope, SCOPE_PROFILES_PROFILE, &otlp->profile);
}

static void append_text(struct otlp *otlp, const char *key, const char *text)
{
	struct buffer *pair = &otlp->sample, *value = &otlp->values;
	protobuf_text(pair, KEY_VALUE_KEY, key);
	protobuf_text(value, ANY_VALUE_TEXT, text);
	protobuf_message(pair, KEY_VALUE_VALUE, value);
	protobuf_message(&otlp->inner, RESOURCE_ATTRIBUTE, pair);
}

static void append_pid(struct otlp *otlp, uint32_t pid)
{
	struct buffer *pair = &otlp->sample, *value = &otlp->values;
	protobuf_text(pair, KEY_VALUE_KEY, "process.pid");
	protobuf_chosen_number(value, ANY_VALUE_NUMBER, pid);
	protobuf_message(pair, KEY_VALUE_VALUE, value);
	protobuf_message(&otlp->inner, RESOURCE_ATTRIBUTE, pair);
}

/* The attributes have the names of OpenTelemetry's semantic conventions. */
static void append_process(struct otlp *otlp, uint32_t process)
{
	const struct profile *profile = otlp->paths->profile;
	const char *host = profile_note(profile, "host");
	if (process != PROFILE_NONE) {
		const char *name = profile_string(profile, profile->processes[process].name);
		append_text(otlp, "service.name", name);
		append_text(otlp, "process.executable.name", name);
		append_pid(otlp, profile->processes[process].pid);
	}
	if (host)
		append_text(otlp, "host.name", host);
	protobuf_message(&otlp->process, RESOURCE_PROFILES_RESOURCE, &otlp->inner);
}

/* Writes hits [first, end), which are of one process. */
static void write_process(struct otlp *otlp, struct sink *out, size_t first, size_t end)
{
	append_process(otlp, otlp->hits[first].process);
	protobuf_text(&otlp->inner, SCOPE_NAME, "cpprof");
	protobuf_text(&otlp->inner, SCOPE_VERSION, CPPROF_VERSION);
	protobuf_message(&otlp->scope, SCOPE_PROFILES_SCOPE, &otlp->inner);
	for (size_t i = first, next; i < end; i = next) {
		for (next = i + 1; next < end && otlp->hits[next].resource == otlp->hits[i].resource;)
			next++;
		if (is_written(otlp->paths, otlp->hits[i].resource))
			append_profile(otlp, i, next);
	}
	protobuf_message(&otlp->process, RESOURCE_PROFILES_SCOPE_PROFILES, &otlp->scope);
	int status = protobuf_write(out, DATA_RESOURCE_PROFILES, &otlp->process);
	if (status < 0)
		otlp->dictionary.status = status;
	buffer_clear(&otlp->process);
}

static int write_all(struct otlp *otlp, struct sink *out)
{
	size_t count;
	otlp->hits = call_paths_hits(otlp->paths, &count);
	if (!otlp->hits)
		return ERROR_MEMORY;
	qsort(otlp->hits, count, sizeof(*otlp->hits), by_identity);
	for (size_t i = 0, next; i < count && otlp->dictionary.status == 0 && !sink_failed(out); i = next) {
		for (next = i + 1; next < count && otlp->hits[next].process == otlp->hits[i].process;)
			next++;
		write_process(otlp, out, i, next);
	}
	int status = otlp_dictionary_end(&otlp->dictionary);
	return status < 0 ? status : protobuf_write(out, DATA_DICTIONARY, &otlp->dictionary.bytes);
}

static int otlp_export(const struct format_input *input, struct sink *out, struct error *error)
{
	(void)error; /* format_export sets it */
	struct otlp otlp = { .paths = input->paths };
	struct buffer *const buffers[] = { &otlp.process, &otlp.scope,  &otlp.profile, &otlp.sample,
					   &otlp.inner,   &otlp.values, &otlp.times };
	enum { BUFFERS = sizeof(buffers) / sizeof(*buffers) };
	for (size_t i = 0; i < BUFFERS; i++)
		buffer_init(buffers[i]);
	int status = otlp_dictionary_init(&otlp.dictionary, input->paths);
	if (status == 0)
		status = write_all(&otlp, out);
	otlp_dictionary_release(&otlp.dictionary);
	for (size_t i = 0; i < BUFFERS; i++)
		buffer_release(buffers[i]);
	free(otlp.hits);
	return status;
}

const struct format format_otlp = {
	.name = "otlp",
	.title = "OTLP profile",
	.ending = "otlp",
	.summary = "for OpenTelemetry's collectors and stores: all resources, times, threads, labels, lines and "
		   "inlined functions",
	.options = FORMAT_RESOURCE | FORMAT_FRAMES | FORMAT_SELECTION,
	.needs = FORMAT_NEEDS_START,
	.paths = FORMAT_BY_LINE,
	.has_several = true,
	.is_binary = true,
	.export = otlp_export,
};
