/* Completion for bash, zsh and fish. The script of a shell passes the words of its line to `cpprof complete`, which answers from the command
 * table: with the commands, their options, and the words that values and arguments can be. No answer means: names of files. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "analyze/transform.h"
#include "cmd/completion_processes.h"
#include "cmd/message.h"
#include "cmd/profile_open.h"
#include "cmd/view_options.h"

/* --- the shells --- */

struct line {
	const struct invocation *invocation;
	const struct shell *shell;
	char **words; /* behind "cpprof"; the last one is being typed */
	size_t count;
	const char *typed; /* the part of the last word that the offered words begin with: "m" of "--by=m" */
	int prefix_bytes;  /* of the last word before it */
};

struct shell {
	const char *name;
	const char *script;
	void (*print)(const struct line *line, const char *word, const char *help);
	bool splits; /* "=" and ":" are words of its own */
};

static const char *last_word(const struct line *line)
{
	return line->words[line->count - 1];
}

/* bash replaces what is behind the last ':' or '='. */
static void print_bash(const struct line *line, const char *word, const char *help)
{
	(void)help;
	const char *colon = strrchr(line->typed, ':');
	puts(word + (colon ? colon + 1 - line->typed : 0));
}

static void print_zsh(const struct line *line, const char *word, const char *help)
{
	printf("%.*s", line->prefix_bytes, last_word(line));
	for (; *word; word++)
		printf(*word == ':' || *word == '\\' ? "\\%c" : "%c", *word);
	printf(":%s\n", help);
}

static void print_fish(const struct line *line, const char *word, const char *help)
{
	printf("%.*s%s\t%s\n", line->prefix_bytes, last_word(line), word, help);
}

static const struct shell shells[] = {
	{ "bash",
	  "# bash completion of cpprof, made by 'cpprof completion bash'\n"
	  "_cpprof()\n"
	  "{\n"
	  "\tlocal IFS=$'\\n'\n"
	  "\tCOMPREPLY=($(\"${COMP_WORDS[0]}\" complete bash \"${COMP_WORDS[@]:1:COMP_CWORD}\" 2>/dev/null))\n"
	  "}\n"
	  "complete -o default -F _cpprof cpprof\n",
	  print_bash, true },
	{ "zsh",
	  "#compdef cpprof\n"
	  "# zsh completion of cpprof, made by 'cpprof completion zsh'\n"
	  "_cpprof()\n"
	  "{\n"
	  "\tlocal -a offered\n"
	  "\toffered=(\"${(@f)$(${words[1]} complete zsh \"${(@)words[2,CURRENT]}\" 2>/dev/null)}\")\n"
	  "\tif [[ -n ${offered[1]} ]]; then\n"
	  "\t\t_describe cpprof offered\n"
	  "\telse\n"
	  "\t\t_files\n"
	  "\tfi\n"
	  "}\n"
	  "if [[ ${funcstack[1]} == _cpprof ]]; then # autoloaded\n"
	  "\t_cpprof \"$@\"\n"
	  "else\n"
	  "\tcompdef _cpprof cpprof\n"
	  "fi\n",
	  print_zsh, false },
	{ "fish",
	  "# fish completion of cpprof, made by 'cpprof completion fish'\n"
	  "function __cpprof\n"
	  "\tset -l typed (commandline -opc) (commandline -ct)\n"
	  "\tset -l offered ($typed[1] complete fish $typed[2..] 2>/dev/null)\n"
	  "\tif set -q offered[1]\n"
	  "\t\tprintf '%s\\n' $offered\n"
	  "\telse\n"
	  "\t\t__fish_complete_path (commandline -ct)\n"
	  "\tend\n"
	  "end\n"
	  "complete -c cpprof -f -a '(__cpprof)'\n",
	  print_fish, false },
};

static const char *shell_word(size_t index)
{
	return index < sizeof(shells) / sizeof(shells[0]) ? shells[index].name : NULL;
}

static const struct shell *shell_of(const struct invocation *invocation)
{
	char list[64];
	const char *name = invocation->arguments[0];
	for (size_t i = 0; shell_word(i); i++)
		if (strcmp(name, shell_word(i)) == 0)
			return &shells[i];
	usage_error(invocation, "unknown shell '%s' (%s)", name, words_list(shell_word, list, sizeof(list)));
	return NULL;
}

