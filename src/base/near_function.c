#include "base/near_function.h"

#include <ctype.h>
#include <string.h>

#include "base/cxx_name.h"
#include "base/nearest.h"

/* Longer names are compared by their first letters only. */
enum { LETTERS = TEXT_DISTANCE_MAX, TOO_FAR = NEAR_FUNCTION_TOO_FAR };

struct word {
	char letters[LETTERS + 1];
	size_t size;
};

static struct word word_of(const char *text, size_t size)
{
	struct word word = { .size = size < LETTERS ? size : LETTERS };
	for (size_t i = 0; i < word.size; i++)
		word.letters[i] = (char)tolower((unsigned char)text[i]);
	return word;
}

static size_t least(size_t a, size_t b)
{
	return a < b ? a : b;
}

/* Scores a name that begins like the wanted one: "qsrt" and "qsort_r". Allows one edit per 4 letters. */
static size_t score_beginning(const struct word *wanted, const struct word *word)
{
	size_t best = TOO_FAR, allowed = wanted->size / 4;
	for (size_t size = wanted->size - 1; size <= wanted->size + 1 && size < word->size && allowed > 0; size++) {
		struct word beginning = word_of(word->letters, size);
		size_t edits = text_distance(wanted->letters, beginning.letters);
		if (edits <= allowed)
			best = least(best, edits * 4 + word->size - size);
	}
	return best;
}

/* Returns a distance, or TOO_FAR if the names are not similar. If one name contains the other, the distance grows
 * with the number of letters that are missing. */
static size_t score_words(const struct word *wanted, const struct word *word)
{
	const struct word *longer = wanted->size > word->size ? wanted : word;
	const struct word *shorter = longer == wanted ? word : wanted;
	if (shorter->size == 0)
		return TOO_FAR;
	size_t score = TOO_FAR;
	if (shorter->size >= 3 && memmem(longer->letters, longer->size, shorter->letters, shorter->size))
		score = 4 + (longer->size - shorter->size);
	score = least(score, score_beginning(wanted, word));
	size_t allowed = (wanted->size + 2) / 3;
	if (longer->size - shorter->size > allowed)
		return score;
	size_t edits = text_distance(wanted->letters, word->letters);
	return edits <= allowed ? least(score, edits * 4) : score;
}

/* Scores a name that contains the typed text as it is printed: "std::vector<int". */
static size_t score_part(const char *typed, const char *name, size_t length)
{
	size_t size = strlen(typed);
	if (size < 3 || size > length || !strcasestr(name, typed))
		return TOO_FAR;
	return 4 + (length - size);
}

/* Returns the smallest distance to the whole name or to any number of its last components. */
static size_t score_components(const struct word *wanted, const char *name, size_t length, char *scratch)
{
	struct cxx_name parts = cxx_name_parse(name, length);
	size_t size = cxx_name_plain(name + parts.start, parts.end - parts.start, scratch);
	size_t best = TOO_FAR;
	for (size_t at = 0; at < size; at = cxx_name_component(scratch, size, at)) {
		struct word word = word_of(scratch + at, size - at);
		best = least(best, score_words(wanted, &word));
	}
	return best;
}

size_t near_function_score(const char *typed, const char *name, size_t length, char *scratch)
{
	struct cxx_name parts = cxx_name_parse(typed, strlen(typed));
	struct word wanted = word_of(typed + parts.start, parts.end - parts.start);
	if (wanted.size == 0)
		return TOO_FAR;
	return least(score_components(&wanted, name, length, scratch), score_part(typed, name, length));
}
