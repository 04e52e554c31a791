#include "collect/sample/preload/events.h"

#include <stdio.h>
#include <string.h>

#include "base/quote.h"
#include "profile/findings.h"

enum { LIST_BYTES = (DECLARED_NAMES + SAMPLE_REQUESTS) * (QUOTE_BYTES + 2) };

void preload_declared_request(struct preload_declared *declared, uint32_t request)
{
	declared->requests |= 1U << request;
}

void preload_declared_other(struct preload_declared *declared, const char *name)
{
	char *row = declared->names[declared->name_count % DECLARED_NAMES];
	if (declared->name_count == DECLARED_NAMES)
		return;
	snprintf(row, CHANNEL_NAME_BYTES, "%s", name);
	for (uint32_t i = 0; i < declared->name_count; i++)
		if (strcmp(declared->names[i], row) == 0)
			return;
	declared->name_count++;
}

static void append_name(char *list, const char *name)
{
	size_t used = strlen(list);
	snprintf(list + used, LIST_BYTES - used, "%s%s", used ? ", " : "", QUOTE(name));
}

/* Makes "'orders', 'bytes'": what was declared, requested or not. */
static void list_declared(char list[LIST_BYTES], const struct preload_declared *declared,
			  const struct backend_request *request)
{
	list[0] = 0;
	for (size_t i = 0; i < request->resource_count; i++)
		if (declared->requests >> i & 1)
			append_name(list, request->resources[i].target.name);
	for (uint32_t i = 0; i < declared->name_count; i++)
		append_name(list, declared->names[i]);
}

void preload_declared_add_findings(const struct preload_declared *declared, const struct backend_request *request,
				   struct profile *profile)
{
	char list[LIST_BYTES];
	list_declared(list, declared, request);
	for (size_t i = 0; i < request->resource_count; i++)
		if (request->resources[i].counter == COUNTER_OWN && !(declared->requests >> i & 1))
			finding_add(profile, FINDING_RESOURCE_UNDECLARED, 0, "the program did not declare %s%s%s",
				    QUOTE(request->resources[i].target.name),
				    list[0] ? ", but declared " : " or any other resource", list);
}
