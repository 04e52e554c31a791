#include "cmd/command.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/near_names.h"

struct reading {
	struct invocation *invocation;
	char **next; /* the next word; NULL-terminated */
	struct error *error;
};

static const struct command_option *find_letter(const struct command *command, char letter)
{
	for (const struct command_option *option = command_options(command); option->name; option++)
		if (option->letter == letter)
			return option;
	return letter == command_help_option.letter ? &command_help_option : NULL;
}

static const struct command_option *find_name(const struct command *command, const char *name, size_t length)
{
	for (const struct command_option *option = command_options(command); option->name; option++)
		if (strlen(option->name) == length && memcmp(option->name, name, length) == 0)
			return option;
	return strlen(command_help_option.name) == length && memcmp(command_help_option.name, name, length) == 0
		       ? &command_help_option
		       : NULL;
}

static int unknown_name(const struct reading *reading, const char *word, size_t length)
{
	char name[64];
	struct near_names near;
	snprintf(name, sizeof(name), "%.*s", length > sizeof(name) ? (int)sizeof(name) - 1 : (int)length, word);
	near_names_init(&near, name);
	for (const struct command_option *option = command_options(reading->invocation->command); option->name;
	     option++)
		near_names_offer(&near, option->name);
	if (near.count > 0)
		return error_set(reading->error, ERROR_USAGE, "unknown option '--%s' (did you mean '--%s'?)", name,
				 near.names[0]);
	return error_set(reading->error, ERROR_USAGE, "unknown option '--%s'", name);
}

static void use_option(struct reading *reading, const struct command_option *option, const char *value)
{
	struct invocation *invocation = reading->invocation;
	if (option == &command_help_option)
		invocation->wants_help = true;
	else
		invocation->uses[invocation->use_count++] = (struct option_use){ .option = option, .value = value };
}

static bool is_optional(const struct command_option *option)
{
	return option->value && option->value[0] == '[';
}

/* Returns the next word, unless it is an option or the name of a file; then it is not this option's value, and the
 * result is NULL. */
static const char *optional_value(struct reading *reading, const struct command_option *option)
{
	const char *word = *reading->next;
	if (option->value[1] == '=' || !word || word[0] == '-' || access(word, F_OK) == 0)
		return NULL;
	reading->next++;
	return word;
}

/* Reads "--name", "--name=value" or "--name" "value". */
static int read_long(struct reading *reading)
{
	const char *word = *reading->next++ + 2;
	size_t length = strcspn(word, "=");
	const char *value = word[length] ? word + length + 1 : NULL;
	const struct command_option *option = find_name(reading->invocation->command, word, length);
	if (!option)
		return unknown_name(reading, word, length);
	if (value && !option->value)
		return error_set(reading->error, ERROR_USAGE, "option '--%s' takes no value (--%s)", option->name,
				 option->name);
	if (!value && is_optional(option))
		value = optional_value(reading, option);
	else if (!value && option->value && !(value = *reading->next++))
		return error_set(reading->error, ERROR_USAGE, "option '--%s' needs a value (%s)", option->name,
				 option->value);
	use_option(reading, option, value);
	return 0;
}

/* Reads "-abc". The value of the last option is the rest of the word or the next word. */
static int read_short(struct reading *reading)
{
	const char *word = *reading->next++;
	for (const char *letter = word + 1; *letter; letter++) {
		const struct command_option *option = find_letter(reading->invocation->command, *letter);
		if (!option)
			return error_set(reading->error, ERROR_USAGE, "unknown option '-%c'", *letter);
		if (!option->value) {
			use_option(reading, option, NULL);
			continue;
		}
		const char *value = letter[1] ? letter + 1 : NULL;
		if (!value && !is_optional(option))
			value = *reading->next++;
		if (!value && !is_optional(option))
			return error_set(reading->error, ERROR_USAGE, "option '-%c' needs a value (%s)", *letter,
					 option->value);
		use_option(reading, option, value);
		break;
	}
	return 0;
}

static int read_words(struct reading *reading)
{
	struct invocation *invocation = reading->invocation;
	bool only_arguments = false;
	int result = 0;
	while (*reading->next && result == 0) {
		const char *word = *reading->next;
		if (!only_arguments && strcmp(word, "--") == 0) {
			only_arguments = true;
			invocation->separated = invocation->argument_count;
			invocation->has_separator = true;
			reading->next++;
		} else if (!only_arguments && strncmp(word, "--", 2) == 0) {
			result = read_long(reading);
		} else if (!only_arguments && word[0] == '-' && word[1]) {
			result = read_short(reading);
		} else {
			invocation->arguments[invocation->argument_count++] = *reading->next++;
			only_arguments = only_arguments || (invocation->command->needs & STOPS_AT_ARGUMENT);
		}
	}
	if (!invocation->has_separator)
		invocation->separated = invocation->argument_count;
	return result;
}

int options_parse(struct invocation *invocation, int argc, char **argv, struct error *error)
{
	/* A word of n letters may be n options. */
	size_t use_max = 1;
	for (int i = 0; i < argc; i++)
		use_max += strlen(argv[i]);
	invocation->uses = calloc(use_max, sizeof(*invocation->uses));
	invocation->arguments = calloc((size_t)argc + 1, sizeof(*invocation->arguments));
	if (!invocation->uses || !invocation->arguments)
		return error_set(error, ERROR_MEMORY, "out of memory");
	struct reading reading = { .invocation = invocation, .next = argv, .error = error };
	return read_words(&reading);
}

void invocation_release(struct invocation *invocation)
{
	free(invocation->uses);
	free(invocation->arguments);
	free(invocation->store_url);
	profile_free(invocation->profile);
	*invocation = (struct invocation){ 0 };
}

bool option_given(const struct invocation *invocation, int id)
{
	for (size_t i = 0; i < invocation->use_count; i++)
		if (invocation->uses[i].option->id == id)
			return true;
	return false;
}

const char *option_value(const struct invocation *invocation, int id)
{
	const char *value = NULL;
	for (size_t i = 0; i < invocation->use_count; i++)
		if (invocation->uses[i].option->id == id)
			value = invocation->uses[i].value;
	return value;
}

double positive_number(const char *word)
{
	char *end;
	errno = 0;
	double number = strtod(word, &end);
	bool whole = end != word && *end == 0 && word[0] != ' ' && strpbrk(word, "xXnNpP") == NULL;
	return whole && isfinite(number) && number > 0 ? number : -1;
}

int take_naming_time(const struct invocation *invocation, uint64_t *cpu_ns, struct error *error)
{
	const double most_s = 1e6, ns_per_s = 1e9;
	const char *word = option_value(invocation, OPTION_NAMING_TIME);
	double seconds = word ? positive_number(word) : 0;
	if (seconds < 0 || seconds > most_s)
		return error_set(error, ERROR_USAGE, "'%s' is not a number of seconds (--naming-time 60)", word);
	*cpu_ns = (uint64_t)(seconds * ns_per_s);
	return 0;
}
