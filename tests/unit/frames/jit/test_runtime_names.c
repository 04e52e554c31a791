/* The names that runtimes write into perf maps. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "frames/jit/runtime_names.h"

static void assert_read(const char *text, const char *name, const char *file, uint32_t line)
{
	static struct runtime_name read;
	runtime_name_read(text, strlen(text), &read);
	assert_string_equal(read.name, name);
	assert_string_equal(read.file, file);
	assert_int_equal(read.line, line);
}

static void test_v8(void **state)
{
	(void)state;
	assert_read("JS:*sum /srv/a.js:7:13", "sum", "/srv/a.js", 7);
	assert_read("JS:~sum /srv/a.js:7:13", "sum", "/srv/a.js", 7);
	assert_read("LazyCompile:sum /srv/with space/a.js:7:13", "sum", "/srv/with space/a.js", 7);
	assert_read("Function:^get size node:internal/url:812:11", "get size", "node:internal/url", 812);
	assert_read("JS:^get node:internal/console:7:14", "get", "node:internal/console", 7);
	assert_read("JS:* file:///srv/a.js:1:1", "(anonymous)", "file:///srv/a.js", 1);
	assert_read("Script:~/srv/a.js", "/srv/a.js", "", 0);
	assert_read("JS:*sum /srv/a.js:7", "sum", "/srv/a.js", 7);
	assert_read("JS:*sum /srv/a.js:99999999999", "sum /srv/a.js:99999999999", "", 0);
	assert_read("JS:*sum :7:13", "sum", "", 0);
	assert_read("JS:*", "(anonymous)", "", 0);
	assert_read("JS::1:2", ":1:2", "", 0);
	assert_read("JS:", "JS:", "", 0);
}

static void test_others(void **state)
{
	(void)state;
	assert_read("py::sum:/srv/a.py", "sum", "/srv/a.py", 0);
	assert_read("py::sum", "sum", "", 0);
	assert_read("$lists:map/2", "$lists:map/2", "", 0);
	assert_read("int Main.sum(int)", "int Main.sum(int)", "", 0);
	assert_read("", "", "", 0);
}

static void test_long_names_are_cut(void **state)
{
	(void)state;
	static char text[2 * RUNTIME_NAME_BYTES];
	static struct runtime_name read;
	memset(text, 'q', sizeof(text));
	runtime_name_read(text, sizeof(text), &read);
	assert_int_equal(strlen(read.name), RUNTIME_NAME_BYTES - 1);
	memcpy(text, "JS:*f ", 6);
	memcpy(text + sizeof(text) - 4, ":1:2", 4);
	runtime_name_read(text, sizeof(text), &read);
	assert_string_equal(read.name, "f");
	assert_int_equal(strlen(read.file), RUNTIME_NAME_BYTES - 1);
	assert_int_equal(read.line, 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_v8),
		cmocka_unit_test(test_others),
		cmocka_unit_test(test_long_names_are_cut),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
