/* The output of a profile: where it is written, how it gets its name, and what happens when a system call fails. */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "profile_file/output.h"
#include "support/alloc_fail.h"

static char folder[] = "/tmp/cpprof-output-XXXXXX";
static char path[64];     /* FOLDER/data */
static char old_path[64]; /* FOLDER/data.old */

static int make_folder(void **state)
{
	(void)state;
	if (!mkdtemp(folder))
		return -1;
	snprintf(path, sizeof(path), "%s/data", folder);
	snprintf(old_path, sizeof(old_path), "%s/data.old", folder);
	return 0;
}

/* Fails if a test left a file behind. */
static int remove_folder(void **state)
{
	(void)state;
	unlink(path);
	unlink(old_path);
	return rmdir(folder);
}

/* --- system calls that fail, or report something else --- */

enum call {
	CALL_WRITE,
	CALL_POLL,
	CALL_OPENAT,
	CALL_RENAME,
	CALL_RENAME_NEW,
	CALL_CLOSE,
	CALL_SEEK,
	CALL_CUT,
	CALL_COUNT
};

static struct {
	int errors[CALL_COUNT][4];    /* errno of the next calls, one by one; 0: the call is made */
	unsigned calls[CALL_COUNT];   /* number of calls so far */
	bool is_planned;              /* calls are counted and fail as planned */
	size_t write_bytes;           /* most bytes that one write takes; 0: no limit */
	bool is_terminal;             /* every descriptor */
	uid_t user;                   /* effective user; 0: root */
	bool has_user;                /* `user` is set */
	mode_t type, folder_mode;     /* type of existing files, mode bits of folders; 0: the true type and mode */
	uid_t file_user, folder_user; /* owners; 0: the true owners */
	void (*between)(void);        /* runs before the first renameat2, like another process */
	short events;                 /* of the last poll */
} plan;

static void plan_clear(void)
{
	memset(&plan, 0, sizeof(plan));
}

static bool fails(enum call call)
{
	if (!plan.is_planned)
		return false;
	unsigned number = plan.calls[call]++;
	int error = number < 4 ? plan.errors[call][number] : 0;
	errno = error ? error : errno;
	return error != 0;
}

/* Makes calls fail from now on: the calls of `call` with these numbers. */
static void plan_errors(enum call call, int first, int second, int third)
{
	plan.is_planned = true;
	plan.errors[call][0] = first;
	plan.errors[call][1] = second;
	plan.errors[call][2] = third;
}

ssize_t __real_write(int fd, const void *bytes, size_t size);
ssize_t __wrap_write(int fd, const void *bytes, size_t size);
int __wrap_poll(struct pollfd *fds, nfds_t count, int timeout);
int __real_openat64(int in, const char *name, int flags, mode_t mode);
int __wrap_openat64(int in, const char *name, int flags, mode_t mode);
int __real_renameat(int in, const char *name, int to, const char *as);
int __wrap_renameat(int in, const char *name, int to, const char *as);
int __real_renameat2(int in, const char *name, int to, const char *as, unsigned flags);
int __wrap_renameat2(int in, const char *name, int to, const char *as, unsigned flags);
int __real_close(int fd);
int __wrap_close(int fd);
off_t __real_lseek64(int fd, off_t offset, int whence);
off_t __wrap_lseek64(int fd, off_t offset, int whence);
int __real_ftruncate64(int fd, off_t size);
int __wrap_ftruncate64(int fd, off_t size);
int __wrap_isatty(int fd);
uid_t __real_geteuid(void);
uid_t __wrap_geteuid(void);
int __real_fstat64(int fd, struct stat *status);
int __wrap_fstat64(int fd, struct stat *status);
int __real_fstatat64(int in, const char *name, struct stat *status, int flags);
int __wrap_fstatat64(int in, const char *name, struct stat *status, int flags);

ssize_t __wrap_write(int fd, const void *bytes, size_t size)
{
	if (fails(CALL_WRITE))
		return -1;
	return __real_write(fd, bytes, plan.write_bytes && size > plan.write_bytes ? plan.write_bytes : size);
}

