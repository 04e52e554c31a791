/* Opens a tally: checks its header, and lists its chunks. */
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/array.h"
#include "base/file_author.h"
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
	char magic[MAGIC_BYTES];
	if (!count_source_copy(&tally->source, 0, magic, sizeof(magic)) || !tally_is(magic, sizeof(magic)))
		return error_set(error, ERROR_FORMAT, "'%s' is not a tally of cpprof", name);
	if (tally->source.size < TALLY_HEADER_BYTES || !count_source_copy(&tally->source, 0, header, sizeof(*header)))
		return error_set(error, ERROR_TRUNCATED, "'%s' ends within its header", name);
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
		[TALLY_PROBES] = sizeof(struct tally_probes),   [TALLY_LABELS] = sizeof(struct tally_labels),
	};
	return kind < TALLY_CHUNK_KINDS ? least[kind] : sizeof(struct tally_chunk);
}

/* The events of a trace may be much more than fits into memory: they are loaded chunk by chunk (events.c). */
static int add_chunk(struct tally *tally, const struct tally_chunk *header, uint64_t offset, uint64_t left)
{
	if (ARRAY_RESERVE(tally->chunks, tally->chunk_capacity, tally->chunk_count + 1) < 0)
		return ERROR_MEMORY;
	uint64_t least = least_bytes(header->kind), size = header->bytes < left ? header->bytes : left;
	uint64_t used = header->used < least ? least : header->used;
	const uint8_t *bytes = NULL;
	int status = header->kind == TALLY_EVENTS ? 0 : count_source_load(&tally->source, offset, used, &size, &bytes);
	if (status < 0)
		return status;
	tally->chunks[tally->chunk_count++] = (struct count_chunk){
		.bytes = bytes,
		.offset = offset,
		.size = size,
		.used = used,
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

static int error_truncated(const char *name, struct error *error)
{
	return error_set(error, ERROR_TRUNCATED,
			 "cannot read all of '%s': it was truncated meanwhile, or the disk failed", name);
}

/* Reads the chunk at an offset, if there is one. Returns the distance to the next chunk in bytes, or a negative
 * error. */
static int64_t read_chunk(struct tally *tally, uint64_t offset, uint64_t left, const char *name, struct error *error)
{
	struct tally_chunk header;
	if (!count_source_copy(&tally->source, offset, &header, sizeof(header)))
		return error_truncated(name, error);
	/* A chunk that was never finished may have any length. */
	if (header.magic != TALLY_CHUNK_MAGIC || header.kind == TALLY_NOTHING)
		return TALLY_GRANULE;
	if (header.bytes % TALLY_GRANULE != 0 || header.bytes < least_bytes(header.kind) || header.bytes > INT64_MAX ||
	    header.used > header.bytes)
		return error_set(error, ERROR_CORRUPT, "'%s' is damaged: invalid chunk at %" PRIu64, name, offset);
	if (!is_whole(&header, left))
		return error_set(error, ERROR_TRUNCATED, "'%s' ends within a chunk, at %" PRIu64 " of %" PRIu64, name,
				 offset + left, tally->header.used);
	int status = header.kind < TALLY_CHUNK_KINDS ? add_chunk(tally, &header, offset, left) : 0;
	if (status == ERROR_TRUNCATED)
		return error_truncated(name, error);
	return status < 0 ? error_memory(error) : (int64_t)header.bytes;
}

/* Whether the file lacks a granule or more of what its header counts as used. This does not apply to the rest of a
 * last PROCESS chunk, because its room for modules is not in the file until it is written. */
static bool ends_early(const struct tally *tally, uint64_t last, uint64_t last_bytes)
{
	uint64_t used = tally->header.used;
	struct tally_chunk chunk;
	if (used <= tally->source.size || used - tally->source.size < TALLY_GRANULE)
		return false;
	if (last_bytes == 0 || last_bytes < used - last)
		return true;
	return !count_source_copy(&tally->source, last, &chunk, sizeof(chunk)) || chunk.kind != TALLY_PROCESS;
}

static int read_chunks(struct tally *tally, const char *name, struct error *error)
{
	uint64_t end = tally->header.used < tally->source.size ? tally->header.used : tally->source.size;
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
		result = tally_compensate(tally) < 0 ? error_memory(error) : 0;
	return result;
}

/* The tally owns the source, also on errors. */
static struct tally *open_source(struct count_source source, const char *name, struct error *error)
{
	struct tally *tally = calloc(1, sizeof(*tally));
	if (!tally) {
		count_source_release(&source);
		error_memory(error);
		return NULL;
	}
	struct error unheard;
	error = error ? error : &unheard;
	tally->source = source;
	if (read_all(tally, name, error) < 0) {
		tally_free(tally);
		return NULL;
	}
	return tally;
}

struct tally *tally_open_bytes(const void *bytes, size_t size, const char *name, struct error *error)
{
	return open_source((struct count_source){ .memory = bytes, .fd = -1, .size = size }, name, error);
}

struct tally *tally_open(const char *path, struct error *error)
{
	struct stat status = { 0 };
	int fd = path_open_regular(path);
	if (fd >= 0 && fstat(fd, &status) == 0 && status.st_size > 0)
		return open_source(
			(struct count_source){ .fd = fd, .size = (uint64_t)status.st_size, .owner = file_author(fd) },
			path, error);
	if (fd < 0 || status.st_size > 0)
		error_set_errno(error, "cannot read '%s'", path);
	else
		error_set(error, ERROR_FORMAT, "'%s' is empty", path);
	if (fd >= 0)
		close(fd);
	return NULL;
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
		label_numbers_release(&tally->processes[i].labels);
	}
	for (size_t i = 0; i < tally->thread_count; i++)
		count_tree_release(&tally->threads[i].tree);
	tally_block_release(tally);
	for (size_t i = 0; i < tally->chunk_count; i++)
		count_source_unload(&tally->source, tally->chunks[i].bytes);
	free(tally->chunks);
	free(tally->processes);
	free(tally->threads);
	count_source_release(&tally->source);
	free(tally);
}
