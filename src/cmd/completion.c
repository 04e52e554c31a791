/* Completion for bash: one function, whose words come from the command table. */
#include <stdio.h>

#include "cmd/rows.h"

static void print_command_words(void)
{
	for (size_t i = 0; commands[i]; i++)
		if (!(commands[i]->needs & IS_HIDDEN))
			printf("%s ", commands[i]->name);
	fputs("--help --version", stdout);
}

static void print_option_words(const struct command *command)
{
	for (const struct command_option *option = command_options(command); option->name; option++)
		printf("--%s ", option->name);
	fputs("--help", stdout);
}

/* Prints the values of --format, if the command's row lists them. */
static void print_format_words(const struct command *command)
{
	struct command_format format;
	if (!command->formats)
		return;
	printf("\t\t%s) words='", command->name);
	for (size_t i = 0; command->formats(i, &format); i++)
		printf("%s%s", i ? " " : "", format.name);
	fputs("' ;;\n", stdout);
}

static int run(struct invocation *invocation)
{
	(void)invocation;
	fputs("# bash completion of cpprof, made by 'cpprof completion'\n"
	      "_cpprof()\n{\n"
	      "\tlocal current=${COMP_WORDS[COMP_CWORD]} words\n"
	      "\tif ((COMP_CWORD == 1)); then\n"
	      "\t\tCOMPREPLY=($(compgen -W '",
	      stdout);
	print_command_words();
	fputs("' -- \"$current\"))\n\t\treturn\n\tfi\n"
	      "\tcase ${COMP_WORDS[1]} in\n",
	      stdout);
	for (size_t i = 0; commands[i]; i++) {
		if (commands[i]->needs & IS_HIDDEN)
			continue;
		printf("\t%s) words='", commands[i]->name);
		print_option_words(commands[i]);
		fputs("' ;;\n", stdout);
	}
	fputs("\t*) return ;;\n\tesac\n"
	      "\tlocal i\n"
	      "\tfor ((i = 2; i < COMP_CWORD; i++)); do\n"
	      "\t\t[[ ${COMP_WORDS[i]} == -- ]] && return # another program's words\n"
	      "\tdone\n"
	      "\tif [[ ${COMP_WORDS[COMP_CWORD-1]} == --format ]]; then\n"
	      "\t\tcase ${COMP_WORDS[1]} in\n",
	      stdout);
	for (size_t i = 0; commands[i]; i++)
		print_format_words(commands[i]);
	fputs("\t\tinfo | resources) words='text json' ;;\n"
	      "\t\t*) words='text json csv' ;;\n"
	      "\t\tesac\n"
	      "\telif [[ ${COMP_WORDS[COMP_CWORD-1]} == --by ]]; then\n"
	      "\t\twords='function callsite line module'\n"
	      "\telif [[ ${COMP_WORDS[1]} == help ]]; then\n"
	      "\t\twords='",
	      stdout);
	print_command_words();
	fputs("'\n"
	      "\telif [[ $current != -* ]]; then\n"
	      "\t\treturn # a file's name: bash completes it\n"
	      "\tfi\n"
	      "\tCOMPREPLY=($(compgen -W \"$words\" -- \"$current\"))\n"
	      "}\n"
	      "complete -o default -F _cpprof cpprof\n",
	      stdout);
	return EXIT_DONE;
}

static const char *const usage[] = { "", NULL };
static const struct command_option options[] = { { 0 } };
static const struct command_example examples[] = { { 0 } };

const struct command command_completion = {
	.name = "completion",
	.task = TASK_HELP,
	.summary = "print the completion script for bash",
	.usage = usage,
	.options = options,
	.examples = examples,
	.needs = IS_HIDDEN,
	.run = run,
};
