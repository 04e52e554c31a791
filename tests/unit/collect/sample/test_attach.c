/* collect/sample/attach.c: the maps and names that are reported for a running process. The backend only accepts or
 * refuses threads. */
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/buffer.h"
#include "collect/sample/attach.h"

/* The result of the test's backend for each thread, and the calls that it received. */
struct backend {
	int answer; /* 1: watches each thread once; otherwise, the result for every thread */
	unsigned drained;
	bool everything; /* the whole machine was requested */
	size_t watched_count;
	pid_t watched[64];
};

static int answer_attach(struct backend *backend, pid_t pid, pid_t tid, bool on_exec, struct error *error)
{
	(void)pid;
	assert_false(on_exec);
	if (backend->answer < 0)
		return error_set(error, backend->answer, "the backend says no");
	if (tid == -1) {
		backend->everything = true;
		return 1;
	}
	for (size_t i = 0; i < backend->watched_count; i++)
		if (backend->watched[i] == tid)
			return 0;
	if (backend->answer > 0)
		backend->watched[backend->watched_count++] = tid;
	return backend->answer;
}

static bool count_drain(struct backend *backend, uint64_t until_ns, const struct backend_sink *sink)
{
	(void)sink;
	assert_int_equal(until_ns, UINT64_MAX);
	backend->drained++;
	return false;
}

static const struct backend_vtable vtable = { .name = "test", .attach = answer_attach, .drain = count_drain };

/* --- a sink for the reported maps and names --- */

static void print_map(void *context, const struct backend_map *map)
{
	assert_true(map->size > 0);
	buffer_printf(context, "%s %u %llx+%llx %s\n", map->is_data ? "data" : "map", map->pid,
		      (unsigned long long)map->start, (unsigned long long)map->size, map->path);
}

/* Each report of a process's maps ends with it. */
static void note_settled(void *context)
{
	(void)context;
}

static void print_name(void *context, uint32_t pid, uint32_t tid, const char *name, bool is_exec, uint64_t time_ns)
{
	assert_true(!is_exec && time_ns == 0);
	buffer_printf(context, "name %u %u %s\n", pid, tid, name);
}

static int attach(struct backend *backend, pid_t pid, struct buffer *printed, struct error *error)
{
	buffer_init(printed);
	*error = (struct error){ 0 };
	const struct backend_sink sink = {
		.context = printed, .map = print_map, .name = print_name, .settled = note_settled
	};
	int result = attach_process(&vtable, backend, pid, false, &sink, error);
	buffer_append_byte(printed, 0);
	return result;
}

static bool is_printed(const struct buffer *printed, const char *wanted)
{
	return strstr((const char *)printed->bytes, wanted) != NULL;
}

/* --- tests --- */

static void test_refusals(void **state)
{
	(void)state;
	struct buffer printed;
	struct error error;
	struct backend backend = { .answer = 1 };
	assert_int_equal(attach(&backend, 0x7fffffff, &printed, &error), ERROR_NOT_FOUND);
	assert_string_equal(error.message, "there is no process 2147483647");
	buffer_release(&printed);
	char wanted[128];
	backend.answer = ERROR_PERMISSION;
	assert_int_equal(attach(&backend, getpid(), &printed, &error), ERROR_PERMISSION);
	snprintf(wanted, sizeof(wanted), "cannot record process %d", getpid());
	assert_non_null(strstr(error.message, wanted));
	buffer_release(&printed);
	backend.answer = ERROR_LIMIT;
	assert_int_equal(attach(&backend, getpid(), &printed, &error), ERROR_LIMIT);
	assert_string_equal(error.message, "the backend says no");
	buffer_release(&printed);
	backend.answer = 0; /* every thread has ended when it is attached */
	assert_int_equal(attach(&backend, getpid(), &printed, &error), ERROR_NOT_FOUND);
	snprintf(wanted, sizeof(wanted), "process %d ended before it could be recorded", getpid());
	assert_string_equal(error.message, wanted);
	assert_string_equal((const char *)printed.bytes, "");
	buffer_release(&printed);
}

static int ready[2];

static void *sleep_named(void *name)
{
	prctl(PR_SET_NAME, name);
	if (write(ready[1], "r", 1) != 1)
		_exit(1);
	for (;;)
		pause();
	return NULL;
}

