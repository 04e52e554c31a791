/* Reads processes: their modules, and the addresses at which their chunks were mapped. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/compare.h"
#include "base/lower_bound.h"
#include "collect/count/parts.h"

static int damaged(const char *name, const struct count_process *process, const char *what, struct error *error)
{
	return error_set(error, ERROR_CORRUPT, "'%s' is damaged: %s of its process %" PRIu32 " are invalid", name, what,
			 process->number);
}

/* --- modules --- */

static int order_of_modules(const void *a, const void *b)
{
	const struct count_module *first = a, *second = b;
	return COMPARE(first->start, second->start);
}

/* Reads the module at the start of `left` bytes. Returns its size in bytes, 0 if there are no more modules, or
 * ERROR_CORRUPT. */
static int64_t read_module(const uint8_t *bytes, uint64_t left, struct count_module *module)
{
	struct tally_module header;
	if (left < sizeof(header))
		return 0;
	memcpy(&header, bytes, sizeof(header));
	if (header.bytes == 0)
		return 0;
	const char *path = (const char *)bytes + sizeof(header);
	if (header.bytes > left || header.bytes <= sizeof(header) || header.bytes % sizeof(uint64_t) != 0 ||
	    !memchr(path, 0, header.bytes - sizeof(header)) || header.start >= header.end ||
	    header.build_id_bytes > TALLY_BUILD_ID_MAX)
		return ERROR_CORRUPT;
	*module = (struct count_module){
		.start = header.start,
		.end = header.end,
		.bias = header.bias,
		.path = path,
		.build_id = bytes + offsetof(struct tally_module, build_id),
		.build_id_bytes = header.build_id_bytes,
		.is_vdso = header.is_vdso,
		.others_mixed = header.others_mixed != 0,
		.id = PROFILE_NONE,
	};
	return header.bytes;
}

static int read_modules(struct count_process *process, uint64_t room, const char *name, struct error *error)
{
	const uint8_t *at = (const uint8_t *)process->shared->modules;
	uint64_t left = process->shared->modules_bytes;
	if (left > room)
		return damaged(name, process, "the modules", error);
	while (left > 0) {
		struct count_module module;
		int64_t bytes = read_module(at, left, &module);
		if (bytes < 0)
			return damaged(name, process, "the modules", error);
		if (bytes == 0)
			break;
		if (ARRAY_RESERVE(process->modules, process->module_capacity, process->module_count + 1) < 0)
			return error_memory(error);
		process->modules[process->module_count++] = module;
		at += bytes;
		left -= (uint64_t)bytes;
	}
	if (process->module_count)
		qsort(process->modules, process->module_count, sizeof(*process->modules), order_of_modules);
	return 0;
}

/* --- processes --- */

static int order_of_processes(const void *a, const void *b)
{
	const struct count_process *first = a, *second = b;
	return COMPARE(first->number, second->number);
}

static int add_process(struct tally *tally, const struct count_chunk *chunk, const char *name, struct error *error)
{
	if (ARRAY_RESERVE(tally->processes, tally->process_capacity, tally->process_count + 1) < 0)
		return error_memory(error);
	struct count_process *process = &tally->processes[tally->process_count++];
	*process = (struct count_process){
		.shared = (const struct tally_process *)chunk->bytes,
		.number = chunk->process,
		.id = PROFILE_NONE,
	};
	hash_map_init(&process->locations);
	label_numbers_init(&process->labels);
	return read_modules(process, chunk->size - sizeof(struct tally_process), name, error);
}

static int read_list(struct tally *tally, const char *name, struct error *error)
{
	for (size_t i = 0; i < tally->chunk_count; i++) {
		int result = 0;
		if (tally->chunks[i].kind == TALLY_PROCESS)
			result = add_process(tally, &tally->chunks[i], name, error);
		if (result < 0)
			return result;
	}
	if (tally->process_count)
		qsort(tally->processes, tally->process_count, sizeof(*tally->processes), order_of_processes);
	for (size_t i = 1; i < tally->process_count; i++)
		if (tally->processes[i - 1].number == tally->processes[i].number)
			return damaged(name, &tally->processes[i], "two descriptions", error);
	return 0;
}

struct count_process *tally_find_process(const struct tally *tally, uint32_t number)
{
	const struct count_process key = { .number = number };
	return tally->process_count
		       ? bsearch(&key, tally->processes, tally->process_count, sizeof(key), order_of_processes)
		       : NULL;
}

/* --- chunks of processes --- */

