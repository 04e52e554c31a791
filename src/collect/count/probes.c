/* Reads the probe points that a process has reached, from its PROBES chunks. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/compare.h"
#include "base/lower_bound.h"
#include "collect/count/parts.h"

struct texts {
	const char *bytes;
	uint64_t size; /* in bytes; the last byte is a NUL */
};

/* Returns the text at an offset, or NULL if that is behind their end. */
static const char *text_at(const struct texts *texts, uint32_t at)
{
	return at < texts->size ? texts->bytes + at : NULL;
}

/* Reads the probe point at the start of `left` bytes. Returns its size in bytes, or ERROR_CORRUPT. */
static int64_t read_probe(const uint8_t *bytes, uint64_t left, struct count_probe *probe)
{
	struct tally_probe header;
	if (left < sizeof(header))
		return ERROR_CORRUPT;
	memcpy(&header, bytes, sizeof(header));
	if (header.bytes > left || header.bytes <= sizeof(header) || header.bytes % sizeof(uint64_t) != 0 ||
	    bytes[header.bytes - 1] != 0)
		return ERROR_CORRUPT;
	const struct texts texts = { (const char *)bytes + sizeof(header), header.bytes - sizeof(header) };
	*probe = (struct count_probe){
		.address = header.address,
		.code = header.code,
		.name = text_at(&texts, 0),
		.signature = text_at(&texts, header.signature),
		.file = text_at(&texts, header.file),
		.group = text_at(&texts, header.group),
		.kind = header.kind,
		.level = header.level,
		.line = header.line,
		.flags = header.flags,
		.switched = header.switched,
		.throttled_calls = header.throttled_calls,
		.throttled_ns = header.throttled_ns,
		.location = PROFILE_NONE,
	};
	return probe->signature && probe->file && probe->group ? (int64_t)header.bytes : ERROR_CORRUPT;
}

static int read_chunk(struct count_process *process, const struct count_chunk *chunk)
{
	struct tally_probes header;
	memcpy(&header, chunk->bytes, sizeof(header));
	const uint8_t *at = chunk->bytes + sizeof(header);
	uint64_t left = header.probes_bytes;
	if (left > chunk->size - sizeof(header))
		return ERROR_CORRUPT;
	while (left > 0) {
		struct count_probe probe;
		int64_t bytes = read_probe(at, left, &probe);
		if (bytes < 0)
			return (int)bytes;
		if (ARRAY_RESERVE(process->probes, process->probe_capacity, process->probe_count + 1) < 0)
			return ERROR_MEMORY;
		process->probes[process->probe_count++] = probe;
		at += bytes;
		left -= (uint64_t)bytes;
	}
	return 0;
}

/* Probe points with the same address stay in the file's order: a later one may have more information. */
static int order_of_probes(const void *a, const void *b)
{
	const struct count_probe *first = a, *second = b;
	return COMPARE(first->address, second->address) ?: COMPARE(first->name, second->name);
}

/* Sorts by address, and keeps only the last probe point of each address. */
static void sort_probes(struct count_process *process)
{
	size_t count = 0;
	if (process->probe_count > 0)
		qsort(process->probes, process->probe_count, sizeof(*process->probes), order_of_probes);
	for (size_t i = 0; i < process->probe_count; i++) {
		if (i + 1 < process->probe_count && process->probes[i].address == process->probes[i + 1].address)
			continue;
		process->probes[count++] = process->probes[i];
	}
	process->probe_count = count;
}

int tally_read_probes(struct tally *tally, const char *name, struct error *error)
{
	for (size_t i = 0; i < tally->chunk_count; i++) {
		const struct count_chunk *chunk = &tally->chunks[i];
		struct count_process *process = &tally->processes[chunk->process];
		int result = chunk->kind == TALLY_PROBES ? read_chunk(process, chunk) : 0;
		if (result == ERROR_CORRUPT)
			return error_set(error, result,
					 "'%s' is damaged: invalid probe points of its process %" PRIu32 "", name,
					 process->number);
		if (result < 0)
			return error_memory(error);
	}
	for (size_t i = 0; i < tally->process_count; i++)
		sort_probes(&tally->processes[i]);
	return 0;
}

const struct count_probe *tally_probe_at(const struct tally *tally, uint32_t process, uint64_t address)
{
	const struct count_process *in = &tally->processes[process];
	size_t at = LOWER_BOUND(i, 0, in->probe_count, in->probes[i].address < address);
	return at < in->probe_count && in->probes[at].address == address ? &in->probes[at] : NULL;
}
