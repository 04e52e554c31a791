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

/* u64 count, then that many addresses; marks among them tell whose the following ones are. */
static void read_kernel_stack(struct cursor *in, struct backend_sample *sample)
{
	uint64_t count = cursor_u64(in);
	if (count > SIZE_MAX / sizeof(uint64_t)) {
		in->failed = true;
		return;
	}
	const uint64_t *words = (const uint64_t *)cursor_bytes(in, (size_t)count * sizeof(uint64_t));
	if (!words || count < 2 || words[0] != (uint64_t)PERF_CONTEXT_KERNEL)
		return;
	sample->kernel = words + 1;
	while (sample->kernel_count + 1 < count && words[sample->kernel_count + 1] < (uint64_t)PERF_CONTEXT_MAX)
		sample->kernel_count++;
}

bool perf_record_sample(const struct perf_event_header *record, struct backend_sample *sample,
			struct perf_record_origin *origin)
{
	struct cursor in = body_of(record);
	*sample = (struct backend_sample){ .syscall = BACKEND_NO_SYSCALL };
	sample->in_kernel = (record->misc & PERF_RECORD_MISC_CPUMODE_MASK) == PERF_RECORD_MISC_KERNEL;
	origin->event_id = cursor_u64(&in);
	sample->pid = cursor_u32(&in);
	sample->tid = cursor_u32(&in);
	sample->time_ns = cursor_u64(&in);
	sample->touched = cursor_u64(&in);
	read_kernel_stack(&in, sample);
	origin->data_bytes = cursor_u32(&in);
	origin->data = cursor_bytes(&in, origin->data_bytes);
	uint64_t abi = cursor_u64(&in);
	sample->has_registers = abi != PERF_SAMPLE_REGS_ABI_NONE;
	sample->other_abi = abi == PERF_SAMPLE_REGS_ABI_32;
	for (int i = 0; sample->has_registers && i < PERF_REGISTER_COUNT; i++)
		sample->registers.value[PERF_REGISTER_DWARF[i]] = cursor_u64(&in);
	uint64_t size = cursor_u64(&in);
	sample->stack_asked = (size_t)size;
	if (size > 0) {
		sample->stack = cursor_bytes(&in, (size_t)size);
		uint64_t copied = cursor_u64(&in);
		sample->stack_bytes = copied < size ? (size_t)copied : (size_t)size;
	}
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

static void deliver_map(const struct perf_event_header *record, const struct backend_sink *sink)
{
	struct cursor in = body_of(record);
	struct backend_map map = { .pid = cursor_u32(&in), .time_ns = perf_record_time(record) };
	cursor_u32(&in); /* tid */
	map.start = cursor_u64(&in);
	map.size = cursor_u64(&in);
	map.file_offset = cursor_u64(&in);
	const uint8_t *identity = cursor_bytes(&in, IDENTITY_BYTES);
	uint32_t protection = cursor_u32(&in);
	cursor_u32(&in); /* flags */
	map.path = cursor_string(&in);
	if (in.failed || !(protection & PROT_EXEC))
		return;
	if (record->misc & PERF_RECORD_MISC_MMAP_BUILD_ID)
		set_build_id(&map, identity);
	else
		set_inode(&map, identity);
	sink->map(sink->context, &map);
}

/* Memory that is not executable: pid, tid u32 | start, size, file offset u64 | path. */
static void deliver_data_map(const struct perf_event_header *record, const struct backend_sink *sink)
{
	struct cursor in = body_of(record);
	struct backend_map map = { .is_data = true, .pid = cursor_u32(&in), .time_ns = perf_record_time(record) };
	cursor_u32(&in); /* tid */
	map.start = cursor_u64(&in);
	map.size = cursor_u64(&in);
	map.file_offset = cursor_u64(&in);
	map.path = cursor_string(&in);
	if (!in.failed && (record->misc & PERF_RECORD_MISC_MMAP_DATA))
		sink->map(sink->context, &map);
}

static void deliver_name(const struct perf_event_header *record, const struct backend_sink *sink)
{
	struct cursor in = body_of(record);
	uint32_t pid = cursor_u32(&in);
	uint32_t tid = cursor_u32(&in);
	const char *name = cursor_string(&in);
	if (!in.failed)
		sink->name(sink->context, pid, tid, name, record->misc & PERF_RECORD_MISC_COMM_EXEC,
			   perf_record_time(record));
}

/* PERF_RECORD_FORK and PERF_RECORD_EXIT: pid, ppid, tid, ptid. */
static void deliver_task(const struct perf_event_header *record, const struct backend_sink *sink)
{
	struct cursor in = body_of(record);
	uint32_t pid = cursor_u32(&in);
	uint32_t parent_pid = cursor_u32(&in);
	uint32_t tid = cursor_u32(&in);
	if (in.failed)
		return;
	if (record->type == PERF_RECORD_FORK)
		sink->fork(sink->context, parent_pid, pid, tid, perf_record_time(record));
	else
		sink->exit(sink->context, pid, tid, perf_record_time(record));
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

void perf_record_deliver(const struct perf_event_header *record, const struct backend_sink *sink, bool is_sample_ring)
{
	switch (record->type) {
	case PERF_RECORD_MMAP2:
		deliver_map(record, sink);
		break;
	case PERF_RECORD_MMAP:
		deliver_data_map(record, sink);
		break;
	case PERF_RECORD_COMM:
		deliver_name(record, sink);
		break;
	case PERF_RECORD_FORK:
	case PERF_RECORD_EXIT:
		deliver_task(record, sink);
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
