/* @files: words parted by blanks; quotes of both kinds keep them together, and a backslash its next letter. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/array.h"
#include "base/buffer.h"
#include "base/path.h"
#include "compile/words.h"

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
	int fd = depth < DEPTH_MAX ? path_open_regular(path) : -1;
	if (fd < 0)
		return 0;
	struct buffer text;
	buffer_init(&text);
	for (ssize_t got = 1; got > 0;) {
		unsigned char *bytes = buffer_extend(&text, 65536);
		got = bytes ? read(fd, bytes, 65536) : 0;
		text.size -= bytes ? 65536 - (size_t)(got > 0 ? got : 0) : 0;
	}
	close(fd);
	buffer_append_byte(&text, 0);
	words->had_response_file = true;
	int code = buffer_error(&text) ? ERROR_MEMORY : add_words(words, (const char *)text.bytes, depth);
	buffer_release(&text);
	return code < 0 ? code : 1;
}
