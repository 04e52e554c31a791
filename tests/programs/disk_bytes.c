/*
 * `disk_bytes FILE [ROUNDS]`: writes past the page cache into a file whose blocks are already allocated, three
 * times as much below one caller as below the other. Exits with status 77 if the file system does not support such
 * writes.
 */
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "burn.h"

enum { FILE_BYTES = 1 << 20, BLOCK = 64 * 1024, NOT_HERE = 77 };

static void *block;

NOINLINE static void write_blocks(int file, int count)
{
	for (int i = 0; i < count; i++)
		if (pwrite(file, block, BLOCK, (off_t)BLOCK * (i % (FILE_BYTES / BLOCK))) != BLOCK)
			exit(1);
	NOT_A_TAIL_CALL();
}

NOINLINE static void heavy(int file, int rounds)
{
	write_blocks(file, 3 * rounds);
	NOT_A_TAIL_CALL();
}

NOINLINE static void light(int file, int rounds)
{
	write_blocks(file, rounds);
	NOT_A_TAIL_CALL();
}

static void lay_out(const char *path)
{
	int file = open(path, O_CREAT | O_WRONLY | O_TRUNC, 0600);

	for (int i = 0; i < FILE_BYTES / BLOCK; i++)
		if (write(file, block, BLOCK) != BLOCK)
			exit(1);
	if (fsync(file) || close(file))
		exit(1);
}

int main(int argc, char **argv)
{
	int rounds = argc > 2 ? atoi(argv[2]) : 20;

	if (argc < 2 || posix_memalign(&block, 4096, BLOCK))
		return 2;
	memset(block, 1, BLOCK);
	lay_out(argv[1]);
	int file = open(argv[1], O_WRONLY | O_DIRECT);
	if (file < 0)
		return NOT_HERE;
	heavy(file, rounds);
	light(file, rounds);
	amount("disk-bytes", "main;heavy", 3ull * BLOCK * (unsigned)rounds);
	amount("disk-bytes", "main;light", 1ull * BLOCK * (unsigned)rounds);
	return 0;
}
