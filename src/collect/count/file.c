/* Opens a tally: checks its header, and lists its chunks. */
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/array.h"
#include "base/path.h"
#include "collect/count/parts.h"

enum { MAGIC_BYTES = sizeof(((struct tally_header *)NULL)->magic) };

bool tally_is(const void *start, size_t bytes)
{
	return bytes >= MAGIC_BYTES && memcmp(start, TALLY_MAGIC, MAGIC_BYTES) == 0;
}

/* --- the header --- */

#define END_TEXT(text) ((text)[sizeof(text) - 1] = 0)

static int read_header(struct tally *tally, const char *name, struct error *error)
{
	struct tally_header *header = &tally->header;
	if (!tally_is(tally->bytes, tally->size))
		return error_set(error, ERROR_FORMAT, "'%s' is not a tally of cpprof", name);
	if (tally->size < TALLY_HEADER_BYTES)
		return error_set(error, ERROR_TRUNCATED, "'%s' ends within its header", name);
	memcpy(header, tally->bytes, sizeof(*header));
	if (header->version > TALLY_VERSION)
		return error_set(error, ERROR_VERSION, "'%s' is of version %" PRIu32 ": a newer cpprof reads it", name,
				 header->version);
	if (header->version != TALLY_VERSION || header->measurement >= TALLY_MEASUREMENTS ||
	    header->request_count > TALLY_REQUESTS || header->used < TALLY_HEADER_BYTES)
		return error_set(error, ERROR_CORRUPT, "'%s' is damaged: invalid header", name);
	END_TEXT(header->rules_finding);
	END_TEXT(header->implementation);
	for (uint32_t i = 0; i < header->request_count; i++) {
		struct tally_request *request = &header->requests[i];
		END_TEXT(request->own);
		END_TEXT(request->name);
		END_TEXT(request->title);
		END_TEXT(request->unit);
		if (request->interval == 0 || !request->name[0])
			return error_set(error, ERROR_CORRUPT, "'%s' is damaged: invalid resource %" PRIu32, name, i);
	}
	return 0;
}

/* --- the chunks --- */

static uint64_t least_bytes(uint32_t kind)
{
	static const uint64_t least[TALLY_CHUNK_KINDS] = {
		[TALLY_PROCESS] = sizeof(struct tally_process), [TALLY_THREAD] = sizeof(struct tally_thread),
		[TALLY_OBJECTS] = sizeof(struct tally_chunk),   [TALLY_BLOCK_COUNTS] = sizeof(struct tally_blocks),
		[TALLY_EVENTS] = sizeof(struct tally_trace),    [TALLY_RING] = sizeof(struct tally_ring),
		[TALLY_PROBES] = sizeof(struct tally_probes),
	};
	return kind < TALLY_CHUNK_KINDS ? least[kind] : sizeof(struct tally_chunk);
}

static int add_chunk(struct tally *tally, const struct tally_chunk *header, uint64_t offset, uint64_t left)
{
	if (ARRAY_RESERVE(tally->chunks, tally->chunk_capacity, tally->chunk_count + 1) < 0)
		return ERROR_MEMORY;
	uint64_t least = least_bytes(header->kind);
	tally->chunks[tally->chunk_count++] = (struct count_chunk){
		.bytes = tally->bytes + offset,
		.size = header->bytes < left ? header->bytes : left,
		.used = header->used < least ? least : header->used,
		.address = header->address,
		.kind = header->kind,
		.process = header->process,
		.thread = header->thread,
	};
	return 0;
}

/* Whether the file has the used part of a chunk. The rest may never have been written, and is then missing. */
static bool is_whole(const struct tally_chunk *header, uint64_t left)
{
	uint64_t least = least_bytes(header->kind);
	return (header->used < least ? least : header->used) <= left;
}

/* Reads the chunk at an offset, if there is one. Returns the distance to the next chunk in bytes, or a negative
 * error. */
static int64_t read_chunk(struct tally *tally, uint64_t offset, uint64_t left, const char *name, struct error *error)
{
	struct tally_chunk header;
	memcpy(&header, tally->bytes + offset, sizeof(header));
	/* A chunk that was never finished may have any length. */
	if (header.magic != TALLY_CHUNK_MAGIC || header.kind == TALLY_NOTHING)
		return TALLY_GRANULE;
	if (header.bytes % TALLY_GRANULE != 0 || header.bytes < least_bytes(header.kind) || header.bytes > INT64_MAX ||
	    header.used > header.bytes)
		return error_set(error, ERROR_CORRUPT, "'%s' is damaged: invalid chunk at %" PRIu64, name, offset);
	if (!is_whole(&header, left))
		return error_set(error, ERROR_TRUNCATED, "'%s' ends within a chunk, at %" PRIu64 " of %" PRIu64, name,
				 offset + left, tally->header.used);
	if (header.kind < TALLY_CHUNK_KINDS && add_chunk(tally, &header, offset, left) < 0)
		return tally_out_of_memory(error);
	return (int64_t)header.bytes;
}

