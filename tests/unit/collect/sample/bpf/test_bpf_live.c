/* The bpf backend records children of the test that do known work: the counts, their processes and threads, and
 * the stacks. */
#include <bpf/libbpf.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include "collect/sample/backend.h"
#include "support/own_code.h"
#include "support/watched_child.h"

/* --- a kernel before 6.16 --- */

static bool kernel_is_old;

bool __real_bpf_access_has_tracepoint(const char *name);
bool __wrap_bpf_access_has_tracepoint(const char *name);

bool __wrap_bpf_access_has_tracepoint(const char *name)
{
	return !(kernel_is_old && strcmp(name, "sched_exit_tp") == 0) && __real_bpf_access_has_tracepoint(name);
}

/* --- the samples --- */

enum { HEARD_MAX = 20000, FRAMES_MAX = 64 };

struct heard {
	uint32_t pid, tid, request, child;
	uint64_t hits, time_ns, amount, touched;
	int syscall;
	int64_t result;
	bool has_touched, has_registers, has_stack;
	enum unwind_cause cause;
	size_t frames;
	uint64_t pcs[FRAMES_MAX];
};

static struct heard *heard;
static size_t heard_count;

static struct heard *hear(const struct backend_sample *sample)
{
	assert_true(heard_count < HEARD_MAX);
	if (heard_count)
		assert_true(sample->time_ns >= heard[heard_count - 1].time_ns);
	struct heard *one = &heard[heard_count++];
	*one = (struct heard){
		.pid = sample->pid,
		.tid = sample->tid,
		.request = sample->request,
		.hits = sample->hits,
		.time_ns = sample->time_ns,
		.amount = sample->amount,
		.touched = sample->touched,
		.syscall = sample->syscall,
		.result = sample->syscall_result,
		.has_touched = sample->has_touched,
		.has_registers = sample->has_registers,
		.has_stack = sample->stack_bytes > 0,
		.cause = sample->cause,
		.frames = sample->addresses ? sample->address_count : 0,
	};
	for (size_t i = 0; i < one->frames && i < FRAMES_MAX; i++)
		one->pcs[i] = sample->addresses[i];
	return one;
}

static void on_sample(void *context, const struct backend_sample *sample)
{
	(void)context;
	hear(sample);
}

static void on_creates(void *context, const struct backend_sample *sample, uint32_t child)
{
	(void)context;
	hear(sample)->child = child;
}

/* --- a recording --- */

static struct resource_request requests[4];
static struct backend_request request;
static uint64_t totals[4];

/* Requests resources. Skips the test if one is not permitted. */
static void ask_for(size_t count, const char *const *words)
{
	struct error error = { 0 };
	request = (struct backend_request){ .resources = requests, .resource_count = count };
	for (size_t i = 0; i < count; i++) {
		bool user_mode_only;
		if (resource_parse(words[i], &requests[i], &error) < 0)
			fail_msg("%s: %s", words[i], error.message);
		if (backend_bpf.probe(&requests[i], &user_mode_only, &error) < 0) {
			print_message("skipped: %s is not permitted here: %s\n", words[i], error.message);
			skip();
		}
	}
}

#define ASK_FOR(...)                                                                 \
	ask_for(sizeof((const char *const[]){ __VA_ARGS__ }) / sizeof(const char *), \
		(const char *const[]){ __VA_ARGS__ })

static struct backend *open_on(pid_t pid, bool on_exec)
{
	struct error error = { 0 };
	struct listed_process one = { .pid = pid };
	struct process_list running = { .items = &one, .count = on_exec ? 0 : 1 };
	request.processes = &running; /* open reads it */
	struct backend *backend = backend_bpf.open(&request, &error);
	request.processes = NULL;
	if (!backend)
		fail_msg("%s", error.message);
	if (backend_bpf.attach(backend, pid, pid, on_exec, &error) != 1)
		fail_msg("%s", error.message);
	assert_int_equal(backend_bpf.load_code(backend, (uint32_t)pid, own_code, own_code_count), 0);
	if (backend_bpf.start(backend, &error) < 0)
		fail_msg("%s", error.message);
	return backend;
}

static struct backend_sink sink_of_samples(void)
{
	struct backend_sink sink = watched_sink;
	sink.sample = on_sample;
	sink.creates = on_creates;
	return sink;
}

