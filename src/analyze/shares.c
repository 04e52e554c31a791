#include "analyze/shares.h"

#include <stdlib.h>
#include <string.h>

#include "analyze/build.h"
#include "analyze/process_tree.h"
#include "base/hash_map.h"

/* Adds up the selected hits: the hits of owner i in hits[i], the hits without a thread in hits[count]. */
static void add_up(const struct selection *selection, enum share_owner of, uint64_t *hits, size_t count)
{
	const struct view *view = selection->view;
	const struct profile *profile = view->profile;
	for (size_t i = 0; i < profile->hit_count; i++) {
		struct profile_hit hit;
		if (profile->hits[i].resource != view->options.resource || !selection_part(selection, i, &hit))
			continue;
		size_t owner = count;
		if (hit.thread != PROFILE_NONE)
			owner = of == SHARE_OF_THREAD ? hit.thread : profile->threads[hit.thread].process;
		hits[owner < count ? owner : count] += hit.count;
	}
}

static int compare(const void *left, const void *right)
{
	const struct share *a = left, *b = right;
	if (a->hits != b->hits)
		return a->hits < b->hits ? 1 : -1;
	return a->owner < b->owner ? -1 : a->owner > b->owner;
}

/* Gives the first process of each name the hits of all processes of that name. Returns, by this process, how many of them have
 * hits, an array that the caller frees; or NULL: out of memory. */
static uint32_t *join_programs(const struct profile *profile, uint64_t *hits)
{
	struct hash_map first_of; /* name -> process */
	uint32_t *members = calloc(profile->process_count + 1, sizeof(*members));
	hash_map_init(&first_of);
	int status = members ? 0 : ERROR_MEMORY;
	for (uint32_t i = 0; i < profile->process_count && status == 0; i++) {
		uint32_t first = hash_map_get(&first_of, profile->processes[i].name);
		if (hits[i] == 0)
			continue;
		if (first == HASH_MAP_NONE)
			status = hash_map_put(&first_of, profile->processes[i].name, first = i);
		members[first]++;
		if (first == i)
			continue;
		hits[first] += hits[i];
		hits[i] = 0;
	}
	hash_map_release(&first_of);
	if (status == 0)
		return members;
	free(members);
	return NULL;
}

/* `members`: of programs, by their first process; NULL: 1 each. */
static struct share_list *make_list(const uint64_t *hits, const uint32_t *members, size_t count, enum share_owner of)
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
			shares[list->count++] = (struct share){ .owner = i < count ? (uint32_t)i : PROFILE_NONE,
								.members = i < count && members ? members[i] : 1,
								.own = hits[i],
								.hits = hits[i] };
	qsort(shares, list->count, sizeof(*shares), compare);
	return list;
}

static struct share_list *make_tree(const struct profile *profile, const uint64_t *hits)
{
	struct share_list *list = calloc(1, sizeof(*list));
	if (!list)
		return NULL;
	list->of = SHARE_OF_PROCESS_TREE;
	list->shares = process_tree_shares(profile, hits, &list->count);
	if (list->shares)
		return list;
	free(list);
	return NULL;
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
	uint32_t *members = NULL;
	if (hits && status == 0) {
		add_up(&selection, of, hits, count);
		members = of == SHARE_OF_PROGRAM ? join_programs(profile, hits) : NULL;
		if (of == SHARE_OF_PROCESS_TREE)
			list = make_tree(profile, hits);
		else if (members || of != SHARE_OF_PROGRAM)
			list = make_list(hits, members, count, of);
	}
	selection_end(&selection);
	free(members);
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
