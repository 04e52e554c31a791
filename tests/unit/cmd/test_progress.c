/* The progress line that long operations print: standard error is a terminal here. */
#include <pty.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "cmd/progress.h"

enum { LONG_MS = 60 * 60 * 1000 };

struct terminal {
	int master;
	int stderr_before;
};

static void terminal_open(struct terminal *terminal)
{
	int slave;
	assert_int_equal(openpty(&terminal->master, &slave, NULL, NULL, NULL), 0);
	terminal->stderr_before = dup(STDERR_FILENO);
	assert_true(terminal->stderr_before >= 0);
	assert_int_equal(dup2(slave, STDERR_FILENO), STDERR_FILENO);
	close(slave);
}

static void terminal_close(struct terminal *terminal)
{
	assert_int_equal(dup2(terminal->stderr_before, STDERR_FILENO), STDERR_FILENO);
	close(terminal->stderr_before);
	close(terminal->master);
}

/* Waits until the terminal has shown `wanted`. */
static void expect(const struct terminal *terminal, const char *wanted)
{
	char shown[512] = "";
	size_t size = 0;
	while (!strstr(shown, wanted)) {
		ssize_t got = read(terminal->master, shown + size, sizeof(shown) - 1 - size);
		assert_true(got > 0);
		size += (size_t)got;
		shown[size] = 0;
	}
}

static void long_work_gets_a_line(void **state)
{
	(void)state;
	struct terminal terminal;
	terminal_open(&terminal);
	progress_begin("reading\x1b big.data", 1);
	expect(&terminal, "\rreading? big.data ... 0 s");
	progress_set(1, 4);
	expect(&terminal, "\rreading? big.data ... 25 %, 1 s");
	progress_end();
	expect(&terminal, "\r\x1b[K");
	/* The time and the percentage start again with the next operation. */
	progress_begin("naming", 1);
	expect(&terminal, "\rnaming ... 0 s");
	progress_end();
	terminal_close(&terminal);
}

/* A download shows in the line of the work that waits for it. */
static void a_download_takes_the_line(void **state)
{
	(void)state;
	struct terminal terminal;
	terminal_open(&terminal);
	progress_begin("naming", 1);
	progress_set(1, 4);
	progress_download(NULL, "/usr/lib/libz.so.1", 0, 0);
	expect(&terminal, "\rdownloading the debug symbols of libz.so.1 ... ");
	progress_download(NULL, "/usr/lib/libz.so.1", 1500000, 0);
	expect(&terminal, "\rdownloading the debug symbols of libz.so.1 (1.5 MB) ... ");
	progress_download(NULL, "/usr/lib/libz.so.1", 1500000, 2500000);
	expect(&terminal, "\rdownloading the debug symbols of libz.so.1 (1.5 of 2.5 MB) ... ");
	progress_download(NULL, NULL, 0, 0);
	expect(&terminal, "\rnaming ... 25 %, ");
	progress_end();
	terminal_close(&terminal);
}

static void short_work_gets_none(void **state)
{
	(void)state;
	struct terminal terminal;
	terminal_open(&terminal);
	progress_begin("reading", LONG_MS);
	progress_set(1, 2);
	progress_end();
	progress_end();
	fputs("the end", stderr);
	char shown[64] = "";
	assert_true(read(terminal.master, shown, sizeof(shown) - 1) > 0);
	terminal_close(&terminal);
	assert_int_equal(strncmp("the end", shown, strlen(shown)), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(long_work_gets_a_line),
		cmocka_unit_test(a_download_takes_the_line),
		cmocka_unit_test(short_work_gets_none),
	};
	return cmocka_run_group_tests_name("progress", tests, NULL, NULL);
}
