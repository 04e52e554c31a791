#include "collect/sample/state/perf_map_file.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/path.h"
#include "collect/sample/state/proc.h"

enum { FIRST_PAUSE_NS = 10 * 1000 * 1000, LONGEST_PAUSE_NS = 1000 * 1000 * 1000 };

static int64_t seconds(clockid_t clock)
{
	struct timespec now;
	clock_gettime(clock, &now);
	return now.tv_sec;
}

static uint64_t now_ns(void)
{
	static const uint64_t ns_per_s = 1000000000;
	struct timespec now;
	clock_gettime(CLOCK_MONOTONIC_COARSE, &now);
	return (uint64_t)now.tv_sec * ns_per_s + (uint64_t)now.tv_nsec;
}

struct perf_map_process perf_map_process(uint32_t pid, int64_t not_before_s, bool is_past)
{
	struct perf_map_process process = {
		.pid = pid, .since_s = not_before_s, .is_past = is_past, .pause_ns = FIRST_PAUSE_NS
	};
	uint64_t ticks;
	if (!is_past && proc_stat_read(pid, PROC_STAT_START, &ticks))
		process.since_s = seconds(CLOCK_REALTIME) - seconds(CLOCK_BOOTTIME) +
				  (int64_t)(ticks / (uint64_t)sysconf(_SC_CLK_TCK));
	return process;
}

/* How a process sees itself. */
struct view {
	unsigned user; /* effective, as we see it */
	unsigned pid;  /* in its own namespace */
};

static bool read_view(uint32_t pid, struct view *view)
{
	char path[64], line[256];
	snprintf(path, sizeof(path), "/proc/%u/status", pid);
	FILE *file = fopen(path, "re");
	bool has_user = false;
	view->pid = pid;
	while (file && fgets(line, sizeof(line), file)) {
		if (sscanf(line, "Uid: %*u %u", &view->user) == 1)
			has_user = true;
		const char *last = strncmp(line, "NSpid:", strlen("NSpid:")) == 0 ? strrchr(line, '\t') : NULL;
		if (last)
			sscanf(last, "%u", &view->pid);
	}
	if (file)
		fclose(file);
	return has_user;
}

/* Opens the root that a process sees, or ours if it has ended. */
static int open_root(const struct perf_map_process *process, struct view *view)
{
	uint32_t pid = process->pid;
	char path[64];
	snprintf(path, sizeof(path), "/proc/%u/root", pid);
	int root = !process->is_past && read_view(pid, view) ? open(path, O_PATH | O_DIRECTORY | O_CLOEXEC) : -1;
	if (root >= 0)
		return root;
	*view = (struct view){ .user = geteuid(), .pid = pid };
	return open("/", O_PATH | O_DIRECTORY | O_CLOEXEC);
}

static bool is_credible(int fd, const struct perf_map_process *process, unsigned user)
{
	enum { COARSE_S = 1 }; /* the clocks of files, and our sums of seconds, are not exact */
	struct stat status;
	return fstat(fd, &status) == 0 && (status.st_uid == user || status.st_uid == 0) &&
	       status.st_mtime >= process->since_s - COARSE_S;
}

int perf_map_open(struct perf_map_process *process, bool is_last)
{
	uint64_t now = now_ns();
	if (!is_last && now < process->next_ns)
		return -1;
	process->next_ns = now + process->pause_ns;
	process->pause_ns = process->pause_ns < LONGEST_PAUSE_NS / 2 ? process->pause_ns * 2 : LONGEST_PAUSE_NS;
	struct view view;
	char name[64];
	int root = open_root(process, &view);
	if (root < 0)
		return -1;
	snprintf(name, sizeof(name), "tmp/perf-%u.map", view.pid);
	int fd = path_open_regular_below(root, name);
	close(root);
	if (fd >= 0 && !is_credible(fd, process, view.user)) {
		close(fd);
		fd = -1;
	}
	return fd;
}
