/*
 * All ranks have one view, with the labels of all. The hits are sorted by rank; then, for each rank, a view with the same tree has the rank's hits,
 * and gives a list of paths, whose figures are added to the entries of the list of all ranks. So memory grows with the
 * paths, and time with the ranks times the nodes.
 */
#include "analyze/ranks.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/build.h"
#include "analyze/key_index.h"
#include "analyze/statistics.h"

/* In so many recordings of equal ranks, the largest rank of a path exceeds the bound `chance`. */
static const double CHANCE_EXCEEDED = 0.05;

struct ranking {
	const struct view *view;
	struct rank_list *list;
	uint32_t key;
	struct selection selection;
	uint32_t *rank_of_set; /* [label_set_count]: index in list->ranks, or PROFILE_NONE */
	uint32_t *hits;        /* rows of hits of the selection, rank by rank */
	size_t *first;         /* [rank_count + 1]: where the rows of a rank begin */

	/* The paths of the list of all ranks, by number: a number for each path and its beginnings. */
	struct key_index index;
	size_t path_count;
	uint32_t *entry_of_path; /* [listed_count]: index in the entries, or PROFILE_NONE */
	size_t listed_count;
	uint32_t *present; /* per entry: ranks that have the path */

	struct view of_rank;
};

/* --- ranks --- */

static uint32_t find_key(const struct profile *profile)
{
	int64_t key = strings_find(&profile->strings, PROFILE_LABEL_RANK, strlen(PROFILE_LABEL_RANK));
	return key < 0 ? PROFILE_NONE : (uint32_t)key;
}

bool *rank_label_sets(const struct profile *profile, const bool *chosen, struct error *error)
{
	bool *sets = calloc(profile->label_set_count, sizeof(*sets));
	uint32_t key = find_key(profile);
	bool any = false;
	if (!sets) {
		error_memory(error);
		return NULL;
	}
	for (uint32_t set = 0; set < profile->label_set_count && key != PROFILE_NONE; set++) {
		sets[set] = (!chosen || chosen[set]) && profile_label_value(profile, set, key) != PROFILE_NONE;
		any |= sets[set];
	}
	if (any)
		return sets;
	free(sets);
	error_set(error, ERROR_NOT_FOUND,
		  "the profile has no ranks (record a job by 'mpirun -n 4 cpprof record -o job.%%r.data ./app', and "
		  "name all of "
		  "its files)");
	return NULL;
}

bool rank_lacks_hits(const struct view *view)
{
	const struct profile *profile = view->profile;
	uint32_t key = find_key(profile);
	bool lacks = false;
	for (size_t i = 0; i < profile->hit_count && !lacks; i++)
		lacks = profile->hits[i].resource == view->options.resource &&
			profile_label_value(profile, profile_hit_labels(profile, i), key) == PROFILE_NONE;
	return lacks;
}

static int compare_ranks(const void *left, const void *right, void *context)
{
	return strverscmp(profile_string(context, *(const uint32_t *)left),
			  profile_string(context, *(const uint32_t *)right));
}

/* Lists the values of the selected sets, each once. `of_value` [strings.count] gets the rank of each. */
static void list_ranks(struct ranking *ranking, uint32_t *of_value)
{
	const struct profile *profile = ranking->view->profile;
	const bool *chosen = ranking->view->options.label_sets;
	struct rank_list *list = ranking->list;
	memset(of_value, 0xff, profile->strings.count * sizeof(*of_value)); /* PROFILE_NONE */
	for (uint32_t set = 0; set < profile->label_set_count; set++) {
		uint32_t value = chosen[set] ? profile_label_value(profile, set, ranking->key) : PROFILE_NONE;
		if (value != PROFILE_NONE && of_value[value] == PROFILE_NONE) {
			of_value[value] = 0;
			list->ranks[list->rank_count++] = value;
		}
	}
	qsort_r(list->ranks, list->rank_count, sizeof(*list->ranks), compare_ranks, (void *)profile);
	for (size_t i = 0; i < list->rank_count; i++)
		of_value[list->ranks[i]] = (uint32_t)i;
}

