/* Refused paths of what-if, errors without samples (statistics.c), and the functions of a path (shown_path.c). */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "analyze/analyses.h"
#include "analyze/shown_path.h"
#include "support/alloc_fail.h"
#include "support/paths_profile.h"

static void bad_paths_are_refused(void **state)
{
	struct paths paths;
	struct error error;
	struct what_if_result result;
	uint32_t zero = 0, unknown = 2;
	struct label_set steps[] = { { .labels = &zero, .count = 1 },
				     { .labels = &zero, .count = 1 },
				     { .labels = &unknown, .count = 1 } };
	(void)state;
	paths_start(&paths, RESOURCE_SAMPLED);
	paths_add(&paths, "f;g", 1);
	struct view *view = paths_view(&paths, VIEW_FUNCTION);
	const struct {
		struct what_if path;
		int code;
	} rows[] = { { { steps, 0, 0 }, ERROR_USAGE },
		     { { steps, 1, -0.1 }, ERROR_USAGE },
		     { { steps, 1, NAN }, ERROR_USAGE },
		     { { steps, 1, INFINITY }, ERROR_USAGE },
		     { { steps, 3, 0 }, ERROR_NOT_FOUND },
		     { { steps + 1, 2, 0 }, ERROR_NOT_FOUND },
		     { { steps + 2, 1, 0 }, ERROR_NOT_FOUND },
		     { { steps, 1, 0 }, 0 },
		     { { steps, 2, 0 }, 0 } };
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		const struct what_if both[] = { { steps, 1, 1 }, rows[i].path };
		assert_int_equal(analyze_what_if(view, both, 2, &result, &error), rows[i].code);
		if (rows[i].code != 0)
			assert_null(result.affected);
		free(result.affected);
	}
	view_free(view);
	paths_end(&paths);
}

/* Nothing changes in an empty selection, and without paths. */
static void nothing_changes_nothing(void **state)
{
	struct paths paths;
	struct error error;
	struct what_if_result result;
	uint32_t zero = 0;
	struct label_set step = { .labels = &zero, .count = 1 };
	const struct what_if path = { &step, 1, 0 };
	(void)state;
	paths_start(&paths, RESOURCE_SAMPLED);
	paths_add(&paths, "f", 3);
	struct view *view = paths_view(&paths, VIEW_FUNCTION);
	assert_int_equal(analyze_what_if(view, NULL, 0, &result, &error), 0);
	assert_float_equal(result.predicted, 1, 0);
	free(result.affected);
	assert_int_equal(analyze_what_if(view, &path, 1, &result, &error), 0);
	assert_float_equal(result.predicted, 0, 0);
	assert_int_equal(result.affected[0], 3);
	free(result.affected);
	view_free(view);
	profile_clear_hits(paths.profile);
	view = paths_view(&paths, VIEW_FUNCTION);
	assert_int_equal(analyze_what_if(view, &path, 1, &result, &error), 0);
	assert_float_equal(result.predicted, 1, 0);
	assert_int_equal(result.affected[0], 0);
	free(result.affected);
	view_free(view);
	paths_end(&paths);
}

static void errors_need_samples(void **state)
{
	(void)state;
	assert_float_equal(analyze_error(1, 2, 0), 0, 0);
	assert_float_equal(analyze_error(0, 0, 5), 0, 0);
	assert_float_equal(analyze_error(0, 0, 0), 0, 0);
	const double z = 1.959963984540054;
	for (double n = 0.5; n < 1e5; n *= 3) { /* a fraction of 0 or 1 */
		double expected = z * z / (2 * n) / (1 + z * z / n);
		assert_float_equal(analyze_error(0, 7, n), expected, 1e-12);
		assert_float_equal(analyze_error(7, 7, n), expected, 1e-12);
		assert_float_equal(analyze_error(1, 2, n), z * sqrt(0.25 / n + z * z / (4 * n * n)) / (1 + z * z / n),
				   1e-12);
	}
}

/* A path that is only start code is shown by its innermost function. */
static void paths_of_start_code_are_shown(void **state)
{
	struct paths paths;
	struct shown_path path = { 0 };
	(void)state;
	paths_start(&paths, RESOURCE_SAMPLED);
	struct profile *profile = paths.profile;
	static const char *const names[] = { "_start", "__libc_start_main" };
	uint32_t functions[2];
	for (int i = 0; i < 2; i++) {
		functions[i] = paths_function(&paths, names[i], 0, "", 0, ROLE_START);
		paths_define(&paths, names[i], 0, &functions[i], (uint32_t[]){ 0 }, 1);
	}
	paths_add(&paths, "_start;__libc_start_main", 1);
	paths_add(&paths, "_start;__libc_start_main;main;f", 1);
	for (int round = 0; round < 2; round++) {
		assert_int_equal(shown_path_set(&path, profile, profile->hits[0].node), 0);
		assert_int_equal(path.count, 1);
		assert_int_equal(path.functions[0], functions[1]);
		assert_int_equal(shown_path_set(&path, profile, profile->hits[1].node), 0);
		assert_int_equal(path.count, 2);
		assert_string_equal(profile_string(profile, profile->functions[path.functions[0]].name), "main");
		assert_string_equal(profile_string(profile, profile->functions[path.functions[1]].name), "f");
		assert_int_equal(shown_path_set(&path, profile, PROFILE_ROOT), 0);
		assert_int_equal(path.count, 0);
	}
	shown_path_release(&path);
	ALLOC_FAIL_EACH({
		int result = shown_path_set(&path, profile, profile->hits[0].node);
		assert_true(result == 0 || result == ERROR_MEMORY);
		shown_path_release(&path);
	});
	paths_end(&paths);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(bad_paths_are_refused),
		cmocka_unit_test(nothing_changes_nothing),
		cmocka_unit_test(errors_need_samples),
		cmocka_unit_test(paths_of_start_code_are_shown),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
