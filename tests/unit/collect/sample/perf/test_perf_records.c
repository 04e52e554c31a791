/* Decoding of the records in perf's rings: made by hand, and truncated at every byte. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/buffer.h"
#include "collect/sample/backend.h"
#include "collect/sample/perf/record.h"
#include "processor/perf_registers.h"

/* --- records made by hand --- */

static void u32(struct buffer *out, uint32_t value)
{
	buffer_append(out, &value, sizeof(value));
}

static void u64(struct buffer *out, uint64_t value)
{
	buffer_append(out, &value, sizeof(value));
}

static void begin_record(struct buffer *out, uint32_t type, uint16_t misc)
{
	const struct perf_event_header header = { .type = type, .misc = misc };
	buffer_init(out);
	buffer_append(out, &header, sizeof(header));
}

/* Returns a copy of the first `size` bytes, with this size in its header. The copy is an allocation of exactly
 * that size, so that a sanitizer detects a read beyond it. */
static const struct perf_event_header *cut_record(const struct buffer *record, size_t size)
{
	struct perf_event_header *copy = malloc(size);
	assert_non_null(copy);
	memcpy(copy, record->bytes, size);
	copy->size = (uint16_t)size;
	return copy;
}

static const struct perf_event_header *end_record(struct buffer *record)
{
	const struct perf_event_header *made = cut_record(record, record->size);
	buffer_release(record);
	return made;
}

/* Appends pid and tid, time, and event id, as at the end of every record that is not a sample. */
static void trailer(struct buffer *out, uint64_t time_ns)
{
	u32(out, 7);
	u32(out, 8);
	u64(out, time_ns);
	u64(out, 77);
}

static void text(struct buffer *out, const char *words)
{
	static const uint8_t zeros[8];
	buffer_append(out, words, strlen(words) + 1);
	buffer_append(out, zeros, (8 - out->size % 8) % 8);
}

/* --- samples --- */

enum { STACK_BYTES = 64 };

/* A mark, two addresses, and what user mode would follow with. */
static const uint64_t KERNEL[] = { (uint64_t)PERF_CONTEXT_KERNEL, 0xffffffff81000010, 0xffffffff81000020,
				   (uint64_t)PERF_CONTEXT_USER, 0x401000 };

/* A tracepoint's data: the kernel pads it, together with its size (4 bytes), to a multiple of 8 bytes. */
static const char DATA[12] = "eleven more";

/* The n-th register of a sample is 0x1000 + n. */
static void make_sample(struct buffer *out, uint16_t misc, uint64_t abi, uint64_t stack_size, uint64_t dynamic_size)
{
	begin_record(out, PERF_RECORD_SAMPLE, misc);
	u64(out, 77);
	u32(out, 1234);
	u32(out, 1235);
	u64(out, 99000);
	u64(out, 0xadd4e55);
	u64(out, sizeof(KERNEL) / sizeof(KERNEL[0]));
	buffer_append(out, KERNEL, sizeof(KERNEL));
	u32(out, sizeof(DATA));
	buffer_append(out, DATA, sizeof(DATA));
	u64(out, abi);
	for (uint64_t i = 0; abi != PERF_SAMPLE_REGS_ABI_NONE && i < PERF_REGISTER_COUNT; i++)
		u64(out, 0x1000 + i);
	u64(out, stack_size);
	for (uint64_t i = 0; i < stack_size; i++)
		buffer_append_byte(out, (uint8_t)i);
	if (stack_size)
		u64(out, dynamic_size);
}

static const struct perf_event_header *sample_of(uint16_t misc, uint64_t abi, uint64_t stack_size,
						 uint64_t dynamic_size)
{
	struct buffer record;
	make_sample(&record, misc, abi, stack_size, dynamic_size);
	return end_record(&record);
}

static void test_sample(void **state)
{
	(void)state;
	const struct perf_event_header *record =
		sample_of(PERF_RECORD_MISC_USER, PERF_SAMPLE_REGS_ABI_64, STACK_BYTES, 40);
	struct backend_sample sample;
	struct perf_record_origin origin;
	assert_int_equal(perf_record_time(record), 99000);
	assert_true(perf_record_sample(record, &sample, &origin));
	assert_int_equal(origin.event_id, 77);
	assert_int_equal(origin.data_bytes, sizeof(DATA));
	assert_memory_equal(origin.data, DATA, sizeof(DATA));
	assert_int_equal(sample.kernel_count, 2);
	assert_memory_equal(sample.kernel, KERNEL + 1, 2 * sizeof(uint64_t));
	assert_int_equal(sample.pid, 1234);
	assert_int_equal(sample.tid, 1235);
	assert_int_equal(sample.time_ns, 99000);
	assert_int_equal(sample.touched, 0xadd4e55);
	assert_false(sample.has_touched); /* the event decides whether this is a touched address */
	assert_true(sample.has_registers && !sample.other_abi && !sample.in_kernel);
	/* The kernel's order: ax bx cx dx si di bp sp ip r8... */
	static const uint8_t kernel_position[ARCH_REGISTERS] = { 0,  3,  2,  1,  4,  5,  6,  7, 9,
								 10, 11, 12, 13, 14, 15, 16, 8 };
	for (int i = 0; i < ARCH_REGISTERS; i++)
		assert_int_equal(sample.registers.value[i], 0x1000 + kernel_position[i]);
	assert_int_equal(sample.stack_asked, STACK_BYTES);
	assert_int_equal(sample.stack_bytes, 40); /* the kernel copied only 40 bytes */
	for (uint8_t i = 0; i < 40; i++)
		assert_int_equal(sample.stack[i], i);
	free((void *)record);
}