int __wrap_poll(struct pollfd *fds, nfds_t count, int timeout)
{
	assert_int_equal(count, 1);
	assert_int_equal(timeout, -1);
	plan.events = fds->events;
	return fails(CALL_POLL) ? -1 : 1;
}

int __wrap_openat64(int in, const char *name, int flags, mode_t mode)
{
	/* Only the creation of a temporary file. */
	return (flags & O_CREAT) && fails(CALL_OPENAT) ? -1 : __real_openat64(in, name, flags, mode);
}

int __wrap_renameat(int in, const char *name, int to, const char *as)
{
	return fails(CALL_RENAME) ? -1 : __real_renameat(in, name, to, as);
}

int __wrap_renameat2(int in, const char *name, int to, const char *as, unsigned flags)
{
	void (*between)(void) = plan.between;
	plan.between = NULL;
	if (between)
		between();
	return fails(CALL_RENAME_NEW) ? -1 : __real_renameat2(in, name, to, as, flags);
}

int __wrap_close(int fd)
{
	int number = __real_close(fd);
	return fails(CALL_CLOSE) ? -1 : number;
}

off_t __wrap_lseek64(int fd, off_t offset, int whence)
{
	return fails(CALL_SEEK) ? -1 : __real_lseek64(fd, offset, whence);
}

int __wrap_ftruncate64(int fd, off_t size)
{
	return fails(CALL_CUT) ? -1 : __real_ftruncate64(fd, size);
}

int __wrap_isatty(int fd)
{
	assert_int_equal(fd, STDOUT_FILENO);
	return plan.is_terminal;
}

uid_t __wrap_geteuid(void)
{
	return plan.has_user ? plan.user : __real_geteuid();
}

static void change(struct stat *status)
{
	if (S_ISDIR(status->st_mode)) {
		if (plan.folder_mode)
			status->st_mode = S_IFDIR | plan.folder_mode;
		status->st_uid = plan.folder_user ? plan.folder_user : status->st_uid;
	} else {
		if (plan.type)
			status->st_mode = plan.type | 0600;
		status->st_uid = plan.file_user ? plan.file_user : status->st_uid;
	}
}

int __wrap_fstat64(int fd, struct stat *status)
{
	int result = __real_fstat64(fd, status);
	if (result == 0)
		change(status);
	return result;
}

int __wrap_fstatat64(int in, const char *name, struct stat *status, int flags)
{
	int result = __real_fstatat64(in, name, status, flags);
	if (result == 0)
		change(status);
	return result;
}

/* --- helpers --- */

static void write_text(const char *name, const char *text)
{
	FILE *file = fopen(name, "we");
	assert_non_null(file);
	fputs(text, file);
	fclose(file);
}

/* The file contains this text; NULL: it does not exist. */
static void assert_contains(const char *name, const char *text)
{
	char found[256] = "";
	FILE *file = fopen(name, "re");
	if (!text) {
		assert_null(file);
		return;
	}
	assert_non_null(file);
	found[fread(found, 1, sizeof(found) - 1, file)] = 0;
	fclose(file);
	assert_string_equal(found, text);
}

static struct output *opened(const char *name)
{
	struct error error = { 0 };
	struct output *output = output_open(name, &error);
	if (!output)
		fail_msg("%s", error.message);
	return output;
}

static void assert_refused(const char *name, int code, const char *words)
{
	struct error error = { 0 };
	assert_null(output_open(name, &error));
	assert_int_equal(error.code, code);
	if (!strstr(error.message, words))
		fail_msg("'%s' does not have '%s'", error.message, words);
}

/* --- which files can be written --- */

