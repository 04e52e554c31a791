/* Reading a tally (collect/count/tally.h): files as the runtime leaves them, and damaged files. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cmocka.h>

#include "collect/count/events.h"
#include "collect/count/tally.h"
#include "profile/findings.h"
#include "profile/thread_mark.h"
#include "support/alloc_fail.h"
#include "support/tally_world.h"

/* Offsets of the program's functions. The program is mapped at PROGRAM; the profile has the offsets as addresses. */
enum { PROGRAM = 0x400000, MAIN = 0x1000, SORT = 0x2000, COMPARE = 0x3000, MAIN_END = 0x1100, SIZE = 0x10000 };

/* --- names, as the symbolizer gives them --- */

static uint32_t add_function(struct profile *profile, const char *name)
{
	int64_t text = profile_add_string(profile, name);
	const struct profile_function function = { .name = (uint32_t)text, .linkage = (uint32_t)text };
	for (uint32_t i = 0; i < profile->function_count; i++)
		if (profile->functions[i].name == function.name)
			return i;
	return (uint32_t)profile_add_function(profile, &function);
}

static const char *name_of_address(uint64_t address)
{
	return address < MAIN ? "start" : address < SORT ? "main" : address < COMPARE ? "sort" : "compare";
}

/* Gives each location a line, 16 bytes long. At 0x1080 and after it, `helper` is inlined into main. */
static void name_all(struct profile *profile)
{
	enum { LINE_BYTES = 16, HELPER = 0x1080 };
	for (size_t i = 0; i < profile->location_count; i++) {
		struct profile_location *location = &profile->locations[i];
		struct profile_frame frame = { .line = (uint32_t)(location->address / LINE_BYTES) };
		location->first_frame = (uint32_t)profile->frame_count;
		location->frame_count = 1;
		if (location->address >= HELPER && location->address < MAIN_END) {
			frame.function = add_function(profile, "helper");
			frame.inlined = true;
			profile_add_frame(profile, &frame);
			location->frame_count++;
		}
		frame.function = add_function(profile, name_of_address(location->address));
		frame.inlined = false;
		profile_add_frame(profile, &frame);
	}
	profile->symbolized = true;
}

/* --- reading --- */

static struct tally *open_world(const struct tally_world *world)
{
	struct error error = { 0 };
	struct tally *tally = tally_open_bytes(world->bytes, world->size, "world", &error);
	if (!tally)
		fail_msg("%s", error.message);
	return tally;
}

static int code_of_opening(const struct tally_world *world)
{
	struct error error = { 0 };
	struct tally *tally = tally_open_bytes(world->bytes, world->size, "world", &error);
	tally_free(tally);
	assert_true(tally || error.message[0]);
	return tally ? 0 : error.code;
}

static struct profile *read_world(const struct tally_world *world, bool with_names)
{
	struct error error = { 0 };
	struct tally *tally = open_world(world);
	struct profile *profile = profile_new();
	assert_int_equal(tally_locations(tally, profile, &error), 0);
	if (with_names)
		name_all(profile);
	assert_int_equal(tally_hits(tally, profile, &error), 0);
	tally_free(tally);
	assert_int_equal(profile_check(profile), 0);
	return profile;
}

/* Writes a path as "main@1010 sort@2000", outermost frame first. "|" is the start of a thread. */
static void path_text(const struct profile *profile, uint32_t node, char *text, size_t bytes)
{
	char inner[258] = "";
	snprintf(text, bytes, "%s", "");
	for (; node != PROFILE_ROOT; node = profile->nodes[node].parent) {
		const struct profile_location *location = &profile->locations[profile->nodes[node].location];
		snprintf(inner, sizeof(inner), "%s%s", text[0] ? " " : "", text);
		if (thread_mark_is(profile, node))
			snprintf(text, bytes, "|%s", inner);
		else
			snprintf(text, bytes, "%s@%llx%s", name_of_address(location->address),
				 (unsigned long long)location->address, inner);
	}
}

static uint64_t hits_at(const struct profile *profile, const char *resource, const char *path)
{
	uint32_t id = profile_find_resource(profile, resource);
	uint64_t sum = 0;
	char text[256];
	assert_int_not_equal(id, PROFILE_NONE);
	for (size_t i = 0; i < profile->hit_count; i++) {
		path_text(profile, profile->hits[i].node, text, sizeof(text));
		if (profile->hits[i].resource == id && strcmp(text, path) == 0)
			sum += profile->hits[i].count;
	}
	return sum;
}

static uint64_t all_hits(const struct profile *profile, const char *resource, size_t *rows)
{
	uint32_t id = profile_find_resource(profile, resource);
	uint64_t sum = 0;
	*rows = 0;
	for (size_t i = 0; i < profile->hit_count; i++) {
		sum += profile->hits[i].resource == id ? profile->hits[i].count : 0;
		*rows += profile->hits[i].resource == id;
	}
	return sum;
}

