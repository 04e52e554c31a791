/* analyze/label_groups.c: hits grouped by label, and views of selected label sets. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "analyze/label_groups.h"
#include "support/alloc_fail.h"
#include "support/paths_profile.h"

/* Returns the label set of "key=value" words. "" is the empty set. */
static uint32_t set_of(struct paths *paths, const char *words)
{
	struct profile_label labels[4];
	size_t count = 0;
	char copy[128];
	snprintf(copy, sizeof(copy), "%s", words);
	for (char *rest = copy, *word; (word = strsep(&rest, " "));) {
		char *value = word;
		const char *key = strsep(&value, "=");
		if (value)
			labels[count++] =
				(struct profile_label){ .key = (uint32_t)profile_add_string(paths->profile, key),
							.value = (uint32_t)profile_add_string(paths->profile, value) };
	}
	return (uint32_t)profile_add_label_set(paths->profile, labels, count);
}

static void add(struct paths *paths, const char *stack, const char *labels, uint64_t hits)
{
	size_t first = paths->profile->hit_count;
	paths_add(paths, stack, hits);
	assert_int_equal(profile_label_hits(paths->profile, first, set_of(paths, labels)), 0);
}

/* A worked example: work for three tenants, and work without a tenant. */
static void start(struct paths *paths)
{
	paths_start(paths, RESOURCE_SAMPLED);
	add(paths, "main;idle", "", 2);
	add(paths, "main;serve", "tenant=acme kind=new", 3);
	add(paths, "main;serve;parse", "tenant=acme", 4);
	add(paths, "main;serve", "tenant=zeta kind=new", 5);
	add(paths, "main;serve;parse", "kind=old tenant=beta", 2);
	paths->time_ns = 9000;
	add(paths, "main;idle", "", 1);
}

static uint32_t key_of(const struct paths *paths, const char *text)
{
	return text ? (uint32_t)profile_add_string(paths->profile, text) : LABEL_EVERY_KEY;
}

/* Returns the groups as text, "7 tenant=acme, 3 -". */
static const char *groups_text(const struct view *view, const struct label_group_list *list)
{
	static char text[256];
	size_t length = 0;
	text[0] = 0;
	for (size_t i = 0; i < list->count; i++) {
		const struct label_group *group = &list->groups[i];
		length +=
			(size_t)snprintf(text + length, sizeof(text) - length, "%s%d", i ? ", " : "", (int)group->hits);
		for (size_t k = 0; k < group->label_count; k++)
			length += (size_t)snprintf(text + length, sizeof(text) - length, " %s=%s",
						   profile_string(view->profile, group->labels[k].key),
						   profile_string(view->profile, group->labels[k].value));
		if (group->label_count == 0)
			length += (size_t)snprintf(text + length, sizeof(text) - length, " -");
	}
	return text;
}

static void assert_groups(const struct view *view, uint32_t key, const char *wanted)
{
	struct error error;
	struct label_group_list *list = analyze_label_groups(view, key, &error);
	assert_non_null(list);
	assert_string_equal(groups_text(view, list), wanted);
	label_group_list_free(list);
}

static void hits_by_label(void **state)
{
	(void)state;
	struct paths paths;
	start(&paths);
	struct view *view = paths_view(&paths, VIEW_FUNCTION);
	assert_groups(view, key_of(&paths, "tenant"), "7 tenant=acme, 5 tenant=zeta, 3 -, 2 tenant=beta");
	assert_groups(view, key_of(&paths, "kind"), "8 kind=new, 7 -, 2 kind=old");
	assert_groups(view, key_of(&paths, "no such key"), "17 -");
	assert_groups(view, LABEL_EVERY_KEY,
		      "5 kind=new tenant=zeta, 4 tenant=acme, 3 -, 3 kind=new tenant=acme, 2 kind=old tenant=beta");
	view_free(view);
	paths_end(&paths);
}

/* Groups of equal hits are in the order of their labels; a set precedes those that begin with it. */
static void equal_groups_are_in_order(void **state)
{
	(void)state;
	static const char *const sets[] = { "a=2", "b=0", "a=1 c=1", "a=1 b=2", "a=1", "", "a=1 b=1", "a=1 b=1 c=0" };
	struct paths paths;
	paths_start(&paths, RESOURCE_SAMPLED);
	for (size_t i = 0; i < sizeof(sets) / sizeof(sets[0]); i++)
		add(&paths, "main", sets[i], 1);
	struct view *view = paths_view(&paths, VIEW_FUNCTION);
	assert_groups(view, LABEL_EVERY_KEY,
		      "1 -, 1 a=1, 1 a=1 b=1, 1 a=1 b=1 c=0, 1 a=1 b=2, 1 a=1 c=1, 1 a=2, 1 b=0");
	assert_groups(view, key_of(&paths, "a"), "5 a=1, 2 -, 1 a=2");
	view_free(view);
	paths_end(&paths);
}

