#include "collect/source/instrument/lexing.h"

#include <ctype.h>
#include <string.h>

static bool is_word_byte(char byte)
{
	return isalnum((unsigned char)byte) || byte == '_' || byte == '$' || (byte & 0x80);
}

static const char *behind_comment(const char *at, const char *end)
{
	if (at[1] == '/') {
		/* A line that ends with \ continues on the next one. */
		while (at < end && (*at != '\n' || at[-1] == '\\'))
			at++;
		return at;
	}
	for (at += 2; at + 1 < end && !(at[0] == '*' && at[1] == '/'); at++)
		;
	return at + 1 < end ? at + 2 : end;
}

/* Returns the end of "..." or '...', which begins at `at`. If it does not end on its line, only the quote is
 * skipped. */
static const char *behind_quoted(const char *at, const char *end)
{
	const char quote = *at;
	const char *start = at;
	for (at++; at < end && *at != quote; at++) {
		if (*at == '\n')
			return start + 1;
		if (*at == '\\' && at + 1 < end)
			at++;
	}
	return at < end ? at + 1 : start + 1;
}

/* Returns the end of R"mark(...)mark"; `at` is at its quote. */
static const char *behind_raw(const char *at, const char *end)
{
	const char *mark = at + 1;
	const char *open = mark;
	while (open < end && *open != '(' && open - mark <= 16)
		open++;
	size_t size = (size_t)(open - mark);
	if (open == end || *open != '(')
		return at + 1;
	for (at = open + 1; at < end; at++)
		if (*at == ')' && (size_t)(end - at) > size + 1 && memcmp(at + 1, mark, size) == 0 &&
		    at[size + 1] == '"')
			return at + size + 2;
	return end;
}

/* Returns the end of the word that begins at `at`: 1'000 is one word. */
static const char *behind_word(const char *at, const char *end)
{
	bool is_number = isdigit((unsigned char)*at);
	while (at < end &&
	       (is_word_byte(*at) || (is_number && *at == '\'' && at + 1 < end && isalnum((unsigned char)at[1]))))
		at++;
	return at;
}

static bool is_raw_prefix(const char *word, size_t size)
{
	static const char *const prefixes[] = { "R", "LR", "uR", "UR", "u8R" };
	for (size_t i = 0; i < sizeof(prefixes) / sizeof(prefixes[0]); i++)
		if (size == strlen(prefixes[i]) && memcmp(word, prefixes[i], size) == 0)
			return true;
	return false;
}

const char *lexing_skip(const char *at, const char *end)
{
	if (at < end && (*at == '"' || *at == '\''))
		return behind_quoted(at, end);
	if (end - at > 1 && *at == '/' && (at[1] == '/' || at[1] == '*'))
		return behind_comment(at, end);
	return at;
}

struct lexing_token lexing_next(const char *at, const char *end)
{
	while (at < end) {
		const char *skipped = lexing_skip(at, end);
		if (skipped != at) {
			at = skipped;
		} else if (is_word_byte(*at)) {
			const char *behind = behind_word(at, end);
			size_t size = (size_t)(behind - at);
			if (behind == end || *behind != '"' || !is_raw_prefix(at, size))
				return (struct lexing_token){ at, size, true };
			at = behind_raw(behind, end);
		} else if (isspace((unsigned char)*at) || *at == '\\') {
			at++;
		} else {
			return (struct lexing_token){ at, 1, false };
		}
	}
	return (struct lexing_token){ end, 0, false };
}

bool lexing_is(const struct lexing_token *token, const char *word)
{
	return token->size == strlen(word) && memcmp(token->start, word, token->size) == 0;
}

const char *lexing_find(const char *start, const char *end, const char *word)
{
	/* Most texts do not contain the word at all. */
	size_t size = strlen(word);
	if (end <= start || !memmem(start, (size_t)(end - start), word, size))
		return NULL;
	for (struct lexing_token token = lexing_next(start, end); token.size;
	     token = lexing_next(token.start + token.size, end))
		if (lexing_is(&token, word))
			return token.start;
	return NULL;
}

/* Compares an attribute's name, which may have underscores around it. */
static bool is_attribute(const struct lexing_token *token, const char *name)
{
	struct lexing_token inner = *token;
	if (inner.size > 4 && memcmp(inner.start, "__", 2) == 0 && memcmp(inner.start + inner.size - 2, "__", 2) == 0) {
		inner.start += 2;
		inner.size -= 4;
	}
	return lexing_is(&inner, name);
}

bool lexing_has_attribute(const char *start, const char *end, const char *name)
{
	size_t size = strlen(name);
	if (end <= start || !memmem(start, (size_t)(end - start), name, size))
		return false;
	struct lexing_token last = { start, 0, false };
	int depth = 0; /* depth of brackets within an attribute; 0: outside */
	for (struct lexing_token token = lexing_next(start, end); token.size;
	     token = lexing_next(token.start + token.size, end)) {
		char byte = token.is_word ? 0 : *token.start;
		if (depth > 0 && token.is_word && is_attribute(&token, name))
			return true;
		if (depth > 0)
			depth += byte == '(' || byte == '[' ? 1 : byte == ')' || byte == ']' ? -1 : 0;
		else if ((byte == '[' && lexing_is(&last, "[")) ||
			 (byte == '(' && (lexing_is(&last, "__attribute__") || lexing_is(&last, "__attribute"))))
			depth = byte == '[' ? 2 : 1;
		last = token;
	}
	return false;
}

/* Whether a token begins "#pragma STDC ..." on the line that ends at `end`. */
static bool is_pragma(const struct lexing_token *token, const char *end)
{
	struct lexing_token word = lexing_next(token->start + 1, end);
	struct lexing_token of = lexing_next(word.start + word.size, end);
	return lexing_is(token, "#") && lexing_is(&word, "pragma") && lexing_is(&of, "STDC");
}

/* Whether a token begins _Pragma("STDC ..."). */
static bool is_pragma_operator(const struct lexing_token *token, const char *end)
{
	static const char text[] = "\"STDC ";
	const char *at = token->start + token->size;
	while (at < end && (isspace((unsigned char)*at) || *at == '('))
		at++;
	return lexing_is(token, "_Pragma") && (size_t)(end - at) > strlen(text) && memcmp(at, text, strlen(text)) == 0;
}

static const char *behind_byte(const char *at, const char *end, char byte)
{
	struct lexing_token token = lexing_next(at, end);
	while (token.size && *token.start != byte)
		token = lexing_next(token.start + token.size, end);
	return token.start + token.size;
}

const char *lexing_behind_first(const char *start, const char *end)
{
	for (;;) {
		struct lexing_token token = lexing_next(start, end);
		const char *line = token.size ? memchr(token.start, '\n', (size_t)(end - token.start)) : NULL;
		if (lexing_is(&token, "__label__"))
			start = behind_byte(token.start, end, ';');
		else if (is_pragma_operator(&token, end))
			start = behind_byte(token.start, end, ')');
		else if (line && is_pragma(&token, line))
			start = line + 1;
		else
			return start;
	}
}
