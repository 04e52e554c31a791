/* collect/sample/state/processes.c and collect/sample/stacks/deep_stack.c: threads, processes, their maps and
 * remembered stacks, also when memory runs short. */
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/buffer.h"
#include "collect/sample/stacks/deep_stack.h"
#include "collect/sample/state/proc.h"
#include "collect/sample/state/processes.h"
#include "support/alloc_fail.h"

/* The path of this program, for tests that need a real file. */
static char self[4096];

struct world {
	struct profile *profile;
	struct modules *modules;
	struct processes *processes;
};

static int make_world(void **state)
{
	struct world *world = calloc(1, sizeof(*world));
	assert_non_null(world);
	world->profile = profile_new();
	world->modules = modules_new(world->profile);
	world->processes = processes_new(world->profile, world->modules);
	assert_non_null(world->processes);
	*state = world;
	return 0;
}

static int free_world(void **state)
{
	struct world *world = *state;
	processes_free(world->processes);
	modules_free(world->modules);
	profile_free(world->profile);
	free(world);
	return 0;
}

static int map_file(struct world *world, uint32_t pid, uint64_t start, uint64_t end, uint64_t offset, const char *path)
{
	const struct backend_map map = {
		.pid = pid, .start = start, .size = end - start, .file_offset = offset, .path = path
	};
	return processes_map(world->processes, &map);
}

/* Compares all code maps of a process with "start-end@offset path; ...", in hexadecimal. */
static void assert_maps(struct world *world, uint32_t pid, const char *wanted)
{
	struct buffer text;
	buffer_init(&text);
	const struct process *process = processes_of(world->processes, processes_thread(world->processes, pid, pid));
	for (size_t i = 0; i < process->code.count; i++) {
		const struct mapping *mapping = &process->code.items[i];
		const struct module *module = modules_get(world->modules, mapping->module, NULL, true);
		buffer_printf(&text, "%s%llx-%llx@%llx %s", i ? "; " : "", (unsigned long long)mapping->start,
			      (unsigned long long)mapping->end, (unsigned long long)mapping->file_offset,
			      profile_string(world->profile, world->profile->modules[module->id].path));
		assert_true(mapping->start < mapping->end);
		assert_true(i == 0 || mapping[-1].end <= mapping->start);
	}
	buffer_append_byte(&text, 0);
	assert_string_equal((const char *)text.bytes, wanted);
	buffer_release(&text);
}

/* --- maps --- */

static void test_maps_in_order(void **state)
{
	struct world *world = *state;
	assert_int_equal(map_file(world, 5, 0x300, 0x400, 0, "/c"), 0);
	assert_int_equal(map_file(world, 5, 0x100, 0x200, 0x10, "/a"), 0);
	assert_int_equal(map_file(world, 5, 0x200, 0x300, 0, "/b"), 0);
	assert_int_equal(map_file(world, 5, 0x1000, 0x2000, 0, "//anon"), 0);
	assert_int_equal(map_file(world, 6, 0x100, 0x200, 0, "/other"), 0);
	assert_int_equal(map_file(world, 5, 0x500, 0x500, 0, "/empty"), 0);
	assert_maps(world, 5, "100-200@10 /a; 200-300@0 /b; 300-400@0 /c; 1000-2000@0 [anon]");
	assert_maps(world, 6, "100-200@0 /other");
	assert_int_equal(map_file(world, 7, UINT64_MAX - 15, 0x100, 0, "/to the end"), 0);
	assert_maps(world, 7, "fffffffffffffff0-ffffffffffffffff@0 /to the end");
}

/* A new mapping overlaps an old one at 0x200-0x400, in every way. */
static void test_maps_overlap(void **state)
{
	struct world *world = *state;
	static const struct {
		uint64_t start, end;
		const char *wanted;
	} cases[] = {
		{ 0x100, 0x200, "100-200@7000 /new; 200-400@1000 /old" },
		{ 0x100, 0x300, "100-300@7000 /new; 300-400@1100 /old" },
		{ 0x100, 0x400, "100-400@7000 /new" },
		{ 0x100, 0x500, "100-500@7000 /new" },
		{ 0x200, 0x300, "200-300@7000 /new; 300-400@1100 /old" },
		{ 0x200, 0x400, "200-400@7000 /new" },
		{ 0x200, 0x500, "200-500@7000 /new" },
		{ 0x280, 0x300, "200-280@1000 /old; 280-300@7000 /new; 300-400@1100 /old" },
		{ 0x300, 0x400, "200-300@1000 /old; 300-400@7000 /new" },
		{ 0x300, 0x500, "200-300@1000 /old; 300-500@7000 /new" },
		{ 0x400, 0x500, "200-400@1000 /old; 400-500@7000 /new" },
	};
	for (uint32_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		assert_int_equal(map_file(world, 100 + i, 0x200, 0x400, 0x1000, "/old"), 0);
		assert_int_equal(map_file(world, 100 + i, cases[i].start, cases[i].end, 0x7000, "/new"), 0);
		assert_maps(world, 100 + i, cases[i].wanted);
	}
}

static void test_maps_cover_several(void **state)
{
	struct world *world = *state;
	for (uint64_t start = 0x100; start < 0x800; start += 0x100)
		assert_int_equal(map_file(world, 5, start, start + 0x100, start, "/a"), 0);
	assert_int_equal(map_file(world, 5, 0x280, 0x680, 0, "/b"), 0);
	assert_maps(world, 5, "100-200@100 /a; 200-280@200 /a; 280-680@0 /b; 680-700@680 /a; 700-800@700 /a");
}

