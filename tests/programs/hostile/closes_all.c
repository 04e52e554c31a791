/*
 * Closes all descriptors but the first three, including those that cpprof opened, as daemons do, and reuses their
 * numbers: its files must hold only what it wrote, and none of its own descriptors may be closed.
 */
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>

#include "moment.h"

enum { FILES = 20, BYTES = 1000 };

NOINLINE static void close_all(bool at_once)
{
	if (at_once && syscall(SYS_close_range, 3, ~0u, 0) == 0)
		return;
	for (int fd = 3; fd < 1024; fd++)
		close(fd);
}

NOINLINE static void use_all(void)
{
	char bytes[BYTES], found[BYTES];
	struct stat stat;

	for (int i = 0; i < FILES; i++)
		CHECK(memfd_create("file", 0) == 3 + i);
	for (int i = 0; i < FILES; i++) {
		memset(bytes, i, BYTES);
		CHECK(write(3 + i, bytes, BYTES) == BYTES);
		burn(10);
	}
	for (int i = 0; i < FILES; i++) {
		memset(bytes, i, BYTES);
		CHECK(fstat(3 + i, &stat) == 0 && stat.st_size == BYTES);
		CHECK(pread(3 + i, found, BYTES, 0) == BYTES && !memcmp(bytes, found, BYTES));
	}
}

int main(void)
{
	int turns = 0;

	burn(1000);
	for (; moment_goes_on(3); turns++) {
		close_all(turns % 2 == 0);
		use_all();
	}
	return moment_ends("each file was its own\n");
}