static bool has_finding(const struct profile *profile, enum finding_code code, const char *part)
{
	const struct profile_finding *finding = finding_find(profile, code);
	return finding && strstr(profile_string(profile, finding->text), part);
}

/* --- tallies --- */

struct offsets {
	tally_offset process, thread, main, sort, compare;
};

/* main calls sort from two lines, and sort calls compare from one. */
static struct offsets make_world(struct tally_world *world, enum tally_measurement measurement)
{
	struct offsets at;
	tally_world_init(world, measurement);
	tally_world_add_request(world, 1000000);
	at.process = tally_world_add_process(world, 0);
	tally_world_add_module(world, at.process, "/bin/program", PROGRAM + MAIN - 0x1000, PROGRAM + SIZE, PROGRAM);
	at.thread = tally_world_add_thread(world, 0, 0);
	at.main = tally_world_call(world, at.thread, tally_world_root(at.thread), PROGRAM + 0x101, PROGRAM + MAIN, 1);
	at.sort = tally_world_call(world, at.thread, at.main, PROGRAM + MAIN + 0x15, PROGRAM + SORT, 2);
	const struct tally_edge other = { .call_site = PROGRAM + MAIN + 0x45, .function = PROGRAM + SORT, .count = 3 };
	tally_world_add_edge(world, at.thread, at.main, at.sort, &other);
	at.compare = tally_world_call(world, at.thread, at.sort, PROGRAM + SORT + 0x21, PROGRAM + COMPARE, 50);
	return at;
}

static void test_calls(void **state)
{
	struct tally_world world;
	(void)state;
	make_world(&world, TALLY_PATHS);
	struct profile *profile = read_world(&world, true);
	assert_int_equal(hits_at(profile, "calls", "start@100 main@1000"), 1);
	assert_int_equal(hits_at(profile, "calls", "start@100 main@1014 sort@2000"), 2);
	assert_int_equal(hits_at(profile, "calls", "start@100 main@1044 sort@2000"), 3);
	/* Calls of compare are not separated by the call site of sort, so that main's frame has no line of its
	 * own. */
	assert_int_equal(hits_at(profile, "calls", "start@100 main@1000 sort@2020 compare@3000"), 50);
	size_t rows;
	assert_int_equal(all_hits(profile, "calls", &rows), 56);
	const struct profile_resource *calls = &profile->resources[profile_find_resource(profile, "calls")];
	assert_int_equal(calls->kind, RESOURCE_EXACT);
	assert_int_equal(calls->total, 56);
	assert_string_equal(profile_string(profile, profile->processes[0].name), "program0");
	assert_string_equal(profile_string(profile, profile->threads[0].name), "thread0");
	assert_string_equal(profile_note(profile, TALLY_NOTE_MEASUREMENT), "paths");
	assert_string_equal(profile_note(profile, TALLY_NOTE_HOOK), "__cyg_profile_func_enter");
	profile_free(profile);
	tally_world_release(&world);
}

/* If both call sites of sort are on one line, a call below sort gets one of them: by line, they are equal. */
static void test_sites_of_one_line(void **state)
{
	struct tally_world world;
	(void)state;
	struct offsets at = make_world(&world, TALLY_PATHS);
	const struct tally_edge *other = (const struct tally_edge *)(world.bytes + at.sort + sizeof(struct tally_node) +
								     sizeof(struct tally_edge));
	assert_int_equal(other->count, 3);
	((struct tally_edge *)other)->call_site = PROGRAM + MAIN + 0x1d;
	struct profile *profile = read_world(&world, true);
	uint64_t first = hits_at(profile, "calls", "start@100 main@1014 sort@2020 compare@3000");
	uint64_t second = hits_at(profile, "calls", "start@100 main@101c sort@2020 compare@3000");
	assert_int_equal(first + second, 50);
	profile_free(profile);
	tally_world_release(&world);
}

