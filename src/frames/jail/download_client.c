#include "frames/jail/download_client.h"

#include <dlfcn.h>
#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "frames/jail/cache_folder.h"

/* The functions of elfutils/debuginfod.h, which need not be installed. */
struct debuginfod_client;
typedef int progress_fn(struct debuginfod_client *client, long done, long total);

static struct {
	struct debuginfod_client *(*begin)(void);
	int (*find)(struct debuginfod_client *client, const unsigned char *build_id, int bytes, char **path);
	void (*set_progress)(struct debuginfod_client *client, progress_fn *progress);
	const char *(*url)(struct debuginfod_client *client); /* NULL: of an old library */
} library;

static volatile sig_atomic_t is_interrupted;
static uint64_t largest_bytes, reported_ns;
static bool is_too_large;

static uint64_t now_ns(void)
{
	struct timespec time = { 0 };
	clock_gettime(CLOCK_MONOTONIC, &time);
	return (uint64_t)time.tv_sec * 1000000000u + (uint64_t)time.tv_nsec;
}

/* --- messages --- */

static void send_message(const struct download_message *message, int fd, int flags)
{
	union {
		char bytes[CMSG_SPACE(sizeof(int))];
		struct cmsghdr align;
	} control = { { 0 } };
	struct iovec part = { (void *)message, sizeof(*message) };
	struct msghdr all = { .msg_iov = &part, .msg_iovlen = 1 };
	if (fd >= 0) {
		all.msg_control = control.bytes;
		all.msg_controllen = sizeof(control.bytes);
		struct cmsghdr *rights = CMSG_FIRSTHDR(&all);
		rights->cmsg_level = SOL_SOCKET;
		rights->cmsg_type = SCM_RIGHTS;
		rights->cmsg_len = CMSG_LEN(sizeof(int));
		memcpy(CMSG_DATA(rights), &fd, sizeof(fd));
	}
	while (sendmsg(CONFINED_SOCKET, &all, flags | MSG_NOSIGNAL) < 0 && errno == EINTR)
		;
}

static _Noreturn void end(int status, bool is_final, int fd, const char *reason)
{
	struct download_message message = { .is_last = 1, .status = status, .is_final = is_final };
	snprintf(message.reason, sizeof(message.reason), "%s", reason);
	send_message(&message, fd, 0);
	_exit(EXIT_SUCCESS);
}

/* --- the library's calls --- */

static void on_signal(int number)
{
	(void)number;
	is_interrupted = 1;
}

/* The library ends the download and removes its temporary file if this does not return 0. Until a server has answered, its numbers count
 * turns of its loop. */
static int on_progress(struct debuginfod_client *client, long done, long total)
{
	enum { REPORT_NS = 100 * 1000 * 1000 };
	bool has_begun = !library.url || library.url(client);
	if (has_begun &&
	    ((done > 0 && (uint64_t)done > largest_bytes) || (total > 0 && (uint64_t)total > largest_bytes)))
		is_too_large = true;
	uint64_t now = now_ns();
	if (has_begun && done > 0 && now - reported_ns >= REPORT_NS) {
		const struct download_message message = { .done = (uint64_t)done,
							  .total = total > 0 ? (uint64_t)total : 0 };
		send_message(&message, -1, MSG_DONTWAIT);
		reported_ns = now;
	}
	return is_too_large || is_interrupted;
}

/* POSIX lets dlsym return functions; ISO C has no such conversion. */
static void load(void)
{
	void *file = dlopen("libdebuginfod.so.1", RTLD_NOW);
	if (!file)
		end(ERROR_UNSUPPORTED, true, -1, "libdebuginfod.so.1 is not installed");
	*(void **)&library.begin = dlsym(file, "debuginfod_begin");
	*(void **)&library.find = dlsym(file, "debuginfod_find_debuginfo");
	*(void **)&library.set_progress = dlsym(file, "debuginfod_set_progressfn");
	*(void **)&library.url = dlsym(file, "debuginfod_get_url");
	if (!library.begin || !library.find || !library.set_progress)
		end(ERROR_UNSUPPORTED, true, -1, "libdebuginfod.so.1 lacks functions that cpprof needs");
}

