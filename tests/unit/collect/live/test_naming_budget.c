/* The CPU time that a live recording gives to searches of names. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "collect/live/namer.h"

static const uint64_t S = 1000000000, MS = 1000000;

/* One address of these hits is without a name. */
static struct name_cache_lack lack_of(uint64_t hits, uint64_t all_hits)
{
	return (struct name_cache_lack){ .locations = 1, .hits = hits, .most_hits = hits, .all_hits = all_hits };
}

static void check(const struct naming_budget *budget, uint64_t hits, bool permitted, uint64_t expected_min)
{
	const struct name_cache_lack lack = lack_of(hits, 1000);
	uint64_t hits_min = 0;
	assert_int_equal(naming_budget_permits(budget, &lack, &hits_min), permitted);
	if (permitted)
		assert_int_equal(hits_min, expected_min);
}

/* A budget whose first credit is used up, at 1 s. */
static struct naming_budget used_up(void)
{
	const struct name_cache_lack none = { .all_hits = 1000 };
	struct naming_budget budget;
	naming_budget_init(&budget);
	naming_budget_grant(&budget, &none, S);
	naming_budget_use(&budget, 500 * MS);
	return budget;
}

static void test_first_search_is_of_all(void **state)
{
	(void)state;
	struct naming_budget budget;
	naming_budget_init(&budget);
	check(&budget, 1, true, 0);
	const struct name_cache_lack none = { .all_hits = 1000 };
	uint64_t hits_min;
	assert_false(naming_budget_permits(&budget, &none, &hits_min));
	naming_budget_use(&budget, 300 * MS);
	check(&budget, 9, false, 0); /* 0.9 % of the hits */
	check(&budget, 10, true, 10);
	naming_budget_use(&budget, 200 * MS);
	check(&budget, 1000, false, 0);
}

/* 0.5 % of the time that passes, while at most a tenth of the hits is without a name. */
static void test_steady_share(void **state)
{
	(void)state;
	struct naming_budget budget = used_up();
	const struct name_cache_lack lack = lack_of(100, 1000);
	naming_budget_use(&budget, 50 * MS);
	naming_budget_grant(&budget, &lack, 10 * S);
	check(&budget, 100, false, 0);
	naming_budget_grant(&budget, &lack, 12 * S);
	check(&budget, 100, true, 10);
	naming_budget_grant(&budget, &lack, 60 * S);
	check(&budget, 1, false, 0);
	naming_budget_grant(&budget, &lack, 62 * S); /* 61 s: 305 ms, less 50 */
	check(&budget, 1, true, 0);
}

/* All hits are without a name: 20 % more, until this was 2 s. */
static void test_more_for_unknown_hits(void **state)
{
	(void)state;
	struct naming_budget budget = used_up();
	const struct name_cache_lack lack = lack_of(1000, 1000);
	uint64_t now = S;
	naming_budget_use(&budget, 200 * MS);
	naming_budget_grant(&budget, &lack, now += S);
	check(&budget, 1000, true, 10); /* 205 ms */
	naming_budget_use(&budget, 5 * MS);
	for (int i = 0; i < 9; i++) {
		naming_budget_grant(&budget, &lack, now += S);
		naming_budget_use(&budget, 205 * MS);
	}
	check(&budget, 1000, false, 0);
	naming_budget_use(&budget, 10 * MS);
	naming_budget_grant(&budget, &lack, now += S);
	check(&budget, 1000, false, 0);
	naming_budget_grant(&budget, &lack, now += 2 * S);
	check(&budget, 1000, true, 10);
}

/* The credit does not grow beyond half a second. */
static void test_most(void **state)
{
	(void)state;
	struct naming_budget budget = used_up();
	const struct name_cache_lack none = { .all_hits = 1000 };
	naming_budget_grant(&budget, &none, 10000 * S);
	naming_budget_use(&budget, 499 * MS);
	check(&budget, 1000, true, 10);
	naming_budget_use(&budget, MS);
	check(&budget, 1000, false, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_first_search_is_of_all),
		cmocka_unit_test(test_steady_share),
		cmocka_unit_test(test_more_for_unknown_hits),
		cmocka_unit_test(test_most),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
