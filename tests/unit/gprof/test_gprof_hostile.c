/* gprof's image is a file that a hostile user made: the process that prints the reports stays small. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "gprof/image.h"
#include "support/hostile_lab.h"
#include "support/symbols_lab.h"

/* The outcome of each kind: an error, or a line of `work` or none. */
static const struct {
	const char *name, *error; /* NULL: none */
	bool has_line;
} outcomes[] = {
	{ "hollow", "is sparse", false },
	{ "swollen", NULL, true },
	{ "linked", NULL, true },
	{ "nested", NULL, false },
};

static const struct image_symbol *find_symbol(const struct image *image, const char *name)
{
	for (size_t i = 0; i < image->symbol_count; i++)
		if (image->symbols[i].is_function && strcmp(image->symbols[i].name, name) == 0)
			return &image->symbols[i];
	return NULL;
}

static void test_images(void **state)
{
	(void)state;
	for (size_t i = 0; i < HOSTILE_KINDS; i++) {
		const struct image_options options = { .with_source = true, .by_line = true };
		struct image image;
		struct error error = { 0 };
		assert_string_equal(hostile_kinds[i].name, outcomes[i].name);
		hostile_build(&hostile_kinds[i]);
		int status = image_open(&image, lab_path("hostile"), &options, &error);
		hostile_check(&hostile_kinds[i]);
		assert_int_equal(status < 0, outcomes[i].error != NULL);
		if (outcomes[i].error && !strstr(error.message, outcomes[i].error))
			fail_msg("%s", error.message);
		if (status < 0)
			continue;
		const struct image_symbol *work = find_symbol(&image, "work");
		assert_non_null(work);
		assert_int_equal(work->line != 0, outcomes[i].has_line);
		image_close(&image);
	}
}

/* To open a FIFO would wait for its writer. */
static void test_fifo(void **state)
{
	(void)state;
	struct image image;
	struct error error = { 0 };
	lab_run("mkfifo image");
	assert_true(image_open(&image, lab_path("image"), &(struct image_options){ 0 }, &error) < 0);
	assert_non_null(strstr(error.message, "cannot open"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_images, lab_setup, lab_teardown),
		cmocka_unit_test_setup_teardown(test_fifo, lab_setup, lab_teardown),
	};
	return cmocka_run_group_tests_name("hostile images", tests, NULL, NULL);
}
