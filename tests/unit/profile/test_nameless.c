/* Functions without names: which functions they are, the hits at them, the modules that are hot, and the remedies; and what changes when they
 * get names later: frames that nobody needs are removed, and so are findings. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/error.h"
#include "profile/findings.h"
#include "profile/leaf_hits.h"
#include "profile/nameless.h"
#include "profile/profile.h"
#include "support/alloc_fail.h"

static uint32_t text(struct profile *profile, const char *value)
{
	int64_t id = profile_add_string(profile, value);
	assert_true(id >= 0);
	return (uint32_t)id;
}

static uint32_t add_module(struct profile *profile, const char *path, uint8_t kind)
{
	const struct profile_module row = { .path = text(profile, path), .kind = kind };
	return (uint32_t)profile_add_module(profile, &row);
}

static uint32_t add_function(struct profile *profile, const char *name, const char *linkage, uint32_t module)
{
	const struct profile_function row = { .name = text(profile, name),
					      .linkage = text(profile, linkage),
					      .module = module };
	return (uint32_t)profile_add_function(profile, &row);
}

/* Adds a location with these functions' frames, the innermost first. Returns the node of the path that is this location alone. */
static uint32_t add_leaf(struct profile *profile, uint32_t module, uint64_t address, const uint32_t *functions,
			 uint32_t count)
{
	uint32_t location = (uint32_t)profile_add_location(profile, module, address);
	profile->locations[location].first_frame = count ? (uint32_t)profile->frame_count : PROFILE_NONE;
	profile->locations[location].frame_count = count;
	for (uint32_t i = 0; i < count; i++) {
		const struct profile_frame row = { .function = functions[i], .inlined = i + 1 < count };
		assert_true(profile_add_frame(profile, &row) >= 0);
	}
	return (uint32_t)profile_add_node(profile, PROFILE_ROOT, location);
}

static void add_resource(struct profile *profile, const char *name)
{
	const struct profile_resource row = { .name = text(profile, name), .interval = 1 };
	assert_true(profile_add_resource(profile, &row) >= 0);
}

static void only_functions_that_are_named_by_address_have_no_name(void **state)
{
	(void)state;
	static const struct {
		const char *name, *linkage, *path;
		uint8_t kind;
		bool is_nameless;
	} rows[] = {
		{ "libz.so.1+0x1a40", "", "/usr/lib/libz.so.1", MODULE_FILE, true },
		{ "libz.so.1+0x1a40", "", "/usr/lib/libz.so.1 (deleted)", MODULE_FILE, true },
		{ "libz.so.1+0x1a4g", "", "/usr/lib/libz.so.1", MODULE_FILE, false },
		{ "libz.so.1+0x", "", "/usr/lib/libz.so.1", MODULE_FILE, false },
		{ "libz.so.1", "", "/usr/lib/libz.so.1", MODULE_FILE, false },
		{ "inflate", "", "/usr/lib/libz.so.1", MODULE_FILE, false },
		{ "libz.so.1+0x1a40", "a_symbol", "/usr/lib/libz.so.1", MODULE_FILE, false },
		{ "libz.so.1+0x1a40", "", "/usr/lib/liby.so.1", MODULE_FILE, false },
		{ "libz.so.1+0x1a40", "", "libz.so.1", MODULE_NAMES, false },
	};
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct profile *profile = profile_new();
		uint32_t module = add_module(profile, rows[i].path, rows[i].kind);
		uint32_t function = add_function(profile, rows[i].name, rows[i].linkage, module);
		if (nameless_is(profile, function) != rows[i].is_nameless)
			fail_msg("row %zu", i);
		profile->functions[function].role = ROLE_MAIN;
		assert_false(nameless_is(profile, function));
		profile->functions[function].module = PROFILE_NONE;
		assert_false(nameless_is(profile, function));
		assert_false(nameless_is(profile, PROFILE_NONE));
		profile_free(profile);
	}
}

