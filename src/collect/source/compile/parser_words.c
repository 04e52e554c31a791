/* Makes the options for libclang from a compiler's words: see build.h. */
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/path.h"
#include "collect/source/compile/build.h"

/* Returns whether a precompiled header is beside the header. libclang cannot read
 * it: gcc made it, or another version of clang. */
static bool is_precompiled(const char *header)
{
	char path[PATH_MAX + 8];
	for (size_t i = 0; i < 2; i++) {
		snprintf(path, sizeof(path), "%s%s", header, i ? ".pch" : ".gch");
		if (access(path, F_OK) == 0)
			return true;
	}
	return false;
}

/* Writes a file that includes the header's text, in place of its precompiled form. Returns its path, or NULL if it
 * cannot be written. */
static const char *plain_header(const struct build *build, const char *header, char *path, size_t bytes)
{
	char *real = realpath(header, NULL);
	snprintf(path, bytes, "%s/include-%s", build->scratch.path, path_basename(header));
	FILE *out = real ? fopen(path, "we") : NULL;
	bool is_written = out && fprintf(out, "#include \"%s\"\n", real) > 0;
	if (out && fclose(out) != 0)
		is_written = false;
	free(real);
	return is_written ? path : NULL;
}

/* Whether words are "-Xclang" "-include" "-Xclang" "x.h", which CMake writes beside a precompiled header. */
static bool is_passed_on(const struct compile_words *words, size_t at)
{
	return at + 3 < words->count && strcmp(words->words[at], "-Xclang") == 0 &&
	       strcmp(words->words[at + 1], "-include") == 0 && strcmp(words->words[at + 2], "-Xclang") == 0;
}

void parser_words(const struct build *build, struct word_list *list)
{
	const struct compile_words *words = build->words;
	for (size_t i = words->compiler + 1; i < words->count; i++) {
		char path[PATH_MAX];
		const char *plain = NULL;
		if (is_passed_on(words, i)) {
			word_list_add(list, "-include");
			i += 3;
		}
		const char *word = words->words[i];
		bool is_header = strcmp(words->words[i - 1], "-include") == 0 || (i >= 3 && is_passed_on(words, i - 3));
		if (is_header && is_precompiled(word))
			plain = plain_header(build, word, path, sizeof(path));
		word_list_add(list, "%s", plain ? plain : word);
	}
}
