/*
 * Makes the profiles that the golden tests read, which have more than a folded file can hold: several resources,
 * threads, times, lines, inlined functions, losses.
 *
 *   make_profile KIND FILE      whole | killed | lossy | empty | labels | programs |
 *                               program | server | machine
 *
 * The first five are the same run of a small program with known figures. They differ in the course of the
 * recording, and in the labels. `programs` is a run of three programs that have functions with the same names.
 * `program` is a run of only one of them, with fewer resources. `server`: see server_profile.h. `machine` has the same
 * processes and others, as 'cpprof record -a' finds them: of a container, of a pod, of the kernel, one without hits; and hits
 * of no process.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "profile/findings.h"
#include "profile/profile.h"
#include "profile_file/writer.h"
#include "server_profile.h"

static const uint64_t START_NS = UINT64_C(5000000000), MS = 1000000;

static uint32_t checked(int64_t id)
{
	if (id < 0) {
		fprintf(stderr, "make_profile: %s\n", error_text((int)id));
		exit(1);
	}
	return (uint32_t)id;
}

static uint32_t text(struct profile *profile, const char *string)
{
	return checked(profile_add_string(profile, string));
}

static void add_resource(struct profile *profile, const char *const words[5], enum resource_kind kind,
			 uint64_t interval, uint64_t total)
{
	struct profile_resource resource = {
		.name = text(profile, words[0]),
		.title = text(profile, words[1]),
		.unit = text(profile, words[2]),
		.backend = text(profile, words[3]),
		.note = text(profile, words[4]),
		.kind = kind,
		.interval = interval,
		.total = total,
	};
	checked(profile_add_resource(profile, &resource));
}

static void add_two_resources(struct profile *profile)
{
	add_resource(profile, (const char *const[]){ "cpu", "CPU Time", "ns", "perf", "" }, RESOURCE_SAMPLED, MS,
		     412 * MS);
	add_resource(profile, (const char *const[]){ "page-faults", "Page Faults", "fault", "perf", "user mode only" },
		     RESOURCE_SAMPLED, 10, 0);
}

static void add_resources(struct profile *profile)
{
	add_two_resources(profile);
	add_resource(profile, (const char *const[]){ "calls", "Calls", "call", "hooks", "" }, RESOURCE_EXACT, 1, 0);
	add_resource(profile, (const char *const[]){ "migrations", "Migrations", "migration", "perf", "" },
		     RESOURCE_SAMPLED, 1, 0);
}

static void add_processes(struct profile *profile)
{
	struct profile_process first = { .pid = 100, .parent_pid = 1, .name = text(profile, "demo") };
	struct profile_process second = { .pid = 200,
					  .parent_pid = 100,
					  .name = text(profile, "helper"),
					  .start_ns = START_NS + 100 * MS,
					  .end_ns = START_NS + 300 * MS };
	checked(profile_add_process(profile, &first));
	checked(profile_add_process(profile, &second));
	static const struct {
		uint32_t tid, process;
		const char *name;
	} threads[] = { { 100, 0, "demo" }, { 101, 0, "worker" }, { 102, 0, "worker" }, { 200, 1, "helper" } };
	for (size_t i = 0; i < sizeof(threads) / sizeof(threads[0]); i++) {
		struct profile_thread thread = { .tid = threads[i].tid,
						 .process = threads[i].process,
						 .name = text(profile, threads[i].name) };
		checked(profile_add_thread(profile, &thread));
	}
}

/* Each row becomes a location: a function at a line, with another one inlined into it there unless `inlined` is
 * NULL. */
static const struct place {
	const char *function, *inlined;
	uint32_t line, inlined_line;
	enum function_role role;
} places[] = {
	{ "_start", NULL, 0, 0, ROLE_START },
	{ "main", NULL, 22, 0, ROLE_MAIN },
	{ "main", NULL, 23, 0, ROLE_MAIN },
	{ "ns::sort(int*, int*)", NULL, 12, 0, ROLE_NONE },
	{ "ns::sort(int*, int*)", "compare", 13, 4, ROLE_NONE },
	{ "qsort", NULL, 0, 0, ROLE_NONE },
	{ "print", NULL, 17, 0, ROLE_NONE },
	{ "work", NULL, 30, 0, ROLE_NONE },
};
enum { START, MAIN_SORTS, MAIN_PRINTS, SORT, SORT_COMPARES, QSORT, PRINT, WORK, PLACES };

