/* The profile in memory: its tables, and the consistency that profile_check requires. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/error.h"
#include "profile/profile.h"
#include "support/alloc_fail.h"
#include "support/sample_profile.h"

static struct profile *sample(uint64_t seed)
{
	struct random random = { .state = seed };
	struct profile *profile = profile_new();
	assert_non_null(profile);
	assert_true(sample_profile_grow(profile, &random, 60));
	assert_true(sample_profile_symbolize(profile, &random));
	return profile;
}

static void test_new(void **state)
{
	(void)state;
	struct profile *profile = profile_new();
	assert_int_equal(profile->node_count, 1);
	assert_int_equal(profile->nodes[PROFILE_ROOT].parent, PROFILE_NONE);
	assert_int_equal(profile_add_string(profile, ""), 0);
	assert_int_equal(profile_check(profile), 0);
	assert_int_equal(profile_find_resource(profile, "cpu"), PROFILE_NONE);
	assert_null(profile_note(profile, "host"));
	profile_free(profile);
	profile_free(NULL);
}

/* Equal locations and nodes get the same id, different ones get different ids. */
static void test_locations_and_nodes(void **state)
{
	(void)state;
	struct profile *profile = profile_new();
	for (uint32_t round = 0; round < 2; round++)
		for (uint32_t module = 0; module < 20; module++)
			for (uint64_t address = 0; address < 100; address++)
				assert_int_equal(profile_add_location(profile, module, address * 0x100000001),
						 module * 100 + address);
	for (uint32_t round = 0; round < 2; round++)
		for (uint32_t parent = 0; parent < 40; parent++)
			for (uint32_t location = 0; location < 30; location++)
				assert_int_equal(profile_add_node(profile, parent, location),
						 1 + parent * 30 + location);
	profile_free(profile);
}

/* profile_add_node finds nodes that a reader of files appended. */
static void test_appended_are_found(void **state)
{
	(void)state;
	struct profile *profile = profile_new();
	for (uint32_t i = 0; i < 50; i++)
		assert_int_equal(profile_append_node(profile, i / 2, i), i + 1);
	for (uint32_t i = 0; i < 50; i++)
		assert_int_equal(profile_add_node(profile, i / 2, i), i + 1);
	assert_int_equal(profile_add_node(profile, 50, 0), 51);
	assert_int_equal(profile_append_node(profile, 51, 0), 52);
	assert_int_equal(profile_index_nodes(profile), 0);
	assert_int_equal(profile_add_node(profile, 51, 0), 52);
	profile_free(profile);
}

static void test_hits(void **state)
{
	(void)state;
	struct profile *profile = profile_new();
	assert_int_equal(profile_add_hit(profile, 5, PROFILE_NONE, 0, 0, 3 * (uint64_t)UINT32_MAX + 7), 0);
	assert_int_equal(profile->hit_count, 1); /* one sample is one row */
	assert_int_equal(profile->hits[0].count, 3 * (uint64_t)UINT32_MAX + 7);
	assert_int_equal(profile_add_hit(profile, 5, PROFILE_NONE, 0, 0, 0), 0);
	assert_int_equal(profile->hit_count, 1); /* zero hits add no row */
	assert_int_equal(profile_add_hit(profile, 5, PROFILE_NONE, 0, 0, UINT64_MAX), 0);
	assert_int_equal(profile->hits[0].count + profile->hits[1].count, PROFILE_HITS_MOST); /* sums cannot wrap */
	assert_int_equal(profile_add_hit(profile, 5, PROFILE_NONE, 0, 0, 1), 0);
	assert_int_equal(profile->hit_count, 2);
	profile_clear_hits(profile);
	assert_int_equal(profile->hit_count, 0);
	profile_free(profile);
}

static struct profile_label label_of(struct profile *profile, const char *key, const char *value)
{
	int64_t ids[] = { profile_add_string(profile, key), profile_add_string(profile, value) };
	assert_true(ids[0] >= 0 && ids[1] >= 0);
	return (struct profile_label){ .key = (uint32_t)ids[0], .value = (uint32_t)ids[1] };
}

