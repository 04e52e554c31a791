#include "collect/source/compile/database.h"

#include <limits.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/array.h"
#include "base/buffer.h"
#include "base/json_text.h"
#include "collect/source/compile/dependencies.h"
#include "collect/source/compile/word_list.h"

struct reading {
	const char *name;
	size_t number; /* of the entry, from 1 on */
	struct error *error;
};

static int wrong(const struct reading *reading, const char *what)
{
	return error_set(reading->error, ERROR_FORMAT, "%s: entry %zu: %s", reading->name, reading->number, what);
}

/* --- commands --- */

static int read_arguments(const struct reading *reading, struct word_list *words, const json_t *value)
{
	if (!json_is_array(value))
		return wrong(reading, "'arguments' is no list");
	for (size_t i = 0; i < json_array_size(value); i++) {
		const char *word = json_text_string(json_array_get(value, i));
		if (!word)
			return wrong(reading, "an argument is no string");
		word_list_add(words, "%s", word);
	}
	return 0;
}

static int read_command(const struct reading *reading, struct word_list *words, const json_t *value)
{
	struct buffer word;
	const char *line = json_text_string(value);
	if (!line)
		return wrong(reading, "'command' is no string");
	buffer_init(&word);
	while (word_next(&line, QUOTED_FOR_SHELL, &word))
		word_list_add(words, "%s", (const char *)word.bytes);
	if (buffer_error(&word))
		words->error = ERROR_MEMORY;
	buffer_release(&word);
	return 0;
}

/* --- entries --- */

/* Copies a string. An absent one stays NULL. */
static int read_text(const struct reading *reading, const json_t *value, char **text)
{
	const char *found = json_text_string(value);
	if (!value)
		return 0;
	if (!found)
		return wrong(reading, "'file' or 'directory' is no string");
	*text = strdup(found);
	return *text ? 0 : error_memory(reading->error);
}

static int read_entry(const struct reading *reading, struct database *database, const json_t *object)
{
	const json_t *arguments = json_object_get(object, "arguments"), *command = json_object_get(object, "command");
	if (!json_is_object(object))
		return wrong(reading, "it is no object");
	if (ARRAY_RESERVE(database->entries, database->entry_capacity, database->entry_count + 1) < 0)
		return error_memory(reading->error);
	struct database_entry *entry = &database->entries[database->entry_count++];
	struct word_list words = { 0 };
	*entry = (struct database_entry){ 0 };
	int code = read_text(reading, json_object_get(object, "file"), &entry->file);
	if (code == 0)
		code = read_text(reading, json_object_get(object, "directory"), &entry->directory);
	if (code == 0 && arguments)
		code = read_arguments(reading, &words, arguments);
	/* Arguments are more precise than a command line. */
	if (code == 0 && command && words.count == 0)
		code = read_command(reading, &words, command);
	entry->words = words.items;
	entry->word_count = words.count;
	if (code == 0 && words.error)
		code = error_memory(reading->error);
	if (code == 0 && (!entry->file || entry->word_count == 0))
		code = wrong(reading, "it has no 'file', or neither 'command' nor 'arguments'");
	return code;
}

int database_parse(struct database *database, const char *name, const char *text, size_t size, struct error *error)
{
	struct reading reading = { .name = name, .number = 1, .error = error };
	struct error found = { 0 };
	*database = (struct database){ 0 };
	json_t *list = json_text_read(text, size, JSON_TEXT_REALS, &found);
	if (!list)
		return error_set(error, found.code, "%s: %s", name, found.message);
	int code = json_is_array(list) ? 0 : error_set(error, ERROR_FORMAT, "%s: it is no list of entries", name);
	for (; code == 0 && reading.number <= json_array_size(list); reading.number++)
		code = read_entry(&reading, database, json_array_get(list, reading.number - 1));
	json_decref(list);
	return code;
}

int database_read(struct database *database, const char *path, struct error *error)
{
	char within[PATH_MAX];
	struct stat status;
	*database = (struct database){ 0 };
	snprintf(within, sizeof(within), "%s", path);
	if (stat(path, &status) == 0 && S_ISDIR(status.st_mode))
		snprintf(within, sizeof(within), "%s/compile_commands.json", path);
	size_t size = 0;
	char *text = text_read(within, &size);
	if (!text)
		return error_set_errno(error, "cannot read '%s'", within);
	int code = database_parse(database, within, text, size, error);
	free(text);
	return code;
}

void database_release(struct database *database)
{
	for (size_t i = 0; i < database->entry_count; i++) {
		for (size_t n = 0; n < database->entries[i].word_count; n++)
			free(database->entries[i].words[n]);
		free(database->entries[i].words);
		free(database->entries[i].directory);
		free(database->entries[i].file);
	}
	free(database->entries);
	*database = (struct database){ 0 };
}

const struct database_entry *database_find(const struct database *database, const char *path)
{
	struct stat wanted, found;
	if (stat(path, &wanted) < 0)
		return NULL;
	for (size_t i = 0; i < database->entry_count; i++) {
		const struct database_entry *entry = &database->entries[i];
		char full[PATH_MAX];
		bool is_below = entry->file[0] != '/' && entry->directory;
		snprintf(full, sizeof(full), "%s%s%s", is_below ? entry->directory : "", is_below ? "/" : "",
			 entry->file);
		if (stat(full, &found) == 0 && found.st_dev == wanted.st_dev && found.st_ino == wanted.st_ino)
			return entry;
	}
	return NULL;
}