static void test_sample_without_user_code(void **state)
{
	(void)state;
	const struct perf_event_header *record = sample_of(PERF_RECORD_MISC_KERNEL, PERF_SAMPLE_REGS_ABI_NONE, 0, 0);
	struct backend_sample sample;
	struct perf_record_origin origin;
	assert_true(perf_record_sample(record, &sample, &origin));
	assert_true(sample.in_kernel);
	assert_false(sample.has_registers);
	assert_null(sample.stack);
	assert_int_equal(sample.stack_bytes, 0);
	assert_int_equal(sample.stack_asked, 0);
	free((void *)record);
}

static void test_sample_of_other_kinds(void **state)
{
	(void)state;
	struct backend_sample sample;
	struct perf_record_origin origin;
	const struct perf_event_header *record =
		sample_of(PERF_RECORD_MISC_USER, PERF_SAMPLE_REGS_ABI_32, STACK_BYTES, 64);
	assert_true(perf_record_sample(record, &sample, &origin));
	assert_true(sample.has_registers && sample.other_abi);
	free((void *)record);
	/* The kernel could not read at the stack pointer. */
	record = sample_of(PERF_RECORD_MISC_USER, PERF_SAMPLE_REGS_ABI_64, STACK_BYTES, 0);
	assert_true(perf_record_sample(record, &sample, &origin));
	assert_int_equal(sample.stack_bytes, 0);
	assert_int_equal(sample.stack_asked, STACK_BYTES);
	free((void *)record);
	/* A larger dynamic size than the copied stack is limited to it. */
	record = sample_of(PERF_RECORD_MISC_USER, PERF_SAMPLE_REGS_ABI_64, STACK_BYTES, UINT64_MAX);
	assert_true(perf_record_sample(record, &sample, &origin));
	assert_int_equal(sample.stack_bytes, STACK_BYTES);
	free((void *)record);
}

static void test_sample_truncated(void **state)
{
	(void)state;
	struct buffer whole;
	make_sample(&whole, PERF_RECORD_MISC_USER, PERF_SAMPLE_REGS_ABI_64, STACK_BYTES, STACK_BYTES);
	for (size_t size = sizeof(struct perf_event_header); size < whole.size; size++) {
		const struct perf_event_header *record = cut_record(&whole, size);
		struct backend_sample sample;
		struct perf_record_origin origin;
		assert_false(perf_record_sample(record, &sample, &origin));
		assert_int_equal(perf_record_time(record), size >= 32 ? 99000 : 0);
		free((void *)record);
	}
	/* A stack size larger than the record. */
	memset(whole.bytes + 64 + 8 + sizeof(KERNEL) + PERF_REGISTER_COUNT * 8, 0xff, 8);
	const struct perf_event_header *record = cut_record(&whole, whole.size);
	struct backend_sample sample;
	struct perf_record_origin origin;
	assert_false(perf_record_sample(record, &sample, &origin));
	free((void *)record);
	/* A data size larger than the record. */
	memset(whole.bytes + 40, 0xff, 4);
	record = cut_record(&whole, whole.size);
	assert_false(perf_record_sample(record, &sample, &origin));
	free((void *)record);
	buffer_release(&whole);
}

/* --- a sink that writes each report as text --- */

static void print_sample(void *context, const struct backend_sample *sample)
{
	buffer_printf(context, "sample %u;", sample->tid);
}

static void print_map(void *context, const struct backend_map *map)
{
	buffer_printf(context, "%smap %u %llu %llx+%llx@%llx %s", map->is_data ? "data " : "", map->pid,
		      (unsigned long long)map->time_ns, (unsigned long long)map->start, (unsigned long long)map->size,
		      (unsigned long long)map->file_offset, map->path);
	if (map->inode)
		buffer_printf(context, " %x:%x %llx", major(map->device), minor(map->device),
			      (unsigned long long)map->inode);
	for (size_t i = 0; i < map->build_id_bytes; i++)
		buffer_printf(context, "%s%02x", i ? "" : " ", map->build_id[i]);
	buffer_printf(context, ";");
}

