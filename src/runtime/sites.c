/*
 * The registry of places: struct tally_sites in the tally.
 *
 *   1. A place is NEW until its record is complete, then ON or OFF: so what nodes refer to is there.
 *   2. Who adds one does so alone, with signals blocked; others wait.
 *   3. A forked process has the same places at the same addresses: its parent's records are copied at once.
 */
#include "runtime/sites.h"

#include <stdbool.h>
#include <string.h>

#include "runtime/hooks.h"
#include "runtime/hooks_system.h"

enum {
	TEXT_MOST = 16 * 1024, /* bytes of a text; what is longer is cut */
	ALIGNMENT = 8,
	CHUNKS_MOST = 40, /* each is twice as long as the one before */
};

static struct tally_sites *chunks[CHUNKS_MOST];
static uint32_t chunk_count, site_count, is_adding;

static void lock(uint64_t *signals)
{
	system_block_signals(signals);
	while (__atomic_exchange_n(&is_adding, 1, __ATOMIC_ACQUIRE))
		machine_syscall(SYS_sched_yield, 0, 0, 0, 0, 0, 0);
}

static void unlock(const uint64_t *signals)
{
	__atomic_store_n(&is_adding, 0, __ATOMIC_RELEASE);
	system_restore_signals(signals);
}

/* Where so many bytes may be written in the last chunk, or a new one; NULL: there is no room. */
static struct tally_site *make_room(uint64_t bytes)
{
	struct tally_sites *last = chunk_count ? chunks[chunk_count - 1] : NULL;
	uint64_t used = last ? sizeof(*last) + last->sites_bytes : 0;
	if (last && bytes <= last->chunk.bytes - used)
		return (struct tally_site *)((uint8_t *)last + used);
	uint64_t wanted = sizeof(*last) + bytes, twice = last ? last->chunk.bytes * 2 : TALLY_GRANULE;
	struct tally_chunk *chunk =
		chunk_count < CHUNKS_MOST ? tally_chunk_new(wanted > twice ? wanted : twice, 0) : NULL;
	if (!chunk)
		return NULL;
	chunk->used = chunk->bytes;
	chunks[chunk_count++] = (struct tally_sites *)chunk;
	tally_chunk_finish(chunk, TALLY_SITES);
	return chunks[chunk_count - 1]->sites;
}

/* What make_room has given is complete. */
static void count_bytes(uint64_t bytes)
{
	struct tally_sites *last = chunks[chunk_count - 1];
	__atomic_store_n(&last->sites_bytes, last->sites_bytes + bytes, __ATOMIC_RELEASE);
}

/* Behind what `texts` has; where it begins. */
static uint32_t put(char *texts, uint32_t *used, const char *text, size_t bytes)
{
	uint32_t at = *used;
	if (bytes)
		memcpy(texts + at, text, bytes);
	texts[at + bytes] = 0;
	*used = at + (uint32_t)bytes + 1;
	return at;
}

static size_t length(const char *text)
{
	return text ? strnlen(text, TEXT_MOST) : 0;
}

/* False: there is no room. */
static bool write_site(struct cpprof_site *site, uint64_t code)
{
	size_t name = length(site->name), signature = length(site->signature), file = length(site->file);
	size_t group = length(site->group), texts = name + signature + file + group + 4;
	uint64_t bytes = (sizeof(struct tally_site) + texts + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
	struct tally_site *record = make_room(bytes);
	uint32_t used = 0;
	if (!record)
		return false;
	site->number = ++site_count;
	*record = (struct tally_site){
		.bytes = (uint32_t)bytes,
		.number = site->number,
		.address = (uint64_t)(uintptr_t)site,
		.code = code,
		.kind = site->kind,
		.level = site->level,
		.line = site->line,
		.flags = site->kind == CPPROF_KIND_WAIT ? TALLY_SITE_WAITS : 0,
	};
	put(record->texts, &used, site->name, name);
	record->signature = put(record->texts, &used, site->signature, signature);
	record->file = put(record->texts, &used, site->file, file);
	record->group = put(record->texts, &used, site->group, group);
	count_bytes(bytes);
	return true;
}

void sites_register(struct cpprof_site *site, uint64_t code)
{
	uint64_t signals;
	tally_know_code((uint64_t)(uintptr_t)site);
	tally_know_code(code);
	__atomic_or_fetch(&hooks.process->hooks, TALLY_HOOK_SITE, __ATOMIC_RELAXED);
	lock(&signals);
	if (__atomic_load_n(&site->state, __ATOMIC_RELAXED) == CPPROF_STATE_NEW)
		__atomic_store_n(&site->state, write_site(site, code) ? CPPROF_STATE_ON : CPPROF_STATE_OFF,
				 __ATOMIC_RELEASE);
	unlock(&signals);
}

void sites_forked(void)
{
	struct tally_sites *before[CHUNKS_MOST];
	uint32_t count = chunk_count;
	memcpy(before, chunks, sizeof(before));
	__atomic_store_n(&is_adding, 0, __ATOMIC_RELEASE);
	chunk_count = 0;
	for (uint32_t i = 0; i < count; i++) {
		uint64_t bytes = before[i]->sites_bytes;
		struct tally_site *copy = bytes ? make_room(bytes) : NULL;
		if (!copy)
			continue;
		memcpy(copy, before[i]->sites, bytes);
		count_bytes(bytes);
	}
}