/* Two resources; libz is hot in the second one, app nearly in none, and liby in the first one. */
struct hot {
	struct profile *profile;
	uint32_t app, libz, liby;
	uint32_t named, in_app, in_libz, in_liby, bare;
};

static void hot_start(struct hot *hot)
{
	struct profile *profile = hot->profile = profile_new();
	add_resource(profile, "cpu");
	add_resource(profile, "real");
	hot->app = add_module(profile, "/home/me/app", MODULE_FILE);
	hot->libz = add_module(profile, "/usr/lib/libz.so.1", MODULE_FILE);
	hot->liby = add_module(profile, "/usr/lib/liby.so", MODULE_FILE);
	uint32_t functions[] = { add_function(profile, "work", "work", hot->app),
				 add_function(profile, "app+0x10", "", hot->app),
				 add_function(profile, "libz.so.1+0x20", "", hot->libz),
				 add_function(profile, "liby.so+0x30", "", hot->liby) };
	hot->named = add_leaf(profile, hot->app, 1, &functions[0], 1);
	hot->in_app = add_leaf(profile, hot->app, 2, &functions[1], 1);
	hot->in_libz = add_leaf(profile, hot->libz, 3, &functions[2], 1);
	hot->in_liby = add_leaf(profile, hot->liby, 4, &functions[3], 1);
	hot->bare = add_leaf(profile, hot->liby, 5, NULL, 0);
}

static void add_hits(const struct hot *hot, uint32_t node, uint32_t resource, uint64_t count)
{
	assert_int_equal(profile_add_hit(hot->profile, 0, PROFILE_NONE, node, resource, count), 0);
}

static void add_all_hits(const struct hot *hot)
{
	add_hits(hot, hot->named, 0, 81);
	add_hits(hot, hot->in_app, 0, 4);
	add_hits(hot, hot->in_libz, 0, 5);
	add_hits(hot, hot->in_liby, 0, 10);
	add_hits(hot, hot->in_libz, 1, 50);
	add_hits(hot, hot->bare, 1, 40);
	add_hits(hot, PROFILE_ROOT, 1, 10);
}

static void modules_are_hot_by_their_largest_share(void **state)
{
	(void)state;
	struct hot hot;
	struct leaf_hits leaf_hits = { 0 };
	struct nameless_module found[3];
	hot_start(&hot);
	assert_int_equal(nameless_find_hot(hot.profile, &leaf_hits, found, 3), 0);
	add_all_hits(&hot);
	assert_int_equal(leaf_hits_add(&leaf_hits, hot.profile), 0);
	assert_int_equal(nameless_find_hot(hot.profile, &leaf_hits, found, 3), 2);
	assert_int_equal(found[0].module, hot.libz);
	assert_int_equal(found[0].resource, 1);
	assert_int_equal(found[0].hits, 50);
	assert_true(found[0].share == 0.5);
	assert_int_equal(found[1].module, hot.liby);
	assert_int_equal(found[1].resource, 0);
	assert_int_equal(found[1].hits, 10);
	assert_int_equal(nameless_find_hot(hot.profile, &leaf_hits, found, 1), 1);
	/* The hits of the next second are added. A share of 5 % is hot. */
	profile_clear_hits(hot.profile);
	add_hits(&hot, hot.in_app, 1, 10);
	assert_int_equal(leaf_hits_add(&leaf_hits, hot.profile), 0);
	assert_int_equal(nameless_find_hot(hot.profile, &leaf_hits, found, 3), 3);
	assert_int_equal(found[2].module, hot.app);
	profile_clear_hits(hot.profile);
	add_hits(&hot, hot.named, 1, 91);
	assert_int_equal(leaf_hits_add(&leaf_hits, hot.profile), 0);
	assert_int_equal(nameless_find_hot(hot.profile, &leaf_hits, found, 3), 2);
	leaf_hits_release(&leaf_hits);
	profile_free(hot.profile);
}