/* A sample is in the function itself, or in code without hooks that the function has called. */
static void test_samples(void **state)
{
	struct tally_world world;
	(void)state;
	struct offsets at = make_world(&world, TALLY_PATHS);
	tally_world_add_tick(&world, at.thread, at.compare, PROGRAM + COMPARE + 0x55, 7, 7);
	tally_world_add_tick(&world, at.thread, at.compare, PROGRAM + MAIN + 0x10, 2, 1);
	tally_world_add_tick(&world, at.thread, at.compare, 0x510, 1, 1);
	tally_world_add_tick(&world, at.thread, tally_world_root(at.thread), PROGRAM + 0x200, 4, 4);
	struct tally_thread *thread = tally_world_thread(&world, at.thread);
	thread->totals[0] = 14500000;
	thread->lost[0] = 3;
	struct profile *profile = read_world(&world, true);
	assert_int_equal(hits_at(profile, "cpu", "start@100 main@1000 sort@2020 compare@3055"), 7);
	assert_int_equal(hits_at(profile, "cpu", "start@100 main@1000 sort@2020 compare@3000 main@1010"), 2);
	assert_int_equal(hits_at(profile, "cpu", "start@100 main@1000 sort@2020 compare@3000 start@0"), 1);
	assert_int_equal(hits_at(profile, "cpu", "start@200"), 4);
	size_t rows;
	assert_int_equal(all_hits(profile, "cpu", &rows), 14);
	assert_int_equal(rows, 13); /* one row for each sample */
	const struct profile_resource *cpu = &profile->resources[0];
	assert_int_equal(cpu->total, 14500000);
	assert_int_equal(cpu->lost, 3);
	assert_int_equal(profile->lost, 3);
	profile_free(profile);
	tally_world_release(&world);
}

/* Code without hooks, such as qsort, calls sort: its own frame is inserted, unless the names show that the call
 * site is a part of the caller. */
static void test_foreign(void **state)
{
	struct tally_world world;
	(void)state;
	struct offsets at = make_world(&world, TALLY_PATHS);
	const struct tally_edge foreign = { .call_site = PROGRAM + COMPARE + 0x101,
					    .function = PROGRAM + SORT,
					    .count = 5,
					    .flags = TALLY_EDGE_FOREIGN };
	tally_world_add_edge(&world, at.thread, at.main, at.sort, &foreign);
	const struct tally_edge cold = {
		.call_site = PROGRAM + MAIN + 0x51, .function = PROGRAM + SORT, .count = 6, .flags = TALLY_EDGE_FOREIGN
	};
	tally_world_add_edge(&world, at.thread, at.main, at.sort, &cold);
	struct profile *profile = read_world(&world, true);
	assert_int_equal(hits_at(profile, "calls", "start@100 main@1000 compare@3100 sort@2000"), 5);
	assert_int_equal(hits_at(profile, "calls", "start@100 main@1050 sort@2000"), 6);
	profile_free(profile);
	tally_world_release(&world);
}

/* Both the hook and the names of main's code report a function that is inlined into main: the path has only one
 * frame of it. */
static void test_inlined(void **state)
{
	struct tally_world world;
	(void)state;
	struct offsets at = make_world(&world, TALLY_PATHS);
	tally_offset helper = tally_world_call(&world, at.thread, at.main, PROGRAM + 0x101, PROGRAM + 0x1090, 9);
	struct tally_edge *edge = (struct tally_edge *)(world.bytes + helper + sizeof(struct tally_node));
	edge->flags = TALLY_EDGE_INLINED;
	tally_world_add_tick(&world, at.thread, helper, PROGRAM + 0x1085, 5, 5);
	tally_world_add_tick(&world, at.thread, helper, PROGRAM + 0x1005, 1, 1);
	tally_world_call(&world, at.thread, helper, PROGRAM + 0x1099, PROGRAM + COMPARE, 8);
	struct profile *profile = profile_new();
	struct error error;
	struct tally *tally = open_world(&world);
	assert_int_equal(tally_locations(tally, profile, &error), 0);
	name_all(profile);
	/* At its own code, the helper is not inlined. */
	for (size_t i = 0; i < profile->location_count; i++)
		if (profile->locations[i].address == 0x1090) {
			profile->locations[i].frame_count = 1;
			profile->frames[profile->locations[i].first_frame].inlined = false;
		}
	assert_int_equal(tally_hits(tally, profile, &error), 0);
	tally_free(tally);
	assert_int_equal(hits_at(profile, "calls", "start@100 main@1000 main@1090"), 9);
	assert_int_equal(hits_at(profile, "cpu", "start@100 main@1085"), 5); /* main helper */
	assert_int_equal(hits_at(profile, "cpu", "start@100 main@1000 main@1090"), 1);
	assert_int_equal(hits_at(profile, "calls", "start@100 main@1098 compare@3000"), 8); /* main helper compare */
	profile_free(profile);
	tally_world_release(&world);
}

static void test_arcs(void **state)
{
	struct tally_world world;
	(void)state;
	tally_world_init(&world, TALLY_ARCS);
	tally_offset process = tally_world_add_process(&world, 0);
	tally_world_add_module(&world, process, "/bin/program", PROGRAM, PROGRAM + SIZE, PROGRAM);
	tally_world_process(&world, process)->hooks = TALLY_HOOK_MCOUNT;
	tally_offset thread = tally_world_add_thread(&world, 0, 0);
	const struct tally_edge arc = { .call_site = PROGRAM + MAIN + 0x15,
					.function = PROGRAM + SORT + 9,
					.count = UINT64_C(0x300000001) };
	tally_world_add_edge(&world, thread, tally_world_root(thread), 0, &arc);
	struct profile *profile = read_world(&world, true);
	/* mcount's caller is named by the call instruction, one byte before the return address. */
	assert_int_equal(hits_at(profile, "calls", "main@1014 sort@2008"), UINT64_C(0x300000001));
	profile_free(profile);
	tally_world_release(&world);
}

