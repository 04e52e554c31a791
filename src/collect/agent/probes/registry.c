/*
 * The registry of places: struct tally_sites in the tally.
 *
 *   1. A place is NEW until its record is complete, then ON or OFF: so what nodes refer to is there.
 *   2. Who adds or switches one does so alone, with signals blocked; others wait.
 *   3. A forked process has the same places at the same addresses: its parent's records are copied at once.
 *   4. A library may be unloaded, and its places with it: who writes to one looks first whether it is there, and lets the kernel
 *      write, which does not mind. One that is loaded again at the same address has its places NEW: they take up the
 *      numbers that they had.
 */
#include "collect/agent/probes/registry.h"

#include <linux/futex.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/uio.h>

#include "collect/agent/control/thread.h"
#include "collect/agent/probes/cost.h"

#include "collect/agent/hooks/hooks.h"
#include "collect/agent/hooks/system.h"

enum {
	TEXT_MOST = 16 * 1024, /* bytes of a text; what is longer is cut */
	ALIGNMENT = 8,
	CHUNKS_MOST = 40, /* each is twice as long as the one before */
	BLOCK = 1024,     /* places of a block, and slots of the first table */
	BLOCKS = 1024,
};

static struct tally_sites *chunks[CHUNKS_MOST];
static uint32_t chunk_count, site_count, is_adding, adder; /* the thread that is at it */

/* Who waits sleeps, whatever priority it has: else the one that it waits for might never run. */
enum { FREE, TAKEN, WAITED_FOR };

static uint32_t replace_lock(uint32_t expected, uint32_t wanted)
{
	(void)__atomic_compare_exchange_n(&is_adding, &expected, wanted, false, __ATOMIC_ACQUIRE, __ATOMIC_ACQUIRE);
	return expected;
}

void sites_lock(uint64_t *signals)
{
	system_block_signals(signals);
	for (uint32_t found = replace_lock(FREE, TAKEN); found != FREE; found = replace_lock(FREE, WAITED_FOR))
		if (found == WAITED_FOR || replace_lock(TAKEN, WAITED_FOR) != FREE)
			machine_syscall(SYS_futex, (long)&is_adding, FUTEX_WAIT_PRIVATE, WAITED_FOR, 0, 0, 0);
	__atomic_store_n(&adder, system_tid(), __ATOMIC_RELAXED);
}

/* By this thread: what is called meanwhile (the program's own memcpy, say) has a place itself, which stays NEW for now. */
static bool is_locked_here(void)
{
	return __atomic_load_n(&adder, __ATOMIC_RELAXED) == system_tid();
}