/* Random maps, compared with an array that has one entry for each address. */
static void test_maps_at_random(void **state)
{
	struct world *world = *state;
	enum { SPACE = 200, MAPS = 2000, FILES = 4 };
	static const char *const paths[FILES] = { "/0", "/1", "/2", "/3" };
	int owner[SPACE];
	uint64_t offset[SPACE];
	for (int i = 0; i < SPACE; i++)
		owner[i] = -1;
	srand(1);
	for (int i = 0; i < MAPS; i++) {
		int start = rand() % (SPACE - 1);
		int end = start + 1 + rand() % (SPACE - start < 60 ? SPACE - start : 60);
		int file = rand() % FILES;
		end = end > SPACE ? SPACE : end;
		assert_int_equal(map_file(world, 5, (uint64_t)start, (uint64_t)end, (uint64_t)i * 1000, paths[file]),
				 0);
		for (int at = start; at < end; at++) {
			owner[at] = file;
			offset[at] = (uint64_t)i * 1000 + (uint64_t)(at - start);
		}
	}
	struct process *process = processes_of(world->processes, processes_thread(world->processes, 5, 5));
	for (int at = 0; at < SPACE; at++) {
		struct unwind_module found;
		int result = processes_module_at(world->processes, process, (uint64_t)at, &found);
		assert_int_equal(result, owner[at] < 0 ? -1 : 0);
		if (owner[at] < 0)
			continue;
		const char *path = profile_string(world->profile, world->profile->modules[found.id].path);
		assert_string_equal(path, paths[owner[at]]);
		/* The file does not exist, so that an address in it is an offset. */
		assert_int_equal((uint64_t)at - found.bias, offset[at]);
	}
}

/* --- modules --- */

static int64_t add_module(struct world *world, const char *path, const uint8_t *build_id, size_t build_id_bytes)
{
	const struct mapped_file mapped = { .path = path, .build_id = build_id, .build_id_bytes = build_id_bytes };
	return modules_add(world->modules, &mapped);
}

static void test_modules(void **state)
{
	struct world *world = *state;
	static const uint8_t one[] = { 1, 2, 3 }, two[] = { 1, 2, 4 };
	int64_t a = add_module(world, "/a", NULL, 0);
	int64_t a1 = add_module(world, "/a", one, sizeof(one));
	int64_t a2 = add_module(world, "/a", two, sizeof(two));
	assert_true(a != a1 && a1 != a2 && a != a2);
	assert_int_equal(add_module(world, "/a", one, sizeof(one)), a1);
	int64_t anon = add_module(world, "//anon", NULL, 0);
	static const char *const generated[] = { "[heap]", "[stack]", "/memfd:jit (deleted)", "/dev/zero (deleted)",
						 "/SYSV00000000 (deleted)" };
	for (size_t i = 0; i < sizeof(generated) / sizeof(generated[0]); i++)
		assert_int_equal(add_module(world, generated[i], NULL, 0), anon);
	int64_t unlinked = add_module(world, "/memfd:program (deleted)", one, sizeof(one));
	assert_int_equal(modules_get(world->modules, (uint32_t)unlinked, NULL, true)->kind, MODULE_FILE);
	assert_int_equal(modules_get(world->modules, (uint32_t)anon, NULL, true)->kind, MODULE_ANON);
	int64_t name = modules_add_name(world->modules, "[kernel]", MODULE_KERNEL);
	const struct module *kernel = modules_get(world->modules, (uint32_t)name, NULL, true);
	assert_int_equal(kernel->kind, MODULE_KERNEL);
	assert_ptr_equal(modules_by_id(world->modules, kernel->id), kernel);
	assert_null(modules_by_id(world->modules, 999));
	assert_true(modules_open_for_names(world->modules, kernel->id, NULL) < 0);
}

static void test_modules_are_read_once(void **state)
{
	struct world *world = *state;
	const struct mapped_file ours = { .pid = getpid() };
	int64_t index = add_module(world, self, NULL, 0);
	const struct module *module = modules_get(world->modules, (uint32_t)index, &ours, true);
	assert_non_null(module->file);
	assert_non_null(module->table);
	assert_true(module->table->row_count > 100);
	assert_ptr_equal(modules_get(world->modules, (uint32_t)index, &ours, true), module);
	const struct profile_module *shown = &world->profile->modules[module->id];
	assert_int_equal(shown->build_id_bytes, 20); /* no build-id was reported: it was read from the file */
	int fd = modules_open_for_names(world->modules, module->id, NULL);
	assert_true(fd >= 0 && fd != module->fd);
	close(fd);
	/* A file with another build-id at the same path is not used for the mapped one. */
	uint8_t other[20] = { 1 };
	index = add_module(world, self, other, sizeof(other));
	assert_null(modules_get(world->modules, (uint32_t)index, NULL, true)->file);
	/* A file with the same build-id is used, and a deleted file is read through /proc/PID/exe. */
	uint8_t same[20];
	memcpy(same, world->profile->modules[module->id].build_id, sizeof(same));
	index = add_module(world, "/nowhere/deleted (deleted)", same, sizeof(same));
	assert_non_null(modules_get(world->modules, (uint32_t)index, &ours, true)->file);
	index = add_module(world, "/nowhere/never", NULL, 0);
	assert_null(modules_get(world->modules, (uint32_t)index, &ours, true)->file);
	index = add_module(world, "/dev", NULL, 0);
	assert_null(modules_get(world->modules, (uint32_t)index, &ours, true)->file);
	index = add_module(world, "[vdso]", NULL, 0);
	assert_non_null(modules_get(world->modules, (uint32_t)index, &ours, true)->file);
	assert_true(modules_get(world->modules, (uint32_t)index, &ours, true)->table->row_count > 0);
}

/* Adds a file of the test's own folder as the kernel reports a map of it without build-id. */
static int64_t add_inode(struct world *world, const char *path, const struct stat *status)
{
	const struct mapped_file mapped = { .path = path, .device = status->st_dev, .inode = status->st_ino };
	return modules_add(world->modules, &mapped);
}

static void copy_file(const char *from, const char *to)
{
	char bytes[65536];
	FILE *in = fopen(from, "r"), *out = fopen(to, "w");
	assert_true(in && out);
	for (size_t got; (got = fread(bytes, 1, sizeof(bytes), in)) > 0;)
		assert_int_equal(fwrite(bytes, 1, got, out), got);
	fclose(in);
	assert_int_equal(fclose(out), 0);
}

