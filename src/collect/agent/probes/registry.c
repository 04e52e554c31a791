/*
 * The registry of probe points: struct tally_probes in the tally.
 *
 *   1. A probe point is NEW until its record is complete, then ON or OFF: nodes refer only to complete records.
 *   2. One thread at a time adds or switches probe points, with signals blocked; other threads wait.
 *   3. A forked process has the same probe points at the same addresses: it copies its parent's records at once.
 *   4. A library may be unloaded together with its descriptors. Code that writes to a descriptor first checks that it
 *      is mapped, and lets the kernel write, which returns an error for unmapped memory. If the library is loaded again
 *      at the same address, its probe points are NEW and get their old numbers again.
 */
#include "collect/agent/probes/registry.h"

#include <linux/futex.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/uio.h>

#include "collect/agent/control/thread.h"

#include "collect/agent/hooks/hooks.h"
#include "collect/agent/hooks/system.h"

_Static_assert((int)CPPROF_KIND_FUNCTION == (int)PROBE_FUNCTION && (int)CPPROF_KIND_REGION == (int)PROBE_REGION &&
		       (int)CPPROF_KIND_LOOP == (int)PROBE_LOOP && (int)CPPROF_KIND_CALL == (int)PROBE_CALL &&
		       (int)CPPROF_KIND_BLOCK == (int)PROBE_BLOCK && (int)CPPROF_KIND_WAIT == (int)PROBE_WAIT,
	       "kinds of probe points are those of abi/probe_kinds.h");
_Static_assert((int)CPPROF_LEVEL_FUNCTION == (int)PROBE_LEVEL_FUNCTION &&
		       (int)CPPROF_LEVEL_LOOP == (int)PROBE_LEVEL_LOOP &&
		       (int)CPPROF_LEVEL_CALL == (int)PROBE_LEVEL_CALL &&
		       (int)CPPROF_LEVEL_BLOCK == (int)PROBE_LEVEL_BLOCK,
	       "and so are their levels");

enum {
	TEXT_MOST = 16 * 1024, /* bytes of a text; a longer text is cut */
	ALIGNMENT = 8,
	CHUNKS_MOST = 40, /* each is twice as long as the previous one */
	BLOCK = 1024,     /* probe points in a block, and slots of the first table */
	BLOCKS = 1024,
};

static struct tally_probes *chunks[CHUNKS_MOST];
static uint32_t chunk_count, probe_count, is_adding, adder; /* `adder`: tid of the thread that holds the lock */

/* Waiting threads sleep: a spinning thread of higher priority could keep the holder from running. */
enum { FREE, TAKEN, WAITED_FOR };

static uint32_t replace_lock(uint32_t expected, uint32_t wanted)
{
	(void)__atomic_compare_exchange_n(&is_adding, &expected, wanted, false, __ATOMIC_ACQUIRE, __ATOMIC_ACQUIRE);
	return expected;
}

void probes_lock(uint64_t *signals)
{
	system_block_signals(signals);
	for (uint32_t found = replace_lock(FREE, TAKEN); found != FREE; found = replace_lock(FREE, WAITED_FOR))
		if (found == WAITED_FOR || replace_lock(TAKEN, WAITED_FOR) != FREE)
			machine_syscall(SYS_futex, (long)&is_adding, FUTEX_WAIT_PRIVATE, WAITED_FOR, 0, 0, 0);
	__atomic_store_n(&adder, system_tid(), __ATOMIC_RELAXED);
}

/* Returns whether this thread holds the lock. Functions that it calls meanwhile (the program's own memcpy, for
 * example) may have probe points, which then stay NEW. */
static bool is_locked_here(void)
{
	return __atomic_load_n(&adder, __ATOMIC_RELAXED) == system_tid();
}

void probes_unlock(const uint64_t *signals)
{
	__atomic_store_n(&adder, 0, __ATOMIC_RELAXED);
	if (__atomic_exchange_n(&is_adding, FREE, __ATOMIC_RELEASE) == WAITED_FOR)
		machine_syscall(SYS_futex, (long)&is_adding, FUTEX_WAKE_PRIVATE, 1, 0, 0, 0);
	system_restore_signals(signals);
}

