/* The tree of processes: parents, rows, and the choice of everything below a row. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "analyze/process_tree.h"
#include "base/error.h"
#include "support/alloc_fail.h"

enum { MOST = 8 };

static struct profile *make_profile(const struct profile_process *processes, const char *const *names, size_t count)
{
	struct profile *profile = profile_new();
	assert_non_null(profile);
	for (size_t i = 0; i < count; i++) {
		struct profile_process process = processes[i];
		process.name = (uint32_t)profile_add_string(profile, names[i]);
		assert_int_equal(profile_add_process(profile, &process), i);
	}
	return profile;
}

static void assert_parents(const struct profile_process *processes, size_t count, const uint32_t *expected)
{
	static const char *const names[MOST] = { "a", "a", "a", "a", "a", "a", "a", "a" };
	struct profile *profile = make_profile(processes, names, count);
	struct process_tree tree;
	bool seen[MOST] = { false };
	assert_int_equal(process_tree_make(&tree, profile), 0);
	for (size_t i = 0; i < count; i++) {
		uint32_t process = tree.order[i];
		assert_int_equal(tree.parents[i], expected[i]);
		assert_false(seen[process]);
		assert_true(tree.parents[process] == PROFILE_NONE || seen[tree.parents[process]]);
		seen[process] = true;
	}
	process_tree_release(&tree);
	profile_free(profile);
}

static void numbers_that_were_used_twice(void **state)
{
	(void)state;
	const struct profile_process processes[] = {
		{ .pid = 7, .parent_pid = 5, .start_ns = 250 }, /* of the second process 5 */
		{ .pid = 5, .parent_pid = 1, .start_ns = 100 },
		{ .pid = 6, .parent_pid = 5, .start_ns = 150 }, /* of the first one */
		{ .pid = 5, .parent_pid = 6, .start_ns = 200 },
		{ .pid = 8, .parent_pid = 5, .start_ns = 50 }, /* older than both */
		{ .pid = 9 },
	};
	assert_parents(processes, 6, (uint32_t[]){ 3, PROFILE_NONE, 1, 2, PROFILE_NONE, PROFILE_NONE });
}

static void a_forged_cycle_is_cut(void **state)
{
	(void)state;
	const struct profile_process processes[] = {
		{ .pid = 1, .parent_pid = 2 }, { .pid = 2, .parent_pid = 3 }, { .pid = 3, .parent_pid = 1 },
		{ .pid = 4, .parent_pid = 4 }, { .pid = 5, .parent_pid = 3 },
	};
	assert_parents(processes, 5, (uint32_t[]){ 1, 2, PROFILE_NONE, PROFILE_NONE, 2 });
}

/* make starts two shells, which start two compilers each; one compiler runs as two processes. Another make was started by hand. */
static struct profile *builds(void)
{
	const struct profile_process processes[] = {
		{ .pid = 1 },
		{ .pid = 2, .parent_pid = 1 },
		{ .pid = 3, .parent_pid = 1 },
		{ .pid = 4, .parent_pid = 2 },
		{ .pid = 5, .parent_pid = 3 },
		{ .pid = 6, .parent_pid = 5 },
		{ .pid = 7 },
		{ .pid = 8, .parent_pid = 1 },
	};
	static const char *const names[MOST] = { "make", "sh", "sh", "cc", "cc", "cc", "make", "ld" };
	return make_profile(processes, names, MOST);
}

static void equal_names_below_one_parent_are_one_row(void **state)
{
	(void)state;
	struct profile *profile = builds();
	const uint64_t hits[MOST + 1] = { 1, 2, 0, 10, 20, 30, 0, 500, 4 };
	const struct share expected[] = {
		{ .owner = 0, .members = 2, .own = 1, .hits = 563 },
		{ .owner = 7, .members = 1, .depth = 1, .own = 500, .hits = 500 },
		{ .owner = 1, .members = 2, .depth = 1, .own = 2, .hits = 62 },
		{ .owner = 3, .members = 3, .depth = 2, .own = 60, .hits = 60 },
		{ .owner = PROFILE_NONE, .members = 1, .own = 4, .hits = 4 },
	};
	size_t count = 0;
	struct share *rows = process_tree_shares(profile, hits, &count);
	assert_non_null(rows);
	assert_int_equal(count, 5);
	for (size_t i = 0; i < count; i++) {
		assert_int_equal(rows[i].owner, expected[i].owner);
		assert_int_equal(rows[i].members, expected[i].members);
		assert_int_equal(rows[i].depth, expected[i].depth);
		assert_int_equal(rows[i].own, expected[i].own);
		assert_int_equal(rows[i].hits, expected[i].hits);
	}
	free(rows);
	profile_free(profile);
}

static void assert_choice(uint32_t process, const char *expected)
{
	struct profile *profile = builds();
	bool chosen[MOST] = { false };
	char found[MOST + 1] = "";
	chosen[process] = true;
	assert_int_equal(process_tree_choose(profile, chosen), 0);
	for (size_t i = 0; i < MOST; i++)
		found[i] = chosen[i] ? 'x' : '.';
	assert_string_equal(found, expected);
	profile_free(profile);
}

static void a_row_is_chosen_with_all_below(void **state)
{
	(void)state;
	assert_choice(0, "xxxxxxxx");
	assert_choice(2, ".xxxxx..");
	assert_choice(3, "...xxx..");
	assert_choice(7, ".......x");
}

/* A chain of forks, each with its own name, is as deep as it has processes. */
static void a_long_chain(void **state)
{
	(void)state;
	enum { LENGTH = 100000 };
	struct profile *profile = profile_new();
	uint64_t *hits = calloc(LENGTH + 1, sizeof(*hits));
	assert_non_null(hits);
	for (uint32_t i = 0; i < LENGTH; i++) {
		char name[16];
		snprintf(name, sizeof(name), "%u", i);
		struct profile_process process = { .pid = LENGTH - i, .parent_pid = i ? LENGTH - i + 1 : 0 };
		process.name = (uint32_t)profile_add_string(profile, name);
		assert_int_equal(profile_add_process(profile, &process), i);
		hits[i] = 1;
	}
	size_t count = 0;
	struct share *rows = process_tree_shares(profile, hits, &count);
	assert_int_equal(count, LENGTH);
	for (uint32_t i = 0; i < LENGTH; i++) {
		assert_int_equal(rows[i].depth, i);
		assert_int_equal(rows[i].hits, LENGTH - i);
	}
	free(rows);
	free(hits);
	profile_free(profile);
}

static void divide(const struct profile *profile)
{
	const uint64_t hits[MOST + 1] = { 1, 2, 3, 4, 5, 6, 7, 8, 9 };
	bool chosen[MOST] = { true };
	size_t count = 0;
	struct share *rows = process_tree_shares(profile, hits, &count);
	assert_true(!rows || count == 5);
	free(rows);
	assert_true(process_tree_choose(profile, chosen) <= 0);
}

static void memory_ends(void **state)
{
	(void)state;
	struct profile *profile = builds();
	ALLOC_FAIL_EACH(divide(profile));
	profile_free(profile);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(numbers_that_were_used_twice),
		cmocka_unit_test(a_forged_cycle_is_cut),
		cmocka_unit_test(equal_names_below_one_parent_are_one_row),
		cmocka_unit_test(a_row_is_chosen_with_all_below),
		cmocka_unit_test(a_long_chain),
		cmocka_unit_test(memory_ends),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
