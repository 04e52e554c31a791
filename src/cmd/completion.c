/* Completion for bash, zsh and fish. All words come from the command table: the commands, their options, and the words
 * that values and arguments can be. */
#include <stdio.h>
#include <string.h>

#include "cmd/completion_profile.h"
#include "cmd/message.h"
#include "cmd/profile_open.h"
#include "cmd/rows.h"

/* --- the words --- */

/* Word number `index` of the option's value; NULL: past the last. */
static const char *option_word(const struct command *command, const struct command_option *option, size_t index)
{
	static struct command_format format;
	word_at *words = command->words ? command->words(option->id) : NULL;
	if (words)
		return words(index);
	bool is_format = command->formats && strcmp(option->name, "format") == 0;
	return is_format && command->formats(index, &format) ? format.name : NULL;
}

static void print_option_words(const struct command *command, const struct command_option *option)
{
	const char *word;
	for (size_t i = 0; (word = option_word(command, option, i)); i++)
		printf("%s%s", i ? " " : "", word);
}

/* The list out of the profile from which the option's value comes, for a command that reads one; or NULL. */
static const char *profile_list(const struct command *command, const struct command_option *option)
{
	return command->needs & STOPS_AT_ARGUMENT ? NULL : completion_profile_of(option->value);
}

/* NULL: the command's arguments are not from a table. */
static word_at *argument_words(const struct command *command)
{
	return command->words ? command->words(ARGUMENT_WORDS) : NULL;
}

static void print_words(word_at *words)
{
	for (size_t i = 0; words(i); i++)
		printf("%s%s", i ? " " : "", words(i));
}

static bool is_optional(const struct command_option *option)
{
	return option->value && option->value[0] == '[';
}

static bool is_listed(const struct command *command)
{
	return !(command->needs & IS_HIDDEN);
}

static bool takes_next_word(const struct command_option *option)
{
	return option->value && !is_optional(option);
}

/* Prints the options that the next word belongs to: "--resource -r --output -o". */
static void print_takers(const struct command *command)
{
	const char *gap = "";
	for (const struct command_option *option = command_options(command); option->name; option++) {
		if (!takes_next_word(option))
			continue;
		printf("%s--%s", gap, option->name);
		gap = " ";
		if (option->letter)
			printf(" -%c", option->letter);
	}
}

static bool stops_at_argument(const struct command *command)
{
	return is_listed(command) && (command->needs & STOPS_AT_ARGUMENT);
}

/* NULL: the command's second argument is not from a table. */
static word_at *second_argument_words(const struct command *command)
{
	return command->words ? command->words(SECOND_ARGUMENT_WORDS) : NULL;
}

/* In single quotes, with `escape` before each of `special`. */
static void print_quoted(const char *text, const char *special, const char *escape)
{
	putchar('\'');
	for (; *text; text++) {
		if (strchr(special, *text))
			fputs(escape, stdout);
		putchar(*text);
	}
	putchar('\'');
}

/* --- bash and zsh: patterns of `case` --- */

/* ('report --format' | 'report --format=') values='text json csv' ;;
 * A value that may be left out stands behind a '=' only. */
static void print_value_patterns(const struct command *command)
{
	for (const struct command_option *option = command_options(command); option->name; option++) {
		const char *list = profile_list(command, option);
		if (!option_word(command, option, 0) && !list)
			continue;
		printf("\t('%s --%s='", command->name, option->name);
		if (!is_optional(option))
			printf(" | '%s --%s'", command->name, option->name);
		if (!is_optional(option) && option->letter)
			printf(" | '%s -%c'", command->name, option->letter);
		fputs(list ? ") list='" : ") values='", stdout);
		if (list)
			fputs(list, stdout);
		else
			print_option_words(command, option);
		fputs("' ;;\n", stdout);
	}
}