/* Returns room for `bytes` bytes in the last chunk or in a new one, or NULL if there is none. */
static struct tally_probe *make_room(uint64_t bytes)
{
	struct tally_probes *last = chunk_count ? chunks[chunk_count - 1] : NULL;
	uint64_t used = last ? sizeof(*last) + last->probes_bytes : 0;
	if (last && bytes <= last->chunk.bytes - used)
		return (struct tally_probe *)((uint8_t *)last + used);
	uint64_t wanted = sizeof(*last) + bytes, twice = last ? last->chunk.bytes * 2 : TALLY_GRANULE;
	struct tally_chunk *chunk =
		chunk_count < CHUNKS_MOST ? tally_chunk_new(wanted > twice ? wanted : twice, 0) : NULL;
	if (!chunk)
		return NULL;
	chunk->used = chunk->bytes;
	chunks[chunk_count++] = (struct tally_probes *)chunk;
	tally_chunk_finish(chunk, TALLY_PROBES);
	return chunks[chunk_count - 1]->probes;
}

/* Marks the bytes that make_room has returned as complete. */
static void count_bytes(uint64_t bytes)
{
	struct tally_probes *last = chunks[chunk_count - 1];
	__atomic_store_n(&last->probes_bytes, last->probes_bytes + bytes, __ATOMIC_RELEASE);
}

/* Appends a text to `texts`. Returns its offset. */
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

