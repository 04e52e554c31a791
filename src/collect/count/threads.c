/* Reads threads: their list, their trees, and which thread created which. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/compare.h"
#include "base/lower_bound.h"
#include "collect/count/parts.h"

/* --- the list --- */

static int add_thread(struct tally *tally, const struct count_chunk *chunk, uint32_t first, uint32_t count)
{
	if (ARRAY_RESERVE(tally->threads, tally->thread_capacity, tally->thread_count + 1) < 0)
		return ERROR_MEMORY;
	struct count_thread *thread = &tally->threads[tally->thread_count];
	*thread = (struct count_thread){
		.shared = (const struct tally_thread *)chunk->bytes,
		.first_chunk = first,
		.chunk_count = count,
		.process = chunk->process,
		.number = chunk->thread,
		.creator = TALLY_NONE,
		.creator_path = TALLY_NONE,
		.id = PROFILE_NONE,
	};
	int result = count_tree_init(&thread->tree);
	if (result == 0)
		tally->thread_count++;
	return result;
}

/* Lists the threads. The chunks of one thread are adjacent. A thread without a THREAD chunk was never finished, and
 * is skipped. */
static int read_list(struct tally *tally, const char *name, struct error *error)
{
	size_t next;
	for (size_t first = 0; first < tally->chunk_count; first = next) {
		const struct count_chunk *chunks = tally->chunks, *described = NULL;
		for (next = first; next < tally->chunk_count && chunks[next].process == chunks[first].process &&
				   chunks[next].thread == chunks[first].thread;
		     next++) {
			if (chunks[next].kind != TALLY_THREAD)
				continue;
			if (described)
				return error_set(error, ERROR_CORRUPT,
						 "'%s' is damaged: thread %" PRIu32 " of a process occurs twice", name,
						 chunks[next].thread);
			described = &chunks[next];
		}
		if (described && add_thread(tally, described, (uint32_t)first, (uint32_t)(next - first)) < 0)
			return error_memory(error);
	}
	return 0;
}

/* --- creators --- */

/* `thread` was created by `creator`; either may be read first. */
struct creation {
	uint32_t creator; /* both: index in tally.threads */
	uint32_t thread;
};

static int order_of_creations(const void *a, const void *b)
{
	const struct creation *first = a, *second = b;
	return COMPARE(first->creator, second->creator);
}

static int order_of_threads(const void *a, const void *b)
{
	const struct count_thread *first = a, *second = b;
	return COMPARE(first->process, second->process) ?: COMPARE(first->number, second->number);
}

/* Returns the thread whose chunks contain an address of a process, or TALLY_NONE if none do. */
static uint32_t owner_of(const struct tally *tally, uint32_t process_number, uint64_t address)
{
	const struct count_process *process = tally_find_process(tally, process_number);
	size_t begun = process ? LOWER_BOUND(i, 0, process->mapped_count, process->mapped[i]->address <= address) : 0;
	if (begun == 0)
		return TALLY_NONE;
	const struct count_chunk *chunk = process->mapped[begun - 1];
	const struct count_thread key = { .process = chunk->process, .number = chunk->thread };
	const struct count_thread *found =
		address - chunk->address < chunk->size
			? bsearch(&key, tally->threads, tally->thread_count, sizeof(key), order_of_threads)
			: NULL;
	return found ? (uint32_t)(found - tally->threads) : TALLY_NONE;
}

/* Lists which threads created which, sorted by the creator. Returns an array that the caller frees, or NULL if there
 * is no memory. */
static struct creation *list_creations(const struct tally *tally, size_t *count)
{
	struct creation *creations = calloc(tally->thread_count + 1, sizeof(*creations));
	*count = 0;
	for (size_t i = 0; i < tally->thread_count && creations; i++) {
		const struct tally_thread *shared = tally->threads[i].shared;
		uint64_t node = (uint64_t)(uintptr_t)shared->creator;
		uint32_t creator = node ? owner_of(tally, shared->creator_process, node) : TALLY_NONE;
		if (creator != TALLY_NONE)
			creations[(*count)++] = (struct creation){ .creator = creator, .thread = (uint32_t)i };
	}
	if (creations && *count)
		qsort(creations, *count, sizeof(*creations), order_of_creations);
	return creations;
}

static void set_creator(struct tally *tally, const struct creation *creation, const struct hash_map *paths)
{
	struct count_thread *thread = &tally->threads[creation->thread];
	uint32_t path = hash_map_get(paths, (uint64_t)(uintptr_t)thread->shared->creator);
	if (path == HASH_MAP_NONE)
		return;
	thread->creator = creation->creator;
	thread->creator_path = path;
}

/* --- trees --- */

static int read_tree(struct tally *tally, struct count_thread *thread, struct hash_map *paths, const char *name,
		     struct error *error)
{
	hash_map_release(paths); /* clearing it would keep the memory of a large one */
	int result = tally_read_objects(tally, thread, paths, name, error);
	if (result == 0 && tally->header.measurement == TALLY_TRACE)
		result = tally_replay(tally, thread, error);
	return result;
}

static int read_trees(struct tally *tally, const struct creation *creations, size_t count, const char *name,
		      struct error *error)
{
	struct hash_map paths;
	hash_map_init(&paths);
	size_t next = 0;
	int result = 0;
	for (size_t i = 0; i < tally->thread_count && result == 0; i++) {
		result = read_tree(tally, &tally->threads[i], &paths, name, error);
		for (; next < count && creations[next].creator == i; next++)
			set_creator(tally, &creations[next], &paths);
	}
	hash_map_release(&paths);
	return result;
}

int tally_read_threads(struct tally *tally, const char *name, struct error *error)
{
	size_t count;
	int result = read_list(tally, name, error);
	if (result < 0)
		return result;
	struct creation *creations = list_creations(tally, &count);
	result = creations ? read_trees(tally, creations, count, name, error) : error_memory(error);
	free(creations);
	return result;
}
