/* analyze/shown_path.c and collect/sample/event_filter.c: the frames of a path that trace prints, and the events
 * that pass its filters. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "analyze/shown_path.h"
#include "collect/sample/event_filter.h"

static struct profile *profile;
static uint64_t next_address;

static uint32_t add_module(enum module_kind kind)
{
	struct profile_module module = { .kind = (uint8_t)kind };
	return (uint32_t)profile_add_module(profile, &module);
}

/* Adds a frame of a new function. The frames of one location are added innermost first. */
static uint32_t add_frame(const char *name, enum function_role role)
{
	struct profile_function function = { .name = (uint32_t)profile_add_string(profile, name),
					     .module = PROFILE_NONE,
					     .role = (uint8_t)role };
	struct profile_frame frame = { .function = (uint32_t)profile_add_function(profile, &function) };
	return (uint32_t)profile_add_frame(profile, &frame);
}

static uint32_t add_node(uint32_t parent, uint32_t module, uint32_t first_frame, uint32_t frames)
{
	uint32_t location = (uint32_t)profile_add_location(profile, module, next_address++);
	profile->locations[location].first_frame = first_frame;
	profile->locations[location].frame_count = frames;
	return (uint32_t)profile_add_node(profile, parent, location);
}

static uint32_t call(uint32_t parent, const char *name, enum function_role role)
{
	return add_node(parent, 0, add_frame(name, role), 1);
}

static int begin(void **state)
{
	(void)state;
	profile = profile_new();
	return profile ? (int)add_module(MODULE_FILE) : -1;
}

static int end(void **state)
{
	(void)state;
	profile_free(profile);
	return 0;
}

static void assert_path(uint32_t node, const char *wanted)
{
	struct shown_path path = { 0 };
	char text[256] = "";
	assert_int_equal(shown_path_set(&path, profile, node), 0);
	for (size_t i = 0; i < path.count; i++) {
		size_t used = strlen(text);
		snprintf(text + used, sizeof(text) - used, "%s%s", i ? " " : "",
			 profile_string(profile, profile->functions[path.functions[i]].name));
	}
	assert_string_equal(text, wanted);
	shown_path_release(&path);
}

static void test_trimmed(void **state)
{
	(void)state;
	uint32_t start = call(PROFILE_ROOT, "_start", ROLE_START);
	uint32_t main_node = call(start, "main", ROLE_MAIN);
	assert_path(main_node, "main");
	assert_path(call(main_node, "parse", ROLE_NONE), "main parse");
	/* Below the program's own functions, a start function is not trimmed. */
	assert_path(call(main_node, "clone", ROLE_START), "main clone");
	/* If all functions are start functions, the innermost one is shown. */
	assert_path(start, "_start");
	assert_path(PROFILE_ROOT, "");
}

static void test_inlined(void **state)
{
	(void)state;
	uint32_t main_node = call(PROFILE_ROOT, "main", ROLE_MAIN);
	uint32_t inner = add_frame("inner", ROLE_NONE);
	add_frame("outer", ROLE_NONE);
	assert_path(add_node(main_node, 0, inner, 2), "main outer inner");
}

/* The path of a thread continues the path that created it. The library's functions below pthread_create and the
 * thread's start function are not shown. */
static void test_thread(void **state)
{
	(void)state;
	uint32_t threads = add_module(MODULE_THREAD);
	uint32_t creates = call(call(PROFILE_ROOT, "main", ROLE_MAIN), "pthread_create", ROLE_CREATE);
	uint32_t mark = add_node(call(creates, "clone3", ROLE_NONE), threads, PROFILE_NONE, 0);
	uint32_t worker = call(call(mark, "start_thread", ROLE_START), "worker", ROLE_NONE);
	assert_path(worker, "main pthread_create worker");
	uint32_t nested = call(call(worker, "pthread_create", ROLE_CREATE), "clone3", ROLE_NONE);
	nested = call(add_node(nested, threads, PROFILE_NONE, 0), "helper", ROLE_NONE);
	assert_path(nested, "main pthread_create worker pthread_create helper");
}

