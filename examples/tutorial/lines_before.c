/*
 * Counts the lines of a file, and the bytes of the longest one. Each byte is a system call.
 */
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

static int next_byte(int fd)
{
	unsigned char byte;
	return read(fd, &byte, 1) == 1 ? byte : -1;
}

static size_t next_line(int fd, size_t *length)
{
	*length = 0;
	int byte;
	while ((byte = next_byte(fd)) >= 0 && byte != '\n')
		++*length;
	return byte >= 0;
}

int main(int argc, char **argv)
{
	int fd = argc == 2 ? open(argv[1], O_RDONLY) : -1;
	if (fd < 0) {
		fprintf(stderr, "usage: lines FILE\n");
		return 2;
	}
	size_t lines = 0, longest = 0, length;
	while (next_line(fd, &length)) {
		lines++;
		if (length > longest)
			longest = length;
	}
	printf("%zu lines, the longest has %zu bytes\n", lines, longest);
	close(fd);
	return 0;
}
