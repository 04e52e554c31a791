/* The nodes that rows of tail calls add to a profile, and the samples that have them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdio.h>
#include <string.h>

#include "base/buffer.h"
#include "base/error.h"
#include "profile/tail_calls.h"
#include "support/alloc_fail.h"

static struct profile *profile;

static uint32_t added(int64_t id)
{
	assert_true(id >= 0);
	return (uint32_t)id;
}

/* Adds a location whose only frame is of a function with this name. */
static uint32_t location(const char *name, bool is_tail)
{
	uint32_t text = added(profile_add_string(profile, name)), function = 0;
	while (function < profile->function_count && profile->functions[function].name != text)
		function++;
	if (function == profile->function_count)
		added(profile_add_function(profile, &(struct profile_function){ .name = text, .module = 0 }));
	uint32_t frame = added(profile_add_frame(profile, &(struct profile_frame){ .function = function }));
	uint32_t id = added(profile_append_location(profile, 0, profile->location_count));
	profile->locations[id].first_frame = frame;
	profile->locations[id].frame_count = 1;
	profile->locations[id].is_tail = is_tail;
	return id;
}

static uint32_t callee_of(uint32_t id)
{
	return profile->frames[profile->locations[id].first_frame].function;
}

static void row(uint32_t caller, uint32_t callee, uint32_t id)
{
	added(profile_add_tail_call(profile, &(struct profile_tail_call){ caller, callee_of(callee), id }));
}

static uint32_t node(uint32_t parent, uint32_t id, uint64_t hits)
{
	uint32_t made = added(profile_add_node(profile, parent, id));
	if (hits)
		assert_int_equal(profile_add_hit(profile, 0, PROFILE_NONE, made, 0, hits), 0);
	return made;
}

/* Returns the paths of the hits, in their order, each with its count: "main a burn 5, main 1". */
static const char *paths(void)
{
	static char texts[4096];
	struct buffer text;
	buffer_init(&text);
	for (size_t i = 0; i < profile->hit_count; i++) {
		const char *names[100];
		size_t count = 0;
		for (uint32_t at = profile->hits[i].node; at != PROFILE_ROOT; at = profile->nodes[at].parent) {
			assert_true(profile->nodes[at].parent < at);
			assert_true(count < 100);
			names[count++] = profile_string(
				profile, profile->functions[callee_of(profile->nodes[at].location)].name);
		}
		buffer_append_string(&text, i ? ", " : "");
		while (count > 0)
			buffer_printf(&text, "%s ", names[--count]);
		buffer_append_decimal(&text, profile->hits[i].count);
	}
	buffer_append_byte(&text, 0);
	snprintf(texts, sizeof(texts), "%s", (const char *)text.bytes);
	buffer_release(&text);
	return texts;
}

/* Two call sites in main, each of which leads to burn by other functions; and one function that main calls. */
static uint32_t site_a, site_b, burn, jump_a, jump_b, jump_c;

static int setup(void **state)
{
	(void)state;
	profile = profile_new();
	assert_non_null(profile);
	added(profile_add_module(profile, &(struct profile_module){ .kind = MODULE_FILE }));
	added(profile_add_resource(profile, &(struct profile_resource){ .kind = RESOURCE_MERGED, .interval = 1 }));
	site_a = location("main", false);
	site_b = location("main", false);
	burn = location("burn", false);
	jump_a = location("a", true);
	jump_b = location("b", true);
	jump_c = location("c", true);
	uint32_t at_a = node(PROFILE_ROOT, site_a, 1), at_b = node(PROFILE_ROOT, site_b, 2);
	uint32_t below = node(at_a, burn, 3);
	node(at_b, burn, 4);
	node(below, location("deep", false), 5);
	node(at_a, location("other", false), 6);
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	profile_free(profile);
	return 0;
}

static void test_chains(void **state)
{
	(void)state;
	const char *wanted = "main 1, main 2, main a burn 3, main b c burn 4, main a burn deep 5, main other 6";
	row(site_a, burn, jump_a);
	row(site_b, burn, jump_b);
	row(jump_b, burn, jump_c);
	added(profile_add_touch(
		profile, &(struct profile_touch){ .node = profile->hits[4].node, .thread = PROFILE_NONE, .count = 1 }));
	size_t before = profile->node_count;
	assert_int_equal(tail_calls_insert(profile, 0), 0);
	assert_string_equal(paths(), wanted);
	assert_int_equal(profile->node_count, before + 3);
	assert_int_equal(profile->touches[0].node, profile->hits[4].node);
	assert_int_equal(profile_check(profile), 0);
	/* The paths have the nodes now. */
	assert_int_equal(tail_calls_insert(profile, 0), 0);
	assert_int_equal(profile->node_count, before + 3);
	/* The tables for look-ups follow. */
	uint32_t above = profile->nodes[profile->hits[2].node].parent;
	assert_int_equal(profile_add_node(profile, above, burn), profile->hits[2].node);
	assert_true(tail_calls_any(profile));
}