/* A file is known by its device and inode: another file with its path is not read for it. */
static void test_modules_by_inode(void **state)
{
	struct world *world = *state;
	char folder[] = "/tmp/modules-XXXXXX", path[64], other[64];
	struct stat mapped, later;
	assert_non_null(mkdtemp(folder));
	snprintf(path, sizeof(path), "%s/file", folder);
	snprintf(other, sizeof(other), "%s/file (deleted)", folder);
	copy_file(self, path);
	assert_int_equal(stat(path, &mapped), 0);
	/* The same build with and without a build-id in the report: one module. */
	int64_t index = add_inode(world, path, &mapped);
	const struct module *module = modules_get(world->modules, (uint32_t)index, NULL, true);
	const struct profile_module *shown = &world->profile->modules[module->id];
	assert_non_null(module->table);
	assert_int_equal(shown->build_id_bytes, 20);
	uint8_t id[20];
	memcpy(id, shown->build_id, sizeof(id));
	assert_int_equal(add_module(world, path, id, sizeof(id)), index);
	assert_int_equal(add_inode(world, other, &mapped), index);
	/* Another file at the path of a mapped one that was not opened before, and none there. */
	mapped.st_ino += UINT32_MAX;
	index = add_inode(world, path, &mapped);
	module = modules_get(world->modules, (uint32_t)index, NULL, true);
	assert_null(module->file);
	assert_int_equal(module->why_no_file.code, ERROR_NOT_FOUND);
	assert_non_null(strstr(module->why_no_file.message, "it was replaced"));
	assert_int_equal(unlink(path), 0);
	mapped.st_ino += UINT32_MAX;
	index = add_inode(world, path, &mapped);
	module = modules_get(world->modules, (uint32_t)index, NULL, true);
	assert_non_null(strstr(module->why_no_file.message, "it was deleted"));
	struct error error = { 0 };
	assert_int_equal(modules_open_for_names(world->modules, module->id, &error), ERROR_NOT_FOUND);
	assert_string_equal(error.message, module->why_no_file.message);
	/* A file whose name ends like the mark of unlinked files. */
	copy_file(self, other);
	assert_int_equal(stat(other, &later), 0);
	const struct mapped_file marked = {
		.pid = getpid(), .path = other, .device = later.st_dev, .inode = later.st_ino
	};
	index = modules_add(world->modules, &marked);
	assert_non_null(modules_get(world->modules, (uint32_t)index, NULL, true)->file);
	assert_int_equal(unlink(other), 0);
	assert_int_equal(rmdir(folder), 0);
}

/* --- code --- */

static void test_code(void **state)
{
	struct world *world = *state;
	/* The beginning of the file (its ELF header) is mapped at 0x70000000. */
	assert_int_equal(map_file(world, (uint32_t)getpid(), 0x70000000, 0x70001000, 0, self), 0);
	struct process *process =
		processes_of(world->processes, processes_thread(world->processes, (uint32_t)getpid(), 1));
	char magic[4];
	assert_true(processes_code(world->processes, process, 0x70000000, magic, 4));
	assert_memory_equal(magic, "\177ELF", 4);
	assert_false(processes_code(world->processes, process, 0x70001000, magic, 4));
	assert_false(processes_code(world->processes, process, 0x6fffffff, magic, 4));
	assert_false(processes_code(world->processes, process, UINT64_MAX - 3, magic, 4));
}

/* --- threads and processes --- */

static const struct profile_thread *shown_thread(const struct world *world, const struct thread *thread)
{
	return &world->profile->threads[thread->id];
}

static const char *thread_name(const struct world *world, const struct thread *thread)
{
	return profile_string(world->profile, shown_thread(world, thread)->name);
}

static void test_fork_copies(void **state)
{
	struct world *world = *state;
	assert_int_equal(map_file(world, 5, 0x100, 0x200, 0, "/a"), 0);
	assert_int_equal(processes_name(world->processes, 5, 5, "sh", true, 1), 0);
	assert_int_equal(map_file(world, 5, 0x300, 0x400, 0, "/b"), 0);
	assert_int_equal(processes_fork(world->processes, 5, 6, 6, 10), 0);
	assert_maps(world, 6, "300-400@0 /b");
	/* From now on, parent and child have different maps. */
	assert_int_equal(map_file(world, 6, 0x500, 0x600, 0, "/c"), 0);
	assert_int_equal(map_file(world, 5, 0x700, 0x800, 0, "/d"), 0);
	assert_maps(world, 6, "300-400@0 /b; 500-600@0 /c");
	assert_maps(world, 5, "300-400@0 /b; 700-800@0 /d");
	const struct thread *child = processes_thread(world->processes, 6, 6);
	assert_string_equal(thread_name(world, child), "sh");
	assert_int_equal(shown_thread(world, child)->start_ns, 10);
	const struct profile_process *shown = &world->profile->processes[processes_of(world->processes, child)->id];
	assert_int_equal(shown->pid, 6);
	assert_int_equal(shown->parent_pid, 5);
	assert_string_equal(profile_string(world->profile, shown->name), "sh");
	assert_int_equal(processes_running(world->processes), 2);
	/* The fork of a process that was not reported. */
	assert_int_equal(processes_fork(world->processes, 90, 91, 91, 11), 0);
	assert_maps(world, 91, "");
}

static void test_exec_clears(void **state)
{
	struct world *world = *state;
	assert_int_equal(map_file(world, 5, 0x100, 0x200, 0, "/a"), 0);
	processes_thread(world->processes, 5, 5)->deep = deep_stack_new();
	assert_int_equal(processes_name(world->processes, 5, 5, "worker", false, 1), 0);
	assert_maps(world, 5, "100-200@0 /a"); /* a new name without exec */
	assert_non_null(processes_thread(world->processes, 5, 5)->deep);
	assert_int_equal(processes_name(world->processes, 5, 5, "true", true, 1), 0);
	assert_maps(world, 5, "");
	const struct thread *thread = processes_thread(world->processes, 5, 5);
	assert_null(thread->deep);
	assert_string_equal(thread_name(world, thread), "true");
	assert_int_equal(map_file(world, 5, 0x100, 0x200, 0, "/b"), 0);
	assert_maps(world, 5, "100-200@0 /b");
	/* The name of a thread does not change the name of its process. */
	assert_int_equal(processes_fork(world->processes, 5, 5, 50, 2), 0);
	assert_string_equal(thread_name(world, processes_thread(world->processes, 5, 50)), "true");
	assert_int_equal(processes_name(world->processes, 5, 50, "helper", false, 3), 0);
	assert_string_equal(thread_name(world, processes_thread(world->processes, 5, 50)), "helper");
	const struct process *process = processes_of(world->processes, processes_thread(world->processes, 5, 50));
	assert_string_equal(profile_string(world->profile, world->profile->processes[process->id].name), "true");
}

