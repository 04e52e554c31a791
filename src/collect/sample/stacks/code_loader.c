#include "collect/sample/stacks/code_loader.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/compare.h"
#include "base/hash_map.h"
#include "collect/sample/clock.h"

enum {
	RUN_ROUND = 16, /* the number of codes in a run is a multiple of this */
	NS_PER_S = 1000 * 1000 * 1000,
};

/* A walk takes some us, but a forked child uses its parent's run until its fork is reported. */
static const uint64_t QUARANTINE_NS = 2 * (uint64_t)NS_PER_S;

/* The slots at which the rows and the page index of one table begin. */
struct loaded {
	uint32_t rows, pages;
};

/* A range of `codes`: of a process, or free from `free_ns` on. */
struct run {
	uint32_t first, room;
	uint64_t free_ns;
};

struct code_loader {
	struct code_storage storage;
	uint32_t codes_used;
	struct run *free_runs;
	size_t free_count, free_capacity;
	struct hash_map run_by_pid; /* pid -> index in `runs` */
	struct run *runs;
	size_t run_count, run_capacity;

	uint8_t *chunk; /* the last chunk */
	uint32_t chunk_count;
	uint64_t slots_used;      /* over all chunks */
	struct hash_map by_table; /* table's key, or its address if it has none -> index in `loaded` */
	struct loaded *loaded;
	size_t loaded_count, loaded_capacity;
	uint64_t rows, index_bytes;
};

struct code_loader *code_loader_new(const struct code_storage *storage, struct error *error)
{
	struct code_loader *loader = calloc(1, sizeof(*loader));
	if (!loader) {
		storage->release(storage->context);
		error_memory(error);
		return NULL;
	}
	loader->storage = *storage;
	hash_map_init(&loader->run_by_pid);
	hash_map_init(&loader->by_table);
	loader->chunk = storage->add_chunk(storage->context, 0);
	loader->chunk_count = 1;
	if (loader->chunk)
		return loader;
	error_set_errno(error, "cannot allocate unwind rows");
	code_loader_free(loader);
	return NULL;
}

void code_loader_free(struct code_loader *loader)
{
	if (!loader)
		return;
	loader->storage.release(loader->storage.context);
	hash_map_release(&loader->run_by_pid);
	hash_map_release(&loader->by_table);
	free(loader->free_runs);
	free(loader->runs);
	free(loader->loaded);
	free(loader);
}

/* --- rows --- */

/* Adds the next chunk, when the last one is full. */
static int add_chunk(struct code_loader *loader)
{
	if (loader->chunk_count == CODE_CHUNKS)
		return ERROR_LIMIT;
	uint8_t *chunk = loader->storage.add_chunk(loader->storage.context, loader->chunk_count);
	if (!chunk)
		return ERROR_SYSTEM;
	loader->chunk = chunk;
	loader->chunk_count++;
	return 0;
}

/* Appends bytes, which begin at a new slot, and sets *slot to its number. Returns 0 or a negative error. */
static int append(struct code_loader *loader, const void *bytes, size_t size, uint32_t *slot)
{
	*slot = (uint32_t)loader->slots_used;
	for (size_t done = 0; done < size;) {
		uint64_t at = loader->slots_used & (CODE_CHUNK_SLOTS - 1);
		if (loader->slots_used >> CODE_CHUNK_SHIFT == loader->chunk_count) {
			int result = add_chunk(loader);
			if (result < 0)
				return result;
		}
		size_t room = (size_t)(CODE_CHUNK_SLOTS - at) * CODE_SLOT_BYTES;
		size_t part = size - done < room ? size - done : room;
		memcpy(loader->chunk + at * CODE_SLOT_BYTES, (const uint8_t *)bytes + done, part);
		loader->slots_used += (part + CODE_SLOT_BYTES - 1) / CODE_SLOT_BYTES;
		done += part;
	}
	return 0;
}

static int load_table(struct code_loader *loader, const struct unwind_table *table, struct loaded *loaded)
{
	uint64_t key = table->key ? table->key : (uint64_t)(uintptr_t)table;
	uint32_t known = hash_map_get(&loader->by_table, key);
	if (known != HASH_MAP_NONE) {
		*loaded = loader->loaded[known];
		return 0;
	}
	if (ARRAY_RESERVE(loader->loaded, loader->loaded_capacity, loader->loaded_count + 1) < 0 ||
	    hash_map_reserve(&loader->by_table, loader->loaded_count + 1) < 0)
		return ERROR_MEMORY;
	size_t index_bytes = (table->page_count + (size_t)1) * sizeof(table->pages[0]);
	int result = append(loader, table->rows, (size_t)table->row_count * sizeof(table->rows[0]), &loaded->rows);
	if (result == 0)
		result = append(loader, table->pages, index_bytes, &loaded->pages);
	if (result < 0)
		return result;
	loader->rows += table->row_count;
	loader->index_bytes += index_bytes;
	loader->loaded[loader->loaded_count] = *loaded;
	hash_map_put(&loader->by_table, key, (uint32_t)loader->loaded_count++);
	return 0;
}

/* --- runs --- */

static int by_first(const void *left, const void *right)
{
	const struct run *a = left, *b = right;
	return COMPARE(a->first, b->first);
}

