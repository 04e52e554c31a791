/* The memory shared with targets (collect/sample/preload/channel.h): its settings, its bell, and refusals of the
 * kernel. */
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "collect/sample/preload/channel.h"
#include "collect/sample/preload/requests.h"
#include "support/alloc_fail.h"

/* --- system calls that fail on request (mmap64 is the name of mmap with 64-bit offsets) --- */

static bool no_memfd, no_map, no_eventfd, no_thread;

int __real_memfd_create(const char *name, unsigned flags);
void *__real_mmap64(void *at, size_t bytes, int protection, int flags, int fd, off_t offset);
int __real_eventfd(unsigned value, int flags);
int __real_pthread_create(pthread_t *thread, const pthread_attr_t *attributes, void *(*start)(void *), void *argument);
int __wrap_memfd_create(const char *name, unsigned flags);
void *__wrap_mmap64(void *at, size_t bytes, int protection, int flags, int fd, off_t offset);
int __wrap_eventfd(unsigned value, int flags);
int __wrap_pthread_create(pthread_t *thread, const pthread_attr_t *attributes, void *(*start)(void *), void *argument);

static int refuse(int number)
{
	errno = number;
	return -1;
}

int __wrap_memfd_create(const char *name, unsigned flags)
{
	return no_memfd ? refuse(EPERM) : __real_memfd_create(name, flags);
}

void *__wrap_mmap64(void *at, size_t bytes, int protection, int flags, int fd, off_t offset)
{
	if (no_map && bytes == CHANNEL_BYTES) {
		errno = ENOMEM;
		return MAP_FAILED;
	}
	return __real_mmap64(at, bytes, protection, flags, fd, offset);
}

int __wrap_eventfd(unsigned value, int flags)
{
	return no_eventfd ? refuse(EMFILE) : __real_eventfd(value, flags);
}

int __wrap_pthread_create(pthread_t *thread, const pthread_attr_t *attributes, void *(*start)(void *), void *argument)
{
	return no_thread ? EAGAIN : __real_pthread_create(thread, attributes, start, argument);
}

/* --- requests --- */

static struct resource_request requests[RESOURCE_REQUESTS_MAX];
static struct backend_request request;

static void ask(const char *words)
{
	struct error error;
	assert_int_equal(resource_parse(words, &requests[request.resource_count], &error), 0);
	request.resource_count++;
	request.resources = requests;
}

static int reset(void **state)
{
	(void)state;
	request = (struct backend_request){ 0 };
	no_memfd = no_map = no_eventfd = no_thread = false;
	return 0;
}

static void test_requests(void **state)
{
	(void)state;
	static const struct {
		const char *words;
		enum counter counter;
		uint64_t interval;
	} all[] = {
		{ "cpu/2ms", COUNTER_CPU, 2000000 },
		{ "user", COUNTER_USER, 1000000 },
		{ "sys", COUNTER_SYS, 1000000 },
		{ "real/5ms", COUNTER_REAL, 5000000 },
		{ "blocked", COUNTER_BLOCKED, 1000000 },
		{ "io-time/10us", COUNTER_IO_TIME, 10000 },
		{ "lock-wait", COUNTER_LOCK_WAIT, 1000000 },
		{ "io-calls/3", COUNTER_IO_CALLS, 3 },
		{ "read-bytes/1KiB", COUNTER_READ, 1024 },
		{ "write-bytes/1", COUNTER_WRITTEN, 1 },
		{ "io-bytes/1", COUNTER_TRANSFERRED, 1 },
		{ "read-bytes:requested/1", COUNTER_READ_REQUESTED, 1 },
		{ "write-bytes:requested/1", COUNTER_WRITE_REQUESTED, 1 },
		{ "io-bytes:requested/1", COUNTER_TRANSFER_REQUESTED, 1 },
		{ "alloc-bytes/1", COUNTER_ALLOC_BYTES, 1 },
		{ "allocs/1", COUNTER_ALLOCS, 1 },
		{ "fp-inexact/100", COUNTER_FP, 100 },
		{ "own:orders/7", COUNTER_OWN, 7 },
		{ "page-faults", COUNTER_NONE, 0 },
		{ "syscalls:read", COUNTER_NONE, 0 },
		{ "context-switches", COUNTER_NONE, 0 },
		{ "cycles", COUNTER_NONE, 0 },
	};
	for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++) {
		reset(NULL);
		ask(all[i].words);
		struct channel_request asked = preload_request_of(&requests[0]);
		assert_int_equal(asked.counter, all[i].counter);
		assert_int_equal(asked.interval, all[i].interval);
		assert_int_equal(asked.fp_kinds, all[i].counter == COUNTER_FP ? FP_KIND_INEXACT : 0);
		assert_string_equal(asked.name, all[i].counter == COUNTER_OWN ? "orders" : "");
	}
	reset(NULL);
	ask("real");
	ask("cpu");
	assert_int_equal(preload_gticks_of(requests[0].row, 7000), 7); /* us */
	assert_int_equal(preload_gticks_of(requests[1].row, 7000), 7000);
}

