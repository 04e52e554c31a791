/* base/file_place.c: the links that lead to an output file, and the mode and owner of new files. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/file_place.h"

enum { OTHER = 54321, NOBODY = 65534 };

static char top[64];

static const char *in_top(const char *name)
{
	static char paths[4][PATH_MAX];
	static unsigned next;
	char *path = paths[next++ % 4];
	snprintf(path, PATH_MAX, "%s/%s", top, name);
	return path;
}

static void make_link(const char *text, const char *name, uid_t owner)
{
	assert_int_equal(symlink(text, in_top(name)), 0);
	if (owner != geteuid())
		assert_int_equal(lchown(in_top(name), owner, owner), 0);
}

static int set_up(void **state)
{
	(void)state;
	snprintf(top, sizeof(top), "/tmp/file-place-XXXXXX");
	unsetenv("SUDO_UID");
	unsetenv("SUDO_GID");
	umask(0);
	return mkdtemp(top) && chmod(top, 0755) == 0 && mkdir(in_top("a"), 0755) == 0 && mkdir(in_top("a/b"), 0755) == 0
		       ? 0
		       : -1;
}

static int tear_down(void **state)
{
	(void)state;
	char command[128];
	snprintf(command, sizeof(command), "rm -rf '%s'", top);
	return system(command); /* NOLINT(cert-env33-c) */
}

/* The place is the folder top/`folder`, with this name. */
static void assert_place(const char *path, const char *folder, const char *name)
{
	struct file_place place;
	struct error error = { 0 };
	struct stat found, expected;
	if (file_place_find(&place, path, &error) < 0)
		fail_msg("%s: %s", path, error.message);
	assert_string_equal(place.name, name);
	assert_int_equal(fstat(place.folder, &found), 0);
	assert_int_equal(stat(in_top(folder), &expected), 0);
	assert_int_equal(found.st_ino, expected.st_ino);
	file_place_release(&place);
	file_place_release(&place);
}

static void assert_refused(const char *path, int code, const char *words)
{
	struct file_place place;
	struct error error = { 0 };
	assert_int_equal(file_place_find(&place, path, &error), code);
	assert_int_equal(place.folder, -1);
	if (!strstr(error.message, words))
		fail_msg("%s: %s", path, error.message);
}

static void need_root(void)
{
	if (geteuid() != 0)
		skip();
}

/* Runs as the user nobody, in another process. Returns whether no assertion failed there. */
static bool holds_for_nobody(void (*check)(void))
{
	pid_t pid = fork();
	if (pid == 0) {
		if (setgid(NOBODY) < 0 || setuid(NOBODY) < 0)
			_exit(2);
		check();
		_exit(0);
	}
	int status;
	assert_int_equal(waitpid(pid, &status, 0), pid);
	return status == 0;
}

static bool is_refused(const char *path)
{
	struct file_place place;
	struct error error;
	int result = file_place_find(&place, path, &error);
	if (result == 0)
		file_place_release(&place);
	return result == ERROR_PERMISSION && strstr(error.message, "symbolic link of another user");
}

/* --- tests --- */

static void test_plain_paths(void **state)
{
	(void)state;
	char long_path[PATH_MAX + 64], long_name[NAME_MAX + 64];
	assert_place(in_top("a/b/file"), "a/b", "file");
	assert_place(in_top("a//b/../file"), "a", "file");
	assert_place(in_top("./a/./file"), "a", "file");
	assert_place(in_top("a/b/"), "a/b", "");
	assert_place(in_top("a/b"), "a", "b");
	assert_place(in_top("a/b/.."), "a", "");
	assert_refused(in_top("a/none/file"), ERROR_NOT_FOUND, "No such file or directory");
	memset(long_path, 'x', sizeof(long_path) - 1);
	long_path[sizeof(long_path) - 1] = 0;
	assert_refused(long_path, ERROR_SYSTEM, "cannot write 'xxx");
	memset(long_name, 'x', sizeof(long_name) - 1);
	long_name[sizeof(long_name) - 1] = 0;
	assert_refused(in_top(long_name), ERROR_SYSTEM, "File name too long");
	assert_int_equal(chdir(in_top("a")), 0);
	assert_place("file", "a", "file");
	assert_place("../file", ".", "file");
	assert_int_equal(chdir("/"), 0);
	assert_true(file_place_is_descriptor("/dev/fd/3") && file_place_is_descriptor("/dev/stdout"));
	assert_false(file_place_is_descriptor("/dev/null") || file_place_is_descriptor("/dev/stdout2"));
}