/* A label set is independent of the order of its labels; of two values for one key, the last one counts. */
static void test_label_sets(void **state)
{
	(void)state;
	struct profile *profile = profile_new();
	struct profile_label tenant = label_of(profile, "tenant", "acme"), kind = label_of(profile, "kind", ""),
			     other = label_of(profile, "tenant", "zeta");
	assert_int_equal(profile_add_label_set(profile, NULL, 0), PROFILE_NO_LABELS);
	assert_int_equal(profile_add_label_set(profile, (struct profile_label[]){ tenant, kind }, 2), 1);
	assert_int_equal(profile_add_label_set(profile, (struct profile_label[]){ kind, tenant }, 2), 1);
	assert_int_equal(profile_add_label_set(profile, (struct profile_label[]){ kind, other }, 2), 2);
	assert_int_equal(profile_add_label_set(profile, (struct profile_label[]){ other, kind, tenant }, 3), 1);
	assert_int_equal(profile_add_label_set(profile, (struct profile_label[]){ kind }, 1), 3);
	assert_int_equal(profile->label_count, 5);
	assert_int_equal(profile_label_value(profile, 1, tenant.key), tenant.value);
	assert_int_equal(profile_label_value(profile, 1, kind.key), 0);
	assert_int_equal(profile_label_value(profile, 3, tenant.key), PROFILE_NONE);
	assert_int_equal(profile_label_value(profile, PROFILE_NO_LABELS, tenant.key), PROFILE_NONE);
	for (uint32_t i = 0; i < 5000; i++) { /* the lookup stays fast with many sets */
		struct profile_label one = { .key = tenant.key, .value = i % 2500 };
		int64_t set = profile_add_label_set(profile, &one, 1);
		assert_true(i < 2500 ? set >= 0 : set < (int64_t)profile->label_set_count);
	}
	assert_int_equal(profile->label_set_count, 4 + 2500);
	profile_free(profile);
}

static void test_labels_of_hits(void **state)
{
	(void)state;
	struct profile *profile = profile_new();
	struct profile_label label = label_of(profile, "tenant", "acme");
	uint32_t set = (uint32_t)profile_add_label_set(profile, &label, 1);
	assert_int_equal(profile_add_hit(profile, 1, PROFILE_NONE, 0, 0, 1), 0);
	assert_int_equal(profile_label_hits(profile, 0, PROFILE_NO_LABELS), 0);
	assert_null(profile->hit_labels); /* a profile without labels allocates nothing for them */
	assert_int_equal(profile_add_hit(profile, 1, PROFILE_NONE, 0, 0, 1), 0);
	assert_int_equal(profile_add_hit(profile, 1, PROFILE_NONE, 0, 0, 2 * (uint64_t)UINT32_MAX), 0);
	assert_int_equal(profile_label_hits(profile, 1, set), 0);
	assert_int_equal(profile_add_hit(profile, 1, PROFILE_NONE, 0, 0, 1), 0);
	static const uint32_t wanted[] = { 0, 1, 1, 0 };
	for (size_t i = 0; i < 4; i++)
		assert_int_equal(profile_hit_labels(profile, i), wanted[i]);
	assert_int_equal(profile_label_hits(profile, 2, PROFILE_NO_LABELS), 0); /* overrides the last two rows */
	assert_int_equal(profile_hit_labels(profile, 1), 1);
	assert_int_equal(profile_hit_labels(profile, 2), 0);
	profile_clear_hits(profile);
	assert_int_equal(profile_add_hit(profile, 1, PROFILE_NONE, 0, 0, 2), 0);
	assert_int_equal(profile_hit_labels(profile, 0), 0);
	profile_free(profile);
}

