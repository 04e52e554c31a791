#include "frames/jit/dump_reader.h"

#include <errno.h>
#include <sys/types.h>
#include <unistd.h>

static void fill(struct dump_reader *reader, uint64_t offset)
{
	reader->start = offset;
	reader->size = 0;
	while (reader->size < sizeof(reader->window) && offset <= INT64_MAX - sizeof(reader->window)) {
		ssize_t got = pread(reader->fd, reader->window + reader->size, sizeof(reader->window) - reader->size,
				    (off_t)(offset + reader->size));
		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0)
			reader->number = errno;
		if (got <= 0)
			return;
		reader->size += (size_t)got;
	}
}

const uint8_t *dump_reader_at(struct dump_reader *reader, uint64_t offset, size_t size, size_t *got)
{
	uint64_t within = offset - reader->start;
	if (offset < reader->start || within > reader->size || reader->size - within < size) {
		fill(reader, offset);
		within = 0;
	}
	*got = reader->size - (size_t)within < size ? reader->size - (size_t)within : size;
	return reader->window + within;
}