/* Calls `print_case` for each command that the help lists. */
static void print_cases(void (*print_case)(const struct command *command))
{
	for (size_t i = 0; commands[i]; i++)
		if (is_listed(commands[i]))
			print_case(commands[i]);
}

static void print_values(void)
{
	fputs("\tcase \"$command $previous\" in\n", stdout);
	print_cases(print_value_patterns);
	fputs("\tesac\n"
	      "\tif [[ -z $values ]]; then\n"
	      "\t\tcase $command in\n",
	      stdout);
	for (size_t i = 0; commands[i]; i++) {
		word_at *words = argument_words(commands[i]);
		if (!words || !is_listed(commands[i]))
			continue;
		printf("\t\t(%s) values='", commands[i]->name);
		print_words(words);
		fputs("' ;;\n", stdout);
	}
	fputs("\t\tesac\n"
	      "\tfi\n"
	      "\tif [[ -n $list ]]; then # out of the profile on the command line, or the default one\n"
	      "\t\tfor word in \"${typed[@]}\"; do\n"
	      "\t\t\t[[ $word != -* && -f $word ]] && file=$word\n"
	      "\t\tdone\n"
	      "\tfi\n",
	      stdout);
}

/* Sets `target` if the words from number `first` on contain the first argument of a command whose further words are not
 * its own: another program's. `words` names the array of words. In bash, a '=' is a word. */
static void print_target(const char *words, const char *last, int first)
{
	fputs("\tcase $command in\n", stdout);
	for (size_t i = 0; commands[i]; i++) {
		if (!stops_at_argument(commands[i]))
			continue;
		printf("\t(%s) takers=' ", commands[i]->name);
		print_takers(commands[i]);
		fputs(" ' ;;\n", stdout);
	}
	printf("\tesac\n"
	       "\tfor ((i = %d; i < %s; i++)); do\n"
	       "\t\tword=${%s[i]}\n"
	       "\t\t[[ $word == -- ]] && { target=$i; break; }\n"
	       "\t\t[[ -n $takers ]] || continue\n"
	       "\t\tif [[ $word == = ]]; then\n"
	       "\t\t\ti=$((i + 1))\n"
	       "\t\telif [[ $takers == *\" $word \"* ]]; then\n"
	       "\t\t\t[[ ${%s[i+1]} == = ]] || i=$((i + 1))\n"
	       "\t\telif [[ $word != -?* ]]; then\n"
	       "\t\t\ttarget=$i\n"
	       "\t\t\tbreak\n"
	       "\t\tfi\n"
	       "\tdone\n"
	       "\tif [[ -n $target ]]; then # the words behind it are another program's\n"
	       "\t\tcase \"$command $((%s - target))\" in\n",
	       first, last, words, words, last);
	for (size_t i = 0; commands[i]; i++) {
		word_at *second = is_listed(commands[i]) ? second_argument_words(commands[i]) : NULL;
		if (!second)
			continue;
		printf("\t\t('%s 1') values='", commands[i]->name);
		print_words(second);
		fputs("' ;;\n", stdout);
	}
	fputs("\t\tesac\n", stdout);
}

/* --- bash --- */

static void print_bash_options(const struct command *command)
{
	printf("\t\t(%s) values='", command->name);
	for (const struct command_option *option = command_options(command); option->name; option++)
		printf("--%s ", option->name);
	fputs("--help' ;;\n", stdout);
}