static void stop(struct backend *backend)
{
	const struct backend_sink sink = sink_of_samples();
	backend_bpf.stop(backend);
	backend_bpf.stop(backend); /* a second stop changes nothing */
	assert_false(backend_bpf.drain(backend, UINT64_MAX, &sink));
	for (size_t i = 0; i < request.resource_count; i++) {
		struct backend_counts counts = backend_bpf.counts(backend, i);
		totals[i] = counts.total;
		assert_int_equal(counts.lost, 0);
	}
	backend_bpf.close(backend);
}

/* Records a child that runs `deed`, with the resources in `request`. Returns the child's pid. */
static pid_t record(void (*deed)(void))
{
	enum { DRAIN_MS = 10 };
	const struct backend_sink sink = sink_of_samples();
	watched_event_count = heard_count = 0;
	*stage = (struct stage){ .process = 0 };
	pid_t pid = child_start(deed);
	struct backend *backend = open_on(pid, false);
	child_begin();
	while (!child_is_done(DRAIN_MS)) {
		struct timespec now;
		clock_gettime(CLOCK_MONOTONIC, &now);
		uint64_t now_ns = (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
		backend_bpf.drain(backend, now_ns - DRAIN_MS * UINT64_C(1000000), &sink);
	}
	stop(backend);
	child_end(pid);
	return pid;
}

static uint64_t hits_of(uint32_t wanted)
{
	uint64_t hits = 0;
	for (size_t i = 0; i < heard_count; i++)
		hits += heard[i].request == wanted && !heard[i].child ? heard[i].hits : 0;
	return hits;
}

/* Whether the stack was walked to its root and contains `function`. */
static bool is_through(const struct heard *one, void (*function)(void))
{
	bool found = false;
	for (size_t i = 0; i < one->frames; i++)
		found |= own_code_function(one->pcs[i]) == (uintptr_t)function;
	return found && one->cause == UNWIND_ROOT;
}

/* --- the counts --- */

enum { CALLS = 1000 };

static __attribute__((noinline)) void call_often(void)
{
	for (int i = 0; i < CALLS; i++)
		syscall(SYS_getsid, 0);
}

static void test_every_call(void **state)
{
	(void)state;
	ASK_FOR("syscalls:getsid/1");
	pid_t pid = record(call_often);
	assert_int_equal(totals[0], CALLS);
	assert_int_equal(heard_count, CALLS);
	for (size_t i = 0; i < heard_count; i++) {
		assert_int_equal(heard[i].pid, pid);
		assert_int_equal(heard[i].tid, pid);
		assert_int_equal(heard[i].hits, 1);
		assert_int_equal(heard[i].amount, 1);
		assert_int_equal(heard[i].syscall, SYS_getsid);
		assert_int_equal(heard[i].result, getsid(0));
		assert_true(is_through(&heard[i], call_often));
	}
}

/* Stratified sampling: each interval has one boundary, so that the number of hits is off by at most one. */
static void test_hits_are_gticks_by_interval(void **state)
{
	(void)state;
	ASK_FOR("syscalls:getsid/7", "syscalls:getsid/64", "syscalls:getsid/5000");
	record(call_often);
	static const uint64_t intervals[] = { 7, 64, 5000 };
	for (uint32_t i = 0; i < 3; i++) {
		assert_int_equal(totals[i], CALLS);
		assert_in_range(hits_of(i), CALLS / intervals[i], CALLS / intervals[i] + 1);
	}
}

static void move_bytes(void)
{
	char bytes[100];
	int zero = open("/dev/zero", O_RDONLY | O_CLOEXEC), null = open("/dev/null", O_WRONLY | O_CLOEXEC);
	for (size_t i = 0; i < sizeof(bytes); i++)
		if (read(zero, bytes, i) < 0 || write(null, bytes, i / 2) < 0)
			_exit(1);
	/* Calls that fail transfer nothing. */
	if (read(-1, bytes, 50) > 0 || read(null, bytes, 50) > 0)
		_exit(1);
}

static void test_bytes(void **state)
{
	(void)state;
	ASK_FOR("read-bytes/100", "write-bytes/100", "read-bytes:requested/100", "io-bytes/1000");
	record(move_bytes);
	/* In addition, the child reads one byte, the signal to begin, and writes one when it is done. */
	uint64_t got = 99 * 100 / 2 + 1, put = 49 * 50;
	assert_int_equal(totals[0], got);
	assert_in_range(totals[1], put, put + 1); /* the recording may stop before that write ends */
	assert_int_equal(totals[2], got + 100);
	assert_in_range(totals[3], got + put, got + put + 1);
	assert_in_range(hits_of(0), got / 100, got / 100 + 1);
	assert_in_range(hits_of(3), totals[3] / 1000, totals[3] / 1000 + 1);
}

static void touch_pages(void)
{
	region_map_at(0, PAGES, PROT_READ | PROT_WRITE);
	madvise(region, PAGES * page_bytes, MADV_NOHUGEPAGE);
	for (size_t i = 0; i < PAGES; i++)
		*(volatile uint8_t *)(region + i * page_bytes + i) = 1;
}

static void test_touched_addresses(void **state)
{
	(void)state;
	ASK_FOR("page-faults/1");
	region_reserve();
	record(touch_pages);
	for (size_t page = 0; page < PAGES; page++) {
		size_t found = 0;
		for (size_t i = 0; i < heard_count; i++) {
			if (heard[i].touched != region_address(page) + page)
				continue;
			assert_true(heard[i].has_touched && is_through(&heard[i], touch_pages));
			found++;
		}
		assert_int_equal(found, 1);
	}
	assert_int_equal(hits_of(0), totals[0]);
	munmap(region, PAGES * page_bytes);
}

static __attribute__((noinline)) void counted_function(void)
{
	__asm__ volatile("");
}

static void call_function(void)
{
	for (int i = 0; i < CALLS; i++)
		counted_function();
}

static void test_functions(void **state)
{
	(void)state;
	ASK_FOR("calls:counted_function@test_bpf_live/1");
	record(call_function);
	assert_int_equal(totals[0], CALLS);
	assert_int_equal(heard_count, CALLS);
	for (size_t i = 0; i < heard_count; i++) {
		assert_int_equal(heard[i].pcs[0], (uintptr_t)counted_function);
		assert_true(is_through(&heard[i], call_function));
	}
}

/* --- waits --- */

enum { NAPS = 4, NAP_US = 30000, INTERVAL_US = 1000 };

static __attribute__((noinline)) void take_naps(void)
{
	for (int i = 0; i < NAPS; i++)
		nanosleep(&(struct timespec){ .tv_nsec = NAP_US * 1000 }, NULL);
}

static void test_waits(void **state)
{
	(void)state;
	static const bool ages[] = { false, true };
	for (size_t age = 0; age < 2; age++) {
		kernel_is_old = ages[age];
		ASK_FOR("blocked/1ms", "lock-wait/1ms");
		record(take_naps);
		uint64_t napping = 0;
		for (size_t i = 0; i < heard_count; i++)
			napping += is_through(&heard[i], take_naps) ? heard[i].hits : 0;
		/* A nap lasts at least as long as requested. The child also waits on its pipe before and after the
		 * naps. */
		assert_true(totals[0] >= NAPS * NAP_US);
		/* A thread that loses the CPU between the start of its timer and its sleep sleeps for less time. */
		assert_true(napping + 1 >= NAPS * NAP_US / INTERVAL_US * 3 / 4);
		assert_in_range(hits_of(0) + 1, totals[0] / INTERVAL_US, totals[0] / INTERVAL_US + 2);
		assert_int_equal(totals[1], 0);
	}
	kernel_is_old = false;
}

/* --- threads and processes --- */

static void *thread_calls(void *argument)
{
	stage->threads[0] = (pid_t)syscall(SYS_gettid);
	call_often();
	return argument;
}

static void calls_in_all(void)
{
	pthread_t thread;
	if (pthread_create(&thread, NULL, thread_calls, NULL) == 0)
		pthread_join(thread, NULL);
	pid_t process = fork();
	if (process == 0) {
		call_often();
		_exit(0);
	}
	stage->process = process;
	waitpid(process, NULL, 0);
	call_often();
}

static void test_threads_and_processes(void **state)
{
	(void)state;
	ASK_FOR("syscalls:getsid/1");
	request.creations = true;
	pid_t pid = record(calls_in_all);
	assert_int_equal(totals[0], 3 * CALLS);
	size_t in_thread = 0, in_process = 0, creations = 0;
	for (size_t i = 0; i < heard_count; i++) {
		if (heard[i].child) {
			creations++;
			assert_int_equal(heard[i].tid, pid);
			assert_int_equal(heard[i].child, stage->threads[0]);
			assert_int_equal(in_thread, 0); /* reported before the thread's first sample */
			/* glibc's clone3 has no rule at its system call. */
			assert_true(is_through(&heard[i], calls_in_all) ||
				    (heard[i].has_registers && heard[i].has_stack));
			continue;
		}
		in_thread += heard[i].tid == (uint32_t)stage->threads[0];
		in_process += heard[i].pid == (uint32_t)stage->process;
		assert_true(is_through(&heard[i], call_often)); /* a fork runs the same code */
	}
	assert_int_equal(creations, 1);
	assert_int_equal(in_thread, CALLS);
	assert_int_equal(in_process, CALLS);
}

static void test_exec(void **state)
{
	(void)state;
	ASK_FOR("syscalls:getsid/10"); /* few samples, since the ring is not drained during the recording */
	int word[2];
	watched_event_count = heard_count = 0;
	assert_int_equal(pipe2(word, O_CLOEXEC), 0);
	pid_t pid = fork();
	if (pid == 0) {
		char byte;
		if (read(word[0], &byte, 1) != 1)
			_exit(1);
		for (int i = 0; i < 3 * CALLS; i++)
			syscall(SYS_getsid, 0);
		execl("/proc/self/exe", "test_bpf_live", "call", (char *)NULL);
		_exit(1);
	}
	struct backend *backend = open_on(pid, true);
	assert_int_equal(write(word[1], "g", 1), 1);
	int status;
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
	stop(backend);
	close(word[0]);
	close(word[1]);
	assert_int_equal(totals[0], CALLS);
	assert_in_range(hits_of(0), CALLS / 10, CALLS / 10 + 1);
	for (size_t i = 0; i < heard_count; i++) /* the code of the new program is not loaded: user-space fallback */
		assert_true(heard[i].frames == 0 && heard[i].has_registers && heard[i].has_stack);
}

/* --- refusals --- */

static void test_refused(void **state)
{
	(void)state;
	enum { NOBODY = 65534, REFUSED = 3 };
	ASK_FOR("syscalls:getsid/1");
	pid_t pid = fork();
	if (pid == 0) {
		struct error error = { 0 };
		if (geteuid() == 0 && setuid(NOBODY) < 0)
			_exit(1);
		struct backend *backend = backend_bpf.open(&request, &error);
		_exit(!backend && error.code == ERROR_PERMISSION && strstr(error.message, "CAP_BPF") ? REFUSED : 2);
	}
	int status;
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFEXITED(status));
	assert_int_equal(WEXITSTATUS(status), REFUSED);
}

