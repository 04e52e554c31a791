/* The table of commands. */
#include <string.h>

#include "cmd/command.h"

#ifdef HAS_COLLECTORS
#define MEASURES(name) &command_##name,
#else
#define MEASURES(name)
#endif

const struct command *const commands[] = {
#define X(name) &command_##name,
	COMMANDS(X, MEASURES)
#undef X
		NULL,
};

const struct command_option *command_options(const struct command *command)
{
	return command->make_options ? command->make_options() : command->options;
}

const struct command_option command_help_option = { .letter = 'h',
						    .name = "help",
						    .help = "Show a summary of all this" };

const char *command_word(size_t index)
{
	for (size_t i = 0; commands[i]; i++)
		if (!(commands[i]->needs & IS_HIDDEN) && index-- == 0)
			return commands[i]->name;
	return NULL;
}

/* Writes "gmon: " if only some of the command's formats take the option, otherwise "". */
static const char *formats_of_option(const struct command *command, const struct command_option *option, char *text,
				     size_t bytes)
{
	struct command_format format;
	size_t used = 0;
	bool is_for_all = true;
	text[0] = 0;
	for (size_t i = 0; command->format_takes && command->formats(i, &format); i++) {
		if (!command->format_takes(format.name, option))
			is_for_all = false;
		else if (used < bytes)
			used += (size_t)snprintf(text + used, bytes - used, "%s%s", used ? ", " : "", format.name);
	}
	if (is_for_all)
		text[0] = 0;
	else if (used < bytes)
		snprintf(text + used, bytes - used, ": ");
	return text;
}

const char *command_option_help(const struct command *command, const struct command_option *option, char *text,
				size_t bytes)
{
	char list[128], formats[256];
	formats_of_option(command, option, formats, sizeof(formats));
	word_at *words = command->words ? command->words(option->id) : NULL;
	const char *gap = words ? strstr(option->help, "%s") : NULL;
	if (gap)
		snprintf(text, bytes, "%s%.*s%s%s", formats, (int)(gap - option->help), option->help,
			 words_list(words, list, sizeof(list)), gap + 2);
	else
		snprintf(text, bytes, "%s%s", formats, option->help);
	return text;
}

const struct command *command_find(const char *name)
{
	for (size_t i = 0; commands[i]; i++)
		if (strcmp(commands[i]->name, name) == 0)
			return commands[i];
	return NULL;
}