/* A thread that calls exec gets the tid of the main thread, and the kernel reports only the main thread's end. */
static void test_exec_by_a_thread(void **state)
{
	struct world *world = *state;
	for (uint32_t tid = 50; tid <= 51; tid++) {
		uint32_t pid = tid - 45; /* exec is reported with the thread's old tid (50), and with the pid (51) */
		assert_int_equal(processes_fork(world->processes, 1, pid, pid, 10), 0);
		assert_int_equal(processes_fork(world->processes, pid, pid, tid, 11), 0);
		assert_int_equal(processes_fork(world->processes, pid, pid, tid + 10, 11), 0);
		processes_thread(world->processes, pid, pid)->base_node = 7;
		uint32_t first = processes_thread(world->processes, pid, pid)->id;
		uint32_t other = processes_thread(world->processes, pid, tid + 10)->id;
		processes_exit(world->processes, pid, pid, 12);
		assert_int_equal(processes_name(world->processes, pid, tid == 50 ? tid : pid, "next", true, 13), 0);
		const struct thread *thread = processes_thread(world->processes, pid, pid);
		const struct process *process = processes_of(world->processes, thread);
		const struct profile_process *shown = &world->profile->processes[process->id];
		assert_int_not_equal(thread->id, first);
		assert_int_equal(thread->base_node, PROFILE_ROOT);
		assert_string_equal(thread_name(world, thread), "next");
		assert_string_equal(profile_string(world->profile, shown->name), "next");
		assert_int_equal(world->profile->threads[first].end_ns, 12);
		assert_int_equal(world->profile->threads[other].end_ns, 13);
		assert_int_equal(shown_thread(world, processes_thread(world->processes, pid, tid))->end_ns, 13);
		assert_int_equal(shown_thread(world, thread)->end_ns, 0);
		assert_int_equal(process->living, 1);
		assert_false(processes_exit(world->processes, pid, tid, 14));
		assert_true(processes_exit(world->processes, pid, pid, 15));
		assert_int_equal(shown->end_ns, 15);
	}
	/* The thread that called exec had not been reported. */
	assert_int_equal(processes_fork(world->processes, 1, 8, 8, 10), 0);
	assert_true(processes_exit(world->processes, 8, 8, 12));
	assert_int_equal(processes_name(world->processes, 8, 8, "next", true, 13), 0);
	const struct process *process = processes_find(world->processes, 8);
	assert_int_equal(process->living, 1);
	assert_int_equal(world->profile->processes[process->id].end_ns, 0);
}

static void test_exits(void **state)
{
	struct world *world = *state;
	assert_int_equal(processes_fork(world->processes, 1, 5, 5, 10), 0);
	assert_int_equal(processes_fork(world->processes, 5, 5, 50, 11), 0);
	assert_int_equal(map_file(world, 5, 0x100, 0x200, 0, "/a"), 0);
	const struct process *process = processes_of(world->processes, processes_thread(world->processes, 5, 5));
	const struct profile_process *shown = &world->profile->processes[process->id];
	assert_int_equal(process->living, 2);
	processes_thread(world->processes, 5, 50)->deep = deep_stack_new();
	/* An unknown thread, or a thread of another process, ends nothing. */
	processes_exit(world->processes, 5, 51, 12);
	processes_exit(world->processes, 6, 50, 12);
	assert_int_equal(process->living, 2);
	/* The main thread may exit first; the process then continues. */
	processes_exit(world->processes, 5, 5, 13);
	assert_int_equal(shown_thread(world, processes_thread(world->processes, 5, 5))->end_ns, 13);
	assert_int_equal(shown->end_ns, 0);
	assert_maps(world, 5, "100-200@0 /a");
	processes_exit(world->processes, 5, 50, 14);
	assert_null(processes_thread(world->processes, 5, 50)->deep);
	assert_int_equal(shown->end_ns, 14);
	assert_maps(world, 5, "");
	assert_int_equal(processes_running(world->processes), 1); /* pid 1 */
}

static void test_ids_used_again(void **state)
{
	struct world *world = *state;
	assert_int_equal(processes_fork(world->processes, 1, 5, 5, 10), 0);
	assert_int_equal(map_file(world, 5, 0x100, 0x200, 0, "/a"), 0);
	uint32_t first_thread = processes_thread(world->processes, 5, 5)->id;
	uint32_t first_process = processes_of(world->processes, processes_thread(world->processes, 5, 5))->id;
	processes_exit(world->processes, 5, 5, 20);
	assert_int_equal(processes_fork(world->processes, 1, 5, 5, 30), 0);
	const struct thread *again = processes_thread(world->processes, 5, 5);
	const struct process *process = processes_of(world->processes, again);
	assert_true(again->id != first_thread && process->id != first_process);
	assert_int_equal(process->code.count, 0);
	assert_int_equal(world->profile->processes[first_process].end_ns, 20);
	assert_int_equal(world->profile->processes[process->id].start_ns, 30);
	assert_int_equal(world->profile->processes[process->id].end_ns, 0);
	/* A new thread of the same process gets the tid of one that ended. */
	assert_int_equal(processes_fork(world->processes, 5, 5, 50, 40), 0);
	uint32_t first = processes_thread(world->processes, 5, 50)->id;
	processes_exit(world->processes, 5, 50, 50);
	assert_int_equal(processes_fork(world->processes, 5, 5, 50, 60), 0);
	uint32_t second = processes_thread(world->processes, 5, 50)->id;
	assert_true(first != second);
	assert_int_equal(world->profile->threads[first].end_ns, 50);
	assert_int_equal(world->profile->threads[second].end_ns, 0);
	/* The tid now belongs to a process that was not reported. */
	assert_true(processes_thread(world->processes, 8, 50)->id != second);
	assert_int_equal(processes_of(world->processes, processes_thread(world->processes, 8, 50))->pid, 8);
}

