/*
 * Prints manual pages. A template in docs/man/ contains the prose, in scdoc's language. Lines such as @OPTIONS@ are
 * replaced by text from the command table.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "cmd/message.h"
#include "cmd/report_options.h"

/* Prints text in which characters that scdoc would interpret are escaped. */
static void print_plain(const char *text)
{
	for (; *text; text++) {
		if (strchr("\\_*#[]<", *text))
			putchar('\\');
		putchar(*text);
	}
}

static void print_synopsis(const struct command *command)
{
	for (size_t i = 0; command->usage[i]; i++) {
		printf("%s*cpprof %s* ", i ? "\n" : "", command->name);
		print_plain(command->usage[i]);
		putchar('\n');
	}
}

/* Prints one paragraph for each format, below the paragraph of --format. */
static void print_formats(const struct command *command)
{
	struct command_format format;
	for (size_t i = 0; command->formats && command->formats(i, &format); i++) {
		printf("\t*%s* (_.%s_): ", format.name, format.ending);
		print_plain(format.summary);
		fputs(".\n\n", stdout);
	}
}

static void print_option(const struct command *command, const struct command_option *option)
{
	char help[COMMAND_HELP_BYTES];
	putchar('*');
	if (option->letter)
		printf("-%c*, *", option->letter);
	printf("--%s*", option->name);
	if (option->value && strncmp(option->value, "[=", 2) == 0)
		printf("\\[=_%.*s_\\]", (int)strcspn(option->value + 2, "]"), option->value + 2);
	else if (option->value)
		printf(" _%s_", option->value);
	fputs("\n\t", stdout);
	print_plain(command_option_help(command, option, help, sizeof(help)));
	if (option->standard) {
		fputs(". Default: ", stdout);
		print_plain(option->standard);
	}
	fputs(".\n\n", stdout);
}

static void print_options(const struct command *command)
{
	const struct command_option *options = command_options(command);
	for (const struct command_option *option = options; option->name; option++) {
		const char *heading = report_of_option(options->id) ? report_options_heading(options, option) : NULL;
		if (heading)
			printf("## %s\n\n", heading);
		print_option(command, option);
		if (strcmp(option->name, "format") == 0)
			print_formats(command);
	}
	print_option(command, &command_help_option);
}

static void print_examples(const struct command *command)
{
	for (const struct command_example *example = command->examples; example->line; example++) {
		putchar('*');
		print_plain(example->line);
		fputs("*\n\t", stdout);
		print_plain(example->what);
		fputs("\n\n", stdout);
	}
}

/* The table is printed unchanged, in a literal block. */
static void print_own_commands(const struct command *command)
{
	fputs("```\n", stdout);
	if (command->print_commands)
		command->print_commands(stdout);
	fputs("```\n", stdout);
}

static void print_exit_status(const struct command *command)
{
	if (command->exit_status)
		print_plain(command->exit_status);
	fputs(".\n", stdout);
}

static void print_summary(const struct command *command)
{
	printf("cpprof-%s - %s\n", command->name, command->summary);
}

static void print_commands(const struct command *command)
{
	(void)command;
	for (size_t i = 0; commands[i]; i++)
		if (!(commands[i]->needs & IS_HIDDEN))
			printf("*cpprof-%s*(1)\n\t%s\n\n", commands[i]->name, commands[i]->summary);
}

static const struct {
	const char *line;
	void (*print)(const struct command *command);
} marks[] = {
	{ "@SUMMARY@\n", print_summary },         { "@SYNOPSIS@\n", print_synopsis },
	{ "@OPTIONS@\n", print_options },         { "@EXAMPLES@\n", print_examples },
	{ "@COMMANDS@\n", print_commands },       { "@OWN_COMMANDS@\n", print_own_commands },
	{ "@EXIT_STATUS@\n", print_exit_status },
};

static void print_line(const char *line, const struct command *command)
{
	for (size_t i = 0; i < sizeof(marks) / sizeof(marks[0]); i++) {
		if (strcmp(line, marks[i].line) == 0) {
			marks[i].print(command);
			return;
		}
	}
	fputs(line, stdout);
}

/* man COMMAND TEMPLATE. COMMAND is "cpprof", which is no command, for the overview page. */
static int run(struct invocation *invocation)
{
	const struct command *command = command_find(invocation->arguments[0]);
	const char *path = invocation->arguments[1];
	struct error error = { 0 };
	if (!command && strcmp(invocation->arguments[0], "cpprof") != 0)
		return command_unknown(invocation, invocation->arguments[0]);
	FILE *template = fopen(path, "re");
	if (!template) {
		error_set_errno(&error, "cannot read '%s'", path);
		return failure_of(invocation, &error);
	}
	char *line = NULL;
	size_t capacity = 0;
	while (getline(&line, &capacity, template) > 0)
		print_line(line, command);
	bool failed = ferror(template);
	free(line);
	fclose(template);
	return failed ? failure(invocation, "cannot read '%s'", path) : EXIT_DONE;
}

static const char *const usage[] = { "COMMAND TEMPLATE", NULL };
static const struct command_option options[] = { { 0 } };
static const struct command_example examples[] = { { 0 } };

const struct command command_man = {
	.name = "man",
	.task = TASK_HELP,
	.summary = "fill in a manual page's template",
	.usage = usage,
	.options = options,
	.examples = examples,
	.needs = IS_HIDDEN,
	.argument_min = 2,
	.argument_max = 2,
	.run = run,
};
