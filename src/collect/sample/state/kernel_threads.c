#include "collect/sample/state/kernel_threads.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

void kernel_threads_init(struct kernel_threads *threads)
{
	hash_map_init(&threads->by_pid);
}

void kernel_threads_release(struct kernel_threads *threads)
{
	hash_map_release(&threads->by_pid);
}

/*
 *   1234 (name) S 2 0 0 0 -1 69238880 ...
 *   pid         state, parent, group, session, terminal, its group, flags
 *
 * A name may have blanks and parentheses.
 */
bool kernel_threads_parse(const char *stat)
{
	enum { FIELDS_BEFORE_FLAGS = 6, KERNEL_THREAD = 0x00200000 /* PF_KTHREAD of include/linux/sched.h */ };
	const char *at = strrchr(stat, ')');
	for (int i = 0; i <= FIELDS_BEFORE_FLAGS && at; i++)
		at = strchr(at + 1, ' ');
	return at && (strtoul(at + 1, NULL, 10) & KERNEL_THREAD) != 0;
}

static bool is_kernel_thread(uint32_t pid)
{
	char text[512];
	snprintf(text, sizeof(text), "/proc/%" PRIu32 "/stat", pid);
	int fd = open(text, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return false;
	ssize_t got = read(fd, text, sizeof(text) - 1);
	close(fd);
	text[got > 0 ? got : 0] = 0;
	return kernel_threads_parse(text);
}

bool kernel_threads_has(struct kernel_threads *threads, uint32_t pid)
{
	uint32_t known = hash_map_get(&threads->by_pid, pid);
	if (pid == KERNEL_THREADS)
		return true;
	if (known != HASH_MAP_NONE)
		return known == 1;
	bool is_one = is_kernel_thread(pid);
	/* Without memory, the next question reads /proc again. */
	(void)hash_map_put(&threads->by_pid, pid, is_one);
	return is_one;
}

int kernel_threads_fork(struct kernel_threads *threads, uint32_t parent, uint32_t pid)
{
	return hash_map_put(&threads->by_pid, pid, kernel_threads_has(threads, parent));
}

int kernel_threads_exec(struct kernel_threads *threads, uint32_t pid)
{
	return hash_map_put(&threads->by_pid, pid, 0);
}