/* The tick is the shortest interval of the resources that need ticks, but at least 50 us. */
static void test_ticks(void **state)
{
	(void)state;
	ask("allocs/1");
	ask("io-time/10us");
	assert_int_equal(preload_tick_ns(&request), 0);
	ask("real/5ms");
	assert_int_equal(preload_tick_ns(&request), 5000000);
	ask("cpu/2ms");
	ask("user/3ms");
	assert_int_equal(preload_tick_ns(&request), 2000000);
	ask("sys/20us");
	assert_int_equal(preload_tick_ns(&request), 50000);
}

/* --- the memory --- */

static void test_settings(void **state)
{
	(void)state;
	struct error error;
	ask("cpu/2ms");
	ask("own:orders/7");
	request.paused = true;
	struct preload_channel *channel = preload_channel_new(&request, &error);
	assert_non_null(channel);
	/* A target opens the same file, and cannot change its size. */
	struct stat status;
	int file = preload_channel_file(channel);
	assert_int_equal(fstat(file, &status), 0);
	assert_int_equal(status.st_size, CHANNEL_BYTES);
	assert_int_not_equal(ftruncate(file, 0), 0);
	assert_int_not_equal(ftruncate(file, (off_t)CHANNEL_BYTES * 2), 0);
	const struct channel *memory = mmap(NULL, sizeof(*memory), PROT_READ, MAP_SHARED, file, 0);
	assert_true(memory != MAP_FAILED);
	assert_true(channel_has_our_layouts(memory));
	assert_int_equal(memory->monitor_pid, getpid());
	assert_int_equal(memory->is_over, 0);
	assert_int_equal(memory->starts_paused, 1);
	assert_int_equal(memory->tick_ns, 2000000);
	assert_int_equal(memory->request_count, 2);
	assert_int_equal(memory->requests[0].counter, COUNTER_CPU);
	assert_string_equal(memory->requests[1].name, "orders");
	munmap((void *)memory, sizeof(*memory));
	preload_channel_free(channel);
	preload_channel_free(NULL);
}

/* The agent connects only to a monitor that has the same version of each layout in the memory. */
static void test_other_versions(void **state)
{
	(void)state;
	const uint32_t others[] = {
		CHANNEL_WORD(CHANNEL_VERSION + 1, SAMPLE_RECORD_VERSION, UNWIND_ROW_VERSION),
		CHANNEL_WORD(CHANNEL_VERSION, SAMPLE_RECORD_VERSION + 1, UNWIND_ROW_VERSION),
		CHANNEL_WORD(CHANNEL_VERSION, SAMPLE_RECORD_VERSION, UNWIND_ROW_VERSION + 1),
		CHANNEL_VERSION, /* of a build without versions of records and rows */
	};
	struct error error;
	struct preload_channel *channel = preload_channel_new(&request, &error);
	assert_non_null(channel);
	struct channel *memory = preload_channel_memory(channel);
	for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++) {
		memory->versions = others[i];
		assert_false(channel_has_our_layouts(memory));
	}
	memory->versions = CHANNEL_VERSIONS;
	assert_true(channel_has_our_layouts(memory));
	memory->magic++;
	assert_false(channel_has_our_layouts(memory));
	preload_channel_free(channel);
}

/* --- the bell --- */

static bool is_rung(const struct preload_channel *channel, int patience_ms)
{
	struct pollfd descriptor = { .fd = preload_channel_bell(channel), .events = POLLIN };
	return poll(&descriptor, 1, patience_ms) > 0;
}

