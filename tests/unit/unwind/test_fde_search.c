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
#include "unwind/parts.h"
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
	struct fde_search search, in_file;
	fde_search_init(&search, file);
	fde_search_init_in_file(&in_file, file);
	assert_non_null(table);
	assert_true(search.count > 0 && search.table);
	assert_true(in_file.count == search.count && !in_file.table);
	uint32_t step = table->function_count / LOOKS_PER_FILE + 1;
	for (uint32_t i = 0; i < table->function_count; i += step) {
		uint64_t start = table->base + table->functions[i].start;
		compare_at(&search, table, start);
		compare_at(&in_file, table, start);
		compare_at(&search, table, start + table->functions[i].size / 2);
		compare_at(&search, table, start + table->functions[i].size - 1);
	}
	uint64_t low, high;
	elf_file_text_range(file, &low, &high);
	compare_at(&search, table, low ? low - 1 : 0);
	compare_at(&search, table, high);
	compare_at(&search, table, UINT64_MAX);
	compare_at(&in_file, table, low ? low - 1 : 0);
	compare_at(&in_file, table, UINT64_MAX);
	unwind_table_free(table);
	elf_file_free(file);
}

static void compare_rows(const struct unwind_table *part, const struct unwind_table *table, uint64_t address)
{
	const struct unwind_row *row = unwind_table_row(part, address), *wanted = unwind_table_row(table, address);
	if (!row || row->kind != wanted->kind || row->cfa != wanted->cfa || row->fp != wanted->fp ||
	    unwind_table_function(part, address, NULL) != unwind_table_function(table, address, NULL))
		fail_msg("0x%" PRIx64 " has another row or function in its range", address);
}