/* A path that goes on in the kernel counts for the function that called it; one that is in the kernel alone for none. */
static void what_the_kernel_does_is_its_callers(void **state)
{
	(void)state;
	struct hot hot;
	struct leaf_hits leaf_hits = { 0 };
	struct nameless_module found[3];
	hot_start(&hot);
	uint32_t kernel = add_module(hot.profile, "[kernel]", MODULE_KERNEL);
	uint32_t outer = (uint32_t)profile_add_location(hot.profile, kernel, 1);
	uint32_t inner = (uint32_t)profile_add_location(hot.profile, kernel, 2);
	uint32_t below = (uint32_t)profile_add_node(hot.profile, hot.in_libz, outer);
	add_hits(&hot, (uint32_t)profile_add_node(hot.profile, below, inner), 0, 3);
	add_hits(&hot, (uint32_t)profile_add_node(hot.profile, PROFILE_ROOT, outer), 0, 1);
	assert_int_equal(leaf_hits_add(&leaf_hits, hot.profile), 0);
	assert_int_equal(nameless_find_hot(hot.profile, &leaf_hits, found, 3), 1);
	assert_int_equal(found[0].module, hot.libz);
	assert_true(found[0].share == 0.75);
	leaf_hits_release(&leaf_hits);
	profile_free(hot.profile);
}

static void try_hot(const struct hot *hot)
{
	struct leaf_hits leaf_hits = { 0 };
	struct nameless_module found[3];
	int64_t status = leaf_hits_add(&leaf_hits, hot->profile);
	if (status == 0)
		status = nameless_find_hot(hot->profile, &leaf_hits, found, 3);
	assert_true(status == ERROR_MEMORY || status == 2);
	leaf_hits_release(&leaf_hits);
}

static void memory_may_run_out(void **state)
{
	(void)state;
	struct hot hot;
	hot_start(&hot);
	add_all_hits(&hot);
	ALLOC_FAIL_EACH(try_hot(&hot));
	ALLOC_FAIL_EACH(assert_true(profile_compact(hot.profile) <= 0));
	static const struct nameless_source source = { .package = "p" };
	ALLOC_FAIL_EACH(assert_true(nameless_note_remedy(hot.profile, "/a/path", &source) <= 0));
	assert_int_equal(profile_check(hot.profile), 0);
	profile_free(hot.profile);
}

static void assert_remedy(const struct profile *profile, const char *path, const char *wanted)
{
	struct buffer shown;
	buffer_init(&shown);
	nameless_append_remedy(profile, path, &shown);
	buffer_append_byte(&shown, 0);
	assert_int_equal(buffer_error(&shown), 0);
	assert_string_equal((const char *)shown.bytes, wanted);
	buffer_release(&shown);
}

static void remedies(void **state)
{
	(void)state;
	static const struct {
		const char *path;
		struct nameless_source source;
		const char *wanted;
	} rows[] = {
		{ "/usr/lib/a",
		  { "a-dbgsym", "https://s", false, false, NULL },
		  "install a-dbgsym, or set DEBUGINFOD_URLS=https://s" },
		{ "/usr/lib/b", { "b-dbgsym", NULL, false, false, NULL }, "install b-dbgsym" },
		{ "/usr/lib/c", { NULL, "https://s", false, false, NULL }, "set DEBUGINFOD_URLS=https://s" },
		{ "/usr/lib/d", { NULL, NULL, false, false, NULL }, "install its debug symbols" },
		{ "/usr/lib/e", { NULL, "https://s", true, false, NULL }, "compile it with -g, and do not strip it" },
		{ "/home/me/f",
		  { .is_own = true, .failure = "/home/me/f was replaced (record again)" },
		  "/home/me/f was replaced (record again)" },
		{ "/home/me/f", { .is_own = true }, "/home/me/f was replaced (record again)" }, /* the first remains */
	};
	struct profile *profile = profile_new();
	static const char own[] = "compile it with -g, and do not strip it";
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		assert_int_equal(nameless_note_remedy(profile, rows[i].path, &rows[i].source), 0);
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		assert_remedy(profile, rows[i].path, rows[i].wanted);
	/* Nothing is known of others, but where they are. */
	static const char of_system[] = "install its package of debug symbols ('find-dbgsym-packages /usr/lib/a.so' of "
					"debian-goodies prints the name), or set DEBUGINFOD_URLS";
	assert_remedy(profile, "/usr/lib/a.so", of_system);
	assert_remedy(profile, "/usr/local/lib/a", own);
	assert_remedy(profile, "/home/me/a", own);
	assert_remedy(profile, "/library/a", own);
	assert_true(profile_add_note(profile, "command", "c") >= 0);
	nameless_remove_remedies(profile);
	assert_int_equal(profile->note_count, 1);
	assert_string_equal(profile_note(profile, "command"), "c");
	profile_free(profile);
}