static int find_ranks(struct ranking *ranking)
{
	const struct profile *profile = ranking->view->profile;
	const bool *chosen = ranking->view->options.label_sets;
	uint32_t *of_value = calloc(profile->strings.count, sizeof(*of_value));
	ranking->list->ranks = calloc(profile->label_set_count, sizeof(*ranking->list->ranks));
	ranking->rank_of_set = calloc(profile->label_set_count, sizeof(*ranking->rank_of_set));
	bool good = of_value && ranking->list->ranks && ranking->rank_of_set;
	if (good)
		list_ranks(ranking, of_value);
	for (uint32_t set = 0; set < profile->label_set_count && good; set++)
		ranking->rank_of_set[set] =
			chosen[set] ? of_value[profile_label_value(profile, set, ranking->key)] : PROFILE_NONE;
	free(of_value);
	return good ? 0 : ERROR_MEMORY;
}

/* --- hits by rank --- */

/* Returns the rank of a row of hits, or PROFILE_NONE if the view does not select it. */
static uint32_t rank_of_hit(const struct ranking *ranking, size_t hit)
{
	const struct profile *profile = ranking->view->profile;
	struct profile_hit taken;
	if (profile->hits[hit].resource != ranking->view->options.resource ||
	    !selection_part(&ranking->selection, hit, &taken))
		return PROFILE_NONE;
	return ranking->rank_of_set[profile_hit_labels(profile, hit)];
}

/* Sorts the rows by rank, by counting. */
static void place_hits(struct ranking *ranking)
{
	size_t count = ranking->view->profile->hit_count, ranks = ranking->list->rank_count;
	size_t *next =
		ranking->first; /* first[rank + 1] is where the rank's next row belongs, and in the end where they end */
	for (size_t i = 0; i < count; i++) {
		uint32_t rank = rank_of_hit(ranking, i);
		if (rank != PROFILE_NONE && rank + (size_t)1 < ranks)
			next[rank + 2]++;
	}
	for (size_t rank = 0; rank < ranks; rank++)
		next[rank + 1] += next[rank];
	for (size_t i = 0; i < count; i++) {
		uint32_t rank = rank_of_hit(ranking, i);
		if (rank != PROFILE_NONE)
			ranking->hits[next[rank + 1]++] = (uint32_t)i;
	}
}

static int sort_hits(struct ranking *ranking)
{
	size_t count = ranking->view->profile->hit_count;
	int status = selection_begin(&ranking->selection, ranking->view);
	ranking->hits = calloc(count + 1, sizeof(*ranking->hits));
	ranking->first = calloc(ranking->list->rank_count + 1, sizeof(*ranking->first));
	if (status == 0 && count > UINT32_MAX)
		status = ERROR_LIMIT;
	if (status == 0 && (!ranking->hits || !ranking->first))
		status = ERROR_MEMORY;
	if (status == 0)
		place_hits(ranking);
	return status;
}

/* Returns the view's node that got the hits of a node of the profile: its own, or if its code is hidden that of the code that called it. */
static uint32_t node_of(const struct view *view, uint32_t node)
{
	while (view->view_node[node] == PROFILE_NONE && node != PROFILE_ROOT)
		node = view->profile->nodes[node].parent;
	return view->view_node[node];
}

/* Gives the rank's hits to the nodes of its view. */
static void fill_view(struct ranking *ranking, size_t rank)
{
	const struct view *view = ranking->view;
	struct view *of_rank = &ranking->of_rank;
	memset(of_rank->hits, 0, view->node_count * sizeof(*of_rank->hits));
	for (size_t i = ranking->first[rank]; i < ranking->first[rank + 1]; i++) {
		struct profile_hit taken;
		selection_part(&ranking->selection, ranking->hits[i], &taken);
		of_rank->hits[node_of(view, taken.node)] += taken.count;
	}
	memcpy(of_rank->weight, of_rank->hits, view->node_count * sizeof(*of_rank->weight));
	for (size_t node = view->node_count; node-- > 1;)
		of_rank->weight[view->parent[node]] += of_rank->weight[node];
	of_rank->total = of_rank->weight[0];
}