static void test_refused(void **state)
{
	char name[600];
	(void)state;
	plan_clear();
	assert_refused("", ERROR_USAGE, "the name of the output file is empty");
	snprintf(name, sizeof(name), "%s/", folder);
	assert_refused(name, ERROR_USAGE, "it is a directory");
	assert_refused(folder, ERROR_USAGE, "it is a directory");
	assert_refused("/nonexistent/x", ERROR_NOT_FOUND, "cannot write '/nonexistent/x'");
	/* The name fits, but NAME.old does not. */
	snprintf(name, sizeof(name), "%s/%0252d", folder, 0);
	assert_refused(name, ERROR_SYSTEM, "cannot keep the older file as '/tmp");
	assert_refused("/dev/fd/999", ERROR_NOT_FOUND, "cannot write to '/dev/fd/999'");
	assert_int_equal(mkdir(old_path, 0700), 0);
	assert_refused(path, ERROR_USAGE, "data.old': that is a directory");
	assert_int_equal(rmdir(old_path), 0);
}

static void test_kinds_of_files(void **state)
{
	(void)state;
	plan_clear();
	write_text(path, "older");
	plan.type = S_IFBLK;
	assert_refused(path, ERROR_USAGE, "it is a disk");
	plan.type = S_IFIFO;
	plan.has_user = true;
	plan.user = 7777;
	plan.file_user = 7778;
	assert_refused(path, ERROR_PERMISSION, "it is a FIFO of another user");
	plan.file_user = 7777;
	struct output *output = opened(path);
	assert_true(output_is_stream(output));
	output_free(output);
	plan.type = S_IFCHR;
	plan.file_user = 7778;
	output = opened(path);
	assert_true(output_is_stream(output));
	output_free(output);
	assert_contains(path, "older");
	plan_clear();
	output = opened(path);
	assert_false(output_is_stream(output));
	output_free(output);
	output = opened("/dev/null");
	assert_true(output_is_stream(output));
	output_free(output);
	unlink(path);
}

/* In a folder like /tmp only the owner of a file or of the folder, and root, may replace the file. */
static void test_sticky_folder(void **state)
{
	static const struct {
		uid_t user, file, folder;
		mode_t mode;
		bool is_refused;
	} cases[] = {
		{ 7777, 7778, 7779, 01777, true },  { 7777, 7778, 7779, 0777, false },
		{ 7777, 7777, 7779, 01777, false }, { 7777, 7778, 7777, 01777, false },
		{ 0, 7778, 7779, 01777, false },
	};
	(void)state;
	plan_clear();
	write_text(path, "older");
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		plan.has_user = true;
		plan.user = cases[i].user;
		plan.file_user = cases[i].file;
		plan.folder_user = cases[i].folder;
		plan.folder_mode = cases[i].mode;
		if (cases[i].is_refused)
			assert_refused(path, ERROR_PERMISSION, "data': it belongs to another user");
		else
			output_free(opened(path));
	}
	/* There is nothing to replace. */
	unlink(path);
	plan.user = 7777;
	plan.folder_mode = 01777;
	output_free(opened(path));
	plan_clear();
}

static void test_no_temporary_file(void **state)
{
	static const struct {
		int number, code;
		const char *words;
	} cases[] = {
		{ EACCES, ERROR_PERMISSION, "Permission denied (-o FILE writes elsewhere)" },
		{ EPERM, ERROR_PERMISSION, "Operation not permitted (-o FILE writes elsewhere)" },
		{ EROFS, ERROR_PERMISSION, "Read-only file system (-o FILE writes elsewhere)" },
		{ ENOMEM, ERROR_MEMORY, "out of memory" },
		{ ENOSPC, ERROR_NO_SPACE, "data': No space left on device" },
	};
	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		plan_clear();
		plan_errors(CALL_OPENAT, cases[i].number, 0, 0);
		assert_refused(path, cases[i].code, cases[i].words);
	}
	/* The names of 100 temporary files of this process are in use. */
	plan_clear();
	struct output *outputs[100];
	for (size_t i = 0; i < 100; i++)
		outputs[i] = opened(path);
	assert_refused(path, ERROR_LIMIT, "too many temporary files of it are left beside it");
	for (size_t i = 0; i < 100; i++)
		output_free(outputs[i]);
	output_free(NULL);
}

/* --- standard output --- */

