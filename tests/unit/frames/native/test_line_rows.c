/* Compares the line rows of whole programs with binutils' addr2line, at every byte. */
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "frames/native/line_rows.h"
#include "support/symbols_lab.h"

struct image {
	struct module_file file;
	struct line_rows rows;
	uint64_t low, high; /* of .text */
};

static void open_image(struct image *image, const char *name)
{
	struct error error;
	const char *path = lab_path(name);
	assert_int_equal(module_file_open(&image->file, open(path, O_RDONLY), path, &error), 0);
	struct elf_bytes text = elf_file_section(image->file.bytes, ".text");
	assert_true(text.size > 0);
	image->low = text.address;
	image->high = text.address + text.size;
	assert_int_equal(line_rows_read(&image->rows, &image->file, image->low, image->high), 0);
}

static void close_image(struct image *image)
{
	line_rows_release(&image->rows);
	module_file_close(&image->file);
}

static const char *last_part(const char *path)
{
	const char *slash = strrchr(path, '/');
	return slash ? slash + 1 : path;
}

static void expect_sound(const struct image *image)
{
	const struct line_rows *rows = &image->rows;
	assert_true(rows->count > 0);
	assert_int_equal(rows->rows[0].address, image->low);
	for (size_t i = 1; i < rows->count; i++) {
		const struct line_row *a = &rows->rows[i - 1], *b = &rows->rows[i];
		assert_true(a->address < b->address && b->address < image->high);
		assert_true(a->line != b->line || strcmp(a->file ? a->file : "", b->file ? b->file : "") != 0 ||
			    strcmp(a->function ? a->function : "", b->function ? b->function : "") != 0);
	}
	assert_null(line_rows_at(rows, image->low - 1));
	assert_ptr_equal(line_rows_at(rows, image->low), &rows->rows[0]);
	assert_ptr_equal(line_rows_at(rows, image->high - 1), &rows->rows[rows->count - 1]);
}

/* addr2line prints for each byte "ns::f\n/path/file.c:12\n" or "...:12 (discriminator 3)", with "??" for unknown
 * parts. */
static size_t expect_as_addr2line(const struct image *image, const char *name)
{
	char *text = lab_output("for i in $(seq %llu %llu); do printf '%%x\\n' $i; done | addr2line -f -e %s",
				(unsigned long long)image->low, (unsigned long long)image->high - 1, name);
	size_t known = 0;
	char *rest = text;
	for (uint64_t address = image->low; address < image->high; address++) {
		const char *function = strsep(&rest, "\n");
		char *place = strsep(&rest, "\n");
		assert_non_null(place);
		char *colon = strrchr(place, ':');
		assert_non_null(colon);
		*colon = 0;
		uint32_t line = (uint32_t)strtoul(colon + 1, NULL, 10);
		const struct line_row *row = line_rows_at(&image->rows, address);
		assert_non_null(row);
		if (row->line != line)
			fail_msg("%s+%#llx: line %u, not %u", name, (unsigned long long)address, row->line, line);
		if (line == 0)
			continue;
		known++;
		assert_string_equal(last_part(row->file), last_part(place));
		/* For an inlined function without a symbol, addr2line prints only the function that contains it. */
		if (row->function && !strstr(row->function, "::") && strcmp(row->function, function) != 0)
			fail_msg("%s+%#llx: %s, not %s", name, (unsigned long long)address, row->function, function);
	}
	free(text);
	return known;
}

static void check(const char *build, size_t known_min)
{
	struct image image;
	lab_run("%s -o rows", build);
	open_image(&image, "rows");
	expect_sound(&image);
	size_t known = expect_as_addr2line(&image, "rows");
	if (known < known_min)
		fail_msg("%s: %zu bytes have lines", build, known);
	close_image(&image);
}

static void test_as_addr2line(void **state)
{
	(void)state;
	check("gcc -g -O0 \"$S/inlines.c\"", 200);
	check("gcc -g -O2 -no-pie \"$S/inlines.c\"", 100);
	check("clang -g -O2 \"$S/inlines.c\"", 100);
	check("gcc -gdwarf-4 -O2 \"$S/clones.c\"", 60);
	check("g++ -g -O1 \"$S/shapes.cpp\"", 200);
}

/* addr2line does not read split debug information. The reference is the same code with its debug information in
 * the program. */
static void test_split_debug_information(void **state)
{
	(void)state;
	struct image whole, split;
	lab_run("gcc -g -O2 \"$S/inlines.c\" -o whole && gcc -g -O2 -gsplit-dwarf \"$S/inlines.c\" -o split");
	open_image(&whole, "whole");
	open_image(&split, "split");
	assert_int_equal(split.rows.count, whole.rows.count);
	for (size_t i = 0; i < whole.rows.count; i++) {
		assert_int_equal(split.rows.rows[i].address, whole.rows.rows[i].address);
		assert_int_equal(split.rows.rows[i].line, whole.rows.rows[i].line);
	}
	close_image(&whole);
	close_image(&split);
}

static void test_inlined_function(void **state)
{
	(void)state;
	struct image image;
	lab_run("gcc -g -O2 \"$S/inlines.c\" -o inlined");
	open_image(&image, "inlined");
	size_t found = 0;
	for (size_t i = 0; i < image.rows.count; i++)
		found += image.rows.rows[i].function && strcmp(image.rows.rows[i].function, "inner") == 0;
	assert_true(found > 0);
	close_image(&image);
}

static void test_no_debug_information(void **state)
{
	(void)state;
	struct image image;
	lab_run("gcc -O2 \"$S/inlines.c\" -o bare");
	open_image(&image, "bare");
	assert_int_equal(image.rows.count, 1);
	assert_int_equal(image.rows.rows[0].line, 0);
	assert_null(image.rows.rows[0].file);
	assert_null(image.rows.rows[0].function);
	close_image(&image);
}

static void test_part_of_a_range(void **state)
{
	(void)state;
	struct image image;
	lab_run("gcc -g -O1 \"$S/inlines.c\" -o part");
	open_image(&image, "part");
	uint64_t middle = image.low + (image.high - image.low) / 2;
	struct line_rows part;
	assert_int_equal(line_rows_read(&part, &image.file, middle, image.high), 0);
	for (uint64_t address = middle; address < image.high; address++)
		assert_int_equal(line_rows_at(&part, address)->line, line_rows_at(&image.rows, address)->line);
	line_rows_release(&part);
	assert_int_equal(line_rows_read(&part, &image.file, middle, middle), 0);
	assert_int_equal(part.count, 0);
	assert_null(line_rows_at(&part, middle));
	line_rows_release(&part);
	close_image(&image);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_as_addr2line),     cmocka_unit_test(test_split_debug_information),
		cmocka_unit_test(test_inlined_function), cmocka_unit_test(test_no_debug_information),
		cmocka_unit_test(test_part_of_a_range),
	};
	return cmocka_run_group_tests(tests, lab_setup, lab_teardown);
}
