#include "ui/explore/command.h"

#include <string.h>

#include "analyze/settings.h"
#include "base/buffer.h"
#include "base/near_names.h"
#include "base/quote.h"
#include "reports/report.h"

enum { SETTINGS_MAX = 20, OTHERS = 4 };

static struct explore_command command_of(const struct setting *setting)
{
	return (struct explore_command){ .name = setting->command,
					 .arguments = setting->arguments,
					 .summary = setting->summary,
					 .detail = setting->detail,
					 .setting = setting };
}

const struct explore_command *const *explore_commands(void)
{
	static struct explore_command made[REPORTS_MAX + SETTINGS_MAX];
	static const struct explore_command *all[REPORTS_MAX + SETTINGS_MAX + OTHERS + 1];
	static const struct explore_command *const others[OTHERS] = { &explore_export, &explore_info, &explore_help,
								      &explore_quit };
	size_t count = 0;
	if (all[0])
		return all;
	made[count++] = command_of(&settings_table[0]);
	for (size_t i = 0; reports[i]; i++)
		explore_report_command(reports[i], &made[count++]);
	for (size_t i = 1; settings_table[i].command; i++)
		made[count++] = command_of(&settings_table[i]);
	for (size_t i = 0; i < count; i++)
		all[i] = &made[i];
	memcpy(all + count, others, sizeof(others));
	return all;
}

int explore_command_run(const struct explore_command *command, struct session *session, const char *arguments,
			FILE *out, struct error *error)
{
	return command->report    ? explore_report_run(command, session, arguments, out, error)
	       : command->setting ? explore_setting_run(command, session, arguments, out, error)
				  : command->run(session, arguments, out, error);
}

static void command_missing(const char *name, struct error *error)
{
	const struct explore_command *const *all = explore_commands();
	for (size_t i = 0; all[i]; i++) {
		if (text_resembles(name, all[i]->name)) {
			error_set(error, ERROR_USAGE, "no command %s (did you mean %s?)", QUOTE(name), all[i]->name);
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
	const struct explore_command *const *all = explore_commands();
	for (size_t i = 0; all[i]; i++) {
		const struct explore_command *command = all[i];
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

void commands_print(FILE *out)
{
	const struct explore_command *const *all = explore_commands();
	for (size_t i = 0; all[i]; i++) {
		const struct explore_command *command = all[i];
		int width = fprintf(out, "  %s%s%s", command->name, *command->arguments ? " " : "", command->arguments);
		fprintf(out, "%*s %s\n", width < 32 ? 32 - width : 0, "", command->summary);
	}
}
