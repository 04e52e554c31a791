#include "channel_world.h"

#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

/* --- the sink writes each report as text --- */

char reported_text[64 * 1024];
size_t maps_reported;

__attribute__((format(printf, 1, 2))) static void note(const char *format, ...)
{
	va_list values;
	size_t used = strlen(reported_text);
	va_start(values, format);
	vsnprintf(reported_text + used, sizeof(reported_text) - used, format, values);
	va_end(values);
}

/* The texts name the children 'a', 'b', ... in the order in which they were forked. */
pid_t children[8];
size_t child_count;

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
	maps_reported++;
}

static void on_name(void *context, uint32_t pid, uint32_t tid, const char *name, bool is_exec, uint64_t time_ns)
{
	(void)context, (void)time_ns, (void)tid;
	/* A forked child has the test's own name, which is not of interest. */
	if (is_exec)
		note("exec(%c) ", letter(pid));
	else if (strncmp(name, "test_", 5) != 0)
		note("name(%c %s) ", letter(pid), name);
}

static void on_fork(void *context, uint32_t parent_pid, uint32_t pid, uint32_t tid, uint64_t time_ns)
{
	(void)context, (void)time_ns;
	note("fork(%c %c.%u) ", letter(parent_pid), letter(pid), tid == pid ? 0 : tid % 1000);
}

static void on_exit_reported(void *context, uint32_t pid, uint32_t tid, uint64_t time_ns)
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

static void on_unit(void *context, uint32_t number, const char *unit)
{
	(void)context;
	note("unit(%u %s) ", number, unit);
}

static void on_settled(void *context)
{
	(void)context;
}

const struct backend_sink sink = { .sample = on_sample,
				   .map = on_map,
				   .name = on_name,
				   .fork = on_fork,
				   .exit = on_exit_reported,
				   .creates = on_creates,
				   .labels = on_labels,
				   .unit = on_unit,
				   .settled = on_settled };

/* --- the world --- */

struct channel *channel;
struct preload_slots *slots;
struct preload_events *events;
static struct resource_request requests[2];
struct backend_request request = { .resources = requests, .resource_count = 2 };

uint64_t now_ns(void)
{
	struct timespec time;
	clock_gettime(CLOCK_MONOTONIC, &time);
	return (uint64_t)time.tv_sec * 1000000000 + (uint64_t)time.tv_nsec;
}

int channel_world_set_up(void **state)
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
	reported_text[0] = 0;
	maps_reported = 0;
	return 0;
}

void end_child(size_t number)
{
	if (children[number] <= 0)
		return;
	kill(children[number], SIGKILL);
	assert_int_equal(waitpid(children[number], NULL, 0), children[number]);
}

int channel_world_tear_down(void **state)
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

uint32_t make_child(void)
{
	pid_t pid = fork();
	assert_true(pid >= 0);
	if (pid == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL); /* a failed assertion leaves no child behind */
		for (;;)
			pause();
	}
	children[child_count++] = pid;
	return (uint32_t)pid;
}

void connect_process(uint32_t number, uint32_t pid)
{
	struct channel_process *process = &channel->processes[number];
	assert_int_equal(process->state, CHANNEL_FREE);
	*process = (struct channel_process){
		.state = CHANNEL_LIVE, .pid = pid, .code_wanted = 1, .order = channel->processes_taken++
	};
}

void connect_thread(uint32_t number, uint32_t process, uint32_t tid)
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

void put(uint32_t thread, const void *bytes, size_t size)
{
	struct channel_thread *shared = &channel->threads[thread];
	uint8_t *ring = (uint8_t *)channel + CHANNEL_RINGS + (uint64_t)thread * CHANNEL_RING_BYTES;
	for (size_t i = 0; i < size; i++)
		ring[(shared->head + i) % CHANNEL_RING_BYTES] = ((const uint8_t *)bytes)[i];
	shared->head += size;
}

void put_event(uint32_t thread, enum channel_event event, uint32_t about, int64_t detail, const char *text)
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

void put_sample_at(uint32_t thread, uint64_t time_ns, uint32_t number, uint64_t hits, uint64_t amount)
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

void put_sample(uint32_t thread, uint32_t number, uint64_t hits, uint64_t amount)
{
	put_sample_at(thread, now_ns(), number, hits, amount);
}

void assert_reported(const char *expected)
{
	preload_events_drain(events, false, &sink);
	assert_string_equal(reported_text, expected);
	reported_text[0] = 0;
}

void assert_end_reported(const char *expected)
{
	const struct timespec lingers = { .tv_nsec = 25 * 1000 * 1000 };
	preload_events_drain(events, false, &sink);
	nanosleep(&lingers, NULL);
	assert_reported(expected);
}

uint32_t start_program(uint32_t number)
{
	uint32_t pid = make_child();
	connect_process(number, pid);
	connect_thread(number, number, pid);
	put_event(number, CHANNEL_STARTED, 0, 0, "given");
	return pid;
}
