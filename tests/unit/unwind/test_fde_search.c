/*
 * Single FDEs by .eh_frame_hdr: the same ranges and rows as in the whole table, in the libraries of this system; and files
 * without such a header. Usage: test_fde_search FILE...
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "unwind/fde_search.h"
#include "unwind/unwind.h"

enum { MOST_FILES = 16, LOOKS_PER_FILE = 5000 };

static void compare_at(const struct fde_search *search, const struct unwind_table *table, uint64_t address)
{
	uint64_t size = 0, start = 0, end = 0, wanted = unwind_table_function(table, address, &size);
	const struct unwind_row *wanted_row = unwind_table_row(table, address);
	struct unwind_row row = { 0 };
	bool found = fde_search_range(search, address, &start, &end);
	if (found != (wanted != 0) || start != wanted || end - start != size)
		fail_msg("0x%" PRIx64 ": 0x%" PRIx64 " to 0x%" PRIx64 ", not 0x%" PRIx64 ", %" PRIu64 " bytes", address,
			 start, end, wanted, size);
	assert_int_equal(fde_search_row(search, address, &row), found);
	if (found && (row.kind != wanted_row->kind || row.cfa != wanted_row->cfa || row.fp != wanted_row->fp))
		fail_msg("0x%" PRIx64 ": kind %d, cfa %d, not kind %d, cfa %d", address, row.kind, row.cfa,
			 wanted_row->kind, wanted_row->cfa);
}

static struct elf_file *open_file(const char *path)
{
	struct error error = { 0 };
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	struct elf_file *file = elf_file_open(fd, path, &error);
	close(fd);
	if (!file)
		fail_msg("%s", error.message);
	return file;
}

static void same_as_the_table(void **state)
{
	struct elf_file *file = open_file(*state);
	struct unwind_table *table = unwind_table_new(file, NULL);
	struct fde_search search;
	fde_search_init(&search, file);
	assert_non_null(table);
	assert_true(search.count > 0);
	uint32_t step = table->function_count / LOOKS_PER_FILE + 1;
	for (uint32_t i = 0; i < table->function_count; i += step) {
		uint64_t start = table->base + table->functions[i].start;
		compare_at(&search, table, start);
		compare_at(&search, table, start + table->functions[i].size / 2);
		compare_at(&search, table, start + table->functions[i].size - 1);
	}
	uint64_t low, high;
	elf_file_text_range(file, &low, &high);
	compare_at(&search, table, low ? low - 1 : 0);
	compare_at(&search, table, high);
	compare_at(&search, table, UINT64_MAX);
	unwind_table_free(table);
	elf_file_free(file);
}

/* A damaged table leads to no FDE, or to one that does not contain the address. */
static void damaged_tables(void **state)
{
	struct elf_file *file = open_file(*state);
	struct fde_search search;
	uint64_t start, end;
	fde_search_init(&search, file);
	assert_true(fde_search_range(&search, search.base, &start, &end) == false);
	size_t bytes = search.count * 8;
	uint8_t *copy = malloc(bytes);
	assert_non_null(copy);
	uint64_t low, high, number = 1;
	elf_file_text_range(file, &low, &high);
	for (int round = 0; round < 200; round++) {
		for (size_t i = 0; i < bytes; i++) {
			number = number * UINT64_C(6364136223846793005) + 1442695040888963407;
			copy[i] = (uint8_t)(number >> 56);
		}
		search.table = copy;
		uint64_t address = low + number % (high - low);
		if (fde_search_range(&search, address, &start, &end))
			assert_true(address >= start && address < end);
	}
	free(copy);
	elf_file_free(file);
}

static void no_table(void **state)
{
	struct elf_file *file = open_file(*state);
	const struct fde_search search = { .file = file, .count = 5 };
	uint64_t start, end;
	assert_false(fde_search_range(&search, 0, &start, &end));
	assert_false(fde_search_range(&search, UINT64_MAX, &start, &end));
	elf_file_free(file);
}

/* Returns the number of rows that a search has after the header's number of rows was changed by `more` in a copy of the file. */
static size_t rows_of_a_copy(const char *path, uint32_t more)
{
	enum { AT_COUNT = 8 }; /* four encodings and the address of .eh_frame come before it */
	struct error error = { 0 };
	struct elf_file *file = open_file(path);
	const struct elf_bytes header = elf_file_eh_frame_hdr(file);
	int original = open(path, O_RDONLY | O_CLOEXEC), fd = memfd_create("copy", MFD_CLOEXEC);
	off_t size = lseek(original, 0, SEEK_END);
	uint8_t *bytes = malloc((size_t)size), *at;
	assert_non_null(bytes);
	assert_int_equal(pread(original, bytes, (size_t)size, 0), size);
	at = memmem(bytes, (size_t)size, header.bytes, header.size);
	assert_non_null(at);
	uint32_t count;
	memcpy(&count, at + AT_COUNT, sizeof(count));
	count += more;
	memcpy(at + AT_COUNT, &count, sizeof(count));
	assert_int_equal(write(fd, bytes, (size_t)size), size);
	free(bytes);
	close(original);
	elf_file_free(file);
	struct elf_file *copy = elf_file_open(fd, "copy", &error);
	close(fd);
	assert_non_null(copy);
	struct fde_search search;
	fde_search_init(&search, copy);
	assert_int_equal(search.table != NULL, search.count > 0);
	elf_file_free(copy);
	return search.count;
}

/* A header that states more rows than it has room for has no table. */
static void too_many_rows(void **state)
{
	struct elf_file *file = open_file(*state);
	struct fde_search search;
	fde_search_init(&search, file);
	size_t count = search.count;
	elf_file_free(file);
	assert_int_equal(rows_of_a_copy(*state, 0), count);
	assert_int_equal(rows_of_a_copy(*state, (uint32_t)-1), count - 1);
	assert_int_equal(rows_of_a_copy(*state, 1), 0);
	assert_int_equal(rows_of_a_copy(*state, 1 << 30), 0);
}

int main(int argc, char **argv)
{
	struct CMUnitTest tests[MOST_FILES + 3];
	size_t count = 0;
	for (int i = 1; i < argc && count < MOST_FILES; i++)
		if (access(argv[i], R_OK) == 0)
			tests[count++] = (struct CMUnitTest){ argv[i], same_as_the_table, NULL, NULL, argv[i] };
	tests[count++] = (struct CMUnitTest){ "damaged tables", damaged_tables, NULL, NULL, argv[1] };
	tests[count++] = (struct CMUnitTest){ "no table", no_table, NULL, NULL, argv[1] };
	tests[count++] = (struct CMUnitTest){ "too many rows", too_many_rows, NULL, NULL, argv[1] };
	return _cmocka_run_group_tests("fde_search", tests, count, NULL, NULL);
}