static void print_name(void *context, uint32_t pid, uint32_t tid, const char *name, bool is_exec, uint64_t time_ns)
{
	buffer_printf(context, "%s %u %u %s %llu;", is_exec ? "exec" : "name", pid, tid, name,
		      (unsigned long long)time_ns);
}

static void print_fork(void *context, uint32_t parent_pid, uint32_t pid, uint32_t tid, uint64_t time_ns)
{
	buffer_printf(context, "fork %u %u %u %llu;", parent_pid, pid, tid, (unsigned long long)time_ns);
}

static void print_exit(void *context, uint32_t pid, uint32_t tid, uint64_t time_ns)
{
	buffer_printf(context, "exit %u %u %llu;", pid, tid, (unsigned long long)time_ns);
}

static void print_lost(void *context, uint64_t samples)
{
	buffer_printf(context, "lost %llu;", (unsigned long long)samples);
}

static void print_lost_events(void *context, uint64_t events)
{
	buffer_printf(context, "lost events %llu;", (unsigned long long)events);
}

static void print_throttled(void *context)
{
	buffer_printf(context, "throttled;");
}

/* Delivers a record, compares the reports, and frees the record. */
static void assert_printed(const struct perf_event_header *record, bool is_sample_ring, const char *wanted)
{
	struct buffer printed;
	buffer_init(&printed);
	const struct backend_sink sink = { .context = &printed,
					   .sample = print_sample,
					   .map = print_map,
					   .name = print_name,
					   .fork = print_fork,
					   .exit = print_exit,
					   .lost = print_lost,
					   .lost_events = print_lost_events,
					   .throttled = print_throttled };
	perf_record_deliver(record, perf_record_time(record), &sink, is_sample_ring);
	buffer_append_byte(&printed, 0);
	assert_string_equal((const char *)printed.bytes, wanted);
	buffer_release(&printed);
	free((void *)record);
}

/* --- other records --- */

static void make_map(struct buffer *out, uint16_t misc, uint8_t build_id_bytes, uint32_t protection, const char *path)
{
	begin_record(out, PERF_RECORD_MMAP2, misc);
	u32(out, 12);
	u32(out, 13);
	u64(out, 0x400000);
	u64(out, 0x3000);
	u64(out, 0x1000);
	buffer_append_byte(out, build_id_bytes);
	for (int i = 0; i < 3; i++)
		buffer_append_byte(out, 0);
	for (uint8_t i = 0; i < 20; i++)
		buffer_append_byte(out, i);
	u32(out, protection);
	u32(out, MAP_PRIVATE);
	text(out, path);
	trailer(out, 5000);
}

static const struct perf_event_header *map_of(uint16_t misc, uint8_t build_id_bytes, uint32_t protection,
					      const char *path)
{
	struct buffer record;
	make_map(&record, misc, build_id_bytes, protection, path);
	return end_record(&record);
}

static void test_maps(void **state)
{
	(void)state;
	static const uint16_t with_id = PERF_RECORD_MISC_MMAP_BUILD_ID;
	enum { CODE = PROT_READ | PROT_EXEC };
	assert_int_equal(CODE, 5);
	/* The same bytes: major and minor number, inode and generation. */
	assert_printed(map_of(0, 20, CODE, "/bin/true"), false,
		       "map 12 5000 400000+3000@1000 /bin/true 14:3020100 b0a090807060504;");
	assert_printed(map_of(with_id, 4, CODE, "/bin/true"), false,
		       "map 12 5000 400000+3000@1000 /bin/true 00010203;");
	assert_printed(map_of(with_id, 20, CODE, "/lib/a b.so"), true,
		       "map 12 5000 400000+3000@1000 /lib/a b.so 000102030405060708090a0b0c0d0e0f10111213;");
	/* A mapping that is not a file has no build-id, and a build-id has at most 20 bytes. */
	assert_printed(map_of(with_id, 0, CODE, "//anon"), false, "map 12 5000 400000+3000@1000 //anon;");
	assert_printed(map_of(with_id, 21, CODE, "/bin/true"), false, "map 12 5000 400000+3000@1000 /bin/true;");
	assert_printed(map_of(with_id, 20, PROT_READ | PROT_WRITE, "/bin/true"), false, "");
	assert_printed(map_of(with_id, 20, PROT_NONE, "/bin/true"), false, "");
}

static const struct perf_event_header *data_map_of(uint16_t misc, const char *path)
{
	struct buffer record;
	begin_record(&record, PERF_RECORD_MMAP, misc);
	u32(&record, 12);
	u32(&record, 13);
	u64(&record, 0x400000);
	u64(&record, 0x3000);
	u64(&record, 0x1000);
	text(&record, path);
	trailer(&record, 5000);
	return end_record(&record);
}

