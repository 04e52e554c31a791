/* Reading the ring of a thread (collect/sample/preload/ring.h), which may contain anything, and the order in which
 * several rings are read. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include <cmocka.h>

#include "collect/sample/preload/events.h"
#include "collect/sample/preload/ring.h"

enum { THREAD = 3, HEAD_BYTES = sizeof(struct sample_record) };

static struct channel *channel;
static struct preload_record taken;

static int set_up(void **state)
{
	(void)state;
	channel = mmap(NULL, CHANNEL_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	assert_true(channel != MAP_FAILED);
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	return munmap(channel, CHANNEL_BYTES);
}

static uint8_t *ring_bytes(void)
{
	return (uint8_t *)channel + CHANNEL_RINGS + (uint64_t)THREAD * CHANNEL_RING_BYTES;
}

/* Writes as the agent does. */
static void put(const void *bytes, size_t size)
{
	struct channel_thread *shared = &channel->threads[THREAD];
	for (size_t i = 0; i < size; i++)
		ring_bytes()[(shared->head + i) % CHANNEL_RING_BYTES] = ((const uint8_t *)bytes)[i];
	shared->head += size;
}

static void put_walked(uint64_t time_ns, uint32_t frames)
{
	struct sample_record record = { .time_ns = time_ns, .kind = SAMPLE_WALKED, .frames = frames };
	put(&record, sizeof(record));
	for (uint64_t i = 0; i < frames; i++)
		put(&(uint64_t){ time_ns * 1000 + i }, sizeof(uint64_t));
}

static void assert_walked(struct preload_ring *ring, uint64_t time_ns, uint32_t frames)
{
	assert_non_null(preload_ring_peek(ring));
	assert_int_equal(preload_ring_peek(ring)->time_ns, time_ns);
	preload_ring_take(ring, &taken);
	assert_int_equal(taken.record.time_ns, time_ns);
	assert_int_equal(taken.record.frames, frames);
	for (uint64_t i = 0; i < frames; i++)
		assert_int_equal(taken.content[i], time_ns * 1000 + i);
}

static void test_records(void **state)
{
	(void)state;
	struct preload_ring ring;
	preload_ring_init(&ring, channel, THREAD);
	preload_ring_update(&ring);
	assert_null(preload_ring_peek(&ring));
	put_walked(1, 5);
	put_walked(2, 0);
	assert_null(preload_ring_peek(&ring)); /* written after the last look */
	preload_ring_update(&ring);
	put_walked(3, WALK_FRAMES);
	assert_walked(&ring, 1, 5);
	assert_int_equal(channel->threads[THREAD].tail, HEAD_BYTES + 5 * 8);
	assert_walked(&ring, 2, 0);
	assert_null(preload_ring_peek(&ring));
	preload_ring_update(&ring);
	assert_walked(&ring, 3, WALK_FRAMES);
	assert_int_equal(channel->threads[THREAD].tail, channel->threads[THREAD].head);
	assert_false(ring.is_broken);
}

/* A record with registers and a stack, and an event whose text is not a multiple of 8 bytes. */
static void test_kinds(void **state)
{
	(void)state;
	struct preload_ring ring;
	uint8_t bytes[ARCH_REGISTERS * 8 + SAMPLE_STACK_BYTES];
	preload_ring_init(&ring, channel, THREAD);
	memset(bytes, 7, sizeof(bytes));
	const struct sample_record stack = { .kind = SAMPLE_FALLBACK,
					     .end = WALK_SLOW,
					     .stack_bytes = SAMPLE_STACK_BYTES };
	put(&stack, sizeof(stack));
	put(bytes, sizeof(bytes));
	const struct sample_record event = { .kind = CHANNEL_EVENT, .end = CHANNEL_NAMED, .stack_bytes = 3 };
	put(&event, sizeof(event));
	put("abc\0\0\0\0", 8);
	put_walked(9, 1);
	preload_ring_update(&ring);
	preload_ring_take(&ring, &taken);
	assert_int_equal(taken.record.kind, SAMPLE_FALLBACK);
	assert_memory_equal(taken.content, bytes, sizeof(bytes));
	preload_ring_take(&ring, &taken);
	assert_int_equal(taken.record.end, CHANNEL_NAMED);
	assert_memory_equal(taken.content, "abc", 4);
	assert_walked(&ring, 9, 1);
}

