/* The ring of the eBPF programs. Here the test writes into it as the kernel does. */
#include <errno.h>
#include <linux/bpf.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cmocka.h>

#include "collect/sample/bpf/ring.h"
#include "processor/registers.h"
#include "support/alloc_fail.h"

enum { RING_BYTES = 64 * 1024, HEADER_BYTES = 8, WORD = 8 };

/* The memory that the kernel maps: the consumer's page, the producer's page, and the data twice. */
struct world {
	int fd;
	size_t page_bytes;
	uint8_t *memory;
	uint64_t written; /* ahead of the published position while a record is written */
	struct bpf_ring *ring;
};

static int set_up(void **state)
{
	struct world *world = calloc(1, sizeof(*world));
	assert_non_null(world);
	world->page_bytes = (size_t)sysconf(_SC_PAGESIZE);
	size_t bytes = 2 * world->page_bytes + 2 * (size_t)RING_BYTES;
	world->fd = memfd_create("ring", MFD_CLOEXEC);
	assert_true(world->fd >= 0 && ftruncate(world->fd, (off_t)bytes) == 0);
	world->memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, world->fd, 0);
	assert_true(world->memory != MAP_FAILED);
	world->ring = bpf_ring_new(world->fd, RING_BYTES);
	assert_non_null(world->ring);
	*state = world;
	return 0;
}

static int tear_down(void **state)
{
	struct world *world = *state;
	bpf_ring_free(world->ring);
	munmap(world->memory, 2 * world->page_bytes + 2 * (size_t)RING_BYTES);
	close(world->fd);
	free(world);
	return 0;
}

/* --- the kernel's side --- */

static uint64_t consumed(const struct world *world)
{
	return __atomic_load_n((const uint64_t *)world->memory, __ATOMIC_ACQUIRE);
}

static void put(struct world *world, uint64_t at, const void *bytes, size_t size)
{
	uint8_t *data = world->memory + 2 * world->page_bytes;
	for (size_t i = 0; i < size; i++) {
		size_t place = (at + i) % RING_BYTES;
		data[place] = data[place + RING_BYTES] = ((const uint8_t *)bytes)[i];
	}
}

static void set_header(struct world *world, uint64_t at, uint32_t length)
{
	const uint32_t header[2] = { length, 7 /* a field that only the kernel uses */ };
	put(world, at, header, sizeof(header));
}

static void publish(struct world *world)
{
	__atomic_store_n((uint64_t *)(world->memory + world->page_bytes), world->written, __ATOMIC_RELEASE);
}

static uint64_t room_of(uint32_t length)
{
	return (length + HEADER_BYTES + WORD - 1) / WORD * WORD;
}

/* Reserves and writes a record. All words of its frames are its time. Returns its position. */
static uint64_t write_record(struct world *world, const struct sample_record *record, uint32_t length, uint32_t flags)
{
	uint64_t at = world->written;
	assert_true(at + room_of(length) - consumed(world) <= RING_BYTES);
	for (uint64_t i = 0; i < room_of(length); i += WORD)
		put(world, at + i, &(const uint64_t){ UINT64_MAX }, WORD); /* old content */
	set_header(world, at, length | flags);
	put(world, at + HEADER_BYTES, record, length < sizeof(*record) ? length : sizeof(*record));
	for (size_t i = sizeof(*record); i + WORD <= length; i += WORD)
		put(world, at + HEADER_BYTES + i, &record->time_ns, WORD);
	world->written += room_of(length);
	publish(world);
	return at;
}

static uint64_t kernel_writes(struct world *world, uint64_t time_ns, uint32_t frames, uint32_t flags)
{
	const struct sample_record record = { .time_ns = time_ns, .kind = SAMPLE_WALKED, .frames = frames };
	return write_record(world, &record, (uint32_t)(sizeof(record) + frames * WORD), flags);
}

/* --- the reader's side --- */

static void assert_next(struct world *world, uint64_t time_ns, uint32_t frames)
{
	const struct sample_record *record = bpf_ring_peek(world->ring);
	assert_non_null(record);
	assert_ptr_equal(bpf_ring_peek(world->ring), record); /* peek changes nothing */
	assert_int_equal(record->time_ns, time_ns);
	assert_int_equal(record->frames, frames);
	for (uint32_t i = 0; i < frames; i++)
		assert_int_equal(((const uint64_t *)(record + 1))[i], time_ns);
	bpf_ring_next(world->ring);
}

