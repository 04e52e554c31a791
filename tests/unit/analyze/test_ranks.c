/* analyze/ranks.c: figures over the ranks of a job; and the labels that its recorders add (profile/labels.c). */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "analyze/ranks.h"
#include "support/alloc_fail.h"
#include "support/paths_profile.h"

/* Adds hits of a rank, of which `tenant` may be NULL. */
static void add(struct paths *paths, const char *stack, const char *rank, const char *tenant, uint64_t hits)
{
	struct profile *profile = paths->profile;
	size_t first = profile->hit_count, count = 0;
	struct profile_label labels[2];
	if (rank)
		labels[count++] =
			(struct profile_label){ .key = (uint32_t)profile_add_string(profile, PROFILE_LABEL_RANK),
						.value = (uint32_t)profile_add_string(profile, rank) };
	if (tenant)
		labels[count++] = (struct profile_label){ .key = (uint32_t)profile_add_string(profile, "tenant"),
							  .value = (uint32_t)profile_add_string(profile, tenant) };
	int64_t set = profile_add_label_set(profile, labels, count);
	assert_true(set >= 0);
	if (hits == 0)
		return;
	paths_add(paths, stack, hits);
	assert_int_equal(profile_label_hits(profile, first, (uint32_t)set), 0);
}

/* Ranks 2, 9 and 10, of which 9 has no hits, and hits without a rank. */
static void start(struct paths *paths)
{
	paths_start(paths, RESOURCE_EXACT);
	add(paths, "main;solve", "10", NULL, 6);
	add(paths, "main;solve", "2", "acme", 5);
	add(paths, "main;wait", "2", NULL, 1);
	add(paths, "main;solve", "2", NULL, 1);
	add(paths, "", "9", NULL, 0);
	add(paths, "main;other", NULL, "acme", 40);
}

static struct path_list *list_functions(void *context, const struct view *view, struct error *error)
{
	(void)context;
	return analyze_functions(view, error);
}

/* Returns the list of a selection's functions, or NULL without memory. */
static struct rank_list *compare(const struct profile *profile, const bool *chosen, struct view **view)
{
	struct error error = { 0 };
	bool *sets = rank_label_sets(profile, chosen, &error);
	const struct view_options options = { .thread = VIEW_ANY, .keep_view_nodes = true, .label_sets = sets };
	*view = sets ? view_new(profile, &options, &error) : NULL;
	struct path_list *all = *view ? analyze_functions(*view, &error) : NULL;
	struct rank_list *list = all ? analyze_ranks(*view, all, list_functions, NULL, &error) : NULL;
	assert_true(list || error.code == ERROR_MEMORY);
	path_list_free(all);
	free(sets);
	return list;
}

static void assert_entry(const struct rank_list *list, size_t number, uint64_t min, double mean, uint64_t max,
			 size_t most)
{
	const struct rank_entry *entry = &list->entries[number];
	assert_int_equal(entry->min, min);
	assert_true(fabs(entry->mean - mean) < 1e-9);
	assert_int_equal(entry->max, max);
	assert_int_equal(entry->most, most);
	assert_true(entry->chance == 0); /* exact */
}

static void figures_of_each_function(void **state)
{
	(void)state;
	struct paths paths;
	struct view *view;
	start(&paths);
	struct rank_list *list = compare(paths.profile, NULL, &view);
	assert_int_equal(list->rank_count, 3);
	assert_string_equal(profile_string(paths.profile, list->ranks[0]), "2");
	assert_string_equal(profile_string(paths.profile, list->ranks[1]), "9");
	assert_string_equal(profile_string(paths.profile, list->ranks[2]), "10");
	assert_int_equal(list->count, 3);
	assert_entry(list, 0, 0, 13.0 / 3, 7, 0); /* main: 7 - 4.33 */
	assert_entry(list, 1, 0, 4, 6, 0);        /* solve: 6 - 4, of ranks 2 and 10 */
	assert_entry(list, 2, 0, 1.0 / 3, 1, 0);  /* wait */
	assert_true(fabs(rank_imbalance(&list->entries[1]) - 0.5) < 1e-9);
	assert_true(fabs(rank_imbalance_share(&list->entries[1], 3) - 0.5) < 1e-9);
	assert_true(fabs(rank_imbalance_share(&list->entries[2], 3) - 1) < 1e-9);
	rank_list_free(list);
	view_free(view);
	paths_end(&paths);
}