/* Records wrap at every position of the ring, and the head passes the end of the ring many times. */
static void test_wraps(void **state)
{
	(void)state;
	struct channel_thread *shared = &channel->threads[THREAD];
	for (uint64_t before = 0; before < HEAD_BYTES + 6 * 8; before += 8) {
		struct preload_ring ring;
		shared->head = shared->tail = 5 * (uint64_t)CHANNEL_RING_BYTES - before;
		preload_ring_init(&ring, channel, THREAD);
		put_walked(before, 5);
		put_walked(before + 1, 2);
		preload_ring_update(&ring);
		assert_walked(&ring, before, 5);
		assert_walked(&ring, before + 1, 2);
		assert_null(preload_ring_peek(&ring));
	}
	struct preload_ring ring;
	for (uint64_t i = 0; i < 10000; i++) {
		if (i == 0)
			preload_ring_init(&ring, channel, THREAD);
		put_walked(i, (uint32_t)(i % 100));
		preload_ring_update(&ring);
		assert_walked(&ring, i, (uint32_t)(i % 100));
	}
	assert_false(ring.is_broken);
}

/* A ring may be completely full. A head further ahead makes it broken. */
static void test_full(void **state)
{
	(void)state;
	struct preload_ring ring;
	preload_ring_init(&ring, channel, THREAD);
	size_t count = 0;
	for (; channel->threads[THREAD].head + HEAD_BYTES + 8 <= CHANNEL_RING_BYTES; count++)
		put_walked(count, 1);
	preload_ring_update(&ring);
	for (size_t i = 0; i < count; i++)
		assert_walked(&ring, i, 1);
	channel->threads[THREAD].head += CHANNEL_RING_BYTES + 8;
	preload_ring_update(&ring);
	assert_true(ring.is_broken);
	assert_null(preload_ring_peek(&ring));
}

static void assert_broken(const struct sample_record *record, uint64_t head)
{
	struct preload_ring ring;
	memset(&channel->threads[THREAD], 0, sizeof(channel->threads[THREAD]));
	preload_ring_init(&ring, channel, THREAD);
	put(record, sizeof(*record));
	channel->threads[THREAD].head = head;
	preload_ring_update(&ring);
	assert_true(ring.is_broken);
	assert_null(preload_ring_peek(&ring));
	/* A broken ring stays broken. */
	channel->threads[THREAD].head = 0;
	put_walked(1, 0);
	preload_ring_update(&ring);
	assert_null(preload_ring_peek(&ring));
}

static void test_hostile(void **state)
{
	(void)state;
	const uint64_t enough = CHANNEL_RING_BYTES;
	const struct sample_record fine = { .kind = SAMPLE_WALKED };
	const struct sample_record impossible[] = {
		{ .kind = SAMPLE_DESCRIPTION + 1 },
		{ .kind = 255 },
		{ .kind = SAMPLE_WALKED, .frames = WALK_FRAMES + 1 },
		{ .kind = SAMPLE_WALKED, .frames = UINT16_MAX },
		{ .kind = SAMPLE_WALKED, .kernel_frames = 1 }, /* a target knows nothing of the kernel's stacks */
		{ .kind = SAMPLE_WALKED, .stack_bytes = 1 },
		{ .kind = SAMPLE_FALLBACK, .stack_bytes = SAMPLE_STACK_BYTES + 1 },
		{ .kind = SAMPLE_FALLBACK, .stack_bytes = UINT32_MAX },
		{ .kind = SAMPLE_FALLBACK, .frames = 1 },
		{ .kind = CHANNEL_EVENT, .stack_bytes = CHANNEL_TEXT_BYTES + 1 },
		{ .kind = CHANNEL_EVENT, .frames = 1 },
		{ .kind = CHANNEL_EVENT, .interpreted = 1 },
		{ .kind = SAMPLE_DESCRIPTION, .stack_bytes = sizeof(struct interpreted_code) + 1 },
		{ .kind = SAMPLE_DESCRIPTION, .frames = 1 },
		{ .kind = SAMPLE_DESCRIPTION, .interpreted = 1 },
		{ .kind = SAMPLE_WALKED, .interpreted = INTERPRETED_MOST + 1 },
		{ .kind = SAMPLE_FALLBACK, .interpreted = UINT16_MAX },
	};
	for (size_t i = 0; i < sizeof(impossible) / sizeof(impossible[0]); i++)
		assert_broken(&impossible[i], enough);
	/* Longer than the written bytes; an incomplete record; not a multiple of 8; a head before the tail. */
	assert_broken(&(struct sample_record){ .kind = SAMPLE_WALKED, .frames = 1 }, HEAD_BYTES);
	assert_broken(&(struct sample_record){ .kind = SAMPLE_FALLBACK }, HEAD_BYTES + 8);
	assert_broken(&(struct sample_record){ .kind = CHANNEL_EVENT, .stack_bytes = 1 }, HEAD_BYTES);
	assert_broken(&fine, HEAD_BYTES - 8);
	assert_broken(&fine, HEAD_BYTES + 1);
	assert_broken(&fine, enough + 8);
	assert_broken(&fine, UINT64_MAX - 7);
}

