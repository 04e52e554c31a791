#include "record/bpf_code.h"

#include <bpf/bpf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "base/array.h"
#include "base/hash_map.h"
#include "record/bpf/shared.h"

enum {
	SLOT_BYTES = 8,
	CHUNK_BYTES = BPF_CHUNK_SLOTS * SLOT_BYTES,
	CODES_BYTES = BPF_CODES * sizeof(struct bpf_code),
	RUN_ROUND = 16, /* runs are so many codes, or a multiple */
	NS_PER_S = 1000 * 1000 * 1000,
};

/* A walk takes some us; but a forked child has its parent's run until we hear of it. */
static const uint64_t QUARANTINE_NS = 2 * (uint64_t)NS_PER_S;

/* The rows of one table. */
struct loaded {
	uint32_t rows, pages;
};

/* Room in `codes` that a process gave up. */
struct run {
	uint32_t first, room;
	uint64_t free_ns;
};

struct bpf_code_loader {
	struct bpf_code_maps maps;
	struct bpf_code *codes; /* the kernel's memory */
	uint32_t codes_used;
	struct run *free_runs;
	size_t free_count, free_capacity;
	struct hash_map run_by_pid; /* pid -> index in `runs` */
	struct run *runs;
	size_t run_count, run_capacity;

	uint8_t *chunk; /* the last one: the kernel's memory */
	uint32_t chunk_count;
	uint64_t slots_used;      /* over all chunks */
	struct hash_map by_table; /* table's address -> index in `loaded` */
	struct loaded *loaded;
	size_t loaded_count, loaded_capacity;
	uint64_t rows, index_bytes;
};

static uint64_t now_ns(void)
{
	struct timespec time;
	clock_gettime(CLOCK_MONOTONIC, &time);
	return (uint64_t)time.tv_sec * NS_PER_S + (uint64_t)time.tv_nsec;
}

static void *map_memory(int fd, size_t bytes)
{
	void *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	return memory == MAP_FAILED ? NULL : memory;
}

struct bpf_code_loader *bpf_code_loader_new(const struct bpf_code_maps *maps, struct error *error)
{
	struct bpf_code_loader *loader = calloc(1, sizeof(*loader));
	if (!loader) {
		error_set(error, ERROR_MEMORY, "out of memory");
		return NULL;
	}
	loader->maps = *maps;
	hash_map_init(&loader->run_by_pid);
	hash_map_init(&loader->by_table);
	loader->codes = map_memory(maps->codes, CODES_BYTES);
	loader->chunk = loader->codes ? map_memory(maps->first_chunk, CHUNK_BYTES) : NULL;
	loader->chunk_count = 1;
	if (loader->chunk)
		return loader;
	error_set_errno(error, "cannot map the kernel's memory for code");
	bpf_code_loader_free(loader);
	return NULL;
}

void bpf_code_loader_free(struct bpf_code_loader *loader)
{
	if (!loader)
		return;
	if (loader->codes)
		munmap(loader->codes, CODES_BYTES);
	if (loader->chunk)
		munmap(loader->chunk, CHUNK_BYTES);
	hash_map_release(&loader->run_by_pid);
	hash_map_release(&loader->by_table);
	free(loader->free_runs);
	free(loader->runs);
	free(loader->loaded);
	free(loader);
}

/* --- rows --- */

/* The next chunk; what is left of the last one stays empty only if nothing fits. */
static int add_chunk(struct bpf_code_loader *loader)
{
	LIBBPF_OPTS(bpf_map_create_opts, options, .map_flags = BPF_F_MMAPABLE);
	uint32_t number = loader->chunk_count;
	if (number == BPF_CHUNKS)
		return ERROR_LIMIT;
	int fd = bpf_map_create(BPF_MAP_TYPE_ARRAY, "chunk", sizeof(uint32_t), SLOT_BYTES, BPF_CHUNK_SLOTS, &options);
	if (fd < 0)
		return ERROR_SYSTEM;
	void *memory = map_memory(fd, CHUNK_BYTES);
	int result = memory ? bpf_map_update_elem(loader->maps.chunks, &number, &fd, BPF_ANY) : -1;
	close(fd); /* the map of chunks and our memory keep it */
	if (result < 0) {
		if (memory)
			munmap(memory, CHUNK_BYTES);
		return ERROR_SYSTEM;
	}
	munmap(loader->chunk, CHUNK_BYTES);
	loader->chunk = memory;
	loader->chunk_count++;
	return 0;
}

