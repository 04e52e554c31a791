#include "collect/count/parts.h"

int tally_out_of_memory(struct error *error)
{
	return error_set(error, ERROR_MEMORY, "out of memory");
}

const struct count_chunk *tally_next_chunk(const struct tally *tally, const struct count_thread *thread, uint32_t kind,
					   const struct count_chunk *after)
{
	const struct count_chunk *first = tally->chunks + thread->first_chunk, *end = first + thread->chunk_count;
	for (const struct count_chunk *chunk = after ? after + 1 : first; chunk < end; chunk++)
		if (chunk->kind == kind)
			return chunk;
	return NULL;
}
