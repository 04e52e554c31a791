/*
 * The core of libraries to preload, in which a call of some kind fails: call number FAIL_NTH (0: none), and with FAIL_REST all that
 * follow. They count the calls of the process that loads them first, or, with FAIL_CHILD, the calls of the processes that it forks. At
 * its end this process writes the number of calls into the file FAIL_COUNT. Programs that it starts do not load the library.
 */
#ifndef FAILING_H
#define FAILING_H

#include <fcntl.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

static atomic_ulong *made; /* in memory that forked processes share */
static unsigned long failing;
static pid_t process;
static int has_rest, in_children;

static int fails(void)
{
	if (!made || (getpid() == process) == in_children)
		return 0;
	unsigned long number = atomic_fetch_add(made, 1) + 1;
	return number == failing || (has_rest && failing && number > failing);
}

/* A process in the jail gives up shared memory. It keeps the counter. */
int munmap(void *memory, size_t bytes)
{
	return memory == (void *)made ? 0 : (int)syscall(SYS_munmap, memory, bytes);
}

__attribute__((constructor)) static void begin(void)
{
	const char *number = getenv("FAIL_NTH");
	void *shared = mmap(NULL, sizeof(*made), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	failing = number ? strtoul(number, NULL, 10) : 0;
	unsetenv("LD_PRELOAD");
	process = getpid();
	in_children = getenv("FAIL_CHILD") != NULL;
	has_rest = getenv("FAIL_REST") != NULL;
	made = shared == MAP_FAILED ? NULL : shared;
}

__attribute__((destructor)) static void end(void)
{
	const char *path = getenv("FAIL_COUNT");
	int file = path && made && getpid() == process ? open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600) : -1;

	if (file >= 0) {
		dprintf(file, "%lu\n", atomic_load(made));
		close(file);
	}
}

#endif
