#include "collect/sample/perf/record.h"

#include <string.h>
#include <sys/mman.h>
#include <sys/sysmacros.h>

#include "base/cursor.h"
#include "processor/perf_registers.h"

enum {
	SAMPLE_TIME_OFFSET = 24,  /* header, id, pid and tid */
	TRAILER_TIME_OFFSET = 16, /* from the end: time, id */
	TRAILER_BYTES = 24,       /* pid and tid, time, id */
	IDENTITY_BYTES = 24,      /* in a map: of its file */
};

static struct cursor body_of(const struct perf_event_header *record)
{
	return cursor_over(record + 1, record->size < sizeof(*record) ? 0 : record->size - sizeof(*record));
}

uint64_t perf_record_time(const struct perf_event_header *record)
{
	uint64_t time = 0;
	const uint8_t *bytes = (const uint8_t *)record;
	if (record->type == PERF_RECORD_SAMPLE && record->size >= SAMPLE_TIME_OFFSET + sizeof(time))
		memcpy(&time, bytes + SAMPLE_TIME_OFFSET, sizeof(time));
	else if (record->type != PERF_RECORD_SAMPLE && record->size >= sizeof(*record) + TRAILER_BYTES)
		memcpy(&time, bytes + record->size - TRAILER_TIME_OFFSET, sizeof(time));
	return time;
}

struct ring *perf_record_earliest(struct ring *rings, size_t count, uint64_t *time_ns)
{
	struct ring *found = NULL;
	for (size_t i = 0; i < count; i++) {
		const struct perf_event_header *record = rings[i].memory ? ring_peek(&rings[i]) : NULL;
		uint64_t time = record ? perf_record_time(record) : 0;
		if (record && (!found || time < *time_ns)) {
			found = &rings[i];
			*time_ns = time;
		}
	}
	return found;
}

/* Returns how many of the words before a mark of the kernel there are. */
static size_t count_addresses(const uint64_t *words, size_t limit)
{
	size_t count = 0;
	while (count < limit && words[count] < (uint64_t)PERF_CONTEXT_MAX)
		count++;
	return count;
}

/* u64 count, then that many addresses; marks among them state to whom the following addresses belong. */
void perf_record_call_chain(struct cursor *in, struct backend_sample *sample, struct perf_record_chain *user)
{
	uint64_t count = cursor_u64(in);
	*user = (struct perf_record_chain){ 0 };
	if (count > SIZE_MAX / sizeof(uint64_t)) {
		in->failed = true;
		return;
	}
	const uint64_t *words = (const uint64_t *)cursor_bytes(in, (size_t)count * sizeof(uint64_t));
	for (size_t i = 0; words && i < count;) {
		uint64_t mark = words[i++];
		size_t length = count_addresses(words + i, (size_t)count - i);
		if (mark == (uint64_t)PERF_CONTEXT_KERNEL && !sample->kernel && length > 0) {
			sample->kernel = words + i;
			sample->kernel_count = length;
		} else if (mark == (uint64_t)PERF_CONTEXT_USER && !user->addresses && length > 0) {
			*user = (struct perf_record_chain){ words + i, length };
		}
		i += length;
	}
}

void perf_record_registers(struct cursor *in, uint64_t mask, struct backend_sample *sample)
{
	uint64_t abi = cursor_u64(in);
	sample->has_registers = abi != PERF_SAMPLE_REGS_ABI_NONE;
	sample->other_abi = abi == PERF_SAMPLE_REGS_ABI_32;
	for (uint64_t left = sample->has_registers ? mask : 0; left != 0; left &= left - 1) {
		uint64_t bit = left & -left;
		uint64_t value = cursor_u64(in);
		if (bit & PERF_REGISTER_MASK)
			sample->registers
				.value[PERF_REGISTER_DWARF[__builtin_popcountll(PERF_REGISTER_MASK & (bit - 1))]] =
				value;
	}
	/* The unwinder needs all registers that a function keeps for its caller. */
	if ((mask & PERF_REGISTER_MASK) != PERF_REGISTER_MASK)
		sample->has_registers = false;
}

void perf_record_stack(struct cursor *in, struct backend_sample *sample)
{
	uint64_t size = cursor_u64(in);
	sample->stack_asked = (size_t)size;
	if (size == 0)
		return;
	sample->stack = cursor_bytes(in, (size_t)size);
	uint64_t copied = cursor_u64(in);
	sample->stack_bytes = copied < size ? (size_t)copied : (size_t)size;
}

bool perf_record_sample(const struct perf_event_header *record, struct backend_sample *sample,
			struct perf_record_origin *origin)
{
	struct cursor in = body_of(record);
	struct perf_record_chain user;
	*sample = (struct backend_sample){ .syscall = BACKEND_NO_SYSCALL };
	sample->in_kernel = (record->misc & PERF_RECORD_MISC_CPUMODE_MASK) == PERF_RECORD_MISC_KERNEL;
	origin->event_id = cursor_u64(&in);
	sample->pid = cursor_u32(&in);
	sample->tid = cursor_u32(&in);
	sample->time_ns = cursor_u64(&in);
	sample->touched = cursor_u64(&in);
	perf_record_call_chain(&in, sample, &user);
	origin->data_bytes = cursor_u32(&in);
	origin->data = cursor_bytes(&in, origin->data_bytes);
	perf_record_registers(&in, PERF_REGISTER_MASK, sample);
	perf_record_stack(&in, sample);
	return !in.failed;
}