/* Several events may report the same fork. */
static void test_reported_twice(void **state)
{
	struct world *world = *state;
	for (uint64_t time = 10; time < 12; time++) {
		assert_int_equal(processes_fork(world->processes, 1, 5, 5, time), 0);
		assert_int_equal(processes_fork(world->processes, 5, 5, 50, time), 0);
	}
	assert_int_equal(world->profile->process_count, 2); /* including pid 1 */
	assert_int_equal(world->profile->thread_count, 2);
	assert_true(processes_exit(world->processes, 5, 5, 20) == false);
	assert_true(processes_exit(world->processes, 5, 5, 21) == false);
	assert_true(processes_exit(world->processes, 5, 50, 22));
	assert_false(processes_exit(world->processes, 5, 50, 23));
	/* A much later fork with the same pid is a new process, whose predecessor's end was not reported. */
	assert_int_equal(processes_fork(world->processes, 1, 7, 7, 100), 0);
	assert_int_equal(processes_fork(world->processes, 1, 7, 7, UINT64_C(10000000000)), 0);
	assert_int_equal(world->profile->process_count, 4);
}

/* A sample may be the first event of a thread. */
static void test_unknown_threads(void **state)
{
	struct world *world = *state;
	processes_exit(world->processes, 70, 70, 1); /* no process to end */
	assert_int_equal(world->profile->process_count, 0);
	const struct thread *thread = processes_thread(world->processes, 70, 71);
	assert_int_equal(thread->tid, 71);
	assert_int_equal(shown_thread(world, thread)->start_ns, 0); /* before the recording */
	uint32_t id = thread->id;
	assert_int_equal(processes_thread(world->processes, 70, 71)->id, id);
	assert_int_equal(world->profile->thread_count, 1);
	assert_int_equal(world->profile->process_count, 1);
	for (uint32_t tid = 100; tid < 1100; tid++)
		assert_non_null(processes_thread(world->processes, 70, tid));
	assert_int_equal(processes_of(world->processes, processes_thread(world->processes, 70, 71))->living, 1001);
	assert_int_equal(profile_check(world->profile), 0);
}

/* --- control groups --- */

static void test_cgroups(void **state)
{
	struct world *world = *state;
	static const struct {
		const char *text, *path;
	} cases[] = {
		{ "0::/user.slice/session-1.scope\n", "/user.slice/session-1.scope" },
		{ "0::/\n", "/" },
		{ "12:cpu,cpuacct:/c\n1:name=systemd:/s:with:colons\n0::/unified\n", "/unified" },
		{ "12:cpu,cpuacct:/c\n1:name=systemd:/s:with:colons\n", "/s:with:colons" },
		{ "12:cpu,cpuacct:/c\n11:memory:/m", "/c" },
		{ "1:name=systemd:/s\n2:cpu:/c\n", "/s" },
		{ "", "" },
		{ "\n\n", "" },
		{ "nothing known", "" },
		{ "0::no path\n1:cpu:/c\n", "/c" },
	};
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		char path[64] = "?";
		cgroup_parse(cases[i].text, path, sizeof(path));
		assert_string_equal(path, cases[i].path);
	}
	char cut[5];
	cgroup_parse("0::/long", cut, sizeof(cut));
	assert_string_equal(cut, "/lon");
	/* A process that exists, one that does not, and a child of each. */
	enum { NO_PID = 1900000000 };
	char own[1024];
	cgroup_read(getpid(), own, sizeof(own));
	assert_non_null(processes_thread(world->processes, (uint32_t)getpid(), 1));
	assert_int_equal(processes_fork(world->processes, (uint32_t)getpid(), NO_PID, NO_PID, 1), 0);
	assert_non_null(processes_thread(world->processes, NO_PID + 1, 2));
	const struct profile *profile = world->profile;
	assert_string_equal(profile_string(profile, profile->processes[0].cgroup), own);
	assert_string_equal(profile_string(profile, profile->processes[1].cgroup), own);
	assert_string_equal(profile_string(profile, profile->processes[2].cgroup), "");
	/* A control group that can no longer be read stays as it was. */
	assert_int_equal(processes_name(world->processes, NO_PID, NO_PID, "new", true, 2), 0);
	assert_string_equal(profile_string(profile, profile->processes[1].cgroup), own);
}

/* --- users --- */

static void test_users(void **state)
{
	struct world *world = *state;
	const struct profile *profile = world->profile;
	enum { NO_PID = 1900000000, COMMAND = 1900000100 };
	const uint32_t own = getuid() + 1;
	assert_int_equal(process_user_read(getpid()), own);
	assert_int_equal(process_user_read(NO_PID), 0);
	assert_non_null(processes_thread(world->processes, (uint32_t)getpid(), 1));
	assert_int_equal(profile->processes[0].user, own);
	/* A child that has ended already has the user of its parent, until it executes a program: it may have changed its user before. */
	assert_int_equal(processes_fork(world->processes, (uint32_t)getpid(), NO_PID, NO_PID, 1), 0);
	assert_int_equal(profile->processes[1].user, own);
	assert_int_equal(processes_name(world->processes, NO_PID, NO_PID, "new", true, 2), 0);
	assert_int_equal(profile->processes[1].user, 0);
	/* Root may become another user; the code that another user executed never counts as root's. */
	struct profile_process *changed = &world->profile->processes[0];
	changed->user = 1;
	assert_int_equal(processes_name(world->processes, (uint32_t)getpid(), (uint32_t)getpid(), "same", true, 2), 0);
	assert_int_equal(changed->user, own);
	changed->user = 4711 + 1;
	for (int i = 0; i < 2; i++) {
		assert_int_equal(
			processes_name(world->processes, (uint32_t)getpid(), (uint32_t)getpid(), "other", true, 2), 0);
		assert_int_equal(changed->user, 0);
	}
	/* The recorder has made the command: its user is known up to its second exec. */
	processes_set_command(world->processes, COMMAND, 1234);
	assert_int_equal(processes_name(world->processes, COMMAND, COMMAND, "first", true, 3), 0);
	assert_int_equal(profile->processes[2].user, 1234);
	assert_int_equal(processes_name(world->processes, COMMAND, COMMAND, "second", true, 4), 0);
	assert_int_equal(profile->processes[2].user, 0);
}

