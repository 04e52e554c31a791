/* The names of a live recording: each location is named once, also over several extracts, and what has no name yet says so. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <unistd.h>

#include <cmocka.h>

#include "frames/name_cache.h"
#include "support/alloc_fail.h"

/* Modules that need no file: the vDSO-like "[one]" of the kernel, memory without a name, and the mark of a thread. */
enum { ONE, ANON, MARK, MODULES };
enum { LOCATIONS_A_MODULE = 2 };

static int64_t add_module(struct profile *profile, const char *path, enum module_kind kind)
{
	const struct profile_module row = { .path = (uint32_t)profile_add_string(profile, path),
					    .kind = (uint8_t)kind };
	return profile_add_module(profile, &row);
}

/* Returns a recording: in each module two locations, and a node for each below the root. */
static struct profile *new_source(void)
{
	struct profile *profile = profile_new();
	const struct profile_resource resource = { .interval = 1 };
	const struct profile_process process = { .pid = 10 };
	const struct profile_thread thread = { .tid = 10 };
	assert_non_null(profile);
	assert_int_equal(profile_add_resource(profile, &resource), 0);
	assert_int_equal(profile_add_process(profile, &process), 0);
	assert_int_equal(profile_add_thread(profile, &thread), 0);
	assert_int_equal(add_module(profile, "[one]", MODULE_KERNEL), ONE);
	assert_int_equal(add_module(profile, "", MODULE_ANON), ANON);
	assert_int_equal(add_module(profile, "[thread]", MODULE_THREAD), MARK);
	for (uint32_t module = 0; module < MODULES; module++)
		for (uint32_t i = 0; i < LOCATIONS_A_MODULE; i++) {
			int64_t location = profile_add_location(profile, module, 100 + i);
			assert_true(profile_add_node(profile, PROFILE_ROOT, (uint32_t)location) > 0);
		}
	return profile;
}

/* Returns the node of the first or second location of a module. */
static uint32_t node_of(uint32_t module, uint32_t i)
{
	return 1 + module * LOCATIONS_A_MODULE + i;
}

/* Extracts hits at these nodes: of node i, i + 1 hits. */
static void extract(struct profile_extract *made, const struct profile *source, const uint32_t *nodes, size_t count)
{
	struct profile_hit hits[MODULES * LOCATIONS_A_MODULE];
	for (size_t i = 0; i < count; i++)
		hits[i] = (struct profile_hit){ .time_ns = 1, .node = nodes[i], .count = (uint32_t)i + 1 };
	assert_int_equal(profile_extract(made, source, hits, count), 0);
}

/* Returns the name of the function at a hit. */
static const char *name_of(const struct profile *profile, size_t hit)
{
	const struct profile_location *location = &profile->locations[profile->nodes[profile->hits[hit].node].location];
	assert_int_not_equal(location->first_frame, PROFILE_NONE);
	assert_int_equal(location->frame_count, 1);
	const struct profile_frame *frame = &profile->frames[location->first_frame];
	return profile_string(profile, profile->functions[frame->function].name);
}

static void lacks(struct name_cache *names, const struct profile_extract *made, size_t locations, uint64_t hits,
		  uint64_t all_hits)
{
	struct name_cache_lack lack;
	assert_int_equal(name_cache_request(names, made, &lack), 0);
	assert_int_equal(lack.locations, locations);
	assert_int_equal(lack.hits, hits);
	assert_int_equal(lack.all_hits, all_hits);
}

/* A location that was not searched yet is in a function that says so; a searched one is remembered, in whatever order later extracts have it. */
static void test_names_are_remembered(void **state)
{
	(void)state;
	struct profile *source = new_source();
	struct name_cache names;
	struct profile_extract made;
	struct error error = { 0 };
	assert_int_equal(name_cache_init(&names), 0);
	extract(&made, source, (const uint32_t[]){ node_of(ANON, 1) }, 1);
	lacks(&names, &made, 1, 1, 1);
	assert_int_equal(name_cache_find(&names, 0, &(struct frames_options){ 0 }, &error), 0);
	assert_int_equal(name_cache_apply(&names, &made), 0);
	assert_true(made.profile->symbolized);
	assert_string_equal(name_of(made.profile, 0), "[anon]");
	profile_extract_release(&made);
	extract(&made, source, (const uint32_t[]){ node_of(ONE, 0), node_of(ANON, 1), node_of(ONE, 1) }, 3);
	lacks(&names, &made, 2, 4, 6);
	assert_int_equal(name_cache_apply(&names, &made), 0);
	assert_string_equal(name_of(made.profile, 0), "[one: not named yet]");
	assert_string_equal(name_of(made.profile, 1), "[anon]");
	assert_string_equal(name_of(made.profile, 2), "[one: not named yet]");
	assert_int_equal(made.profile->function_count, 2);
	profile_extract_release(&made);
	assert_int_equal(name_cache_find(&names, 0, &(struct frames_options){ 0 }, &error), 0);
	extract(&made, source, (const uint32_t[]){ node_of(ONE, 1), node_of(ANON, 1) }, 2);
	lacks(&names, &made, 0, 0, 3);
	assert_int_equal(name_cache_apply(&names, &made), 0);
	assert_string_equal(name_of(made.profile, 0), "[one]");
	assert_string_equal(name_of(made.profile, 1), "[anon]");
	profile_extract_release(&made);
	name_cache_release(&names);
	profile_free(source);
}

