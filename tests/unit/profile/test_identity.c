/* Identities follow docs/format.md, and are equal wherever the same code is on the same path. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "base/error.h"
#include "profile/identity.h"
#include "profile/module_name.h"
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

	/* The kernel's addresses change, its names do not. */
	uint32_t kernel = add_module(profile, MODULE_NAME_KERNEL, MODULE_KERNEL, false), at[3];
	for (uint32_t i = 0; i < 3; i++) {
		at[i] = (uint32_t)profile_add_location(profile, kernel, 0xffffffff81000000 + i);
		set_frame(profile, at[i], i < 2 ? "vfs_write" : "vfs_read", 0);
	}
	assert_int_equal(profile_location_identity(profile, at[0]), profile_location_identity(profile, at[1]));
	assert_int_not_equal(profile_location_identity(profile, at[0]), profile_location_identity(profile, at[2]));
	profile_free(profile);
}

static void set_two_frames(struct profile *profile, uint32_t location, const char *inner, const char *outer)
{
	set_frame(profile, location, outer, 99);
	uint32_t function = profile->frames[profile->frame_count - 1].function;
	set_frame(profile, location, inner, 3);
	struct profile_frame frame = { .function = function, .line = 0x0102 };
	assert_true(profile_add_frame(profile, &frame) > 0);
	profile->locations[location].frame_count = 2;
}

/* Compares with the XXH64 of the bytes that docs/format.md specifies for each kind of location. */
static void test_bytes(void **state)
{
	(void)state;
	static const char by_path[] = "\2\3/x\0\x08\7\6\5\4\3\2\1";
	static const char by_build_id[] = "\1\1\x2a\x08\7\6\5\4\3\2\1in\0\3\0\0\0\0\0\0\0out\0\2\1\0\0\0\0\0";
	static const char names[] = "\3in\0\3\0\0\0\0\0\0\0out\0\2\1\0\0\0\0\0";
	const uint64_t address = UINT64_C(0x0102030405060708);
	struct profile *profile = profile_new();
	uint32_t path = add_module(profile, "/x (deleted)", MODULE_KERNEL, false),
		 thread = add_module(profile, "[thread]", MODULE_THREAD, false),
		 name = add_module(profile, "names", MODULE_NAMES, false),
		 build_id = add_module(profile, "/y", MODULE_FILE, false);
	profile->modules[build_id].build_id_bytes = 1;
	profile->modules[build_id].build_id[0] = 0x2a;
	uint32_t by_names = (uint32_t)profile_add_location(profile, name, 5);
	uint32_t by_frames = (uint32_t)profile_append_location(profile, build_id, address);
	set_two_frames(profile, by_names, "in", "out");
	set_two_frames(profile, by_frames, "in", "out");
	assert_int_equal(identity_at(profile, path, address), XXH64(by_path, sizeof(by_path) - 1, 0));
	assert_int_equal(identity_at(profile, thread, 5), XXH64("\4", 1, 0));
	assert_int_equal(profile_location_identity(profile, by_names), XXH64(names, sizeof(names), 0));
	assert_int_equal(profile_location_identity(profile, by_frames), XXH64(by_build_id, sizeof(by_build_id), 0));
	profile_free(profile);
}

static void assert_name(const char *path, const char *expected)
{
	size_t length;
	const char *name = module_name(path, &length);
	assert_int_equal(length, strlen(expected));
	assert_memory_equal(name, expected, length);
}

/* The kernel's " (deleted)" is no part of a file's name. */
static void test_deleted_modules(void **state)
{
	(void)state;
	assert_int_equal(module_path_length("/lib/x.so (deleted)"), strlen("/lib/x.so"));
	assert_int_equal(module_path_length("x (deleted)"), 1);
	assert_int_equal(module_path_length(" (deleted)"), strlen(" (deleted)"));
	assert_int_equal(module_path_length("/x (deleted) (deleted)"), strlen("/x (deleted)"));
	assert_int_equal(module_path_length("/x (deleted)/y"), strlen("/x (deleted)/y"));
	assert_int_equal(module_path_length("/lib/y (deletee)"), strlen("/lib/y (deletee)"));
	assert_int_equal(module_path_length("x"), 1);
	assert_name("/lib/x.so (deleted)", "x.so");
	assert_name("/lib/x.so", "x.so");
	assert_name("[vdso]", "[vdso]");
}

static void test_names_of_modules(void **state)
{
	(void)state;
	static const struct {
		const char *path;
		bool is_c_library, is_dynamic_linker, is_agent;
	} rows[] = {
		{ "/lib/x86_64-linux-gnu/libc.so.6", true, false, false },
		{ "/lib/libc-2.31.so", true, false, false },
		{ "/lib/libpthread.so.0", true, false, false },
		{ "/lib/libpthread-2.31.so", true, false, false },
		{ "/lib/libc.musl-x86_64.so.1", true, false, false },
		{ "/lib/ld-musl-x86_64.so.1", true, true, false },
		{ "/lib64/ld-linux-x86-64.so.2", false, true, false },
		{ "/lib/ld-2.31.so", false, true, false },
		{ "/lib/ld.so.1", false, true, false },
		{ "/usr/lib/libcpprof.so.1", false, false, true },
		{ "/usr/lib/libcpprof-preload.so", false, false, true },
		{ "/usr/lib/libcpprof-hooks.so", false, false, true },
		{ "/usr/lib/libcpprof-wrap.so", false, false, false },
		{ "/usr/lib/libcrypt.so.1", false, false, false },
		{ "/opt/libc.so.6/program", false, false, false },
	};
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		assert_int_equal(module_name_is_c_library(rows[i].path), rows[i].is_c_library);
		assert_int_equal(module_name_is_dynamic_linker(rows[i].path), rows[i].is_dynamic_linker);
		assert_int_equal(module_name_is_agent(rows[i].path), rows[i].is_agent);
	}
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
	struct profile_identities of_none;
	assert_int_equal(profile_identities_init(&of_none, profile), 0); /* a profile without locations has them */
	profile_identities_release(&of_none);
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
		cmocka_unit_test(test_bytes),
		cmocka_unit_test(test_deleted_modules),
		cmocka_unit_test(test_names_of_modules),
		cmocka_unit_test(test_order),
		cmocka_unit_test(test_no_memory),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
