#include "collect/sample/event_filter.h"

#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/cxx_name.h"

int event_filter_min(struct event_filter *filter, const char *words, const struct resource_request *requests,
		     size_t count, struct error *error)
{
	bool used = false;
	uint64_t least;
	struct resource_request time;
	int parsed = resource_parse("blocked", &time, error);
	if (parsed < 0)
		return parsed;
	for (size_t i = 0; i < count; i++) {
		if (resource_parse_interval(requests[i].row, words, &least, used ? NULL : error) < 0)
			continue;
		filter->min[i] = least;
		used = true;
	}
	return used ? 0
		    : error_set(error, ERROR_USAGE,
				resource_parse_interval(time.row, words, &least, NULL) == 0
					? "--min %s is a time, and %s is not measured in time (add a resource that "
					  "is, as -r blocked or -r io-time)"
					: "--min %s is not an amount of %s (10 or 64KiB for what is counted, 5ms for "
					  "time)",
				words, requests[0].name);
}

int event_filter_name(struct event_filter *filter, const char *pattern, struct error *error)
{
	if (filter->name_count == EVENT_NAMES_MAX)
		return error_set(error, ERROR_USAGE, "too many --name options (limit %d)", EVENT_NAMES_MAX);
	filter->names[filter->name_count++] = pattern;
	return 0;
}

int event_filter_function(struct event_filter *filter, const char *function, struct error *error)
{
	if (filter->function_count == EVENT_FUNCTIONS_MAX)
		return error_set(error, ERROR_USAGE, "too many --path options (limit %d)", EVENT_FUNCTIONS_MAX);
	near_names_init(&filter->near[filter->function_count], function);
	filter->functions[filter->function_count++] = function;
	return 0;
}

void event_filter_release(struct event_filter *filter)
{
	free(filter->holds);
	*filter = (struct event_filter){ 0 };
}

bool event_filter_passes(const struct event_filter *filter, size_t request, const char *name, const char *syscall,
			 uint64_t amount)
{
	if (amount < filter->min[request])
		return false;
	for (size_t i = 0; i < filter->name_count; i++)
		if (fnmatch(filter->names[i], name, 0) == 0 || (syscall && fnmatch(filter->names[i], syscall, 0) == 0))
			return true;
	return filter->name_count == 0;
}

/* --- functions --- */

/* Returns whether `wanted` names `function`. "ns::Klass<int>::f(int)" is named by the same text, by
 * "ns::Klass::f", by "Klass::f" and by "f". */
static bool is_meant(const char *function, const char *wanted, char *scratch)
{
	size_t length = strlen(function);
	if (strcmp(function, wanted) == 0)
		return true;
	struct cxx_name parts = cxx_name_parse(function, length);
	size_t plain = cxx_name_plain(function + parts.start, parts.end - parts.start, scratch);
	return cxx_name_ends_with(scratch, plain, wanted, strlen(wanted));
}

int event_filter_add_functions(struct event_filter *filter, const struct profile *profile)
{
	if (filter->function_count == 0)
		return 0;
	if (ARRAY_RESERVE(filter->holds, filter->holds_capacity, profile->function_count) < 0)
		return ERROR_MEMORY;
	for (; filter->holds_count < profile->function_count; filter->holds_count++) {
		const char *name = profile_string(profile, profile->functions[filter->holds_count].name);
		char *scratch = malloc(strlen(name) + 1);
		if (!scratch)
			return ERROR_MEMORY;
		uint32_t bits = 0;
		for (size_t i = 0; i < filter->function_count; i++) {
			if (is_meant(name, filter->functions[i], scratch))
				bits |= UINT32_C(1) << i;
			else
				near_names_offer_function(&filter->near[i], name, strlen(name), name);
		}
		filter->holds[filter->holds_count] = bits;
		filter->found |= bits;
		free(scratch);
	}
	return 0;
}

bool event_filter_passes_path(const struct event_filter *filter, const uint32_t *functions, size_t count)
{
	uint32_t wanted = filter->function_count < 32 ? (UINT32_C(1) << filter->function_count) - 1 : UINT32_MAX;
	uint32_t found = 0;
	for (size_t i = 0; i < count && found != wanted; i++)
		found |= functions[i] < filter->holds_count ? filter->holds[functions[i]] : 0;
	return found == wanted;
}

struct near_names *event_filter_missing(struct event_filter *filter, size_t *next)
{
	while (*next < filter->function_count) {
		size_t i = (*next)++;
		if (!(filter->found & UINT32_C(1) << i))
			return &filter->near[i];
	}
	return NULL;
}