static void test_reserve_hits(void **state)
{
	(void)state;
	for (int used = 0; used < 2; used++) {
		struct profile *profile = profile_new();
		if (used)
			assert_int_equal(profile_add_hit(profile, 1, 0, 0, 0, 1), 0);
		assert_int_equal(profile_reserve_hits(profile, 1000000), 0);
		assert_true(profile->hit_capacity >= 1000000);
		profile->hits[999999].count = 1;
		assert_int_equal(profile_reserve_hits(profile, 2000000), 0); /* extends the first */
		profile->hits[1999999].count = 1;
		assert_int_equal(profile_reserve_hits(profile, SIZE_MAX / 8), ERROR_MEMORY);
		profile_free(profile);
	}
}

static void test_causes_and_notes(void **state)
{
	(void)state;
	struct profile *profile = profile_new();
	assert_int_equal(profile_count_cause(profile, "root", &(struct profile_cause){ .whole = true, .count = 2 }), 0);
	assert_int_equal(profile_count_cause(profile, "depth", &(struct profile_cause){ .count = 1 }), 0);
	assert_int_equal(profile_count_cause(profile, "root", &(struct profile_cause){ .whole = true, .count = 3 }), 0);
	assert_int_equal(profile->cause_count, 2);
	assert_int_equal(profile->causes[0].count, 5);
	assert_int_equal(profile_add_note(profile, "warning", "one"), 0);
	assert_int_equal(profile_add_note(profile, "warning", "two"), 1);
	assert_string_equal(profile_note(profile, "warning"), "one");
	profile_free(profile);
}

static void assert_unsound(struct profile *profile, const char *what)
{
	if (profile_check(profile) != ERROR_CORRUPT)
		fail_msg("%s is not found", what);
}