static void test_order(void **state)
{
	struct world *world = *state;
	assert_null(bpf_ring_peek(world->ring));
	bpf_ring_refresh(world->ring);
	assert_null(bpf_ring_peek(world->ring));
	static const uint64_t times[] = { 50, 20, 40, 20, 60, 10 };
	for (uint32_t i = 0; i < 6; i++)
		kernel_writes(world, times[i], i, 0);
	assert_null(bpf_ring_peek(world->ring)); /* not refreshed yet */
	bpf_ring_refresh(world->ring);
	assert_next(world, 10, 5);
	assert_next(world, 20, 1); /* equal times: in the order of the ring */
	assert_next(world, 20, 3);
	/* A late record is the next one, although it is earlier than a record that was read. */
	kernel_writes(world, 5, 0, 0);
	kernel_writes(world, 45, 1, 0);
	bpf_ring_refresh(world->ring);
	assert_next(world, 5, 0);
	assert_next(world, 40, 2);
	assert_next(world, 45, 1);
	assert_next(world, 50, 0);
	assert_next(world, 60, 4);
	assert_null(bpf_ring_peek(world->ring));
	assert_int_equal(consumed(world), world->written);
}

static void test_room(void **state)
{
	struct world *world = *state;
	uint64_t at[4];
	static const uint64_t times[] = { 30, 10, 40, 20 };
	for (int i = 0; i < 4; i++)
		at[i] = kernel_writes(world, times[i], 2, 0);
	bpf_ring_refresh(world->ring);
	assert_int_equal(consumed(world), 0);
	assert_next(world, 10, 2);
	assert_next(world, 20, 2);
	assert_int_equal(consumed(world), 0); /* the oldest record is not read yet */
	assert_next(world, 30, 2);
	assert_int_equal(consumed(world), at[2]);
	assert_next(world, 40, 2);
	assert_int_equal(consumed(world), world->written);
}

static void test_busy(void **state)
{
	struct world *world = *state;
	const uint32_t length = sizeof(struct sample_record) + WORD;
	kernel_writes(world, 10, 0, 0);
	uint64_t busy = kernel_writes(world, 30, 1, BPF_RINGBUF_BUSY_BIT);
	kernel_writes(world, 20, 0, 0);
	bpf_ring_refresh(world->ring);
	assert_next(world, 10, 0);
	assert_null(bpf_ring_peek(world->ring));
	assert_int_equal(consumed(world), busy);
	bpf_ring_refresh(world->ring);
	assert_null(bpf_ring_peek(world->ring));
	set_header(world, busy, length);
	bpf_ring_refresh(world->ring);
	assert_next(world, 20, 0);
	assert_next(world, 30, 1);
	/* A busy record may be discarded. */
	busy = kernel_writes(world, 40, 1, BPF_RINGBUF_BUSY_BIT);
	bpf_ring_refresh(world->ring);
	set_header(world, busy, length | BPF_RINGBUF_DISCARD_BIT);
	kernel_writes(world, 50, 1, 0);
	bpf_ring_refresh(world->ring);
	assert_next(world, 50, 1);
	assert_int_equal(consumed(world), world->written);
}

static void test_discarded(void **state)
{
	struct world *world = *state;
	kernel_writes(world, 10, 3, BPF_RINGBUF_DISCARD_BIT);
	bpf_ring_refresh(world->ring);
	assert_null(bpf_ring_peek(world->ring));
	assert_int_equal(consumed(world), world->written);
	kernel_writes(world, 20, 0, 0);
	kernel_writes(world, 10, 3, BPF_RINGBUF_DISCARD_BIT);
	kernel_writes(world, 30, 0, 0);
	bpf_ring_refresh(world->ring);
	assert_next(world, 20, 0);
	assert_next(world, 30, 0);
	assert_null(bpf_ring_peek(world->ring));
	assert_int_equal(consumed(world), world->written);
}

