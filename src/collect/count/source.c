#include "collect/count/source.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

bool count_source_copy(const struct count_source *source, uint64_t offset, void *to, size_t bytes)
{
	if (offset > source->size || bytes > source->size - offset)
		return false;
	if (source->memory) {
		memcpy(to, source->memory + offset, bytes);
		return true;
	}
	for (size_t done = 0; done < bytes;) {
		ssize_t got = pread(source->fd, (uint8_t *)to + done, bytes - done, (off_t)(offset + done));
		if (got < 0 && errno == EINTR)
			continue;
		if (got <= 0)
			return false;
		done += (size_t)got;
	}
	return true;
}

/* Finds the next bytes that are no hole. Returns false if there are none. File systems that cannot tell have no holes. */
static bool next_data(const struct count_source *source, uint64_t from, uint64_t end, uint64_t *start, uint64_t *stop)
{
	off_t data = lseek(source->fd, (off_t)from, SEEK_DATA);
	*start = data >= 0 ? (uint64_t)data : from;
	if ((data < 0 && errno == ENXIO) || from >= end || *start >= end)
		return false;
	off_t hole = data >= 0 ? lseek(source->fd, data, SEEK_HOLE) : -1;
	*stop = hole > data && (uint64_t)hole < end ? (uint64_t)hole : end;
	return true;
}

/* Returns the number of bytes without the hole at the end. */
static uint64_t without_hole(const struct count_source *source, uint64_t offset, uint64_t bytes)
{
	uint64_t start, stop = offset, end = offset;
	while (next_data(source, stop, offset + bytes, &start, &stop))
		end = stop;
	return end - offset;
}

/* Returns false if the file has been truncated meanwhile: what is missing looks like a hole. */
static bool read_data(const struct count_source *source, uint64_t offset, uint64_t bytes, uint8_t *to)
{
	struct stat status;
	uint64_t start, stop = offset;
	bool is_whole = true;
	while (is_whole && next_data(source, stop, offset + bytes, &start, &stop))
		is_whole = count_source_copy(source, start, to + (start - offset), stop - start);
	return is_whole && fstat(source->fd, &status) == 0 && (uint64_t)status.st_size >= offset + bytes;
}

int count_source_load(const struct count_source *source, uint64_t offset, uint64_t least, uint64_t *bytes,
		      const uint8_t **loaded)
{
	*loaded = NULL;
	if (offset > source->size || *bytes > source->size - offset || least > *bytes)
		return ERROR_TRUNCATED;
	if (source->memory) {
		*loaded = source->memory + offset;
		return 0;
	}
	uint64_t present = without_hole(source, offset, *bytes);
	*bytes = present > least ? present : least;
	uint8_t *to = calloc(*bytes ? *bytes : 1, 1);
	if (!to)
		return ERROR_MEMORY;
	if (!read_data(source, offset, *bytes, to)) {
		free(to);
		return ERROR_TRUNCATED;
	}
	*loaded = to;
	return 0;
}

void count_source_unload(const struct count_source *source, const uint8_t *loaded)
{
	if (!source->memory)
		free((void *)loaded);
}

void count_source_release(struct count_source *source)
{
	if (source->fd >= 0)
		close(source->fd);
	*source = (struct count_source){ .fd = -1 };
}
