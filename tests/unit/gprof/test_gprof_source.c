/* The inputs of annotated source and of linking orders: source files, maps of object files, an image split by
 * lines. */
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "frames/native/module_file.h"
#include "gprof/image_read.h"
#include "gprof/object_map.h"
#include "gprof/source_files.h"
#include "support/alloc_fail.h"
#include "support/symbols_lab.h"

static void write_text(const char *name, const char *text)
{
	FILE *file = fopen(lab_path(name), "w");
	assert_non_null(file);
	assert_true(fputs(text, file) >= 0);
	assert_int_equal(fclose(file), 0);
}

/* Returns the first line of the source file that is found, or NULL if none is. */
static const char *found(const char *path, const char *const *folders)
{
	static char line[64];
	const struct path_users users = { 0 };
	FILE *file = source_file_open(path, folders, &users);
	if (!file)
		return NULL;
	assert_non_null(fgets(line, sizeof(line), file));
	fclose(file);
	return line;
}

static void test_source_files(void **state)
{
	(void)state;
	lab_run("mkdir -p here/src/deep other");
	write_text("here/src/deep/a.c", "deep");
	write_text("here/a.c", "here");
	write_text("other/b.c", "other");
	char *here = strdup(lab_path("here")), *other = strdup(lab_path("other"));
	const char *const folders[] = { here, other, NULL };
	assert_string_equal(found(lab_path("here/a.c"), NULL), "here");
	assert_null(found("/gone/a.c", NULL));
	/* The longest suffix of the path that exists in a folder is used. */
	assert_string_equal(found("/gone/src/deep/a.c", folders), "deep");
	assert_string_equal(found("/gone/deep/a.c", folders), "here");
	assert_string_equal(found("src//deep/a.c", folders), "deep");
	assert_string_equal(found("b.c", folders), "other");
	assert_null(found("/gone/c.c", folders));
	char *both = NULL;
	assert_true(asprintf(&both, ":%s:/nowhere:%s", other, here) > 0);
	assert_string_equal(found("/gone/a.c", (const char *const[]){ both, NULL }), "here");
	assert_string_equal(found("/gone/b.c", (const char *const[]){ both, NULL }), "other");
	free(both);
	/* A folder is not a source file. */
	assert_null(found("/gone/deep", (const char *const[]){ lab_path("here/src"), NULL }));
	free(here);
	free(other);
}

/* The owner of a program chooses the paths of its sources. */
static void test_sources_of_foreign_programs(void **state)
{
	(void)state;
	struct path_users users;
	source_file_users(&users, &(struct image){ .author = 1234 + 1 });
	assert_int_equal(users.count, 1);
	assert_int_equal(users.ids[0], 1234);
	assert_false(users.has_others);
	source_file_users(&users, &(struct image){ .author = 0 });
	assert_true(users.has_others);
	source_file_users(&users, NULL);
	assert_true(users.has_others);
	users = (struct path_users){ .ids = { 987654321 }, .count = 1 };
	write_text("secret.c", "secret");
	assert_int_equal(chmod(lab_path("secret.c"), 0600), 0);
	assert_null(source_file_open(lab_path("secret.c"), NULL, &users));
	lab_run("mkfifo fifo.c");
	assert_null(source_file_open(lab_path("fifo.c"), NULL, &(struct path_users){ 0 })); /* and does not wait */
}

static void test_copies(void **state)
{
	(void)state;
	struct source_names used = { 0 };
	const char *expected[] = { "x.c-ann", "y.c-ann", "x.c-ann.2", "x.c-ann.3" };
	const char *paths[] = { "/a/x.c", "y.c", "/b/x.c", "x.c" };
	assert_int_equal(chdir(lab_path(".")), 0);
	for (int i = 0; i < 4; i++) {
		struct text_output copy;
		struct error error = { 0 };
		assert_int_equal(source_file_create_copy(&used, paths[i], &copy, &error), 0);
		assert_string_equal(copy.path, expected[i]);
		assert_int_equal(text_output_commit(&copy, &error), 0);
	}
	source_names_release(&used);
}

static const char *object_of(struct object_map *map, const char *function)
{
	uint32_t object = object_map_find(map, function);
	return object == HASH_MAP_NONE ? NULL : strings_get(&map->objects, object);
}

static void test_object_map(void **state)
{
	(void)state;
	struct object_map map;
	struct error error;
	write_text("map", "parse.o:0000000000001139 T parse_line\n"
			  "lib.a:dec.o:00000000000000a0 t a::b(int, char)\n"
			  "late.o:00000000 T parse_line\n"
			  "un.o:                 U printf\n"
			  ":0000 T nameless\n"
			  "last.o:1 W last");
	assert_int_equal(object_map_read(&map, lab_path("map"), &error), 0);
	assert_string_equal(object_of(&map, "parse_line"), "parse.o");
	assert_string_equal(object_of(&map, "a::b(int, char)"), "lib.a:dec.o");
	assert_string_equal(object_of(&map, "last"), "last.o");
	assert_null(object_of(&map, "printf"));
	assert_null(object_of(&map, "nameless"));
	assert_null(object_of(&map, ""));
	object_map_release(&map);
	write_text("map", "nothing\n");
	assert_int_equal(object_map_read(&map, lab_path("map"), &error), ERROR_FORMAT);
	assert_non_null(strstr(error.message, "nm -o"));
	object_map_release(&map);
	assert_int_equal(object_map_read(&map, lab_path("absent"), &error), ERROR_NOT_FOUND);
	object_map_release(&map);
}

