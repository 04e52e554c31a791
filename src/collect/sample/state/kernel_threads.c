#include "collect/sample/state/kernel_threads.h"

#include "collect/sample/state/proc.h"

void kernel_threads_init(struct kernel_threads *threads)
{
	hash_map_init(&threads->by_pid);
}

void kernel_threads_release(struct kernel_threads *threads)
{
	hash_map_release(&threads->by_pid);
}

static bool is_kernel_thread(uint32_t pid)
{
	enum { KERNEL_THREAD = 0x00200000 /* PF_KTHREAD of include/linux/sched.h */ };
	uint64_t flags;
	return proc_stat_read(pid, PROC_STAT_FLAGS, &flags) && (flags & KERNEL_THREAD) != 0;
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
