/* The paths that `cpprof causal` chooses from, of samples of the test program's own functions. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "collect/sample/causal/paths.h"
#include "support/alloc_fail.h"
#include "support/own_code.h"

enum { PID = 77, OTHER_PID = 78 };

static struct profile *profile;
static struct causal_paths paths;

__attribute__((noinline)) static void outer(void)
{
	__asm__ volatile("" ::: "memory");
}

__attribute__((noinline)) static void inner(void)
{
	__asm__ volatile("nop" ::: "memory");
}

__attribute__((noinline)) static void other(void)
{
	__asm__ volatile("nop; nop" ::: "memory");
}

static int set_up(void **state)
{
	(void)state;
	own_code_read();
	profile = profile_new();
	assert_non_null(profile);
	for (size_t i = 0; i < own_code_count; i++) {
		char name[32];
		snprintf(name, sizeof(name), "/file-%zu", i);
		struct profile_module module = { .path = (uint32_t)profile_add_string(profile, name),
						 .kind = MODULE_FILE };
		own_code[i].module = (uint32_t)profile_add_module(profile, &module);
	}
	causal_paths_init(&paths);
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	causal_paths_release(&paths);
	profile_free(profile);
	own_code_release();
	return 0;
}

static int know(uint32_t pid)
{
	return causal_paths_code(&paths, pid, profile, own_code, own_code_count);
}

/* Adds a sample of functions, innermost first. */
static int sample(uint32_t pid, uint64_t hits, size_t count, void (*const functions[])(void))
{
	uint64_t addresses[8];
	uint32_t node = PROFILE_ROOT;
	for (size_t i = count; i-- > 0;) {
		addresses[i] = (uintptr_t)functions[i];
		int64_t location = profile_add_location(profile, 0, addresses[i]);
		node = location < 0 ? PROFILE_ROOT : (uint32_t)profile_add_node(profile, node, (uint32_t)location);
	}
	const struct backend_sample taken = {
		.pid = pid, .hits = hits, .addresses = addresses, .address_count = count, .cause = UNWIND_ROOT
	};
	return causal_paths_add(&paths, profile, &taken, node);
}
#define SAMPLE(pid, hits, ...)                                                                     \
	sample(pid, hits, sizeof((void (*const[])(void)){ __VA_ARGS__ }) / sizeof(void (*)(void)), \
	       (void (*const[])(void)){ __VA_ARGS__ })

static void a_path_is_below_that_of_its_caller(void **state)
{
	(void)state;
	assert_int_equal(know(PID), 0);
	assert_int_equal(SAMPLE(PID, 60, inner, outer), 0);
	assert_int_equal(SAMPLE(PID, 30, other, outer), 0);
	assert_int_equal(SAMPLE(PID, 10, outer), 0);
	assert_int_equal(SAMPLE(PID, 1, inner), 0);
	assert_int_equal(paths.hits, 101);
	assert_int_equal(paths.count, 4);
	assert_int_equal(paths.function_count, 3);
	const struct causal_path *items = paths.items;
	assert_int_equal(items[0].parent, PROFILE_NONE);
	assert_true(items[0].hits == 100 && items[0].most == 60 && items[0].depth == 1);
	assert_true(items[1].parent == 0 && items[1].hits == 60 && items[1].depth == 2 && items[1].pid == PID);
	assert_true(items[2].parent == 0 && items[2].hits == 30);
	assert_true(items[3].parent == PROFILE_NONE && items[3].hits == 1 && items[3].function == items[1].function);
}

static void samples_of_unknown_code_are_left_out(void **state)
{
	(void)state;
	assert_int_equal(SAMPLE(PID, 5, inner, outer), 0); /* no code of the process yet */
	assert_true(paths.hits == 0 && paths.count == 0);
	assert_int_equal(know(PID), 0);
	const uint64_t nowhere = 16;
	const struct backend_sample broken = {
		.pid = PID, .hits = 5, .addresses = &nowhere, .address_count = 1, .cause = UNWIND_ROOT
	};
	uint32_t node =
		(uint32_t)profile_add_node(profile, PROFILE_ROOT, (uint32_t)profile_add_location(profile, 0, nowhere));
	assert_int_equal(causal_paths_add(&paths, profile, &broken, node), 0);
	assert_true(paths.hits == 5 && paths.count == 0);
	/* The frames and the nodes do not fit together. */
	assert_int_equal(causal_paths_add(&paths, profile, &broken, PROFILE_ROOT), 0);
	assert_int_equal(paths.hits, 5);
}

