#include "analyze/shares.h"

#include <stdlib.h>
#include <string.h>

#include "analyze/build.h"

/* Adds up the selected hits: the hits of owner i in hits[i], the hits without a thread in hits[count]. */
static void add_up(const struct selection *selection, enum share_owner of, uint64_t *hits, size_t count)
{
	const struct view *view = selection->view;
	const struct profile *profile = view->profile;
	for (size_t i = 0; i < profile->hit_count; i++) {
		const struct profile_hit *hit = &profile->hits[i];
		if (hit->resource != view->options.resource || !selection_has_hit(selection, i))
			continue;
		size_t owner = count;
		if (hit->thread != PROFILE_NONE)
			owner = of == SHARE_OF_THREAD ? hit->thread : profile->threads[hit->thread].process;
		hits[owner < count ? owner : count] += hit->count;
	}
}

static int compare(const void *left, const void *right)
{
	const struct share *a = left, *b = right;
	if (a->hits != b->hits)
		return a->hits < b->hits ? 1 : -1;
	return a->owner < b->owner ? -1 : a->owner > b->owner;
}

static struct share_list *make_list(const uint64_t *hits, size_t count, enum share_owner of)
{
	struct share_list *list = calloc(1, sizeof(*list));
	struct share *shares = calloc(count + 1, sizeof(*shares));
	if (!list || !shares) {
		free(list);
		free(shares);
		return NULL;
	}
	*list = (struct share_list){ .shares = shares, .of = of };
	for (size_t i = 0; i <= count; i++)
		if (hits[i] > 0)
			shares[list->count++] = (struct share){ i < count ? (uint32_t)i : PROFILE_NONE, hits[i] };
	qsort(shares, list->count, sizeof(*shares), compare);
	return list;
}

struct share_list *analyze_shares(const struct profile *profile, const struct view_options *options,
				  enum share_owner of, struct error *error)
{
	if (options->resource >= profile->resource_count) {
		error_set(error, ERROR_NOT_FOUND, "the profile has no resource number %u", options->resource);
		return NULL;
	}
	/* A view without its tree: the selection is all that is needed of it. */
	const struct view view = { .profile = profile, .options = *options };
	size_t count = of == SHARE_OF_THREAD ? profile->thread_count : profile->process_count;
	uint64_t *hits = calloc(count + 1, sizeof(*hits));
	struct share_list *list = NULL;
	struct selection selection;
	int status = selection_begin(&selection, &view);
	if (hits && status == 0) {
		add_up(&selection, of, hits, count);
		list = make_list(hits, count, of);
	}
	selection_end(&selection);
	free(hits);
	if (!list)
		error_set(error, ERROR_MEMORY, "out of memory while dividing hits");
	return list;
}

static int by_owner(const void *left, const void *right)
{
	const struct share *a = left, *b = right;
	return a->owner < b->owner ? -1 : a->owner > b->owner;
}

uint64_t *share_errors(const struct share_list *rows, const struct share_list *errors, struct error *error)
{
	uint64_t *found = calloc(rows->count + 1, sizeof(*found));
	struct share *sorted = calloc(errors->count + 1, sizeof(*sorted));
	if (!found || !sorted) {
		free(found);
		free(sorted);
		error_set(error, ERROR_MEMORY, "out of memory");
		return NULL;
	}
	memcpy(sorted, errors->shares, errors->count * sizeof(*sorted));
	qsort(sorted, errors->count, sizeof(*sorted), by_owner);
	for (size_t i = 0; i < rows->count; i++) {
		const struct share *share = bsearch(&rows->shares[i], sorted, errors->count, sizeof(*sorted), by_owner);
		found[i] = share ? share->hits : 0;
	}
	free(sorted);
	return found;
}

void share_list_free(struct share_list *list)
{
	if (!list)
		return;
	free(list->shares);
	free(list);
}
