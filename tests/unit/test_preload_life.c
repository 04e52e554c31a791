/* The life of processes and threads in the channel (record/preload_slots.h), and what is
 * told of them (record/preload_events.h): the test writes what a runtime would, of
 * processes that are children of the test. */
#include <errno.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include "alloc_fail.h"
#include "record/preload_events.h"

static bool no_epoll;
int __real_epoll_create1(int flags);
int __wrap_epoll_create1(int flags);

int __wrap_epoll_create1(int flags)
{
	if (!no_epoll)
		return __real_epoll_create1(flags);
	errno = EMFILE;
	return -1;
}

/* --- the sink writes down what it is told --- */

static char told[64 * 1024];
static size_t maps_told;

__attribute__((format(printf, 1, 2))) static void note(const char *format, ...)
{
	va_list values;
	size_t used = strlen(told);
	va_start(values, format);
	vsnprintf(told + used, sizeof(told) - used, format, values);
	va_end(values);
}

/* Pids of children are called 'a', 'b', ... in the order of their making. */
static pid_t children[8];
static size_t child_count;

static char letter(uint32_t pid)
{
	for (size_t i = 0; i < child_count; i++)
		if ((uint32_t)children[i] == pid)
			return (char)('a' + i);
	return '?';
}

static void on_sample(void *context, const struct backend_sample *sample)
{
	(void)context;
	note("sample(%c.%u r%u x%lu %lu) ", letter(sample->pid), sample->tid % 1000, sample->request,
	     (unsigned long)sample->hits, (unsigned long)sample->amount);
}

static void on_map(void *context, const struct backend_map *map)
{
	(void)context;
	assert_true(map->size > 0 && map->path[0]);
	maps_told++;
}

static void on_name(void *context, uint32_t pid, uint32_t tid, const char *name, bool is_exec, uint64_t time_ns)
{
	(void)context, (void)time_ns, (void)tid;
	/* Children of the test all have its name. */
	note(is_exec ? "exec(%c) " : strncmp(name, "test_", 5) == 0 ? "" : "name(%c %s) ", letter(pid), name);
}

static void on_fork(void *context, uint32_t parent_pid, uint32_t pid, uint32_t tid, uint64_t time_ns)
{
	(void)context, (void)time_ns;
	note("fork(%c %c.%u) ", letter(parent_pid), letter(pid), tid == pid ? 0 : tid % 1000);
}

static void on_exit_told(void *context, uint32_t pid, uint32_t tid, uint64_t time_ns)
{
	(void)context, (void)time_ns;
	note("exit(%c.%u) ", letter(pid), tid == pid ? 0 : tid % 1000);
}

static void on_creates(void *context, const struct backend_sample *sample, uint32_t tid)
{
	(void)context;
	note("creates(%c.%u %u) ", letter(sample->pid), sample->tid % 1000, tid % 1000);
}

static void on_labels(void *context, uint32_t number, const char *text, size_t bytes)
{
	(void)context;
	note("labels(%u %.*s) ", number, (int)bytes, text);
}

static void on_unit(void *context, uint32_t request, const char *unit)
{
	(void)context;
	note("unit(%u %s) ", request, unit);
}

static const struct backend_sink sink = { .sample = on_sample,
					  .map = on_map,
					  .name = on_name,
					  .fork = on_fork,
					  .exit = on_exit_told,
					  .creates = on_creates,
					  .labels = on_labels,
					  .unit = on_unit };

/* --- the world --- */

static struct channel *channel;
static struct preload_slots *slots;
static struct preload_events *events;
static struct resource_request requests[2];
static struct backend_request request = { .resources = requests, .resource_count = 2 };

static uint64_t now_ns(void)
{
	struct timespec time;
	clock_gettime(CLOCK_MONOTONIC, &time);
	return (uint64_t)time.tv_sec * 1000000000 + (uint64_t)time.tv_nsec;
}