/* A process with another root has the user ids of another system, if it is a container. */
static void test_users_of_containers(void **state)
{
	(void)state;
	int ready[2];
	char byte;
	if (geteuid() != 0)
		skip(); /* only root can change its root */
	assert_int_equal(pipe(ready), 0);
	pid_t child = fork();
	if (child == 0) {
		if (chroot("/tmp") < 0 || write(ready[1], "x", 1) != 1)
			_exit(1);
		pause();
	}
	assert_int_equal(read(ready[0], &byte, 1), 1);
	assert_int_equal(process_user_read(child), 0);
	kill(child, SIGKILL);
	waitpid(child, NULL, 0);
	close(ready[0]);
	close(ready[1]);
}

/* Owners are read with the first sample of a program. */
static void test_owners_read_late(void **state)
{
	struct world *world = *state;
	enum { NO_PID = 1900000000 };
	const uint32_t own = getuid() + 1, pid = (uint32_t)getpid();
	const struct profile *profile = world->profile;
	processes_read_owners_late(world->processes);
	const struct thread *thread = processes_thread(world->processes, pid, 1);
	assert_int_equal(profile->processes[0].user, 0);
	assert_int_equal(processes_sampled(world->processes, thread), 0);
	assert_int_equal(profile->processes[0].user, own);
	/* A child that has ended has the user of its parent, until it executes a program. */
	for (uint32_t child = NO_PID; child < NO_PID + 2; child++) {
		assert_int_equal(processes_fork(world->processes, pid, child, child, 1), 0);
		if (child > NO_PID)
			assert_int_equal(processes_name(world->processes, child, child, "new", true, 2), 0);
		assert_int_equal(processes_sampled(world->processes, processes_thread(world->processes, child, child)),
				 0);
		assert_int_equal(profile->processes[1 + child - NO_PID].user, child > NO_PID ? 0 : own);
	}
	/* The code that another user executed never counts as this one's. */
	world->profile->processes[0].user = 4711 + 1;
	assert_int_equal(processes_sampled(world->processes, processes_thread(world->processes, pid, 1)), 0);
	assert_int_equal(profile->processes[0].user, 4711 + 1);
	assert_int_equal(processes_name(world->processes, pid, pid, "other", true, 2), 0);
	assert_int_equal(processes_sampled(world->processes, processes_thread(world->processes, pid, pid)), 0);
	assert_int_equal(profile->processes[0].user, 0);
}

/* Processes without a sample give their places to later ones a second after their ends; their creators keep them if these are sampled. */
static void test_places_are_used_again(void **state)
{
	struct world *world = *state;
	enum { SHELL = 1900000000, CHILDREN = 50, S = 1000000000 };
	const struct profile *profile = world->profile;
	processes_read_owners_late(world->processes);
	assert_int_equal(processes_fork(world->processes, 1, SHELL, SHELL, 1), 0);
	for (uint32_t i = 1; i <= CHILDREN; i++) {
		uint32_t pid = SHELL + i;
		uint64_t time_ns = (uint64_t)i * S / 2;
		assert_int_equal(processes_fork(world->processes, SHELL, pid, pid, time_ns), 0);
		assert_int_equal(processes_name(world->processes, pid, pid, "child", true, time_ns + 1), 0);
		assert_int_equal(map_file(world, pid, 0x100, 0x200, 0, "/a"), 0);
		assert_maps(world, pid, "100-200@0 /a");
		if (i == 10)
			assert_int_equal(
				processes_sampled(world->processes, processes_thread(world->processes, pid, pid)), 0);
		if (i == 20)
			assert_int_equal(processes_fork(world->processes, pid, pid, pid + 1000, time_ns + 2), 0);
		assert_true(processes_exit(world->processes, pid, pid, time_ns + 3) == (i != 20));
		if (i == 20)
			assert_true(processes_exit(world->processes, pid, pid + 1000, time_ns + 4));
	}
	/* Process 1, the shell, the sampled one, the one with two threads, and those of a second and a half. */
	assert_int_equal(profile->process_count, 4 + 3);
	assert_int_equal(profile->thread_count, 1 + 1 + 2 + 3);
	assert_null(processes_find(world->processes, SHELL + 1));
	assert_non_null(processes_find(world->processes, SHELL + 10));
	assert_non_null(processes_find(world->processes, SHELL + CHILDREN));
	for (size_t i = 0; i < profile->thread_count; i++)
		assert_int_equal(
			profile->processes[profile->threads[i].process].pid,
			processes_find(world->processes, profile->processes[profile->threads[i].process].pid)->pid);
	/* The shell has started a process that was sampled. */
	assert_true(processes_exit(world->processes, SHELL, SHELL, UINT64_C(100) * S));
	assert_int_equal(processes_fork(world->processes, 1, 7, 7, UINT64_C(102) * S), 0);
	assert_int_equal(processes_fork(world->processes, 1, 8, 8, UINT64_C(102) * S), 0);
	assert_non_null(processes_find(world->processes, SHELL));
	assert_int_equal(profile_check(profile), 0);
}

/* --- deep stacks --- */

static void fill(uint8_t *bytes, uint64_t address, size_t size)
{
	for (size_t i = 0; i < size; i++)
		bytes[i] = (uint8_t)((address + i) * 7);
}

static void assert_remembered(const struct deep_stack *deep, uint64_t start, uint64_t top)
{
	assert_int_equal(deep->top, top);
	assert_int_equal(deep->size, top - start);
	for (uint64_t address = start; address < top; address += 13) {
		size_t size;
		const uint8_t *bytes = deep_stack_at(deep, address, &size);
		assert_non_null(bytes);
		assert_int_equal(size, top - address);
		assert_int_equal(*bytes, (uint8_t)(address * 7));
	}
	size_t size;
	assert_null(deep_stack_at(deep, start - 1, &size));
	assert_null(deep_stack_at(deep, top, &size));
}