/* Whether the file lacks a granule or more of what its header counts as used. This does not apply to the rest of a
 * last PROCESS chunk, because its room for modules is not in the file until it is written. */
static bool ends_early(const struct tally *tally, uint64_t last, uint64_t last_bytes)
{
	uint64_t used = tally->header.used;
	struct tally_chunk chunk;
	if (used <= tally->size || used - tally->size < TALLY_GRANULE)
		return false;
	if (last_bytes == 0 || last_bytes < used - last)
		return true;
	memcpy(&chunk, tally->bytes + last, sizeof(chunk));
	return chunk.kind != TALLY_PROCESS;
}

static int read_chunks(struct tally *tally, const char *name, struct error *error)
{
	uint64_t end = tally->header.used < tally->size ? tally->header.used : tally->size;
	uint64_t offset = TALLY_HEADER_BYTES, last = 0, last_bytes = 0;
	while (offset < end && end - offset >= sizeof(struct tally_chunk)) {
		int64_t bytes = read_chunk(tally, offset, end - offset, name, error);
		if (bytes < 0)
			return (int)bytes;
		last = offset;
		last_bytes = (uint64_t)bytes;
		offset = last_bytes < end - offset ? offset + last_bytes : end;
	}
	tally->ends_early = ends_early(tally, last, last_bytes);
	return 0;
}

/* --- open and close --- */

static int read_all(struct tally *tally, const char *name, struct error *error)
{
	int result = read_header(tally, name, error);
	if (result == 0)
		result = read_chunks(tally, name, error);
	if (result == 0)
		result = tally_read_processes(tally, name, error);
	if (result == 0)
		result = tally_read_probes(tally, name, error);
	if (result == 0)
		result = tally_read_threads(tally, name, error);
	if (result == 0)
		tally_compensate(tally);
	return result;
}

/* If `is_mapped`, the tally owns the mapping; an error unmaps it, too. */
static struct tally *open_memory(const void *bytes, size_t size, bool is_mapped, const char *name, struct error *error)
{
	struct tally *tally = calloc(1, sizeof(*tally));
	if (!tally) {
		if (is_mapped)
			munmap((void *)bytes, size);
		tally_out_of_memory(error);
		return NULL;
	}
	struct error unheard;
	error = error ? error : &unheard;
	*tally = (struct tally){ .bytes = bytes, .size = size, .is_mapped = is_mapped };
	if (read_all(tally, name, error) < 0) {
		tally_free(tally);
		return NULL;
	}
	return tally;
}

struct tally *tally_open_bytes(const void *bytes, size_t size, const char *name, struct error *error)
{
	return open_memory(bytes, size, false, name, error);
}

struct tally *tally_open(const char *path, struct error *error)
{
	struct stat status;
	int fd = path_open_regular(path);
	if (fd < 0 || fstat(fd, &status) < 0) {
		error_set_errno(error, "cannot read '%s'", path);
		if (fd >= 0)
			close(fd);
		return NULL;
	}
	size_t size = (size_t)status.st_size;
	void *bytes = size ? mmap(NULL, size, PROT_READ, MAP_PRIVATE, fd, 0) : MAP_FAILED;
	if (bytes == MAP_FAILED && size == 0)
		error_set(error, ERROR_FORMAT, "'%s' is empty", path);
	else if (bytes == MAP_FAILED)
		error_set_errno(error, "cannot read '%s'", path);
	close(fd);
	return bytes == MAP_FAILED ? NULL : open_memory(bytes, size, true, path, error);
}

void tally_free(struct tally *tally)
{
	if (!tally)
		return;
	for (size_t i = 0; i < tally->process_count; i++) {
		free(tally->processes[i].modules);
		free(tally->processes[i].mapped);
		free(tally->processes[i].probes);
		hash_map_release(&tally->processes[i].locations);
	}
	for (size_t i = 0; i < tally->thread_count; i++)
		count_tree_release(&tally->threads[i].tree);
	tally_block_release(tally);
	free(tally->chunks);
	free(tally->processes);
	free(tally->threads);
	if (tally->is_mapped)
		munmap((void *)tally->bytes, tally->size);
	free(tally);
}