static void print_bash(void)
{
	fputs("# bash completion of cpprof, made by 'cpprof completion bash'\n"
	      "_cpprof()\n"
	      "{\n"
	      "\tlocal current=${COMP_WORDS[COMP_CWORD]} previous=${COMP_WORDS[COMP_CWORD-1]}\n"
	      "\tlocal command=${COMP_WORDS[1]} values= list= file= takers= target= word i\n"
	      "\tlocal -a typed=(\"${COMP_WORDS[@]:2}\")\n"
	      "\tif ((COMP_CWORD == 1)); then\n"
	      "\t\tCOMPREPLY=($(compgen -W '",
	      stdout);
	print_words(command_word);
	fputs(" --help --version' -- \"$current\"))\n"
	      "\t\treturn\n"
	      "\tfi\n",
	      stdout);
	print_target("COMP_WORDS", "COMP_CWORD", 2);
	fputs("\t\t[[ -n $values ]] && COMPREPLY=($(compgen -W \"$values\" -- \"$current\"))\n"
	      "\t\treturn\n"
	      "\tfi\n"
	      "\tif [[ $current == = ]]; then # --by=\n"
	      "\t\tcurrent= previous+==\n"
	      "\telif [[ $previous == = ]]; then # --by=m\n"
	      "\t\tprevious=${COMP_WORDS[COMP_CWORD-2]}=\n"
	      "\tfi\n",
	      stdout);
	print_values();
	fputs("\tif [[ -n $list ]]; then # a ':' is a word of bash's\n"
	      "\t\tcurrent=${COMP_LINE:0:COMP_POINT}\n"
	      "\t\tcurrent=${current##*[ =]}\n"
	      "\t\twhile IFS= read -r word; do\n"
	      "\t\t\t[[ $word == \"$current\"* ]] && COMPREPLY+=(\"${word#\"${current%\"${current##*:}\"}\"}\")\n"
	      "\t\tdone < <(\"${COMP_WORDS[0]}\" completion $list $file 2>/dev/null)\n"
	      "\t\treturn\n"
	      "\tfi\n"
	      "\tif [[ $current == -* ]]; then\n"
	      "\t\tcase $command in\n",
	      stdout);
	print_cases(print_bash_options);
	fputs("\t\tesac\n"
	      "\tfi\n"
	      "\t[[ -n $values ]] || return # a file's name: bash completes it\n"
	      "\tCOMPREPLY=($(compgen -W \"$values\" -- \"$current\"))\n"
	      "}\n"
	      "complete -o default -F _cpprof cpprof\n",
	      stdout);
}

/* --- zsh --- */

/* 'name:description', for _describe */
static void print_zsh_pair(const char *dashes, const char *name, const char *description)
{
	printf(" %s%s:", dashes, name);
	print_quoted(description, "'", "'\\'");
}

static void print_zsh_options(const struct command *command)
{
	char help[COMMAND_HELP_BYTES];
	printf("\t\t(%s) pairs=(", command->name);
	for (const struct command_option *option = command_options(command); option->name; option++)
		print_zsh_pair("--", option->name, command_option_help(command, option, help, sizeof(help)));
	print_zsh_pair("--", command_help_option.name, command_help_option.help);
	fputs(") ;;\n", stdout);
}