static void test_object_map_without_memory(void **state)
{
	(void)state;
	struct object_map map;
	struct error error;
	write_text("map", "parse.o:0000000000001139 T parse_line\nx.o:0000000000001139 T other\n");
	ALLOC_FAIL_EACH({
		int status = object_map_read(&map, lab_path("map"), &error);
		assert_true(status == 0 || status == ERROR_MEMORY);
		object_map_release(&map);
	});
}

static void expect_lines(const struct image *image, const char *source)
{
	size_t lines = 0, functions = 0;
	for (size_t i = 0; i < image->symbol_count; i++) {
		const struct image_symbol *symbol = &image->symbols[i];
		assert_non_null(symbol->name);
		assert_non_null(symbol->readable);
		assert_true(symbol->start < symbol->end || i + 1 == image->symbol_count);
		if (i + 1 < image->symbol_count)
			assert_int_equal(symbol->end, image->symbols[i + 1].start);
		lines += symbol->line > 0 && strstr(symbol->file, source);
		functions += symbol->is_function;
	}
	assert_true(functions > 5);
	assert_true(lines > functions);
}

static void test_lines_of_an_image(void **state)
{
	(void)state;
	const struct image_options options = { 0 }, by_line = { .by_line = true };
	struct image image;
	struct error error;
	lab_run("$CC -g -O1 \"$S/inlines.c\" -o lines && $CC -O1 \"$S/inlines.c\" -o bare");
	assert_int_equal(image_open(&image, lab_path("lines"), &options, &error), 0);
	size_t functions = image.symbol_count;
	/* The last symbol is after the code and is empty. */
	assert_true(image.symbols[functions - 1].start >= image.text_end);
	assert_int_equal(image.symbols[functions - 1].end, image.symbols[functions - 1].start);
	image_close(&image);
	assert_int_equal(image_open(&image, lab_path("lines"), &by_line, &error), 0);
	expect_lines(&image, "inlines.c");
	assert_int_equal(image.symbols[image.symbol_count - 1].end, image.text_end);
	image_close(&image);
	/* An image without line information is not split. */
	assert_int_equal(image_open(&image, lab_path("bare"), &options, &error), 0);
	functions = image.symbol_count;
	image_close(&image);
	assert_int_equal(image_open(&image, lab_path("bare"), &by_line, &error), 0);
	assert_int_equal(image.symbol_count, functions - 1);
	assert_true(image.symbols[0].is_function);
	image_close(&image);
}

static const struct image_options all_lines = { .with_source = true, .by_line = true };

static int open_by_lines(const char *path)
{
	struct image image;
	struct error error;
	int status = image_open(&image, path, &all_lines, &error);
	if (status == 0)
		image_close(&image);
	return status;
}

/* Reads the lines in this process, as the process in the jail does. */
static int read_by_lines(const char *path)
{
	struct module_file file;
	struct image image = { .file = &file, .text_end = UINT64_MAX };
	struct error error;
	int status = module_file_open(&file, open(path, O_RDONLY | O_CLOEXEC), path, &error);
	if (status < 0)
		return status;
	status = strings_init(&image.texts);
	if (status == 0)
		status = image_read(&image, &all_lines);
	image_close(&image);
	module_file_close(&file);
	return status;
}

static void test_lines_without_memory(void **state)
{
	(void)state;
	lab_run("$CC -g -O2 \"$S/clones.c\" -o few");
	const char *path = lab_path("few");
	/* Allocations inside elfutils do not fail here. A success is correct too: lines that cannot be read are
	 * left out. */
	ALLOC_FAIL_EACH({
		int status = read_by_lines(path);
		assert_true(status == 0 || status == ERROR_MEMORY || status == ERROR_FORMAT);
	});
	/* An allocation that fails in the jail is its limit. */
	ALLOC_FAIL_EACH({
		int status = open_by_lines(path);
		assert_true(status == 0 || status == ERROR_MEMORY || status == ERROR_FORMAT || status == ERROR_LIMIT);
	});
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_source_files),
		cmocka_unit_test(test_sources_of_foreign_programs),
		cmocka_unit_test(test_copies),
		cmocka_unit_test(test_object_map),
		cmocka_unit_test(test_object_map_without_memory),
		cmocka_unit_test(test_lines_of_an_image),
		cmocka_unit_test(test_lines_without_memory),
	};
	return cmocka_run_group_tests(tests, lab_setup, lab_teardown);
}