/* A record that is shorter than its fields require is skipped, and the record after it is read. */
static void test_malformed(void **state)
{
	struct world *world = *state;
	enum { REGISTERS = ARCH_REGISTERS * WORD };
	static const struct {
		struct sample_record record;
		uint32_t length;
		bool is_good;
	} cases[] = {
		{ { .kind = SAMPLE_WALKED }, 0, false },
		{ { .kind = SAMPLE_WALKED }, sizeof(struct sample_record) - 1, false },
		{ { .kind = SAMPLE_WALKED }, sizeof(struct sample_record), true },
		{ { .kind = SAMPLE_WALKED, .frames = 1 }, sizeof(struct sample_record) + WORD - 1, false },
		{ { .kind = SAMPLE_WALKED, .frames = 1 }, sizeof(struct sample_record) + WORD + 1, true },
		{ { .kind = SAMPLE_WALKED, .frames = UINT16_MAX }, sizeof(struct sample_record) + WORD, false },
		{ { .kind = SAMPLE_WALKED, .frames = 1, .kernel_frames = 1 },
		  sizeof(struct sample_record) + WORD,
		  false },
		{ { .kind = SAMPLE_WALKED, .frames = 1, .kernel_frames = 1 },
		  sizeof(struct sample_record) + 2 * WORD,
		  true },
		{ { .kind = SAMPLE_WALKED, .kernel_frames = UINT16_MAX }, sizeof(struct sample_record) + WORD, false },
		{ { .kind = SAMPLE_FALLBACK }, sizeof(struct sample_record) + REGISTERS - 1, false },
		{ { .kind = SAMPLE_FALLBACK }, sizeof(struct sample_record) + REGISTERS, true },
		{ { .kind = SAMPLE_FALLBACK, .stack_bytes = 9 }, sizeof(struct sample_record) + REGISTERS + 8, false },
		{ { .kind = SAMPLE_FALLBACK, .stack_bytes = 9 }, sizeof(struct sample_record) + REGISTERS + 9, true },
		/* The kernel's frames begin at a multiple of 8 bytes. */
		{ { .kind = SAMPLE_FALLBACK, .stack_bytes = 9, .kernel_frames = 1 },
		  sizeof(struct sample_record) + REGISTERS + 9 + WORD,
		  false },
		{ { .kind = SAMPLE_FALLBACK, .stack_bytes = 9, .kernel_frames = 1 },
		  sizeof(struct sample_record) + REGISTERS + 16 + WORD,
		  true },
		{ { .kind = SAMPLE_FALLBACK, .stack_bytes = UINT32_MAX },
		  sizeof(struct sample_record) + REGISTERS,
		  false },
		{ { .kind = 77 }, sizeof(struct sample_record), false },
	};
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		write_record(world, &cases[i].record, cases[i].length, 0);
		kernel_writes(world, i + 1, 1, 0);
		bpf_ring_refresh(world->ring);
		const struct sample_record *first = bpf_ring_peek(world->ring);
		assert_non_null(first);
		if ((first->time_ns == 0) != cases[i].is_good)
			fail_msg("case %zu", i);
		if (first->time_ns == 0)
			bpf_ring_next(world->ring);
		assert_next(world, i + 1, 1);
		assert_int_equal(consumed(world), world->written);
	}
}

/* Records wrap at every position of the ring, and one record is as large as the ring. */
static void test_wraps(void **state)
{
	struct world *world = *state;
	unsigned wrapped = 0;
	for (uint32_t round = 0; round < 20000; round++) {
		uint32_t frames = round % 61;
		uint64_t at = kernel_writes(world, round, frames, 0);
		wrapped += at / RING_BYTES != (world->written - 1) / RING_BYTES;
		bpf_ring_refresh(world->ring);
		assert_next(world, round, frames);
		assert_int_equal(consumed(world), world->written);
	}
	assert_true(wrapped > 50);
	kernel_writes(world, 1, (RING_BYTES - HEADER_BYTES - sizeof(struct sample_record)) / WORD, 0);
	bpf_ring_refresh(world->ring);
	assert_next(world, 1, (RING_BYTES - HEADER_BYTES - sizeof(struct sample_record)) / WORD);
}

/* --- many --- */

enum { MANY = 30000 };

/* The expected state of the reader: the times and positions of the records that it has seen. */
struct model {
	uint64_t times[MANY], at[MANY];
	bool taken[MANY];
	size_t written, gathered, oldest, taken_count;
};

static void model_takes_next(struct world *world, struct model *model)
{
	size_t least = model->oldest;
	for (size_t i = model->oldest; i < model->gathered; i++)
		if (!model->taken[i] && (model->taken[least] || model->times[i] < model->times[least]))
			least = i;
	assert_next(world, model->times[least], (uint32_t)(least % 3));
	model->taken[least] = true;
	model->taken_count++;
	while (model->oldest < model->gathered && model->taken[model->oldest])
		model->oldest++;
	assert_int_equal(consumed(world), model->oldest < model->written ? model->at[model->oldest] : world->written);
}

