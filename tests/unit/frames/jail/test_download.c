/* Downloads of debug files: limits, what servers answer, and what the process that talks with them may do. The server is a child of this
 * test that answers every request alike. */
#include <errno.h>
#include <netinet/in.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/error.h"
#include "frames/jail/cache_folder.h"
#include "frames/jail/confine.h"
#include "frames/jail/download.h"
#include "processor/tests.h"
#include "profile/findings.h"
#include "profile/profile.h"
#include "support/symbols_lab.h"

#define MS UINT64_C(1000000)

enum { PATIENCE_S = 100, FILE_BYTES = 300000 };

static const uint8_t build_id[] = { 0xab, 0x00, 0x10, 0xff };

/* In a program with the address sanitizer, which cannot live with a limit on its address space. */
extern void __asan_init(void) __attribute__((weak));

/* --- the server --- */

/* `announced`: the size in the header; 0: none. `sent`: bytes of the file, of which the last come only after the client has gone. */
struct answers {
	const char *status;
	size_t announced, sent;
	bool hangs;
};

static _Noreturn void answer(int listener, const struct answers *answers)
{
	static char bytes[FILE_BYTES];
	char head[256], request[4096];
	memset(bytes, 'x', sizeof(bytes));
	for (;;) {
		int client = accept(listener, NULL, NULL);
		if (client < 0 || read(client, request, sizeof(request)) <= 0)
			_exit(EXIT_FAILURE);
		int size = snprintf(head, sizeof(head), "HTTP/1.1 %s\r\nConnection: close\r\n", answers->status);
		if (answers->announced)
			size += snprintf(head + size, sizeof(head) - (size_t)size, "Content-Length: %zu\r\n",
					 answers->announced);
		size += snprintf(head + size, sizeof(head) - (size_t)size, "\r\n");
		signal(SIGPIPE, SIG_IGN);
		if (write(client, head, (size_t)size) != size ||
		    (answers->sent && write(client, bytes, answers->sent) < 0))
			continue;
		while (answers->hangs && read(client, request, sizeof(request)) > 0)
			;
		close(client);
	}
}

static pid_t serve(const struct answers *answers)
{
	char url[64];
	struct sockaddr_in address = { .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	socklen_t size = sizeof(address);
	int listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	assert_int_equal(bind(listener, (struct sockaddr *)&address, size), 0);
	assert_int_equal(listen(listener, 8), 0);
	assert_int_equal(getsockname(listener, (struct sockaddr *)&address, &size), 0);
	pid_t server = fork();
	assert_true(server >= 0);
	if (server == 0)
		answer(listener, answers);
	close(listener);
	snprintf(url, sizeof(url), "http://127.0.0.1:%d", ntohs(address.sin_port));
	setenv("DEBUGINFOD_URLS", url, 1);
	lab_run("rm -rf cache");
	setenv("DEBUGINFOD_CACHE_PATH", lab_path("cache"), 1);
	alarm(PATIENCE_S);
	return server;
}

static void end_server(pid_t server)
{
	kill(server, SIGKILL);
	waitpid(server, NULL, 0);
	unsetenv("DEBUGINFOD_URLS");
	alarm(0);
}

/* --- answers --- */

static void files_arrive(void **state)
{
	(void)state;
	static const struct answers all = { .status = "200 OK", .announced = FILE_BYTES, .sent = FILE_BYTES };
	struct download download;
	struct stat status;
	pid_t server = serve(&all);
	download_init(&download);
	download.limits.file_bytes = FILE_BYTES;
	int fd = download_get(&download, build_id, sizeof(build_id));
	if (fd < 0)
		fail_msg("%d: %s", fd, download.reason);
	assert_int_equal(fstat(fd, &status), 0);
	assert_int_equal(status.st_size, FILE_BYTES);
	close(fd);
	assert_true(download.spent_ns > 0);
	assert_int_equal(access(lab_path("cache/ab0010ff/debuginfo"), F_OK), 0);
	end_server(server);
	/* From the cache, without a server. */
	setenv("DEBUGINFOD_URLS", "http://127.0.0.1:1", 1);
	fd = download_get(&download, build_id, sizeof(build_id));
	assert_true(fd >= 0);
	close(fd);
	/* A file that is in the cache has to keep the limits, too. */
	download.limits.file_bytes = FILE_BYTES - 1;
	assert_int_equal(download_get(&download, build_id, sizeof(build_id)), ERROR_LIMIT);
	assert_string_equal(download.reason, "a file is too large");
	unsetenv("DEBUGINFOD_URLS");
}

static void large_files_are_refused(void **state)
{
	(void)state;
	static const struct answers rows[] = {
		{ .status = "200 OK", .announced = FILE_BYTES, .sent = 1, .hangs = true }, /* by its announced size */
		{ .status = "200 OK", .sent = FILE_BYTES },                                /* without one */
	};
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct download download;
		pid_t server = serve(&rows[i]);
		download_init(&download);
		download.limits.file_bytes = FILE_BYTES - 1;
		assert_true(download_get(&download, build_id, sizeof(build_id)) < 0);
		assert_int_equal(download.failed, 1);
		assert_int_equal(access(lab_path("cache/ab0010ff/debuginfo"), F_OK), -1);
		if (i == 0) {
			assert_string_equal(download.reason, "a file is larger than 0 MB");
			assert_false(download.is_over); /* other files may be smaller */
		}
		end_server(server);
	}
}