static void print_zsh(void)
{
	fputs("#compdef cpprof\n"
	      "# zsh completion of cpprof, made by 'cpprof completion zsh'\n"
	      "_cpprof()\n"
	      "{\n"
	      "\tlocal current=${words[CURRENT]} previous=${words[CURRENT-1]} command=${words[2]} values= takers= "
	      "target= list= file= word i\n"
	      "\tlocal -a pairs typed\n"
	      "\ttyped=(\"${words[@]:2}\")\n"
	      "\tif ((CURRENT == 2)); then\n"
	      "\t\tpairs=(",
	      stdout);
	for (size_t i = 0; commands[i]; i++)
		if (is_listed(commands[i]))
			print_zsh_pair("", commands[i]->name, commands[i]->summary);
	fputs(")\n"
	      "\t\t_describe command pairs\n"
	      "\t\tcompadd -- --help --version\n"
	      "\t\treturn\n"
	      "\tfi\n",
	      stdout);
	print_target("words", "CURRENT", 3);
	fputs("\t\tif [[ -n $values ]]; then\n"
	      "\t\t\tcompadd -- ${=values}\n"
	      "\t\telse\n"
	      "\t\t\t_files\n"
	      "\t\tfi\n"
	      "\t\treturn\n"
	      "\tfi\n"
	      "\tif [[ $current == --*=* ]]; then # --by=m\n"
	      "\t\tprevious=${current%%=*}=\n"
	      "\t\tcompset -P '*='\n"
	      "\tfi\n",
	      stdout);
	print_values();
	fputs("\tif [[ -n $list ]]; then\n"
	      "\t\tcompadd -- ${(f)\"$(${words[1]} completion $list $file 2>/dev/null)\"}\n"
	      "\t\treturn\n"
	      "\tfi\n"
	      "\tif [[ $current == -* && $current != *=* ]]; then\n"
	      "\t\tcase $command in\n",
	      stdout);
	print_cases(print_zsh_options);
	fputs("\t\tesac\n"
	      "\t\t_describe -o option pairs\n"
	      "\telif [[ -n $values ]]; then\n"
	      "\t\tcompadd -- ${=values}\n"
	      "\telse\n"
	      "\t\t_files\n"
	      "\tfi\n"
	      "}\n"
	      "if [[ ${funcstack[1]} == _cpprof ]]; then # autoloaded\n"
	      "\t_cpprof \"$@\"\n"
	      "else\n"
	      "\tcompdef _cpprof cpprof\n"
	      "fi\n",
	      stdout);
}

/* --- fish --- */

static void print_fish_option(const struct command *command, const struct command_option *option)
{
	char help[COMMAND_HELP_BYTES];
	printf("complete -c cpprof -n '__cpprof_command %s' -l %s", command->name, option->name);
	if (option->letter)
		printf(" -s %c", option->letter);
	if (option_word(command, option, 0)) {
		fputs(is_optional(option) ? " -f -a '" : " -x -a '", stdout);
		print_option_words(command, option);
		putchar('\'');
	} else if (profile_list(command, option)) {
		printf(" -x -a '(__cpprof_list %s)'", profile_list(command, option));
	} else if (option->value && !is_optional(option)) {
		fputs(" -r", stdout);
	}
	fputs(" -d ", stdout);
	print_quoted(command_option_help(command, option, help, sizeof(help)), "'\\", "\\");
	putchar('\n');
}

static void print_fish_command(const struct command *command)
{
	word_at *words = argument_words(command), *second = second_argument_words(command);
	printf("complete -c cpprof -n __cpprof_no_command -f -a %s -d ", command->name);
	print_quoted(command->summary, "'\\", "\\");
	putchar('\n');
	for (const struct command_option *option = command_options(command); option->name; option++)
		print_fish_option(command, option);
	print_fish_option(command, &command_help_option);
	if (second) {
		printf("complete -c cpprof -n '__cpprof_second %s' -f -a '", command->name);
		print_words(second);
		fputs("'\n", stdout);
	}
	if (!words)
		return;
	printf("complete -c cpprof -n '__cpprof_command %s' -f -a '", command->name);
	print_words(words);
	fputs("'\n", stdout);
}