static void ranks_of_a_selection(void **state)
{
	(void)state;
	struct paths paths;
	struct view *view;
	start(&paths);
	bool *chosen = calloc(paths.profile->label_set_count, sizeof(*chosen));
	assert_non_null(chosen);
	chosen[profile_hit_labels(paths.profile, 0)] = true; /* rank 10 */
	struct rank_list *list = compare(paths.profile, chosen, &view);
	assert_int_equal(list->rank_count, 1);
	assert_entry(list, 0, 6, 6, 6, 0);
	assert_true(rank_imbalance_share(&list->entries[0], 1) == 0);
	rank_list_free(list);
	view_free(view);
	chosen[profile_hit_labels(paths.profile, 0)] = false;
	struct error error = { 0 };
	assert_null(rank_label_sets(paths.profile, chosen, &error));
	assert_int_equal(error.code, ERROR_NOT_FOUND);
	free(chosen);
	paths_end(&paths);
}

static void divide(const struct profile *profile)
{
	struct view *view;
	struct rank_list *list = compare(profile, NULL, &view);
	rank_list_free(list);
	view_free(view);
}

static void memory_ends(void **state)
{
	(void)state;
	struct paths paths;
	start(&paths);
	ALLOC_FAIL_EACH(divide(paths.profile));
	paths_end(&paths);
}

/* --- labels of all hits --- */

static const char *value_of(const struct profile *profile, size_t hit, const char *key)
{
	int64_t id = strings_find(&profile->strings, key, strlen(key));
	return profile_string(profile, profile_label_value(profile, profile_hit_labels(profile, hit), (uint32_t)id));
}

static void every_hit_gets_the_label(void **state)
{
	(void)state;
	struct paths paths;
	paths_start(&paths, RESOURCE_EXACT);
	struct profile *profile = paths.profile;
	add(&paths, "main", NULL, "acme", 1);
	add(&paths, "main", "7", NULL, 1);
	add(&paths, "main", NULL, NULL, 1);
	paths_add(&paths, "main", 1);
	assert_false(profile_labels_all(profile, PROFILE_LABEL_RANK));
	size_t sets = 0;
	for (int i = 0; i < 2; i++) { /* a second time, nothing changes */
		assert_int_equal(profile_label_all(profile, PROFILE_LABEL_RANK, "3"), 0);
		assert_string_equal(value_of(profile, 0, PROFILE_LABEL_RANK), "3");
		assert_string_equal(value_of(profile, 0, "tenant"), "acme");
		assert_string_equal(value_of(profile, 1, PROFILE_LABEL_RANK), "7"); /* its own */
		assert_string_equal(value_of(profile, 2, PROFILE_LABEL_RANK), "3");
		assert_string_equal(value_of(profile, 3, PROFILE_LABEL_RANK), "3");
		assert_true(i == 0 || profile->label_set_count == sets);
		sets = profile->label_set_count;
	}
	assert_true(profile_labels_all(profile, PROFILE_LABEL_RANK));
	assert_false(profile_labels_all(profile, "tenant"));
	assert_int_equal(profile_check(profile), 0);
	paths_end(&paths);
}

static void a_profile_without_hits_has_the_label(void **state)
{
	(void)state;
	struct profile *profile = profile_new();
	assert_non_null(profile);
	assert_false(profile_labels_all(profile, PROFILE_LABEL_RANK));
	assert_int_equal(profile_label_all(profile, PROFILE_LABEL_RANK, "3"), 0);
	assert_true(profile_labels_all(profile, PROFILE_LABEL_RANK));
	profile_free(profile);
}

static void memory_ends_while_labelling(void **state)
{
	(void)state;
	for (unsigned long number = 1, more = 1; more; number++) {
		struct paths paths;
		paths_start(&paths, RESOURCE_EXACT);
		add(&paths, "main", NULL, "acme", 1);
		paths_add(&paths, "main", 1);
		alloc_fail_start(number);
		int status = profile_label_all(paths.profile, PROFILE_LABEL_RANK, "3");
		more = alloc_fail_stop();
		assert_int_equal(status, more ? ERROR_MEMORY : 0);
		assert_int_equal(profile_check(paths.profile), 0);
		paths_end(&paths);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(figures_of_each_function),
		cmocka_unit_test(ranks_of_a_selection),
		cmocka_unit_test(memory_ends),
		cmocka_unit_test(every_hit_gets_the_label),
		cmocka_unit_test(a_profile_without_hits_has_the_label),
		cmocka_unit_test(memory_ends_while_labelling),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