static void test_times(void **state)
{
	struct tally_world world;
	(void)state;
	struct offsets at = make_world(&world, TALLY_PATHS_TIMED);
	tally_world_node(&world, at.sort)->exclusive_ticks = 600;
	tally_world_node(&world, at.compare)->exclusive_ticks = 200;
	struct profile *profile = read_world(&world, true);
	assert_int_equal(hits_at(profile, "real", "start@100 main@1000 sort@2000"), 300); /* 2 ticks are 1 ns */
	assert_int_equal(hits_at(profile, "real", "start@100 main@1000 sort@2020 compare@3000"), 100);
	profile_free(profile);
	tally_world_process(&world, at.process)->hooks = TALLY_HOOK_MCOUNT;
	tally_world_node(&world, at.sort)->exclusive_ticks = 0;
	tally_world_node(&world, at.compare)->exclusive_ticks = 0;
	profile = read_world(&world, true);
	assert_int_equal(profile_find_resource(profile, "real"), PROFILE_NONE);
	assert_true(has_finding(profile, FINDING_CALLS_UNTIMED, "-finstrument-functions"));
	profile_free(profile);
	tally_world_release(&world);
}

/* A thread's paths continue the path that created it, in whatever order the file has the threads. */
static void test_threads(void **state)
{
	struct tally_world world;
	(void)state;
	struct offsets at = make_world(&world, TALLY_PATHS);
	tally_offset second = tally_world_add_thread(&world, 0, 2), third = tally_world_add_thread(&world, 0, 1);
	tally_offset worker =
		tally_world_call(&world, second, tally_world_root(second), PROGRAM + 0x151, PROGRAM + COMPARE, 4);
	tally_world_call(&world, third, tally_world_root(third), PROGRAM + 0x151, PROGRAM + SORT, 5);
	tally_world_thread(&world, second)->creator_process = 0;
	tally_world_thread(&world, second)->creator = (void *)(uintptr_t)tally_world_address(at.sort);
	tally_world_thread(&world, third)->creator_process = 0;
	tally_world_thread(&world, third)->creator = (void *)(uintptr_t)tally_world_address(worker);
	struct profile *profile = read_world(&world, true);
	assert_int_equal(hits_at(profile, "calls", "start@100 main@1000 sort@2000 | start@150 compare@3000"), 4);
	assert_int_equal(hits_at(profile, "calls",
				 "start@100 main@1000 sort@2000 | start@150 compare@3000 | start@150 sort@2000"),
			 5);
	assert_int_equal(profile->thread_count, 3);
	profile_free(profile);
	/* A thread whose creator is one of its own paths has no creator. */
	tally_world_thread(&world, second)->creator = (void *)(uintptr_t)tally_world_address(worker);
	profile = read_world(&world, true);
	assert_int_equal(hits_at(profile, "calls", "start@150 compare@3000"), 4);
	profile_free(profile);
	tally_world_release(&world);
}

/* Thread numbers and addresses are valid only in their process. */
static void test_processes(void **state)
{
	struct tally_world world;
	(void)state;
	make_world(&world, TALLY_PATHS);
	tally_offset process = tally_world_add_process(&world, 1);
	tally_world_process(&world, process)->parent = 0;
	tally_world_process(&world, process)->end_ns = 0;
	tally_world_add_module(&world, process, "/bin/program", 2 * PROGRAM, 2 * PROGRAM + SIZE, 2 * PROGRAM);
	tally_offset thread = tally_world_add_thread(&world, 1, 0);
	tally_world_call(&world, thread, tally_world_root(thread), 2 * PROGRAM + 0x101, 2 * PROGRAM + COMPARE, 70);
	struct profile *profile = read_world(&world, true);
	assert_int_equal(hits_at(profile, "calls", "start@100 compare@3000"), 70);
	assert_int_equal(profile->process_count, 2);
	assert_int_equal(profile->processes[1].parent_pid, 100);
	assert_int_equal(profile->module_count, 1); /* the same program */
	assert_true(has_finding(profile, FINDING_PROCESSES_UNENDED, "1 process was killed, or still runs"));
	profile_free(profile);
	tally_world_release(&world);
}