static void test_functions(void **state)
{
	(void)state;
	struct event_filter filter = { 0 };
	struct error error;
	uint32_t path[] = { 0, 1, 2 };
	add_frame("main", ROLE_MAIN);
	add_frame("ns::Klass<int>::read(int)", ROLE_NONE);
	assert_int_equal(event_filter_add_functions(&filter, profile), 0);
	assert_true(event_filter_passes_path(&filter, path, 0)); /* a filter without functions passes every path */
	assert_int_equal(event_filter_function(&filter, "Klass::read", &error), 0);
	assert_int_equal(event_filter_add_functions(&filter, profile), 0);
	assert_true(event_filter_passes_path(&filter, path, 2));
	assert_false(event_filter_passes_path(&filter, path, 1));
	event_filter_release(&filter);
	/* A path must contain all of several functions. A function that appears later is found at the next
	 * event_filter_add_functions. */
	assert_int_equal(event_filter_function(&filter, "main", &error), 0);
	assert_int_equal(event_filter_function(&filter, "late", &error), 0);
	assert_int_equal(event_filter_add_functions(&filter, profile), 0);
	assert_false(event_filter_passes_path(&filter, path, 2));
	add_frame("late", ROLE_NONE);
	assert_int_equal(event_filter_add_functions(&filter, profile), 0);
	assert_true(event_filter_passes_path(&filter, path, 3));
	assert_false(event_filter_passes_path(&filter, path + 1, 2));
	event_filter_release(&filter);
	/* A name must match whole components: "ad" does not match "Klass::read". */
	assert_int_equal(event_filter_function(&filter, "ad", &error), 0);
	assert_int_equal(event_filter_add_functions(&filter, profile), 0);
	assert_false(event_filter_passes_path(&filter, path, 3));
	event_filter_release(&filter);
}

static void test_amounts_and_names(void **state)
{
	(void)state;
	struct event_filter filter = { 0 };
	struct error error;
	struct resource_request requests[2];
	assert_int_equal(resource_parse("read-bytes", &requests[0], &error), 0);
	assert_int_equal(resource_parse("blocked", &requests[1], &error), 0);
	assert_int_equal(event_filter_min(&filter, "soon", requests, 2, &error), ERROR_USAGE);
	assert_int_equal(event_filter_min(&filter, "5ms", requests, 1, &error), ERROR_USAGE);
	assert_int_equal(event_filter_min(&filter, "64KiB", requests, 2, &error), 0);
	assert_int_equal(event_filter_min(&filter, "5ms", requests, 2, &error), 0);
	assert_false(event_filter_passes(&filter, 0, "read-bytes", "read", 65535));
	assert_true(event_filter_passes(&filter, 0, "read-bytes", "read", 65536));
	assert_false(event_filter_passes(&filter, 1, "blocked", NULL, 4999));
	assert_true(event_filter_passes(&filter, 1, "blocked", NULL, 5000));
	assert_int_equal(event_filter_name(&filter, "re[ac]*", &error), 0);
	assert_int_equal(event_filter_name(&filter, "block*", &error), 0);
	assert_true(event_filter_passes(&filter, 1, "blocked", NULL, 5000));
	assert_true(event_filter_passes(&filter, 1, "other", "recvmsg", 5000));
	assert_false(event_filter_passes(&filter, 1, "other", "write", 5000));
	assert_false(event_filter_passes(&filter, 1, "other", NULL, 5000));
	event_filter_release(&filter);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_trimmed, begin, end),
		cmocka_unit_test_setup_teardown(test_inlined, begin, end),
		cmocka_unit_test_setup_teardown(test_thread, begin, end),
		cmocka_unit_test_setup_teardown(test_functions, begin, end),
		cmocka_unit_test(test_amounts_and_names),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
