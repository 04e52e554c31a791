#include "collect/source/compile/database.h"

#include <limits.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/array.h"
#include "base/buffer.h"
#include "collect/source/compile/dependencies.h"

enum { DEPTH_MAX = 64 };

struct reading {
	const char *name;
	const char *start, *at, *end; /* *end is a NUL */
	struct error *error;
};

static int wrong(const struct reading *reading, const char *what)
{
	size_t line = 1;
	for (const char *at = reading->start; at < reading->at; at++)
		line += *at == '\n';
	return error_set(reading->error, ERROR_FORMAT, "%s:%zu: %s", reading->name, line, what);
}

static char next(struct reading *reading)
{
	while (reading->at < reading->end && strchr(" \t\r\n", *reading->at) && *reading->at)
		reading->at++;
	return *reading->at;
}

static bool take(struct reading *reading, char letter)
{
	if (next(reading) != letter || reading->at >= reading->end)
		return false;
	reading->at++;
	return true;
}

/* --- values --- */

static void append_utf8(struct buffer *text, unsigned code)
{
	if (code < 0x80) {
		buffer_append_byte(text, (uint8_t)code);
	} else if (code < 0x800) {
		buffer_append_byte(text, (uint8_t)(0xc0 | code >> 6));
		buffer_append_byte(text, (uint8_t)(0x80 | (code & 0x3f)));
	} else if (code < 0x10000) {
		buffer_append_byte(text, (uint8_t)(0xe0 | code >> 12));
		buffer_append_byte(text, (uint8_t)(0x80 | (code >> 6 & 0x3f)));
		buffer_append_byte(text, (uint8_t)(0x80 | (code & 0x3f)));
	} else {
		buffer_append_byte(text, (uint8_t)(0xf0 | code >> 18));
		buffer_append_byte(text, (uint8_t)(0x80 | (code >> 12 & 0x3f)));
		buffer_append_byte(text, (uint8_t)(0x80 | (code >> 6 & 0x3f)));
		buffer_append_byte(text, (uint8_t)(0x80 | (code & 0x3f)));
	}
}

/* Returns the value of the four digits of "\u00e9", or -1 if they are not hexadecimal digits. */
static long take_hex(struct reading *reading)
{
	char digits[5] = "";
	if (reading->end - reading->at < 4)
		return -1;
	memcpy(digits, reading->at, 4);
	if (strspn(digits, "0123456789abcdefABCDEF") != 4)
		return -1;
	reading->at += 4;
	return strtol(digits, NULL, 16);
}

static int take_escape(struct reading *reading, struct buffer *text)
{
	static const char letters[] = "\"\\/bfnrt", bytes[] = "\"\\/\b\f\n\r\t";
	char letter = *reading->at++;
	const char *found = letter ? strchr(letters, letter) : NULL;
	if (found) {
		buffer_append_byte(text, (uint8_t)bytes[found - letters]);
		return 0;
	}
	long code = letter == 'u' ? take_hex(reading) : -1;
	if (code >= 0xd800 && code < 0xdc00 && reading->at[0] == '\\' && reading->at[1] == 'u') {
		reading->at += 2;
		long low = take_hex(reading);
		code = low >= 0xdc00 && low < 0xe000 ? 0x10000 + ((code - 0xd800) << 10) + (low - 0xdc00) : -1;
	}
	if (code <= 0 || (code >= 0xd800 && code < 0xe000))
		return wrong(reading, "no letter can be written so in a string");
	append_utf8(text, (unsigned)code);
	return 0;
}

/* Returns the string, which the caller frees, or NULL with the error set. */
static char *take_string(struct reading *reading)
{
	if (!take(reading, '"')) {
		wrong(reading, "a string is expected");
		return NULL;
	}
	struct buffer text;
	buffer_init(&text);
	int code = 0;
	while (code == 0 && reading->at < reading->end && *reading->at != '"') {
		char letter = *reading->at++;
		if (letter == '\\' && reading->at < reading->end)
			code = take_escape(reading, &text);
		else if (letter == 0)
			code = wrong(reading, "a byte 0 in a string");
		else
			buffer_append_byte(&text, (uint8_t)letter);
	}
	if (code == 0 && reading->at >= reading->end)
		code = wrong(reading, "a string does not end");
	reading->at += code == 0;
	buffer_append_byte(&text, 0);
	if (code == 0 && buffer_error(&text))
		code = error_set(reading->error, ERROR_MEMORY, "out of memory");
	if (code == 0)
		return (char *)text.bytes;
	buffer_release(&text);
	return NULL;
}

/* Skips a value of any kind. */
static int skip_value(struct reading *reading, int depth)
{
	char letter = next(reading);
	if (depth > DEPTH_MAX)
		return wrong(reading, "values lie too deep in each other");
	if (letter == '"') {
		char *text = take_string(reading);
		free(text);
		return text ? 0 : ERROR_FORMAT;
	}
	if (letter != '[' && letter != '{') {
		size_t length = strcspn(reading->at, ",]} \t\r\n");
		reading->at += length;
		return length && reading->at <= reading->end ? 0 : wrong(reading, "a value is expected");
	}
	reading->at++;
	char closing = letter == '[' ? ']' : '}';
	if (take(reading, closing))
		return 0;
	do {
		int code = closing == '}' ? skip_value(reading, depth + 1) : 0;
		if (code == 0 && closing == '}' && !take(reading, ':'))
			code = wrong(reading, "':' is expected");
		if (code == 0)
			code = skip_value(reading, depth + 1);
		if (code < 0)
			return code;
	} while (take(reading, ','));
	return take(reading, closing) ? 0 : wrong(reading, "',' or the end of a list is expected");
}

