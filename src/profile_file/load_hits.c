/*
 * Decodes hits in parallel: they are most of a large file, and their blocks do not depend on each other. Each thread
 * takes the next block and decodes it into its rows. Ids are checked at the same time, by the smallest and largest
 * number of each column, which cost little to find while the column is in the cache.
 */
#include <errno.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/parallel.h"
#include "profile_file/column.h"
#include "profile_file/load.h"
#include "profile_file/tables.h"

enum { BLOCKS_PER_THREAD = 4 }; /* fewer do not justify the start of a thread */

/* The columns of FORMAT_HITS. */
enum { HIT_TIME, HIT_THREAD, HIT_NODE, HIT_RESOURCE, HIT_COUNT, HIT_MORE_SAMPLES, HIT_COLUMNS };

struct shared {
	const struct load *load;
	atomic_size_t next;  /* the next block to decode */
	atomic_bool stopped; /* a thread failed */
};

struct worker {
	struct shared *shared;
	uint64_t last_us;
	uint64_t hits; /* in its blocks; at most PROFILE_HITS_MOST */
	int code;
	int number;                      /* errno, if code is ERROR_SYSTEM */
	const struct load_block *failed; /* NULL: the error concerns no block */
};

static bool ids_are_sound(const struct profile *profile, const struct column_range *range)
{
	return range[HIT_THREAD].max <= profile->thread_count && range[HIT_NODE].max < profile->node_count &&
	       range[HIT_RESOURCE].max < profile->resource_count && range[HIT_COUNT].min > 0;
}

/* Files of older formats end before the last column. */
static void have_one_sample(struct profile_hit *hits, size_t rows)
{
	for (size_t i = 0; i < rows; i++)
		hits[i].more_samples = 0;
}

/* Adds up the counts of a block. Returns false if they are more than a profile can have, or do not fit to their samples. */
static bool add_counts(struct worker *worker, const struct profile_hit *hits, size_t rows)
{
	for (size_t i = 0; i < rows; i++) {
		if (hits[i].count > PROFILE_HITS_MOST - worker->hits || !profile_samples_are_sound(&hits[i]))
			return false;
		worker->hits += hits[i].count;
	}
	return true;
}

static __attribute__((noinline)) int decode_block(struct worker *worker, const struct load_block *block,
						  struct load_buffers *buffers)
{
	const struct load *load = worker->shared->load;
	const struct table *table = &format_tables[BLOCK_HITS];
	int code;
	const uint8_t *payload = load_payload(load, block, buffers, &code);
	if (!payload)
		return code;
	struct cursor cursor = cursor_over(payload, block->header.raw_bytes);
	char *rows = (char *)(load->profile->hits + block->header.first);
	struct column_range range[HIT_COLUMNS];
	for (size_t c = 0; c < HIT_COLUMNS; c++)
		if (c == HIT_MORE_SAMPLES && cursor_left(&cursor) == 0)
			have_one_sample(load->profile->hits + block->header.first, block->header.rows);
		else if (!column_decode(&cursor, block->header.rows, &table->columns[c], rows, table->item_bytes,
					&range[c]))
			return ERROR_CORRUPT;
	if (range[HIT_TIME].max > worker->last_us)
		worker->last_us = range[HIT_TIME].max;
	bool is_sound = ids_are_sound(load->profile, range) &&
			add_counts(worker, load->profile->hits + block->header.first, block->header.rows);
	return is_sound ? 0 : ERROR_CORRUPT;
}

static void work(void *argument)
{
	struct worker *worker = argument;
	struct shared *shared = worker->shared;
	struct load_buffers buffers;
	worker->code = load_buffers_init(&buffers);
	while (worker->code == 0 && !atomic_load(&shared->stopped)) {
		size_t at = atomic_fetch_add(&shared->next, 1);
		if (at >= shared->load->block_count)
			break;
		const struct load_block *block = &shared->load->blocks[at];
		if (block->header.type != BLOCK_HITS)
			continue;
		worker->code = decode_block(worker, block, &buffers);
		worker->number = errno;
		worker->failed = worker->code < 0 ? block : NULL;
	}
	if (worker->code < 0)
		atomic_store(&shared->stopped, true);
	load_buffers_release(&buffers);
}

/* Reserves room for all rows. Their number comes only from headers; if blocks do not fill the memory, it is never
 * touched. */
static int reserve(struct load *load, size_t *blocks, struct error *error)
{
	uint64_t rows = 0;
	*blocks = 0;
	for (size_t i = 0; i < load->block_count; i++) {
		const struct load_block *block = &load->blocks[i];
		if (block->header.type != BLOCK_HITS)
			continue;
		if (block->header.first != rows)
			return load_block_error(load, block, ERROR_CORRUPT, error);
		rows += block->header.rows;
		++*blocks;
	}
	if (profile_reserve_hits(load->profile, rows) < 0)
		return error_set(error, ERROR_MEMORY, "cannot read %s: out of memory for %llu hits", load->source.name,
				 (unsigned long long)rows);
	load->profile->hit_count = rows;
	return 0;
}

static int worst(const struct load *load, const struct worker *workers, size_t count, struct error *error)
{
	const struct worker *first = NULL;
	for (size_t i = 0; i < count; i++)
		if (workers[i].code < 0 && (!first || workers[i].failed < first->failed))
			first = &workers[i];
	if (!first)
		return 0;
	errno = first->number;
	return first->failed ? load_block_error(load, first->failed, first->code, error)
			     : error_set(error, first->code, "cannot read %s: %s", load->source.name,
					 error_text(first->code));
}

static size_t thread_count(size_t blocks)
{
	long processors = sysconf(_SC_NPROCESSORS_ONLN);
	size_t count = blocks / BLOCKS_PER_THREAD;
	if (processors > 0 && count > (size_t)processors)
		count = (size_t)processors;
	return count < 1 ? 1 : count > PARALLEL_MAX ? PARALLEL_MAX : count;
}

int load_hits(struct load *load, uint64_t *last_ns, struct error *error)
{
	size_t blocks;
	int code = reserve(load, &blocks, error);
	*last_ns = 0;
	if (code < 0 || blocks == 0)
		return code;
	struct shared shared = { .load = load };
	struct worker workers[PARALLEL_MAX];
	size_t count = thread_count(blocks);
	for (size_t i = 0; i < count; i++)
		workers[i] = (struct worker){ .shared = &shared };
	parallel_run(work, workers, count, sizeof(workers[0]));
	for (size_t i = 0; i < count; i++)
		if (workers[i].last_us * 1000 > *last_ns)
			*last_ns = workers[i].last_us * 1000;
	code = worst(load, workers, count, error);
	uint64_t room = PROFILE_HITS_MOST;
	for (size_t i = 0; i < count && code == 0; room -= workers[i++].hits)
		if (workers[i].hits > room)
			code = error_set(error, ERROR_CORRUPT, "cannot read %s: corrupt: hits exceed 2^62",
					 load->source.name);
	return code;
}
