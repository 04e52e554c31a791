#include "collect/source/compile/word_list.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/error.h"
#include "collect/source/compile/dependencies.h"

void word_list_add(struct word_list *list, const char *format, ...)
{
	char *word = NULL;
	va_list args;
	va_start(args, format);
	int length = vasprintf(&word, format, args);
	va_end(args);
	if (length < 0 || ARRAY_RESERVE(list->items, list->capacity, list->count + 2) < 0) {
		if (length >= 0)
			free(word);
		list->error = ERROR_MEMORY;
		return;
	}
	list->items[list->count++] = word;
	list->items[list->count] = NULL;
}

void word_list_release(struct word_list *list)
{
	for (size_t i = 0; i < list->count; i++)
		free(list->items[i]);
	free(list->items);
	*list = (struct word_list){ 0 };
}

bool word_next(const char **text, enum word_quoting quoting, struct buffer *word)
{
	bool is_shell = quoting == QUOTED_FOR_SHELL;
	const char *blanks = is_shell ? " \t\n" : " \t\n\r\f\v", *at = *text + strspn(*text, blanks);
	bool has_word = *at != 0;
	char quote = 0;
	buffer_clear(word);
	for (; *at && (quote || !strchr(blanks, *at)); at++) {
		bool escapes =
			*at == '\\' && at[1] && (!is_shell || (quote != '\'' && (!quote || strchr("\\\"$`", at[1]))));
		if (escapes)
			buffer_append_byte(word, (uint8_t) * ++at);
		else if (quote ? *at == quote : *at == '\'' || *at == '"')
			quote = quote ? 0 : *at;
		else
			buffer_append_byte(word, (uint8_t)*at);
	}
	buffer_append_byte(word, 0);
	*text = at;
	return has_word && !buffer_error(word);
}

static bool expand(struct word_list *list, const char *word, int depth)
{
	enum { DEPTH_MAX = 32 };
	size_t size = 0;
	if (word[0] != '@' || !word[1] || depth >= DEPTH_MAX)
		return false;
	char *text = text_read(word + 1, &size);
	if (!text) {
		if (errno == ENOMEM)
			list->error = ERROR_MEMORY;
		return false;
	}
	struct buffer next;
	buffer_init(&next);
	for (const char *at = text; !list->error && word_next(&at, QUOTED_IN_FILE, &next);) {
		const char *found = (const char *)next.bytes;
		if (!expand(list, found, depth + 1))
			word_list_add(list, "%s", found);
	}
	if (buffer_error(&next))
		list->error = ERROR_MEMORY;
	buffer_release(&next);
	free(text);
	return true;
}

bool word_list_expand(struct word_list *list, const char *word)
{
	return expand(list, word, 0);
}
