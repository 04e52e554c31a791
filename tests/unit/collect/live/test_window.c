/* The window of `cpprof top`: which hits are in it, what it has lost, and the profile that is extracted from it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "collect/live/window.h"
#include "profile/quality.h"
#include "support/alloc_fail.h"

enum { S = 1000000000 };

/* main calls a and b; main is in process 0 and 1. */
struct world {
	struct profile *profile;
	uint32_t main, a, b;
};

static struct world new_world(void)
{
	struct profile *profile = profile_new();
	assert_non_null(profile);
	const struct profile_resource resource = { .interval = 1 };
	const struct profile_process processes[] = { { .pid = 10, .name = 1 }, { .pid = 20 } };
	const struct profile_thread threads[] = { { .tid = 10, .process = 0 }, { .tid = 20, .process = 1 } };
	const struct profile_module module = { .kind = MODULE_FILE };
	assert_int_equal(profile_add_string(profile, "program"), 1);
	assert_int_equal(profile_add_resource(profile, &resource), 0);
	assert_int_equal(profile_add_module(profile, &module), 0);
	for (int i = 0; i < 2; i++) {
		assert_int_equal(profile_add_process(profile, &processes[i]), i);
		assert_int_equal(profile_add_thread(profile, &threads[i]), i);
	}
	struct world world = { .profile = profile };
	world.main = (uint32_t)profile_add_node(profile, PROFILE_ROOT, (uint32_t)profile_add_location(profile, 0, 100));
	world.a = (uint32_t)profile_add_node(profile, world.main, (uint32_t)profile_add_location(profile, 0, 200));
	world.b = (uint32_t)profile_add_node(profile, world.main, (uint32_t)profile_add_location(profile, 0, 300));
	profile->start_ns = 100ull * S;
	return world;
}

/* Adds the hits of the profile up to a second. */
static void flush(struct world *world, struct window *window, unsigned second)
{
	world->profile->end_ns = second * (uint64_t)S;
	assert_int_equal(window_add(window, world->profile), 0);
	profile_clear_hits(world->profile);
}

static void hit(struct world *world, unsigned second, uint32_t thread, uint32_t node)
{
	assert_int_equal(profile_add_hit(world->profile, second * (uint64_t)S, thread, node, 0, 1), 0);
}

static void lose(struct world *world, uint64_t lost, uint64_t whole, uint64_t broken)
{
	const struct profile_cause root = { .count = whole, .whole = true }, cut = { .count = broken };
	world->profile->lost += lost;
	assert_int_equal(profile_count_cause(world->profile, "root", &root), 0);
	assert_int_equal(profile_count_cause(world->profile, "cut", &cut), 0);
}

/* A wait of 20 s that ends after 12 s of the recording's time, hit by hit a second apart: the window has its last 10. */
static void test_part_of_a_wait(void **state)
{
	(void)state;
	struct world world = new_world();
	struct window window;
	struct profile_extract extract;
	world.profile->resources[0].interval = S;
	world.profile->resources[0].unit = (uint32_t)profile_add_string(world.profile, "ns");
	window_init(&window, 10ull * S, 0);
	assert_int_equal(profile_add_hit(world.profile, 112ull * S, 0, world.a, 0, 20), 0);
	flush(&world, &window, 113);
	for (unsigned second = 113; second < 124; second++) {
		flush(&world, &window, second);
		assert_int_equal(window_extract(&window, world.profile, &extract), 0);
		assert_int_equal(extract.profile->hit_count, second <= 122);
		assert_true(second > 122 || extract.profile->hits[0].count == 123 - second);
		profile_extract_release(&extract);
	}
	window_release(&window);
	profile_free(world.profile);
}

/* Hits leave the window when they are older than it, and what only they needed leaves the extract. */
static void test_slides(void **state)
{
	(void)state;
	struct world world = new_world();
	struct window window;
	struct profile_extract extract;
	window_init(&window, 10ull * S, 0);
	hit(&world, 101, 0, world.a);
	lose(&world, 5, 1, 3);
	flush(&world, &window, 102);
	assert_int_equal(window_extract(&window, world.profile, &extract), 0);
	assert_int_equal(extract.profile->hit_count, 1);
	assert_int_equal(extract.profile->node_count, 3);
	assert_int_equal(extract.profile->lost, 5);
	assert_int_equal(quality_of(extract.profile).broken, 3);
	assert_int_equal(extract.profile->start_ns, 100ull * S);
	assert_string_equal(profile_string(extract.profile, extract.profile->processes[0].name), "program");
	profile_extract_release(&extract);
	hit(&world, 112, 1, world.b);
	lose(&world, 2, 1, 1);
	flush(&world, &window, 113);
	assert_int_equal(window_extract(&window, world.profile, &extract), 0);
	const struct profile *made = extract.profile;
	assert_int_equal(made->hit_count, 1);
	assert_int_equal(made->process_count, 1);
	assert_int_equal(made->processes[0].pid, 20);
	assert_int_equal(made->location_count, 2);
	assert_int_equal(made->locations[made->nodes[made->hits[0].node].location].address, 300);
	assert_int_equal(extract.modules[made->locations[made->nodes[made->hits[0].node].location].module], 0);
	assert_int_equal(made->lost, 2);
	assert_int_equal(quality_of(made).broken, 1);
	assert_int_equal(quality_of(made).whole, 1);
	assert_int_equal(made->start_ns, 103ull * S);
	profile_extract_release(&extract);
	flush(&world, &window, 200);
	assert_int_equal(window_extract(&window, world.profile, &extract), 0);
	assert_int_equal(extract.profile->hit_count, 0);
	assert_int_equal(extract.profile->lost, 0);
	profile_extract_release(&extract);
	window_release(&window);
	profile_free(world.profile);
}

/* Too many hits make the window shorter; hits without a time are not in it. */
static void test_is_bounded(void **state)
{
	(void)state;
	struct world world = new_world();
	struct window window;
	struct profile_extract extract;
	window_init(&window, 10ull * S, 3);
	hit(&world, 0, 0, world.a);
	for (unsigned second = 101; second <= 105; second++)
		hit(&world, second, 0, world.a);
	flush(&world, &window, 106);
	assert_int_equal(window_extract(&window, world.profile, &extract), 0);
	assert_int_equal(extract.profile->hit_count, 3);
	assert_int_equal(extract.profile->start_ns, 103ull * S);
	profile_extract_release(&extract);
	window_release(&window);
	profile_free(world.profile);
}

static void extract_once(struct window *window, const struct profile *profile)
{
	struct profile_extract extract;
	if (window_extract(window, profile, &extract) == 0)
		profile_extract_release(&extract);
	else
		assert_null(extract.profile);
}

static void add_once(struct world *world)
{
	struct window window;
	window_init(&window, 10ull * S, 0);
	window_add(&window, world->profile);
	window_release(&window);
}

static void test_allocation_failures(void **state)
{
	(void)state;
	struct world world = new_world();
	struct window window;
	window_init(&window, 10ull * S, 0);
	hit(&world, 101, 0, world.a);
	hit(&world, 101, 1, world.b);
	lose(&world, 1, 1, 1);
	world.profile->end_ns = 102ull * S;
	ALLOC_FAIL_EACH(add_once(&world));
	flush(&world, &window, 102);
	ALLOC_FAIL_EACH(extract_once(&window, world.profile));
	window_release(&window);
	profile_free(world.profile);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_slides),
		cmocka_unit_test(test_part_of_a_wait),
		cmocka_unit_test(test_is_bounded),
		cmocka_unit_test(test_allocation_failures),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
