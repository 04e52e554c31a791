/* collect/sample/probes/libraries.c: a program may name any file as its dynamic linker, which cpprof then runs. */
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/path.h"
#include "collect/sample/probes/libraries.h"
#include "support/symbols_lab.h"

/* Makes `program`, whose dynamic linker is a script next to it. */
static void make(const char *program, const char *script)
{
	char name[64];
	snprintf(name, sizeof(name), "ld-linux-%s.so", program);
	lab_run("echo 'int main(void) { return 0; }' > main.c && "
		"gcc -o %s main.c -Wl,--dynamic-linker=$PWD/%s",
		program, name);
	FILE *file = fopen(lab_path(name), "w");
	assert_non_null(file);
	fprintf(file, "#!/bin/sh\n%s\n", script);
	assert_int_equal(fclose(file), 0);
	assert_int_equal(chmod(lab_path(name), 0755), 0);
}

/* Expects the libraries that the files' own headers name: the program, the C library, its dynamic linker, and the
 * program's dynamic linker. */
static void expect_by_needs(const char *program)
{
	struct libraries libraries = { 0 };
	struct error error;
	assert_int_equal(libraries_of_command(&libraries, lab_path(program), &error), 0);
	assert_int_equal(libraries.count, 4);
	assert_string_equal(path_basename(libraries.items[0].path), program);
	assert_string_equal(path_basename(libraries.items[1].path), "libc.so.6");
	libraries_release(&libraries);
}

/* cpprof blocks signals while it waits for them. The dynamic linker that it runs must not inherit this mask, so
 * that ^C ends it. (exec: a shell unblocks signals in the commands for which it waits. /nowhere: the script must
 * fail.) */
static void test_signals_reach_it(void **state)
{
	(void)state;
	make("masked", "exec grep -h SigBlk /proc/self/status /nowhere > $0.asked");
	sigset_t interrupt, before;
	sigemptyset(&interrupt);
	sigaddset(&interrupt, SIGINT);
	assert_int_equal(sigprocmask(SIG_BLOCK, &interrupt, &before), 0);
	expect_by_needs("masked");
	assert_int_equal(sigprocmask(SIG_SETMASK, &before, NULL), 0);
	char *blocked = lab_output("cat ld-linux-masked.so.asked");
	assert_string_equal(blocked, "SigBlk:\t0000000000000000\n");
	free(blocked);
}

static void test_it_hangs(void **state)
{
	(void)state;
	static const char *const scripts[] = { "exec sleep 60", "exec sleep 60 > /dev/null" };
	for (size_t i = 0; i < sizeof(scripts) / sizeof(scripts[0]); i++) {
		make("hanging", scripts[i]);
		struct timespec start, end;
		clock_gettime(CLOCK_MONOTONIC, &start);
		expect_by_needs("hanging");
		clock_gettime(CLOCK_MONOTONIC, &end);
		assert_true(end.tv_sec - start.tv_sec < 30);
	}
}

/* For root, cpprof runs only a file that no other user can have written. */
static void test_others_may_write_it(void **state)
{
	(void)state;
	if (geteuid() != 0)
		skip();
	make("open", "touch $0.asked; exit 1");
	expect_by_needs("open");
	lab_run("test -e ld-linux-open.so.asked && rm ld-linux-open.so.asked");
	static const char *const changes[] = { "chmod g+w", "chmod o+w", "chown 65534" };
	for (size_t i = 0; i < sizeof(changes) / sizeof(changes[0]); i++) {
		lab_run("chmod 755 ld-linux-open.so && %s ld-linux-open.so", changes[i]);
		expect_by_needs("open");
		lab_run("test ! -e ld-linux-open.so.asked");
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_signals_reach_it),
		cmocka_unit_test(test_it_hangs),
		cmocka_unit_test(test_others_may_write_it),
	};
	return cmocka_run_group_tests(tests, lab_setup, lab_teardown);
}
