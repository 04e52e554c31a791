#include "frames/tail_choice.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "profile/tail_calls.h"

/* Parts between commas: names, "3 others", and "none" or "unknown". */
enum { PARTS_MOST = TAIL_CHOICE_NAMES + 2 };

static int by_text(const void *left, const void *right)
{
	return strcmp(*(const char *const *)left, *(const char *const *)right);
}

size_t tail_choice_unify(const char **names, size_t count)
{
	size_t distinct = 0;
	if (count > 0)
		qsort(names, count, sizeof(names[0]), by_text);
	for (size_t i = 0; i < count; i++)
		if (i == 0 || strcmp(names[i], names[distinct - 1]) != 0)
			names[distinct++] = names[i];
	return distinct;
}

void tail_choice_write(struct buffer *text, const char *const *names, size_t count, uint64_t more, const char *others)
{
	size_t shown = count + more <= TAIL_CHOICE_NAMES ? count
		       : count < TAIL_CHOICE_NAMES - 1   ? count
							 : TAIL_CHOICE_NAMES - 1;
	more += count - shown;
	buffer_append_string(text, TAIL_CALLS_AMBIGUOUS);
	for (size_t i = 0; i < shown; i++) {
		bool is_last = i + 1 == shown && more == 0 && !others;
		buffer_append_string(text, i == 0 ? "" : is_last ? " or " : ", ");
		buffer_append_string(text, names[i]);
	}
	if (more > 0)
		buffer_printf(text, "%s%" PRIu64 " others", others ? ", " : " or ", more);
	buffer_printf(text, "%s%s]", others ? " or " : "", others ? others : "");
	buffer_append_byte(text, 0);
}

/* Returns the length of the text between two parts that begins here, or 0. */
static size_t separator_at(const char *text)
{
	static const char *const separators[] = { ", ", " or " };
	for (size_t i = 0; i < sizeof(separators) / sizeof(separators[0]); i++)
		if (strncmp(text, separators[i], strlen(separators[i])) == 0)
			return strlen(separators[i]);
	return 0;
}

/* Cuts a text at the separators outside of brackets. Returns the number of parts, or 0 if there are too many, or brackets that do not
 * match, as in "operator<". */
static size_t cut(char *text, char **parts)
{
	size_t count = 0;
	int depth = 0;
	parts[count++] = text;
	for (char *at = text; *at; at++) {
		size_t length = depth == 0 ? separator_at(at) : 0;
		depth += strchr("(<[{", *at) != NULL;
		depth -= strchr(")>]}", *at) != NULL;
		if (depth < 0 || (length > 0 && count == PARTS_MOST))
			return 0;
		if (length == 0)
			continue;
		*at = 0;
		at += length - 1;
		parts[count++] = at + 1;
	}
	return depth == 0 ? count : 0;
}

/* Returns whether a part is "3 others", and sets *more. */
static bool is_more(const char *part, uint64_t *more)
{
	char *end;
	*more = strtoull(part, &end, 10);
	return end != part && strcmp(end, " others") == 0;
}

bool tail_choice_read(struct tail_choice *choice, char *text)
{
	char *parts[PARTS_MOST];
	size_t start = strlen(TAIL_CALLS_AMBIGUOUS), length = strlen(text);
	*choice = (struct tail_choice){ 0 };
	if (length <= start || strncmp(text, TAIL_CALLS_AMBIGUOUS, start) != 0 || text[length - 1] != ']')
		return false;
	text[length - 1] = 0;
	size_t count = cut(text + start, parts);
	if (count > 0 && (strcmp(parts[count - 1], "none") == 0 || strcmp(parts[count - 1], "unknown") == 0))
		choice->others = parts[--count];
	if (count > 0 && is_more(parts[count - 1], &choice->more))
		count--;
	else
		choice->more = 0;
	if (count == 0 || count > TAIL_CHOICE_NAMES)
		return false;
	for (size_t i = 0; i < count; i++)
		choice->names[i] = parts[i];
	choice->count = count;
	return true;
}
