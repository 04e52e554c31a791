/* Reads @files: words separated by blanks. Quotes of both kinds keep blanks in a word, a backslash keeps the next
 * character. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/buffer.h"
#include "collect/source/compile/dependencies.h"
#include "collect/source/compile/words.h"

enum { DEPTH_MAX = 32 };

int compile_words_add(struct compile_words *words, const char *text, size_t length)
{
	int code = ARRAY_RESERVE(words->words, words->capacity, words->count + 2);
	if (code < 0)
		return code;
	char *copy = strndup(text, length);
	if (!copy)
		return ERROR_MEMORY;
	words->words[words->count++] = copy;
	words->words[words->count] = NULL;
	return 0;
}

static int add_word(struct compile_words *words, struct buffer *word, int depth)
{
	buffer_append_byte(word, 0);
	if (buffer_error(word))
		return ERROR_MEMORY;
	const char *text = (const char *)word->bytes;
	int code = 0;
	if (text[0] == '@' && text[1])
		code = compile_words_expand(words, text + 1, depth + 1);
	if (code == 0)
		code = compile_words_add(words, text, strlen(text));
	buffer_clear(word);
	return code < 0 ? code : 0;
}

static int add_words(struct compile_words *words, const char *text, int depth)
{
	struct buffer word;
	int code = 0;
	buffer_init(&word);
	for (const char *at = text; *at && code == 0;) {
		at += strspn(at, " \t\n\r\f\v");
		if (!*at)
			break;
		char quote = 0;
		for (; *at && (quote || !strchr(" \t\n\r\f\v", *at)); at++) {
			if (*at == '\\' && at[1])
				buffer_append_byte(&word, (unsigned char)*++at);
			else if (quote ? *at == quote : (*at == '"' || *at == '\''))
				quote = quote ? 0 : *at;
			else
				buffer_append_byte(&word, (unsigned char)*at);
		}
		code = add_word(words, &word, depth);
	}
	buffer_release(&word);
	return code;
}

int compile_words_expand(struct compile_words *words, const char *path, int depth)
{
	size_t size = 0;
	char *text = depth < DEPTH_MAX ? text_read(path, &size) : NULL;
	if (!text)
		return depth < DEPTH_MAX && errno == ENOMEM ? ERROR_MEMORY : 0;
	words->had_response_file = true;
	int code = add_words(words, text, depth);
	free(text);
	return code < 0 ? code : 1;
}