static void test_deep(void **state)
{
	enum { DEPTH = 20000, CHUNK = 64 * TALLY_GRANULE };
	struct tally_world world;
	(void)state;
	struct offsets at = make_world(&world, TALLY_PATHS);
	tally_offset chunk = tally_world_add_chunk(&world, TALLY_OBJECTS, 0, 0, CHUNK), node = at.compare;
	for (int i = 0; i < DEPTH; i++)
		node = tally_world_call(&world, chunk, node, PROGRAM + COMPARE + 0x31, PROGRAM + COMPARE, 1);
	const struct tally_edge folded = { .call_site = PROGRAM + COMPARE + 0x31,
					   .function = PROGRAM + COMPARE,
					   .count = 11,
					   .flags = TALLY_EDGE_FOLDED };
	tally_world_add_edge(&world, chunk, node, at.compare, &folded);
	struct profile *profile = read_world(&world, true);
	size_t rows;
	assert_int_equal(all_hits(profile, "calls", &rows), 56 + DEPTH + 11);
	assert_true(profile->node_count > DEPTH);
	assert_true(has_finding(profile, FINDING_PATHS_FOLDED, "11 calls"));
	profile_free(profile);
	tally_world_release(&world);
}

/* Without names, only the flags of the edges show which code is inlined. */
static void test_without_names(void **state)
{
	struct tally_world world;
	(void)state;
	struct offsets at = make_world(&world, TALLY_PATHS);
	tally_world_add_tick(&world, at.thread, at.compare, PROGRAM + COMPARE + 0x55, 7, 7);
	struct profile *profile = read_world(&world, false);
	assert_int_equal(hits_at(profile, "cpu", "start@100 main@1000 sort@2020 compare@3055"), 7);
	profile_free(profile);
	tally_world_release(&world);
}

static void test_losses(void **state)
{
	struct tally_world world;
	(void)state;
	struct offsets at = make_world(&world, TALLY_PATHS);
	struct tally_process *process = tally_world_process(&world, at.process);
	process->threads_refused = 2;
	process->threads_stopped = 3;
	process->calls_uncounted = 4;
	tally_world_header(&world)->used += 4 * (size_t)TALLY_GRANULE;
	struct profile *profile = read_world(&world, true);
	assert_true(has_finding(profile, FINDING_THREADS_NOT_RECORDED, "2 threads were not counted"));
	assert_true(has_finding(profile, FINDING_THREADS_CUT_SHORT, "3 threads were counted only until"));
	assert_true(has_finding(profile, FINDING_CALLS_UNCOUNTED, "4 calls"));
	assert_true(has_finding(profile, FINDING_TALLY_CUT, "the file is truncated"));
	profile_free(profile);
	process->threads_stopped = 1;
	profile = read_world(&world, true);
	assert_true(has_finding(profile, FINDING_THREADS_CUT_SHORT, "1 thread was counted only until"));
	profile_free(profile);
	tally_world_release(&world);
}

/* --- damaged files --- */

static void test_foreign_files(void **state)
{
	struct tally_world world;
	(void)state;
	make_world(&world, TALLY_PATHS);
	struct tally_header *header = tally_world_header(&world);
	assert_true(tally_is(world.bytes, 8));
	assert_false(tally_is(world.bytes, 7));
	header->version = TALLY_VERSION + 1;
	assert_int_equal(code_of_opening(&world), ERROR_VERSION);
	header->version = TALLY_VERSION;
	header->measurement = TALLY_MEASUREMENTS;
	assert_int_equal(code_of_opening(&world), ERROR_CORRUPT);
	header->measurement = TALLY_PATHS;
	header->request_count = TALLY_REQUESTS + 1;
	assert_int_equal(code_of_opening(&world), ERROR_CORRUPT);
	header->request_count = 2; /* the second one is empty */
	assert_int_equal(code_of_opening(&world), ERROR_CORRUPT);
	header->request_count = 1;
	header->magic[0] = 'x';
	assert_int_equal(code_of_opening(&world), ERROR_FORMAT);
	tally_world_release(&world);
}

/* A file cut at any byte is either read or refused. It is refused if the cut is inside the used part of a chunk. */
static void test_cut(void **state)
{
	struct tally_world world;
	(void)state;
	struct offsets at = make_world(&world, TALLY_PATHS);
	size_t whole = world.size, used = tally_world_thread(&world, at.thread)->chunk.used;
	for (size_t size = 0; size < whole; size += 333) {
		world.size = size;
		int code = code_of_opening(&world);
		if (size < TALLY_HEADER_BYTES)
			assert_int_equal(code, size < sizeof(TALLY_MAGIC) ? ERROR_FORMAT : ERROR_TRUNCATED);
		else if (size >= at.thread + sizeof(struct tally_chunk) && size < at.thread + used)
			assert_int_equal(code, ERROR_TRUNCATED);
	}
	world.size = at.thread + used; /* only unused bytes are missing */
	assert_int_equal(code_of_opening(&world), 0);
	world.size = at.thread; /* the thread's chunk is missing, which a finding reports */
	struct profile *profile = read_world(&world, true);
	assert_true(has_finding(profile, FINDING_TALLY_CUT, "the file is truncated"));
	profile_free(profile);
	world.size = whole;
	tally_world_release(&world);
}