/* Joins free runs that are beside each other: a process whose code grows leaves a larger one each time. */
static void join_free_runs(struct code_loader *loader, uint64_t now)
{
	struct run *runs = loader->free_runs;
	size_t kept = 0;
	if (loader->free_count > 0)
		qsort(runs, loader->free_count, sizeof(*runs), by_first);
	for (size_t i = 0; i < loader->free_count; i++) {
		struct run *last = kept > 0 ? &runs[kept - 1] : NULL;
		bool is_beside = last && last->first + last->room == runs[i].first;
		if (is_beside && last->free_ns <= now && runs[i].free_ns <= now)
			last->room += runs[i].room;
		else
			runs[kept++] = runs[i];
	}
	loader->free_count = kept;
}

static bool take_free_run(struct code_loader *loader, uint32_t room, uint64_t now, struct run *run)
{
	for (size_t i = 0; i < loader->free_count; i++) {
		if (loader->free_runs[i].room < room || loader->free_runs[i].free_ns > now)
			continue;
		*run = (struct run){ .first = loader->free_runs[i].first, .room = room };
		loader->free_runs[i].first += room;
		loader->free_runs[i].room -= room;
		if (loader->free_runs[i].room == 0)
			loader->free_runs[i] = loader->free_runs[--loader->free_count];
		return true;
	}
	return false;
}

static int take_run(struct code_loader *loader, uint32_t count, struct run *run)
{
	uint32_t room = (count + RUN_ROUND - 1) / RUN_ROUND * RUN_ROUND;
	uint64_t now = clock_now_ns(CLOCK_MONOTONIC);
	if (take_free_run(loader, room, now, run))
		return 0;
	if (room > WALK_CODES - loader->codes_used) {
		join_free_runs(loader, now);
		return take_free_run(loader, room, now, run) ? 0 : ERROR_LIMIT;
	}
	*run = (struct run){ .first = loader->codes_used, .room = room };
	loader->codes_used += room;
	return 0;
}

/* Frees a run. The caller has reserved the memory for that, so it cannot fail. */
static void release_run(struct code_loader *loader, const struct run *run)
{
	if (run->room == 0)
		return;
	struct run *given = &loader->free_runs[loader->free_count++];
	*given = *run;
	given->free_ns = clock_now_ns(CLOCK_MONOTONIC) + QUARANTINE_NS;
}

/* Returns the run of a process, with room 0 if it has none, or NULL if memory ran out. */
static struct run *run_of(struct code_loader *loader, uint32_t pid)
{
	bool is_new;
	int64_t run =
		HASH_MAP_ITEM(&loader->run_by_pid, pid, loader->runs, loader->run_capacity, loader->run_count, &is_new);
	if (is_new)
		loader->runs[run] = (struct run){ 0 };
	return run < 0 ? NULL : &loader->runs[run];
}

static int fill_run(struct code_loader *loader, const struct run *run, const struct backend_code *code, size_t count)
{
	int result = 0;
	for (size_t i = 0; i < count; i++) {
		const struct unwind_table *table = code[i].table;
		struct walk_code *to = &loader->storage.codes[run->first + i];
		struct loaded loaded = { 0 };
		bool has_rows = table && table->row_count > 0;
		int loading = has_rows ? load_table(loader, table, &loaded) : 0;
		*to = (struct walk_code){ .start = code[i].start, .end = code[i].end };
		if (loading < 0) /* without rows, its stacks need the user-space fallback */
			result = loading;
		if (!has_rows || loading < 0)
			continue;
		to->base = code[i].bias + table->base;
		to->rows = loaded.rows;
		to->row_count = table->row_count;
		to->pages = loaded.pages;
		to->page_count = table->page_count;
		to->page_shift = table->page_shift;
	}
	return result;
}

/* Sets the first interpreter of a process's files, with run-time addresses. */
static void set_interpreter(struct interpreter *interpreter, const struct backend_code *code, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		if (!code[i].interpreter)
			continue;
		*interpreter = *code[i].interpreter;
		interpreter->runtime += code[i].bias;
		interpreter->code_type += code[i].bias;
		return;
	}
}

int code_loader_load(struct code_loader *loader, uint32_t pid, const struct backend_code *code, size_t count)
{
	struct run *old = run_of(loader, pid);
	if (!old || ARRAY_RESERVE(loader->free_runs, loader->free_capacity, loader->free_count + 1) < 0)
		return ERROR_MEMORY;
	struct run run = { 0 };
	if (count > WALK_CODES)
		return ERROR_LIMIT;
	int result = count ? take_run(loader, (uint32_t)count, &run) : 0;
	if (result < 0) {
		/* Without code its stacks need the user-space fallback; with old code they could be
		 * unwound wrongly. */
		loader->storage.drop_process(loader->storage.context, pid);
		release_run(loader, old);
		*old = run;
		return result;
	}
	result = count ? fill_run(loader, &run, code, count) : 0;
	struct walk_process process = { .first = run.first, .count = (uint32_t)count };
	set_interpreter(&process.interpreter, code, count);
	int set = count ? loader->storage.set_process(loader->storage.context, pid, &process) : 0;
	if (set < 0) {
		release_run(loader, &run);
		return set;
	}
	if (!count)
		loader->storage.drop_process(loader->storage.context, pid); /* exec may have dropped it already */
	release_run(loader, old);
	*old = run;
	return result;
}

uint64_t code_loader_rows(const struct code_loader *loader)
{
	return loader->rows;
}

uint64_t code_loader_index_bytes(const struct code_loader *loader)
{
	return loader->index_bytes;
}
