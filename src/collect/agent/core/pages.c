/* The agent's own memory, and copies of memory of the program that may not be there. */
#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/uio.h>

#include "collect/agent/core/runtime.h"
#include "processor/agent/machine.h"

enum { PAGE = 4096, USER_BITS = 47 };

void *runtime_map(size_t bytes)
{
	enum { ERRORS = 4095 };
	long mapped = machine_syscall(SYS_mmap, 0, (long)bytes, PROT_READ | PROT_WRITE,
				      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	return mapped < 0 && mapped >= -ERRORS ? NULL : (void *)mapped;
}

/* Defined in a program built with ThreadSanitizer, which observes our calls of clock_gettime and memset. The memory may
 * become the memory of a new thread: its munmap forgets who wrote there, and the system call would leave it a race to report. */
extern void __tsan_init(void) __attribute__((weak));

void runtime_unmap(void *memory, size_t bytes)
{
	if (__tsan_init)
		munmap(memory, bytes);
	else
		machine_syscall(SYS_munmap, (long)memory, (long)bytes, 0, 0, 0, 0);
}

/* Returns the number of bytes copied, or -EPERM if a filter of the program forbids the call. */
static long copy_by_kernel(void *to, size_t bytes, uint64_t address)
{
	const struct iovec here = { .iov_base = to, .iov_len = bytes };
	const struct iovec there = { .iov_base = (void *)(uintptr_t)address, .iov_len = bytes };
	return machine_syscall(SYS_process_vm_readv, runtime.pid, (long)&here, 1, (long)&there, 1, 0);
}

/* Used where a sandbox forbids process_vm_readv: rt_sigprocmask reads its argument before it rejects an invalid
 * `how`. */
static bool is_there(uint64_t address)
{
	enum { NO_HOW = ~0, SET_BYTES = 8 };
	uint64_t word = address & ~(uint64_t)(SET_BYTES - 1);
	return machine_syscall(SYS_rt_sigprocmask, NO_HOW, (long)word, 0, SET_BYTES, 0, 0) == -EINVAL;
}

bool runtime_copy(void *to, size_t bytes, uint64_t address)
{
	if (bytes == 0)
		return true;
	uint64_t last = address + bytes - 1;
	if (address >> USER_BITS || last >> USER_BITS)
		return false;
	long got = runtime.kernel_copies ? copy_by_kernel(to, bytes, address) : -EPERM;
	if (got != -EPERM)
		return got == (long)bytes;
	for (uint64_t at = address; at <= last; at = (at | (PAGE - 1)) + 1)
		if (!is_there(at))
			return false;
	memcpy(to, (const void *)(uintptr_t)address, bytes);
	return true;
}
