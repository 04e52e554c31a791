/* Lists of words: the command lines that cpprof makes, and those that it reads. */
#ifndef COLLECT_SOURCE_COMPILE_WORD_LIST_H
#define COLLECT_SOURCE_COMPILE_WORD_LIST_H

#include <stdbool.h>
#include <stddef.h>

#include "base/buffer.h"

/* {0} is an empty list. It owns each word. */
struct word_list {
	char **items; /* NULL-terminated; NULL: empty */
	size_t count, capacity;
	int error; /* 0 or ERROR_MEMORY */
};

void word_list_add(struct word_list *list, const char *format, ...) __attribute__((format(printf, 2, 3)));
void word_list_release(struct word_list *list);

/* If `word` is "@FILE", adds the words in that file instead, and replaces such words in it in
 * the same way. Returns false if it is another word, or if the file cannot be read: a compiler
 * then treats it as a file's name. */
bool word_list_expand(struct word_list *list, const char *word);

/* In both, quotes of both kinds keep blanks in a word, and a backslash keeps the next character.
 * A shell treats no backslash specially within '...', and within "..." only some. */
enum word_quoting { QUOTED_FOR_SHELL, QUOTED_IN_FILE };

/* Takes the next word off a text, and stores it with a NUL at its end. Returns false at the end
 * of the text, and if memory runs out (buffer_error). */
bool word_next(const char **text, enum word_quoting quoting, struct buffer *word);

#endif
