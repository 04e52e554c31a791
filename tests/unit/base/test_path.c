/* Files whose path another user may have chosen. */
#include "base/path.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

/* A user whom no test machine has, and who owns no file here. */
static const struct path_users stranger = { .ids = { 987654321 }, .count = 1 };
static const struct path_users others = { .has_others = true };
static const struct path_users nobody_else = { 0 };

static char folder[] = "/tmp/cpprof-test-path-XXXXXX";

static const char *in_folder(const char *name)
{
	static char path[PATH_MAX];
	snprintf(path, sizeof(path), "%s/%s", folder, name);
	return path;
}

static void write_file(const char *name, mode_t mode)
{
	int fd = open(in_folder(name), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	assert_true(fd >= 0);
	assert_int_equal(write(fd, "text", 4), 4);
	assert_int_equal(fchmod(fd, mode), 0);
	close(fd);
}

/* Returns 0 if the file was opened, or the errno. */
static int opened(const char *path, const struct path_users *users)
{
	int fd = path_open_for_users(path, users);
	int number = fd < 0 ? errno : 0;
	if (fd >= 0)
		close(fd);
	return number;
}

static void test_modes_of_files(void **state)
{
	(void)state;
	write_file("open", 0644);
	write_file("secret", 0600);
	write_file("group", 0640);
	assert_int_equal(opened(in_folder("open"), &stranger), 0);
	assert_int_equal(opened(in_folder("secret"), &stranger), EACCES);
	assert_int_equal(opened(in_folder("group"), &stranger), EACCES);
	assert_int_equal(opened(in_folder("secret"), &nobody_else), 0);
	/* Its owner may read it. */
	assert_int_equal(opened(in_folder("secret"), &(struct path_users){ .ids = { geteuid() }, .count = 1 }), 0);
	/* Each of several users must. */
	const struct path_users both = { .ids = { geteuid(), stranger.ids[0] }, .count = 2 };
	assert_int_equal(opened(in_folder("secret"), &both), EACCES);
	assert_int_equal(opened(in_folder("open"), &both), 0);
}

static void test_owner_decides_by_its_own_bits(void **state)
{
	(void)state;
	if (geteuid() != 0)
		skip(); /* only root can give files away */
	write_file("given", 0600);
	assert_int_equal(chown(in_folder("given"), stranger.ids[0], (gid_t)-1), 0);
	assert_int_equal(opened(in_folder("given"), &stranger), 0);
	write_file("closed", 0004);
	assert_int_equal(chown(in_folder("closed"), stranger.ids[0], (gid_t)-1), 0);
	assert_int_equal(opened(in_folder("closed"), &stranger), EACCES);
}

static void test_unknown_users(void **state)
{
	(void)state;
	write_file("secret", 0600);
	write_file("open", 0644);
	assert_int_equal(opened(in_folder("open"), &others), 0);
	assert_int_equal(opened(in_folder("secret"), &others), geteuid() == 0 ? EACCES : 0);
}

static void test_folders_on_the_way(void **state)
{
	(void)state;
	assert_int_equal(mkdir(in_folder("closed.d"), 0700), 0);
	write_file("closed.d/open", 0644);
	assert_int_equal(opened(in_folder("closed.d/open"), &stranger), EACCES);
	assert_int_equal(symlink("closed.d/open", in_folder("link")), 0);
	assert_int_equal(opened(in_folder("link"), &stranger), EACCES);
	assert_int_equal(chmod(in_folder("closed.d"), 0711), 0);
	assert_int_equal(opened(in_folder("closed.d/open"), &stranger), 0);
	assert_int_equal(opened(in_folder("link"), &stranger), 0);
}

static void test_system_folders(void **state)
{
	(void)state;
	assert_int_equal(opened("/etc/passwd", &nobody_else), EACCES);
	assert_int_equal(opened("/proc/self/status", &nobody_else), EACCES);
	assert_int_equal(opened("/sys/kernel/uevent_seqnum", &nobody_else), EACCES);
	assert_int_equal(symlink("/etc/passwd", in_folder("to-etc")), 0);
	assert_int_equal(opened(in_folder("to-etc"), &nobody_else), EACCES);
	char way[PATH_MAX];
	snprintf(way, sizeof(way), "%s/../../etc/passwd", folder);
	assert_int_equal(opened(way, &nobody_else), EACCES);
}

static void test_other_kinds_of_files(void **state)
{
	(void)state;
	assert_int_equal(mkfifo(in_folder("fifo"), 0644), 0);
	assert_int_equal(opened(in_folder("fifo"), &nobody_else), EINVAL); /* and does not wait */
	assert_int_equal(opened(folder, &nobody_else), EISDIR);
	assert_int_equal(opened("/dev/null", &nobody_else), EACCES);
	assert_int_equal(opened(in_folder("none"), &nobody_else), ENOENT);
}

/* A lease delays whoever opens the file, by up to 45 seconds: it is not opened. */
static void test_leased_file(void **state)
{
	(void)state;
	write_file("leased", 0644);
	int fd = open(in_folder("leased"), O_RDONLY | O_CLOEXEC);
	assert_true(fd >= 0);
	if (fcntl(fd, F_SETLEASE, F_WRLCK) < 0) {
		close(fd);
		skip(); /* this file system has no leases */
	}
	fcntl(fd, F_SETSIG, SIGURG); /* which is ignored */
	assert_int_equal(opened(in_folder("leased"), &nobody_else), EWOULDBLOCK);
	close(fd);
}

static int make_folder(void **state)
{
	(void)state;
	return mkdtemp(folder) && chmod(folder, 0755) == 0 ? 0 : -1;
}

static int remove_folder(void **state)
{
	(void)state;
	char command[PATH_MAX];
	snprintf(command, sizeof(command), "rm -r '%s'", folder);
	return system(command);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_modes_of_files), cmocka_unit_test(test_owner_decides_by_its_own_bits),
		cmocka_unit_test(test_unknown_users),  cmocka_unit_test(test_folders_on_the_way),
		cmocka_unit_test(test_system_folders), cmocka_unit_test(test_other_kinds_of_files),
		cmocka_unit_test(test_leased_file),
	};
	return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
