/* Shortens commands by an @file, from which compilers read further words. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "collect/source/compile/build.h"

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
