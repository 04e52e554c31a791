/* A companion has its resource's name with an ending, and its kind and unit. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "profile/companion.h"

static uint32_t add(struct profile *profile, const char *name, const char *unit, enum resource_kind kind)
{
	const struct profile_resource resource = { .name = (uint32_t)profile_add_string(profile, name),
						   .unit = (uint32_t)profile_add_string(profile, unit),
						   .kind = (uint8_t)kind,
						   .interval = 1 };
	return (uint32_t)profile_add_resource(profile, &resource);
}

static void companions_are_found(void **state)
{
	(void)state;
	struct profile *profile = profile_new();
	uint32_t real = add(profile, "real", "ns", RESOURCE_EXACT);
	uint32_t error = add(profile, "real-error", "ns", RESOURCE_EXACT);
	uint32_t raw = add(profile, "real-raw", "ns", RESOURCE_EXACT);
	assert_int_equal(companion_of(profile, real, COMPANION_RAW), raw);
	assert_int_equal(companion_of(profile, real, COMPANION_ERROR), error);
	assert_int_equal(companion_of(profile, raw, COMPANION_ERROR), PROFILE_NONE);
	assert_false(companion_is(profile, real));
	assert_true(companion_is(profile, raw));
	assert_true(companion_is(profile, error));
	profile_free(profile);
}

/* Other resources may have such a name: their own unit, a sampled one, or no resource that they belong to. */
static void others_are_not(void **state)
{
	(void)state;
	struct profile *profile = profile_new();
	uint32_t bytes = add(profile, "bytes", "byte", RESOURCE_EXACT);
	uint32_t of_time = add(profile, "bytes-raw", "ns", RESOURCE_EXACT);
	uint32_t sampled = add(profile, "bytes-error", "byte", RESOURCE_SAMPLED);
	uint32_t alone = add(profile, "io-error", "ns", RESOURCE_EXACT);
	uint32_t ending = add(profile, "-raw", "ns", RESOURCE_EXACT);
	assert_int_equal(companion_of(profile, bytes, COMPANION_RAW), PROFILE_NONE);
	assert_int_equal(companion_of(profile, bytes, COMPANION_ERROR), PROFILE_NONE);
	assert_false(companion_is(profile, of_time));
	assert_false(companion_is(profile, sampled));
	assert_false(companion_is(profile, alone));
	assert_false(companion_is(profile, ending));
	profile_free(profile);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(companions_are_found),
		cmocka_unit_test(others_are_not),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
