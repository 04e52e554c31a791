/* Lists of words: command lines and @files. */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/array.h"
#include "collect/source/compile/build.h"

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

/* "word", as compilers read it from an @file. */
static void print_quoted(FILE *out, const char *word)
{
	fputc('"', out);
	for (; *word; word++) {
		if (*word == '"' || *word == '\\')
			fputc('\\', out);
		fputc(*word, out);
	}
	fputs("\"\n", out);
}

int word_list_shorten(struct word_list *list, const struct build *build, struct error *error)
{
	size_t first = build->words->compiler + 1;
	if (!build->words->had_response_file || list->error || list->count <= first)
		return 0;
	char path[sizeof(build->scratch.path) + 16];
	snprintf(path, sizeof(path), "%s/words", build->scratch.path);
	FILE *out = fopen(path, "we");
	for (size_t i = first; out && i < list->count; i++)
		print_quoted(out, list->items[i]);
	bool failed = !out || ferror(out);
	if (out && fclose(out) != 0)
		failed = true;
	if (failed)
		return error_set_errno(error, "cannot write '%s'", path);
	while (list->count > first)
		free(list->items[--list->count]);
	word_list_add(list, "@%s", path);
	return 0;
}