/* --- the answer --- */

static void offer(void *context, const char *word, const char *help)
{
	const struct line *line = context;
	if (strncmp(word, line->typed, strlen(line->typed)) == 0)
		line->shell->print(line, word, help);
}

static void offer_words(struct line *line, word_at *words)
{
	for (size_t i = 0; words && words(i); i++)
		offer(line, words(i), "");
}

static void offer_commands(struct line *line)
{
	for (size_t i = 0; commands[i]; i++)
		if (!(commands[i]->needs & IS_HIDDEN))
			offer(line, commands[i]->name, commands[i]->summary);
	offer(line, "--help", "List the commands");
	offer(line, "--version", "Print the version");
}

static void offer_option(struct line *line, const struct command *command, const struct command_option *option)
{
	char name[64], help[COMMAND_HELP_BYTES];
	snprintf(name, sizeof(name), "--%s", option->name);
	offer(line, name, command_option_help(command, option, help, sizeof(help)));
}

/* The profile on the line, or the default one. */
static const char *profile_path(const struct line *line)
{
	const char *path = PROFILE_FILE_DEFAULT;
	for (size_t i = 1; i + 1 < line->count; i++)
		if (line->words[i][0] != '-' && access(line->words[i], R_OK) == 0)
			path = line->words[i];
	return path;
}

/* A transform, KIND=FUNCTION: the kinds, and behind the '=' functions of the profile. */
static int offer_transforms(struct line *line)
{
	char word[32];
	const char *equals = strchr(line->typed, '=');
	for (size_t i = 0; !equals && transform_kind_word(i); i++) {
		snprintf(word, sizeof(word), "%s=", transform_kind_word(i));
		offer(line, word, transform_kind_help(i));
	}
	if (!equals)
		return EXIT_DONE;
	line->prefix_bytes += (int)(equals + 1 - line->typed);
	line->typed = equals + 1;
	return completion_profile_each(line->invocation, "FN", profile_path(line), offer, line);
}

/* The values of an option: of a table, formats, running processes, or names out of the profile, for a command that reads one. */
static int offer_values(struct line *line, const struct command *command, const struct command_option *option)
{
	struct command_format format;
	word_at *words = command->words ? command->words(option->id) : NULL;
	bool is_format = !words && command->formats && strcmp(option->name, "format") == 0;
	offer_words(line, words);
	for (size_t i = 0; is_format && command->formats(i, &format); i++)
		offer(line, format.name, format.summary);
	if (strcmp(option->value, VALUE_TRANSFORM) == 0)
		return command->needs & STOPS_AT_ARGUMENT ? EXIT_DONE : offer_transforms(line);
	if (words || is_format || completion_processes_each(option, offer, line) || command->needs & STOPS_AT_ARGUMENT)
		return EXIT_DONE;
	return completion_profile_each(line->invocation, option->value, profile_path(line), offer, line);
}

/* Returns the option "--name" or "-n" of this length, or NULL. */
static const struct command_option *option_of(const struct command *command, const char *word, size_t length)
{
	for (const struct command_option *option = command_options(command); option->name; option++) {
		bool is_letter = length == 2 && word[0] == '-' && word[1] == option->letter && option->letter;
		if (is_letter || (length > 2 && strncmp(word, "--", 2) == 0 && strlen(option->name) == length - 2 &&
				  memcmp(word + 2, option->name, length - 2) == 0))
			return option;
	}
	return NULL;
}

/* Returns the option whose value is the next word, or NULL. */
static const struct command_option *taker(const struct command *command, const char *word)
{
	const struct command_option *option = option_of(command, word, strlen(word));
	return option && option->value && option->value[0] != '[' ? option : NULL;
}

/* Returns the number of the word from which on the words are another program's, or 0. */
static size_t find_target(const struct line *line, const struct command *command)
{
	for (size_t i = 1; i + 1 < line->count; i++) {
		const char *word = line->words[i];
		if (strcmp(word, "--") == 0)
			return i;
		if (taker(command, word))
			i++;
		else if ((command->needs & STOPS_AT_ARGUMENT) && (word[0] != '-' || !word[1]))
			return i;
	}
	return 0;
}