static uint32_t find_or_add_function(struct profile *profile, const char *name, enum function_role role, uint32_t file)
{
	uint32_t name_id = text(profile, name);
	for (uint32_t i = 0; i < profile->function_count; i++)
		if (profile->functions[i].name == name_id)
			return i;
	struct profile_function function = {
		.name = name_id, .linkage = name_id, .module = 0, .file = file, .role = role
	};
	return checked(profile_add_function(profile, &function));
}

static void name_locations(struct profile *profile)
{
	uint32_t file = text(profile, "/nowhere/demo/inputs/demo.cpp");
	for (uint32_t i = 0; i < PLACES; i++) {
		const struct place *place = &places[i];
		struct profile_location *location = &profile->locations[i];
		struct profile_frame outer = {
			.function = find_or_add_function(profile, place->function, place->role, place->line ? file : 0),
			.file = place->line ? file : 0,
			.line = place->line,
		};
		location->frame_count = place->inlined ? 2 : 1;
		location->first_frame = (uint32_t)profile->frame_count;
		if (place->inlined) {
			struct profile_frame inner = {
				.function = find_or_add_function(profile, place->inlined, ROLE_NONE, file),
				.file = file,
				.line = place->inlined_line,
				.inlined = true,
			};
			checked(profile_add_frame(profile, &inner));
		}
		checked(profile_add_frame(profile, &outer));
	}
	profile->symbolized = true;
}

static void add_places(struct profile *profile)
{
	struct profile_module program = { .path = text(profile, "/nowhere/demo/demo"),
					  .build_id_bytes = 4,
					  .build_id = { 0xde, 0xad, 0xbe, 0x0f } };
	struct profile_module vdso = { .path = text(profile, "[vdso]"), .kind = MODULE_VDSO };
	checked(profile_add_module(profile, &program));
	checked(profile_add_module(profile, &vdso));
	for (uint32_t i = 0; i < PLACES; i++)
		checked(profile_add_location(profile, 0, 0x1000 + 16 * i));
}

static uint32_t node(struct profile *profile, const uint32_t *path, size_t length)
{
	uint32_t at = PROFILE_ROOT;
	for (size_t i = 0; i < length; i++)
		at = checked(profile_add_node(profile, at, path[i]));
	return at;
}

static const struct {
	uint32_t path[5];
	size_t length;
	uint32_t thread, resource, rows, count;
} takings[] = {
	{ { START, MAIN_SORTS, SORT, QSORT }, 4, 0, 0, 200, 1 },
	{ { START, MAIN_SORTS, SORT_COMPARES }, 3, 0, 0, 100, 1 },
	{ { START, MAIN_PRINTS, PRINT }, 3, 0, 0, 60, 1 },
	{ { START, MAIN_PRINTS, PRINT, QSORT }, 4, 0, 0, 1, 1 },
	{ { WORK }, 1, 1, 0, 30, 1 },
	{ { WORK, QSORT }, 2, 2, 0, 11, 1 },
	{ { START, MAIN_PRINTS }, 2, 3, 0, 10, 1 },
	{ { START, MAIN_SORTS, SORT, QSORT }, 4, 0, 1, 20, 3 },
	{ { START, MAIN_PRINTS, PRINT }, 3, 0, 1, 10, 1 },
	{ { START, MAIN_SORTS, SORT }, 3, 0, 2, 1, 12 },
	{ { START, MAIN_SORTS, SORT, QSORT }, 4, 0, 2, 1, 120000 },
};

static void add_hits(struct profile *profile)
{
	uint64_t time_ns = START_NS;
	for (size_t i = 0; i < sizeof(takings) / sizeof(takings[0]); i++)
		for (uint32_t row = 0; row < takings[i].rows; row++)
			checked(profile_add_hit(profile, time_ns += MS, takings[i].thread,
						node(profile, takings[i].path, takings[i].length), takings[i].resource,
						takings[i].count));
}

/* For `programs`: three modules that have functions with the same names. */
static const char *const programs[] = { "/bin/sh", "/bin/pack", "/bin/sort" };
static const char *const program_functions[] = { "main", "parse", "finish;all" };
enum { SH, PACK_PROGRAM, SORT_PROGRAM, MAIN = 0, PARSE, FINISH, PROGRAM_FUNCTIONS };