/* Sets a field to an invalid value, which profile_check must find, and restores it. */
#define ASSERT_UNSOUND(place, value)                  \
	good = (place);                               \
	(place) = (__typeof__(place))(value);         \
	assert_unsound(profile, #place " = " #value); \
	(place) = (__typeof__(place))good;            \
	assert_int_equal(profile_check(profile), 0)

static void test_check_things(void **state)
{
	(void)state;
	struct profile *profile = sample(3);
	uint64_t good;
	uint32_t no_string = (uint32_t)profile->strings.count;
	assert_int_equal(profile_check(profile), 0);
	ASSERT_UNSOUND(profile->resources[0].name, no_string);
	ASSERT_UNSOUND(profile->resources[0].title, no_string);
	ASSERT_UNSOUND(profile->resources[0].unit, no_string);
	ASSERT_UNSOUND(profile->resources[0].backend, no_string);
	ASSERT_UNSOUND(profile->resources[0].note, no_string);
	ASSERT_UNSOUND(profile->resources[0].kind, 3);
	ASSERT_UNSOUND(profile->resources[0].interval, 0);
	profile_free(profile);
}

static void test_check_more_things(void **state)
{
	(void)state;
	struct profile *profile = sample(3);
	uint64_t good;
	uint32_t no_string = (uint32_t)profile->strings.count;
	ASSERT_UNSOUND(profile->processes[0].name, no_string);
	ASSERT_UNSOUND(profile->processes[0].cgroup, no_string);
	ASSERT_UNSOUND(profile->threads[0].name, no_string);
	ASSERT_UNSOUND(profile->threads[0].process, (uint32_t)profile->process_count);
	ASSERT_UNSOUND(profile->modules[0].path, no_string);
	ASSERT_UNSOUND(profile->modules[0].kind, 6);
	ASSERT_UNSOUND(profile->modules[0].build_id_bytes, PROFILE_BUILD_ID_MAX + 1);
	ASSERT_UNSOUND(profile->causes[0].text, no_string);
	ASSERT_UNSOUND(profile->notes[0].key, no_string);
	ASSERT_UNSOUND(profile->notes[0].value, no_string);
	profile_free(profile);
}

static void test_check_symbols(void **state)
{
	(void)state;
	struct profile *profile = sample(4);
	uint64_t good;
	uint32_t no_string = (uint32_t)profile->strings.count;
	uint32_t frames = (uint32_t)profile->frame_count;
	ASSERT_UNSOUND(profile->functions[0].name, no_string);
	ASSERT_UNSOUND(profile->functions[0].linkage, no_string);
	ASSERT_UNSOUND(profile->functions[0].file, no_string);
	ASSERT_UNSOUND(profile->functions[0].module, (uint32_t)profile->module_count);
	ASSERT_UNSOUND(profile->functions[0].role, 4);
	ASSERT_UNSOUND(profile->frames[0].function, (uint32_t)profile->function_count);
	ASSERT_UNSOUND(profile->frames[0].file, no_string);
	ASSERT_UNSOUND(profile->locations[0].module, (uint32_t)profile->module_count);
	ASSERT_UNSOUND(profile->locations[0].first_frame, frames);
	ASSERT_UNSOUND(profile->locations[0].first_frame, PROFILE_NONE); /* it is symbolized */
	ASSERT_UNSOUND(profile->locations[0].frame_count, 0);
	ASSERT_UNSOUND(profile->locations[0].frame_count, frames + 1);
	/* The mark of a thread's start has no frames, so that its frame_count must be 0. */
	struct profile_location mark = { .module = 0, .first_frame = PROFILE_NONE };
	profile->modules[0].kind = MODULE_THREAD;
	profile->locations[0] = mark;
	assert_int_equal(profile_check(profile), 0);
	ASSERT_UNSOUND(profile->locations[0].frame_count, 1);
	ASSERT_UNSOUND(profile->locations[0].frame_count, 500000000);
	profile_free(profile);
}

static void test_check_paths(void **state)
{
	(void)state;
	struct profile *profile = sample(4);
	uint64_t good;
	ASSERT_UNSOUND(profile->nodes[0].parent, 0);
	ASSERT_UNSOUND(profile->nodes[5].parent, 5);
	ASSERT_UNSOUND(profile->nodes[5].parent, PROFILE_NONE);
	ASSERT_UNSOUND(profile->nodes[5].location, (uint32_t)profile->location_count);
	ASSERT_UNSOUND(profile->hits[0].node, (uint32_t)profile->node_count);
	ASSERT_UNSOUND(profile->hits[0].resource, (uint32_t)profile->resource_count);
	ASSERT_UNSOUND(profile->hits[0].thread, (uint32_t)profile->thread_count);
	ASSERT_UNSOUND(profile->hits[0].count, 0);
	ASSERT_UNSOUND(profile->touches[0].node, (uint32_t)profile->node_count);
	ASSERT_UNSOUND(profile->touches[0].resource, (uint32_t)profile->resource_count);
	ASSERT_UNSOUND(profile->touches[0].thread, (uint32_t)profile->thread_count);
	ASSERT_UNSOUND(profile->touches[0].mapping, (uint32_t)profile->strings.count);
	ASSERT_UNSOUND(profile->touches[0].count, 0);
	profile_free(profile);
}

static void try_to_grow(void)
{
	struct random random = { .state = 6 };
	struct profile *profile = profile_new();
	if (!profile)
		return;
	/* A profile whose construction ran out of memory is still consistent. */
	bool grown = sample_profile_grow(profile, &random, 40);
	assert_int_equal(profile_check(profile), 0);
	if (grown && sample_profile_symbolize(profile, &random))
		assert_int_equal(profile_check(profile), 0);
	profile_free(profile);
}

static void test_no_memory(void **state)
{
	(void)state;
	ALLOC_FAIL_EACH(try_to_grow());
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_new),
		cmocka_unit_test(test_locations_and_nodes),
		cmocka_unit_test(test_appended_are_found),
		cmocka_unit_test(test_hits),
		cmocka_unit_test(test_label_sets),
		cmocka_unit_test(test_labels_of_hits),
		cmocka_unit_test(test_reserve_hits),
		cmocka_unit_test(test_causes_and_notes),
		cmocka_unit_test(test_check_things),
		cmocka_unit_test(test_check_more_things),
		cmocka_unit_test(test_check_symbols),
		cmocka_unit_test(test_check_paths),
		cmocka_unit_test(test_no_memory),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