/* --- paths --- */

/* Returns the number of an entry's path, which is added if it is new, or a negative error. */
static int64_t number_path(struct ranking *ranking, const struct path_list *paths, const struct path_entry *entry)
{
	const uint32_t *labels = path_labels(paths, entry);
	int64_t number = PROFILE_NONE; /* the empty path */
	for (uint32_t i = 0; i < entry->length && number >= 0; i++) {
		const struct key_index_key key = { .a = (uint32_t)number, .b = labels[i] };
		number = key_index_add(&ranking->index, &key, ranking->path_count);
		if (number == (int64_t)ranking->path_count)
			ranking->path_count++;
	}
	return number;
}

static int list_entries(struct ranking *ranking, const struct path_list *all)
{
	struct rank_list *list = ranking->list;
	list->entries = calloc(all->count + 1, sizeof(*list->entries));
	ranking->present = calloc(all->count + 1, sizeof(*ranking->present));
	uint32_t *paths = calloc(all->count + 1, sizeof(*paths));
	int64_t path = list->entries && ranking->present && paths ? 0 : ERROR_MEMORY;
	for (; path >= 0 && list->count < all->count; list->count++) {
		path = number_path(ranking, all, &all->entries[list->count]);
		paths[list->count] = (uint32_t)path;
		list->entries[list->count] = (struct rank_entry){ .path = (uint32_t)list->count, .min = UINT64_MAX };
	}
	ranking->listed_count = ranking->path_count;
	ranking->entry_of_path = malloc((ranking->listed_count + 1) * sizeof(*ranking->entry_of_path));
	if (path >= 0 && ranking->entry_of_path) {
		memset(ranking->entry_of_path, 0xff, ranking->listed_count * sizeof(*ranking->entry_of_path));
		for (size_t i = 0; i < list->count; i++)
			ranking->entry_of_path[paths[i]] = (uint32_t)i;
	}
	free(paths);
	return path < 0 ? (int)path : ranking->entry_of_path ? 0 : ERROR_MEMORY;
}

/* Adds the hits of a path on a rank to its entry. */
static void add_path(struct ranking *ranking, int64_t path, uint64_t hits, size_t rank)
{
	uint32_t index = (size_t)path < ranking->listed_count ? ranking->entry_of_path[path] : PROFILE_NONE;
	if (index == PROFILE_NONE)
		return;
	struct rank_entry *entry = &ranking->list->entries[index];
	ranking->present[index]++;
	if (hits < entry->min)
		entry->min = hits;
	if (hits > entry->max) {
		entry->max = hits;
		entry->most = (uint32_t)rank;
	}
}

/* Makes the list of a rank, and adds it. Sets `error` if it fails. */
static int add_rank(struct ranking *ranking, rank_lister *lister, void *context, size_t rank, struct error *error)
{
	fill_view(ranking, rank);
	struct path_list *paths = lister(context, &ranking->of_rank, error);
	if (!paths)
		return error->code;
	int64_t path = 0;
	for (size_t i = 0; i < paths->count && path >= 0; i++) {
		const struct path_entry *entry = &paths->entries[i];
		if (entry->hits == 0) /* other ranks have it */
			continue;
		path = number_path(ranking, paths, entry);
		if (path >= 0)
			add_path(ranking, path, entry->hits, rank);
	}
	path_list_free(paths);
	return path < 0 ? error_set(error, (int)path, "%s", error_text((int)path)) : 0;
}

/* --- figures --- */

/* Returns how far the largest of n equal ranks is above their mean in one of 20 recordings at most. Numbers of samples are Poisson, by the
 * approximation of E. B. Wilson and M. M. Hilferty, Proceedings of the National Academy of Sciences 17 (1931), 684-688; their deviations from
 * their own mean have (n - 1) / n of the variance. */
