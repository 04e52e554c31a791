#include "elf/sparse.h"

#include <errno.h>
#include <sys/stat.h>
#include <unistd.h>

bool sparse_range(int fd, uint64_t offset, uint64_t size, uint64_t most)
{
	if (size <= most || offset > INT64_MAX || size > INT64_MAX - offset)
		return false;
	uint64_t end = offset + size, holes = 0;
	while (offset < end) {
		off_t data = lseek(fd, (off_t)offset, SEEK_DATA);
		if (data < 0 && errno != ENXIO)
			return false;
		/* ENXIO: there is no data up to the end of the file. */
		uint64_t next = data < 0 || (uint64_t)data > end ? end : (uint64_t)data;
		holes += next - offset;
		if (holes > most)
			return true;
		off_t hole = next < end ? lseek(fd, (off_t)next, SEEK_HOLE) : (off_t)end;
		if (hole < 0 || (uint64_t)hole <= next)
			return false;
		offset = (uint64_t)hole;
	}
	return false;
}

bool sparse_file(int fd)
{
	struct stat status;
	return fstat(fd, &status) == 0 && status.st_size > 0 &&
	       sparse_range(fd, 0, (uint64_t)status.st_size, SPARSE_HOLES_MAX);
}