static void test_own_links(void **state)
{
	(void)state;
	make_link("a/b", "folder", geteuid());
	make_link("folder/file", "relative", geteuid());
	make_link(in_top("a/file"), "absolute", geteuid());
	make_link("none/file", "dangling", geteuid());
	make_link("loop", "loop", geteuid());
	assert_place(in_top("folder/x"), "a/b", "x");
	assert_place(in_top("folder/../x"), "a", "x");
	assert_place(in_top("relative"), "a/b", "file");
	assert_place(in_top("absolute"), "a", "file");
	assert_refused(in_top("dangling"), ERROR_NOT_FOUND, "', a symbolic link: No such file or directory");
	assert_refused(in_top("loop"), ERROR_SYSTEM, strerror(ELOOP));
	struct file_place place;
	struct error error;
	assert_int_equal(file_place_find(&place, in_top("relative"), &error), 0);
	assert_string_equal(place.path, in_top("a/b/file"));
	file_place_release(&place);
}

/* Root follows no link of another user, wherever it is, unless root runs for that user. */
static void test_links_of_others(void **state)
{
	(void)state;
	need_root();
	make_link("a/file", "file", OTHER);
	make_link("a", "folder", OTHER);
	make_link("file", "to-file", 0);
	assert_true(is_refused(in_top("file")));
	assert_true(is_refused(in_top("to-file")));
	assert_true(is_refused(in_top("folder/x")));
	assert_true(is_refused(in_top("folder/b/x")));
	setenv("SUDO_UID", "54321", 1);
	assert_place(in_top("to-file"), "a", "file");
	assert_place(in_top("folder/x"), "a", "x");
	setenv("SUDO_UID", "54322", 1);
	assert_true(is_refused(in_top("file")));
}

static void check_as_nobody(void)
{
	/* Others can make a folder's link only in `public`. */
	if (is_refused(in_top("folder/x")) || !is_refused(in_top("public/folder/x")) || !is_refused(in_top("file")) ||
	    is_refused(in_top("of-root")) || is_refused(in_top("own")))
		_exit(1);
	setenv("SUDO_UID", "54321", 1); /* only root believes it */
	_exit(is_refused(in_top("file")) ? 0 : 1);
}

static void test_links_for_other_users(void **state)
{
	(void)state;
	need_root();
	assert_int_equal(mkdir(in_top("public"), 0755), 0);
	assert_int_equal(chmod(in_top("public"), 01777), 0);
	make_link(in_top("a"), "folder", OTHER);
	make_link(in_top("a"), "public/folder", OTHER);
	make_link("a/file", "file", OTHER);
	make_link("a/file", "of-root", 0);
	make_link("a/file", "own", NOBODY);
	assert_true(holds_for_nobody(check_as_nobody));
}

static void test_new_files(void **state)
{
	(void)state;
	struct file_place place;
	struct error error;
	struct stat status;
	char *name;
	assert_int_equal(file_place_find(&place, in_top("a/file"), &error), 0);
	int fd = file_place_create(&place, "new", O_WRONLY);
	assert_true(fd >= 0 && fstat(fd, &status) == 0);
	assert_int_equal(status.st_mode & 07777, 0600);
	assert_int_equal(status.st_uid, geteuid());
	close(fd);
	assert_int_equal(file_place_create(&place, "new", O_WRONLY), -1);
	assert_int_equal(errno, EEXIST);
	make_link("elsewhere", "a/link", geteuid());
	assert_int_equal(file_place_create(&place, "link", O_WRONLY), -1);
	assert_int_equal(errno, EEXIST);
	for (int i = 0; i < 100; i++) {
		fd = file_place_create_temporary(&place, O_WRONLY, &name);
		assert_true(fd >= 0);
		close(fd);
		free(name);
	}
	assert_int_equal(file_place_create_temporary(&place, O_WRONLY, &name), -1);
	assert_true(errno == EEXIST && name == NULL);
	file_place_release(&place);
}