static const struct {
	uint32_t program, functions[2], length, resource, rows;
} program_takings[] = {
	{ PACK_PROGRAM, { MAIN }, 1, 0, 20 },         { PACK_PROGRAM, { MAIN, PARSE }, 2, 0, 60 },
	{ PACK_PROGRAM, { MAIN, PARSE }, 2, 1, 8 },   { SORT_PROGRAM, { MAIN, PARSE }, 2, 0, 100 },
	{ SORT_PROGRAM, { MAIN, FINISH }, 2, 0, 20 },
};

static void add_program(struct profile *profile, uint32_t program)
{
	struct profile_module module = { .path = text(profile, programs[program]) };
	uint32_t module_id = checked(profile_add_module(profile, &module));
	struct profile_process process = { .pid = 100 + program,
					   .name = text(profile, strrchr(programs[program], '/') + 1) };
	uint32_t process_id = checked(profile_add_process(profile, &process));
	struct profile_thread thread = { .tid = 100 + program, .process = process_id, .name = process.name };
	uint32_t thread_id = checked(profile_add_thread(profile, &thread)), locations[PROGRAM_FUNCTIONS];
	for (uint32_t i = 0; i < PROGRAM_FUNCTIONS; i++) {
		locations[i] = checked(profile_add_location(profile, module_id, 0x1000 + 16 * i));
		uint32_t name = text(profile, program_functions[i]);
		struct profile_function function = {
			.name = name, .linkage = name, .module = module_id, .role = i == MAIN ? ROLE_MAIN : ROLE_NONE
		};
		struct profile_frame frame = { .function = checked(profile_add_function(profile, &function)) };
		profile->locations[locations[i]].first_frame = checked(profile_add_frame(profile, &frame));
		profile->locations[locations[i]].frame_count = 1;
	}
	for (size_t i = 0; i < sizeof(program_takings) / sizeof(program_takings[0]); i++) {
		if (program_takings[i].program != program)
			continue;
		uint32_t at = PROFILE_ROOT;
		for (uint32_t k = 0; k < program_takings[i].length; k++)
			at = checked(profile_add_node(profile, at, locations[program_takings[i].functions[k]]));
		for (uint32_t row = 0; row < program_takings[i].rows; row++)
			checked(profile_add_hit(profile, START_NS + row * MS, thread_id, at,
						program_takings[i].resource, 1));
	}
}

static void add_programs(struct profile *profile, bool alone)
{
	if (alone)
		add_two_resources(profile);
	else
		add_resources(profile);
	for (uint32_t i = alone ? PACK_PROGRAM : SH; i <= (alone ? PACK_PROGRAM : SORT_PROGRAM); i++)
		add_program(profile, i);
	profile->symbolized = true;
}

static void describe(struct profile *profile, const char *command)
{
	const char *const notes[][2] = {
		{ "command", command },      { "host", "example" }, { "kernel", "6.1" },
		{ "directory", "/nowhere" }, { "cpprof", "0.1.0" },
	};
	for (size_t i = 0; i < sizeof(notes) / sizeof(notes[0]); i++)
		checked(profile_add_note(profile, notes[i][0], notes[i][1]));
	profile->start_ns = START_NS;
	profile->end_ns = START_NS + 450 * MS;
	profile->start_unix_ns = INT64_C(1700000000000000000);
	checked(profile_count_cause(profile, "reached the root",
				    &(struct profile_cause){ .whole = true, .count = 380 }));
	checked(profile_count_cause(profile, "reached the root, partly without unwind rules",
				    &(struct profile_cause){ .whole = true, .guessed = true, .count = 20 }));
	checked(profile_count_cause(profile, "reached the root, completed from the target's memory",
				    &(struct profile_cause){ .whole = true, .completed = true, .count = 42 }));
}

static void add_demo(struct profile *profile, bool killed, bool empty)
{
	add_resources(profile);
	add_processes(profile);
	add_places(profile);
	if (!killed)
		name_locations(profile);
	if (!empty)
		add_hits(profile);
}

static void lose(struct profile *profile)
{
	profile->lost = profile->resources[0].lost = 17;
	checked(profile_count_cause(profile, "the copied stack is too short", &(struct profile_cause){ .count = 58 }));
	finding_add(profile, FINDING_UNWIND_ROWS, 12, "# unwind rows of 8 bytes and 16 bytes of index in the target");
	finding_add(profile, FINDING_FILE_UNREADABLE, 3, "'%s' has changed since it was recorded",
		    "/nowhere/lib\x1b[31m.so");
}

#define TEN_HEX "0123456789"
#define ID_HEX TEN_HEX "ab" TEN_HEX TEN_HEX TEN_HEX TEN_HEX TEN_HEX "cd"

