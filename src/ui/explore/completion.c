#include "ui/explore/io.h"

#include <stdlib.h>
#include <string.h>

#include "analyze/settings.h"
#include "formats/format.h"
#include "ui/explore/command.h"
#include "ui/explore/words.h"

static void add(struct completion *completion, const char *text)
{
	if (completion->count == COMPLETION_MAX || !*text)
		return;
	char *copy = strdup(text);
	if (copy)
		completion->items[completion->count++] = copy;
}

static void add_if_begins(struct completion *completion, const char *text, const char *beginning)
{
	if (strncmp(text, beginning, strlen(beginning)) == 0)
		add(completion, text);
}

static void add_commands(struct completion *completion, const char *beginning)
{
	const struct explore_command *const *all = explore_commands();
	for (size_t i = 0; all[i]; i++)
		add_if_begins(completion, all[i]->name, beginning);
}

/* Returns whether a part of the name behind a "::" begins with `beginning`. */
static bool has_part(const char *name, const char *beginning)
{
	for (const char *at = strstr(name, "::"); at; at = strstr(at + 2, "::")) {
		if (strncmp(at + 2, beginning, strlen(beginning)) == 0)
			return true;
	}
	return false;
}

static void add_functions(struct completion *completion, struct session *session, const char *beginning)
{
	if (!session->settings.resource_count)
		return;
	struct error error = { 0 };
	const struct view *view = session_view(session, session->settings.resources[0], &error);
	if (!view)
		return;
	for (size_t i = 0; i < view->label_count; i++) {
		if (i == 0 || view->labels[i].owner != view->labels[i - 1].owner)
			add_if_begins(completion, view->labels[i].owner, beginning);
		add_if_begins(completion, view->labels[i].text, beginning);
	}
	if (completion->count || !*beginning)
		return;
	for (size_t i = 0; i < view->label_count; i++) {
		if (has_part(view->labels[i].text, beginning))
			add(completion, view->labels[i].text);
	}
}

static void add_values(struct completion *completion, const struct profile *profile, const struct setting *setting,
		       const char *beginning)
{
	for (size_t i = 0; setting->words && setting->words(i); i++)
		add_if_begins(completion, setting->words(i), beginning);
	if (setting->row_name)
		add_if_begins(completion, "all", beginning);
	for (size_t i = 0; setting->row_name && setting->row_name(profile, i); i++)
		add_if_begins(completion, setting->row_name(profile, i), beginning);
}

static void add_formats(struct completion *completion, const char *beginning)
{
	for (size_t i = 0; formats[i]; i++) {
		if (formats[i]->export && !(formats[i]->needs & FORMAT_NEEDS_TRACE))
			add_if_begins(completion, formats[i]->name, beginning);
	}
}

static void add_kind(struct completion *completion, struct session *session, enum explore_words words,
		     const char *beginning)
{
	switch (words) {
	case WORDS_FUNCTION:
	case WORDS_TERMS:
		add_functions(completion, session, beginning);
		break;
	case WORDS_FORMAT:
		add_formats(completion, beginning);
		break;
	case WORDS_COMMAND:
		add_commands(completion, beginning);
		break;
	case WORDS_NONE:
		break;
	}
}

static int compare(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

/* Sorts the items, drops duplicates, and measures their common beginning. */
static void finish(struct completion *completion)
{
	size_t kept = 0;
	if (completion->count)
		qsort(completion->items, completion->count, sizeof(*completion->items), compare);
	for (size_t i = 0; i < completion->count; i++) {
		if (kept && strcmp(completion->items[kept - 1], completion->items[i]) == 0)
			free(completion->items[i]);
		else
			completion->items[kept++] = completion->items[i];
	}
	completion->count = kept;
	if (!kept)
		return;
	const char *first = completion->items[0];
	const char *last = completion->items[kept - 1];
	while (first[completion->common] && first[completion->common] == last[completion->common])
		completion->common++;
}

/* Returns the offset in the arguments at which the last word begins. Function names and terms may contain blanks. */
static size_t word_start(enum explore_words words, const char *arguments)
{
	if (words == WORDS_FUNCTION)
		return 0;
	if (words == WORDS_TERMS)
		return words_last_name(arguments);
	size_t at = strlen(arguments);
	while (at && arguments[at - 1] != ' ' && arguments[at - 1] != '\t')
		at--;
	return at;
}

static void complete_line(struct completion *completion, struct session *session, char *line)
{
	size_t command_at = strspn(line, " \t");
	size_t command_end = command_at + strcspn(line + command_at, " \t");
	completion->start = command_at;
	if (!line[command_end]) {
		add_commands(completion, line + command_at);
		completion->space = true;
		return;
	}
	size_t arguments_at = command_end + strspn(line + command_end, " \t");
	line[command_end] = '\0';
	const struct explore_command *command = explore_command_find(line + command_at, NULL);
	if (!command)
		return;
	size_t last_word = word_start(command->words, line + arguments_at);
	completion->start = arguments_at + last_word;
	/* Only resources and terms take more than one word that can be completed; the second argument of `export` is a
	 * file name. */
	const struct setting *setting = command->setting;
	bool is_list = setting && setting->row_name && setting->flags & SETTING_SPLITS;
	if (last_word && !is_list && command->words != WORDS_TERMS)
		return;
	completion->space = is_list || command->words == WORDS_FORMAT;
	if (setting)
		add_values(completion, session->profile, setting, line + completion->start);
	else
		add_kind(completion, session, command->words, line + completion->start);
}

void completion_init(struct completion *completion, struct session *session, const char *line, size_t length)
{
	*completion = (struct completion){ 0 };
	completion->items = calloc(COMPLETION_MAX, sizeof(*completion->items));
	char *copy = strndup(line, length);
	if (completion->items && copy)
		complete_line(completion, session, copy);
	free(copy);
	finish(completion);
}

void completion_release(struct completion *completion)
{
	for (size_t i = 0; i < completion->count; i++)
		free(completion->items[i]);
	free(completion->items);
	*completion = (struct completion){ 0 };
}