/* Makes a child with three threads and several kinds of memory. Returns when all of them exist. */
static pid_t make_child(void **area)
{
	enum { PAGES = 3, PAGE_BYTES = 4096 };
	static char names[2][16] = { "first", "second" };
	assert_int_equal(pipe(ready), 0);
	*area = mmap(NULL, PAGES * PAGE_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	assert_true(*area != MAP_FAILED &&
		    mprotect((char *)*area + PAGE_BYTES, PAGE_BYTES, PROT_READ | PROT_EXEC) == 0);
	pid_t child = fork();
	if (child == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		prctl(PR_SET_NAME, "a (b) c");
		pthread_t threads[2];
		for (int i = 0; i < 2; i++)
			if (pthread_create(&threads[i], NULL, sleep_named, names[i]) != 0)
				_exit(1);
		for (;;)
			pause();
	}
	close(ready[1]);
	char byte;
	for (int i = 0; i < 2; i++)
		assert_int_equal(read(ready[0], &byte, 1), 1);
	close(ready[0]);
	return child;
}

static void test_threads_and_maps(void **state)
{
	(void)state;
	void *area;
	/* An allocator may not use the mapping that the kernel names heap. */
	assert_ptr_not_equal(sbrk(4096), (void *)-1);
	pid_t child = make_child(&area);
	struct buffer printed;
	struct error error;
	struct backend backend = { .answer = 1 };
	assert_int_equal(attach(&backend, child, &printed, &error), 0);
	assert_true(is_printed(&printed, " first\n") && is_printed(&printed, " second\n"));
	assert_int_equal(backend.watched_count, 3);
	/* Once before each of two rounds, and once before each thread in them. The second round finds no new
	 * thread. */
	assert_int_equal(backend.drained, 2 + 2 * 3);
	char wanted[4096];
	snprintf(wanted, sizeof(wanted), "name %d %d a (b) c\n", child, child);
	assert_true(is_printed(&printed, wanted));
	/* Only the middle page is executable. */
	unsigned long long start = (unsigned long long)(uintptr_t)area + 4096;
	snprintf(wanted, sizeof(wanted), "map %d %llx+1000 //anon\n", child, start);
	assert_true(is_printed(&printed, wanted));
	assert_true(is_printed(&printed, " [vdso]\n"));
	assert_false(is_printed(&printed, "[vsyscall]") || is_printed(&printed, "[heap]") ||
		     is_printed(&printed, "[stack]"));
	char self[4000] = "";
	assert_true(readlink("/proc/self/exe", self, sizeof(self) - 1) > 0);
	snprintf(wanted, sizeof(wanted), " %s\n", self);
	assert_true(is_printed(&printed, wanted));
	buffer_release(&printed);
	kill(child, SIGKILL);
	waitpid(child, NULL, 0);
	munmap(area, 3 * 4096);
}

/* Data maps are reported too if they are requested, and are marked as data. */
static void test_data_maps(void **state)
{
	(void)state;
	void *area;
	pid_t child = make_child(&area);
	struct buffer printed;
	struct error error;
	struct backend backend = { .answer = 1 };
	const struct backend_sink sink = {
		.context = &printed, .map = print_map, .name = print_name, .settled = note_settled
	};
	buffer_init(&printed);
	assert_int_equal(attach_process(&vtable, &backend, child, true, &sink, &error), 0);
	buffer_append_byte(&printed, 0);
	char wanted[128];
	unsigned long long start = (unsigned long long)(uintptr_t)area;
	snprintf(wanted, sizeof(wanted), "map %d %llx+1000 //anon\n", child, start + 4096);
	assert_true(is_printed(&printed, wanted));
	/* The kernel may merge the last page with the mapping after it. */
	snprintf(wanted, sizeof(wanted), "data %d %llx+", child, start + 2 * 4096);
	assert_true(is_printed(&printed, wanted));
	assert_true(is_printed(&printed, " [stack]\n") && is_printed(&printed, " [heap]\n"));
	assert_false(is_printed(&printed, "[vsyscall]"));
	buffer_release(&printed);
	kill(child, SIGKILL);
	waitpid(child, NULL, 0);
	munmap(area, 3 * 4096);
}

static size_t times_listed(const struct process_list *list, pid_t pid)
{
	size_t count = 0;
	for (size_t i = 0; i < list->count; i++)
		count += list->items[i].pid == pid;
	return count;
}

/* A process with an unusual name is found by it, and by its parent. A child that may not be recorded is counted, but one
 * that the user gave by its number is an error. */
static void test_listed_processes(void **state)
{
	(void)state;
	void *area;
	pid_t child = make_child(&area);
	struct buffer printed;
	struct error error = { 0 };
	struct backend backend = { .answer = 1 };
	const struct backend_sink sink = {
		.context = &printed, .map = print_map, .name = print_name, .settled = note_settled
	};
	size_t refused;
	struct process_list list = { 0 };
	assert_int_equal(process_list_add_named(&list, "a (b)", &error), ERROR_NOT_FOUND);
	assert_int_equal(process_list_add_named(&list, "a (b) c", &error), 0);
	/* Other runs of this test have children of this name, too. */
	size_t named = list.count;
	assert_int_equal(times_listed(&list, child), 1);
	assert_int_equal(process_list_add_id(&list, child, &error), 0);
	assert_int_equal(list.count, named);
	process_list_release(&list);
	buffer_init(&printed);
	assert_int_equal(process_list_add_id(&list, getppid(), &error), 0);
	assert_int_equal(attach_processes(&vtable, &backend, &list, false, false, &sink, &refused, &error), 0);
	assert_int_equal(list.count, 1);
	process_list_release(&list);
	/* This process is not listed as a child of its parent, nor are its own children then. */
	assert_int_equal(process_list_add_id(&list, getppid(), &error), 0);
	assert_in_range(process_list_add_children(&list, &error), 0, INT32_MAX);
	for (size_t i = 0; i < list.count; i++)
		assert_true(list.items[i].pid != getpid() && list.items[i].pid != child);
	process_list_release(&list);
	backend = (struct backend){ .answer = 1 };
	list = (struct process_list){ 0 };
	assert_int_equal(process_list_add_id(&list, getpid(), &error), 0);
	assert_int_equal(attach_processes(&vtable, &backend, &list, true, false, &sink, &refused, &error), 0);
	assert_int_equal(list.count, 2);
	assert_true(list.items[1].pid == child && list.items[1].origin == PROCESS_CHILD && refused == 0);
	backend = (struct backend){ .answer = ERROR_PERMISSION };
	assert_int_equal(attach_processes(&vtable, &backend, &list, true, false, &sink, &refused, &error),
			 ERROR_PERMISSION);
	list.items[0].origin = PROCESS_BY_NAME;
	assert_int_equal(attach_processes(&vtable, &backend, &list, true, false, &sink, &refused, &error),
			 ERROR_PERMISSION);
	assert_int_equal(refused, 2);
	process_list_release(&list);
	buffer_release(&printed);
	kill(child, SIGKILL);
	waitpid(child, NULL, 0);
	munmap(area, 3 * 4096);
}

/* Every process of the machine is reported: this one, and one with threads. Kernel threads have a name, but no
 * maps. */
static void test_everything(void **state)
{
	(void)state;
	void *area;
	pid_t child = make_child(&area);
	struct buffer printed;
	struct error error;
	struct backend backend = { .answer = 1 };
	const struct backend_sink sink = {
		.context = &printed, .map = print_map, .name = print_name, .settled = note_settled
	};
	buffer_init(&printed);
	assert_int_equal(attach_everything(&vtable, &backend, false, &sink, &error), 0);
	buffer_append_byte(&printed, 0);
	assert_true(backend.everything && backend.watched_count == 0);
	assert_true(is_printed(&printed, " first\n") && is_printed(&printed, " second\n"));
	char wanted[128];
	snprintf(wanted, sizeof(wanted), "map %d %llx+1000 //anon\n", child,
		 (unsigned long long)(uintptr_t)area + 4096);
	assert_true(is_printed(&printed, wanted));
	snprintf(wanted, sizeof(wanted), "name %d %d ", getpid(), getpid());
	assert_true(is_printed(&printed, wanted));
	buffer_release(&printed);
	kill(child, SIGKILL);
	waitpid(child, NULL, 0);
	munmap(area, 3 * 4096);
	backend.answer = ERROR_PERMISSION;
	assert_int_equal(attach_everything(&vtable, &backend, false, &sink, &error), ERROR_PERMISSION);
	assert_non_null(strstr(error.message, "CAP_PERFMON"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_refusals),         cmocka_unit_test(test_threads_and_maps),
		cmocka_unit_test(test_data_maps),        cmocka_unit_test(test_everything),
		cmocka_unit_test(test_listed_processes),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
