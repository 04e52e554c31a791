#include "base/near_names.h"

#include <ctype.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "base/cxx_name.h"

enum {
	DISTANCE_MAX = 63,    /* longer words are compared by their first letters only */
	FUNCTION_MOST = 4096, /* bytes of a function's name that are compared */
	TOO_FAR = 1 << 20,
};

/* --- words --- */

static size_t min3(size_t a, size_t b, size_t c)
{
	size_t least = a < b ? a : b;
	return least < c ? least : c;
}

/* Returns the edit distance of two words, in which an exchange of neighbours counts as one edit (optimal string
 * alignment: Damerau 1964, Levenshtein 1966). Compares the first DISTANCE_MAX bytes of longer words. */
static size_t text_distance(const char *a, const char *b)
{
	/* Three rows of the table of distances between prefixes are enough. */
	uint8_t rows[3][DISTANCE_MAX + 1];
	size_t a_length = strnlen(a, DISTANCE_MAX);
	size_t b_length = strnlen(b, DISTANCE_MAX);
	for (size_t j = 0; j <= b_length; j++)
		rows[0][j] = (uint8_t)j;
	for (size_t i = 1; i <= a_length; i++) {
		uint8_t *now = rows[i % 3];
		const uint8_t *above = rows[(i + 2) % 3];
		const uint8_t *two_above = rows[(i + 1) % 3];
		now[0] = (uint8_t)i;
		for (size_t j = 1; j <= b_length; j++) {
			size_t exchanged = a[i - 1] == b[j - 1] ? 0 : 1;
			size_t least = min3(above[j] + 1U, now[j - 1] + 1U, above[j - 1] + exchanged);
			if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] &&
			    two_above[j - 2] + 1U < least)
				least = two_above[j - 2] + 1U;
			now[j] = (uint8_t)least;
		}
	}
	return rows[a_length % 3][b_length];
}

bool text_resembles(const char *typed, const char *word)
{
	size_t typed_length = strlen(typed);
	size_t word_length = strlen(word);
	if (typed_length == 0)
		return false;
	size_t shorter = typed_length < word_length ? typed_length : word_length;
	if (shorter >= 2 && strncmp(typed, word, shorter) == 0)
		return true;
	size_t longer = typed_length > word_length ? typed_length : word_length;
	/* text_distance compares at most this many bytes. */
	longer = longer < DISTANCE_MAX ? longer : DISTANCE_MAX;
	return text_distance(typed, word) * 3 <= longer;
}

/* --- the nearest --- */

void near_names_init(struct near_names *near, const char *typed)
{
	near->typed = typed;
	near->count = 0;
	near->text[0] = 0;
}

static bool is_listed(const struct near_names *near, const char *name)
{
	for (size_t i = 0; i < near->count; i++)
		if (strcmp(near->names[i], name) == 0)
			return true;
	return false;
}

/* Adds the name, shortened, if it is among the nearest. Among equal distances, the first one stays first. */
static void add(struct near_names *near, const char *name, size_t distance)
{
	char shown[NEAR_NAME_BYTES];
	size_t at = near->count;
	while (at > 0 && near->distances[at - 1] > distance)
		at--;
	bool fits = strlen(name) < sizeof(shown);
	snprintf(shown, sizeof(shown), "%.*s%s", NEAR_NAME_BYTES - (fits ? 1 : 4), name, fits ? "" : "...");
	if (at == NEAR_NAMES || is_listed(near, shown))
		return;
	size_t moved = near->count - at - (near->count == NEAR_NAMES);
	memmove(&near->distances[at + 1], &near->distances[at], moved * sizeof(near->distances[0]));
	memmove(near->names[at + 1], near->names[at], moved * NEAR_NAME_BYTES);
	near->distances[at] = distance;
	memcpy(near->names[at], shown, sizeof(shown));
	near->count += near->count < NEAR_NAMES;
}

void near_names_offer(struct near_names *near, const char *name)
{
	if (text_resembles(near->typed, name))
		add(near, name, text_distance(near->typed, name));
}

const char *near_names_text(struct near_names *near)
{
	size_t used = 0;
	for (size_t i = 0; i < near->count; i++)
		used += (size_t)snprintf(near->text + used, sizeof(near->text) - used, "%s%s",
					 i ? ", " : " (did you mean ", near->names[i]);
	if (used > 0)
		snprintf(near->text + used, sizeof(near->text) - used, "?)");
	return near->text;
}

/* --- functions --- */

struct word {
	char letters[DISTANCE_MAX + 1];
	size_t size;
};

static struct word word_of(const char *text, size_t size)
{
	struct word word = { .size = size < DISTANCE_MAX ? size : DISTANCE_MAX };
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

void near_names_offer_function(struct near_names *near, const char *name, size_t length, const char *shown)
{
	char scratch[FUNCTION_MOST];
	size_t compared = least(length, FUNCTION_MOST);
	struct cxx_name parts = cxx_name_parse(near->typed, strlen(near->typed));
	struct word wanted = word_of(near->typed + parts.start, parts.end - parts.start);
	if (wanted.size == 0)
		return;
	size_t score = least(score_components(&wanted, name, compared, scratch), score_part(near->typed, name, length));
	if (score < TOO_FAR)
		add(near, shown, score);
}