/* A thread's mark has no frames, and lacks none. An empty extract has nothing to name. */
static void test_what_needs_no_name(void **state)
{
	(void)state;
	struct profile *source = new_source();
	struct name_cache names;
	struct profile_extract made;
	assert_int_equal(name_cache_init(&names), 0);
	extract(&made, source, (const uint32_t[]){ node_of(MARK, 0) }, 1);
	lacks(&names, &made, 0, 0, 1);
	assert_int_equal(name_cache_apply(&names, &made), 0);
	assert_int_equal(made.profile->locations[0].first_frame, PROFILE_NONE);
	profile_extract_release(&made);
	extract(&made, source, NULL, 0);
	lacks(&names, &made, 0, 0, 0);
	assert_int_equal(name_cache_apply(&names, &made), 0);
	assert_true(made.profile->symbolized);
	assert_int_equal(made.profile->function_count, 0);
	profile_extract_release(&made);
	name_cache_release(&names);
	profile_free(source);
}

/* The opener gets the ids of the recording, which are not the ids of the names: modules that were not asked for come first. */
static int note_module(void *context, uint32_t module, struct error *error)
{
	*(uint32_t *)context = module;
	return error_set(error, ERROR_NOT_FOUND, "it is not there");
}

static void test_opens_the_modules_of_the_source(void **state)
{
	(void)state;
	struct profile *source = new_source();
	struct name_cache names;
	struct profile_extract made;
	struct error error = { 0 };
	uint32_t opened = PROFILE_NONE;
	int64_t module = add_module(source, "/lib/libnone.so", MODULE_FILE);
	int64_t node =
		profile_add_node(source, PROFILE_ROOT, (uint32_t)profile_add_location(source, (uint32_t)module, 0x40));
	assert_int_equal(name_cache_init(&names), 0);
	extract(&made, source, (const uint32_t[]){ (uint32_t)node }, 1);
	lacks(&names, &made, 1, 1, 1);
	const struct frames_options options = { .open_module = note_module, .context = &opened };
	assert_int_equal(name_cache_find(&names, 0, &options, &error), 0);
	assert_int_equal(opened, module);
	assert_int_equal(name_cache_apply(&names, &made), 0);
	assert_string_equal(name_of(made.profile, 0), "libnone.so+0x40");
	assert_int_equal(made.profile->finding_count, 1);
	profile_extract_release(&made);
	name_cache_release(&names);
	profile_free(source);
}

/* Opens the list of generated code; NULL: there is none so far. */
static int open_list(void *context, uint32_t module, struct error *error)
{
	FILE *const *list = context;
	assert_int_equal(module, ANON);
	return *list ? dup(fileno(*list)) : error_set(error, ERROR_NOT_FOUND, "it is not there");
}

/* Names both addresses of the generated code, of which so many lack a name, and compares them with what is expected. */
static void names_generated(struct name_cache *names, const struct profile *source,
			    const struct frames_options *options, size_t lacking, const char *first, const char *second)
{
	struct profile_extract made;
	struct error error = { 0 };
	extract(&made, source, (const uint32_t[]){ node_of(ANON, 0), node_of(ANON, 1) }, 2);
	name_cache_renew(names, options);
	lacks(names, &made, lacking, lacking == 2 ? 3 : lacking * 2, 3);
	assert_int_equal(name_cache_find(names, 0, options, &error), 0);
	assert_int_equal(name_cache_apply(names, &made), 0);
	assert_string_equal(name_of(made.profile, 0), first);
	assert_string_equal(name_of(made.profile, 1), second);
	profile_extract_release(&made);
}

