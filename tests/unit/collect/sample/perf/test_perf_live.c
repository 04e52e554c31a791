/* The perf backend records a child of the test: it reports, in order of time, the memory that the child touches
 * and maps, and the threads and processes that it starts. */
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include "collect/sample/backend.h"
#include "collect/sample/perf/access.h"
#include "collect/sample/state/new_task.h"
#include "support/watched_child.h"

static void assert_in_order(void)
{
	for (size_t i = 1; i < watched_event_count; i++)
		assert_true(watched_events[i].time_ns >= watched_events[i - 1].time_ns);
}

/* The time between two drains of the rings, which is also their distance from the current time. */
enum { DRAIN_MS = 10, NS_PER_MS = 1000000 };

static uint64_t now_ns(void)
{
	struct timespec now;
	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

/* Records a child that runs `deed`, and leaves the reported events in `watched_events`. Returns the child's pid. */
static pid_t record(const struct backend_request *request, void (*deed)(void))
{
	struct error error = { 0 };
	watched_event_count = 0;
	*stage = (struct stage){ .process = 0 };
	struct backend *backend = backend_perf.open(request, &error);
	if (!backend)
		fail_msg("%s", error.message);
	pid_t pid = child_start(deed);
	pid_t watched = request->everything ? -1 : pid;
	if (backend_perf.attach(backend, watched, watched, false, &error) != 1)
		fail_msg("%s", error.message);
	assert_int_equal(backend_perf.attach(backend, watched, watched, false, &error), 0);
	assert_int_equal(backend_perf.start(backend, &error), 0);
	child_begin();
	while (!child_is_done(DRAIN_MS))
		backend_perf.drain(backend, now_ns() - DRAIN_MS * NS_PER_MS, &watched_sink);
	backend_perf.stop(backend);
	backend_perf.drain(backend, UINT64_MAX, &watched_sink);
	backend_perf.close(backend);
	child_end(pid);
	assert_in_order();
	return pid;
}

/* --- memory --- */

static void touch_pages(void)
{
	region_map_at(0, PAGES, PROT_READ | PROT_WRITE);
	madvise(region, PAGES * page_bytes, MADV_NOHUGEPAGE);
	for (size_t i = 0; i < PAGES; i++)
		*(volatile uint8_t *)(region + i * page_bytes + i) = 1;
	for (clock_t start = clock(); clock() - start < CLOCKS_PER_SEC / 10;)
		;
}

static void test_touched_addresses(void **state)
{
	(void)state;
	const struct resource_request requests[] = { request_permitted("page-faults/1"), request_permitted("cpu/1ms") };
	const struct backend_request request = { .resources = requests, .resource_count = 2 };
	region_reserve();
	pid_t pid = record(&request, touch_pages);
	for (size_t i = 0; i < PAGES; i++) {
		size_t found = find_event(0, A_SAMPLE, pid, (uintptr_t)region + i * page_bytes + i);
		assert_true(found < watched_event_count && watched_events[found].request == 0);
		assert_int_equal(find_event(found + 1, A_SAMPLE, pid, watched_events[found].address),
				 watched_event_count);
	}
	size_t cpu_samples = 0;
	for (size_t i = 0; i < watched_event_count; i++) {
		if (watched_events[i].what != A_SAMPLE)
			continue;
		assert_int_equal(watched_events[i].has_address, watched_events[i].request == 0);
		cpu_samples += watched_events[i].request == 1;
	}
	assert_true(cpu_samples > 0);
	munmap(region, PAGES * page_bytes);
}

static void test_data_maps(void **state)
{
	(void)state;
	const struct resource_request cpu = request_permitted("cpu/1ms");
	struct backend_request request = { .resources = &cpu, .resource_count = 1, .data_maps = true };
	region_reserve();
	pid_t pid = record(&request, region_map);
	assert_true(has_event(A_DATA_MAP, pid, region_address(GAP_PAGES)));
	assert_true(has_event(A_DATA_MAP, pid, region_address(2 * GAP_PAGES)));
	size_t code = find_event(0, A_MAP, pid, region_address(3 * GAP_PAGES));
	assert_true(code < watched_event_count);
	assert_int_equal(find_event(code + 1, A_MAP, pid, watched_events[code].address),
			 watched_event_count); /* once */
	assert_false(has_event(A_DATA_MAP, pid, watched_events[code].address));
	size_t file = find_event(0, A_DATA_MAP, pid, region_address(4 * GAP_PAGES));
	assert_true(file < watched_event_count);
	assert_non_null(strstr(watched_events[file].path, "test_perf_live"));
	bool heap = false;
	for (size_t i = 0; i < watched_event_count; i++)
		heap |= watched_events[i].what == A_DATA_MAP && strcmp(watched_events[i].path, "[heap]") == 0;
	assert_true(heap);

	request.data_maps = false;
	pid = record(&request, region_map);
	assert_true(has_event(A_MAP, pid, region_address(3 * GAP_PAGES)));
	assert_false(has_event(A_DATA_MAP, pid, 0));
	munmap(region, PAGES * page_bytes);
}

/* --- creators of threads --- */

static void *second_thread(void *argument)
{
	stage->threads[1] = (pid_t)syscall(SYS_gettid);
	return argument;
}

static void *first_thread(void *argument)
{
	pthread_t thread;
	stage->threads[0] = (pid_t)syscall(SYS_gettid);
	if (pthread_create(&thread, NULL, second_thread, NULL) == 0)
		pthread_join(thread, NULL);
	return argument;
}

static void start_threads(void)
{
	pthread_t thread;
	if (pthread_create(&thread, NULL, first_thread, NULL) == 0)
		pthread_join(thread, NULL);
	pid_t process = fork();
	if (process == 0)
		_exit(0);
	stage->process = process;
	waitpid(process, NULL, 0);
}

static void assert_creation(size_t found, pid_t creator, pid_t thread)
{
	assert_true(found < watched_event_count);
	assert_int_equal(watched_events[found].tid, creator);
	assert_int_equal(watched_events[found].child, thread);
	assert_true(watched_events[found].has_stack);
	for (size_t i = 0; i < found; i++)
		assert_false(watched_events[i].what == A_SAMPLE && watched_events[i].tid == (uint32_t)thread);
}

static void test_creations(void **state)
{
	(void)state;
	struct new_task format;
	const struct resource_request faults = request_permitted("page-faults/1");
	if (!new_task_find(&format) || (perf_access_paranoid() > -1 && geteuid() != 0)) {
		print_message("skipped: tracepoints cannot be looked at here (no tracefs, or no privilege)\n");
		skip();
	}
	struct backend_request request = { .resources = &faults, .resource_count = 1, .creations = true };
	pid_t pid = record(&request, start_threads);
	size_t first = find_event(0, A_CREATION, pid, 0), second = find_event(first + 1, A_CREATION, pid, 0);
	assert_creation(first, pid, stage->threads[0]);
	assert_creation(second, stage->threads[0], stage->threads[1]);
	assert_int_equal(find_event(second + 1, A_CREATION, pid, 0),
			 watched_event_count); /* a process is not a thread */
	assert_true(stage->process > 0);

	request.creations = false;
	pid = record(&request, start_threads);
	assert_false(has_event(A_CREATION, pid, 0));
}

static bool parse(struct new_task *format, const char *words)
{
	FILE *file = fmemopen((void *)words, strlen(words), "r");
	assert_non_null(file);
	bool parsed = new_task_parse(format, file);
	fclose(file);
	return parsed;
}

static void test_new_task_format(void **state)
{
	(void)state;
	static const char words[] = "name: task_newtask\nID: 205\nformat:\n"
				    "\tfield:int common_pid;\toffset:4;\tsize:4;\tsigned:1;\n\n"
				    "\tfield:pid_t pid;\toffset:8;\tsize:4;\tsigned:1;\n"
				    "\tfield:char comm[16];\toffset:12;\tsize:16;\tsigned:0;\n"
				    "\tfield:unsigned long clone_flags;\toffset:32;\tsize:8;\tsigned:0;\n";
	struct new_task format;
	assert_true(parse(&format, words));
	assert_int_equal(format.config, 205);
	assert_int_equal(format.pid_offset, 8);
	assert_int_equal(format.flags_offset, 32);
	assert_false(parse(&format, "ID: 205\n"));
	assert_false(parse(&format, strchr(words, '\t')));

	uint8_t data[44] = { [8] = 210, [34] = 1 };
	uint32_t tid = 0;
	bool is_thread = false;
	assert_true(new_task_read(&format, data, sizeof(data), &tid, &is_thread));
	assert_true(is_thread);
	assert_int_equal(tid, 210);
	assert_false(new_task_read(&format, data, 39, &tid, &is_thread));
	assert_false(new_task_read(&format, data, 0, &tid, &is_thread));
	data[34] = 0;
	assert_true(new_task_read(&format, data, sizeof(data), &tid, &is_thread));
	assert_false(is_thread);
}

/* --- the whole machine --- */

static void burn_in_process(void)
{
	pid_t process = fork();
	if (process == 0) {
		while (clock() < CLOCKS_PER_SEC / 5)
			;
		_exit(0);
	}
	stage->process = process;
	waitpid(process, NULL, 0);
}

static void test_everything(void **state)
{
	(void)state;
	const struct resource_request cpu = request_permitted("cpu/5ms");
	if (perf_access_paranoid() > 0 && geteuid() != 0) {
		print_message("skipped: kernel.perf_event_paranoid = %d does not permit it\n", perf_access_paranoid());
		skip();
	}
	const struct backend_request request = { .resources = &cpu, .resource_count = 1, .everything = true };
	pid_t pid = record(&request, burn_in_process);
	size_t fork_at = find_event(0, A_FORK, pid, 0);
	assert_true(fork_at < watched_event_count);
	assert_int_equal(watched_events[fork_at].tid, stage->process);
	size_t samples = 0, idle = 0;
	for (size_t i = 0; i < watched_event_count; i++) {
		if (watched_events[i].what != A_SAMPLE)
			continue;
		samples += watched_events[i].pid == (uint32_t)stage->process;
		idle += watched_events[i].pid == 0;
		assert_true(i > fork_at || watched_events[i].pid != (uint32_t)stage->process);
	}
	/* 40 samples of the process itself; thread 0 has only those after the end of a thread. */
	assert_in_range(samples, 20, 60);
	assert_true(idle < 20);
}

static void test_everything_refused(void **state)
{
	(void)state;
	enum { NOBODY = 65534, REFUSED = 3 };
	if (perf_access_paranoid() <= 0) {
		print_message("skipped: kernel.perf_event_paranoid = %d refuses nothing\n", perf_access_paranoid());
		skip();
	}
	const struct resource_request cpu = request_permitted("user/1ms");
	pid_t pid = fork();
	if (pid == 0) {
		if (geteuid() == 0 && setuid(NOBODY) < 0)
			_exit(1);
		const struct backend_request request = { .resources = &cpu, .resource_count = 1, .everything = true };
		struct error error = { 0 };
		struct backend *backend = backend_perf.open(&request, &error);
		int result = backend ? backend_perf.attach(backend, -1, -1, false, &error) : error.code;
		backend_perf.close(backend);
		_exit(result == ERROR_PERMISSION && strstr(error.message, "paranoid=0") ? REFUSED : 1);
	}
	int status;
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFEXITED(status) && WEXITSTATUS(status) == REFUSED);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_touched_addresses), cmocka_unit_test(test_data_maps),
		cmocka_unit_test(test_creations),         cmocka_unit_test(test_new_task_format),
		cmocka_unit_test(test_everything),        cmocka_unit_test(test_everything_refused),
	};
	return cmocka_run_group_tests(tests, watched_child_set_up, watched_child_tear_down);
}