static void expect_damage(void (*damage)(struct tally_world *world, const struct offsets *at), int code)
{
	struct tally_world world;
	struct offsets at = make_world(&world, TALLY_PATHS);
	tally_world_add_tick(&world, at.thread, at.compare, PROGRAM + COMPARE, 1, 1);
	assert_int_equal(code_of_opening(&world), 0);
	damage(&world, &at);
	assert_int_equal(code_of_opening(&world), code);
	tally_world_release(&world);
}

static void endless_calls(struct tally_world *world, const struct offsets *at)
{
	struct tally_edge *edge = (struct tally_edge *)(world->bytes + at->compare + sizeof(struct tally_node));
	edge->next = (struct tally_edge *)(uintptr_t)tally_world_address(at->compare + sizeof(struct tally_node));
}

static void endless_samples(struct tally_world *world, const struct offsets *at)
{
	uint64_t address = (uint64_t)(uintptr_t)tally_world_node(world, at->compare)->ticks;
	size_t offset = (size_t)(address - tally_world_address(at->compare)) + at->compare;
	tally_world_tick(world, offset)->next = (struct tally_tick *)(uintptr_t)address;
}

static void wild_edges(struct tally_world *world, const struct offsets *at)
{
	tally_world_node(world, at->main)->edges = (struct tally_edge *)0x1234560;
}

static void odd_edges(struct tally_world *world, const struct offsets *at)
{
	tally_world_node(world, at->main)->edges = (struct tally_edge *)(uintptr_t)(tally_world_address(at->main) + 4);
}

static void edges_behind_the_end(struct tally_world *world, const struct offsets *at)
{
	tally_world_node(world, at->main)->edges =
		(struct tally_edge *)(uintptr_t)(tally_world_address(at->thread) + TALLY_GRANULE - 40);
}

static void edges_in_the_process(struct tally_world *world, const struct offsets *at)
{
	tally_world_node(world, at->main)->edges =
		(struct tally_edge *)(uintptr_t)(tally_world_address(at->process) + 64);
}

static void unknown_request(struct tally_world *world, const struct offsets *at)
{
	uint64_t address = (uint64_t)(uintptr_t)tally_world_node(world, at->compare)->ticks;
	tally_world_tick(world, (size_t)(address - tally_world_address(at->compare)) + at->compare)->request = 1;
}

static void unknown_child(struct tally_world *world, const struct offsets *at)
{
	tally_world_node(world, at->compare)->parent = (struct tally_node *)0x10;
}

static void overlapping_chunks(struct tally_world *world, const struct offsets *at)
{
	tally_world_thread(world, at->thread)->chunk.address = tally_world_address(at->process) + 64;
}

static void unknown_process(struct tally_world *world, const struct offsets *at)
{
	tally_world_thread(world, at->thread)->chunk.process = 5;
}

static void thread_twice(struct tally_world *world, const struct offsets *at)
{
	(void)at;
	tally_world_add_thread(world, 0, 0);
}

static void process_twice(struct tally_world *world, const struct offsets *at)
{
	(void)at;
	tally_world_add_process(world, 0);
}

static void endless_chunk(struct tally_world *world, const struct offsets *at)
{
	tally_world_thread(world, at->thread)->chunk.bytes = UINT64_MAX - TALLY_GRANULE + 1;
}

static void empty_chunk(struct tally_world *world, const struct offsets *at)
{
	tally_world_thread(world, at->thread)->chunk.bytes = 0;
}

static void long_modules(struct tally_world *world, const struct offsets *at)
{
	tally_world_process(world, at->process)->modules_bytes = TALLY_GRANULE;
}

static void endless_path(struct tally_world *world, const struct offsets *at)
{
	struct tally_module *module = tally_world_process(world, at->process)->modules;
	memset(module->path, 'x', module->bytes - sizeof(*module));
}

static void backward_module(struct tally_world *world, const struct offsets *at)
{
	tally_world_process(world, at->process)->modules->end = 0;
}

