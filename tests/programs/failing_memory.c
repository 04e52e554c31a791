/*
 * A library to preload: in the process that loads it first, the allocation number FAIL_NTH fails (0: none). At the end it writes the
 * number of allocations into the file FAIL_COUNT. Programs that this process starts do not load the library.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

void *__libc_malloc(size_t bytes);
void *__libc_calloc(size_t count, size_t bytes);
void *__libc_realloc(void *memory, size_t bytes);
void *__libc_memalign(size_t alignment, size_t bytes);

static atomic_ulong made;
static unsigned long failing;
static pid_t process;

static int fails(void)
{
	if (!process || getpid() != process || atomic_fetch_add(&made, 1) + 1 != failing)
		return 0;
	errno = ENOMEM;
	return 1;
}

void *malloc(size_t bytes)
{
	return fails() ? NULL : __libc_malloc(bytes);
}

void *calloc(size_t count, size_t bytes)
{
	return fails() ? NULL : __libc_calloc(count, bytes);
}

void *realloc(void *memory, size_t bytes)
{
	return fails() ? NULL : __libc_realloc(memory, bytes);
}

void *memalign(size_t alignment, size_t bytes)
{
	return fails() ? NULL : __libc_memalign(alignment, bytes);
}

void *aligned_alloc(size_t alignment, size_t bytes)
{
	return memalign(alignment, bytes);
}

int posix_memalign(void **memory, size_t alignment, size_t bytes)
{
	if (fails())
		return ENOMEM;
	*memory = __libc_memalign(alignment, bytes);
	return *memory ? 0 : ENOMEM;
}

__attribute__((constructor)) static void begin(void)
{
	const char *number = getenv("FAIL_NTH");

	failing = number ? strtoul(number, NULL, 10) : 0;
	unsetenv("LD_PRELOAD");
	process = getpid();
}

__attribute__((destructor)) static void end(void)
{
	const char *path = getenv("FAIL_COUNT");
	int file = path && getpid() == process ? open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600) : -1;

	if (file >= 0) {
		dprintf(file, "%lu\n", atomic_load(&made));
		close(file);
	}
}