/* Reads many records from a ring that never becomes empty. A record may precede another one that is up to `spread`
 * ns earlier. If spread is 1, records that were read are freed meanwhile, so that the reader needs no more memory
 * after half of them. */
static void run_many(struct world *world, uint64_t spread)
{
	struct model *model = calloc(1, sizeof(*model));
	bool is_halfway = false;
	assert_non_null(model);
	while (model->taken_count < MANY) {
		size_t batch = (size_t)rand() % 100;
		for (size_t i = 0; i < batch && model->written < MANY && model->written - model->oldest < 400; i++) {
			size_t number = model->written++;
			model->times[number] = number * 10 + (uint64_t)rand() % spread;
			model->at[number] = kernel_writes(world, model->times[number], (uint32_t)(number % 3), 0);
		}
		bpf_ring_refresh(world->ring);
		model->gathered = model->written;
		if (spread == 1 && !is_halfway && model->taken_count > MANY / 2) {
			is_halfway = true;
			alloc_fail_start(1); /* from here on, no allocation may happen */
		}
		size_t there = model->gathered - model->taken_count;
		size_t stay = model->written < MANY ? 20 : 0;
		for (size_t i = (size_t)rand() % 100; i > 0 && there > stay; i--, there--)
			model_takes_next(world, model);
	}
	assert_false(alloc_fail_stop());
	assert_null(bpf_ring_peek(world->ring));
	assert_int_equal(consumed(world), world->written);
	free(model);
}

static void test_many(void **state)
{
	srand(1);
	run_many(*state, 1);
	run_many(*state, 300);
}

/* --- failures --- */

static void take_all(struct world *world, unsigned *taken)
{
	bpf_ring_refresh(world->ring);
	for (const struct sample_record *record; (record = bpf_ring_peek(world->ring)) != NULL;) {
		assert_int_equal(record->time_ns, *taken); /* no record is missing */
		bpf_ring_next(world->ring);
		++*taken;
	}
}

static void test_out_of_memory(void **state)
{
	enum { RECORDS = 700 };
	struct world *world = *state;
	unsigned taken = 0;
	for (unsigned number = 1, more = 1; more; number++) {
		struct bpf_ring *fresh = bpf_ring_new(world->fd, RING_BYTES);
		assert_non_null(fresh);
		bpf_ring_free(world->ring);
		world->ring = fresh;
		*(uint64_t *)world->memory = world->written = taken = 0;
		for (unsigned i = 0; i < RECORDS; i++)
			kernel_writes(world, i, 0, 0);
		alloc_fail_start(number);
		bpf_ring_refresh(world->ring);
		more = alloc_fail_stop();
		if (more)
			assert_true(consumed(world) < world->written);
		for (int i = 0; i < 3; i++)
			take_all(world, &taken);
		assert_int_equal(taken, RECORDS);
		assert_int_equal(consumed(world), world->written);
	}
}

/* While no memory is to be had, the records are listed in turns. */
static void test_turns_without_memory(void **state)
{
	struct world *world = *state;
	unsigned taken = 0;
	enum { MANY_RECORDS = 500 };
	for (unsigned i = 0; i < MANY_RECORDS; i++)
		kernel_writes(world, i, 0, 0);
	while (taken < MANY_RECORDS) {
		unsigned before = taken;
		alloc_fail_start(1);
		bpf_ring_refresh(world->ring);
		alloc_fail_stop();
		for (; bpf_ring_peek(world->ring); taken++)
			assert_next(world, taken, 0);
		assert_true(taken > before);
	}
	assert_int_equal(consumed(world), world->written);
}

static void test_not_mapped(void **state)
{
	struct world *world = *state;
	errno = 0;
	assert_null(bpf_ring_new(-1, RING_BYTES));
	assert_int_equal(errno, EBADF);
	alloc_fail_start(1);
	assert_null(bpf_ring_new(world->fd, RING_BYTES));
	assert_true(alloc_fail_stop());
	assert_int_equal(errno, ENOMEM);
	bpf_ring_free(NULL);
}

int main(void)
{
#define T(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
	const struct CMUnitTest tests[] = {
		T(test_order), T(test_room), T(test_busy),          T(test_discarded),  T(test_malformed),
		T(test_wraps), T(test_many), T(test_out_of_memory), T(test_not_mapped), T(test_turns_without_memory),
	};
	return cmocka_run_group_tests_name("bpf_ring", tests, NULL, NULL);
}
