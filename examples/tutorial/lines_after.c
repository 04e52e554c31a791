/*
 * Counts the lines of a file, and the bytes of the longest one, as lines_before.c. One system call
 * reads 64 KB.
 */
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

struct reader {
	int fd;
	ssize_t used, filled;
	unsigned char bytes[65536];
};

static int next_byte(struct reader *reader)
{
	if (reader->used == reader->filled) {
		reader->used = 0;
		reader->filled = read(reader->fd, reader->bytes, sizeof(reader->bytes));
		if (reader->filled <= 0) {
			reader->filled = 0;
			return -1;
		}
	}
	return reader->bytes[reader->used++];
}

static size_t next_line(struct reader *reader, size_t *length)
{
	*length = 0;
	int byte;
	while ((byte = next_byte(reader)) >= 0 && byte != '\n')
		++*length;
	return byte >= 0;
}

int main(int argc, char **argv)
{
	struct reader reader = { .fd = argc == 2 ? open(argv[1], O_RDONLY) : -1 };
	if (reader.fd < 0) {
		fprintf(stderr, "usage: lines FILE\n");
		return 2;
	}
	size_t lines = 0, longest = 0, length;
	while (next_line(&reader, &length)) {
		lines++;
		if (length > longest)
			longest = length;
	}
	printf("%zu lines, the longest has %zu bytes\n", lines, longest);
	close(reader.fd);
	return 0;
}
