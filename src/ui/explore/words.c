#include "ui/explore/words.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/quote.h"

static const char white[] = " \t\r\n\v\f";

static bool is_white(char byte)
{
	return byte && strchr(white, byte);
}

/* Removes the white space at both ends. */
static char *trim(char *text)
{
	text += strspn(text, white);
	size_t length = strlen(text);
	while (length && is_white(text[length - 1]))
		length--;
	text[length] = '\0';
	return text;
}

/* Returns the bar that begins a shell command, or NULL. */
static char *find_bar(char *line)
{
	for (char *bar = strchr(line, '|'); bar; bar = strchr(bar + 1, '|')) {
		if (bar[1] == '|')
			bar++;
		else if (bar == line || is_white(bar[-1]))
			return bar;
	}
	return NULL;
}

struct line_parts line_split(char *line)
{
	struct line_parts parts = { 0 };
	line = trim(line);
	if (*line == '#')
		*line = '\0';
	char *bar = find_bar(line);
	if (bar) {
		*bar = '\0';
		parts.shell = trim(bar + 1);
	}
	parts.command = trim(line);
	char *end = parts.command + strcspn(parts.command, white);
	parts.arguments = end;
	if (*end) {
		*end = '\0';
		parts.arguments = end + 1 + strspn(end + 1, white);
	}
	return parts;
}

static int add_word(struct words *words, const char *text, size_t length)
{
	if (ARRAY_RESERVE(words->items, words->capacity, words->count + 2))
		return ERROR_MEMORY;
	char *word = strndup(text, length);
	if (!word)
		return ERROR_MEMORY;
	words->items[words->count++] = word;
	words->items[words->count] = NULL;
	return 0;
}

/* Returns the length of "=FACTOR" at `text` if it is there and a word ends behind it, or 0. */
static size_t factor_length(const char *text)
{
	if (*text != '=')
		return 0;
	size_t digits = strspn(text + 1, "0123456789.");
	if (!digits)
		return 0;
	size_t length = 1 + digits;
	if (text[length] == 'e' || text[length] == 'E') {
		size_t sign = text[length + 1] == '-' || text[length + 1] == '+';
		size_t exponent = strspn(text + length + 1 + sign, "0123456789");
		length += exponent ? 1 + sign + exponent : 0;
	}
	length += text[length] == '%';
	return text[length] == '\0' || is_white(text[length]) ? length : 0;
}

/* Returns whether `text` is a backslash that escapes the byte behind it. */
static bool is_escape(const char *text)
{
	return text[0] == '\\' && text[1] && strchr(";=\\", text[1]);
}

static size_t word_length(const char *text)
{
	return strcspn(text, white);
}

static size_t term_length(const char *text)
{
	for (size_t at = 0; text[at]; at++) {
		size_t factor = factor_length(text + at);
		if (factor)
			return at + factor;
		at += is_escape(text + at);
	}
	return strlen(text);
}

static int split(struct words *words, const char *text, size_t (*length_of)(const char *), struct error *error)
{
	*words = (struct words){ 0 };
	int status = 0;
	for (text += strspn(text, white); *text && !status; text += strspn(text, white)) {
		const char *end = NULL;
		if (*text == '\'' || *text == '"') {
			end = strchr(text + 1, *text);
			if (!end)
				status = error_set(error, ERROR_USAGE, "the quote before %s is not closed",
						   QUOTE(text + 1));
			/* A quote in the middle of a word is part of the word: 'lambda'(). */
			else if (end[1] && !is_white(end[1]))
				end = NULL;
		}
		if (status)
			break;
		size_t length = end ? (size_t)(end - text) - 1 : length_of(text);
		if (add_word(words, end ? text + 1 : text, length))
			status = error_set(error, ERROR_MEMORY, "out of memory");
		text += length + (end ? 2 : 0);
	}
	if (status)
		words_release(words);
	return status;
}

int words_split(struct words *words, const char *text, struct error *error)
{
	return split(words, text, word_length, error);
}

int words_split_terms(struct words *words, const char *text, struct error *error)
{
	return split(words, text, term_length, error);
}

int words_unquote(struct words *words, const char *text, struct error *error)
{
	size_t length;
	*words = (struct words){ 0 };
	text = quote_strip(text, strlen(text), &length);
	if (add_word(words, text, length) == 0)
		return 0;
	words_release(words);
	return error_set(error, ERROR_MEMORY, "out of memory");
}

size_t words_last_name(const char *terms)
{
	size_t start = strspn(terms, white);
	for (size_t at = 0; terms[at]; at++) {
		if (is_escape(terms + at)) {
			at++;
			continue;
		}
		size_t factor = factor_length(terms + at);
		if (factor && is_white(terms[at + factor]))
			start = at + factor + strspn(terms + at + factor, white);
		else if (terms[at] == ';')
			start = at + 1 + strspn(terms + at + 1, white);
	}
	return start;
}

void words_release(struct words *words)
{
	for (size_t i = 0; i < words->count; i++)
		free(words->items[i]);
	free(words->items);
	*words = (struct words){ 0 };
}
