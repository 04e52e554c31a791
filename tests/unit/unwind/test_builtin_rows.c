/* The row of V8's builtins: the range of their symbols, in a gap of the call frame information that is large enough. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <fcntl.h>
#include <unistd.h>

#include "support/alloc_fail.h"
#include "unwind/unwind.h"

/* builtins.S: with as many bytes as V8's or with few, stripped or not, exporting a function of V8 or not. */
static const char *large_path, *small_path, *stripped_path, *stripped_v8_path, *small_v8_path, *least_path, *less_path,
	*sizeless_path;

static struct elf_file *open_path(const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	struct elf_file *file = fd < 0 ? NULL : elf_file_open(fd, path, NULL);
	close(fd);
	return file;
}

/* Returns the kind of the row at an offset to the start of `before`, the first function of the table. */
static int kind_at(const struct unwind_table *table, uint64_t offset)
{
	const struct unwind_row *row = unwind_table_row(table, table->base + table->functions[0].start + offset);
	return row ? row->kind : -1;
}

static struct unwind_table *table_of(const char *path)
{
	struct elf_file *file = open_path(path);
	assert_non_null(file);
	struct unwind_table *table = unwind_table_new(file, NULL);
	elf_file_free(file);
	assert_non_null(table);
	assert_int_equal(table->functions[0].size, 64);
	return table;
}

static void builtins_have_frames(void **state)
{
	(void)state;
	struct unwind_table *table = table_of(large_path);
	const uint64_t first = 128, end = first + 0x60000;
	assert_int_equal(kind_at(table, 0), UNWIND_SP);
	assert_int_equal(kind_at(table, first - 1), UNWIND_NO_RULE);
	assert_int_equal(kind_at(table, first), UNWIND_FRAME);
	assert_int_equal(kind_at(table, first + 0x20000), UNWIND_FRAME);
	assert_int_equal(kind_at(table, end - 1), UNWIND_FRAME);
	assert_int_equal(kind_at(table, end), UNWIND_NO_RULE);
	assert_int_equal(kind_at(table, end + 64), UNWIND_SP);
	unwind_table_free(table);
}

static void other_gaps_have_no_rule(void **state)
{
	(void)state;
	const char *paths[] = { small_path, stripped_path, small_v8_path };
	for (int i = 0; i < 3; i++) {
		struct unwind_table *table = table_of(paths[i]);
		assert_int_equal(kind_at(table, 128), UNWIND_NO_RULE);
		unwind_table_free(table);
	}
}

/* The gap has 256 KiB, or a byte less. */
static void the_gap_has_a_least_size(void **state)
{
	(void)state;
	struct unwind_table *table = table_of(least_path);
	assert_int_equal(kind_at(table, 128), UNWIND_FRAME);
	unwind_table_free(table);
	table = table_of(less_path);
	assert_int_equal(kind_at(table, 128), UNWIND_NO_RULE);
	unwind_table_free(table);
}

/* Without their symbols, or without the sizes of these, all of the gap is taken for builtins. */
static void stripped_builtins_have_frames(void **state)
{
	(void)state;
	struct unwind_table *table = table_of(stripped_v8_path);
	const uint64_t end = 128 + 0x60000 + 64;
	assert_int_equal(kind_at(table, 63), UNWIND_SP);
	assert_int_equal(kind_at(table, 64), UNWIND_FRAME);
	assert_int_equal(kind_at(table, end - 1), UNWIND_FRAME);
	assert_int_equal(kind_at(table, end), UNWIND_SP);
	unwind_table_free(table);
	table = table_of(sizeless_path);
	assert_int_equal(kind_at(table, 64), UNWIND_FRAME);
	unwind_table_free(table);
}

static void try_table(const char *path)
{
	struct elf_file *file = open_path(path);
	unwind_table_free(file ? unwind_table_new(file, NULL) : NULL);
	elf_file_free(file);
}

static void memory_may_run_out(void **state)
{
	(void)state;
	ALLOC_FAIL_EACH(try_table(large_path));
	ALLOC_FAIL_EACH(try_table(stripped_v8_path));
}

int main(int argc, char **argv)
{
	enum { PATHS = 8 };
	if (argc <= PATHS)
		return 2;
	large_path = argv[1];
	small_path = argv[2];
	stripped_path = argv[3];
	stripped_v8_path = argv[4];
	small_v8_path = argv[5];
	least_path = argv[6];
	less_path = argv[7];
	sizeless_path = argv[8];
	const struct CMUnitTest tests[] = { cmocka_unit_test(builtins_have_frames),
					    cmocka_unit_test(other_gaps_have_no_rule),
					    cmocka_unit_test(the_gap_has_a_least_size),
					    cmocka_unit_test(stripped_builtins_have_frames),
					    cmocka_unit_test(memory_may_run_out) };
	return cmocka_run_group_tests_name("builtin_rows", tests, NULL, NULL);
}
