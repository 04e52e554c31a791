/* Identities follow docs/format.md, and are equal wherever the same code is on the same path. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/error.h"
#include "profile/identity.h"
#include "support/alloc_fail.h"

enum { BUILD_ID_BYTES = 20 };

/* Adds a module with this path and, if requested, the build-id 0, 1, 2 ... */
static uint32_t add_module(struct profile *profile, const char *path, enum module_kind kind, bool has_build_id)
{
	struct profile_module module = { .path = (uint32_t)profile_add_string(profile, path),
					 .kind = (uint8_t)kind,
					 .build_id_bytes = has_build_id ? BUILD_ID_BYTES : 0 };
	for (uint8_t i = 0; i < module.build_id_bytes; i++)
		module.build_id[i] = i;
	return (uint32_t)profile_add_module(profile, &module);
}

static uint64_t identity_at(struct profile *profile, uint32_t module, uint64_t address)
{
	return profile_location_identity(profile, (uint32_t)profile_add_location(profile, module, address));
}

static void set_frame(struct profile *profile, uint32_t location, const char *name, uint32_t line)
{
	struct profile_function function = { .name = (uint32_t)profile_add_string(profile, name),
					     .module = PROFILE_NONE };
	struct profile_frame frame = { .function = (uint32_t)profile_add_function(profile, &function), .line = line };
	profile->locations[location].first_frame = (uint32_t)profile_add_frame(profile, &frame);
	profile->locations[location].frame_count = 1;
}

static void test_example_of_the_documentation(void **state)
{
	(void)state;
	struct profile *profile = profile_new();
	uint64_t location = identity_at(profile, add_module(profile, "/usr/bin/x", MODULE_FILE, true), 0x1139);
	assert_int_equal(location, UINT64_C(0x0a65079d32c6e167));
	assert_int_equal(profile_node_identity(PROFILE_ROOT_IDENTITY, location), UINT64_C(0xb93dae2590b9b200));
	profile_free(profile);
}

/* The identity of a module depends on its build-id only, or on its path if it has no build-id. */
static void test_modules(void **state)
{
	(void)state;
	struct profile *profile = profile_new();
	uint64_t here = identity_at(profile, add_module(profile, "/usr/lib/x.so", MODULE_FILE, true), 5);
	assert_int_equal(identity_at(profile, add_module(profile, "/opt/x.so", MODULE_FILE, true), 5), here);
	uint64_t plain = identity_at(profile, add_module(profile, "/usr/lib/x.so", MODULE_FILE, false), 5);
	assert_int_not_equal(plain, here);
	assert_int_not_equal(identity_at(profile, add_module(profile, "/opt/x.so", MODULE_FILE, false), 5), plain);
	assert_int_equal(identity_at(profile, add_module(profile, "/usr/lib/x.so (deleted)", MODULE_FILE, false), 5),
			 plain);
	assert_int_not_equal(identity_at(profile, add_module(profile, "[write]", MODULE_KERNEL, false), 0),
			     identity_at(profile, add_module(profile, "[write]", MODULE_ANON, false), 0));
	assert_int_equal(identity_at(profile, add_module(profile, "[thread]", MODULE_THREAD, false), 0),
			 identity_at(profile, add_module(profile, "[start]", MODULE_THREAD, false), 0));
	profile_free(profile);
}

/* Names are part of the identity only where the address does not identify the code. */
static void test_frames(void **state)
{
	(void)state;
	struct profile *profile = profile_new();
	uint32_t names = add_module(profile, "", MODULE_NAMES, false),
		 file = add_module(profile, "/x", MODULE_FILE, true);
	for (uint32_t i = 0; i < 3; i++)
		set_frame(profile, (uint32_t)profile_add_location(profile, names, i), i < 2 ? "draw" : "clamp", 0);
	assert_int_equal(profile_location_identity(profile, 0), profile_location_identity(profile, 1));
	assert_int_not_equal(profile_location_identity(profile, 0), profile_location_identity(profile, 2));

	uint32_t code = (uint32_t)profile_add_location(profile, file, 7);
	uint64_t unnamed = profile_location_identity(profile, code);
	set_frame(profile, code, "draw", 3);
	assert_int_equal(profile_location_identity(profile, code), unnamed);

	uint32_t region = (uint32_t)profile_append_location(profile, file, 7);
	set_frame(profile, region, "draw: row", 3);
	uint64_t row = profile_location_identity(profile, region);
	assert_int_not_equal(row, unnamed);
	set_frame(profile, region, "draw: row", 4);
	assert_int_not_equal(profile_location_identity(profile, region), row);
	assert_int_equal(profile_add_location(profile, file, 7), code);
	profile_free(profile);
}

/* Two profiles that add the same two paths in different orders have the same identities. */
static void test_order(void **state)
{
	(void)state;
	uint64_t leaves[2][2];
	for (uint64_t round = 0; round < 2; round++) {
		struct profile *profile = profile_new();
		if (round > 0)
			profile_add_string(profile, "of one file alone");
		uint32_t module = add_module(profile, "/x", MODULE_FILE, true), nodes[2];
		for (uint64_t i = 0; i < 2; i++) {
			uint64_t path = i ^ round;
			int64_t outer = profile_add_location(profile, module, path);
			int64_t node = profile_add_node(profile, PROFILE_ROOT, (uint32_t)outer);
			int64_t inner = profile_add_location(profile, module, 10);
			nodes[path] = (uint32_t)profile_add_node(profile, (uint32_t)node, (uint32_t)inner);
		}
		struct profile_identities identities;
		assert_int_equal(profile_identities_init(&identities, profile), 0);
		assert_int_equal(identities.nodes[PROFILE_ROOT], PROFILE_ROOT_IDENTITY);
		for (int path = 0; path < 2; path++)
			leaves[round][path] = identities.nodes[nodes[path]];
		profile_identities_release(&identities);
		profile_free(profile);
	}
	assert_int_equal(leaves[0][0], leaves[1][0]);
	assert_int_equal(leaves[0][1], leaves[1][1]);
	assert_int_not_equal(leaves[0][0], leaves[0][1]);
}

static void test_no_memory(void **state)
{
	(void)state;
	struct profile *profile = profile_new();
	ALLOC_FAIL_EACH({
		struct profile_identities identities;
		if (profile_identities_init(&identities, profile) == 0)
			profile_identities_release(&identities);
		else
			assert_null(identities.nodes);
	});
	profile_free(profile);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_example_of_the_documentation),
		cmocka_unit_test(test_modules),
		cmocka_unit_test(test_frames),
		cmocka_unit_test(test_order),
		cmocka_unit_test(test_no_memory),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
