/* Functions and types of their arguments in files that a hostile user made: the recorder's own process stays small. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "collect/sample/probes/file_search.h"
#include "support/hostile_lab.h"
#include "support/symbols_lab.h"

/* The outcome of each kind: the functions are found by their symbols, but the type by debug information. */
static const struct {
	const char *name, *error; /* NULL: none */
	uint8_t bytes;            /* of the type of work's argument */
} outcomes[] = {
	{ "hollow", "is sparse", 0 },
	{ "swollen", NULL, 4 },
	{ "linked", NULL, 4 },
	{ "nested", NULL, 0 },
};

static void test_functions(void **state)
{
	(void)state;
	for (size_t i = 0; i < HOSTILE_KINDS; i++) {
		struct found_functions found;
		struct error error = { 0 };
		assert_string_equal(hostile_kinds[i].name, outcomes[i].name);
		hostile_build(&hostile_kinds[i]);
		int status = file_search_functions(lab_path("hostile"), "work", 1, &found, &error);
		hostile_check(&hostile_kinds[i]);
		assert_int_equal(status < 0, outcomes[i].error != NULL);
		if (outcomes[i].error && !strstr(error.message, outcomes[i].error))
			fail_msg("%s", error.message);
		if (status < 0)
			continue;
		assert_int_equal(found.count, 1);
		assert_true(found.is_exported);
		assert_int_equal(found.items[0].type.bytes, outcomes[i].bytes);
		found_functions_release(&found);
	}
}

static void test_other_searches(void **state)
{
	(void)state;
	for (size_t i = 0; i < HOSTILE_KINDS; i++) {
		struct probe_points points = { 0 };
		struct near_names near;
		bool found, is_stripped;
		hostile_build(&hostile_kinds[i]);
		near_names_init(&near, "wokr");
		int status = file_search_near(lab_path("hostile"), &near, &is_stripped, NULL);
		assert_int_equal(status < 0, outcomes[i].error != NULL);
		assert_int_equal(strstr(near_names_text(&near), "work") != NULL, status == 0);
		status = file_search_allocator(lab_path("hostile"), true, &points, &found, NULL);
		assert_int_equal(status < 0, outcomes[i].error != NULL);
		assert_false(found);
		hostile_check(&hostile_kinds[i]);
		probe_points_release(&points);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_functions, lab_setup, lab_teardown),
		cmocka_unit_test_setup_teardown(test_other_searches, lab_setup, lab_teardown),
	};
	return cmocka_run_group_tests_name("hostile files of probes", tests, NULL, NULL);
}
