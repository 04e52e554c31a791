/*
 * Decodes hits in parallel: they are most of a large file, and their blocks do not depend on each other. Each thread
 * takes the next block and decodes it into its rows. Ids are checked at the same time, by the smallest and largest
 * number of each column, which cost little to find while the column is in the cache. Where hits are added up, each thread has a run of
 * blocks, and decodes one after the other into the same memory.
 */
#include <errno.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/parallel.h"
#include "profile_file/column.h"
#include "profile_file/load.h"
#include "profile_file/load_sums.h"
#include "profile_file/tables.h"

/* Fewer do not justify the start of a thread, which with sums has tables of its own. */
enum { BLOCKS_PER_THREAD = 4, SUMMED_PER_THREAD = 64 };

/* The columns of FORMAT_HITS. */
enum { HIT_TIME, HIT_THREAD, HIT_NODE, HIT_RESOURCE, HIT_COUNT, HIT_MORE_SAMPLES, HIT_COLUMNS };

struct shared {
	const struct load *load;
	atomic_size_t next;  /* the next block to decode */
	atomic_bool stopped; /* a thread failed */
	/* Where hits are added up: */
	bool skips_times; /* and threads: nothing needs them */
	size_t rows_most; /* of a block */
};

struct worker {
	struct shared *shared;
	uint64_t last_us;
	uint64_t hits; /* in its blocks; at most PROFILE_HITS_MOST */
	int code;
	int number;                      /* errno, if code is ERROR_SYSTEM */
	const struct load_block *failed; /* NULL: the error concerns no block */
	/* Where hits are added up: */
	struct load_sums sums;
	size_t first, end;           /* its blocks */
	struct profile_hit *decoded; /* of one block; owned */
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

static bool decode_columns(const struct worker *worker, const struct load_block *block, struct cursor *cursor,
			   struct profile_hit *hits, struct column_range *range)
{
	const struct table *table = &format_tables[BLOCK_HITS];
	size_t rows = block->header.rows;
	bool is_whole = true;
	for (size_t c = 0; c < HIT_COLUMNS && is_whole; c++)
		if (c == HIT_MORE_SAMPLES && cursor_left(cursor) == 0)
			have_one_sample(hits, rows);
		else if (worker->shared->skips_times && (c == HIT_TIME || c == HIT_THREAD))
			is_whole = column_skip(cursor, rows);
		else
			is_whole = column_decode(cursor, rows, &table->columns[c], (char *)hits, table->item_bytes,
						 &range[c]);
	return is_whole;
}

static __attribute__((noinline)) int decode_block(struct worker *worker, const struct load_block *block,
						  struct load_buffers *buffers)
{
	const struct load *load = worker->shared->load;
	int code;
	const uint8_t *payload = load_payload(load, block, buffers, &code);
	if (!payload)
		return code;
	struct cursor cursor = cursor_over(payload, block->header.raw_bytes);
	struct column_range range[HIT_COLUMNS] = { 0 };
	struct profile_hit *hits = load->sums ? worker->decoded : load->profile->hits + block->header.first;
	if (!decode_columns(worker, block, &cursor, hits, range))
		return ERROR_CORRUPT;
	if (range[HIT_TIME].max > worker->last_us)
		worker->last_us = range[HIT_TIME].max;
	if (!ids_are_sound(load->profile, range) || !add_counts(worker, hits, block->header.rows))
		return ERROR_CORRUPT;
	return load->sums ? load_sums_add(&worker->sums, load->profile, hits, block->header.rows, block->header.first)
			  : 0;
}

/* Sets *block to the next one of a worker. Returns false after the last one. */
static bool next_block(struct worker *worker, const struct load_block **block)
{
	struct shared *shared = worker->shared;
	bool sums = shared->load->sums;
	size_t at = sums ? worker->first++ : atomic_fetch_add(&shared->next, 1);
	*block = &shared->load->blocks[at];
	return !atomic_load(&shared->stopped) && at < (sums ? worker->end : shared->load->block_count);
}

static int begin_sums(struct worker *worker)
{
	worker->decoded = malloc(worker->shared->rows_most * sizeof(*worker->decoded));
	int code = load_sums_init(&worker->sums, worker->shared->load->profile);
	return worker->decoded ? code : ERROR_MEMORY;
}

static void work(void *argument)
{
	struct worker *worker = argument;
	const struct load *load = worker->shared->load;
	const struct load_block *block;
	struct load_buffers buffers;
	worker->code = load_buffers_init(&buffers);
	if (worker->code == 0 && load->sums)
		worker->code = begin_sums(worker);
	while (worker->code == 0 && next_block(worker, &block)) {
		if (block->header.type != BLOCK_HITS)
			continue;
		worker->code = decode_block(worker, block, &buffers);
		worker->number = errno;
		worker->failed = worker->code < 0 ? block : NULL;
	}
	if (worker->code < 0)
		atomic_store(&worker->shared->stopped, true);
	free(worker->decoded);
	load_buffers_release(&buffers);
}

/* Reserves room for all rows, if each becomes a hit. Their number comes only from headers; if blocks do not fill the memory, it is never
 * touched. */
static int reserve(struct load *load, size_t *blocks, size_t *rows_most, struct error *error)
{
	uint64_t rows = 0;
	*blocks = *rows_most = 0;
	for (size_t i = 0; i < load->block_count; i++) {
		const struct load_block *block = &load->blocks[i];
		if (block->header.type != BLOCK_HITS)
			continue;
		if (block->header.first != rows)
			return load_block_error(load, block, ERROR_CORRUPT, error);
		rows += block->header.rows;
		*rows_most = block->header.rows > *rows_most ? block->header.rows : *rows_most;
		++*blocks;
	}
	if (load->sums)
		return 0;
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

static size_t thread_count(const struct load *load, size_t blocks)
{
	long processors = sysconf(_SC_NPROCESSORS_ONLN);
	size_t count = blocks / (load->sums ? SUMMED_PER_THREAD : BLOCKS_PER_THREAD);
	if (processors > 0 && count > (size_t)processors)
		count = (size_t)processors;
	return count < 1 ? 1 : count > PARALLEL_MAX ? PARALLEL_MAX : count;
}

/* Checks the numbers of all hits together, and makes the sums the profile's hits. */
static int finish(const struct load *load, struct worker *workers, size_t count, uint64_t *last_ns, struct error *error)
{
	for (size_t i = 0; i < count; i++)
		if (workers[i].last_us * 1000 > *last_ns)
			*last_ns = workers[i].last_us * 1000;
	int code = worst(load, workers, count, error);
	uint64_t room = PROFILE_HITS_MOST;
	for (size_t i = 0; i < count && code == 0; room -= workers[i++].hits)
		if (workers[i].hits > room)
			code = error_set(error, ERROR_CORRUPT, "cannot read %s: corrupt: hits exceed 2^62",
					 load->source.name);
	if (code == 0 && load->sums && load_sums_finish(&workers[0].sums, count, sizeof(workers[0]), load->profile) < 0)
		code = error_set(error, ERROR_MEMORY, "cannot read %s: out of memory for its hits", load->source.name);
	for (size_t i = 0; i < count; i++)
		load_sums_release(&workers[i].sums);
	return code;
}

int load_hits(struct load *load, uint64_t *last_ns, struct error *error)
{
	size_t blocks, rows_most, all = load->block_count;
	int code = reserve(load, &blocks, &rows_most, error);
	*last_ns = 0;
	if (code < 0 || blocks == 0)
		return code;
	struct shared shared = { .load = load,
				 .skips_times = load->sums && load->profile->ended,
				 .rows_most = rows_most };
	struct worker workers[PARALLEL_MAX];
	size_t count = thread_count(load, blocks);
	for (size_t i = 0; i < count; i++)
		workers[i] =
			(struct worker){ .shared = &shared, .first = all * i / count, .end = all * (i + 1) / count };
	parallel_run(work, workers, count, sizeof(workers[0]));
	return finish(load, workers, count, last_ns, error);
}