/* The tables of ranges have the rows of the whole table, also for functions that are partly in a range. */
static void ranges_of_the_table(void **state)
{
	enum { RANGE_BYTES = 20000 };
	struct elf_file *file = open_file(*state);
	struct unwind_table *table = unwind_table_new(file, NULL);
	uint64_t low, high, compared = 0;
	assert_non_null(table);
	elf_file_text_range(file, &low, &high);
	for (uint32_t i = 0; low < high; low += RANGE_BYTES) {
		uint64_t end = low + RANGE_BYTES < high ? low + RANGE_BYTES : high;
		struct unwind_table *part = unwind_table_of_range(file, low, end);
		for (; part && i < table->function_count && table->base + table->functions[i].start < end; i++) {
			uint64_t start = table->base + table->functions[i].start, size = table->functions[i].size;
			for (uint64_t at = start; at < start + size; at++, compared++)
				if (at >= low)
					compare_rows(part, table, at);
			if (start + size > end)
				break; /* the next range has it, too */
		}
		if (part)
			assert_true(part->base + part->text_size >= end && part->base <= low);
		unwind_table_free(part);
	}
	assert_true(compared > 0);
	elf_file_release_parts(file);
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

/* Opens a copy of a file with another number of 4 bytes at an address in or behind .eh_frame_hdr. */
static struct elf_file *open_changed(const char *path, uint64_t address, uint32_t number)
{
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
	memcpy(at + (address - header.address), &number, sizeof(number));
	assert_int_equal(write(fd, bytes, (size_t)size), size);
	free(bytes);
	close(original);
	elf_file_free(file);
	struct elf_file *copy = elf_file_open(fd, "copy", &error);
	close(fd);
	assert_non_null(copy);
	return copy;
}

/* Returns the number of rows that a search has if the header states so many. */
static size_t rows_if_stated(const char *path, uint64_t header, size_t count)
{
	enum { AT_COUNT = 8 }; /* four encodings and the address of .eh_frame come before it */
	struct elf_file *file = open_changed(path, header + AT_COUNT, (uint32_t)count);
	struct fde_search search;
	fde_search_init(&search, file);
	assert_int_equal(search.table != NULL, search.count > 0);
	size_t rows = search.count;
	elf_file_free(file);
	return rows;
}

/* A header that states more rows than it has room for has no table. */
static void too_many_rows(void **state)
{
	struct elf_file *file = open_file(*state);
	struct fde_search search;
	fde_search_init(&search, file);
	size_t count = search.count;
	uint64_t header = search.base;
	elf_file_free(file);
	assert_int_equal(rows_if_stated(*state, header, count), count);
	assert_int_equal(rows_if_stated(*state, header, count - 1), count - 1);
	assert_int_equal(rows_if_stated(*state, header, count + 1), 0);
	assert_int_equal(rows_if_stated(*state, header, count + (1 << 30)), 0);
}

/* Returns whether the first function is found if its FDE has another number `offset` bytes behind its start. A search before it finds
 * the function, so that what that one left in memory must not count. */
static bool is_found_if(const char *path, size_t offset, uint32_t number)
{
	struct elf_file *file = open_file(path);
	struct fde_search search, changed;
	uint64_t start, end;
	int32_t row[2];
	fde_search_init(&search, file);
	memcpy(row, search.table, sizeof(row));
	uint64_t function = search.base + (uint64_t)(int64_t)row[0], fde = search.base + (uint64_t)(int64_t)row[1];
	struct elf_file *copy = open_changed(path, fde + offset, number);
	fde_search_init(&changed, copy);
	assert_true(fde_search_range(&search, function, &start, &end));
	bool is_found = fde_search_range(&changed, function, &start, &end);
	elf_file_free(copy);
	elf_file_free(file);
	return is_found;
}

/* A length of 0 to 3, or beyond the limit of 4,096 bytes with the length; a CIE at no distance, or where there is none. */
static void damaged_entries(void **state)
{
	enum { AT_LENGTH = 0, AT_DISTANCE = 4 };
	assert_true(is_found_if(*state, AT_LENGTH, 4092));
	for (uint32_t more = 1; more <= 8; more++)
		assert_false(is_found_if(*state, AT_LENGTH, 4092 + more));
	assert_false(is_found_if(*state, AT_LENGTH, UINT32_MAX));
	for (uint32_t length = 0; length < 8; length++)
		assert_false(is_found_if(*state, AT_LENGTH, length));
	assert_false(is_found_if(*state, AT_DISTANCE, 0));
	assert_false(is_found_if(*state, AT_DISTANCE, 4));
	assert_false(is_found_if(*state, AT_DISTANCE, 1 << 30));
}

/* Any number of rows may lead to one FDE: what is copied of them is limited. */
static void rows_of_one_entry(void **state)
{
	enum { ROWS = 1 << 20, ROW_BYTES = 8, BYTES_MOST = 5 << 20 };
	struct elf_file *file = open_file(*state);
	struct fde_search search;
	struct buffer section;
	uint64_t at, function;
	uint8_t *table = malloc((size_t)ROWS * ROW_BYTES);
	int32_t row[2];
	buffer_init(&section);
	fde_search_init(&search, file);
	assert_non_null(table);
	memcpy(row, search.table, sizeof(row));
	function = search.base + (uint64_t)(int64_t)row[0];
	for (size_t i = 0; i < ROWS; i++)
		memcpy(table + i * ROW_BYTES, row, sizeof(row));
	search.table = table;
	search.count = 100;
	assert_int_equal(fde_search_section(&search, function, function + 1, &section, &at), 0);
	buffer_clear(&section);
	search.count = ROWS;
	assert_int_equal(fde_search_section(&search, function, function + 1, &section, &at), ERROR_NOT_FOUND);
	assert_in_range(section.size, 1, BYTES_MOST);
	buffer_release(&section);
	free(table);
	elf_file_free(file);
}

int main(int argc, char **argv)
{
	struct CMUnitTest tests[2 * MOST_FILES + 5];
	size_t count = 0;
	for (int i = 1; i < argc && i <= MOST_FILES; i++) {
		if (access(argv[i], R_OK) != 0)
			continue;
		tests[count++] = (struct CMUnitTest){ argv[i], same_as_the_table, NULL, NULL, argv[i] };
		tests[count++] = (struct CMUnitTest){ "ranges", ranges_of_the_table, NULL, NULL, argv[i] };
	}
	tests[count++] = (struct CMUnitTest){ "damaged tables", damaged_tables, NULL, NULL, argv[1] };
	tests[count++] = (struct CMUnitTest){ "no table", no_table, NULL, NULL, argv[1] };
	tests[count++] = (struct CMUnitTest){ "too many rows", too_many_rows, NULL, NULL, argv[1] };
	tests[count++] = (struct CMUnitTest){ "damaged entries", damaged_entries, NULL, NULL, argv[1] };
	tests[count++] = (struct CMUnitTest){ "rows of one entry", rows_of_one_entry, NULL, NULL, argv[1] };
	return _cmocka_run_group_tests("fde_search", tests, count, NULL, NULL);
}