static double chance_of(const struct view *view, double mean, size_t ranks)
{
	if (view->independent <= 0 || mean <= 0 || ranks < 2)
		return 0;
	double hits_of_sample = (double)view->total / view->independent;
	double samples = mean / hits_of_sample;
	double tail = -expm1(log1p(-CHANCE_EXCEEDED) / (double)ranks); /* of each rank */
	double deviations = statistics_student_quantile(2 * tail, INFINITY) * sqrt(1 - 1 / (double)ranks);
	double root = 1 - 1 / (9 * samples) + deviations / (3 * sqrt(samples));
	return samples * (root * root * root - 1) * hits_of_sample;
}

static void finish_entries(struct ranking *ranking, const struct path_list *all)
{
	struct rank_list *list = ranking->list;
	for (size_t i = 0; i < list->count; i++) {
		struct rank_entry *entry = &list->entries[i];
		if (ranking->present[i] < list->rank_count)
			entry->min = 0;
		entry->mean = (double)all->entries[i].hits / (double)list->rank_count;
		entry->chance = chance_of(ranking->view, entry->mean, list->rank_count);
	}
}

static int compare_entries(const void *left, const void *right)
{
	const struct rank_entry *a = left, *b = right;
	double above_a = (double)a->max - a->mean, above_b = (double)b->max - b->mean;
	if (above_a != above_b)
		return above_a < above_b ? 1 : -1;
	return (a->path > b->path) - (a->path < b->path);
}

double rank_imbalance(const struct rank_entry *entry)
{
	return (double)entry->max / entry->mean - 1;
}

double rank_imbalance_share(const struct rank_entry *entry, size_t ranks)
{
	double most = (double)entry->max, others = (double)ranks - 1;
	return ranks > 1 ? (most - entry->mean) / most * (double)ranks / others : 0;
}

/* --- analysis --- */

static void release(struct ranking *ranking)
{
	selection_end(&ranking->selection);
	free(ranking->rank_of_set);
	free(ranking->hits);
	free(ranking->first);
	free(ranking->entry_of_path);
	free(ranking->present);
	free(ranking->of_rank.hits);
	free(ranking->of_rank.weight);
	key_index_release(&ranking->index);
}

/* Makes the view of a rank: that of all ranks, with hits of its own. */
static int make_view(struct ranking *ranking)
{
	const struct view *view = ranking->view;
	ranking->of_rank = *view;
	ranking->of_rank.hits = calloc(view->node_count, sizeof(*view->hits));
	ranking->of_rank.weight = calloc(view->node_count, sizeof(*view->weight));
	return ranking->of_rank.hits && ranking->of_rank.weight ? 0 : ERROR_MEMORY;
}

struct rank_list *analyze_ranks(const struct view *view, const struct path_list *all, rank_lister *lister,
				void *context, struct error *error)
{
	struct ranking ranking = { .view = view,
				   .list = calloc(1, sizeof(*ranking.list)),
				   .key = find_key(view->profile) };
	int status = ranking.list ? make_view(&ranking) : ERROR_MEMORY;
	if (status == 0)
		status = find_ranks(&ranking);
	if (status == 0)
		status = sort_hits(&ranking);
	if (status == 0)
		status = list_entries(&ranking, all);
	if (status < 0)
		error_set(error, status, "cannot compare the ranks: %s", error_text(status));
	for (size_t rank = 0; status == 0 && rank < ranking.list->rank_count; rank++)
		status = add_rank(&ranking, lister, context, rank, error);
	if (status == 0) {
		finish_entries(&ranking, all);
		qsort(ranking.list->entries, ranking.list->count, sizeof(*ranking.list->entries), compare_entries);
	}
	release(&ranking);
	if (status == 0)
		return ranking.list;
	rank_list_free(ranking.list);
	return NULL;
}

void rank_list_free(struct rank_list *list)
{
	if (!list)
		return;
	free(list->entries);
	free(list->ranks);
	free(list);
}
