#include "formats/import_stream.h"

#include <errno.h>
#include <string.h>

/* Fills the compressed input. Returns false at the end of the file, or if it cannot be read. */
static bool refill(struct import_stream *stream)
{
	if (stream->part_used < stream->part_bytes)
		return true;
	errno = 0;
	stream->part_used = 0;
	stream->part_bytes = fread(stream->part, 1, sizeof(stream->part), stream->file);
	if (stream->part_bytes == 0 && ferror(stream->file))
		stream->code = errno ? errno : EIO;
	return stream->part_bytes > 0;
}

/* Several compressed parts may follow each other. Bytes behind the last one that are no further
 * part are ignored, as gzip does. */
static bool begins_next_part(struct import_stream *stream)
{
	return refill(stream) && stream->part[stream->part_used] == stream->packing->mark[0];
}

/* Decompresses a piece. Returns the number of its bytes. */
static size_t unpack_some(struct import_stream *stream, unsigned char *to, size_t size)
{
	bool has_input = refill(stream);
	struct packing_run run = { .in = stream->part + stream->part_used,
				   .in_bytes = stream->part_bytes - stream->part_used,
				   .out = to,
				   .out_bytes = size };
	if (stream->code)
		return 0;
	int result = stream->packing->run(stream->unpacking, &run, !stream->is_within);
	stream->part_used += run.used;
	stream->used += run.used;
	stream->is_within = result > 0;
	if (result == ERROR_MEMORY)
		stream->code = ENOMEM;
	else if (result < 0)
		stream->code = EBADMSG;
	else if (result > 0 && !has_input && run.made == 0) /* it ends within a part */
		stream->code = ENODATA;
	else if (result == 0)
		stream->unpacked = !begins_next_part(stream);
	return run.made;
}

static size_t unpack(struct import_stream *stream, unsigned char *to, size_t size)
{
	size_t given = 0;
	while (given < size && !stream->unpacked && stream->code == 0)
		given += unpack_some(stream, to + given, size - given);
	return given;
}

static size_t read_some(struct import_stream *stream, unsigned char *to, size_t size)
{
	if (stream->packing)
		return unpack(stream, to, size);
	errno = 0;
	size_t bytes = fread(to, 1, size, stream->file);
	if (bytes < size && ferror(stream->file))
		stream->code = errno ? errno : EIO;
	return bytes;
}

/* For fopencookie. */
static ssize_t read_bytes(void *cookie, char *to, size_t size)
{
	struct import_stream *stream = cookie;
	size_t left = stream->start_bytes - stream->given;
	size_t bytes = size < left ? size : left;
	if (left > 0) {
		memcpy(to, stream->start + stream->given, bytes);
		stream->given += bytes;
	} else if (stream->code == 0) {
		size_t part = size < IMPORT_STREAM_PART_BYTES ? size : IMPORT_STREAM_PART_BYTES;
		bytes = read_some(stream, (unsigned char *)to, part);
	}
	if (bytes > 0 || stream->code == 0)
		return (ssize_t)bytes;
	errno = stream->code;
	return -1;
}

static int begin_unpacking(struct import_stream *stream, const struct packing *packing)
{
	stream->unpacking = packing->begin();
	if (!stream->unpacking)
		return ERROR_MEMORY;
	memcpy(stream->part, stream->start, stream->start_bytes);
	stream->part_bytes = stream->start_bytes;
	stream->packing = packing;
	stream->start_bytes = read_some(stream, stream->start, sizeof(stream->start));
	return 0;
}

int import_stream_open(struct import_stream *stream, FILE *file)
{
	off_t start = ftello(file);
	stream->file = file;
	stream->in = NULL;
	stream->packing = NULL;
	stream->is_within = stream->unpacked = false;
	stream->given = stream->part_bytes = stream->part_used = 0;
	stream->used = 0;
	stream->code = 0;
	stream->start_bytes = read_some(stream, stream->start, sizeof(stream->start));
	const struct packing *packing = packing_of(stream->start, stream->start_bytes);
	if (packing) {
		if (begin_unpacking(stream, packing) < 0)
			return ERROR_MEMORY;
	} else if (start >= 0 && stream->code == 0 && fseeko(file, start, SEEK_SET) == 0) {
		stream->in = file;
		return 0;
	}
	stream->in = fopencookie(stream, "r", (cookie_io_functions_t){ .read = read_bytes });
	if (!stream->in && stream->packing)
		stream->packing->end(stream->unpacking);
	return stream->in ? 0 : ERROR_MEMORY;
}

void import_stream_close(struct import_stream *stream)
{
	if (stream->in && stream->in != stream->file)
		fclose(stream->in);
	if (stream->packing)
		stream->packing->end(stream->unpacking);
}