static void test_damage(void **state)
{
	(void)state;
	expect_damage(endless_calls, ERROR_CORRUPT);
	expect_damage(endless_samples, ERROR_CORRUPT);
	expect_damage(wild_edges, ERROR_CORRUPT);
	expect_damage(odd_edges, ERROR_CORRUPT);
	expect_damage(edges_behind_the_end, ERROR_CORRUPT);
	expect_damage(edges_in_the_process, ERROR_CORRUPT);
	expect_damage(unknown_request, ERROR_CORRUPT);
	expect_damage(unknown_child, ERROR_CORRUPT);
	expect_damage(overlapping_chunks, ERROR_CORRUPT);
	expect_damage(unknown_process, ERROR_CORRUPT);
	expect_damage(thread_twice, ERROR_CORRUPT);
	expect_damage(process_twice, ERROR_CORRUPT);
	expect_damage(endless_chunk, ERROR_CORRUPT);
	expect_damage(empty_chunk, ERROR_CORRUPT);
	expect_damage(long_modules, ERROR_CORRUPT);
	expect_damage(endless_path, ERROR_CORRUPT);
	expect_damage(backward_module, ERROR_CORRUPT);
}

/* Counts larger than any real one are refused, since each row of a profile holds only 32 bits of them. */
static void test_counts_without_end(void **state)
{
	struct tally_world world;
	struct error error = { 0 };
	(void)state;
	struct offsets at = make_world(&world, TALLY_PATHS);
	tally_world_call(&world, at.thread, at.main, PROGRAM + MAIN + 0x61, PROGRAM + COMPARE, UINT64_MAX);
	struct tally *tally = open_world(&world);
	struct profile *profile = profile_new();
	assert_int_equal(tally_locations(tally, profile, &error), 0);
	assert_int_equal(tally_hits(tally, profile, &error), ERROR_CORRUPT);
	tally_free(tally);
	profile_free(profile);
	tally_world_release(&world);
}

/* A chunk that the runtime allocated and did not complete is skipped. */
static void test_unfinished(void **state)
{
	struct tally_world world;
	(void)state;
	make_world(&world, TALLY_PATHS);
	tally_offset hole = tally_world_add_chunk(&world, TALLY_NOTHING, 0, 0, 3 * (uint64_t)TALLY_GRANULE);
	tally_offset thread = tally_world_add_thread(&world, 0, 1);
	tally_world_call(&world, thread, tally_world_root(thread), PROGRAM + 0x151, PROGRAM + COMPARE, 4);
	assert_true(hole > 0);
	struct profile *profile = read_world(&world, true);
	assert_int_equal(hits_at(profile, "calls", "start@150 compare@3000"), 4);
	profile_free(profile);
	tally_world_release(&world);
}

static void test_file(void **state)
{
	char path[] = "/tmp/cpprof-tally-XXXXXX";
	struct tally_world world;
	struct error error = { 0 };
	(void)state;
	make_world(&world, TALLY_PATHS);
	int fd = mkstemp(path);
	assert_true(fd >= 0);
	assert_null(tally_open(path, &error)); /* an empty file */
	assert_int_equal(error.code, ERROR_FORMAT);
	assert_int_equal(write(fd, world.bytes, world.size), world.size);
	close(fd);
	struct tally *tally = tally_open(path, &error);
	assert_non_null(tally);
	unlink(path);
	assert_int_equal(tally->thread_count, 1);
	tally_free(tally);
	assert_null(tally_open(path, &error));
	assert_int_equal(error.code, ERROR_NOT_FOUND);
	tally_world_release(&world);
}

/* Writes a tally to a file, whose path it sets, and opens it. */
static struct tally *open_file(const struct tally_world *world, char path[], int *fd)
{
	struct error error = { 0 };
	*fd = mkstemp(path);
	assert_true(*fd >= 0);
	assert_int_equal(write(*fd, world->bytes, world->size), world->size);
	struct tally *tally = tally_open(path, &error);
	unlink(path);
	assert_non_null(tally);
	return tally;
}

/* The program that counts truncates the tally while it is read: the reader has what it read. */
static void test_truncated_meanwhile(void **state)
{
	char path[] = "/tmp/cpprof-tally-XXXXXX";
	struct tally_world world;
	struct error error = { 0 };
	int fd;
	(void)state;
	make_world(&world, TALLY_PATHS);
	struct tally *tally = open_file(&world, path, &fd);
	assert_int_equal(ftruncate(fd, 0), 0);
	struct profile *profile = profile_new();
	assert_int_equal(tally_locations(tally, profile, &error), 0);
	name_all(profile);
	assert_int_equal(tally_hits(tally, profile, &error), 0);
	assert_int_equal(hits_at(profile, "calls", "start@100 main@1000 sort@2020 compare@3000"), 50);
	profile_free(profile);
	tally_free(tally);
	tally_world_release(&world);
	close(fd);
}