static int set_up(void **state)
{
	struct error error;
	(void)state;
	channel = mmap(NULL, CHANNEL_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	assert_true(channel != MAP_FAILED);
	assert_int_equal(resource_parse("real", &requests[0], &error), 0);
	assert_int_equal(resource_parse("own:orders", &requests[1], &error), 0);
	slots = preload_slots_new(channel, &error);
	assert_non_null(slots);
	events = preload_events_new(slots, &request);
	assert_non_null(events);
	told[0] = 0;
	maps_told = 0;
	return 0;
}

static void end_child(size_t number)
{
	if (children[number] <= 0)
		return;
	kill(children[number], SIGKILL);
	assert_int_equal(waitpid(children[number], NULL, 0), children[number]);
}

static int tear_down(void **state)
{
	(void)state;
	for (size_t i = 0; i < child_count; i++)
		if (children[i] > 0 && waitpid(children[i], NULL, WNOHANG) == 0)
			end_child(i);
	child_count = 0;
	preload_events_free(events);
	preload_slots_free(slots);
	preload_events_free(NULL);
	preload_slots_free(NULL);
	return munmap(channel, CHANNEL_BYTES);
}

static uint32_t make_child(void)
{
	pid_t pid = fork();
	assert_true(pid >= 0);
	if (pid == 0)
		for (;;)
			pause();
	children[child_count++] = pid;
	return (uint32_t)pid;
}

static void connect_process(uint32_t number, uint32_t pid)
{
	struct channel_process *process = &channel->processes[number];
	assert_int_equal(process->state, CHANNEL_FREE);
	*process = (struct channel_process){ .state = CHANNEL_LIVE, .pid = pid, .code_wanted = 1 };
}

static void connect_thread(uint32_t number, uint32_t process, uint32_t tid)
{
	struct channel_thread *thread = &channel->threads[number];
	uint64_t tail = thread->tail;
	assert_int_equal(thread->state, CHANNEL_FREE);
	*thread = (struct channel_thread){ .pid = channel->processes[process].pid,
					   .tid = tid,
					   .process = process,
					   .head = tail,
					   .tail = tail,
					   .state = CHANNEL_LIVE };
}

static void put(uint32_t thread, const void *bytes, size_t size)
{
	struct channel_thread *shared = &channel->threads[thread];
	uint8_t *ring = (uint8_t *)channel + CHANNEL_RINGS + (uint64_t)thread * CHANNEL_RING_BYTES;
	for (size_t i = 0; i < size; i++)
		ring[(shared->head + i) % CHANNEL_RING_BYTES] = ((const uint8_t *)bytes)[i];
	shared->head += size;
}

static void put_event(uint32_t thread, enum channel_event event, uint32_t about, int64_t detail, const char *text)
{
	char padded[CHANNEL_TEXT_BYTES] = "";
	const struct sample_record record = { .time_ns = now_ns(),
					      .tid = channel->threads[thread].tid,
					      .kind = CHANNEL_EVENT,
					      .end = (uint8_t)event,
					      .request = SAMPLE_NO_REQUEST,
					      .about = about,
					      .detail = detail,
					      .stack_bytes = (uint32_t)strlen(text) };
	snprintf(padded, sizeof(padded), "%s", text);
	put(thread, &record, sizeof(record));
	put(thread, padded, (strlen(text) + 7) / 8 * 8);
}

static void put_sample_at(uint32_t thread, uint64_t time_ns, uint32_t number, uint64_t hits, uint64_t amount)
{
	const struct sample_record record = { .time_ns = time_ns,
					      .tid = channel->threads[thread].tid,
					      .kind = SAMPLE_WALKED,
					      .end = WALK_ROOT,
					      .request = (uint8_t)number,
					      .hits = hits,
					      .amount = amount };
	put(thread, &record, sizeof(record));
}

static void put_sample(uint32_t thread, uint32_t number, uint64_t hits, uint64_t amount)
{
	put_sample_at(thread, now_ns(), number, hits, amount);
}

/* What is told when all that is there is drained. */
static void assert_told(const char *expected)
{
	preload_events_drain(events, false, &sink);
	assert_string_equal(told, expected);
	told[0] = 0;
}

/* A process with a main thread, both in the slots of that number. */
static uint32_t start_program(uint32_t number)
{
	uint32_t pid = make_child();
	connect_process(number, pid);
	connect_thread(number, number, pid);
	put_event(number, CHANNEL_STARTED, 0, 0, "given");
	return pid;
}

/* --- tests --- */

static void test_started(void **state)
{
	(void)state;
	start_program(0);
	put_sample(0, 0, 2, 7000);
	preload_events_drain(events, false, &sink);
	char expected[100];
	snprintf(expected, sizeof(expected), "exec(a) sample(a.%u r0 x2 7) ", (unsigned)children[0] % 1000);
	assert_string_equal(told, expected);
	assert_true(maps_told >= 3);
	assert_int_equal(channel->processes[0].code_loaded, 1);
	assert_int_equal(channel->threads[0].tail, channel->threads[0].head);
	told[0] = 0;
	assert_told("");
}

/* Code is read when it has changed, once for several tellings; only what is new is told. */
static void test_code(void **state)
{
	(void)state;
	start_program(0);
	assert_told("exec(a) ");
	size_t before = maps_told;
	channel->processes[0].code_wanted = 3;
	put_event(0, CHANNEL_CODE, 0, 0, "");
	put_event(0, CHANNEL_CODE, 0, 0, "");
	assert_told("");
	assert_int_equal(channel->processes[0].code_loaded, 3);
	assert_int_equal(maps_told, before);
	/* What nobody asked for is not read again. */
	slots->processes[0].maps.count = 0;
	put_event(0, CHANNEL_CODE, 0, 0, "");
	assert_told("");
	assert_int_equal(maps_told, before);
	channel->processes[0].code_wanted = 4;
	put_event(0, CHANNEL_CODE, 0, 0, "");
	assert_told("");
	assert_int_equal(maps_told, 2 * before);
}

static void test_threads(void **state)
{
	(void)state;
	enum { TID = 1000000007 };
	start_program(0);
	connect_thread(9, 0, TID);
	/* Where it was started, in its own ring, but of who started it. */
	struct sample_record creator = { .time_ns = now_ns(),
					 .tid = (uint32_t)children[0],
					 .kind = SAMPLE_WALKED,
					 .end = WALK_ROOT,
					 .request = SAMPLE_NO_REQUEST };
	put(9, &creator, sizeof(creator));
	put_event(9, CHANNEL_THREAD, 0, 0, "worker");
	put_event(0, CHANNEL_NAMED, TID, 0, "other");
	put_event(0, CHANNEL_NAMED, 12345, 0, "nobody");
	put_event(9, CHANNEL_LABELS, 4, 0, "kind=get");
	put_event(9, CHANNEL_RESOURCE, 1, 0, "order");
	put_event(9, CHANNEL_RESOURCE, 0, 0, "no resource of its own");
	put_sample(9, 1, 3, 5);
	put_event(9, CHANNEL_EXITS, 0, 0, "");
	char expected[200];
	snprintf(expected, sizeof(expected),
		 "exec(a) creates(a.%u 7) fork(a a.7) name(a worker) name(a other) labels(4 kind=get) unit(1 order) "
		 "sample(a.7 r1 x3 5) exit(a.7) ",
		 (unsigned)children[0] % 1000);
	assert_told(expected);
	/* Its slot is given back, summed up, when it has ended; the end is not told twice. */
	channel->threads[9].clocks[0].total = 5000;
	channel->threads[9].lost[1] = 6;
	channel->threads[0].clocks[0].total = 100;
	channel->threads[9].state = CHANNEL_ENDED;
	assert_told("");
	assert_int_equal(channel->threads[9].state, CHANNEL_FREE);
	assert_false(slots->threads[9].is_known);
	struct preload_sums sums = preload_slots_sums(slots, now_ns());
	assert_int_equal(sums.totals[0], 5100);
	assert_int_equal(sums.lost[1], 6);
	/* Another one takes it, and goes on in its ring. */
	connect_thread(9, 0, TID + 1);
	put_event(9, CHANNEL_THREAD, 0, 0, "");
	assert_told("fork(a a.8) ");
}

/* Killed: everything that it had written is told, then its end. */
static void test_death(void **state)
{
	(void)state;
	enum { TID = 1000000007 };
	start_program(3);
	connect_thread(9, 3, TID);
	put_event(9, CHANNEL_THREAD, 0, 0, "");
	assert_told("exec(a) fork(a a.7) ");
	put_sample(9, 0, 1, 1000);
	put_sample(9, 0, 2, 1000);
	channel->threads[9].clocks[0].total = 9;
	channel->processes[3].threads_unwatched = 4;
	channel->processes[3].late_ticks = 5;
	channel->processes[3].signals_taken = CHANNEL_TROUBLE_FPE;
	end_child(0);
	assert_told("exit(a.0) sample(a.7 r0 x1 1) sample(a.7 r0 x2 1) exit(a.7) ");
	assert_int_equal(channel->threads[9].state, CHANNEL_FREE);
	assert_int_equal(channel->threads[3].state, CHANNEL_FREE);
	assert_int_equal(channel->processes[3].state, CHANNEL_FREE);
	struct preload_sums sums = preload_slots_sums(slots, now_ns());
	assert_int_equal(sums.totals[0], 9);
	assert_int_equal(sums.unwatched, 4);
	assert_int_equal(sums.late_ticks, 5);
	assert_int_equal(sums.troubles, CHANNEL_TROUBLE_FPE);
	assert_int_equal(sums.not_connected, 0);
	/* Both can be taken anew. */
	start_program(3);
	assert_told("exec(b) ");
}

/* What both wrote is told in the order of its times, whoever is looked at first. */
static void test_order(void **state)
{
	(void)state;
	start_program(0);
	start_program(1);
	preload_events_drain(events, false, &sink);
	told[0] = 0;
	uint64_t now = now_ns();
	put_sample_at(1, now, 0, 1, 0);
	put_sample_at(0, now + 1, 0, 2, 0);
	put_sample_at(1, now + 2, 0, 3, 0);
	put_sample_at(0, now + 3, 0, 4, 0);
	preload_events_drain(events, false, &sink);
	size_t at = 0;
	for (int i = 1; i <= 4; i++) {
		char hits[8];
		snprintf(hits, sizeof(hits), "x%d ", i);
		const char *found = strstr(told, hits);
		assert_non_null(found);
		assert_true(i == 1 || (size_t)(found - told) > at);
		at = (size_t)(found - told);
	}
}

/* Another program in the same process: what the first had written comes before. Its
 * threads do not end: the kernel has ended them. */
static void test_exec(void **state)
{
	(void)state;
	uint32_t pid = start_program(0);
	assert_told("exec(a) ");
	put_sample(0, 1, 1, 1);
	put_event(0, CHANNEL_EXECS, 0, 0, "/bin/other");
	channel->threads[0].clocks[1].total = 1;
	connect_process(1, pid);
	connect_thread(1, 1, pid);
	put_event(1, CHANNEL_STARTED, 0, 0, "other");
	put_sample(1, 1, 2, 2);
	char expected[100];
	unsigned tid = pid % 1000;
	snprintf(expected, sizeof(expected), "sample(a.%u r1 x1 1) exec(a) sample(a.%u r1 x2 2) ", tid, tid);
	assert_told(expected);
	assert_int_equal(channel->processes[0].state, CHANNEL_FREE);
	assert_int_equal(channel->threads[0].state, CHANNEL_FREE);
	channel->threads[1].clocks[1].total = 2;
	struct preload_sums sums = preload_slots_sums(slots, now_ns());
	assert_int_equal(sums.totals[1], 3);
	assert_int_equal(sums.not_connected, 0);
	assert_ptr_equal(preload_slots_find(slots, pid), &slots->processes[1]);
}

/* Code of a forked process is its parent's: nothing is read. */
static void test_fork(void **state)
{
	(void)state;
	uint32_t parent = start_program(0);
	assert_told("exec(a) ");
	size_t before = maps_told;
	uint32_t pid = make_child();
	connect_process(1, pid);
	connect_thread(1, 1, pid);
	put_event(1, CHANNEL_FORKED, 0, parent, "");
	assert_told("fork(a b.0) ");
	assert_int_equal(maps_told, before);
	assert_int_equal(channel->processes[1].code_loaded, 1);
	/* Where the parent is not known, it is. */
	pid = make_child();
	connect_process(2, pid);
	connect_thread(2, 2, pid);
	put_event(2, CHANNEL_FORKED, 0, 1, "");
	assert_told("");
	assert_int_equal(maps_told, 2 * before);
}

static void wait_a_little(void)
{
	nanosleep(&(struct timespec){ .tv_nsec = 15 * 1000 * 1000 }, NULL);
}

/* A program that was started but never connected; one that could not be started. */
static void test_not_connected(void **state)
{
	(void)state;
	start_program(0);
	start_program(1);
	start_program(2);
	for (uint32_t i = 0; i < 3; i++)
		put_event(i, CHANNEL_EXECS, 0, 0, "/bin/static");
	preload_events_drain(events, false, &sink);
	end_child(2); /* at once: there was no such program */
	preload_events_drain(events, false, &sink);
	assert_int_equal(preload_slots_sums(slots, now_ns()).not_connected, 0);
	wait_a_little();
	put_sample(1, 0, 1, 1); /* it is still the one that it was */
	end_child(0);
	preload_events_drain(events, false, &sink);
	assert_int_equal(preload_slots_sums(slots, now_ns()).not_connected, 1);
	assert_string_equal(slots->starts.last, "/bin/static");
}

/* A child of a connected process that never says a word is one that we do not see. */
static void test_strangers(void **state)
{
	(void)state;
	int ends[2];
	pid_t grandchild = 0;
	assert_int_equal(pipe(ends), 0);
	pid_t pid = fork();
	if (pid == 0) {
		grandchild = fork();
		if (grandchild > 0 && write(ends[1], &grandchild, sizeof(grandchild)) < 0)
			_exit(1);
		for (;;)
			pause();
	}
	children[child_count++] = pid;
	assert_int_equal(read(ends[0], &grandchild, sizeof(grandchild)), sizeof(grandchild));
	connect_process(0, (uint32_t)pid);
	connect_thread(0, 0, (uint32_t)pid);
	preload_events_drain(events, false, &sink);
	assert_int_equal(preload_slots_sums(slots, now_ns()).not_connected, 0); /* it may yet connect */
	wait_a_little();
	bool can_tell = slots->starts.items[0].pid == (uint32_t)grandchild; /* not all kernels list children */
	assert_int_equal(preload_slots_sums(slots, now_ns()).not_connected, can_tell);
	slots->starts.looked_ns = 0;
	preload_events_drain(events, false, &sink);
	assert_int_equal(preload_slots_sums(slots, now_ns()).not_connected, can_tell); /* not twice */
	/* It was just slow. */
	connect_process(1, (uint32_t)grandchild);
	preload_events_drain(events, false, &sink);
	assert_int_equal(preload_slots_sums(slots, now_ns()).not_connected, 0);
	slots->processes[1].is_known = false;
	channel->processes[1].state = CHANNEL_FREE;
	slots->starts.looked_ns = 0;
	preload_events_drain(events, false, &sink);
	wait_a_little();
	kill(grandchild, SIGKILL);
	wait_a_little();
	preload_events_drain(events, false, &sink);
	assert_int_equal(preload_slots_sums(slots, now_ns()).not_connected, can_tell);
	assert_int_equal(slots->starts.items[0].pid, 0);
	close(ends[0]);
	close(ends[1]);
}

static void test_flush(void **state)
{
	(void)state;
	start_program(0);
	preload_events_drain(events, false, &sink);
	assert_false(events->wants_flush);
	channel->processes[0].flush_wanted = 3;
	put_event(0, CHANNEL_FLUSH, 0, 0, "");
	preload_events_drain(events, false, &sink);
	assert_true(events->wants_flush);
	assert_int_equal(channel->processes[0].flush_done, 0);
	channel->processes[0].flush_wanted = 4; /* asked after what was drained */
	preload_events_flushed(events);
	assert_int_equal(channel->processes[0].flush_done, 3);
	assert_false(events->wants_flush);
}

/* --- hostile ones --- */

static void test_bad_slots(void **state)
{
	(void)state;
	uint32_t pid = start_program(0);
	const struct {
		uint32_t pid, tid, process;
	} bad[] = {
		{ pid, 5, CHANNEL_PROCESSES },
		{ pid, 5, UINT32_MAX },
		{ pid, 0, 0 },
		{ pid, UINT32_MAX, 0 },
		{ 1, 5, 0 },
		{ pid, 5, 77 },
	};
	for (uint32_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		channel->threads[20 + i] = (struct channel_thread){
			.state = CHANNEL_LIVE, .pid = bad[i].pid, .tid = bad[i].tid, .process = bad[i].process
		};
		put_sample(20 + i, 0, 1, 1);
	}
	channel->processes[5] = (struct channel_process){ .state = CHANNEL_LIVE, .pid = UINT32_MAX };
	channel->processes[6] = (struct channel_process){ .state = 77, .pid = 1 };
	assert_told("exec(a) ");
	for (uint32_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		assert_false(slots->threads[20 + i].is_known);
	assert_false(slots->processes[5].is_known || slots->processes[6].is_known);
}

/* Slots that somebody took and did not live to fill in. */
static void test_taken(void **state)
{
	(void)state;
	uint32_t pid = make_child();
	channel->processes[4] = (struct channel_process){ .state = CHANNEL_TAKEN, .pid = pid };
	channel->threads[4] = (struct channel_thread){ .state = CHANNEL_TAKEN, .pid = pid };
	assert_told("");
	assert_int_equal(channel->processes[4].state, CHANNEL_TAKEN);
	assert_int_equal(channel->threads[4].state, CHANNEL_TAKEN);
	end_child(0);
	assert_told("");
	assert_int_equal(channel->processes[4].state, CHANNEL_FREE);
	assert_int_equal(channel->threads[4].state, CHANNEL_FREE);
}

/* A thread's slot that is another's all at once, or free: it has ended. */
static void test_stolen(void **state)
{
	(void)state;
	enum { TID = 1000000007 };
	start_program(0);
	connect_thread(9, 0, TID);
	put_event(9, CHANNEL_THREAD, 0, 0, "");
	connect_thread(8, 0, TID + 1);
	put_event(8, CHANNEL_THREAD, 0, 0, "");
	preload_events_drain(events, false, &sink);
	told[0] = 0;
	channel->threads[9].tid = TID + 2;
	channel->threads[8].state = CHANNEL_FREE;
	assert_told("exit(a.8) exit(a.7) ");
	assert_int_equal(channel->threads[9].state, CHANNEL_LIVE); /* its new owner's */
	put_sample(9, 0, 1, 1000);
	assert_told("sample(a.9 r0 x1 1) ");
}

static void test_bad_records(void **state)
{
	(void)state;
	start_program(0);
	put_sample(0, 2, 1, 1); /* there are two requests */
	put_sample(0, 0, 1, 1);
	start_program(1);
	put_event(1, CHANNEL_FLUSH + 1, 0, 0, "");
	start_program(2);
	put_sample_at(2, UINT64_MAX, 0, 1, 1000);
	put_sample_at(2, 0, 0, 0, 1000); /* of no hits: of no use */
	preload_events_drain(events, false, &sink);
	assert_null(strstr(told, "sample(a"));
	assert_non_null(strstr(told, "sample(c")); /* a time that cannot be is now */
	assert_null(strstr(told, "x0"));
	assert_int_equal(preload_slots_sums(slots, now_ns()).broken_rings, 2);
	/* Who has broken its ring still ends. */
	end_child(0);
	told[0] = 0;
	assert_told("exit(a.0) ");
	assert_int_equal(channel->processes[0].state, CHANNEL_FREE);
}

/* All slots, all garbage. */
static void test_noise(void **state)
{
	(void)state;
	srand(3);
	uint32_t pid = make_child();
	for (int round = 0; round < 20; round++) {
		for (uint32_t i = 0; i < CHANNEL_PROCESSES; i++)
			channel->processes[i] = (struct channel_process){ .state = (uint32_t)rand() % 5,
									  .pid = rand() % 2 ? pid : (uint32_t)rand(),
									  .code_wanted = (uint32_t)rand() };
		for (uint32_t i = 0; i < CHANNEL_THREADS; i++) {
			channel->threads[i].state = (uint32_t)rand() % 5;
			channel->threads[i].pid = pid;
			channel->threads[i].tid = (uint32_t)rand() % 100;
			channel->threads[i].process = (uint32_t)rand() % CHANNEL_PROCESSES;
			channel->threads[i].head = (uint64_t)rand() % 4096 * 8;
			if (rand() % 4 == 0)
				put_event(i, (enum channel_event)(rand() % 12), (uint32_t)rand(), rand(), "text");
		}
		preload_events_drain(events, round % 2, &sink);
		told[0] = 0;
	}
	for (uint32_t i = 0; i < CHANNEL_THREADS; i++)
		assert_true(!slots->threads[i].is_known || slots->processes[slots->threads[i].process].is_known);
}

static void test_no_memory(void **state)
{
	(void)state;
	struct error error = { 0 };
	ALLOC_FAIL_EACH({
		struct preload_slots *others = preload_slots_new(channel, &error);
		struct preload_events *more = others ? preload_events_new(others, &request) : NULL;
		if (!others)
			assert_int_equal(error.code, ERROR_MEMORY);
		preload_events_free(more);
		preload_slots_free(others);
	});
	no_epoll = true;
	assert_null(preload_slots_new(channel, &error));
	assert_int_equal(error.code, ERROR_SYSTEM);
	no_epoll = false;
	/* Maps that cannot be listed are not told, but nobody waits for them for ever. */
	start_program(0);
	ALLOC_FAIL_EACH({
		channel->processes[0].code_wanted++;
		put_event(0, CHANNEL_CODE, 0, 0, "");
		preload_events_drain(events, false, &sink);
		assert_int_equal(channel->processes[0].code_loaded, channel->processes[0].code_wanted);
	});
}

int main(void)
{
#define T(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
	const struct CMUnitTest tests[] = {
		T(test_started), T(test_code),        T(test_threads),   T(test_death),
		T(test_order),   T(test_exec),        T(test_fork),      T(test_not_connected),
		T(test_flush),   T(test_bad_slots),   T(test_strangers), T(test_taken),
		T(test_stolen),  T(test_bad_records), T(test_noise),     T(test_no_memory),
	};
	return cmocka_run_group_tests_name("preload_life", tests, NULL, NULL);
}