/* Runs `check` with standard output in a file that has six bytes already. */
static void with_standard_output(void (*check)(const char *name), const char *name, const char *expected)
{
	fflush(stdout);
	int own = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 100);
	int fd = open(path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	assert_true(own >= 0 && fd >= 0);
	assert_int_equal(__real_write(fd, "before", 6), 6);
	assert_int_equal(dup2(fd, STDOUT_FILENO), STDOUT_FILENO);
	__real_close(fd);
	check(name);
	assert_int_equal(__real_write(STDOUT_FILENO, "after", 5), 5); /* it stays open */
	assert_int_equal(dup2(own, STDOUT_FILENO), STDOUT_FILENO);
	__real_close(own);
	assert_contains(path, expected);
	unlink(path);
}

static void write_to_standard_output(const char *name)
{
	struct error error = { 0 };
	bool was_free = fcntl(3, F_GETFD) < 0;
	struct output *output = opened(name);
	if (was_free)
		assert_int_equal(fcntl(3, F_GETFD), FD_CLOEXEC); /* never a standard stream */
	assert_true(output_is_stream(output));
	assert_int_equal(output_publish(output, &error), 0);
	assert_int_equal(output_write(output, "12345", 5, &error), 0);
	assert_true(output_cut(output, 2));
	assert_int_equal(output_size(output), 2);
	assert_int_equal(output_write(output, "xy", 2, &error), 0);
	plan_errors(CALL_WRITE, EIO, 0, 0);
	assert_int_equal(output_write(output, "z", 1, &error), ERROR_SYSTEM);
	assert_string_equal(error.message, "cannot write to standard output: Input/output error");
	plan_clear();
	assert_int_equal(output_size(output), 4);
	output_free(output);
}

static void refuse_terminal(const char *name)
{
	plan.is_terminal = true;
	assert_refused(name, ERROR_USAGE, "cannot write to standard output: it is a terminal");
	plan_clear();
}

static void test_standard_output(void **state)
{
	(void)state;
	plan_clear();
	with_standard_output(write_to_standard_output, "-", "before12xyafter");
	with_standard_output(write_to_standard_output, "/dev/stdout", "before12xyafter");
	with_standard_output(refuse_terminal, "-", "beforeafter");
	with_standard_output(refuse_terminal, "/dev/stdout", "beforeafter");
}

/* --- names --- */

static void test_publish(void **state)
{
	struct error error = { 0 };
	struct stat status;
	(void)state;
	plan_clear();
	for (int i = 0; i < 3; i++) {
		struct output *output = opened(path);
		assert_int_equal(output_write(output, i ? i > 1 ? "two" : "one" : "zero", i ? 3 : 4, &error), 0);
		assert_int_equal(output_publish(output, &error), 0);
		assert_int_equal(output_publish(output, &error), 0); /* nothing more happens */
		output_free(output);
		assert_contains(path, i ? i > 1 ? "two" : "one" : "zero");
		assert_contains(old_path, i ? i > 1 ? "one" : "zero" : NULL);
	}
	assert_int_equal(stat(path, &status), 0);
	assert_int_equal(status.st_mode & 0777, 0600);
	unlink(old_path);
	unlink(path);
}

static void other_publishes(void)
{
	write_text(path, "of another process");
}

/* Two processes publish at the same time: neither file is lost. */
static void test_race(void **state)
{
	struct error error = { 0 };
	(void)state;
	plan_clear();
	struct output *output = opened(path);
	assert_int_equal(output_write(output, "ours", 4, &error), 0);
	plan.between = other_publishes;
	assert_int_equal(output_publish(output, &error), 0);
	output_free(output);
	assert_contains(path, "ours");
	assert_contains(old_path, "of another process");
	unlink(old_path);
	unlink(path);
}