static void the_time_is_limited(void **state)
{
	(void)state;
	static const struct answers hanging = {
		.status = "200 OK", .announced = FILE_BYTES, .sent = 1000, .hangs = true
	};
	static const struct {
		struct download_limits limits;
		const char *reason;
	} rows[] = {
		{ { FILE_BYTES, 300 * MS, 1000000 * MS }, "nothing arrived for 0.3 s" },
		{ { FILE_BYTES, 1000000 * MS, 400 * MS }, "it took more than 0.4 s" },
	};
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct download download;
		pid_t server = serve(&hanging);
		download_init(&download);
		download.limits = rows[i].limits;
		assert_int_equal(download_get(&download, build_id, sizeof(build_id)), ERROR_LIMIT);
		assert_string_equal(download.reason, rows[i].reason);
		assert_true(download.is_over);
		uint64_t spent_ns = download.spent_ns;
		/* The next file is not requested, and has the same reason. */
		assert_int_equal(download_get(&download, build_id, sizeof(build_id)), ERROR_UNSUPPORTED);
		assert_int_equal(download.spent_ns, spent_ns);
		assert_int_equal(download.failed, 2);
		end_server(server);
	}
}

static void missing_files_are_no_failure(void **state)
{
	(void)state;
	static const struct answers missing = { .status = "404 Not Found" };
	struct profile *profile = profile_new();
	struct download download;
	pid_t server = serve(&missing);
	download_init(&download);
	assert_int_equal(download_get(&download, build_id, sizeof(build_id)), ERROR_NOT_FOUND);
	assert_int_equal(download.lacking, 1);
	assert_int_equal(download.failed, 0);
	assert_false(download.is_over);
	download.failed = 2;
	snprintf(download.reason, sizeof(download.reason), "of a reason");
	download_add_findings(&download, profile);
	assert_int_equal(download.lacking + download.failed, 0);
	download_add_findings(&download, profile);
	assert_int_equal(profile->finding_count, 2);
	assert_string_equal(profile_string(profile, profile->findings[0].text),
			    "no server of DEBUGINFOD_URLS has 1 debug file");
	assert_string_equal(profile_string(profile, profile->findings[1].text),
			    "2 debug files were not downloaded: of a reason");
	end_server(server);
	profile_free(profile);
}

static void nothing_is_requested_without_a_server_or_a_build_id(void **state)
{
	(void)state;
	static const uint8_t long_id[65];
	struct download download;
	download_init(&download);
	unsetenv("DEBUGINFOD_URLS");
	assert_false(download_has_servers());
	assert_int_equal(download_get(&download, build_id, sizeof(build_id)), ERROR_NOT_FOUND);
	setenv("DEBUGINFOD_URLS", "  ", 1);
	assert_false(download_has_servers());
	setenv("DEBUGINFOD_URLS", "http://127.0.0.1:1", 1);
	assert_true(download_has_servers());
	assert_int_equal(download_get(&download, build_id, 1), ERROR_NOT_FOUND);
	assert_int_equal(download_get(&download, long_id, sizeof(long_id)), ERROR_NOT_FOUND);
	assert_int_equal(download.spent_ns, 0);
	unsetenv("DEBUGINFOD_URLS");
}

static void limits_come_from_the_variables_of_elfutils(void **state)
{
	(void)state;
	static const struct {
		const char *text;
		uint64_t seconds;
	} rows[] = { { "7", 7 }, { "0", 30 }, { "-1", 30 }, { "7s", 30 }, { "", 30 }, { "99999999999", 30 } };
	struct download download;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		setenv("DEBUGINFOD_TIMEOUT", rows[i].text, 1);
		download_init(&download);
		assert_int_equal(download.limits.stall_ns, rows[i].seconds * 1000 * MS);
		assert_int_equal(download.limits.total_ns, 600 * 1000 * MS);
	}
	setenv("DEBUGINFOD_MAXTIME", "5", 1);
	download_init(&download);
	assert_int_equal(download.limits.total_ns, 5 * 1000 * MS);
	unsetenv("DEBUGINFOD_MAXTIME");
	unsetenv("DEBUGINFOD_TIMEOUT");
}

/* --- the cache --- */

static int prepare_cache(const char *path, struct error *error)
{
	*error = (struct error){ 0 };
	setenv("DEBUGINFOD_CACHE_PATH", path, 1);
	return cache_folder_prepare(error);
}