/* Rings as the agent does. */
static void ring(struct channel *memory)
{
	__atomic_add_fetch(&memory->bell, 1, __ATOMIC_RELEASE);
	if (__atomic_load_n(&memory->bell_wanted, __ATOMIC_ACQUIRE))
		preload_channel_wake(&memory->bell);
}

static void test_bell(void **state)
{
	(void)state;
	enum { LONG_MS = 5000, SHORT_MS = 30, ROUNDS = 2000 };
	struct error error;
	struct preload_channel *channel = preload_channel_new(&request, &error);
	assert_non_null(channel);
	struct channel *memory = preload_channel_memory(channel);
	assert_false(is_rung(channel, SHORT_MS));
	for (int i = 0; i < ROUNDS; i++) {
		ring(memory);
		assert_true(is_rung(channel, LONG_MS));
		if (i % 2)
			ring(memory); /* already signalled: has no effect, and is not lost */
		preload_channel_clear_bell(channel);
	}
	for (int i = 0; i < 2 && is_rung(channel, SHORT_MS); i++)
		preload_channel_clear_bell(channel);
	assert_false(is_rung(channel, SHORT_MS));
	/* preload_channel_clear_bell without a ring before it. */
	preload_channel_clear_bell(channel);
	ring(memory);
	assert_true(is_rung(channel, LONG_MS));
	preload_channel_free(channel);
}

/* A target that writes random values into the bell can neither block later rings nor preload_channel_free. */
static void test_hostile_bell(void **state)
{
	(void)state;
	enum { LONG_MS = 5000 };
	struct error error;
	struct preload_channel *channel = preload_channel_new(&request, &error);
	assert_non_null(channel);
	struct channel *memory = preload_channel_memory(channel);
	for (uint32_t i = 0; i < 200; i++) {
		memory->bell = i * 0x9e3779b9U;
		memory->bell_wanted = i % 3;
		preload_channel_clear_bell(channel);
	}
	memory->bell_wanted = 1;
	ring(memory);
	preload_channel_wake(&memory->bell);
	assert_true(is_rung(channel, LONG_MS));
	preload_channel_free(channel);
}

/* The beat advances whether or not the bell is rung or heard. */
static void test_beat(void **state)
{
	(void)state;
	enum { TOLD = 2, PATIENCE_MS = 2000 };
	struct error error;
	struct preload_channel *channel = preload_channel_new(&request, &error);
	assert_non_null(channel);
	const struct channel *memory = preload_channel_memory(channel);
	for (int i = 0; i < TOLD; i++) {
		uint32_t before = __atomic_load_n(&memory->beat, __ATOMIC_RELAXED);
		for (int ms = 0; ms < PATIENCE_MS && __atomic_load_n(&memory->beat, __ATOMIC_RELAXED) - before < 2;
		     ms++)
			usleep(1000);
		assert_true(__atomic_load_n(&memory->beat, __ATOMIC_RELAXED) - before >= 2);
		ring(preload_channel_memory(channel));
	}
	preload_channel_free(channel);
}

static void assert_refused(int code, const char *words)
{
	struct error error = { 0 };
	assert_null(preload_channel_new(&request, &error));
	assert_int_equal(error.code, code);
	assert_non_null(strstr(error.message, words));
}

static void test_refused(void **state)
{
	(void)state;
	no_memfd = true;
	assert_refused(ERROR_PERMISSION, "memfd_create");
	no_memfd = false;
	no_map = true;
	assert_refused(ERROR_MEMORY, "ulimit -v");
	no_map = false;
	no_eventfd = true;
	assert_refused(ERROR_SYSTEM, "eventfd");
	no_eventfd = false;
	no_thread = true;
	assert_refused(ERROR_SYSTEM, "thread");
	no_thread = false;
	struct error error;
	ALLOC_FAIL_EACH({
		struct preload_channel *channel = preload_channel_new(&request, &error);
		if (!channel)
			assert_int_equal(error.code, ERROR_MEMORY);
		preload_channel_free(channel);
	});
}

int main(void)
{
#define T(name) cmocka_unit_test_setup(name, reset)
	const struct CMUnitTest tests[] = {
		T(test_requests), T(test_ticks),        T(test_settings), T(test_other_versions),
		T(test_bell),     T(test_hostile_bell), T(test_beat),     T(test_refused),
	};
	return cmocka_run_group_tests_name("preload_channel", tests, NULL, NULL);
}