void sites_unlock(const uint64_t *signals)
{
	__atomic_store_n(&adder, 0, __ATOMIC_RELAXED);
	if (__atomic_exchange_n(&is_adding, FREE, __ATOMIC_RELEASE) == WAITED_FOR)
		machine_syscall(SYS_futex, (long)&is_adding, FUTEX_WAKE_PRIVATE, 1, 0, 0, 0);
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

/* NULL: there is no room. */
static struct tally_site *write_site(const struct cpprof_site *site, uint32_t number, uint64_t code)
{
	size_t name = length(site->name), signature = length(site->signature), file = length(site->file);
	size_t group = length(site->group), texts = name + signature + file + group + 4;
	uint64_t bytes = (sizeof(struct tally_site) + texts + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
	struct tally_site *record = make_room(bytes);
	uint32_t used = 0;
	if (!record)
		return NULL;
	*record = (struct tally_site){
		.bytes = (uint32_t)bytes,
		.number = number,
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
	return record;
}

/* --- where places are --- */

static struct sites_place *blocks[BLOCKS];

/* Numbers of places by their addresses, the last one of each: open addressing, at least half of it free. */
static uint32_t *table;
static uint32_t table_mask;

static void *map_memory(uint64_t bytes)
{
	long mapped = machine_syscall(SYS_mmap, 0, (long)bytes, PROT_READ | PROT_WRITE,
				      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	return system_is_error(mapped) ? NULL : (void *)mapped;
}

uint32_t sites_count(void)
{
	return __atomic_load_n(&site_count, __ATOMIC_ACQUIRE);
}

struct sites_place *sites_at(uint32_t index)
{
	return &blocks[index / BLOCK][index % BLOCK];
}

/* Where the number of the place at this address is, or belongs. */
static uint32_t *slot_of(const struct cpprof_site *site)
{
	const uint64_t golden = 0x9e3779b97f4a7c15;
	enum { UPPER_HALF = 32 };
	uint32_t at = (uint32_t)((uint64_t)(uintptr_t)site * golden >> UPPER_HALF);
	while (table[at & table_mask] && sites_at(table[at & table_mask] - 1)->site != site)
		at++;
	return &table[at & table_mask];
}

/* False: there is no memory. */
static bool make_slots(void)
{
	uint32_t slots = table ? table_mask + 1 : 0, wanted = slots ? slots * 2 : BLOCK;
	uint32_t *old = table;
	if (site_count < slots / 2)
		return true;
	uint32_t *larger = map_memory(wanted * sizeof(*larger));
	if (!larger)
		return false;
	table = larger;
	table_mask = wanted - 1;
	for (uint32_t i = 0; i < site_count; i++)
		*slot_of(sites_at(i)->site) = i + 1;
	if (old)
		machine_syscall(SYS_munmap, (long)old, (long)(slots * sizeof(*old)), 0, 0, 0, 0);
	return true;
}

struct sites_place *sites_find(const struct cpprof_site *site)
{
	uint32_t number = site->number;
	struct sites_place *place = number - 1 < sites_count() ? sites_at(number - 1) : NULL;
	return place && place->site == site ? place : NULL;
}

static bool is_told(const struct tally_site *told, const struct cpprof_site *site)
{
	return told && told->line == site->line && told->kind == site->kind &&
	       strncmp(told->texts, site->name ? site->name : "", TEXT_MOST) == 0;
}

/* Of those for which there is no room nobody would know: that there are some is said once. */
static void tell_of_no_room(void)
{
	static uint32_t told; /* to which process, and 1 */
	if (told == hooks.process_number + 1)
		return;
	told = hooks.process_number + 1;
	__atomic_add_fetch(&hooks.process->threads_stopped, 1, __ATOMIC_RELAXED);
}

/* A place for what is at this address, with its record; NULL: there is no room. Locked. */
static struct sites_place *add_place(struct cpprof_site *site, uint64_t code)
{
	struct sites_place **block = &blocks[site_count / BLOCK];
	if (site_count == BLOCK * BLOCKS || !make_slots())
		return NULL;
	uint32_t *slot = slot_of(site);
	if (*slot && is_told(sites_at(*slot - 1)->told, site)) {
		site->number = *slot;
		return sites_at(*slot - 1);
	}
	if (!*block)
		*block = map_memory(BLOCK * sizeof(**block));
	struct tally_site *told = *block ? write_site(site, site_count + 1, code) : NULL;
	if (!told)
		return NULL;
	struct sites_place *place = &(*block)[site_count % BLOCK];
	place->site = site;
	place->told = told;
	site->number = *slot = site_count + 1;
	__atomic_store_n(&site_count, site_count + 1, __ATOMIC_RELEASE);
	return place;
}

/* What a place is stays as it is. */
static void set_flags(struct tally_site *told, uint32_t flags)
{
	told->flags = (told->flags & TALLY_SITE_WAITS) | flags;
}

/* --- a place is reached --- */

static bool has_begun;

void sites_begin(void)
{
	if (!__atomic_exchange_n(&has_begun, true, __ATOMIC_ACQ_REL)) {
		uint64_t signals;
		sites_lock(&signals);
		sites_rules_begin();
		sites_unlock(&signals);
		probe_cost_measure();
		control_begin(0);
	}
}

void sites_register(struct cpprof_site *site, uint64_t code)
{
	uint64_t signals;
	if (is_locked_here())
		return;
	sites_begin();
	tally_know_code((uint64_t)(uintptr_t)site);
	tally_know_code(code);
	__atomic_or_fetch(&hooks.process->hooks, TALLY_HOOK_SITE, __ATOMIC_RELAXED);
	sites_lock(&signals);
	if (__atomic_load_n(&site->state, __ATOMIC_RELAXED) == CPPROF_STATE_NEW) {
		uint32_t count = site_count;
		const struct sites_place *place = add_place(site, code);
		bool on = place && sites_wanted(place->told);
		if (place)
			set_flags(place->told, on ? 0 : TALLY_SITE_OFF);
		else
			tell_of_no_room();
		if (site_count != count)
			count_bytes(place->told->bytes);
		__atomic_store_n(&site->state, on ? CPPROF_STATE_ON : CPPROF_STATE_OFF, __ATOMIC_RELEASE);
	}
	sites_unlock(&signals);
}

/* --- a place is switched --- */

static bool is_there(const struct sites_place *place)
{
	struct cpprof_site seen;
	return runtime_copy(&seen, sizeof(seen), (uint64_t)(uintptr_t)place->site) &&
	       seen.number == place->told->number && seen.line == place->told->line && seen.kind == place->told->kind &&
	       seen.level == place->told->level;
}

/* It was there a moment ago. */
static void store(struct sites_place *place, uint32_t state)
{
	const struct iovec here = { .iov_base = &state, .iov_len = sizeof(state) };
	const struct iovec there = { .iov_base = &place->site->state, .iov_len = sizeof(state) };
	if (!runtime.kernel_copies)
		__atomic_store_n(&place->site->state, state, __ATOMIC_RELAXED);
	else
		machine_syscall(SYS_process_vm_writev, system_pid(), (long)&here, 1, (long)&there, 1, 0);
}

bool sites_switch(struct sites_place *place, bool on, uint32_t flags)
{
	struct tally_site *told = place->told;
	if (!told)
		return false;
	bool was_on = !(told->flags & TALLY_SITE_OFF);
	if (is_there(place))
		store(place, on ? CPPROF_STATE_ON : CPPROF_STATE_OFF);
	place->calls = place->tsc = 0;
	told->switched += was_on != on;
	set_flags(told, on ? 0 : TALLY_SITE_OFF | flags);
	return was_on != on;
}

/* --- fork --- */

/* The records that follow each other from there on are those of the places that had the same numbers. */
static void know_copies(struct tally_site *copy, uint64_t bytes)
{
	for (uint64_t at = 0; at < bytes;) {
		struct tally_site *told = (struct tally_site *)((uint8_t *)copy + at);
		if (!told->bytes || told->bytes > bytes - at || told->number - 1 >= site_count)
			return;
		sites_at(told->number - 1)->told = told;
		at += told->bytes;
	}
}

/* Those of which there is none are off: nobody would know what they are. */
static void turn_off_untold(void)
{
	for (uint32_t i = 0; i < site_count; i++)
		if (!sites_at(i)->told) {
			struct cpprof_site *site = sites_at(i)->site, seen;
			if (runtime_copy(&seen, sizeof(seen), (uint64_t)(uintptr_t)site) && seen.number == i + 1)
				store(sites_at(i), CPPROF_STATE_OFF);
		}
}

void sites_forked(void)
{
	struct tally_sites *before[CHUNKS_MOST];
	uint32_t count = chunk_count;
	memcpy(before, chunks, sizeof(before));
	__atomic_store_n(&adder, 0, __ATOMIC_RELAXED);
	__atomic_store_n(&is_adding, FREE, __ATOMIC_RELEASE);
	chunk_count = 0;
	for (uint32_t i = 0; i < site_count; i++)
		sites_at(i)->told = NULL;
	for (uint32_t i = 0; i < count; i++) {
		uint64_t bytes = before[i]->sites_bytes;
		struct tally_site *copy = bytes ? make_room(bytes) : NULL;
		if (!copy)
			continue;
		memcpy(copy, before[i]->sites, bytes);
		count_bytes(bytes);
		know_copies(copy, bytes);
	}
	turn_off_untold();
	if (has_begun)
		control_forked();
}