/* Creates a file in the folder "a" as a process would that ended at once. Returns its descriptor. */
static int leave(const char *entry)
{
	char path[128];
	snprintf(path, sizeof(path), "a/%s", entry);
	int fd = open(in_top(path), O_RDWR | O_CREAT, 0600);
	assert_true(fd >= 0);
	return fd;
}

static bool exists(const char *entry)
{
	char path[128];
	snprintf(path, sizeof(path), "a/%s", entry);
	return access(in_top(path), F_OK) == 0;
}

/* Temporary files of ended processes are removed; others, locked files and files of running processes stay. */
static void test_files_that_were_left(void **state)
{
	(void)state;
	struct file_place place;
	struct error error;
	char *name, gone[64], used[64], running[64];
	pid_t child = fork();
	if (child == 0)
		_exit(0);
	assert_int_equal(waitpid(child, NULL, 0), child);
	snprintf(gone, sizeof(gone), ".file.%d-3.tmp", (int)child);
	snprintf(used, sizeof(used), ".file.%d.tmp", (int)child);
	snprintf(running, sizeof(running), ".file.%d.tmp", (int)getppid());
	const char *const others[] = {
		running, ".file.x.tmp", ".file.1.tm", ".other.1.tmp", ".file.tmp", "file.1.tmp"
	};
	close(leave(gone));
	int in_use = leave(used);
	assert_int_equal(flock(in_use, LOCK_EX), 0);
	for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++)
		close(leave(others[i]));
	assert_int_equal(file_place_find(&place, in_top("a/file"), &error), 0);
	int fd = file_place_create_temporary(&place, O_WRONLY, &name);
	assert_true(fd >= 0 && exists(name));
	assert_true(!exists(gone) && exists(used));
	for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++)
		assert_true(exists(others[i]));
	close(in_use);
	close(fd);
	free(name);
	file_place_release(&place);
}

static void test_owner_under_sudo(void **state)
{
	(void)state;
	need_root();
	static const struct {
		const char *user, *group;
		uid_t uid;
		gid_t gid;
	} cases[] = {
		{ "54321", "54322", 54321, 54322 },
		{ "54321", NULL, 54321, 0 },
		{ NULL, "54322", 0, 0 },
		{ "", "", 0, 0 },
		{ "-1", "-1", 0, 0 },
		{ "1x", "54322", 0, 0 },
		{ "4294967295", "1", 0, 0 },
		{ "99999999999999999999", "1", 0, 0 },
	};
	struct file_place place;
	struct error error;
	assert_int_equal(file_place_find(&place, in_top("a/file"), &error), 0);
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct stat status;
		unsetenv("SUDO_UID");
		unsetenv("SUDO_GID");
		if (cases[i].user)
			setenv("SUDO_UID", cases[i].user, 1);
		if (cases[i].group)
			setenv("SUDO_GID", cases[i].group, 1);
		int fd = file_place_create(&place, "new", O_WRONLY);
		assert_true(fd >= 0 && fstat(fd, &status) == 0);
		assert_int_equal(status.st_uid, cases[i].uid);
		assert_int_equal(status.st_gid, cases[i].gid);
		assert_int_equal(status.st_mode & 07777, 0600);
		close(fd);
		unlink(in_top("a/new"));
	}
	file_place_release(&place);
}

static mode_t mode_of(const char *name)
{
	struct stat status;
	assert_int_equal(stat(in_top(name), &status), 0);
	return status.st_mode & 0777;
}

/* Writes a file by the rule of outputs. Returns 0 or the error. */
static int put(const char *name, mode_t mode, struct error *error)
{
	struct file_place place;
	char *temporary;
	int fd = file_place_open(&place, in_top(name), mode, &temporary, error);
	if (fd >= 0) {
		assert_int_equal(write(fd, "new", 3), 3);
		close(fd);
		assert_int_equal(file_place_publish(&place, &temporary), 0);
		assert_null(temporary);
	}
	file_place_discard(&place, &temporary);
	file_place_release(&place);
	return fd < 0 ? fd : 0;
}