static int order_of_chunks(const void *a, const void *b)
{
	const struct count_chunk *first = a, *second = b;
	return COMPARE(first->process, second->process) ?: COMPARE(first->thread, second->thread) ?:
	       COMPARE(first->bytes, second->bytes);
}

static int order_of_mapped(const void *a, const void *b)
{
	const struct count_chunk *first = *(const struct count_chunk *const *)a;
	const struct count_chunk *second = *(const struct count_chunk *const *)b;
	return COMPARE(first->address, second->address);
}

static int add_mapped(struct count_process *process, const struct count_chunk *chunk)
{
	if (ARRAY_RESERVE(process->mapped, process->mapped_capacity, process->mapped_count + 1) < 0)
		return ERROR_MEMORY;
	process->mapped[process->mapped_count++] = chunk;
	return 0;
}

/* Assigns the chunks to their processes. Replaces the processes' numbers in chunks by indices, which have the same
 * order. */
static int share_out(struct tally *tally, const char *name, struct error *error)
{
	for (size_t i = 0; i < tally->chunk_count; i++) {
		struct count_chunk *chunk = &tally->chunks[i];
		struct count_process *process = tally_find_process(tally, chunk->process);
		if (!process)
			return error_set(error, ERROR_CORRUPT,
					 "'%s' is damaged: its process %" PRIu32 " has no description", name,
					 chunk->process);
		chunk->process = (uint32_t)(process - tally->processes);
	}
	if (tally->chunk_count)
		qsort(tally->chunks, tally->chunk_count, sizeof(*tally->chunks), order_of_chunks);
	for (size_t i = 0; i < tally->chunk_count; i++) {
		const struct count_chunk *chunk = &tally->chunks[i];
		if (chunk->address != 0 && add_mapped(&tally->processes[chunk->process], chunk) < 0)
			return error_memory(error);
	}
	return 0;
}

static int sort_mapped(struct count_process *process, const char *name, struct error *error)
{
	if (process->mapped_count)
		qsort(process->mapped, process->mapped_count, sizeof(struct count_chunk *), order_of_mapped);
	for (size_t i = 0; i < process->mapped_count; i++) {
		const struct count_chunk *chunk = process->mapped[i];
		uint64_t next = i + 1 < process->mapped_count ? process->mapped[i + 1]->address : UINT64_MAX;
		if (chunk->address % sizeof(uint64_t) != 0 || next - chunk->address < chunk->size)
			return damaged(name, process, "the addresses", error);
	}
	return 0;
}

/* --- the clock --- */

/* The time stamps of all processors have the same rate; the process that ran longest gives it most precisely. */
static void find_rate(struct tally *tally)
{
	double rate = 0;
	uint64_t longest = 0;
	for (size_t i = 0; i < tally->process_count; i++) {
		const struct tally_process *process = tally->processes[i].shared;
		uint64_t ns = process->seen_ns - process->start_ns, ticks = process->end_ticks - process->start_ticks;
		if (process->seen_ns <= process->start_ns || process->end_ticks <= process->start_ticks ||
		    ns <= longest)
			continue;
		longest = ns;
		rate = (double)ns / (double)ticks;
	}
	for (size_t i = 0; i < tally->process_count; i++)
		tally->processes[i].ns_per_tick = rate;
}

uint64_t tally_ns(const struct count_process *process, uint64_t ticks)
{
	double ns = (double)ticks * process->ns_per_tick;
	static const double most = 1e18; /* 30 years */
	return ns >= most ? (uint64_t)most : (uint64_t)(ns + 0.5);
}

int tally_read_processes(struct tally *tally, const char *name, struct error *error)
{
	int result = read_list(tally, name, error);
	if (result == 0)
		result = share_out(tally, name, error);
	for (size_t i = 0; i < tally->process_count && result == 0; i++)
		result = sort_mapped(&tally->processes[i], name, error);
	find_rate(tally);
	return result;
}

const void *tally_object(const struct tally *tally, const struct count_thread *thread, uint64_t address, size_t bytes)
{
	const struct count_process *process = &tally->processes[thread->process];
	size_t begun = LOWER_BOUND(i, 0, process->mapped_count, process->mapped[i]->address <= address);
	const struct count_chunk *chunk = begun > 0 ? process->mapped[begun - 1] : NULL;
	if (!chunk || chunk->thread != thread->number || address % sizeof(uint64_t) != 0 ||
	    (chunk->kind != TALLY_THREAD && chunk->kind != TALLY_OBJECTS))
		return NULL;
	uint64_t offset = address - chunk->address;
	return offset >= sizeof(struct tally_chunk) && offset < chunk->size && chunk->size - offset >= bytes
		       ? chunk->bytes + offset
		       : NULL;
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
