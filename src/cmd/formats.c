#include "cmd/formats.h"

#include <stdio.h>
#include <string.h>

#include "cmd/export_events.h"
#include "cmd/message.h"

static bool works(const struct convert_format *format, enum direction direction)
{
	return direction == DIRECTION_IMPORT ? format->import != NULL : format->export != NULL;
}

const struct convert_format *format_chosen(const struct invocation *invocation, int id, enum direction direction)
{
	const char *name = option_value(invocation, id);
	const struct convert_format *format = convert_find(name ? name : "folded");
	if (format && works(format, direction))
		return format;
	char list[256] = "";
	for (size_t i = 0; convert_formats[i]; i++) {
		size_t used = strlen(list);
		if (works(convert_formats[i], direction))
			snprintf(list + used, sizeof(list) - used, "%s%s", used ? ", " : "", convert_formats[i]->name);
	}
	usage_error(invocation, "unknown format '%s'; there is: %s%s", name, list,
		    direction == DIRECTION_EXPORT ? ", " FORMAT_EVENTS : "");
	return NULL;
}
