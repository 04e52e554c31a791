/* Walks through generated code are whole if all of the code on their path has a name. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "collect/sample/stacks/walk_ends.h"
#include "profile/generated_code.h"
#include "support/alloc_fail.h"

static struct profile *profile;
static uint32_t native, named, nameless, unsymbolized;

static uint32_t add_location(enum module_kind kind, uint64_t address, const char *name)
{
	struct profile_module module = { .kind = (uint8_t)kind };
	int64_t location = profile_add_location(profile, (uint32_t)profile_add_module(profile, &module), address);
	struct profile_function function = { .name = (uint32_t)profile_add_string(profile, name ? name : "") };
	struct profile_frame frame = { .function = (uint32_t)profile_add_function(profile, &function) };
	if (name) {
		profile->locations[location].first_frame = (uint32_t)profile_add_frame(profile, &frame);
		profile->locations[location].frame_count = 1;
	}
	return (uint32_t)location;
}

static uint32_t path(uint32_t outer, uint32_t inner)
{
	int64_t node = profile_add_node(profile, PROFILE_ROOT, outer);
	return (uint32_t)profile_add_node(profile, (uint32_t)node, inner);
}

static int set_up(void **state)
{
	(void)state;
	profile = profile_new();
	assert_non_null(profile);
	native = add_location(MODULE_FILE, 1, GENERATED_CODE_NAMELESS); /* the name alone does not count */
	named = add_location(MODULE_ANON, 2, "sum");
	nameless = add_location(MODULE_ANON, 3, GENERATED_CODE_NAMELESS);
	unsymbolized = add_location(MODULE_ANON, 4, NULL);
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	profile_free(profile);
	return 0;
}

static void names_decide(void **state)
{
	(void)state;
	struct generated_paths paths;
	uint64_t causes[UNWIND_CAUSE_COUNT] = { 0 };
	generated_paths_init(&paths);
	const struct {
		uint32_t outer, inner;
		enum unwind_cause cause;
		int samples;
	} added[] = {
		{ native, named, UNWIND_ROOT_GENERATED, 3 },
		{ named, native, UNWIND_ROOT_GENERATED, 4 },
		{ nameless, native, UNWIND_ROOT_GENERATED, 5 },
		{ native, nameless, UNWIND_ROOT_GENERATED, 7 },
		{ named, named, UNWIND_ROOT_COMPLETED, 10 },
		{ nameless, named, UNWIND_ROOT_COMPLETED, 20 },
		{ named, nameless, UNWIND_NO_FRAME, 40 },
		{ named, native, UNWIND_ROOT_COMPLETED, 80 },
		{ named, unsymbolized, UNWIND_ROOT_GENERATED, 100 },
	};
	for (size_t i = 0; i < sizeof(added) / sizeof(added[0]); i++)
		for (int n = 0; n < added[i].samples; n++)
			assert_int_equal(
				generated_paths_add(&paths, path(added[i].outer, added[i].inner), added[i].cause, i),
				0);
	assert_int_equal(generated_paths_resolve(&paths, profile, causes), 7 + 40 + 100);
	assert_int_equal(causes[UNWIND_ROOT_GENERATED], 3 + 4);
	assert_int_equal(causes[UNWIND_ROOT_COMPLETED], 10 + 80);
	assert_int_equal(causes[UNWIND_ROOT_NAMELESS], 5 + 7 + 20 + 100);
	assert_int_equal(causes[UNWIND_NO_FRAME], 40);
	/* Settled samples are forgotten. */
	assert_int_equal(generated_paths_resolve(&paths, profile, causes), 0);
	assert_int_equal(causes[UNWIND_ROOT_GENERATED], 3 + 4);
	generated_paths_release(&paths);
}

static void try_paths(void)
{
	struct generated_paths paths;
	uint64_t causes[UNWIND_CAUSE_COUNT] = { 0 }, counted = 0;
	generated_paths_init(&paths);
	for (uint32_t node = 1; node < 40; node++)
		counted += generated_paths_add(&paths, 1 + node % 2, UNWIND_NO_FRAME, node) == 0;
	generated_paths_resolve(&paths, profile, causes);
	assert_int_equal(causes[UNWIND_NO_FRAME], counted);
	generated_paths_release(&paths);
}

static void memory_may_run_out(void **state)
{
	(void)state;
	path(native, native);
	ALLOC_FAIL_EACH(try_paths());
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(names_decide, set_up, tear_down),
		cmocka_unit_test_setup_teardown(memory_may_run_out, set_up, tear_down),
	};
	return cmocka_run_group_tests_name("generated_paths", tests, NULL, NULL);
}
