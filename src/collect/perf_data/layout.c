#include "collect/perf_data/layout.h"

#include <string.h>

#include "base/cursor.h"

enum { WORD = sizeof(uint64_t) };

/* The fields of 8 bytes with which a sample begins, in their order. */
static const uint64_t leading = PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME |
				PERF_SAMPLE_ADDR | PERF_SAMPLE_ID | PERF_SAMPLE_STREAM_ID | PERF_SAMPLE_CPU |
				PERF_SAMPLE_PERIOD;

/* The fields at the end of other records, from the last one backwards. */
static const uint64_t trailing[] = { PERF_SAMPLE_IDENTIFIER, PERF_SAMPLE_CPU,  PERF_SAMPLE_STREAM_ID,
				     PERF_SAMPLE_ID,         PERF_SAMPLE_TIME, PERF_SAMPLE_TID };

/* Returns the leading fields before PERF_SAMPLE_IDENTIFIER, _TIME, _ID or _PERIOD. */
static uint64_t fields_before(uint64_t field)
{
	if (field == PERF_SAMPLE_IDENTIFIER)
		return 0;
	if (field == PERF_SAMPLE_PERIOD)
		return leading & ~field;
	return leading & ((field - 1) | PERF_SAMPLE_IDENTIFIER);
}

static bool read_leading(uint64_t type, const struct perf_event_header *record, uint64_t field, uint64_t *value)
{
	uint64_t before = type & fields_before(field);
	size_t offset = sizeof(*record) + (size_t)__builtin_popcountll(before) * WORD;
	if (!(type & field) || record->size < offset + WORD)
		return false;
	memcpy(value, (const uint8_t *)record + offset, WORD);
	return true;
}

static bool read_trailing(uint64_t type, const struct perf_event_header *record, uint64_t field, uint64_t *value)
{
	size_t offset = WORD;
	for (size_t i = 0; trailing[i] != field; i++)
		offset += type & trailing[i] ? WORD : 0;
	if (!(type & field) || record->size < sizeof(*record) + offset)
		return false;
	memcpy(value, (const uint8_t *)record + record->size - offset, WORD);
	return true;
}

/* Returns false for records of perf itself, which have no such fields. */
static bool read_field(const struct perf_event_attr *attr, const struct perf_event_header *record, uint64_t field,
		       uint64_t *value)
{
	enum { FIRST_OF_PERF = 64 };
	if (record->type == PERF_RECORD_SAMPLE)
		return read_leading(attr->sample_type, record, field, value);
	return attr->sample_id_all && record->type < FIRST_OF_PERF &&
	       read_trailing(attr->sample_type, record, field, value);
}

bool perf_layout_id(const struct perf_event_attr *attr, const struct perf_event_header *record, uint64_t *id)
{
	return read_field(attr, record, PERF_SAMPLE_IDENTIFIER, id) || read_field(attr, record, PERF_SAMPLE_ID, id);
}

uint64_t perf_layout_time(const struct perf_event_attr *attr, const struct perf_event_header *record)
{
	uint64_t time_ns = 0;
	return read_field(attr, record, PERF_SAMPLE_TIME, &time_ns) ? time_ns : 0;
}

uint64_t perf_layout_period(const struct perf_event_attr *attr, const struct perf_event_header *record)
{
	uint64_t period = 0;
	return record->type == PERF_RECORD_SAMPLE &&
			       read_leading(attr->sample_type, record, PERF_SAMPLE_PERIOD, &period)
		       ? period
		       : 0;
}

static void skip(struct cursor *in, uint64_t count, uint64_t size)
{
	if (count > cursor_left(in) / size)
		in->failed = true;
	else
		cursor_bytes(in, (size_t)(count * size));
}

/* Without PERF_FORMAT_GROUP: value, times, id, lost; with it: count, times, then value, id and lost of each. */
static void skip_counts(struct cursor *in, uint64_t format)
{
	const uint64_t times = PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING;
	const uint64_t each = PERF_FORMAT_ID | PERF_FORMAT_LOST;
	uint64_t count = format & PERF_FORMAT_GROUP ? cursor_u64(in) : 1;
	skip(in, (uint64_t)__builtin_popcountll(format & times), WORD);
	skip(in, count, (1 + (uint64_t)__builtin_popcountll(format & each)) * WORD);
}

static void skip_branches(struct cursor *in, uint64_t branch_type)
{
	enum { BRANCH_BYTES = 24 };
	uint64_t count = cursor_u64(in);
	skip(in, branch_type & PERF_SAMPLE_BRANCH_HW_INDEX ? 1 : 0, WORD);
	skip(in, count, BRANCH_BYTES);
}

bool perf_layout_sample(const struct perf_event_attr *attr, const struct perf_event_header *record,
			struct backend_sample *sample, struct perf_record_chain *user, uint64_t *ip)
{
	const uint64_t type = attr->sample_type;
	struct cursor in = cursor_over(record + 1, record->size - sizeof(*record));
	*sample = (struct backend_sample){ .syscall = BACKEND_NO_SYSCALL };
	*user = (struct perf_record_chain){ 0 };
	*ip = 0;
	sample->in_kernel = (record->misc & PERF_RECORD_MISC_CPUMODE_MASK) == PERF_RECORD_MISC_KERNEL;
	if (type & PERF_SAMPLE_IDENTIFIER)
		cursor_u64(&in);
	if (type & PERF_SAMPLE_IP)
		*ip = cursor_u64(&in);
	if (type & PERF_SAMPLE_TID) {
		sample->pid = cursor_u32(&in);
		sample->tid = cursor_u32(&in);
	}
	if (type & PERF_SAMPLE_TIME)
		sample->time_ns = cursor_u64(&in);
	const uint64_t rest =
		PERF_SAMPLE_ADDR | PERF_SAMPLE_ID | PERF_SAMPLE_STREAM_ID | PERF_SAMPLE_CPU | PERF_SAMPLE_PERIOD;
	skip(&in, (uint64_t)__builtin_popcountll(type & rest), WORD);
	if (type & PERF_SAMPLE_READ)
		skip_counts(&in, attr->read_format);
	if (type & PERF_SAMPLE_CALLCHAIN)
		perf_record_call_chain(&in, sample, user);
	if (type & PERF_SAMPLE_RAW)
		skip(&in, cursor_u32(&in), 1);
	if (type & PERF_SAMPLE_BRANCH_STACK)
		skip_branches(&in, attr->branch_sample_type);
	if (type & PERF_SAMPLE_REGS_USER)
		perf_record_registers(&in, attr->sample_regs_user, sample);
	if (type & PERF_SAMPLE_STACK_USER)
		perf_record_stack(&in, sample);
	return !in.failed;
}
