/* The table of commands. */
#include <string.h>

#include "cmd/command.h"
#include "cmd/rows.h"

const struct command *const commands[] = {
	&command_record,
	&command_control,
	&command_trace,
	&command_resources,
	&command_instrument,
	&command_cc,
	&command_cxx,
	&command_report,
	&command_explore,
	&command_info,
	&command_gprof,
	&command_whatif,
	&command_diff,
	&command_import,
	&command_export,
	&command_help,
	&command_man,
	&command_completion,
	NULL,
};

const struct command_option *command_options(const struct command *command)
{
	return command->make_options ? command->make_options() : command->options;
}

const struct command *command_find(const char *name)
{
	for (size_t i = 0; commands[i]; i++)
		if (strcmp(commands[i]->name, name) == 0)
			return commands[i];
	return NULL;
}