static int answer_for(struct line *line, const struct command *command)
{
	const char *last = last_word(line), *equals = strncmp(last, "--", 2) == 0 ? strchr(last, '=') : NULL;
	const struct command_option *option = line->count > 2 ? taker(command, line->words[line->count - 2]) : NULL;
	size_t target = find_target(line, command);
	if (target) {
		if (line->count - 1 - target == 1 && command->words)
			offer_words(line, command->words(SECOND_ARGUMENT_WORDS));
		return EXIT_DONE;
	}
	if (equals) {
		line->typed = equals + 1;
		line->prefix_bytes = (int)(equals + 1 - last);
		option = option_of(command, last, (size_t)(equals - last));
		return option && option->value ? offer_values(line, command, option) : EXIT_DONE;
	}
	if (option)
		return offer_values(line, command, option);
	if (last[0] == '-') {
		for (option = command_options(command); option->name; option++)
			offer_option(line, command, option);
		offer_option(line, command, &command_help_option);
	} else if (command->words) {
		offer_words(line, command->words(ARGUMENT_WORDS));
	}
	return EXIT_DONE;
}

/* Joins the words that the shell has split at '=' and ':'. Returns their number. */
static size_t join(char **words, size_t count, char *text)
{
	size_t joined = 0;
	bool follows = false; /* the word belongs to the word before */
	for (size_t i = 0; i < count; i++) {
		bool splits = words[i][0] && strspn(words[i], "=:") == strlen(words[i]);
		const char *word = words[i];
		if (joined == 0 || (!splits && !follows))
			words[joined++] = text;
		else
			text--; /* over the end of the word before */
		text = stpcpy(text, word) + 1;
		follows = splits;
	}
	return joined;
}

static int answer(struct line *line)
{
	line->typed = last_word(line);
	if (line->count == 1)
		offer_commands(line);
	for (size_t i = 0; commands[i] && line->count > 1; i++)
		if (strcmp(commands[i]->name, line->words[0]) == 0)
			return answer_for(line, commands[i]);
	return EXIT_DONE;
}

static int run_complete(struct invocation *invocation)
{
	struct line line = { .invocation = invocation,
			     .shell = shell_of(invocation),
			     .words = invocation->arguments + 1,
			     .count = invocation->argument_count - 1 };
	size_t bytes = 1;
	if (!line.shell || line.count == 0)
		return line.shell ? EXIT_DONE : EXIT_WORDS;
	for (size_t i = 0; i < line.count; i++)
		bytes += strlen(line.words[i]) + 1;
	char *text = malloc(bytes);
	if (!text)
		return failure(invocation, "out of memory");
	if (line.shell->splits)
		line.count = join(line.words, line.count, text);
	int status = answer(&line);
	free(text);
	return status;
}

/* --- the commands --- */

static word_at *words(int id)
{
	return id == ARGUMENT_WORDS ? shell_word : NULL;
}

static int run_completion(struct invocation *invocation)
{
	const struct shell *shell = shell_of(invocation);
	if (shell)
		fputs(shell->script, stdout);
	return shell ? EXIT_DONE : EXIT_WORDS;
}

static const char *const usage[] = { "bash|zsh|fish", NULL };
static const struct command_option no_options[] = { { 0 } };
static const struct command_example examples[] = {
	{ "source <(cpprof completion bash)", "complete in this bash" },
	{ "cpprof completion zsh > ~/.zfunc/_cpprof", "complete in each new zsh whose fpath has ~/.zfunc" },
	{ "cpprof completion fish > ~/.config/fish/completions/cpprof.fish", "complete in each new fish" },
	{ 0 },
};

const struct command command_completion = {
	.name = "completion",
	.task = TASK_HELP,
	.summary = "print the completion script for a shell",
	.usage = usage,
	.options = no_options,
	.examples = examples,
	.words = words,
	.argument_min = 1,
	.argument_max = 1,
	.run = run_completion,
};

static const char *const usage_of_answers[] = { "bash|zsh|fish [WORD]...", NULL };
static const struct command_option options[] = { ROW_MEMORY, { 0 } };

const struct command command_complete = {
	.name = "complete",
	.needs = IS_HIDDEN | STOPS_AT_ARGUMENT,
	.task = TASK_HELP,
	.summary = "print what the last word of a command line can become, for a shell's completion",
	.usage = usage_of_answers,
	.options = options,
	.words = words,
	.argument_min = 1,
	.argument_max = SIZE_MAX,
	.run = run_complete,
};
