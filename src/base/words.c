#include "base/words.h"

#include <stdio.h>
#include <string.h>

char *words_list(word_at *words, char *list, size_t bytes)
{
	list[0] = 0;
	for (size_t i = 0; words(i); i++) {
		size_t used = strlen(list);
		const char *before = i == 0 ? "" : words(i + 1) ? ", " : " or ";
		snprintf(list + used, bytes - used, "%s%s", before, words(i));
	}
	return list;
}