/* A file system without RENAME_NOREPLACE. */
static void test_without_noreplace(void **state)
{
	struct error error = { 0 };
	(void)state;
	plan_clear();
	write_text(path, "older");
	struct output *output = opened(path);
	plan_errors(CALL_RENAME_NEW, EINVAL, 0, 0);
	assert_int_equal(output_publish(output, &error), 0);
	output_free(output);
	assert_int_equal(plan.calls[CALL_RENAME_NEW], 1);
	assert_contains(path, "");
	assert_contains(old_path, "older");
	unlink(old_path);
	unlink(path);
	plan_clear();
}

static void test_failed_names(void **state)
{
	static const struct {
		int keep, take, put_back; /* errno of the three renames */
		const char *words;
		const char *here, *old;
	} cases[] = {
		{ EIO, 0, 0, "cannot keep the older file as '%s.old': Input/output error", "older", NULL },
		{ 0, EIO, 0, "cannot write '%s': Input/output error", "older", NULL },
		{ 0, EIO, EBUSY, "cannot write '%s'; the older file is now '%s.old': Device or resource busy", NULL,
		  "older" },
	};
	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct error error = { 0 };
		char expected[300];
		plan_clear();
		write_text(path, "older");
		struct output *output = opened(path);
		plan_errors(CALL_RENAME_NEW, EINVAL, 0, 0);
		plan_errors(CALL_RENAME, cases[i].keep, cases[i].take, cases[i].put_back);
		assert_int_equal(output_publish(output, &error), ERROR_SYSTEM);
		assert_int_equal(error.code, ERROR_SYSTEM);
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
		snprintf(expected, sizeof(expected), cases[i].words, path, path);
#pragma GCC diagnostic pop
		assert_string_equal(error.message, expected);
		plan_clear();
		assert_contains(path, cases[i].here);
		assert_contains(old_path, cases[i].old);
		output_free(output);
		unlink(path);
		unlink(old_path);
	}
	/* Nothing was kept, and so nothing is put back. */
	struct error error = { 0 };
	struct output *output = opened(path);
	plan_errors(CALL_RENAME_NEW, EINVAL, 0, 0);
	plan_errors(CALL_RENAME, ENOENT, EIO, 0);
	assert_int_equal(output_publish(output, &error), ERROR_SYSTEM);
	assert_int_equal(plan.calls[CALL_RENAME], 2);
	plan_clear();
	output_free(output);
}

/* --- bytes --- */

static void test_writes_in_parts(void **state)
{
	struct error error = { 0 };
	(void)state;
	plan_clear();
	struct output *output = opened(path);
	plan.write_bytes = 2;
	assert_int_equal(output_write(output, "abcdefg", 7, &error), 0);
	assert_int_equal(output_size(output), 7);
	plan_errors(CALL_WRITE, EINTR, EAGAIN, EAGAIN);
	plan_errors(CALL_POLL, EINTR, 0, 0);
	assert_int_equal(output_write(output, "hij", 3, &error), 0);
	assert_int_equal(plan.calls[CALL_WRITE], 5);
	assert_int_equal(plan.calls[CALL_POLL], 2);
	assert_int_equal(plan.events, POLLOUT);
	assert_int_equal(output_size(output), 10);
	assert_int_equal(output_write(output, "", 0, &error), 0);
	plan_clear();
	assert_int_equal(output_publish(output, &error), 0);
	output_free(output);
	assert_contains(path, "abcdefghij");
	unlink(path);
}

/* A write that fails leaves no byte in the file. */
static void test_failed_writes(void **state)
{
	static const struct {
		int number, poll;
	} cases[] = { { EIO, 0 }, { ENOSPC, 0 }, { EAGAIN, EIO } };
	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct error error = { 0 };
		char expected[200];
		plan_clear();
		struct output *output = opened(path);
		assert_int_equal(output_write(output, "abc", 3, &error), 0);
		plan.write_bytes = 2;
		plan_errors(CALL_WRITE, 0, cases[i].number, 0);
		plan_errors(CALL_POLL, cases[i].poll, 0, 0);
		assert_int_equal(output_write(output, "defg", 4, &error),
				 cases[i].number == ENOSPC ? ERROR_NO_SPACE : ERROR_SYSTEM);
		snprintf(expected, sizeof(expected), "cannot write '%s': %s", path,
			 strerror(cases[i].poll ? cases[i].poll : cases[i].number));
		assert_string_equal(error.message, expected);
		assert_int_equal(output_size(output), 3);
		plan_clear();
		assert_int_equal(output_write(output, "xyz", 3, &error), 0);
		assert_int_equal(output_publish(output, &error), 0);
		output_free(output);
		assert_contains(path, "abcxyz");
		unlink(path);
	}
}

