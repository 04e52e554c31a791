/* The profile in memory: its tables. test_profile_check.c tests the consistency that profile_check requires. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/array.h"
#include "base/error.h"
#include "profile/profile.h"
#include "support/alloc_fail.h"
#include "support/sample_profile.h"

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

/* Equal locations and nodes get the same id, different locations and nodes get different ids. */
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

/* All bits of the ids count. */
static void test_large_ids(void **state)
{
	(void)state;
	static const uint32_t ids[] = { 5, 1U << 31 | 5, 1U << 30 | 5, 6, PROFILE_NONE - 1 };
	enum { IDS = sizeof(ids) / sizeof(ids[0]) };
	struct profile *profile = profile_new();
	for (int round = 0; round < 2; round++)
		for (uint32_t parent = 0; parent < IDS; parent++)
			for (uint32_t location = 0; location < IDS; location++)
				assert_int_equal(profile_add_node(profile, ids[parent], ids[location]),
						 1 + parent * IDS + location);
	profile_free(profile);
}

/* A node or location that is added while memory is short is found again, or is not added at all. */
static void test_added_are_found_when_memory_is_short(void **state)
{
	(void)state;
	struct profile *profile = profile_new();
	for (uint32_t i = 0; i < 2000; i++) {
		for (unsigned long number = 1; number <= 2; number++) {
			alloc_fail_start(number);
			int64_t node = profile_add_node(profile, PROFILE_ROOT, i);
			alloc_fail_start(number);
			int64_t location = profile_add_location(profile, 0, i);
			alloc_fail_stop();
			assert_true(node == i + 1 || (node == ERROR_MEMORY && profile->node_count == i + 1));
			assert_true(location == i || (location == ERROR_MEMORY && profile->location_count == i));
		}
		assert_int_equal(profile_add_node(profile, PROFILE_ROOT, i), i + 1);
		assert_int_equal(profile_add_location(profile, 0, i), i);
	}
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

/* Appends a location as a reader of files does, which does not index it. */
static void read_location(struct profile *profile, uint32_t module, uint64_t address, bool by_frames)
{
	assert_int_equal(ARRAY_RESERVE(profile->locations, profile->location_capacity, profile->location_count + 1), 0);
	profile->locations[profile->location_count++] = (struct profile_location){
		.module = module, .address = address, .first_frame = PROFILE_NONE, .by_frames = by_frames
	};
}

/* profile_add_location finds the first of equal locations that a reader of files appended, except those by frames. */
static void test_read_locations_are_found(void **state)
{
	(void)state;
	struct profile *profile = profile_new();
	for (uint32_t i = 0; i < 50; i++)
		read_location(profile, 0, i / 2, i % 10 == 0);
	for (uint32_t i = 0; i < 50; i += 2)
		assert_int_equal(profile_add_location(profile, 0, i / 2), i % 10 == 0 ? i + 1 : i);
	read_location(profile, 0, 50, false);
	assert_int_equal(profile_add_location(profile, 0, 50), 50);
	read_location(profile, 0, 51, false);
	assert_int_equal(profile_append_location(profile, 0, 51), 52);
	assert_int_equal(profile_add_location(profile, 0, 51), 51);
	assert_int_equal(profile_append_location(profile, 0, 51), 53);
	assert_true(profile->locations[53].by_frames);
	assert_int_equal(profile->locations[53].first_frame, PROFILE_NONE);
	assert_int_equal(profile->location_count, 54);
	profile_free(profile);
}

/* Different locations whose keys in the map are equal are told apart. */
static void test_locations_with_equal_keys(void **state)
{
	(void)state;
	struct profile *profile = profile_new();
	for (int round = 0; round < 2; round++)
		for (uint32_t module = 0; module < 4; module++)
			assert_int_equal(profile_add_location(profile, module, hash_u64(module + UINT64_C(1))), module);
	/* The key of module 1 was taken, so that it has the next one, which this location has at first. */
	const uint64_t step = UINT64_C(0x9e3779b97f4a7c15);
	for (int round = 0; round < 2; round++)
		assert_int_equal(profile_add_location(profile, 1, step ^ hash_u64(2)), 4);
	for (uint32_t module = 5; module < 9; module++)
		read_location(profile, module, hash_u64(module + UINT64_C(1)), false);
	for (uint32_t module = 0; module < 9; module++)
		if (module != 4)
			assert_int_equal(profile_add_location(profile, module, hash_u64(module + UINT64_C(1))), module);
	profile_free(profile);
}

static void test_resources_and_duration(void **state)
{
	(void)state;
	struct profile *profile = profile_new();
	static const char *const names[] = { "cpu", "real", "page-faults" };
	for (uint32_t i = 0; i < 3; i++) {
		struct profile_resource resource = { .name = (uint32_t)profile_add_string(profile, names[i]) };
		assert_int_equal(profile_add_resource(profile, &resource), i);
	}
	for (uint32_t i = 0; i < 3; i++)
		assert_int_equal(profile_find_resource(profile, names[i]), i);
	assert_int_equal(profile_find_resource(profile, "none"), PROFILE_NONE);

	profile->start_ns = 1000;
	assert_int_equal(profile_duration_ns(profile), 0); /* its end is not known */
	profile->end_ns = 1000;
	assert_int_equal(profile_duration_ns(profile), 0);
	profile->end_ns = 1300;
	assert_int_equal(profile_duration_ns(profile), 300);
	static const uint64_t times[] = { 1400, 1900, 1200, 1500 };
	static const uint64_t durations[] = { 400, 900, 900, 900 };
	for (size_t i = 0; i < 4; i++) {
		assert_int_equal(profile_add_hit(profile, times[i], PROFILE_NONE, 0, 0, 1), 0);
		assert_int_equal(profile_duration_ns(profile), durations[i]);
	}
	profile_free(profile);
}

/* Sets a count to its limit, and tries to add one more row. */
#define ASSERT_LIMIT(count, call)                        \
	do {                                             \
		size_t had_ = (count);                   \
		(count) = PROFILE_NONE;                  \
		assert_int_equal((call), ERROR_LIMIT);   \
		assert_int_equal((count), PROFILE_NONE); \
		(count) = had_;                          \
	} while (0)

/* PROFILE_NONE is not an id. */
static void test_limits(void **state)
{
	(void)state;
	struct profile *profile = profile_new();
	struct profile_label label = { .key = 1 };
	ASSERT_LIMIT(profile->module_count, profile_add_module(profile, &(struct profile_module){ 0 }));
	ASSERT_LIMIT(profile->note_count, profile_add_note(profile, "key", "value"));
	ASSERT_LIMIT(profile->label_count, profile_add_label_set(profile, &label, 1));
	profile->label_sets_indexed = PROFILE_NONE;
	ASSERT_LIMIT(profile->label_set_count, profile_add_label_set(profile, &label, 1));
	profile->label_count = PROFILE_NONE - 1;
	assert_int_equal(profile_add_label_set(profile, &label, 1), ERROR_LIMIT);
	profile->label_count = PROFILE_NONE - 2; /* there is room for this label, but no memory */
	alloc_fail_start(1);
	assert_int_equal(profile_add_label_set(profile, &label, 1), ERROR_MEMORY);
	assert_true(alloc_fail_stop());
	profile->label_count = 0;
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
	assert_int_equal(profile_add_touch(profile, &(struct profile_touch){ .count = 1 }), 0);
	profile_clear_hits(profile);
	assert_int_equal(profile->hit_count, 0);
	assert_int_equal(profile->touch_count, 0);
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
	assert_int_equal(profile_label_value(profile, 3, tenant.key), PROFILE_NONE); /* set 4 has it */
	profile_free(profile);
}

/* A label between two others moves only those behind it, and not the labels of the array that are still to be sorted. */
static void test_labels_are_sorted(void **state)
{
	(void)state;
	struct profile *profile = profile_new();
	const char *const orders[] = { "acbd", "dcba", "bdac", "abcd" };
	for (size_t i = 0; i < sizeof(orders) / sizeof(orders[0]); i++) {
		struct profile_label labels[4];
		for (size_t k = 0; k < 4; k++)
			labels[k] = label_of(profile, (char[]){ orders[i][k], 0 }, "");
		assert_int_equal(profile_add_label_set(profile, labels, 4), 1);
	}
	for (uint32_t i = 0; i < 4; i++)
		assert_string_equal(profile_string(profile, profile->labels[i].key), ((char[]){ (char)('a' + i), 0 }));
	profile_free(profile);
}

/* Appends a label set as a reader of files does, which does not index it. */
static void read_label_set(struct profile *profile, struct profile_label label)
{
	assert_int_equal(ARRAY_RESERVE(profile->labels, profile->label_capacity, profile->label_count + 1), 0);
	assert_int_equal(ARRAY_RESERVE(profile->label_sets, profile->label_set_capacity, profile->label_set_count + 1),
			 0);
	profile->label_sets[profile->label_set_count++] =
		(struct profile_label_set){ .first_label = (uint32_t)profile->label_count, .label_count = 1 };
	profile->labels[profile->label_count++] = label;
}

static void test_read_label_sets_are_found(void **state)
{
	(void)state;
	struct profile *profile = profile_new();
	struct profile_label label = label_of(profile, "tenant", "acme");
	for (uint32_t i = 0; i < 40; i++)
		read_label_set(profile, (struct profile_label){ .key = label.key, .value = i / 2 });
	for (uint32_t i = 0; i < 40; i += 2) { /* the first of equal rows */
		label.value = i / 2;
		assert_int_equal(profile_add_label_set(profile, &label, 1), 1 + i);
	}
	label.value = 20;
	read_label_set(profile, label);
	assert_int_equal(profile_add_label_set(profile, &label, 1), 41);
	label.value = 21;
	read_label_set(profile, label);
	assert_int_equal(profile_add_label_set(profile, &label, 1), 42);
	assert_int_equal(profile_add_label_set(profile, NULL, 0), PROFILE_NO_LABELS);
	assert_int_equal(profile->label_set_count, 43);
	profile_free(profile);
}

/* Returns what labels.c adds to the hash of a set for one of its labels. */
static uint64_t hashed(struct profile_label label)
{
	return UINT64_C(0x9e3779b97f4a7c15) + ((uint64_t)label.key << 32 | label.value);
}

/* Different label sets whose hashes are equal are told apart. The ids are not ids of strings. */
static void test_label_sets_with_equal_hashes(void **state)
{
	(void)state;
	struct profile *profile = profile_new();
	const struct profile_label last = { .key = 2000, .value = 5 };
	const uint64_t wanted = hash_u64(2 + hashed((struct profile_label){ .key = 1000 })) + hashed(last);
	for (int round = 0; round < 2; round++) {
		for (uint32_t i = 0; i < 4; i++) {
			struct profile_label labels[2] = { { .key = 1000, .value = i } };
			uint64_t rest = wanted - hash_u64(2 + hashed(labels[0])) - hashed((struct profile_label){ 0 });
			labels[1] = (struct profile_label){ .key = (uint32_t)(rest >> 32), .value = (uint32_t)rest };
			assert_int_equal(profile_add_label_set(profile, labels, 2), 1 + i);
		}
		uint64_t rest = wanted - 1 - hashed((struct profile_label){ 0 });
		struct profile_label label = { .key = (uint32_t)(rest >> 32), .value = (uint32_t)rest };
		assert_int_equal(profile_add_label_set(profile, &label, 1), 5);
	}
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
	assert_int_equal(profile_label_hits(profile, 0, set), 0);
	assert_int_equal(profile_hit_labels(profile, 0), 1);
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

/* Rooms of two huge pages and more are whole huge pages. */
static void test_reserve_huge_pages(void **state)
{
	(void)state;
	enum { HUGE_PAGE = 2 << 20, PER_PAGE = HUGE_PAGE / sizeof(struct profile_hit) };
	static const struct {
		size_t count, capacity; /* capacity 0: plain memory */
	} rows[] = { { 2 * PER_PAGE - 1, 0 },
		     { 2 * PER_PAGE, 2 * PER_PAGE },
		     { 2 * PER_PAGE + 1, 3 * PER_PAGE },
		     { 3 * PER_PAGE, 3 * PER_PAGE } };
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct profile *profile = profile_new();
		assert_int_equal(profile_reserve_hits(profile, rows[i].count), 0);
		bool is_aligned = (uintptr_t)profile->hits % HUGE_PAGE == 0;
		assert_int_equal(is_aligned, rows[i].capacity > 0);
		if (is_aligned)
			assert_int_equal(profile->hit_capacity, rows[i].capacity);
		assert_true(profile->hit_capacity >= rows[i].count);
		profile_free(profile);
	}
	struct profile *profile = profile_new();
	assert_int_equal(profile_reserve_hits(profile, SIZE_MAX / 8), ERROR_MEMORY);
	assert_int_equal(profile_reserve_hits(profile, SIZE_MAX), ERROR_MEMORY);
	assert_int_equal(profile->hit_capacity, 0);
	profile_free(profile);
}

static void test_causes_and_notes(void **state)
{
	(void)state;
	struct profile *profile = profile_new();
	assert_int_equal(profile_count_cause(profile, "root", &(struct profile_cause){ .whole = true, .count = 2 }), 0);
	assert_int_equal(profile_count_cause(profile, "depth", &(struct profile_cause){ .count = 1 }), 0);
	assert_int_equal(profile_count_cause(profile, "root", &(struct profile_cause){ .whole = true, .count = 3 }), 0);
	assert_int_equal(profile->cause_count, 2);
	assert_int_equal(profile_count_cause(profile, "depth", &(struct profile_cause){ .count = 1 }), 0);
	assert_int_equal(profile_count_cause(profile, "", &(struct profile_cause){ .count = 7 }), 0);
	assert_int_equal(profile->cause_count, 3);
	assert_int_equal(profile->causes[0].count, 5);
	assert_int_equal(profile->causes[1].count, 2);
	assert_int_equal(profile->causes[2].count, 7);
	assert_int_equal(profile_add_note(profile, "warning", "one"), 0);
	assert_int_equal(profile_add_note(profile, "warning", "two"), 1);
	assert_int_equal(profile_add_note(profile, "", "no key"), 2);
	assert_int_equal(profile_add_note(profile, "no value", ""), 3);
	assert_string_equal(profile_note(profile, "warning"), "one");
	assert_string_equal(profile_note(profile, ""), "no key");
	assert_string_equal(profile_note(profile, "no value"), "");
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
		cmocka_unit_test(test_large_ids),
		cmocka_unit_test(test_added_are_found_when_memory_is_short),
		cmocka_unit_test(test_appended_are_found),
		cmocka_unit_test(test_read_locations_are_found),
		cmocka_unit_test(test_locations_with_equal_keys),
		cmocka_unit_test(test_resources_and_duration),
		cmocka_unit_test(test_limits),
		cmocka_unit_test(test_hits),
		cmocka_unit_test(test_label_sets),
		cmocka_unit_test(test_labels_are_sorted),
		cmocka_unit_test(test_read_label_sets_are_found),
		cmocka_unit_test(test_label_sets_with_equal_hashes),
		cmocka_unit_test(test_labels_of_hits),
		cmocka_unit_test(test_reserve_hits),
		cmocka_unit_test(test_reserve_huge_pages),
		cmocka_unit_test(test_causes_and_notes),
		cmocka_unit_test(test_no_memory),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