/* The events of a trace are read when they are needed. */
static void test_truncated_trace(void **state)
{
	char path[] = "/tmp/cpprof-tally-XXXXXX";
	struct tally_world world;
	struct tally_events events;
	struct tally_event event;
	int fd;
	(void)state;
	tally_world_init(&world, TALLY_TRACE);
	tally_world_add_process(&world, 0);
	tally_world_add_thread(&world, 0, 0);
	for (uint64_t i = 0; i < 2; i++) {
		tally_offset at = tally_world_add_chunk(&world, TALLY_EVENTS, 0, 0, TALLY_GRANULE);
		struct tally_trace *trace = (struct tally_trace *)(void *)(world.bytes + at);
		trace->words[0] = (i + 1) << TALLY_EVENT_TIME_SHIFT | TALLY_EVENT_LEAVE;
		trace->chunk.used = sizeof(*trace) + sizeof(trace->words[0]);
		trace->first = i;
	}
	struct tally *tally = open_file(&world, path, &fd);
	assert_int_equal(tally_events_begin(&events, tally, &tally->threads[0]), 0);
	assert_int_equal(tally_events_next(&events, &event), 1);
	assert_int_equal(event.ticks, 1);
	assert_int_equal(ftruncate(fd, (off_t)(world.size - TALLY_GRANULE)), 0);
	assert_int_equal(tally_events_next(&events, &event), ERROR_TRUNCATED);
	tally_events_end(&events);
	tally_free(tally);
	tally_world_release(&world);
	close(fd);
}

/* A hole costs no memory: a chunk of 64 GB, of which a few bytes are there. */
static void test_sparse_file(void **state)
{
	char path[] = "/tmp/cpprof-tally-XXXXXX";
	struct tally_world world;
	int fd;
	(void)state;
	const uint64_t huge = UINT64_C(64) << 30;
	struct offsets at = make_world(&world, TALLY_PATHS);
	(void)at;
	tally_offset last = tally_world_add_chunk(&world, TALLY_OBJECTS, 0, 0, TALLY_GRANULE);
	struct tally_chunk *chunk = (struct tally_chunk *)(void *)(world.bytes + last);
	chunk->bytes = huge;
	tally_world_header(&world)->used = last + huge;
	fd = mkstemp(path);
	assert_true(fd >= 0);
	assert_int_equal(write(fd, world.bytes, world.size), world.size);
	if (ftruncate(fd, (off_t)(last + huge)) < 0)
		skip(); /* the file system has no files of this size */
	struct error error = { 0 };
	struct tally *tally = tally_open(path, &error);
	unlink(path);
	assert_non_null(tally);
	struct rusage usage;
	assert_int_equal(getrusage(RUSAGE_SELF, &usage), 0);
	assert_in_range(usage.ru_maxrss, 0, 1 << 20);
	tally_free(tally);
	tally_world_release(&world);
	close(fd);
}

static void read_somehow(const struct tally_world *world)
{
	struct error error = { 0 };
	struct tally *tally = tally_open_bytes(world->bytes, world->size, "world", &error);
	struct profile *profile = profile_new();
	if (tally && profile && tally_locations(tally, profile, &error) == 0)
		tally_hits(tally, profile, &error);
	tally_free(tally);
	profile_free(profile);
}

static void test_memory(void **state)
{
	struct tally_world world;
	(void)state;
	struct offsets at = make_world(&world, TALLY_PATHS);
	tally_offset second = tally_world_add_thread(&world, 0, 1);
	tally_world_call(&world, second, tally_world_root(second), PROGRAM + 0x151, PROGRAM + COMPARE, 4);
	tally_world_thread(&world, second)->creator_process = 0;
	tally_world_thread(&world, second)->creator = (void *)(uintptr_t)tally_world_address(at.sort);
	tally_world_add_tick(&world, at.thread, at.compare, PROGRAM + COMPARE, 1, 1);
	ALLOC_FAIL_EACH(read_somehow(&world));
	tally_world_release(&world);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_calls),
		cmocka_unit_test(test_sites_of_one_line),
		cmocka_unit_test(test_samples),
		cmocka_unit_test(test_foreign),
		cmocka_unit_test(test_inlined),
		cmocka_unit_test(test_arcs),
		cmocka_unit_test(test_times),
		cmocka_unit_test(test_threads),
		cmocka_unit_test(test_processes),
		cmocka_unit_test(test_deep),
		cmocka_unit_test(test_without_names),
		cmocka_unit_test(test_losses),
		cmocka_unit_test(test_foreign_files),
		cmocka_unit_test(test_cut),
		cmocka_unit_test(test_damage),
		cmocka_unit_test(test_counts_without_end),
		cmocka_unit_test(test_unfinished),
		cmocka_unit_test(test_file),
		cmocka_unit_test(test_truncated_meanwhile),
		cmocka_unit_test(test_truncated_trace),
		cmocka_unit_test(test_sparse_file),
		cmocka_unit_test(test_memory),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