/* Returns the new record, or NULL if there is no room. */
static struct tally_probe *write_record(const struct cpprof_probe *descriptor, uint32_t number, uint64_t code)
{
	size_t name = length(descriptor->name), signature = length(descriptor->signature),
	       file = length(descriptor->file);
	size_t group = length(descriptor->group), texts = name + signature + file + group + 4;
	uint64_t bytes = (sizeof(struct tally_probe) + texts + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
	struct tally_probe *record = make_room(bytes);
	uint32_t used = 0;
	if (!record)
		return NULL;
	*record = (struct tally_probe){
		.bytes = (uint32_t)bytes,
		.number = number,
		.address = (uint64_t)(uintptr_t)descriptor,
		.code = code,
		.kind = descriptor->kind,
		.level = descriptor->level,
		.line = descriptor->line,
		.flags = descriptor->kind == CPPROF_KIND_WAIT ? TALLY_PROBE_WAITS : 0,
	};
	put(record->texts, &used, descriptor->name, name);
	record->signature = put(record->texts, &used, descriptor->signature, signature);
	record->file = put(record->texts, &used, descriptor->file, file);
	record->group = put(record->texts, &used, descriptor->group, group);
	return record;
}

/* --- the table of probe points --- */

static struct probes_entry *blocks[BLOCKS];

/* Numbers of probe points by address, the last one of each address. Open addressing; at least half of the slots are
 * free. */
static uint32_t *table;
static uint32_t table_mask;

static void *map_memory(uint64_t bytes)
{
	long mapped = machine_syscall(SYS_mmap, 0, (long)bytes, PROT_READ | PROT_WRITE,
				      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	return system_is_error(mapped) ? NULL : (void *)mapped;
}

uint32_t probes_count(void)
{
	return __atomic_load_n(&probe_count, __ATOMIC_ACQUIRE);
}

struct probes_entry *probes_at(uint32_t index)
{
	return &blocks[index / BLOCK][index % BLOCK];
}

/* Returns the slot that has, or will have, the number of the probe point at this address. */
static uint32_t *slot_of(const struct cpprof_probe *descriptor)
{
	const uint64_t golden = 0x9e3779b97f4a7c15;
	enum { UPPER_HALF = 32 };
	uint32_t at = (uint32_t)((uint64_t)(uintptr_t)descriptor * golden >> UPPER_HALF);
	while (table[at & table_mask] && probes_at(table[at & table_mask] - 1)->descriptor != descriptor)
		at++;
	return &table[at & table_mask];
}

/* Keeps half of the slots free. Returns false if there is no memory. */
static bool make_slots(void)
{
	uint32_t slots = table ? table_mask + 1 : 0, wanted = slots ? slots * 2 : BLOCK;
	uint32_t *old = table;
	if (probe_count < slots / 2)
		return true;
	uint32_t *larger = map_memory(wanted * sizeof(*larger));
	if (!larger)
		return false;
	table = larger;
	table_mask = wanted - 1;
	for (uint32_t i = 0; i < probe_count; i++)
		*slot_of(probes_at(i)->descriptor) = i + 1;
	if (old)
		machine_syscall(SYS_munmap, (long)old, (long)(slots * sizeof(*old)), 0, 0, 0, 0);
	return true;
}

struct probes_entry *probes_find(const struct cpprof_probe *descriptor)
{
	uint32_t number = descriptor->number;
	struct probes_entry *probe = number - 1 < probes_count() ? probes_at(number - 1) : NULL;
	return probe && probe->descriptor == descriptor ? probe : NULL;
}

static bool matches_record(const struct tally_probe *record, const struct cpprof_probe *descriptor)
{
	return record && record->line == descriptor->line && record->kind == descriptor->kind &&
	       strncmp(record->texts, descriptor->name ? descriptor->name : "", TEXT_MOST) == 0;
}

/* Counts the thread as stopped, once in a process, so that reports mention the missing probe points. */
static void count_no_room(void)
{
	static uint32_t counted; /* number of the process that has counted it, plus 1 */
	if (counted == hooks.process_number + 1)
		return;
	counted = hooks.process_number + 1;
	__atomic_add_fetch(&hooks.process->threads_stopped, 1, __ATOMIC_RELAXED);
}

/* Returns the entry for the probe point at this address, with its record, or NULL if there is no room. Locked. */
static struct probes_entry *add_probe(struct cpprof_probe *descriptor, uint64_t code)
{
	struct probes_entry **block = &blocks[probe_count / BLOCK];
	if (probe_count == BLOCK * BLOCKS || !make_slots())
		return NULL;
	uint32_t *slot = slot_of(descriptor);
	if (*slot && matches_record(probes_at(*slot - 1)->record, descriptor)) {
		descriptor->number = *slot;
		return probes_at(*slot - 1);
	}
	if (!*block)
		*block = map_memory(BLOCK * sizeof(**block));
	struct tally_probe *record = *block ? write_record(descriptor, probe_count + 1, code) : NULL;
	if (!record)
		return NULL;
	struct probes_entry *probe = &(*block)[probe_count % BLOCK];
	probe->descriptor = descriptor;
	probe->record = record;
	descriptor->number = *slot = probe_count + 1;
	__atomic_store_n(&probe_count, probe_count + 1, __ATOMIC_RELEASE);
	return probe;
}

/* Sets the flags of the present state, and keeps the flags of the kind. */
static void set_flags(struct tally_probe *record, uint32_t flags)
{
	record->flags = (record->flags & TALLY_PROBE_WAITS) | flags;
}

/* --- a probe point is reached --- */

static bool has_begun;

void probes_begin(void)
{
	if (!__atomic_exchange_n(&has_begun, true, __ATOMIC_ACQ_REL)) {
		uint64_t signals;
		probes_lock(&signals);
		probes_rules_begin();
		probes_unlock(&signals);
		probe_cost_measure();
		control_begin(0);
	}
}

void probes_register(struct cpprof_probe *descriptor, uint64_t code)
{
	uint64_t signals;
	if (is_locked_here())
		return;
	probes_begin();
	tally_register_code((uint64_t)(uintptr_t)descriptor);
	tally_register_code(code);
	__atomic_or_fetch(&hooks.process->hooks, TALLY_HOOK_PROBE, __ATOMIC_RELAXED);
	probes_lock(&signals);
	if (__atomic_load_n(&descriptor->state, __ATOMIC_RELAXED) == CPPROF_STATE_NEW) {
		uint32_t count = probe_count;
		const struct probes_entry *probe = add_probe(descriptor, code);
		bool on = probe && probes_is_on(probe->record);
		if (probe)
			set_flags(probe->record, on ? 0 : TALLY_PROBE_OFF);
		else
			count_no_room();
		if (probe_count != count)
			count_bytes(probe->record->bytes);
		__atomic_store_n(&descriptor->state, on ? CPPROF_STATE_ON : CPPROF_STATE_OFF, __ATOMIC_RELEASE);
	}
	probes_unlock(&signals);
}

/* --- a probe point is switched --- */

static bool is_there(const struct probes_entry *probe)
{
	struct cpprof_probe seen;
	return runtime_copy(&seen, sizeof(seen), (uint64_t)(uintptr_t)probe->descriptor) &&
	       seen.number == probe->record->number && seen.line == probe->record->line &&
	       seen.kind == probe->record->kind && seen.level == probe->record->level;
}

/* Writes the state, after is_there. The library may have been unloaded since. */
static void store(struct probes_entry *probe, uint32_t state)
{
	const struct iovec here = { .iov_base = &state, .iov_len = sizeof(state) };
	const struct iovec there = { .iov_base = &probe->descriptor->state, .iov_len = sizeof(state) };
	if (!runtime.kernel_copies)
		__atomic_store_n(&probe->descriptor->state, state, __ATOMIC_RELAXED);
	else
		machine_syscall(SYS_process_vm_writev, system_pid(), (long)&here, 1, (long)&there, 1, 0);
}

bool probes_switch(struct probes_entry *probe, bool on, uint32_t flags)
{
	struct tally_probe *record = probe->record;
	if (!record)
		return false;
	bool was_on = !(record->flags & TALLY_PROBE_OFF);
	if (is_there(probe))
		store(probe, on ? CPPROF_STATE_ON : CPPROF_STATE_OFF);
	probe->calls = probe->ticks = 0;
	record->switched += was_on != on;
	set_flags(record, on ? 0 : TALLY_PROBE_OFF | flags);
	return was_on != on;
}

/* --- fork --- */

/* Assigns copied records to the probe points with the same numbers. */
static void register_copies(struct tally_probe *copy, uint64_t bytes)
{
	for (uint64_t at = 0; at < bytes;) {
		struct tally_probe *record = (struct tally_probe *)((uint8_t *)copy + at);
		if (!record->bytes || record->bytes > bytes - at || record->number - 1 >= probe_count)
			return;
		probes_at(record->number - 1)->record = record;
		at += record->bytes;
	}
}

/* Switches off probe points without a record: reports could not name them. */
static void turn_off_unrecorded(void)
{
	for (uint32_t i = 0; i < probe_count; i++)
		if (!probes_at(i)->record) {
			struct cpprof_probe *descriptor = probes_at(i)->descriptor, seen;
			if (runtime_copy(&seen, sizeof(seen), (uint64_t)(uintptr_t)descriptor) && seen.number == i + 1)
				store(probes_at(i), CPPROF_STATE_OFF);
		}
}

void probes_forked(void)
{
	struct tally_probes *before[CHUNKS_MOST];
	uint32_t count = chunk_count;
	memcpy(before, chunks, sizeof(before));
	__atomic_store_n(&adder, 0, __ATOMIC_RELAXED);
	__atomic_store_n(&is_adding, FREE, __ATOMIC_RELEASE);
	chunk_count = 0;
	for (uint32_t i = 0; i < probe_count; i++)
		probes_at(i)->record = NULL;
	for (uint32_t i = 0; i < count; i++) {
		uint64_t bytes = before[i]->probes_bytes;
		struct tally_probe *copy = bytes ? make_room(bytes) : NULL;
		if (!copy)
			continue;
		memcpy(copy, before[i]->probes, bytes);
		count_bytes(bytes);
		register_copies(copy, bytes);
	}
	turn_off_unrecorded();
	if (has_begun)
		control_forked();
}