/* Appends bytes, which begin at a new slot; gives its number. */
static int append(struct bpf_code_loader *loader, const void *bytes, size_t size, uint32_t *slot)
{
	*slot = (uint32_t)loader->slots_used;
	for (size_t done = 0; done < size;) {
		uint64_t at = loader->slots_used & (BPF_CHUNK_SLOTS - 1);
		if (loader->slots_used >> BPF_CHUNK_SHIFT == loader->chunk_count) {
			int result = add_chunk(loader);
			if (result < 0)
				return result;
		}
		size_t room = (size_t)(BPF_CHUNK_SLOTS - at) * SLOT_BYTES;
		size_t part = size - done < room ? size - done : room;
		memcpy(loader->chunk + at * SLOT_BYTES, (const uint8_t *)bytes + done, part);
		loader->slots_used += (part + SLOT_BYTES - 1) / SLOT_BYTES;
		done += part;
	}
	return 0;
}

static int load_table(struct bpf_code_loader *loader, const struct unwind_table *table, struct loaded *loaded)
{
	uint64_t key = (uint64_t)(uintptr_t)table;
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

static int take_run(struct bpf_code_loader *loader, uint32_t count, struct run *run)
{
	uint32_t room = (count + RUN_ROUND - 1) / RUN_ROUND * RUN_ROUND;
	uint64_t now = now_ns();
	for (size_t i = 0; i < loader->free_count; i++) {
		if (loader->free_runs[i].room < room || loader->free_runs[i].free_ns > now)
			continue;
		*run = (struct run){ .first = loader->free_runs[i].first, .room = room };
		loader->free_runs[i].first += room;
		loader->free_runs[i].room -= room;
		if (loader->free_runs[i].room == 0)
			loader->free_runs[i] = loader->free_runs[--loader->free_count];
		return 0;
	}
	if (room > BPF_CODES - loader->codes_used)
		return ERROR_LIMIT;
	*run = (struct run){ .first = loader->codes_used, .room = room };
	loader->codes_used += room;
	return 0;
}

/* Its memory is reserved beforehand, so that this cannot fail. */
static void give_up_run(struct bpf_code_loader *loader, const struct run *run)
{
	if (run->room == 0)
		return;
	struct run *given = &loader->free_runs[loader->free_count++];
	*given = *run;
	given->free_ns = now_ns() + QUARANTINE_NS;
}

/* The run that a process has; its room is 0 if it has none. NULL: out of memory. */
static struct run *run_of(struct bpf_code_loader *loader, uint32_t pid)
{
	uint32_t known = hash_map_get(&loader->run_by_pid, pid);
	if (known != HASH_MAP_NONE)
		return &loader->runs[known];
	if (ARRAY_RESERVE(loader->runs, loader->run_capacity, loader->run_count + 1) < 0 ||
	    hash_map_put(&loader->run_by_pid, pid, (uint32_t)loader->run_count) < 0)
		return NULL;
	loader->runs[loader->run_count] = (struct run){ 0 };
	return &loader->runs[loader->run_count++];
}

static int fill_run(struct bpf_code_loader *loader, const struct run *run, const struct backend_code *code,
		    size_t count)
{
	int result = 0;
	for (size_t i = 0; i < count; i++) {
		const struct unwind_table *table = code[i].table;
		struct bpf_code *to = &loader->codes[run->first + i];
		struct loaded loaded = { 0 };
		bool has_rows = table && table->row_count > 0;
		int loading = has_rows ? load_table(loader, table, &loaded) : 0;
		*to = (struct bpf_code){ .start = code[i].start, .end = code[i].end };
		if (loading < 0) /* without rows, its stacks are handed over */
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

int bpf_code_load(struct bpf_code_loader *loader, uint32_t pid, const struct backend_code *code, size_t count)
{
	struct run *old = run_of(loader, pid);
	if (!old || ARRAY_RESERVE(loader->free_runs, loader->free_capacity, loader->free_count + 1) < 0)
		return ERROR_MEMORY;
	struct run run = { 0 };
	if (count > BPF_CODES)
		return ERROR_LIMIT;
	int result = count ? take_run(loader, (uint32_t)count, &run) : 0;
	if (result < 0) {
		/* Without code its stacks are handed over; with old code they might be walked wrongly. */
		bpf_map_delete_elem(loader->maps.processes, &pid);
		give_up_run(loader, old);
		*old = run;
		return result;
	}
	result = count ? fill_run(loader, &run, code, count) : 0;
	struct bpf_process process = { .first = run.first, .count = (uint32_t)count };
	if (count && bpf_map_update_elem(loader->maps.processes, &pid, &process, BPF_ANY) < 0) {
		/* The kernel keeps the old run. */
		int failure = errno == E2BIG ? ERROR_LIMIT : ERROR_SYSTEM;
		give_up_run(loader, &run);
		return failure;
	}
	if (!count)
		bpf_map_delete_elem(loader->maps.processes, &pid); /* it may have gone already: exec */
	give_up_run(loader, old);
	*old = run;
	return result;
}

uint64_t bpf_code_rows(const struct bpf_code_loader *loader)
{
	return loader->rows;
}

uint64_t bpf_code_index_bytes(const struct bpf_code_loader *loader)
{
	return loader->index_bytes;
}
