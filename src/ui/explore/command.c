#include "ui/explore/command.h"

#include <string.h>

#include "base/buffer.h"
#include "base/nearest.h"
#include "base/quote.h"
#include "ui/explore/explore.h"

const struct explore_command *const explore_commands[] = {
	&explore_resource,  &explore_functions,
	&explore_body,      &explore_down,
	&explore_up,        &explore_tree,
	&explore_source,    &explore_pages,
	&explore_labels,    &explore_whatif,
	&explore_threshold, &explore_limit,
	&explore_by,        &explore_thread,
	&explore_process,   &explore_cgroup,
	&explore_label,     &explore_time,
	&explore_inlines,   &explore_trim,
	&explore_stitch,    &explore_export,
	&explore_info,      &explore_help,
	&explore_quit,      NULL,
};

static void command_missing(const char *name, struct error *error)
{
	for (size_t i = 0; explore_commands[i]; i++) {
		if (text_resembles(name, explore_commands[i]->name)) {
			error_set(error, ERROR_USAGE, "no command %s; near: %s", QUOTE(name),
				  explore_commands[i]->name);
			return;
		}
	}
	error_set(error, ERROR_USAGE, "no command %s; 'help' lists them", QUOTE(name));
}

const struct explore_command *explore_command_find(const char *name, struct error *error)
{
	size_t length = strlen(name);
	const struct explore_command *found = NULL;
	struct buffer fitting;
	buffer_init(&fitting);
	size_t count = 0;
	for (size_t i = 0; explore_commands[i]; i++) {
		const struct explore_command *command = explore_commands[i];
		if (strcmp(command->name, name) == 0 || (command->alias && strcmp(command->alias, name) == 0)) {
			buffer_release(&fitting);
			return command;
		}
		if (length && strncmp(command->name, name, length) == 0) {
			buffer_printf(&fitting, "%s%s", count++ ? ", " : "", command->name);
			found = command;
		}
	}
	buffer_append_byte(&fitting, 0);
	if (count > 1)
		error_set(error, ERROR_AMBIGUOUS, "command %s may be %s", QUOTE(name),
			  buffer_error(&fitting) ? "several" : (const char *)fitting.bytes);
	else if (!count)
		command_missing(name, error);
	buffer_release(&fitting);
	return count == 1 ? found : NULL;
}

void explore_print_commands(FILE *out)
{
	for (size_t i = 0; explore_commands[i]; i++) {
		const struct explore_command *command = explore_commands[i];
		int width = fprintf(out, "  %s%s%s", command->name, *command->arguments ? " " : "", command->arguments);
		fprintf(out, "%*s %s\n", width < 32 ? 32 - width : 0, "", command->summary);
	}
}