static void root_refuses_folders_of_others(void **state)
{
	(void)state;
	struct error error;
	if (geteuid() != 0)
		skip();
	lab_run("mkdir -p mine open shared sticky && chmod 777 open && chmod 775 shared && chmod 1777 sticky && mkdir "
		"open/below && "
		"mkdir theirs && chown 65534 theirs && ln -s open/below link");
	assert_int_equal(prepare_cache(lab_path("mine/cache"), &error), 0);
	assert_int_equal(access(lab_path("mine/cache"), W_OK), 0);
	assert_int_equal(prepare_cache(lab_path("sticky/cache"), &error), 0);
	static const char *const refused[] = { "open", "open/below", "shared/cache", "theirs", "theirs/cache", "link" };
	for (size_t i = 0; i < sizeof(refused) / sizeof(refused[0]); i++)
		if (prepare_cache(lab_path(refused[i]), &error) != ERROR_PERMISSION)
			fail_msg("%s is accepted", refused[i]);
	assert_non_null(strstr(error.message, "which others may change"));
}

static void the_folder_is_that_of_the_client(void **state)
{
	(void)state;
	struct error error = { 0 };
	char wanted[512], home[256];
	static const struct {
		const char *home, *xdg, *made;
	} rows[] = { { "home", NULL, "home/.cache/debuginfod_client" },
		     { "home", "xdg", "xdg/debuginfod_client" },
		     { "old", NULL, "old/.debuginfod_client_cache" } };
	lab_run("mkdir -p home old/.debuginfod_client_cache");
	snprintf(home, sizeof(home), "%s", getenv("HOME") ? getenv("HOME") : "/");
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		unsetenv("DEBUGINFOD_CACHE_PATH");
		unsetenv("XDG_CACHE_HOME");
		setenv("HOME", lab_path(rows[i].home), 1);
		if (rows[i].xdg)
			setenv("XDG_CACHE_HOME", lab_path(rows[i].xdg), 1);
		assert_int_equal(cache_folder_prepare(&error), 0);
		snprintf(wanted, sizeof(wanted), "%s", lab_path(rows[i].made));
		char *real = realpath(wanted, NULL);
		assert_non_null(real);
		assert_string_equal(getenv("DEBUGINFOD_CACHE_PATH"), real);
		free(real);
	}
	unsetenv("XDG_CACHE_HOME");
	setenv("HOME", home, 1);
	lab_run("echo > file");
	assert_true(prepare_cache(lab_path("file/cache"), &error) < 0);
	assert_non_null(strstr(error.message, "cannot make the cache"));
	unsetenv("DEBUGINFOD_CACHE_PATH");
}

/* --- the process --- */

static int may_do(pid_t victim)
{
	char *const words[] = { (char *)"/bin/true", NULL };
	if (execv(words[0], words) != -1 || errno != EPERM)
		return 2;
	if (kill(victim, 0) != -1 || errno != EPERM)
		return 3;
	if (syscall(SYS_ptrace, 16, victim, 0, 0) != -1 || errno != EPERM)
		return 4;
	if (socket(AF_INET, SOCK_STREAM, 0) < 0)
		return 5;
	if (geteuid() == 0 && chown("/dev/null", 1, 1) != -1)
		return 6; /* it has no capabilities */
	return EXIT_SUCCESS;
}

/* Returns the status of a client that runs this. */
static int status_of_client(int (*run)(pid_t parent))
{
	int sockets[2], status;
	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, sockets), 0);
	const struct confinement confinement = { .socket = sockets[0],
						 .parent = getpid(),
						 .memory_bytes = 64 << 20,
						 .cpu_seconds = 10,
						 .file_bytes = 1000 };
	pid_t parent = getpid(), child = fork();
	assert_true(child >= 0);
	if (child == 0)
		_exit(confine_client(&confinement) ? 1 : run(parent));
	assert_int_equal(waitpid(child, &status, 0), child);
	close(sockets[0]);
	close(sockets[1]);
	return status;
}

static void a_client_reaches_no_other_process(void **state)
{
	(void)state;
	if (__asan_init)
		skip();
	int status = status_of_client(may_do);
	assert_true(WIFEXITED(status));
	assert_int_equal(WEXITSTATUS(status), 0);
}

#ifdef TEST_OTHER_ABI_CALL
static int call_by_another_abi(pid_t parent)
{
	(void)parent;
	syscall(TEST_OTHER_ABI_CALL);
	return EXIT_SUCCESS;
}

/* In another ABI, the forbidden calls have other numbers: a call by one ends the process. */
static void a_client_has_one_abi(void **state)
{
	(void)state;
	if (__asan_init)
		skip();
	int status = status_of_client(call_by_another_abi);
	assert_true(WIFSIGNALED(status));
	assert_int_equal(WTERMSIG(status), SIGSYS);
}
#endif

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(files_arrive),
		cmocka_unit_test(large_files_are_refused),
		cmocka_unit_test(the_time_is_limited),
		cmocka_unit_test(missing_files_are_no_failure),
		cmocka_unit_test(nothing_is_requested_without_a_server_or_a_build_id),
		cmocka_unit_test(limits_come_from_the_variables_of_elfutils),
		cmocka_unit_test(root_refuses_folders_of_others),
		cmocka_unit_test(the_folder_is_that_of_the_client),
		cmocka_unit_test(a_client_reaches_no_other_process),
#ifdef TEST_OTHER_ABI_CALL
		cmocka_unit_test(a_client_has_one_abi),
#endif
	};
	return cmocka_run_group_tests_name("download", tests, lab_setup, lab_teardown);
}