/* Frames of locations that were named again are removed, with the functions that only they had. */
static void compacting(void **state)
{
	(void)state;
	struct profile *profile = profile_new();
	uint32_t module = add_module(profile, "/home/me/app", MODULE_FILE);
	uint32_t old = add_function(profile, "app+0x10", "", module),
		 kept = add_function(profile, "kept", "kept", module);
	add_leaf(profile, module, 1, &old, 1);
	add_leaf(profile, module, 2, &kept, 1);
	add_leaf(profile, module, 3, NULL, 0);
	const uint32_t both[] = { add_function(profile, "inner", "inner", module), kept };
	profile->locations[0].first_frame = (uint32_t)profile->frame_count;
	profile->locations[0].frame_count = 2;
	for (int i = 0; i < 2; i++) {
		const struct profile_frame row = { .function = both[i], .line = 7 + (uint32_t)i };
		assert_true(profile_add_frame(profile, &row) >= 0);
	}
	for (int round = 0; round < 2; round++) { /* the second one changes nothing */
		assert_int_equal(profile_compact(profile), 0);
		assert_int_equal(profile_check(profile), 0);
		assert_int_equal(profile->function_count, 2);
		assert_int_equal(profile->frame_count, 3);
		const struct profile_location *first = &profile->locations[0];
		const struct profile_frame *frames = &profile->frames[first->first_frame];
		assert_string_equal(profile_string(profile, profile->functions[frames[0].function].name), "inner");
		assert_int_equal(frames[0].line, 7);
		assert_string_equal(profile_string(profile, profile->functions[frames[1].function].name), "kept");
		frames = &profile->frames[profile->locations[1].first_frame];
		assert_string_equal(profile_string(profile, profile->functions[frames[0].function].name), "kept");
		assert_int_equal(profile->locations[2].first_frame, PROFILE_NONE);
	}
	/* There is room for more. */
	const struct profile_frame row = { .function = 0 };
	assert_int_equal(profile_add_frame(profile, &row), 3);
	profile_free(profile);
}

static void findings_are_removed_by_code_and_text(void **state)
{
	(void)state;
	struct profile *profile = profile_new();
	finding_add(profile, FINDING_FILE_UNREADABLE, 1, "cannot read '/a'");
	finding_add(profile, FINDING_EVENTS_LOST, 1, "about '/a'");
	finding_add(profile, FINDING_FILE_UNREADABLE, 1, "cannot read '/b'");
	findings_remove(profile, FINDING_FILE_UNREADABLE, "/a");
	assert_int_equal(profile->finding_count, 2);
	assert_string_equal(profile_string(profile, profile->findings[0].text), "about '/a'");
	assert_string_equal(profile_string(profile, profile->findings[1].text), "cannot read '/b'");
	findings_remove(profile, FINDING_FILE_UNREADABLE, "");
	assert_int_equal(profile->finding_count, 1);
	profile_free(profile);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(only_functions_that_are_named_by_address_have_no_name),
		cmocka_unit_test(modules_are_hot_by_their_largest_share),
		cmocka_unit_test(what_the_kernel_does_is_its_callers),
		cmocka_unit_test(memory_may_run_out),
		cmocka_unit_test(remedies),
		cmocka_unit_test(compacting),
		cmocka_unit_test(findings_are_removed_by_code_and_text),
	};
	return cmocka_run_group_tests_name("nameless", tests, NULL, NULL);
}
