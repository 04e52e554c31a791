#include "server_profile.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"

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

static void add_resources(struct profile *profile)
{
	static const struct {
		const char *name, *title, *unit;
		uint64_t interval, total;
	} rows[] = {
		{ "page-faults", "Page Faults", "fault", 1, 40 },
		{ "read-bytes", "Bytes Read", "byte", 65536, 1234567 },
		{ "real", "Elapsed Time", "us", 1000, 2345678 },
	};
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		struct profile_resource resource = { .name = text(profile, rows[i].name),
						     .title = text(profile, rows[i].title),
						     .unit = text(profile, rows[i].unit),
						     .backend = text(profile, "bpf"),
						     .kind = RESOURCE_SAMPLED,
						     .interval = rows[i].interval,
						     .total = rows[i].total };
		checked(profile_add_resource(profile, &resource));
	}
}

/* Process 0 has threads 0 and 1; each other process has one thread. */
static void add_processes(struct profile *profile)
{
	static const char *const rows[][2] = { { "server", "/system.slice/server.service" },
					       { "helper", "/system.slice/server.service" },
					       { "helper", "/user.slice/session-2.scope" } };
	for (uint32_t i = 0; i < 3; i++) {
		struct profile_process process = { .pid = 300 + 10 * i,
						   .parent_pid = i == 1 ? 300 : 1,
						   .name = text(profile, rows[i][0]),
						   .cgroup = text(profile, rows[i][1]) };
		checked(profile_add_process(profile, &process));
		struct profile_thread thread = { .tid = process.pid, .process = i, .name = process.name };
		checked(profile_add_thread(profile, &thread));
		thread.tid++;
		thread.name = text(profile, "worker");
		if (i == 0)
			checked(profile_add_thread(profile, &thread));
	}
}

enum { SERVER, LIBRARY, THREAD };

static const struct {
	const char *name;
	uint32_t module;
	enum function_role role;
} functions[] = {
	{ "_start", SERVER, ROLE_START },        { "main", SERVER, ROLE_MAIN },
	{ "start_workers", SERVER, ROLE_NONE },  { "pthread_create", LIBRARY, ROLE_CREATE },
	{ "create_thread", LIBRARY, ROLE_NONE }, { "clone3", LIBRARY, ROLE_START },
	{ "start_thread", LIBRARY, ROLE_START }, { "worker", SERVER, ROLE_NONE },
	{ "fill_table", SERVER, ROLE_NONE },     { "malloc", LIBRARY, ROLE_NONE },
	{ "read", LIBRARY, ROLE_NONE },
};
enum { FUNCTIONS = sizeof(functions) / sizeof(*functions) };

static void add_places(struct profile *profile)
{
	static const char *const paths[] = { "/srv/server", "/lib/libc.so.6", "[thread]" };
	static const uint8_t kinds[] = { MODULE_FILE, MODULE_FILE, MODULE_THREAD };
	for (size_t i = 0; i < 3; i++) {
		struct profile_module module = { .path = text(profile, paths[i]), .kind = kinds[i] };
		checked(profile_add_module(profile, &module));
	}
	for (uint32_t i = 0; i < FUNCTIONS; i++) {
		uint32_t location = checked(profile_add_location(profile, functions[i].module, 0x1000 + 16 * i));
		struct profile_function function = { .name = text(profile, functions[i].name),
						     .linkage = text(profile, functions[i].name),
						     .module = functions[i].module,
						     .role = (uint8_t)functions[i].role };
		struct profile_frame frame = { .function = checked(profile_add_function(profile, &function)) };
		profile->locations[location].first_frame = checked(profile_add_frame(profile, &frame));
		profile->locations[location].frame_count = 1;
	}
	checked(profile_add_location(profile, THREAD, 0));
	profile->symbolized = true;
}

/* Returns the node of a path of names. "|" is the mark of a thread's start. */
static uint32_t node_of(struct profile *profile, const char *words)
{
	uint32_t node = PROFILE_ROOT;
	char copy[256];
	snprintf(copy, sizeof(copy), "%s", words);
	for (char *next = copy, *word; (word = strsep(&next, " "));) {
		uint32_t location = 0;
		while (location < FUNCTIONS && strcmp(functions[location].name, word) != 0)
			location++;
		node = checked(profile_add_node(profile, node, location));
	}
	return node;
}

#define CREATION "_start main start_workers pthread_create create_thread clone3"
#define WORKER CREATION " | clone3 start_thread"

static const struct {
	const char *path;
	uint32_t thread, resource, rows;
	const char *mapping; /* of touched memory; NULL: no touched address */
	uint64_t address;    /* of the first row; each further row adds half a page */
} takings[] = {
	{ "_start main fill_table malloc", 0, 0, 12, "[heap]", 0x55550000 },
	{ "_start main fill_table", 0, 0, 4, "[heap]", 0x55550000 },
	{ WORKER " worker fill_table malloc", 1, 0, 10, "[anon]", 0x7f0000001000 },
	{ WORKER, 1, 0, 2, "[stack]", 0x7ffc00000000 },
	{ WORKER " worker fill_table malloc", 1, 0, 3, "[heap]", 0x55550000 },
	{ CREATION, 0, 0, 2, "/lib/libc.so.6", 0x7f1234560000 },
	{ "_start main fill_table malloc", 2, 0, 4, "[heap]", 0x55550000 },
	{ "_start main", 3, 0, 2, "", 0x1000 },
	{ "_start", 3, 0, 1, NULL, 0 },
	{ WORKER " worker read", 1, 1, 15, NULL, 0 },
	{ "_start main read", 0, 1, 3, NULL, 0 },
	{ WORKER " worker", 1, 2, 7, NULL, 0 },
};

static void add_takings(struct profile *profile)
{
	for (size_t i = 0; i < sizeof(takings) / sizeof(*takings); i++) {
		uint32_t node = node_of(profile, takings[i].path);
		for (uint32_t row = 0; row < takings[i].rows; row++) {
			struct profile_touch touch = { .time_ns = START_NS + row * MS,
						       .address = takings[i].address + 2048 * row,
						       .node = node,
						       .thread = takings[i].thread,
						       .resource = takings[i].resource,
						       .count = 1 };
			checked(profile_add_hit(profile, touch.time_ns, touch.thread, node, touch.resource, 1));
			if (!takings[i].mapping)
				continue;
			touch.mapping = text(profile, takings[i].mapping);
			checked(profile_add_touch(profile, &touch));
		}
	}
}

void server_profile_add(struct profile *profile)
{
	add_resources(profile);
	add_processes(profile);
	add_places(profile);
	add_takings(profile);
}