/* The reader uses the lengths that it has checked, even if the target changes them afterwards. */
static void test_changed_meanwhile(void **state)
{
	(void)state;
	struct preload_ring ring;
	preload_ring_init(&ring, channel, THREAD);
	put_walked(1, 2);
	put_walked(2, 2);
	preload_ring_update(&ring);
	((struct sample_record *)ring_bytes())->frames = UINT16_MAX;
	((struct sample_record *)ring_bytes())->kind = SAMPLE_FALLBACK;
	assert_walked(&ring, 1, 2);
	assert_walked(&ring, 2, 2);
	/* A head that moves backward is refused. */
	put_walked(3, 2);
	preload_ring_update(&ring);
	channel->threads[THREAD].head -= 8;
	preload_ring_update(&ring);
	assert_null(preload_ring_peek(&ring));
}

static void test_noise(void **state)
{
	(void)state;
	srand(7);
	for (int round = 0; round < 2000; round++) {
		struct preload_ring ring;
		struct channel_thread *shared = &channel->threads[THREAD];
		shared->tail = (uint64_t)rand() % 1000 * 8;
		shared->head = shared->tail + (uint64_t)rand() % (CHANNEL_RING_BYTES / 8) * 8;
		for (size_t i = 0; i < 4096; i++)
			ring_bytes()[(shared->tail + i) % CHANNEL_RING_BYTES] = (uint8_t)(rand() % 4 ? 0 : rand());
		preload_ring_init(&ring, channel, THREAD);
		preload_ring_update(&ring);
		for (int i = 0; i < 10000 && preload_ring_peek(&ring); i++)
			preload_ring_take(&ring, &taken);
		assert_true(ring.is_broken || ring.tail == ring.limit || preload_ring_peek(&ring));
	}
}

static void test_order(void **state)
{
	(void)state;
	static struct preload_order order;
	srand(1);
	for (int round = 0; round < 50; round++) {
		uint64_t times[CHANNEL_THREADS];
		bool was_taken[CHANNEL_THREADS] = { 0 };
		uint64_t last = 0;
		uint32_t count = 1 + (uint32_t)rand() % CHANNEL_THREADS;
		for (uint32_t i = 0; i < count; i++)
			preload_order_put(&order, times[i] = (uint64_t)rand() % 1000, i);
		for (uint32_t i = 0; i < count; i++) {
			assert_int_equal(order.count, count - i);
			uint32_t thread = preload_order_take(&order);
			assert_true(thread < count && !was_taken[thread] && times[thread] >= last);
			was_taken[thread] = true;
			last = times[thread];
		}
		assert_int_equal(order.count, 0);
	}
}

int main(void)
{
#define T(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
	const struct CMUnitTest tests[] = {
		T(test_records), T(test_kinds),
		T(test_wraps),   T(test_full),
		T(test_hostile), T(test_changed_meanwhile),
		T(test_noise),   cmocka_unit_test(test_order),
	};
	return cmocka_run_group_tests_name("preload_ring", tests, NULL, NULL);
}