static void remember(struct deep_stack *deep, uint64_t start, uint64_t end)
{
	uint8_t bytes[4096];
	fill(bytes, start, (size_t)(end - start));
	assert_int_equal(deep_stack_store(deep, start, bytes, (size_t)(end - start)), 0);
}

static void test_deep_bytes(void **state)
{
	(void)state;
	struct deep_stack *deep = deep_stack_new();
	size_t size;
	assert_null(deep_stack_at(deep, 0, &size));
	remember(deep, 0x5000, 0x6000);
	assert_remembered(deep, 0x5000, 0x6000);
	remember(deep, 0x4800, 0x5000); /* just below */
	assert_remembered(deep, 0x4800, 0x6000);
	remember(deep, 0x4000, 0x4c00); /* overlapping from below */
	assert_remembered(deep, 0x4000, 0x6000);
	remember(deep, 0x4400, 0x4500); /* inside */
	assert_remembered(deep, 0x4000, 0x6000);
	remember(deep, 0x5800, 0x6000); /* inside, up to the top */
	assert_remembered(deep, 0x4000, 0x6000);
	for (uint64_t at = 0x3f00; at > 0x400; at -= 0x100)
		remember(deep, at, at + 0x200);
	assert_remembered(deep, 0x500, 0x6000);
	/* Changed bytes replace the old bytes. */
	const uint8_t changed[] = { 1, 2, 3 };
	assert_int_equal(deep_stack_store(deep, 0x4100, changed, 3), 0);
	assert_memory_equal(deep_stack_at(deep, 0x4100, &size), changed, 3);
	/* Bytes of another stack, or bytes that do not adjoin the remembered bytes, replace everything. */
	const struct deep_frame frame = { .pc = 1, .sp = 0x5000, .fp = 3, .node = 4 };
	assert_int_equal(deep_stack_push(deep, &frame), 0);
	remember(deep, 0x100, 0x200);
	assert_remembered(deep, 0x100, 0x200);
	assert_int_equal(deep->frame_count, 0);
	remember(deep, 0x100, 0x280);
	assert_remembered(deep, 0x100, 0x280);
	remember(deep, 0x1000, 0x1100);
	assert_remembered(deep, 0x1000, 0x1100);
	deep_stack_clear(deep);
	assert_null(deep_stack_at(deep, 0x1000, &size));
	deep_stack_free(deep);
	deep_stack_free(NULL);
}

static void test_deep_frames(void **state)
{
	(void)state;
	struct deep_stack *deep = deep_stack_new();
	enum { FRAMES = 1000 };
	for (uint32_t i = 0; i < FRAMES; i++) {
		const struct deep_frame frame = { .pc = 100 + i, .sp = 0x100000 - 16 * i, .fp = i, .node = i };
		assert_int_equal(deep_stack_push(deep, &frame), 0);
	}
	for (uint32_t i = 0; i < FRAMES; i++) {
		const struct unwind_frame same = { .pc = 100 + i, .sp = 0x100000 - 16 * i, .fp = i };
		assert_int_equal(deep_stack_find(deep, &same), i);
		struct unwind_frame other = same;
		other.pc++;
		assert_int_equal(deep_stack_find(deep, &other), SIZE_MAX);
		other = same;
		other.fp++;
		assert_int_equal(deep_stack_find(deep, &other), SIZE_MAX);
		other = same;
		other.sp += 8;
		assert_int_equal(deep_stack_find(deep, &other), SIZE_MAX);
	}
	deep_stack_clear(deep);
	const struct unwind_frame first = { .pc = 100, .sp = 0x100000 };
	assert_int_equal(deep_stack_find(deep, &first), SIZE_MAX);
	deep_stack_free(deep);
}

/* --- memory runs short --- */

static void live_short_of_memory(void)
{
	struct profile *profile = profile_new();
	struct modules *modules = profile ? modules_new(profile) : NULL;
	struct processes *processes = modules ? processes_new(profile, modules) : NULL;
	for (uint32_t i = 0; processes && i < 40; i++) {
		const struct backend_map map = {
			.pid = 5, .start = 0x1000 * i, .size = 0x1000, .path = i % 2 ? "/a" : "/b"
		};
		int result = processes_map(processes, &map);
		assert_true(result == 0 || result == ERROR_MEMORY);
		result = processes_fork(processes, 5, i % 3 ? 5 : 100 + i, 100 + i, i);
		assert_true(result == 0 || result == ERROR_MEMORY);
		result = processes_name(processes, 5, 100 + i, "name", i % 7 == 0, i);
		assert_true(result == 0 || result == ERROR_MEMORY);
		const struct thread *thread = processes_thread(processes, 200 + i, 200 + i);
		assert_true(!thread || processes_of(processes, thread)->pid == 200 + i);
		processes_exit(processes, 5, 100 + i / 2, i);
	}
	if (processes) {
		struct process *process = NULL;
		struct unwind_module found;
		const struct backend_map map = {
			.pid = (uint32_t)getpid(), .start = 0x1000, .size = 0x100000, .path = self
		};
		struct thread *thread =
			processes_map(processes, &map) == 0 ? processes_thread(processes, map.pid, map.pid) : NULL;
		if (thread)
			process = processes_of(processes, thread);
		/* A file that cannot be read for lack of memory has no table. */
		if (process)
			assert_int_equal(processes_module_at(processes, process, 0x2000, &found), 0);
		assert_int_equal(profile_check(profile), 0);
	}
	processes_free(processes);
	modules_free(modules);
	profile_free(profile);
}

/* --- kernel threads --- */

/* Numbers that no process has: a kernel has at most 2^22 of them. */
enum { WORKER = 5000001, HELPER = 5000002, CHILD = 5000003 };

static void assert_process(struct world *world, uint32_t number, uint32_t pid, const char *name)
{
	const struct profile_process *shown = &world->profile->processes[number];
	assert_true(number < world->profile->process_count);
	assert_int_equal(shown->pid, pid);
	assert_string_equal(profile_string(world->profile, shown->name), name);
}