static void test_outputs(void **state)
{
	(void)state;
	struct error error = { 0 };
	umask(022);
	assert_int_equal(put("page", 0600, &error), 0);
	assert_int_equal(mode_of("page"), 0600);
	assert_int_equal(put("copy", 0666, &error), 0);
	assert_int_equal(mode_of("copy"), 0644);
	/* An older file of ours gives its mode, but not to what concerns its owner alone. */
	assert_int_equal(chmod(in_top("copy"), 0640), 0);
	assert_int_equal(put("copy", 0666, &error), 0);
	assert_int_equal(mode_of("copy"), 0640);
	assert_int_equal(put("copy", 0600, &error), 0);
	assert_int_equal(mode_of("copy"), 0600);
	umask(0);
	assert_int_equal(put("a", 0600, &error), ERROR_USAGE);
	assert_non_null(strstr(error.message, "is a directory"));
	/* A device is written as it is. */
	struct file_place place;
	char *temporary;
	int fd = file_place_open(&place, "/dev/null", 0600, &temporary, &error);
	assert_true(fd >= 0);
	assert_null(temporary);
	close(fd);
	file_place_release(&place);
}

static void test_outputs_that_others_prepared(void **state)
{
	(void)state;
	struct error error = { 0 };
	if (geteuid() != 0)
		skip(); /* only root can give files away */
	assert_int_equal(mkfifo(in_top("fifo"), 0666), 0);
	assert_int_equal(chown(in_top("fifo"), OTHER, OTHER), 0);
	assert_int_equal(put("fifo", 0600, &error), ERROR_PERMISSION);
	assert_int_equal(file_place_append(in_top("fifo"), 0600, &error), ERROR_PERMISSION);
	make_link("a/target", "link", OTHER);
	assert_int_equal(put("link", 0600, &error), ERROR_PERMISSION);
	assert_int_equal(file_place_append(in_top("link"), 0600, &error), ERROR_PERMISSION);
	int fd = open(in_top("old"), O_WRONLY | O_CREAT | O_CLOEXEC, 0666);
	assert_true(fd >= 0 && fchown(fd, OTHER, OTHER) == 0 && fchmod(fd, 0666) == 0);
	close(fd);
	/* In a folder of ours, another user's file may be appended to; in one that everybody may write, it may be a trap. */
	fd = file_place_append(in_top("old"), 0600, &error);
	assert_true(fd >= 0);
	close(fd);
	assert_int_equal(chmod(top, 01777), 0);
	assert_int_equal(file_place_append(in_top("old"), 0600, &error), ERROR_PERMISSION);
	/* It gives no mode to the file that replaces it. */
	umask(022);
	assert_int_equal(put("old", 0666, &error), 0);
	assert_int_equal(mode_of("old"), 0644);
	umask(0);
}

static void test_appending(void **state)
{
	(void)state;
	struct error error = { 0 };
	char text[16] = "";
	for (int i = 0; i < 2; i++) {
		int fd = file_place_append(in_top("log"), 0600, &error);
		assert_true(fd >= 0);
		assert_int_equal(write(fd, "line\n", 5), 5);
		close(fd);
	}
	assert_int_equal(mode_of("log"), 0600);
	int fd = open(in_top("log"), O_RDONLY | O_CLOEXEC);
	assert_int_equal(read(fd, text, sizeof(text)), 10);
	assert_string_equal(text, "line\nline\n");
	close(fd);
	assert_int_equal(file_place_append(in_top("a"), 0600, &error), ERROR_USAGE);
}

int main(void)
{
#define TEST(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)
	const struct CMUnitTest tests[] = {
		TEST(test_plain_paths),
		TEST(test_own_links),
		TEST(test_links_of_others),
		TEST(test_links_for_other_users),
		TEST(test_new_files),
		TEST(test_files_that_were_left),
		TEST(test_owner_under_sudo),
		TEST(test_outputs),
		TEST(test_outputs_that_others_prepared),
		TEST(test_appending),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
