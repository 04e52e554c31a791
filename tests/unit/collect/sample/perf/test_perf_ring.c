/* perf's rings. Here the test writes into them as the kernel does. */
#include <errno.h>
#include <linux/perf_event.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cmocka.h>

#include "collect/sample/perf/ring.h"

enum { RING_BYTES = 4096 };

/* Returns a ring in memory of the test. */
static struct ring fake_ring(void)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	struct ring ring = { .fd = -1, .data_bytes = RING_BYTES, .scratch = malloc(65536) };
	ring.memory = mmap(NULL, page + RING_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	assert_true(ring.memory != MAP_FAILED && ring.scratch);
	return ring;
}

static struct perf_event_mmap_page *control_of(const struct ring *ring)
{
	return (void *)ring->memory;
}

/* Writes a record of `size` bytes, filled with `mark`, at the head. */
static void kernel_writes(const struct ring *ring, uint16_t size, uint8_t mark)
{
	uint8_t record[RING_BYTES];
	memset(record, mark, size);
	const struct perf_event_header header = { .type = PERF_RECORD_SAMPLE, .misc = mark, .size = size };
	memcpy(record, &header, sizeof(header));
	uint8_t *data = ring->memory + sysconf(_SC_PAGESIZE);
	uint64_t head = control_of(ring)->data_head;
	for (size_t i = 0; i < size; i++)
		data[(head + i) % RING_BYTES] = record[i];
	control_of(ring)->data_head = head + size;
}

static void assert_record(struct ring *ring, uint16_t size, uint8_t mark)
{
	const struct perf_event_header *record = ring_peek(ring);
	assert_non_null(record);
	assert_ptr_equal(ring_peek(ring), record); /* peek changes nothing */
	assert_int_equal(record->size, size);
	assert_int_equal(record->misc, mark);
	for (size_t i = sizeof(*record); i < size; i++)
		assert_int_equal(((const uint8_t *)record)[i], mark);
	ring_next(ring);
}

static void test_ring(void **state)
{
	(void)state;
	struct ring ring = fake_ring();
	assert_null(ring_peek(&ring));
	kernel_writes(&ring, 24, 1);
	assert_null(ring_peek(&ring)); /* not refreshed yet */
	kernel_writes(&ring, 8, 2);
	ring_refresh(&ring);
	kernel_writes(&ring, 16, 3);
	assert_record(&ring, 24, 1);
	assert_int_equal(control_of(&ring)->data_tail, 0);
	assert_record(&ring, 8, 2);
	assert_null(ring_peek(&ring)); /* the third record was written after the refresh */
	ring_release(&ring);
	assert_int_equal(control_of(&ring)->data_tail, 32);
	ring_refresh(&ring);
	assert_record(&ring, 16, 3);
	ring_unmap(&ring);
	assert_null(ring.memory);
	assert_null(ring.scratch);
	ring_unmap(&ring);
}

/* If bytes are not a record, the records before them are read, and the rest up to the head is skipped. */
static void test_ring_without_record(void **state)
{
	(void)state;
	struct ring ring = fake_ring();
	kernel_writes(&ring, 24, 1);
	control_of(&ring)->data_head += 16; /* zeros: a record of size 0 */
	ring_refresh(&ring);
	assert_record(&ring, 24, 1);
	assert_null(ring_peek(&ring));
	ring_release(&ring);
	assert_int_equal(control_of(&ring)->data_tail, control_of(&ring)->data_head);
	kernel_writes(&ring, 16, 2);
	ring_refresh(&ring);
	assert_record(&ring, 16, 2);
	ring_unmap(&ring);
}

/* Records wrap at every position of the ring, and two records together fill it. */
static void test_ring_wraps(void **state)
{
	(void)state;
	struct ring ring = fake_ring();
	unsigned wrapped = 0;
	for (unsigned round = 0; round < 3000; round++) {
		uint16_t size = (uint16_t)(8 + round % 37 * 8);
		wrapped += (control_of(&ring)->data_head % RING_BYTES) + size > RING_BYTES;
		kernel_writes(&ring, size, (uint8_t)round);
		ring_refresh(&ring);
		assert_record(&ring, size, (uint8_t)round);
		ring_release(&ring);
		assert_int_equal(control_of(&ring)->data_tail, control_of(&ring)->data_head);
	}
	assert_true(wrapped > 50);
	kernel_writes(&ring, 8, 1);
	kernel_writes(&ring, RING_BYTES - 8, 2);
	ring_refresh(&ring);
	assert_record(&ring, 8, 1);
	assert_record(&ring, RING_BYTES - 8, 2);
	assert_null(ring_peek(&ring));
	ring_unmap(&ring);
}

static void test_ring_not_mapped(void **state)
{
	(void)state;
	struct ring ring;
	assert_int_equal(ring_map(&ring, -1, RING_BYTES), -EBADF);
	assert_null(ring.memory);
	ring_unmap(&ring);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_ring),
		cmocka_unit_test(test_ring_without_record),
		cmocka_unit_test(test_ring_wraps),
		cmocka_unit_test(test_ring_not_mapped),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
