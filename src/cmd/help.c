#include "cmd/command.h"

#include <string.h>

#include "cmd/message.h"
#include "cmd/report_options.h"

enum { OPTION_COLUMN = 26, LINE_WIDTH = 80, EXAMPLE_WIDTH = 42 };

/* Prints the words of `text`, broken into lines that start at `column`. */
static void print_wrapped(FILE *out, const char *text, size_t column)
{
	size_t at = column;
	while (*text) {
		size_t length = strcspn(text, " ");
		if (at > column && at + 1 + length > LINE_WIDTH) {
			fprintf(out, "\n%*s", (int)column, "");
			at = column;
		} else if (at > column) {
			fputc(' ', out);
			at++;
		}
		fwrite(text, 1, length, out);
		at += length;
		text += length;
		text += strspn(text, " ");
	}
}

/* Prints "folded: one line per call path", one line for each format, below --format. */
static void print_formats(FILE *out, const struct command *command)
{
	enum { INDENT = 2 };
	struct command_format format;
	for (size_t i = 0; command->formats && command->formats(i, &format); i++) {
		char line[320];
		snprintf(line, sizeof(line), "%s: %s", format.name, format.summary);
		fprintf(out, "%*s", OPTION_COLUMN, "");
		print_wrapped(out, line, OPTION_COLUMN + INDENT);
		fputc('\n', out);
	}
}

static void print_option(FILE *out, const struct command *command, const struct command_option *option)
{
	char left[64], right[COMMAND_HELP_BYTES], help[COMMAND_HELP_BYTES];
	char letter[4] = "  ";
	if (option->letter)
		snprintf(letter, sizeof(letter), "-%c", option->letter);
	snprintf(left, sizeof(left), "  %s%s --%s%s%s", letter, option->letter ? "," : " ", option->name,
		 option->value && strncmp(option->value, "[=", 2) != 0 ? " " : "", option->value ? option->value : "");
	snprintf(right, sizeof(right), "%s%s%s%s", command_option_help(command, option, help, sizeof(help)),
		 option->standard ? " [" : "", option->standard ? option->standard : "", option->standard ? "]" : "");
	fputs(left, out);
	if (strlen(left) + 2 > OPTION_COLUMN)
		fprintf(out, "\n%*s", OPTION_COLUMN, "");
	else
		fprintf(out, "%*s", OPTION_COLUMN - (int)strlen(left), "");
	print_wrapped(out, right, OPTION_COLUMN);
	fputc('\n', out);
}

void help_print_command(FILE *out, const struct command *command)
{
	fprintf(out, "cpprof %s: %s\n\n", command->name, command->summary);
	for (size_t i = 0; command->usage[i]; i++)
		fprintf(out, "%s cpprof %s %s\n", i ? "      " : "usage:", command->name, command->usage[i]);
	const struct command_option *options = command_options(command);
	if (!options->name)
		fputs("\noptions:\n", out);
	for (const struct command_option *option = options; option->name; option++) {
		const char *heading = report_options_heading(options, option);
		if (heading)
			fprintf(out, "\n%s:\n", heading);
		print_option(out, command, option);
		if (strcmp(option->name, "format") == 0)
			print_formats(out, command);
	}
	print_option(out, command, &command_help_option);
	if (command->print_commands) {
		fprintf(out, "\n%s:\n", command->commands_heading);
		command->print_commands(out);
	}
	if (command->examples[0].line)
		fputs("\nexamples:\n", out);
	for (const struct command_example *example = command->examples; example->line; example++)
		fprintf(out, "  %s\n      %s\n", example->line, example->what);
	if (command->exit_status) {
		fputs("\nexit status:\n  ", out);
		print_wrapped(out, command->exit_status, 2);
		fputc('\n', out);
	}
	fprintf(out, "\nThe manual: man cpprof-%s\n", command->name);
}

/* Prints an example on one line if its command line fits into the column. */
static void print_example(FILE *out, const struct command_example *example)
{
	if (strlen(example->line) <= EXAMPLE_WIDTH)
		fprintf(out, "  %-*s %s\n", EXAMPLE_WIDTH, example->line, example->what);
	else
		fprintf(out, "  %s\n  %*s %s\n", example->line, EXAMPLE_WIDTH, "", example->what);
}

void help_print_overview(FILE *out)
{
	const char *task = "";
	fputs("cpprof shows the call paths on which a program spends its time, or any other resource\nwhose use only "
	      "grows.\n\nusage: cpprof COMMAND [OPTION]... [ARGUMENT]...\n",
	      out);
	for (size_t i = 0; commands[i]; i++) {
		if (commands[i]->needs & IS_HIDDEN)
			continue;
		if (strcmp(task, commands[i]->task) != 0)
			fprintf(out, "\n%s\n", commands[i]->task);
		task = commands[i]->task;
		fprintf(out, "  %-10s %s\n", commands[i]->name, commands[i]->summary);
	}
	fputs("\nexamples:\n", out);
	for (size_t i = 0; commands[i]; i++) {
		const struct command_example *example = commands[i]->examples;
		if (!(commands[i]->needs & IS_HIDDEN) && example[0].line)
			print_example(out, &example[0]);
	}
	fputs("\n'cpprof COMMAND --help' lists a command's options; 'cpprof --version' prints the version.\n", out);
}

static int run(struct invocation *invocation)
{
	if (invocation->argument_count == 0) {
		help_print_overview(stdout);
		return EXIT_DONE;
	}
	const char *name = invocation->arguments[0];
	const struct command *command = command_find(name);
	if (command) {
		help_print_command(stdout, command);
		return EXIT_DONE;
	}
	return command_unknown(invocation, name);
}

static word_at *words(int id)
{
	return id == ARGUMENT_WORDS ? command_word : NULL;
}

static const char *const usage[] = { "[COMMAND]", NULL };
static const struct command_option options[] = { { 0 } };
static const struct command_example examples[] = {
	{ "cpprof help report", "what 'report' can do" },
	{ 0 },
};

const struct command command_help = {
	.name = "help",
	.task = TASK_HELP,
	.summary = "describe the commands",
	.usage = usage,
	.options = options,
	.examples = examples,
	.words = words,
	.argument_max = 1,
	.run = run,
};