/* 60 of 100 hits are in inner and 36 in other, both below outer; the path of 4 is too small. */
static void candidates_are_chosen_by_their_hits(void **state)
{
	(void)state;
	size_t chosen[4] = { 0 };
	assert_int_equal(know(PID), 0);
	assert_int_equal(SAMPLE(PID, 10, inner, outer), 0);
	assert_int_equal(causal_paths_choose(&paths, 1), PROFILE_NONE); /* too few hits */
	assert_int_equal(SAMPLE(PID, 50, inner, outer), 0);
	assert_int_equal(SAMPLE(PID, 36, other, outer), 0);
	assert_int_equal(SAMPLE(PID, 4, other), 0);
	for (uint64_t random = 0; random < 960; random++)
		chosen[causal_paths_choose(&paths, random)]++;
	assert_int_equal(chosen[0], 0); /* nearly all hits */
	assert_true(chosen[1] == 600 && chosen[2] == 360);
	assert_int_equal(chosen[3], 0);
}

/* A path with all hits is chosen if there is no other one. */
static void the_only_path_is_chosen(void **state)
{
	(void)state;
	assert_int_equal(know(PID), 0);
	assert_int_equal(SAMPLE(PID, 100, inner), 0);
	assert_int_equal(causal_paths_choose(&paths, 99), 0);
}

static void a_path_is_located_by_process(void **state)
{
	struct backend_function found[BACKEND_EXPERIMENT_FRAMES];
	(void)state;
	assert_int_equal(know(PID), 0);
	assert_int_equal(SAMPLE(PID, 5, inner, outer), 0);
	assert_int_equal(causal_paths_locate(&paths, 1, OTHER_PID, found), 0);
	assert_int_equal(causal_paths_locate(&paths, 1, PID, found), 2);
	assert_int_equal(found[0].start, own_code_function((uintptr_t)outer));
	assert_int_equal(found[1].start, own_code_function((uintptr_t)inner));
	assert_true(found[1].end > found[1].start);
	assert_int_equal(know(OTHER_PID), 0);
	assert_int_equal(causal_paths_locate(&paths, 1, OTHER_PID, found), 2);
	assert_int_equal(causal_paths_code(&paths, PID, profile, NULL, 0), 0); /* it has ended */
	assert_int_equal(causal_paths_locate(&paths, 1, PID, found), 0);
	assert_int_equal(causal_paths_locate(&paths, 1, OTHER_PID, found), 2);
}

/* In another run, the same functions are the same paths, although modules have other numbers. */
static void paths_outlive_a_run(void **state)
{
	(void)state;
	assert_int_equal(know(PID), 0);
	assert_int_equal(SAMPLE(PID, 5, inner, outer), 0);
	causal_paths_begin(&paths);
	assert_true(paths.items[1].pid == 0 && paths.items[1].node == PROFILE_NONE);
	struct profile *before = profile;
	profile = profile_new();
	for (size_t i = own_code_count; i-- > 0;) {
		struct profile_module module = before->modules[own_code[i].module];
		module.path = (uint32_t)profile_add_string(profile, profile_string(before, module.path));
		own_code[i].module = (uint32_t)profile_add_module(profile, &module);
	}
	profile_free(before);
	assert_int_equal(know(OTHER_PID), 0);
	assert_int_equal(SAMPLE(OTHER_PID, 7, inner, outer), 0);
	assert_true(paths.count == 2 && paths.items[1].hits == 12 && paths.items[1].pid == OTHER_PID);
}

static void names_are_those_of_the_profile(void **state)
{
	(void)state;
	assert_int_equal(know(PID), 0);
	assert_int_equal(SAMPLE(PID, 5, inner, outer), 0);
	assert_int_equal(causal_paths_name(&paths, profile), 0);
	assert_null(paths.items[0].name); /* the locations have no frames */
	static const struct {
		const char *name;
		uint8_t role;
	} rows[] = { { "_start", ROLE_START }, { "work", ROLE_NONE } };
	for (size_t i = 0; i < 2; i++) {
		const struct profile_function function = { .name = (uint32_t)profile_add_string(profile, rows[i].name),
							   .role = rows[i].role };
		const struct profile_frame frame = { .function = (uint32_t)profile_add_function(profile, &function) };
		struct profile_location *location = &profile->locations[profile->nodes[paths.items[i].node].location];
		location->first_frame = (uint32_t)profile_add_frame(profile, &frame);
		location->frame_count = 1;
	}
	assert_int_equal(causal_paths_name(&paths, profile), 0);
	assert_string_equal(paths.items[0].name, "");
	assert_string_equal(paths.items[1].name, "work");
}

static void without_memory(void **state)
{
	(void)state;
	bool is_complete = false;
	ALLOC_FAIL_EACH({
		causal_paths_release(&paths);
		int status = know(PID);
		if (status == 0)
			status = SAMPLE(PID, 5, inner, outer);
		is_complete = status == 0;
		if (!is_complete)
			assert_int_equal(status, ERROR_MEMORY);
	});
	assert_true(is_complete && paths.count == 2);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(a_path_is_below_that_of_its_caller),  TEST(samples_of_unknown_code_are_left_out),
		TEST(candidates_are_chosen_by_their_hits), TEST(the_only_path_is_chosen),
		TEST(a_path_is_located_by_process),        TEST(paths_outlive_a_run),
		TEST(names_are_those_of_the_profile),      TEST(without_memory),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