static void test_cut(void **state)
{
	struct error error = { 0 };
	int ends[2];
	char name[32];
	(void)state;
	plan_clear();
	struct output *output = opened(path);
	assert_int_equal(output_write(output, "abcdef", 6, &error), 0);
	plan_errors(CALL_CUT, EIO, 0, 0);
	assert_false(output_cut(output, 4));
	plan_clear();
	plan_errors(CALL_SEEK, EIO, 0, 0);
	assert_false(output_cut(output, 4));
	plan_clear();
	assert_int_equal(output_size(output), 6);
	assert_true(output_cut(output, 0));
	assert_int_equal(output_write(output, "g", 1, &error), 0);
	assert_int_equal(output_publish(output, &error), 0);
	assert_int_equal(output_close(output, &error), 0);
	assert_false(output_cut(output, 0));
	output_free(output);
	assert_contains(path, "g");
	unlink(path);

	assert_int_equal(pipe(ends), 0);
	snprintf(name, sizeof(name), "/dev/fd/%d", ends[1]);
	output = opened(name);
	assert_int_equal(output_write(output, "abc", 3, &error), 0);
	assert_false(output_cut(output, 1));
	assert_int_equal(output_size(output), 3);
	output_free(output);
	__real_close(ends[0]);
	__real_close(ends[1]);
}

static void test_close(void **state)
{
	static const struct {
		int number, code;
	} cases[] = { { 0, 0 }, { EINTR, 0 }, { EIO, ERROR_SYSTEM }, { ENOSPC, ERROR_NO_SPACE } };
	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct error error = { 0 };
		plan_clear();
		struct output *output = opened(path);
		plan_errors(CALL_CLOSE, cases[i].number, 0, 0);
		assert_int_equal(output_close(output, &error), cases[i].code);
		assert_int_equal(output_close(output, &error), 0); /* it is closed */
		assert_int_equal(plan.calls[CALL_CLOSE], 1);
		assert_int_equal(output_write(output, "a", 1, &error), ERROR_USAGE);
		assert_non_null(strstr(error.message, "data is closed already"));
		output_free(output);
	}
	plan_clear();
}

/* --- no memory, and no descriptor left open --- */

static void try_open(const char *name)
{
	struct error error = { 0 };
	struct output *output = output_open(name, &error);
	assert_true(output || error.code == ERROR_MEMORY);
	output_free(output);
}

static int next_descriptor(void)
{
	int fd = open("/dev/null", O_RDONLY | O_CLOEXEC);
	__real_close(fd);
	return fd;
}

static void test_no_memory(void **state)
{
	(void)state;
	plan_clear();
	int before = next_descriptor();
	ALLOC_FAIL_EACH(try_open(path));
	ALLOC_FAIL_EACH(try_open("/dev/null"));
	assert_int_equal(next_descriptor(), before);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_refused),
		cmocka_unit_test(test_kinds_of_files),
		cmocka_unit_test(test_sticky_folder),
		cmocka_unit_test(test_no_temporary_file),
		cmocka_unit_test(test_standard_output),
		cmocka_unit_test(test_publish),
		cmocka_unit_test(test_race),
		cmocka_unit_test(test_without_noreplace),
		cmocka_unit_test(test_failed_names),
		cmocka_unit_test(test_writes_in_parts),
		cmocka_unit_test(test_failed_writes),
		cmocka_unit_test(test_cut),
		cmocka_unit_test(test_close),
		cmocka_unit_test(test_no_memory),
	};
	return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