static void test_no_such_thread(void **state)
{
	(void)state;
	ASK_FOR("syscalls:getsid/1");
	struct error error = { 0 };
	pid_t pid = fork();
	if (pid == 0)
		_exit(0);
	assert_int_equal(waitpid(pid, NULL, 0), pid);
	struct backend *backend = backend_bpf.open(&request, &error);
	assert_non_null(backend);
	assert_int_equal(backend_bpf.attach(backend, pid, pid, false, &error), 0);
	assert_int_equal(backend_bpf.attach(backend, pid, pid, true, &error), 0);
	backend_bpf.close(backend);
	backend_bpf.close(NULL);
}

static int set_up(void **state)
{
	own_code_read();
	return watched_child_set_up(state);
}

static int tear_down(void **state)
{
	own_code_release();
	return watched_child_tear_down(state);
}

int main(int argc, char **argv)
{
	if (argc > 1 && strcmp(argv[1], "call") == 0) {
		call_often();
		return 0;
	}
	heard = calloc(HEARD_MAX, sizeof(*heard));
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_every_call),
		cmocka_unit_test(test_hits_are_gticks_by_interval),
		cmocka_unit_test(test_bytes),
		cmocka_unit_test(test_touched_addresses),
		cmocka_unit_test(test_functions),
		cmocka_unit_test(test_waits),
		cmocka_unit_test(test_threads_and_processes),
		cmocka_unit_test(test_exec),
		cmocka_unit_test(test_refused),
		cmocka_unit_test(test_no_such_thread),
	};
	int failed = heard ? cmocka_run_group_tests_name("bpf_live", tests, set_up, tear_down) : 1;
	free(heard);
	return failed;
}