static void test_data_maps(void **state)
{
	(void)state;
	assert_printed(data_map_of(PERF_RECORD_MISC_MMAP_DATA, "[heap]"), false,
		       "data map 12 5000 400000+3000@1000 [heap];");
	assert_printed(data_map_of(PERF_RECORD_MISC_MMAP_DATA, "//anon"), false,
		       "data map 12 5000 400000+3000@1000 //anon;");
	assert_printed(data_map_of(0, "/bin/true"), false, ""); /* MMAP2 records report code */
}

/* --- names, tasks, losses --- */

static void test_names_and_tasks(void **state)
{
	(void)state;
	struct buffer record;
	begin_record(&record, PERF_RECORD_COMM, 0);
	u32(&record, 3);
	u32(&record, 4);
	text(&record, "a thread");
	trailer(&record, 6000);
	assert_printed(end_record(&record), false, "name 3 4 a thread 6000;");
	begin_record(&record, PERF_RECORD_COMM, PERF_RECORD_MISC_COMM_EXEC);
	u32(&record, 3);
	u32(&record, 3);
	text(&record, "sh");
	trailer(&record, 6001);
	assert_printed(end_record(&record), false, "exec 3 3 sh 6001;");
	static const uint32_t types[] = { PERF_RECORD_FORK, PERF_RECORD_EXIT };
	for (int i = 0; i < 2; i++) {
		begin_record(&record, types[i], 0);
		for (uint32_t id = 20; id < 24; id++) /* pid, ppid, tid, ptid */
			u32(&record, id);
		u64(&record, 6998);
		trailer(&record, 7000);
		assert_int_equal(perf_record_time((const void *)record.bytes), 0); /* no size yet */
		assert_printed(end_record(&record), false, i == 0 ? "fork 21 20 22 7000;" : "exit 20 22 7000;");
	}
}

static void test_losses(void **state)
{
	(void)state;
	for (int is_sample_ring = 0; is_sample_ring < 2; is_sample_ring++) {
		struct buffer record;
		begin_record(&record, PERF_RECORD_LOST, 0);
		u64(&record, 77);
		u64(&record, 42);
		trailer(&record, 8000);
		assert_printed(end_record(&record), is_sample_ring, is_sample_ring ? "lost 42;" : "lost events 42;");
		begin_record(&record, PERF_RECORD_THROTTLE, 0);
		for (int i = 0; i < 3; i++)
			u64(&record, 1);
		trailer(&record, 8001);
		assert_printed(end_record(&record), is_sample_ring, "throttled;");
		begin_record(&record, PERF_RECORD_UNTHROTTLE, 0);
		for (int i = 0; i < 3; i++)
			u64(&record, 1);
		trailer(&record, 8002);
		assert_printed(end_record(&record), is_sample_ring, "");
	}
	struct buffer record;
	begin_record(&record, 4711, 0);
	trailer(&record, 8003);
	assert_printed(end_record(&record), false, "");
}

/* A record truncated at any byte reports nothing that it does not contain. */
static void test_others_truncated(void **state)
{
	(void)state;
	struct buffer record;
	make_map(&record, PERF_RECORD_MISC_MMAP_BUILD_ID, 20, PROT_EXEC, "/bin/true");
	/* The path begins at 72, and its NUL is at 81. */
	for (size_t size = 8; size <= 81; size++)
		assert_printed(cut_record(&record, size), false, "");
	buffer_release(&record);
	static const uint32_t types[] = { PERF_RECORD_COMM, PERF_RECORD_FORK, PERF_RECORD_EXIT, PERF_RECORD_LOST,
					  PERF_RECORD_MMAP };
	static const size_t least[] = { 16 + 1, 8 + 12, 8 + 12, 8 + 16, 8 + 24 };
	for (size_t i = 0; i < sizeof(types) / sizeof(types[0]); i++) {
		begin_record(&record, types[i], 0);
		u64(&record, 1);
		text(&record, "");
		trailer(&record, 9000);
		for (size_t size = 8; size < least[i]; size++) {
			const struct perf_event_header *cut = cut_record(&record, size);
			assert_int_equal(perf_record_time(cut), 0);
			assert_printed(cut, false, "");
		}
		buffer_release(&record);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_sample),
		cmocka_unit_test(test_sample_without_user_code),
		cmocka_unit_test(test_sample_of_other_kinds),
		cmocka_unit_test(test_sample_truncated),
		cmocka_unit_test(test_maps),
		cmocka_unit_test(test_data_maps),
		cmocka_unit_test(test_names_and_tasks),
		cmocka_unit_test(test_losses),
		cmocka_unit_test(test_others_truncated),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
