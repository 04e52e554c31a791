/* The lines of perf maps, and which of them names an address. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/error.h"
#include "frames/jit/perf_map.h"
#include "support/alloc_fail.h"

static int file_of(const char *text, size_t size)
{
	char path[] = "/tmp/cpprof-test-XXXXXX";
	int fd = mkstemp(path);
	assert_true(fd >= 0);
	unlink(path);
	assert_int_equal(write(fd, text, size), (ssize_t)size);
	return fd; /* its position is behind the text */
}

static int read_text(const char *text, size_t size, const uint64_t *addresses, size_t count,
		     struct perf_map_name *found, struct buffer *names)
{
	int fd = file_of(text, size);
	buffer_init(names);
	int status = perf_map_read(fd, addresses, count, found, names);
	close(fd);
	return status;
}

/* `name` NULL: the address has none. */
static void assert_named(const char *text, uint64_t address, const char *name)
{
	struct perf_map_name found;
	struct buffer names;
	assert_int_equal(read_text(text, strlen(text), &address, 1, &found, &names), 0);
	assert_int_equal(found.length, name ? strlen(name) : 0);
	if (name)
		assert_memory_equal(names.bytes + found.at, name, found.length);
	buffer_release(&names);
}

static void test_ranges(void **state)
{
	(void)state;
	static const char text[] = "1000 20 first one\n1020 10 second\n";
	assert_named(text, 0xfff, NULL);
	assert_named(text, 0x1000, "first one");
	assert_named(text, 0x101f, "first one");
	assert_named(text, 0x1020, "second");
	assert_named(text, 0x102f, "second");
	assert_named(text, 0x1030, NULL);
}

static void test_the_last_line_counts(void **state)
{
	(void)state;
	static const char text[] = "1000 100 old\n1040 10 new\n";
	assert_named(text, 0x103f, "old");
	assert_named(text, 0x1040, "new");
	assert_named(text, 0x1050, "old");
}

static void test_forms_of_numbers(void **state)
{
	(void)state;
	assert_named("0x1000 0x20 f\n", 0x1010, "f");
	assert_named("00007fABcdef0000 A f\n", 0x7fabcdef0009, "f");
	assert_named("ffffffffffffff00 ffff f\n", UINT64_MAX, "f");
	assert_named("ffffffffffffff00 ff f\n", UINT64_MAX, NULL);
	assert_named("10000000000000000 20 f\n", 0, NULL);
}

static void test_lines_of_another_form(void **state)
{
	(void)state;
	static const char *const lines[] = { "",           "\n",       "1000\n",     "1000 20\n",    "1000 20 \n",
					     "1000 0 f\n", "x 20 f\n", "1000 x f\n", " 1000 20 f\n", "1000-20 f\n",
					     "0x 20 f\n",  "1000 20 f" };
	for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++) {
		char text[64];
		assert_named(lines[i], 0x1000, NULL);
		if (lines[i][0] && lines[i][strlen(lines[i]) - 1] == '\n') {
			snprintf(text, sizeof(text), "%s1000 1 g\n", lines[i]);
			assert_named(text, 0x1000, "g");
		}
	}
}

static void test_long_files_and_lines(void **state)
{
	(void)state;
	enum { LINES = 20000, LONG = 100000 };
	char *text = malloc(LINES * 32 + LONG + 32);
	assert_non_null(text);
	size_t size = 0;
	for (int i = 0; i < LINES; i++)
		size += (size_t)snprintf(text + size, 32, "%x 10 f%d\n", 0x10000 + i * 16, i);
	size += (size_t)snprintf(text + size, 32, "10 10 ");
	memset(text + size, 'q', LONG);
	size += LONG;
	text[size++] = '\n';
	const uint64_t addresses[] = { 0x10, 0x10000, 0x10000 + 12345 * 16 + 5, 0x10000 + (LINES - 1) * 16 };
	struct perf_map_name found[4];
	struct buffer names;
	assert_int_equal(read_text(text, size, addresses, 4, found, &names), 0);
	assert_in_range(found[0].length, 1000, LONG - 1);
	assert_memory_equal(names.bytes + found[1].at, "f0", found[1].length);
	assert_memory_equal(names.bytes + found[2].at, "f12345", found[2].length);
	assert_memory_equal(names.bytes + found[3].at, "f19999", found[3].length);
	buffer_release(&names);
	free(text);
}

static void test_failures(void **state)
{
	(void)state;
	const uint64_t address = 1;
	struct perf_map_name found;
	struct buffer names;
	buffer_init(&names);
	assert_int_equal(perf_map_read(-1, &address, 1, &found, &names), ERROR_SYSTEM);
	assert_int_equal(errno, EBADF);
	buffer_release(&names);
	static const char text[] = "1 1 f\n";
	int fd = file_of(text, strlen(text)), failed = 0, status = ERROR_MEMORY;
	ALLOC_FAIL_EACH({
		buffer_init(&names);
		status = perf_map_read(fd, &address, 1, &found, &names);
		failed += status == ERROR_MEMORY;
		buffer_release(&names);
	});
	assert_int_equal(status, 0);
	assert_int_equal(failed, 2); /* the lines, the names */
	close(fd);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_ranges),
		cmocka_unit_test(test_the_last_line_counts),
		cmocka_unit_test(test_forms_of_numbers),
		cmocka_unit_test(test_lines_of_another_form),
		cmocka_unit_test(test_long_files_and_lines),
		cmocka_unit_test(test_failures),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
