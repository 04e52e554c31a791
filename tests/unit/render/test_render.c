/*
 * Reports as text, JSON and CSV: of a profile that another processor's program wrote they are, byte for byte, those
 * of tests/golden, which the command-line tests expect of the command.
 * Usage: test_render PROFILE GOLDEN-FOLDER
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "profile_file/reader.h"
#include "render/render.h"
#include "reports/report.h"

enum { MOST_RESOURCES = 8 };

static const char *golden_folder;
static struct profile *profile;

static int read_profile(void **state)
{
	(void)state;
	return profile ? 0 : -1;
}

static char *golden_text(const char *name)
{
	char path[512];
	static char text[64 * 1024];
	snprintf(path, sizeof(path), "%s/%s.txt", golden_folder, name);
	FILE *file = fopen(path, "re");
	if (!file)
		fail_msg("cannot open %s", path);
	size_t size = fread(text, 1, sizeof(text) - 1, file);
	assert_true(size < sizeof(text) - 1);
	text[size] = 0;
	fclose(file);
	return text;
}

/* As the command does if no option is given. */
static const struct render_options defaults = {
	.threshold = 0.005,
	.limit = 40,
	.hint = "--threshold 0 --limit 0 shows all",
};

static char *render(const char *name, const char *root, const char *resource, enum render_format format)
{
	uint32_t resources[MOST_RESOURCES];
	struct results results = { 0 };
	struct error error = { 0 };
	struct report_request request = {
		.report = report_find(name),
		.profile = profile,
		.view = { .thread = VIEW_ANY },
		.resources = resources,
		.root = root,
		.threshold = defaults.threshold,
		.limit = defaults.limit,
		.resources_named = resource != NULL,
	};
	assert_in_range(profile->resource_count, 1, MOST_RESOURCES);
	for (uint32_t i = 0; i < profile->resource_count; i++)
		if (!resource || strcmp(profile_string(profile, profile->resources[i].name), resource) == 0)
			resources[request.resource_count++] = i;
	if (report_prepare(&request, &error) < 0 || report_build(&request, &results, &error) < 0)
		fail_msg("%s: %s", name, error.message);
	char *text = NULL;
	size_t bytes = 0;
	struct render_options options = defaults;
	options.format = format;
	struct render_document document;
	FILE *out = open_memstream(&text, &bytes);
	render_begin(&document, out, &options,
		     &(struct render_envelope){ .command = "report", .report = name, .profile = profile });
	for (size_t i = 0; i < results.count; i++)
		assert_int_equal(render_result(&document, &results.items[i], &error), 0);
	render_end(&document);
	fclose(out);
	results_release(&results);
	return text;
}

static void reports_are_the_golden_ones(void **state)
{
	(void)state;
	static const struct {
		const char *golden, *report, *root, *resource;
		enum render_format format;
	} cases[] = {
		{ "whole_report_--functions", "functions", NULL, NULL, RENDER_TEXT },
		{ "whole_report_--format_json", "functions", NULL, NULL, RENDER_JSON },
		{ "whole_report_--format_csv", "functions", NULL, NULL, RENDER_CSV },
		{ "whole_report_-r_cpu_--format_json", "functions", NULL, "cpu", RENDER_JSON },
		{ "whole_report_--down_main", "down", "main", NULL, RENDER_TEXT },
		{ "whole_report_--up_qsort", "up", "qsort", NULL, RENDER_TEXT },
		{ "whole_report_--source_qsort_-r_cpu", "source", "qsort", "cpu", RENDER_TEXT },
		{ "whole_report_--source_main_-r_cpu_--format_json", "source", "main", "cpu", RENDER_JSON },
		{ "whole_report_--source_main_-r_cpu_--format_csv", "source", "main", "cpu", RENDER_CSV },
	};
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		char *text = render(cases[i].report, cases[i].root, cases[i].resource, cases[i].format);
		const char *golden = golden_text(cases[i].golden);
		if (strcmp(text, golden) != 0)
			fail_msg("%s:\n%s\nis not\n%s", cases[i].golden, text, golden);
		free(text);
	}
}

/* Without its first two lines: the file's name and size. */
static void information_is_the_golden_one(void **state)
{
	(void)state;
	char *text = NULL;
	size_t bytes = 0;
	FILE *out = open_memstream(&text, &bytes);
	render_info(out, profile, "whole.data", 1, &defaults);
	fclose(out);
	const char *from = strstr(text, "\ncommand:"), *golden = strstr(golden_text("whole_info"), "\ncommand:");
	assert_non_null(from);
	assert_non_null(golden);
	assert_string_equal(from, golden);
	free(text);
}

int main(int argc, char **argv)
{
	if (argc != 3) {
		fprintf(stderr, "usage: test_render PROFILE GOLDEN-FOLDER\n");
		return 2;
	}
	struct error error = { 0 };
	profile = reader_load(argv[1], 0, &error);
	if (!profile)
		fprintf(stderr, "%s\n", error.message);
	golden_folder = argv[2];
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(reports_are_the_golden_ones),
		cmocka_unit_test(information_is_the_golden_one),
	};
	int status = cmocka_run_group_tests_name("render", tests, read_profile, NULL);
	profile_free(profile);
	return status;
}