/* --- commands --- */

/* Takes ownership of the word. */
static int add_word(struct database_entry *entry, char *word)
{
	if (!word || ARRAY_RESERVE(entry->words, entry->word_capacity, entry->word_count + 2) < 0) {
		free(word);
		return ERROR_MEMORY;
	}
	entry->words[entry->word_count++] = word;
	entry->words[entry->word_count] = NULL;
	return 0;
}

static void clear_words(struct database_entry *entry)
{
	for (size_t i = 0; i < entry->word_count; i++)
		free(entry->words[i]);
	entry->word_count = 0;
}

/* Splits a line as a shell does: blanks, both quotes, backslashes (not within
 * '...'). */
static int split(struct database_entry *entry, const char *line)
{
	int code = 0;
	while (code == 0 && *(line += strspn(line, " \t\n"))) {
		struct buffer word;
		buffer_init(&word);
		char quote = 0;
		for (; *line && (quote || !strchr(" \t\n", *line)); line++) {
			bool escapes =
				*line == '\\' && line[1] && quote != '\'' && (!quote || strchr("\\\"$`", line[1]));
			if (escapes)
				buffer_append_byte(&word, (uint8_t) * ++line);
			else if (quote ? *line == quote : *line == '\'' || *line == '"')
				quote = quote ? 0 : *line;
			else
				buffer_append_byte(&word, (uint8_t)*line);
		}
		buffer_append_byte(&word, 0);
		if (buffer_error(&word)) {
			buffer_release(&word);
			return ERROR_MEMORY;
		}
		code = add_word(entry, (char *)word.bytes);
	}
	return code;
}

static int read_arguments(struct reading *reading, struct database_entry *entry)
{
	clear_words(entry); /* they are more precise than a command line */
	if (!take(reading, '['))
		return wrong(reading, "'arguments' is a list");
	if (take(reading, ']'))
		return 0;
	do {
		char *word = take_string(reading);
		if (!word)
			return ERROR_FORMAT;
		if (add_word(entry, word) < 0)
			return error_set(reading->error, ERROR_MEMORY, "out of memory");
	} while (take(reading, ','));
	return take(reading, ']') ? 0 : wrong(reading, "',' or ']' is expected");
}

static int read_command(struct reading *reading, struct database_entry *entry)
{
	char *line = take_string(reading);
	if (!line)
		return ERROR_FORMAT;
	int code = entry->word_count ? 0 : split(entry, line);
	free(line);
	return code < 0 ? error_set(reading->error, code, "out of memory") : 0;
}

/* --- entries --- */

static int read_member(struct reading *reading, struct database_entry *entry)
{
	char *key = take_string(reading);
	if (!key)
		return ERROR_FORMAT;
	char **text = strcmp(key, "directory") == 0 ? &entry->directory
		      : strcmp(key, "file") == 0    ? &entry->file
						    : NULL;
	int code = take(reading, ':') ? 0 : wrong(reading, "':' is expected");
	if (code == 0 && text) {
		free(*text);
		*text = take_string(reading);
		code = *text ? 0 : ERROR_FORMAT;
	} else if (code == 0 && strcmp(key, "arguments") == 0) {
		code = read_arguments(reading, entry);
	} else if (code == 0 && strcmp(key, "command") == 0) {
		code = read_command(reading, entry);
	} else if (code == 0) {
		code = skip_value(reading, 0);
	}
	free(key);
	return code;
}

static int read_entry(struct reading *reading, struct database *database)
{
	if (!take(reading, '{'))
		return wrong(reading, "'{' is expected: the database is a list of objects");
	if (ARRAY_RESERVE(database->entries, database->entry_capacity, database->entry_count + 1) < 0)
		return error_set(reading->error, ERROR_MEMORY, "out of memory");
	struct database_entry *entry = &database->entries[database->entry_count++];
	*entry = (struct database_entry){ 0 };
	int code = 0;
	if (!take(reading, '}')) {
		do
			code = read_member(reading, entry);
		while (code == 0 && take(reading, ','));
		if (code == 0 && !take(reading, '}'))
			code = wrong(reading, "',' or '}' is expected");
	}
	if (code == 0 && (!entry->file || !entry->word_count))
		code = wrong(reading, "an entry without a 'file', or without 'command' or 'arguments'");
	return code;
}

int database_parse(struct database *database, const char *name, const char *text, size_t size, struct error *error)
{
	struct reading reading = { .name = name, .start = text, .at = text, .end = text + size, .error = error };
	*database = (struct database){ 0 };
	if (!take(&reading, '['))
		return wrong(&reading, "'[' is expected: the database is a list of objects");
	int code = 0;
	if (!take(&reading, ']')) {
		do
			code = read_entry(&reading, database);
		while (code == 0 && take(&reading, ','));
		if (code == 0 && !take(&reading, ']'))
			code = wrong(&reading, "',' or ']' is expected");
	}
	if (code == 0 && (next(&reading), reading.at != reading.end))
		code = wrong(&reading, "there is more behind its end");
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
		clear_words(&database->entries[i]);
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
