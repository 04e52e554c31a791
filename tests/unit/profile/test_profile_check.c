/* profile_check: every id in every row of every table is checked, and the largest valid values pass. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/error.h"
#include "profile/findings.h"
#include "profile/profile.h"
#include "support/sample_profile.h"

/* Returns a profile with several rows in each table. */
static struct profile *sample(uint64_t seed)
{
	struct random random = { .state = seed };
	struct profile *profile = profile_new();
	assert_non_null(profile);
	for (int i = 0; i < 5; i++)
		assert_true(sample_profile_grow(profile, &random, 20));
	assert_true(sample_profile_symbolize(profile, &random));
	assert_int_equal(profile_check(profile), 0);
	return profile;
}

static void assert_check(const struct profile *profile, int expected, const char *what)
{
	if (profile_check(profile) != expected)
		fail_msg("profile_check does not return %d with %s", expected, what);
}

/* Sets a field to a value, with which profile_check returns `expected`, and restores it. */
#define ASSERT_CHECK(place, value, expected)                  \
	good = (place);                                       \
	(place) = (__typeof__(place))(value);                 \
	assert_check(profile, expected, #place " = " #value); \
	(place) = (__typeof__(place))good;                    \
	assert_check(profile, 0, #place " restored")

#define ASSERT_UNSOUND(place, value) ASSERT_CHECK(place, value, ERROR_CORRUPT)
#define ASSERT_SOUND(place, value) ASSERT_CHECK(place, value, 0)

/* Sets a field of each row from number `first` on, one row at a time. */
#define ASSERT_EACH_UNSOUND(items, count, first, field, value)  \
	assert_true(profile->count > (first) + 1);              \
	for (size_t i = (first); i < profile->count; i++) {     \
		ASSERT_UNSOUND(profile->items[i].field, value); \
	}

static void test_things(void **state)
{
	(void)state;
	struct profile *profile = sample(3);
	uint64_t good;
	uint32_t no_string = (uint32_t)profile->strings.count;
	ASSERT_EACH_UNSOUND(resources, resource_count, 0, name, no_string);
	ASSERT_UNSOUND(profile->resources[0].title, no_string);
	ASSERT_UNSOUND(profile->resources[0].unit, no_string);
	ASSERT_UNSOUND(profile->resources[0].backend, no_string);
	ASSERT_UNSOUND(profile->resources[0].note, no_string);
	ASSERT_SOUND(profile->resources[0].note, no_string - 1);
	ASSERT_UNSOUND(profile->resources[0].kind, 4);
	ASSERT_SOUND(profile->resources[0].kind, RESOURCE_SUMS);
	ASSERT_UNSOUND(profile->resources[0].interval, 0);
	ASSERT_SOUND(profile->resources[0].interval, 1);
	ASSERT_EACH_UNSOUND(causes, cause_count, 0, text, no_string);
	ASSERT_EACH_UNSOUND(notes, note_count, 0, key, no_string);
	ASSERT_UNSOUND(profile->notes[0].value, no_string);
	ASSERT_EACH_UNSOUND(findings, finding_count, 0, severity, FINDING_SEVERITIES);
	ASSERT_UNSOUND(profile->findings[0].code, no_string);
	ASSERT_UNSOUND(profile->findings[0].text, no_string);
	ASSERT_SOUND(profile->findings[0].severity, FINDING_ERROR);
	profile_free(profile);
}

static void test_processes_and_modules(void **state)
{
	(void)state;
	struct profile *profile = sample(3);
	uint64_t good;
	uint32_t no_string = (uint32_t)profile->strings.count;
	ASSERT_EACH_UNSOUND(processes, process_count, 0, name, no_string);
	ASSERT_UNSOUND(profile->processes[0].cgroup, no_string);
	ASSERT_EACH_UNSOUND(threads, thread_count, 0, process, (uint32_t)profile->process_count);
	ASSERT_UNSOUND(profile->threads[0].name, no_string);
	ASSERT_SOUND(profile->threads[0].process, (uint32_t)profile->process_count - 1);
	ASSERT_EACH_UNSOUND(modules, module_count, 0, kind, MODULE_THREAD + 1);
	ASSERT_UNSOUND(profile->modules[0].path, no_string);
	ASSERT_UNSOUND(profile->modules[0].build_id_bytes, PROFILE_BUILD_ID_MAX + 1);
	ASSERT_SOUND(profile->modules[0].build_id_bytes, PROFILE_BUILD_ID_MAX);
	profile_free(profile);
}

static void test_symbols(void **state)
{
	(void)state;
	struct profile *profile = sample(4);
	uint64_t good;
	uint32_t no_string = (uint32_t)profile->strings.count;
	ASSERT_EACH_UNSOUND(functions, function_count, 0, name, no_string);
	ASSERT_UNSOUND(profile->functions[0].linkage, no_string);
	ASSERT_UNSOUND(profile->functions[0].file, no_string);
	ASSERT_UNSOUND(profile->functions[0].group, no_string);
	ASSERT_UNSOUND(profile->functions[0].module, (uint32_t)profile->module_count);
	ASSERT_SOUND(profile->functions[0].module, (uint32_t)profile->module_count - 1);
	ASSERT_SOUND(profile->functions[0].module, PROFILE_NONE);
	ASSERT_UNSOUND(profile->functions[0].role, ROLE_CREATE + 1);
	ASSERT_SOUND(profile->functions[0].role, ROLE_CREATE);
	ASSERT_EACH_UNSOUND(frames, frame_count, 0, function, (uint32_t)profile->function_count);
	ASSERT_UNSOUND(profile->frames[0].file, no_string);
	ASSERT_UNSOUND(profile->frames[0].kind, FRAME_INTERPRETER + 1);
	ASSERT_SOUND(profile->frames[0].kind, FRAME_INTERPRETER);
	ASSERT_EACH_UNSOUND(locations, location_count, 0, module, (uint32_t)profile->module_count);
	profile_free(profile);
}

/* The frames of a location are rows of the table of frames. Once the profile is symbolized, only the mark of a thread's start has
 * none. */
static void test_frames_of_locations(void **state)
{
	(void)state;
	struct profile *profile = sample(4);
	uint64_t good;
	uint32_t frames = (uint32_t)profile->frame_count;
	for (size_t i = 0; i < profile->module_count; i++)
		profile->modules[i].kind = MODULE_FILE;
	for (size_t i = 0; i < profile->location_count; i++) {
		profile->locations[i].first_frame = 0;
		profile->locations[i].frame_count = 1;
	}
	struct profile_location *location = &profile->locations[1];
	*location = (struct profile_location){ .first_frame = frames - 3, .frame_count = 3 };
	assert_int_equal(profile_check(profile), 0);
	ASSERT_UNSOUND(location->frame_count, 4);
	ASSERT_UNSOUND(location->frame_count, 0);
	ASSERT_UNSOUND(location->frame_count, UINT32_MAX);
	ASSERT_UNSOUND(location->first_frame, frames - 2);
	ASSERT_UNSOUND(location->first_frame, frames);
	ASSERT_UNSOUND(location->first_frame, PROFILE_NONE); /* with frames */
	location->frame_count = 0;
	location->first_frame = PROFILE_NONE;
	assert_check(profile, ERROR_CORRUPT, "a location without frames");
	profile->symbolized = false;
	assert_check(profile, 0, "a location that has no frames yet");
	profile->symbolized = true;
	profile->modules[0].kind = MODULE_THREAD;
	assert_check(profile, 0, "the mark of a thread's start");
	ASSERT_UNSOUND(location->frame_count, 1);
	ASSERT_UNSOUND(location->frame_count, 500000000);
	profile_free(profile);
}

static void test_paths(void **state)
{
	(void)state;
	struct profile *profile = sample(4);
	uint64_t good;
	ASSERT_UNSOUND(profile->nodes[0].parent, 0);
	ASSERT_UNSOUND(profile->node_count, 0);
	ASSERT_EACH_UNSOUND(nodes, node_count, 1, parent, i);
	ASSERT_EACH_UNSOUND(nodes, node_count, 1, location, (uint32_t)profile->location_count);
	ASSERT_SOUND(profile->nodes[5].parent, 4);
	ASSERT_UNSOUND(profile->nodes[5].parent, PROFILE_NONE);
	ASSERT_EACH_UNSOUND(touches, touch_count, 0, node, (uint32_t)profile->node_count);
	ASSERT_UNSOUND(profile->touches[0].resource, (uint32_t)profile->resource_count);
	ASSERT_UNSOUND(profile->touches[0].thread, (uint32_t)profile->thread_count);
	ASSERT_UNSOUND(profile->touches[0].mapping, (uint32_t)profile->strings.count);
	ASSERT_UNSOUND(profile->touches[0].count, 0);
	ASSERT_SOUND(profile->touches[0].count, 1);
	ASSERT_SOUND(profile->touches[0].thread, PROFILE_NONE);
	profile_free(profile);
}

static void test_hits(void **state)
{
	(void)state;
	struct profile *profile = sample(4);
	uint64_t good;
	ASSERT_EACH_UNSOUND(hits, hit_count, 0, node, (uint32_t)profile->node_count);
	ASSERT_UNSOUND(profile->hits[0].resource, (uint32_t)profile->resource_count);
	ASSERT_UNSOUND(profile->hits[0].thread, (uint32_t)profile->thread_count);
	ASSERT_SOUND(profile->hits[0].thread, PROFILE_NONE);
	ASSERT_UNSOUND(profile->hits[0].count, 0);
	for (size_t i = 0; i < profile->hit_count; i++) {
		profile->hits[i].count = 1;
		profile->hits[i].more_samples = 0;
	}
	ASSERT_UNSOUND(profile->hits[0].more_samples, 1); /* half a hit for each */
	ASSERT_SOUND(profile->hits[1].count, 6);
	profile->hits[1].count = 6;
	ASSERT_SOUND(profile->hits[1].more_samples, 2);
	ASSERT_UNSOUND(profile->hits[1].more_samples, 3);
	ASSERT_SOUND(profile->hits[1].count, PROFILE_HITS_MOST - (profile->hit_count - 1));
	ASSERT_UNSOUND(profile->hits[1].count, PROFILE_HITS_MOST - (profile->hit_count - 2));
	profile->hits[0].node = (uint32_t)profile->node_count;
	assert_int_equal(profile_check_tables(profile), 0); /* it leaves out the hits */
	profile_free(profile);
}

/* Adds a label set with the keys of `keys`, one letter each, whose values are the keys. */
static void add_set(struct profile *profile, const char *keys)
{
	struct profile_label labels[4];
	size_t count = strlen(keys);
	for (size_t i = 0; i < count; i++) {
		uint32_t id = (uint32_t)profile_add_string(profile, (char[]){ keys[i], 0 });
		labels[i] = (struct profile_label){ .key = id, .value = id };
	}
	assert_true(profile_add_label_set(profile, labels, count) > 0);
}

static void test_labels(void **state)
{
	(void)state;
	struct profile *profile = profile_new();
	uint64_t good;
	struct profile_resource resource = { .interval = 1 };
	assert_int_equal(profile_add_resource(profile, &resource), 0);
	add_set(profile, "ab"); /* the key of the first label is string 1 */
	add_set(profile, "bcd");
	uint32_t no_string = (uint32_t)profile->strings.count;
	for (uint32_t i = 0; i < 3; i++) {
		assert_int_equal(profile_add_hit(profile, 0, PROFILE_NONE, PROFILE_ROOT, 0, 1), 0);
		assert_int_equal(profile_label_hits(profile, i, 1), 0);
	}
	assert_int_equal(profile_check(profile), 0);
	ASSERT_EACH_UNSOUND(labels, label_count, 0, key, 0);
	ASSERT_EACH_UNSOUND(labels, label_count, 0, key, no_string);
	ASSERT_EACH_UNSOUND(labels, label_count, 0, value, no_string);
	ASSERT_EACH_UNSOUND(label_sets, label_set_count, 0, first_label, good + 1);
	ASSERT_UNSOUND(profile->label_sets[2].first_label, 0);
	ASSERT_UNSOUND(profile->label_sets[2].label_count, 4); /* more than there are */
	ASSERT_UNSOUND(profile->label_count, 4);
	ASSERT_UNSOUND(profile->label_sets[1].label_count, 1); /* a gap */
	ASSERT_UNSOUND(profile->labels[1].key, profile->labels[0].key);
	ASSERT_UNSOUND(profile->labels[3].key, profile->labels[2].key);
	ASSERT_UNSOUND(profile->labels[3].key, profile->labels[0].key); /* not sorted */
	ASSERT_UNSOUND(profile->labels[4].key, profile->labels[0].key);
	for (size_t i = 0; i < 3; i++) {
		ASSERT_UNSOUND(profile->hit_labels[i], 3);
		ASSERT_SOUND(profile->hit_labels[i], 2);
	}
	ASSERT_UNSOUND(profile->hit_label_count, 4);
	profile->hit_label_count = 0;
	ASSERT_UNSOUND(profile->label_set_count, 0);
	/* The first set must be the empty one. */
	profile->label_sets[0].label_count = 2;
	profile->label_set_count = 1;
	assert_check(profile, ERROR_CORRUPT, "labels in set 0");
	profile_free(profile);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_things),  cmocka_unit_test(test_processes_and_modules),
		cmocka_unit_test(test_symbols), cmocka_unit_test(test_frames_of_locations),
		cmocka_unit_test(test_paths),   cmocka_unit_test(test_hits),
		cmocka_unit_test(test_labels),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