static void print_fish(void)
{
	fputs("# fish completion of cpprof, made by 'cpprof completion fish'\n"
	      "function __cpprof_list # out of the profile on the command line, or the default one\n"
	      "\tset -l typed (commandline -opc)\n"
	      "\tset -l file\n"
	      "\tfor word in $typed[3..]\n"
	      "\t\tif not string match -q -- '-*' $word; and test -f $word\n"
	      "\t\t\tset file $word\n"
	      "\t\tend\n"
	      "\tend\n"
	      "\t$typed[1] completion $argv[1] $file 2>/dev/null\n"
	      "end\n"
	      "function __cpprof_no_command\n"
	      "\ttest (count (commandline -opc)) -eq 1\n"
	      "end\n"
	      "function __cpprof_command # behind --, words are another program's\n"
	      "\tset -l typed (commandline -opc)\n"
	      "\ttest (count $typed) -ge 2\n"
	      "\tand test $typed[2] = $argv[1]\n"
	      "\tand not contains -- -- $typed\n"
	      "\tor return\n"
	      "\tset -l takers # options that the next word belongs to\n"
	      "\tswitch $argv[1]\n",
	      stdout);
	for (size_t i = 0; commands[i]; i++) {
		if (!stops_at_argument(commands[i]))
			continue;
		printf("\tcase %s\n\t\tset takers ", commands[i]->name);
		print_takers(commands[i]);
		putchar('\n');
	}
	fputs("\tcase '*'\n"
	      "\t\treturn 0\n"
	      "\tend\n"
	      "\tset -l is_value no\n"
	      "\tfor word in $typed[3..]\n"
	      "\t\tif test $is_value = yes\n"
	      "\t\t\tset is_value no\n"
	      "\t\telse if contains -- $word $takers\n"
	      "\t\t\tset is_value yes\n"
	      "\t\telse if not string match -q -- '-?*' $word\n"
	      "\t\t\treturn 1 # behind it, words are another program's\n"
	      "\t\tend\n"
	      "\tend\n"
	      "end\n"
	      "function __cpprof_second\n"
	      "\tset -l typed (commandline -opc)\n"
	      "\ttest (count $typed) -eq 3\n"
	      "\tand test $typed[2] = $argv[1]\n"
	      "end\n"
	      "complete -c cpprof -n __cpprof_no_command -l version -d 'Print the version'\n"
	      "complete -c cpprof -n __cpprof_no_command -l help -s h -d 'List the commands'\n",
	      stdout);
	for (size_t i = 0; commands[i]; i++)
		if (is_listed(commands[i]))
			print_fish_command(commands[i]);
}

/* --- the command --- */

static const struct {
	const char *name;
	void (*print)(void);
} shells[] = { { "bash", print_bash }, { "zsh", print_zsh }, { "fish", print_fish } };

static const char *shell_word(size_t index)
{
	return index < sizeof(shells) / sizeof(shells[0]) ? shells[index].name : NULL;
}

static word_at *words(int id)
{
	return id == ARGUMENT_WORDS ? shell_word : NULL;
}

static int run(struct invocation *invocation)
{
	const char *name = invocation->arguments[0], *path = invocation->arguments[1];
	char list[64];
	for (size_t i = 0; completion_profile_word(i); i++)
		if (strcmp(name, completion_profile_word(i)) == 0)
			return completion_profile_print(invocation, name, path ? path : PROFILE_FILE_DEFAULT);
	if (path)
		return usage_error(invocation, "one argument too many: '%s'", path);
	for (size_t i = 0; shell_word(i); i++) {
		if (strcmp(name, shell_word(i)) == 0) {
			shells[i].print();
			return EXIT_DONE;
		}
	}
	return usage_error(invocation, "unknown shell '%s' (%s)", name, words_list(shell_word, list, sizeof(list)));
}

static const char *const usage[] = { "bash|zsh|fish", "functions|resources [FILE]", NULL };
static const struct command_option options[] = { ROW_MEMORY, { 0 } };
static const struct command_example examples[] = {
	{ "source <(cpprof completion bash)", "complete in this bash" },
	{ "cpprof completion zsh > ~/.zfunc/_cpprof", "complete in each new zsh whose fpath has ~/.zfunc" },
	{ "cpprof completion fish > ~/.config/fish/completions/cpprof.fish", "complete in each new fish" },
	{ "cpprof completion functions run.data", "the names that the scripts offer for --down and the like" },
	{ 0 },
};

const struct command command_completion = {
	.name = "completion",
	.task = TASK_HELP,
	.summary = "print the completion script for a shell",
	.usage = usage,
	.options = options,
	.examples = examples,
	.words = words,
	.argument_min = 1,
	.argument_max = 2,
	.run = run,
};
