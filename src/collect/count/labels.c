/* The label sets of processes, from their LABELS chunks. */
#include <string.h>

#include "collect/count/parts.h"

static int read_chunk(struct count_process *process, const struct count_chunk *chunk, struct profile *profile)
{
	struct tally_labels header;
	memcpy(&header, chunk->bytes, sizeof(header));
	const uint8_t *at = chunk->bytes + sizeof(header);
	uint64_t left = header.sets_bytes;
	if (left > chunk->size - sizeof(header))
		left = chunk->size - sizeof(header);
	while (left >= sizeof(struct tally_label_set)) {
		struct tally_label_set set;
		memcpy(&set, at, sizeof(set));
		uint64_t bytes = (sizeof(set) + (uint64_t)set.bytes + sizeof(uint64_t) - 1) / sizeof(uint64_t) *
				 sizeof(uint64_t);
		if (bytes > left)
			break;
		int result = label_numbers_define(&process->labels, profile, set.number, (const char *)at + sizeof(set),
						  set.bytes);
		if (result < 0)
			return result;
		at += bytes;
		left -= bytes;
	}
	return 0;
}

int tally_read_labels(struct tally *tally, struct profile *profile)
{
	for (size_t i = 0; i < tally->chunk_count; i++) {
		const struct count_chunk *chunk = &tally->chunks[i];
		int result =
			chunk->kind == TALLY_LABELS ? read_chunk(&tally->processes[chunk->process], chunk, profile) : 0;
		if (result < 0)
			return result;
	}
	return 0;
}
