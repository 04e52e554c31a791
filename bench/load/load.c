/*
 * How fast a large profile loads.
 *
 *   load generate FILE [HITS [NODES]]   writes a profile like a long recording's
 *   load time FILE [RUNS]               prints the time to load it, per run, in ms
 *
 * The profile is made like a recording at 1 kHz of four threads: paths are
 * revisited, the hot ones most; times are jittered; a flush every 65,536 hits.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

#include "profile/profile.h"
#include "profile_file/reader.h"
#include "profile_file/writer.h"

enum { LOCATIONS = 50000, THREADS = 4, FLUSH_HITS = 65536, FUNCTIONS = 5000 };

static uint64_t random_state = 88172645463325252u;

static uint64_t next_random(void)
{
	random_state ^= random_state << 13;
	random_state ^= random_state >> 7;
	random_state ^= random_state << 17;
	return random_state;
}

static void give_up(const struct error *error)
{
	fprintf(stderr, "load: %s\n", error->message);
	exit(1);
}

static uint32_t text(struct profile *profile, const char *string)
{
	return (uint32_t)profile_add_string(profile, string);
}

static void add_things(struct profile *profile)
{
	struct profile_resource cpu = { .name = text(profile, "cpu"),
					.title = text(profile, "CPU Time"),
					.unit = text(profile, "ns"),
					.backend = text(profile, "perf"),
					.kind = RESOURCE_SAMPLED,
					.interval = 1000000 };
	profile_add_resource(profile, &cpu);
	struct profile_process process = { .pid = 100, .name = text(profile, "busy"), .start_ns = 1000000000 };
	profile_add_process(profile, &process);
	for (uint32_t i = 0; i < THREADS; i++) {
		struct profile_thread thread = { .tid = 100 + i, .name = process.name, .start_ns = 1000000000 };
		profile_add_thread(profile, &thread);
	}
	struct profile_module module = { .path = text(profile, "/usr/bin/busy") };
	profile_add_module(profile, &module);
	for (uint32_t i = 0; i < FUNCTIONS; i++) {
		char name[32];
		snprintf(name, sizeof(name), "function_%u", i);
		struct profile_function function = { .name = text(profile, name),
						     .role = i == 0 ? ROLE_MAIN : ROLE_NONE };
		profile_add_function(profile, &function);
	}
	for (uint32_t i = 0; i < LOCATIONS; i++) {
		struct profile_frame frame = { .function = i % FUNCTIONS, .line = i };
		profile_add_frame(profile, &frame);
		int64_t id = profile_add_location(profile, 0, 0x1000 + next_random() % 0x500000);
		if (id >= 0 && profile->locations[id].first_frame == PROFILE_NONE) {
			profile->locations[id].first_frame = i;
			profile->locations[id].frame_count = 1;
		}
	}
	profile->start_ns = 1000000000;
	profile->symbolized = true;
}

/* The tree grows while hits come in: a new node hangs below a recent one. */
static uint32_t pick_node(struct profile *profile, size_t node_limit, size_t due)
{
	if (profile->node_count < due && profile->node_count < node_limit) {
		uint64_t back = next_random() % (profile->node_count < 40 ? profile->node_count : 40);
		uint32_t parent = (uint32_t)(profile->node_count - 1 - back);
		uint32_t location = (uint32_t)(next_random() % profile->location_count);
		return (uint32_t)profile_append_node(profile, parent, location);
	}
	/* The minimum of three favours old, hot nodes. */
	uint64_t node = next_random() % profile->node_count;
	for (int i = 0; i < 2; i++) {
		uint64_t other = next_random() % profile->node_count;
		node = other < node ? other : node;
	}
	return (uint32_t)node;
}

static void generate(const char *path, size_t hits, size_t nodes)
{
	struct error error;
	struct profile *profile = profile_new();
	struct writer *writer = writer_open(path, &error);
	if (!profile || !writer)
		give_up(&error);
	add_things(profile);
	uint64_t time_ns = profile->start_ns;
	for (size_t i = 0; i < hits; i++) {
		time_ns += 125000 + next_random() % 250000;
		uint32_t node =
			pick_node(profile, nodes, 2 + (size_t)((double)i / (double)hits * 1.02 * (double)nodes));
		uint32_t thread = (uint32_t)(next_random() % THREADS);
		uint64_t count = next_random() % 50 == 0 ? 2 : 1;
		if (profile_add_hit(profile, time_ns, thread, node, 0, count) < 0)
			abort();
		if (profile->hit_count == FLUSH_HITS) {
			if (writer_flush(writer, profile, &error) < 0)
				give_up(&error);
			profile_clear_hits(profile);
		}
	}
	profile->end_ns = time_ns;
	if (writer_finish(writer, profile, &error) < 0 || writer_publish(writer, &error) < 0)
		give_up(&error);
	printf("%zu hits, %zu nodes, %llu bytes, %.2f bytes per hit\n", hits, profile->node_count,
	       (unsigned long long)writer_size(writer), (double)writer_size(writer) / (double)hits);
	writer_free(writer);
	profile_free(profile);
}

static double now_ms(void)
{
	struct timespec now;
	clock_gettime(CLOCK_MONOTONIC, &now);
	return (double)now.tv_sec * 1e3 + (double)now.tv_nsec / 1e6;
}

static void time_load(const char *path, int runs)
{
	for (int i = 0; i < runs; i++) {
		struct error error;
		double start = now_ms();
		struct profile *profile = reader_load(path, NULL, &error);
		double loaded = now_ms();
		if (!profile)
			give_up(&error);
		printf("%.1f ms to load %zu hits over %zu nodes", loaded - start, profile->hit_count,
		       profile->node_count);
		profile_free(profile);
		printf(", %.1f ms to free\n", now_ms() - loaded);
	}
	struct rusage usage;
	getrusage(RUSAGE_SELF, &usage);
	printf("peak memory %ld MB\n", usage.ru_maxrss / 1024);
}

int main(int argc, char **argv)
{
	if (argc >= 3 && strcmp(argv[1], "generate") == 0)
		generate(argv[2], argc > 3 ? strtoul(argv[3], NULL, 10) : 10000000,
			 argc > 4 ? strtoul(argv[4], NULL, 10) : 1000000);
	else if (argc >= 3 && strcmp(argv[1], "time") == 0)
		time_load(argv[2], argc > 3 ? atoi(argv[3]) : 5);
	else
		return fprintf(stderr, "usage: load generate FILE [HITS [NODES]] | load time FILE [RUNS]\n"), 2;
	return 0;
}