static void test_shared(void **state)
{
	(void)state;
	uint32_t at_a = profile->nodes[profile->hits[2].node].parent, burn2 = location("burn", false);
	node(at_a, burn2, 7);
	row(site_a, burn, jump_a);
	size_t before = profile->node_count;
	assert_int_equal(tail_calls_insert(profile, 0), 0);
	assert_int_equal(profile->node_count, before + 1);
	assert_int_equal(profile->nodes[profile->hits[2].node].parent, profile->nodes[profile->hits[6].node].parent);
}

/* Rows that change nothing: for other calls, for unknown ways, and none. */
static void test_nothing(void **state)
{
	(void)state;
	const char *wanted = "main 1, main 2, main burn 3, main burn 4, main burn deep 5, main other 6";
	assert_int_equal(tail_calls_insert(profile, 0), 0);
	row(site_a, burn, PROFILE_NONE);
	row(jump_a, burn, jump_b);
	row(burn, burn, jump_b);
	size_t before = profile->node_count;
	assert_int_equal(tail_calls_insert(profile, 0), 0);
	assert_string_equal(paths(), wanted);
	assert_int_equal(profile->node_count, before);
}

/* Rows in a circle end. The nodes of any program fit, and the nodes of a file within the limit of memory. */
static void test_circles(void **state)
{
	(void)state;
	enum { STEPS = 64, NODES = 4000, MEMORY = 1 << 20 };
	row(site_a, burn, jump_a);
	row(jump_a, burn, jump_a);
	size_t before = profile->node_count;
	assert_int_equal(tail_calls_insert(profile, 0), 0);
	assert_int_equal(profile->node_count, before + STEPS);
	for (int i = 0; i < NODES; i++) {
		uint32_t caller = location("caller", false);
		node(node(PROFILE_ROOT, caller, 0), burn, 1);
		row(caller, burn, jump_a);
	}
	before = profile->node_count;
	assert_int_equal(tail_calls_insert(profile, MEMORY), ERROR_LIMIT);
	assert_int_equal(profile->node_count, before);
	assert_int_equal(profile_check(profile), 0);
	assert_int_equal(tail_calls_insert(profile, 0), 0);
	assert_int_equal(profile->node_count, before + STEPS * (NODES + 1));
	assert_int_equal(profile_check(profile), 0);
}

static void test_count(void **state)
{
	(void)state;
	struct tail_calls_count count;
	uint32_t unclear = location("[tail calls: a or b]", true);
	row(site_a, burn, jump_a);
	row(site_b, burn, unclear);
	row(site_a, location("other", false), PROFILE_NONE);
	assert_int_equal(tail_calls_insert(profile, 0), 0);
	assert_int_equal(tail_calls_count(profile, &count), 0);
	assert_int_equal(count.restored, 3 + 5);
	assert_int_equal(count.ambiguous, 4);
	assert_int_equal(count.unknown, 6);
}

static void test_no_memory(void **state)
{
	(void)state;
	row(site_a, burn, jump_a);
	row(site_b, burn, jump_b);
	for (unsigned long n = 1;; n++) {
		alloc_fail_start(n);
		int status = tail_calls_insert(profile, 0);
		bool failed = alloc_fail_stop();
		if (!failed) {
			assert_int_equal(status, 0);
			break;
		}
		assert_int_equal(status, ERROR_MEMORY);
		assert_string_equal(paths(),
				    "main 1, main 2, main burn 3, main burn 4, main burn deep 5, main other 6");
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_chains, setup, teardown),
		cmocka_unit_test_setup_teardown(test_shared, setup, teardown),
		cmocka_unit_test_setup_teardown(test_nothing, setup, teardown),
		cmocka_unit_test_setup_teardown(test_circles, setup, teardown),
		cmocka_unit_test_setup_teardown(test_count, setup, teardown),
		cmocka_unit_test_setup_teardown(test_no_memory, setup, teardown),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