/* A view of one group's label sets has exactly the hits of the group. */
static void groups_are_selections(void **state)
{
	(void)state;
	struct paths paths;
	start(&paths);
	struct error error;
	struct view *all = paths_view(&paths, VIEW_FUNCTION);
	uint32_t keys[] = { key_of(&paths, "tenant"), key_of(&paths, "kind"), LABEL_EVERY_KEY };
	for (size_t k = 0; k < 3; k++) {
		struct label_group_list *list = analyze_label_groups(all, keys[k], &error);
		for (size_t i = 0; i < list->count; i++) {
			bool *sets = label_group_sets(list, i, paths.profile, NULL, &error);
			struct view_options options = { .thread = VIEW_ANY, .label_sets = sets };
			struct view *view = view_new(paths.profile, &options, &error);
			memset(sets, 1, paths.profile->label_set_count * sizeof(*sets)); /* the view has its own copy */
			assert_int_equal(view->total, list->groups[i].hits);
			struct label_group_list *alone = analyze_label_groups(view, keys[k], &error);
			assert_int_equal(alone->count, 1);
			assert_int_equal(alone->groups[0].hits, list->groups[i].hits);
			label_group_list_free(alone);
			view_free(view);
			free(sets);
		}
		label_group_list_free(list);
	}
	view_free(all);
	paths_end(&paths);
}

/* Label sets combine with other selections: the sets of a group are limited to those selected before. */
static void selections_go_together(void **state)
{
	(void)state;
	struct paths paths;
	start(&paths);
	struct error error;
	bool chosen[8] = { 0 };
	chosen[PROFILE_NO_LABELS] = chosen[set_of(&paths, "tenant=acme")] = true;
	struct view_options options = { .thread = VIEW_ANY, .label_sets = chosen, .to_ns = 5000 };
	for (size_t i = 0; i + 1 < paths.profile->hit_count; i++)
		paths.profile->hits[i].time_ns = 1000;
	struct view *view = view_new(paths.profile, &options, &error);
	assert_int_equal(view->total, 6);
	assert_groups(view, key_of(&paths, "tenant"), "4 tenant=acme, 2 -");
	struct label_group_list *list = analyze_label_groups(view, key_of(&paths, "tenant"), &error);
	chosen[set_of(&paths, "tenant=acme")] = false;
	bool *sets = label_group_sets(list, 0, paths.profile, chosen, &error);
	for (size_t i = 0; i < paths.profile->label_set_count; i++)
		assert_false(sets[i]);
	free(sets);
	label_group_list_free(list);
	view_free(view);
	paths_end(&paths);
}

/* The profile has room for more hits than it has. */
static void hits_behind_the_last_do_not_count(void **state)
{
	(void)state;
	struct paths paths;
	start(&paths);
	add(&paths, "main;serve", "tenant=acme", 100);
	paths.profile->hit_label_count = --paths.profile->hit_count;
	struct view *view = paths_view(&paths, VIEW_FUNCTION);
	assert_groups(view, key_of(&paths, "tenant"), "7 tenant=acme, 5 tenant=zeta, 3 -, 2 tenant=beta");
	view_free(view);
	paths_end(&paths);
}

static void keys_are_listed(void **state)
{
	(void)state;
	struct paths paths;
	start(&paths);
	size_t count;
	struct label_key *keys = analyze_label_keys(paths.profile, &count);
	assert_int_equal(count, 2);
	assert_string_equal(profile_string(paths.profile, keys[0].key), "kind");
	assert_int_equal(keys[0].values, 2);
	assert_string_equal(profile_string(paths.profile, keys[1].key), "tenant");
	assert_int_equal(keys[1].values, 3);
	free(keys);
	paths_end(&paths);
}

/* Profiles with no label and with one. */
static void few_keys_are_listed(void **state)
{
	(void)state;
	struct paths paths;
	size_t count = 7;
	paths_start(&paths, RESOURCE_SAMPLED);
	struct label_key *keys = analyze_label_keys(paths.profile, &count);
	assert_non_null(keys);
	assert_int_equal(count, 0);
	free(keys);
	struct profile_label label = { .key = (uint32_t)profile_add_string(paths.profile, "tenant"), .value = 3 };
	assert_true(profile_add_label_set(paths.profile, &label, 1) > 0);
	keys = analyze_label_keys(paths.profile, &count);
	assert_int_equal(count, 1);
	assert_int_equal(keys[0].key, label.key);
	assert_int_equal(keys[0].values, 1);
	free(keys);
	paths_end(&paths);
}

static void analyze_all(const struct paths *paths, uint32_t key)
{
	struct error error = { 0 };
	bool chosen[8] = { true, true };
	struct view_options options = { .thread = VIEW_ANY, .label_sets = chosen };
	struct view *view = view_new(paths->profile, &options, &error);
	struct label_group_list *list = view ? analyze_label_groups(view, key, &error) : NULL;
	bool *sets = list ? label_group_sets(list, 0, paths->profile, chosen, &error) : NULL;
	assert_true(sets ? error.code == 0 : error.code == ERROR_MEMORY);
	size_t count;
	free(analyze_label_keys(paths->profile, &count));
	free(sets);
	label_group_list_free(list);
	view_free(view);
}

static void memory_may_fail_anywhere(void **state)
{
	(void)state;
	struct paths paths;
	start(&paths);
	uint32_t key = key_of(&paths, "tenant");
	ALLOC_FAIL_EACH(analyze_all(&paths, key));
	ALLOC_FAIL_EACH(analyze_all(&paths, LABEL_EVERY_KEY));
	paths_end(&paths);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(hits_behind_the_last_do_not_count),
		cmocka_unit_test(hits_by_label),
		cmocka_unit_test(equal_groups_are_in_order),
		cmocka_unit_test(groups_are_selections),
		cmocka_unit_test(selections_go_together),
		cmocka_unit_test(keys_are_listed),
		cmocka_unit_test(few_keys_are_listed),
		cmocka_unit_test(memory_may_fail_anywhere),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