/* A runtime's list of generated code grows: code without a name is looked for again, and only then. */
static void test_names_of_a_list_that_grows(void **state)
{
	(void)state;
	struct profile *source = new_source();
	struct name_cache names;
	FILE *list = NULL;
	const struct frames_options options = { .open_module = open_list, .context = &list };
	assert_int_equal(name_cache_init(&names), 0);
	names_generated(&names, source, &options, 2, "[anon]", "[anon]");
	names_generated(&names, source, &options, 0, "[anon]", "[anon]");
	list = tmpfile();
	assert_non_null(list);
	assert_true(fprintf(list, "%x 1 first\n", 100) > 0);
	assert_int_equal(fflush(list), 0);
	names_generated(&names, source, &options, 2, "first", "[anon]");
	names_generated(&names, source, &options, 0, "first", "[anon]");
	assert_true(fprintf(list, "%x 1 second\n", 101) > 0);
	assert_int_equal(fflush(list), 0);
	names_generated(&names, source, &options, 1, "first", "second");
	assert_int_equal(fclose(list), 0);
	name_cache_release(&names);
	profile_free(source);
}

/* A search may be limited to modules with enough hits at or below addresses without a name: here 4 of 6 hits in one module, and 5 in
 * the other. */
static void test_names_what_many_hits_need(void **state)
{
	(void)state;
	struct profile *source = new_source();
	struct name_cache names;
	struct profile_extract made;
	struct name_cache_lack lack;
	struct error error = { 0 };
	uint32_t one = source->nodes[node_of(ONE, 1)].location;
	int64_t below = profile_add_node(source, node_of(ANON, 0), one);
	const struct profile_hit hits[] = { { .time_ns = 1, .node = node_of(ONE, 0), .count = 1 },
					    { .time_ns = 1, .node = node_of(ANON, 0), .count = 2 },
					    { .time_ns = 1, .node = (uint32_t)below, .count = 3 } };
	assert_int_equal(name_cache_init(&names), 0);
	assert_int_equal(profile_extract(&made, source, hits, 3), 0);
	assert_int_equal(name_cache_request(&names, &made, &lack), 0);
	assert_int_equal(lack.hits, 6);
	assert_int_equal(lack.most_hits, 5);
	assert_int_equal(name_cache_find(&names, 5, &(struct frames_options){ 0 }, &error), 0);
	assert_int_equal(name_cache_apply(&names, &made), 0);
	assert_string_equal(name_of(made.profile, 0), "[one: not named yet]");
	assert_string_equal(name_of(made.profile, 1), "[anon]");
	profile_extract_release(&made);
	/* A location that is not in the newest extract anymore waits too, until all are searched. */
	extract(&made, source, (const uint32_t[]){ node_of(ANON, 0) }, 1);
	lacks(&names, &made, 0, 0, 1);
	assert_int_equal(name_cache_find(&names, 1, &(struct frames_options){ 0 }, &error), 0);
	profile_extract_release(&made);
	extract(&made, source, (const uint32_t[]){ node_of(ONE, 0) }, 1);
	lacks(&names, &made, 1, 1, 1);
	assert_int_equal(name_cache_find(&names, 0, &(struct frames_options){ 0 }, &error), 0);
	lacks(&names, &made, 0, 0, 1);
	profile_extract_release(&made);
	name_cache_release(&names);
	profile_free(source);
}

static void name_once(const struct profile *source)
{
	struct name_cache names;
	struct profile_extract made;
	struct name_cache_lack lack;
	struct error error = { 0 };
	const uint32_t nodes[] = { node_of(ONE, 0), node_of(ANON, 0), node_of(MARK, 0) };
	struct profile_hit hits[3];
	for (size_t i = 0; i < 3; i++)
		hits[i] = (struct profile_hit){ .time_ns = 1, .node = nodes[i], .count = 1 };
	if (name_cache_init(&names) < 0)
		return;
	if (profile_extract(&made, source, hits, 3) == 0) {
		if (name_cache_request(&names, &made, &lack) == 0 &&
		    name_cache_find(&names, 0, &(struct frames_options){ 0 }, &error) == 0 &&
		    name_cache_apply(&names, &made) == 0)
			assert_string_equal(name_of(made.profile, 0), "[one]");
		profile_extract_release(&made);
	}
	name_cache_release(&names);
}

static void test_allocation_failures(void **state)
{
	(void)state;
	struct profile *source = new_source();
	ALLOC_FAIL_EACH(name_once(source));
	profile_free(source);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_names_are_remembered),
		cmocka_unit_test(test_what_needs_no_name),
		cmocka_unit_test(test_opens_the_modules_of_the_source),
		cmocka_unit_test(test_names_of_a_list_that_grows),
		cmocka_unit_test(test_names_what_many_hits_need),
		cmocka_unit_test(test_allocation_failures),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
