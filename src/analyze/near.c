/* Labels that are similar to a name that was not found: for "did you mean". */
#include <stdlib.h>

#include "analyze/view.h"
#include "base/near_function.h"

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
		for (uint32_t i = 0; i < view->label_count; i++) {
			const struct view_label *label = &view->labels[i];
			size_t score = near_function_score(name, label->text, label->name_length, scratch);
			struct candidate candidate = { label->owner, i, score };
			if (candidate.score < NEAR_FUNCTION_TOO_FAR)
				count = keep(nearest, count, limit, candidate);
		}
		for (size_t i = 0; i < count; i++)
			found[i] = nearest[i].label;
	}
	free(scratch);
	free(nearest);
	return count;
}
