#include "cmd/formats.h"

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

#include "base/time_unit.h"
#include "cmd/message.h"

static bool works(const struct format *format, enum direction direction)
{
	return direction == DIRECTION_IMPORT ? format->import != NULL : format->export != NULL;
}

static bool value_at(size_t index, enum direction direction, struct command_format *value)
{
	for (size_t i = 0; formats[i]; i++) {
		if (!works(formats[i], direction) || index-- > 0)
			continue;
		*value = (struct command_format){ .name = formats[i]->name,
						  .summary = formats[i]->summary,
						  .ending = formats[i]->ending };
		return true;
	}
	return false;
}

bool format_imported(size_t index, struct command_format *value)
{
	return value_at(index, DIRECTION_IMPORT, value);
}

bool format_exported(size_t index, struct command_format *value)
{
	return value_at(index, DIRECTION_EXPORT, value);
}

static const char *import_word(size_t index)
{
	struct command_format value;
	return format_imported(index, &value) ? value.name : NULL;
}

static const char *export_word(size_t index)
{
	struct command_format value;
	return format_exported(index, &value) ? value.name : NULL;
}

char *formats_list(enum direction direction, char *list, size_t bytes)
{
	return words_list(direction == DIRECTION_IMPORT ? import_word : export_word, list, bytes);
}

const struct format *format_chosen(const struct invocation *invocation, int id, enum direction direction)
{
	const char *name = option_value(invocation, id);
	const struct format *format = format_find(name ? name : "folded");
	if (format && works(format, direction))
		return format;
	char list[256];
	usage_error(invocation, "unknown format '%s' (%s)", name, formats_list(direction, list, sizeof(list)));
	return NULL;
}

int64_t format_start_ns(const struct invocation *invocation)
{
	struct stat status;
	struct timespec now;
	int64_t start_ns = 0;
	if (invocation->profile->start_unix_ns > 0)
		return invocation->profile->start_unix_ns;
	if (stat(invocation->profile_path, &status) == 0 && S_ISREG(status.st_mode) &&
	    time_unix_ns(&status.st_mtim, &start_ns))
		return start_ns;
	clock_gettime(CLOCK_REALTIME, &now);
	time_unix_ns(&now, &start_ns);
	return start_ns;
}

void format_set_start(const struct invocation *invocation, const struct format *format)
{
	if (format->needs & FORMAT_NEEDS_START)
		invocation->profile->start_unix_ns = format_start_ns(invocation);
}

int format_check_resources(const struct invocation *invocation, int id)
{
	size_t count = 0;
	for (size_t i = 0; i < invocation->use_count; i++)
		count += invocation->uses[i].option->id == id;
	return count > 1 ? usage_error(invocation, "-r can be given once to '%s' (run it once for each resource)",
				       invocation->command->name)
			 : EXIT_DONE;
}