/* u8 size, 3 spare, 20 bytes. */
static void set_build_id(struct backend_map *map, const uint8_t *identity)
{
	enum { SPARE_BYTES = 3 };
	size_t bytes = identity[0];
	if (bytes == 0 || bytes > IDENTITY_BYTES - 1 - SPARE_BYTES)
		return;
	map->build_id = identity + 1 + SPARE_BYTES;
	map->build_id_bytes = bytes;
}

/* u32 major, minor | u64 inode, generation. */
static void set_inode(struct backend_map *map, const uint8_t *identity)
{
	struct cursor in = cursor_over(identity, IDENTITY_BYTES);
	uint32_t major = cursor_u32(&in);
	map->device = makedev(major, cursor_u32(&in));
	map->inode = cursor_u64(&in);
}

static bool read_file_map(const struct perf_event_header *record, struct backend_map *map)
{
	struct cursor in = body_of(record);
	map->pid = cursor_u32(&in);
	cursor_u32(&in); /* tid */
	map->start = cursor_u64(&in);
	map->size = cursor_u64(&in);
	map->file_offset = cursor_u64(&in);
	const uint8_t *identity = cursor_bytes(&in, IDENTITY_BYTES);
	uint32_t protection = cursor_u32(&in);
	cursor_u32(&in); /* flags */
	map->path = cursor_string(&in);
	if (in.failed)
		return false;
	map->is_data = !(protection & PROT_EXEC);
	if (record->misc & PERF_RECORD_MISC_MMAP_BUILD_ID)
		set_build_id(map, identity);
	else
		set_inode(map, identity);
	return true;
}

/* pid, tid u32 | start, size, file offset u64 | path. */
static bool read_plain_map(const struct perf_event_header *record, struct backend_map *map)
{
	struct cursor in = body_of(record);
	map->is_data = record->misc & PERF_RECORD_MISC_MMAP_DATA;
	map->pid = cursor_u32(&in);
	cursor_u32(&in); /* tid */
	map->start = cursor_u64(&in);
	map->size = cursor_u64(&in);
	map->file_offset = cursor_u64(&in);
	map->path = cursor_string(&in);
	return !in.failed;
}

bool perf_record_map(const struct perf_event_header *record, uint64_t time_ns, struct backend_map *map)
{
	*map = (struct backend_map){ .time_ns = time_ns };
	return record->type == PERF_RECORD_MMAP2 ? read_file_map(record, map) : read_plain_map(record, map);
}

/* Our events report memory that is not executable as PERF_RECORD_MMAP, if it was requested, and
 * again as PERF_RECORD_MMAP2. */
static void deliver_map(const struct perf_event_header *record, uint64_t time_ns, const struct backend_sink *sink)
{
	struct backend_map map;
	if (perf_record_map(record, time_ns, &map) && map.is_data == (record->type == PERF_RECORD_MMAP))
		sink->map(sink->context, &map);
}

static void deliver_name(const struct perf_event_header *record, uint64_t time_ns, const struct backend_sink *sink)
{
	struct cursor in = body_of(record);
	uint32_t pid = cursor_u32(&in);
	uint32_t tid = cursor_u32(&in);
	const char *name = cursor_string(&in);
	if (!in.failed)
		sink->name(sink->context, pid, tid, name, record->misc & PERF_RECORD_MISC_COMM_EXEC, time_ns);
}

/* PERF_RECORD_FORK and PERF_RECORD_EXIT: pid, ppid, tid, ptid. */
static void deliver_task(const struct perf_event_header *record, uint64_t time_ns, const struct backend_sink *sink)
{
	struct cursor in = body_of(record);
	uint32_t pid = cursor_u32(&in);
	uint32_t parent_pid = cursor_u32(&in);
	uint32_t tid = cursor_u32(&in);
	if (in.failed)
		return;
	if (record->type == PERF_RECORD_FORK)
		sink->fork(sink->context, parent_pid, pid, tid, time_ns);
	else
		sink->exit(sink->context, pid, tid, time_ns);
}

/* PERF_RECORD_LOST: id u64, lost u64. */
static void deliver_lost(const struct perf_event_header *record, const struct backend_sink *sink, bool is_sample_ring)
{
	struct cursor in = body_of(record);
	cursor_u64(&in);
	uint64_t lost = cursor_u64(&in);
	if (in.failed)
		return;
	if (is_sample_ring)
		sink->lost(sink->context, lost);
	else
		sink->lost_events(sink->context, lost);
}

void perf_record_deliver(const struct perf_event_header *record, uint64_t time_ns, const struct backend_sink *sink,
			 bool is_sample_ring)
{
	switch (record->type) {
	case PERF_RECORD_MMAP2:
	case PERF_RECORD_MMAP:
		deliver_map(record, time_ns, sink);
		break;
	case PERF_RECORD_COMM:
		deliver_name(record, time_ns, sink);
		break;
	case PERF_RECORD_FORK:
	case PERF_RECORD_EXIT:
		deliver_task(record, time_ns, sink);
		break;
	case PERF_RECORD_LOST:
		deliver_lost(record, sink, is_sample_ring);
		break;
	case PERF_RECORD_THROTTLE:
		sink->throttled(sink->context);
		break;
	default: /* a kernel may report more than was requested */
		break;
	}
}
