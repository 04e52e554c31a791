#include "base/near_names.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "base/nearest.h"

void near_names_init(struct near_names *near, const char *typed)
{
	near->typed = typed;
	near->count = 0;
	near->text[0] = 0;
}

static bool is_known(const struct near_names *near, const char *name)
{
	for (size_t i = 0; i < near->count; i++)
		if (strncmp(near->names[i], name, NEAR_NAME_BYTES - 1) == 0)
			return true;
	return false;
}

void near_names_offer(struct near_names *near, const char *name)
{
	if (text_resembles(near->typed, name))
		near_names_add(near, name, text_distance(near->typed, name));
}

void near_names_add(struct near_names *near, const char *name, size_t distance)
{
	size_t at = near->count;
	while (at > 0 && near->distances[at - 1] > distance)
		at--;
	if (at == NEAR_NAMES || is_known(near, name))
		return;
	size_t moved = near->count - at - (near->count == NEAR_NAMES);
	memmove(&near->distances[at + 1], &near->distances[at], moved * sizeof(near->distances[0]));
	memmove(near->names[at + 1], near->names[at], moved * NEAR_NAME_BYTES);
	near->distances[at] = distance;
	snprintf(near->names[at], NEAR_NAME_BYTES, "%s", name);
	near->count += near->count < NEAR_NAMES;
}

const char *near_names_text(struct near_names *near)
{
	size_t used = 0;
	for (size_t i = 0; i < near->count; i++)
		used += (size_t)snprintf(near->text + used, sizeof(near->text) - used, "%s%s",
					 i ? ", " : " (did you mean ", near->names[i]);
	if (used > 0)
		snprintf(near->text + used, sizeof(near->text) - used, "?)");
	return near->text;
}
