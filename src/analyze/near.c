/* Labels that are similar to a name that was not found: for "did you mean". */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/view.h"
#include "base/cxx_name.h"
#include "base/nearest.h"

/* Longer names are compared by their first letters only. */
enum { LETTERS = TEXT_DISTANCE_MAX, TOO_FAR = 1 << 20 };

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

/* Scores a label that contains the typed text as it is printed: "std::vector<int". */
static size_t score_part(const char *typed, const struct view_label *label)
{
	size_t size = strlen(typed);
	if (size < 3 || size > label->name_length || !strcasestr(label->text, typed))
		return TOO_FAR;
	return 4 + (label->name_length - size);
}

/* Returns the smallest distance to the whole name or to any number of its last components. */
static size_t score_label(const struct word *wanted, const struct view_label *label, char *scratch)
{
	struct cxx_name parts = cxx_name_parse(label->text, label->name_length);
	size_t size = cxx_name_plain(label->text + parts.start, parts.end - parts.start, scratch);
	size_t best = TOO_FAR;
	for (size_t at = 0; at < size; at = cxx_name_component(scratch, size, at)) {
		struct word word = word_of(scratch + at, size - at);
		best = least(best, score_words(wanted, &word));
	}
	return best;
}

struct candidate {
	const char *owner;
	uint32_t label;
	size_t score;
};

/* Inserts the candidate into the `limit` nearest, which stay sorted. Each function is kept once (its labels score
 * alike). Among equal scores, the smaller label stays first. */
static size_t keep(struct candidate *nearest, size_t count, size_t limit, struct candidate candidate)
{
	if (count == limit && nearest[count - 1].score <= candidate.score)
		return count;
	for (size_t i = 0; i < count; i++)
		if (nearest[i].owner == candidate.owner)
			return count;
	size_t at = count < limit ? count : count - 1;
	for (; at > 0 && nearest[at - 1].score > candidate.score; at--)
		nearest[at] = nearest[at - 1];
	nearest[at] = candidate;
	return count < limit ? count + 1 : count;
}

size_t view_near(const struct view *view, const char *name, uint32_t *found, size_t limit)
{
	size_t longest = 0;
	for (size_t i = 0; i < view->label_count; i++)
		if (view->labels[i].name_length > longest)
			longest = view->labels[i].name_length;
	char *scratch = malloc(longest + 1);
	struct candidate *nearest = malloc((limit + 1) * sizeof(*nearest));
	size_t count = 0;
	if (scratch && nearest && limit > 0) {
		struct cxx_name parts = cxx_name_parse(name, strlen(name));
		struct word wanted = word_of(name + parts.start, parts.end - parts.start);
		for (uint32_t i = 0; i < view->label_count; i++) {
			const struct view_label *label = &view->labels[i];
			size_t score = least(score_label(&wanted, label, scratch), score_part(name, label));
			struct candidate candidate = { label->owner, i, score };
			if (candidate.score < TOO_FAR)
				count = keep(nearest, count, limit, candidate);
		}
		for (size_t i = 0; i < count; i++)
			found[i] = nearest[i].label;
	}
	free(scratch);
	free(nearest);
	return count;
}