/* Each process behind those of the server has the hits of one of the server's rows, and twice as many as the process before it. */
static void add_machine(struct profile *profile)
{
	static const struct {
		uint32_t pid;
		const char *name, *cgroup;
		uint32_t hits;
	} rows[] = {
		{ 0, "[kernel threads]", "/", 1 },
		{ 400, "redis", "/system.slice/docker-" ID_HEX ".scope", 2 },
		{ 410, "web", "/kubepods/burstable/pod" TEN_HEX "-aaaa/" ID_HEX, 4 },
		{ 420, "cron", "/system.slice/cron.service", 0 },
		{ 430, "web", "/kubepods/burstable/pod" TEN_HEX "-aaaa/" ID_HEX "/inner", 8 },
		{ 440, "bash", "", 16 },
	};
	uint32_t first = (uint32_t)profile->process_count, node = profile->hits[0].node;
	for (uint32_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct profile_process process = { .pid = rows[i].pid,
						   .name = text(profile, rows[i].name),
						   .cgroup = text(profile, rows[i].cgroup) };
		checked(profile_add_process(profile, &process));
		struct profile_thread thread = { .tid = process.pid, .process = first + i, .name = process.name };
		uint32_t id = checked(profile_add_thread(profile, &thread));
		for (uint32_t hit = 0; hit < rows[i].hits; hit++)
			checked(profile_add_hit(profile, START_NS + hit * MS, id, node, 0, 1));
	}
	checked(profile_add_hit(profile, START_NS, PROFILE_NONE, node, 0, 32));
}

/* Most hits belong to a tenant, and only some have the other keys. */
static void add_labels(struct profile *profile)
{
	static const char *const sets[][4] = {
		{ "tenant", "acme", "kind", "search" }, { "tenant", "acme", "kind", "buy" }, { "tenant", "acme" },
		{ "tenant", "b \"&\" co; Ltd" },        { "kind", "buy", "\x1b[31m", "" },   { 0 },
	};
	static const uint8_t turns[] = { 0, 0, 1, 5, 0, 3, 4, 0, 1, 2, 5, 3, 0, 0 };
	for (size_t i = 0; i < profile->hit_count; i++) {
		const char *const *texts = sets[turns[i % sizeof(turns)]];
		struct profile_label labels[2];
		size_t count = 0;
		for (; count < 2 && texts[2 * count]; count++)
			labels[count] = (struct profile_label){
				.key = checked(profile_add_string(profile, texts[2 * count])),
				.value = checked(profile_add_string(profile, texts[2 * count + 1]))
			};
		uint32_t set = checked(profile_add_label_set(profile, labels, count));
		checked(profile_label_hits(profile, i, set));
	}
}

static int write_profile(struct profile *profile, const char *path, bool killed)
{
	struct error error = { 0 };
	struct writer *writer = writer_open(path, &error);
	int result = writer ? 0 : error.code;
	if (writer && !killed)
		profile->ended = true;
	if (writer)
		result = killed ? writer_flush(writer, profile, &error) : writer_finish(writer, profile, &error);
	if (result == 0)
		result = writer_publish(writer, &error);
	writer_free(writer);
	if (result < 0)
		fprintf(stderr, "make_profile: %s\n", error.message);
	return result < 0;
}

int main(int argc, char **argv)
{
	struct profile *profile = argc == 3 ? profile_new() : NULL;
	if (!profile) {
		fputs("usage: make_profile whole|killed|lossy|empty|programs|program|server|machine|labels FILE\n",
		      stderr);
		return 2;
	}
	bool killed = strcmp(argv[1], "killed") == 0, is_machine = strcmp(argv[1], "machine") == 0;
	if (is_machine || strcmp(argv[1], "server") == 0)
		server_profile_add(profile);
	else if (strncmp(argv[1], "program", strlen("program")) == 0)
		add_programs(profile, strcmp(argv[1], "program") == 0);
	else
		add_demo(profile, killed, strcmp(argv[1], "empty") == 0);
	if (strcmp(argv[1], "labels") == 0)
		add_labels(profile);
	if (is_machine)
		add_machine(profile);
	describe(profile, is_machine ? "-a --duration 1" : "./demo 'two words'");
	if (is_machine || strcmp(argv[1], "lossy") == 0)
		lose(profile);
	int status = write_profile(profile, argv[2], killed);
	profile_free(profile);
	return status;
}
