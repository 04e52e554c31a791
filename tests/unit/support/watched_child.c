#include "watched_child.h"

#include <fcntl.h>
#include <poll.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

/* --- the reports --- */

enum { EVENTS_MAX = 20000 };

struct watched_event *watched_events;
size_t watched_event_count;

static struct watched_event *add_event(enum what what, uint32_t pid, uint32_t tid, uint64_t time_ns)
{
	assert_true(watched_event_count < EVENTS_MAX);
	watched_events[watched_event_count] =
		(struct watched_event){ .what = what, .pid = pid, .tid = tid, .time_ns = time_ns };
	return &watched_events[watched_event_count++];
}

static struct watched_event *add_stack_event(enum what what, const struct backend_sample *sample)
{
	struct watched_event *event = add_event(what, sample->pid, sample->tid, sample->time_ns);
	event->request = sample->request;
	event->has_address = sample->has_touched;
	event->address = sample->touched;
	event->has_stack = sample->has_registers && sample->stack_bytes > 0;
	return event;
}

static void on_sample(void *context, const struct backend_sample *sample)
{
	(void)context;
	assert_int_equal(sample->hits, 1);
	add_stack_event(A_SAMPLE, sample);
}

static void on_creates(void *context, const struct backend_sample *sample, uint32_t child)
{
	(void)context;
	add_stack_event(A_CREATION, sample)->child = child;
}

static void on_map(void *context, const struct backend_map *map)
{
	(void)context;
	struct watched_event *event = add_event(map->is_data ? A_DATA_MAP : A_MAP, map->pid, 0, map->time_ns);
	event->address = map->start;
	snprintf(event->path, sizeof(event->path), "%s", map->path);
}

static void on_fork(void *context, uint32_t parent_pid, uint32_t pid, uint32_t tid, uint64_t time_ns)
{
	(void)context;
	add_event(A_FORK, parent_pid, pid, time_ns)->child = tid;
}

static void on_exit_of(void *context, uint32_t pid, uint32_t tid, uint64_t time_ns)
{
	(void)context;
	add_event(AN_EXIT, pid, tid, time_ns);
}

static void on_name(void *context, uint32_t pid, uint32_t tid, const char *name, bool is_exec, uint64_t time_ns)
{
	(void)context, (void)pid, (void)tid, (void)name, (void)is_exec, (void)time_ns;
}

static void on_lost(void *context, uint64_t count)
{
	(void)context;
	fail_msg("%llu were lost", (unsigned long long)count);
}

static void on_throttled(void *context)
{
	(void)context;
}

static void on_labels(void *context, uint32_t number, const char *text, size_t bytes)
{
	(void)context;
	fail_msg("label set %u was received: %.*s", number, (int)bytes, text);
}

const struct backend_sink watched_sink = { .sample = on_sample,
					   .map = on_map,
					   .name = on_name,
					   .fork = on_fork,
					   .exit = on_exit_of,
					   .creates = on_creates,
					   .labels = on_labels,
					   .lost = on_lost,
					   .lost_events = on_lost,
					   .throttled = on_throttled };

size_t find_event(size_t from, enum what what, pid_t pid, uint64_t address)
{
	while (from < watched_event_count &&
	       !(watched_events[from].what == what && watched_events[from].pid == (uint32_t)pid &&
		 (address == 0 || watched_events[from].address == address)))
		from++;
	return from;
}

bool has_event(enum what what, pid_t pid, uint64_t address)
{
	return find_event(0, what, pid, address) < watched_event_count;
}

/* --- the child --- */

struct stage *stage;
static int word_pipe[2], done_pipe[2];

pid_t child_start(void (*deed)(void))
{
	assert_int_equal(pipe(word_pipe), 0);
	assert_int_equal(pipe(done_pipe), 0);
	pid_t pid = fork();
	assert_true(pid >= 0);
	if (pid > 0)
		return pid;
	char word;
	alarm(CHILD_SECONDS); /* ends the child if a failing test does not */
	close(word_pipe[1]);
	if (read(word_pipe[0], &word, 1) == 1)
		deed();
	if (write(done_pipe[1], "d", 1) != 1 || read(word_pipe[0], &word, 1) != 0)
		_exit(1);
	_exit(0);
}

void child_begin(void)
{
	assert_int_equal(write(word_pipe[1], "g", 1), 1);
}

bool child_is_done(int timeout_ms)
{
	char word;
	struct pollfd done = { .fd = done_pipe[0], .events = POLLIN };
	if (poll(&done, 1, timeout_ms) <= 0)
		return false;
	assert_int_equal(read(done_pipe[0], &word, 1), 1);
	return true;
}

void child_end(pid_t pid)
{
	int status;
	for (int i = 0; i < 2; i++)
		close(done_pipe[i]);
	close(word_pipe[0]);
	close(word_pipe[1]);
	assert_int_equal(waitpid(pid, &status, 0), pid);
}

struct resource_request request_permitted(const char *words)
{
	struct resource_request request;
	struct error error = { 0 };
	if (resource_parse(words, &request, &error) < 0)
		fail_msg("%s", error.message);
	bool user_mode_only;
	if (backend_perf.probe(&request, &user_mode_only, &error) < 0 || user_mode_only) {
		print_message("skipped: %s is not permitted here: %s\n", words, error.message);
		skip();
	}
	return request;
}

/* --- memory --- */

uint8_t *region;
size_t page_bytes;

void *region_map_at(size_t page, size_t pages, int protection)
{
	return mmap(region + page * page_bytes, pages * page_bytes, protection, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED,
		    -1, 0);
}

void region_reserve(void)
{
	page_bytes = (size_t)sysconf(_SC_PAGESIZE);
	region = mmap(NULL, PAGES * page_bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	assert_true(region != MAP_FAILED);
}

void region_map(void)
{
	region_map_at(GAP_PAGES, 1, PROT_READ | PROT_WRITE);
	region_map_at(2 * GAP_PAGES, 1, PROT_READ);
	region_map_at(3 * GAP_PAGES, 1, PROT_READ | PROT_EXEC);
	int fd = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
	mmap(region + 4 * GAP_PAGES * page_bytes, page_bytes, PROT_READ, MAP_PRIVATE | MAP_FIXED, fd, 0);
	/* Twice: the kernel reports as heap only a mapping that adjoins the existing heap. */
	for (int i = 0; i < 2; i++)
		if (sbrk((intptr_t)page_bytes) == (void *)-1)
			_exit(1);
}

uint64_t region_address(size_t page)
{
	return (uintptr_t)region + page * page_bytes;
}

int watched_child_set_up(void **state)
{
	(void)state;
	watched_events = calloc(EVENTS_MAX, sizeof(*watched_events));
	stage = mmap(NULL, sizeof(*stage), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	return watched_events && stage != MAP_FAILED ? 0 : -1;
}

int watched_child_tear_down(void **state)
{
	(void)state;
	free(watched_events);
	return munmap(stage, sizeof(*stage));
}