/* Kernel threads are one process with one thread. A program that a kernel thread starts is a process of its own. */
static void test_kernel_threads(void **state)
{
	struct world *world = *state;
	struct processes *processes = world->processes;
	processes_merge_kernel_threads(processes);
	for (uint32_t i = 0; i < 3; i++) {
		assert_int_equal(processes_fork(processes, 0, WORKER + 10 * i, WORKER + 10 * i, 5), 0);
		assert_int_equal(processes_name(processes, WORKER + 10 * i, WORKER + 10 * i, "kworker/0:1", false, 6),
				 0);
		assert_ptr_equal(processes_thread(processes, WORKER + 10 * i, WORKER + 10 * i),
				 processes_thread(processes, 0, 0));
	}
	assert_false(processes_exit(processes, WORKER, WORKER, 7));
	assert_int_equal(world->profile->process_count, 1);
	assert_int_equal(world->profile->thread_count, 1);
	assert_process(world, 0, 0, "[kernel threads]");
	assert_int_equal(world->profile->processes[0].end_ns, 0);
	assert_int_equal(processes_fork(processes, WORKER + 10, HELPER, HELPER, 8), 0);
	assert_int_equal(map_file(world, HELPER, 0x1000, 0x2000, 0, self), 0);
	assert_int_equal(world->profile->process_count, 1);
	assert_int_equal(processes_name(processes, HELPER, HELPER, "modprobe", true, 9), 0);
	assert_int_equal(map_file(world, HELPER, 0x1000, 0x2000, 0, self), 0);
	assert_process(world, 1, HELPER, "modprobe");
	assert_int_equal(processes_fork(processes, HELPER, CHILD, CHILD, 10), 0);
	assert_process(world, 2, CHILD, "modprobe");
	assert_true(processes_exit(processes, HELPER, HELPER, 11));
}

/* Without that, and for processes of /proc, each is its own. */
static void test_ordinary_processes(void **state)
{
	struct world *world = *state;
	uint32_t own = (uint32_t)getpid();
	processes_merge_kernel_threads(world->processes);
	assert_int_equal(processes_name(world->processes, own, own, "test", false, 0), 0);
	assert_process(world, 0, own, "test");
}

static void assert_field(const char *text, enum proc_stat_field field, uint64_t wanted)
{
	uint64_t value = 0;
	assert_true(proc_stat_parse(text, field, &value));
	assert_int_equal(value, wanted);
}

static void test_proc_stat(void **state)
{
	(void)state;
	static const char *const shorter[] = { "1234 (sh) R 1 1234", "2 (kthreadd", "1234 (sh)", "" };
	uint64_t value;
	assert_field("2 (kthreadd) S 0 0 0 0 -1 2129984 0 0 0 0 0", PROC_STAT_FLAGS, 2129984);
	assert_field("31 (kworker/u8:1-ev (x) y) I 2 0 0 0 -1 69238880 0 0", PROC_STAT_FLAGS, 69238880);
	assert_field("1234 (a) S 2) R 17 1234 1234 34816 1234 4194304 100 0", PROC_STAT_PARENT, 17);
	for (size_t i = 0; i < sizeof(shorter) / sizeof(shorter[0]); i++)
		assert_false(proc_stat_parse(shorter[i], PROC_STAT_FLAGS, &value));
	assert_true(proc_stat_read((uint32_t)getpid(), PROC_STAT_PARENT, &value));
	assert_int_equal(value, getppid());
	assert_true(proc_stat_read((uint32_t)getpid(), PROC_STAT_STACK, &value));
	uintptr_t here = (uintptr_t)__builtin_frame_address(0); /* a sanitizer may keep variables elsewhere */
	assert_true(value > here && value - here < 8 << 20);
	assert_false(proc_stat_read(WORKER, PROC_STAT_PARENT, &value));
}

static void deep_short_of_memory(void)
{
	struct deep_stack *deep = deep_stack_new();
	uint8_t bytes[1000] = { 0 };
	for (uint64_t i = 0; deep && i < 40; i++) {
		int result = deep_stack_store(deep, 0x100000 - 1000 * i, bytes, sizeof(bytes));
		assert_true(result == 0 || (result == ERROR_MEMORY && deep->size == 0));
		const struct deep_frame frame = { .sp = 0x100000 - i };
		size_t had = deep->frame_count;
		bool pushed = deep_stack_push(deep, &frame) == 0;
		assert_int_equal(deep->frame_count, had + pushed);
	}
	deep_stack_free(deep);
}

static void test_memory_runs_short(void **state)
{
	(void)state;
	ALLOC_FAIL_EACH(live_short_of_memory());
	ALLOC_FAIL_EACH(deep_short_of_memory());
}

int main(void)
{
	ssize_t length = readlink("/proc/self/exe", self, sizeof(self) - 1);
	if (length < 0)
		return 1;
#define IN_WORLD(test) cmocka_unit_test_setup_teardown(test, make_world, free_world)
	const struct CMUnitTest tests[] = {
		IN_WORLD(test_maps_in_order),
		IN_WORLD(test_maps_overlap),
		IN_WORLD(test_maps_cover_several),
		IN_WORLD(test_maps_at_random),
		IN_WORLD(test_modules),
		IN_WORLD(test_modules_are_read_once),
		IN_WORLD(test_modules_by_inode),
		IN_WORLD(test_code),
		IN_WORLD(test_fork_copies),
		IN_WORLD(test_exec_clears),
		IN_WORLD(test_exec_by_a_thread),
		IN_WORLD(test_exits),
		IN_WORLD(test_ids_used_again),
		IN_WORLD(test_reported_twice),
		IN_WORLD(test_unknown_threads),
		IN_WORLD(test_cgroups),
		IN_WORLD(test_users),
		IN_WORLD(test_users_of_containers),
		IN_WORLD(test_kernel_threads),
		IN_WORLD(test_ordinary_processes),
		IN_WORLD(test_owners_read_late),
		IN_WORLD(test_places_are_used_again),
		cmocka_unit_test(test_proc_stat),
		cmocka_unit_test(test_deep_bytes),
		cmocka_unit_test(test_deep_frames),
		cmocka_unit_test(test_memory_runs_short),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
