/* Which file is the perf map of a process. The process is this one. */
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include "collect/sample/state/perf_map_file.h"

enum { NOBODY = 65534 };

static void path_of(uint32_t pid, char path[64])
{
	snprintf(path, 64, "/tmp/perf-%u.map", pid);
}

static void write_map(uint32_t pid)
{
	char path[64];
	path_of(pid, path);
	FILE *file = fopen(path, "w");
	assert_non_null(file);
	fputs("1000 10 f\n", file);
	fclose(file);
}

static int remove_map(void **state)
{
	char path[64];
	(void)state;
	path_of((uint32_t)getpid(), path);
	unlink(path);
	return 0;
}

/* Returns whether the map of a process can be opened now. */
static bool opens(uint32_t pid, int64_t not_before_s)
{
	struct perf_map_process process = perf_map_process(pid, not_before_s, false);
	int fd = perf_map_open(&process, true);
	if (fd >= 0)
		close(fd);
	return fd >= 0;
}

static bool opens_own(void)
{
	return opens((uint32_t)getpid(), 0);
}

static void test_a_map_that_comes_later(void **state)
{
	(void)state;
	struct perf_map_process process = perf_map_process((uint32_t)getpid(), 0, false);
	assert_int_equal(perf_map_open(&process, false), -1);
	write_map((uint32_t)getpid());
	process.next_ns = UINT64_MAX;
	assert_int_equal(perf_map_open(&process, false), -1); /* it is too early for another attempt */
	process.next_ns = 0;
	int fd = perf_map_open(&process, false);
	char text[16] = "";
	assert_true(fd >= 0);
	assert_int_equal(read(fd, text, sizeof(text)), 10);
	close(fd);
}

static void test_pauses_become_longer(void **state)
{
	(void)state;
	struct perf_map_process process = perf_map_process((uint32_t)getpid(), 0, false);
	uint64_t before = process.pause_ns;
	for (int i = 0; i < 20; i++) {
		process.next_ns = 0;
		assert_int_equal(perf_map_open(&process, false), -1);
		assert_true(process.pause_ns >= before && process.pause_ns <= 1000000000);
		before = process.pause_ns;
	}
	assert_true(before > 500000000);
}

static void test_an_older_process_had_this_number(void **state)
{
	(void)state;
	char path[64];
	write_map((uint32_t)getpid());
	assert_true(opens_own());
	path_of((uint32_t)getpid(), path);
	const struct timespec old[] = { { .tv_sec = 1000 }, { .tv_sec = 1000 } };
	assert_int_equal(utimensat(AT_FDCWD, path, old, 0), 0);
	assert_false(opens_own());
}

static void test_other_kinds_of_files(void **state)
{
	(void)state;
	char path[64];
	path_of((uint32_t)getpid(), path);
	assert_int_equal(mkfifo(path, 0600), 0);
	assert_false(opens_own());
	unlink(path);
	assert_int_equal(symlink("/etc/passwd", path), 0);
	assert_false(opens_own());
	unlink(path);
	assert_int_equal(mkdir(path, 0700), 0);
	assert_false(opens_own());
	rmdir(path);
}

static void test_another_users_file(void **state)
{
	(void)state;
	char path[64];
	if (geteuid() != 0)
		skip();
	write_map((uint32_t)getpid());
	path_of((uint32_t)getpid(), path);
	assert_int_equal(chown(path, NOBODY, NOBODY), 0);
	assert_false(opens_own());
}

static void test_a_process_that_has_ended(void **state)
{
	(void)state;
	char path[64];
	int status;
	pid_t pid = fork();
	if (pid == 0) {
		write_map((uint32_t)getpid());
		_exit(0);
	}
	assert_true(pid > 0 && waitpid(pid, &status, 0) == pid);
	path_of((uint32_t)pid, path);
	assert_true(opens((uint32_t)pid, time(NULL) - 60));
	assert_false(opens((uint32_t)pid, time(NULL) + 60));
	unlink(path);
	assert_false(opens((uint32_t)pid, time(NULL) - 60));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_teardown(test_a_map_that_comes_later, remove_map),
		cmocka_unit_test(test_pauses_become_longer),
		cmocka_unit_test_teardown(test_an_older_process_had_this_number, remove_map),
		cmocka_unit_test_teardown(test_other_kinds_of_files, remove_map),
		cmocka_unit_test_teardown(test_another_users_file, remove_map),
		cmocka_unit_test(test_a_process_that_has_ended),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
