/*
 * Arbitrary bytes as C and C++ text: the tokens are inside the text and follow each other, and lexing_find finds
 * each word that was a token. Built for libFuzzer, or with replay.c.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "collect/source/instrument/lexing.h"

enum { WORD_MAX = 32, WORDS_ASKED = 64 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(bool holds)
{
	if (!holds)
		abort();
}

static void find_again(const char *text, const char *end, const struct lexing_token *token)
{
	char word[WORD_MAX + 1];
	memcpy(word, token->start, token->size);
	word[token->size] = 0;
	const char *found = lexing_find(text, end, word);
	require(found && found <= token->start);
	if (lexing_has_attribute(text, end, word))
		require(memchr(text, '[', (size_t)(end - text)) ||
			memmem(text, (size_t)(end - text), "attribute", strlen("attribute")));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	/* An allocation of exactly this size, so that a sanitizer detects a read beyond it. */
	char *text = malloc(size ? size : 1);
	if (!text)
		return 0;
	memcpy(text, data, size);
	const char *end = text + size, *at = text;
	size_t asked = 0;
	for (struct lexing_token token = lexing_next(text, end); token.size; token = lexing_next(at, end)) {
		require(token.start >= at && token.size <= (size_t)(end - token.start));
		require(token.is_word || token.size == 1);
		at = token.start + token.size;
		if (token.is_word && token.size <= WORD_MAX && !memchr(token.start, 0, token.size) &&
		    asked++ < WORDS_ASKED)
			find_again(text, end, &token);
	}
	free(text);
	return 0;
}