/* --- the process --- */

/* The handlers of the recorder must not run here. ^C ends the download, also where the recorder holds it back. */
static void set_signals(void)
{
	static const int ending[] = { SIGINT, SIGTERM, SIGHUP, SIGQUIT };
	const struct sigaction plain = { .sa_handler = SIG_DFL }, ignored = { .sa_handler = SIG_IGN };
	const struct sigaction action = { .sa_handler = on_signal };
	sigset_t none;
	for (int i = 1; i < NSIG; i++)
		sigaction(i, &plain, NULL); /* some cannot be set */
	for (size_t i = 0; i < sizeof(ending) / sizeof(ending[0]); i++)
		sigaction(ending[i], &action, NULL);
	sigaction(SIGPIPE, &ignored, NULL);
	sigaction(SIGXFSZ, &ignored, NULL);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
}

/* Removes the empty file by which the client notes that no server has a file: it makes it before it has an answer, and would not ask
 * again for some time. */
static void remove_failure_mark(const struct download_job *job)
{
	char path[PATH_MAX];
	struct stat status;
	const char *cache = getenv("DEBUGINFOD_CACHE_PATH");
	int at = snprintf(path, sizeof(path), "%s/", cache ? cache : "");
	for (size_t i = 0; i < job->build_id_bytes && at < PATH_MAX; i++)
		at += snprintf(path + at, sizeof(path) - (size_t)at, "%02x", job->build_id[i]);
	if (at < PATH_MAX)
		at += snprintf(path + at, sizeof(path) - (size_t)at, "/debuginfo");
	if (at < PATH_MAX && lstat(path, &status) == 0 && S_ISREG(status.st_mode) && status.st_size == 0)
		unlink(path);
}

static _Noreturn void end_by_number(const struct download_job *job, int number)
{
	char reason[DOWNLOAD_REASON_BYTES];
	if (number != ENOENT || is_interrupted || is_too_large)
		remove_failure_mark(job);
	if (is_interrupted)
		end(ERROR_LIMIT, true, -1, "it was interrupted");
	if (is_too_large || number == EFBIG) {
		snprintf(reason, sizeof(reason), "a file is larger than %llu MB",
			 (unsigned long long)(largest_bytes >> 20));
		end(ERROR_LIMIT, false, -1, is_too_large ? reason : "a file is larger than DEBUGINFOD_MAXSIZE");
	}
	if (number == ENOENT)
		end(ERROR_NOT_FOUND, false, -1, "");
	if (number == ETIME || number == ETIMEDOUT)
		end(ERROR_LIMIT, true, -1, "the server is too slow");
	bool is_away = number == ECONNREFUSED || number == EHOSTUNREACH || number == ENETUNREACH;
	end(ERROR_SYSTEM, is_away, -1, is_away ? "the server cannot be reached" : strerror(number));
}

void download_client_run(const struct confinement *confinement, const struct download_job *job)
{
	struct error error = { 0 };
	set_signals();
	const char *failed_step = confine_client(confinement);
	if (failed_step) {
		char reason[DOWNLOAD_REASON_BYTES];
		snprintf(reason, sizeof(reason), "%s failed: %s", failed_step, strerror(errno));
		end(ERROR_SYSTEM, true, -1, reason);
	}
	if (cache_folder_prepare(&error) < 0) /* its codes concern files, not servers */
		end(error.code == ERROR_NOT_FOUND ? ERROR_SYSTEM : error.code, true, -1, error.message);
	/* The client would write to standard error, which is closed. */
	unsetenv("DEBUGINFOD_PROGRESS");
	unsetenv("DEBUGINFOD_VERBOSE");
	load();
	largest_bytes = job->file_bytes;
	struct debuginfod_client *client = library.begin();
	if (!client)
		end(ERROR_MEMORY, true, -1, "out of memory");
	library.set_progress(client, on_progress);
	int fd = library.find(client, job->build_id, (int)job->build_id_bytes, NULL);
	if (fd < 0)
		end_by_number(job, -fd);
	end(0, false, fd, "");
}
