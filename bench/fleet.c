/*
 * Adds the recordings of agents to a store, as many machines send them: each machine is a writer of its own, with a slice every five minutes.
 *
 *   fleet STORE FIRST HOSTS SLICES SERVICES PATHS SAMPLES START
 *
 * prints their numbers as JSON.
 *
 *   FIRST, HOSTS  the machines FIRST, FIRST + 1, ...: machine i runs service i modulo SERVICES
 *   SLICES        of a machine, from START on
 *   PATHS         of a service: a tree of calls, up to 48 deep, of FUNCTIONS functions; the k-th most frequent path has a share that falls as 1 / (k + 3)
 *   SAMPLES       of a machine in an hour, on average
 *   START         seconds since 1970
 *
 * Each slice has the processes and threads of a machine, and finds its samples' paths, threads and times by chance.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/hash_map.h"
#include "made.h"
#include "store/store.h"

enum { SLICE_S = 300, HOUR_S = 3600, PROCESSES = 20, THREADS = 60, FUNCTIONS = 500, DEPTH_MOST = 48 };

struct service {
	char name[32];
	uint32_t paths;
	uint32_t *parents, *functions; /* by path: the path of its caller, and its function; owned */
	double *until;                 /* by path: the sum of the shares up to it; owned */
};

struct fleet {
	const char *store;
	struct service *services; /* owned */
	uint64_t first, hosts, slices, service_count, paths;
	double samples; /* of a slice, on average */
	int64_t start_s;
	uint64_t recordings, added; /* what was done: recordings, and their samples */
};

/* --- services --- */

static uint32_t chance_below(uint32_t count)
{
	return (uint32_t)(made_uniform() * count);
}

/* A path continues the one before it, or begins at any earlier one. */
static void make_service(struct service *service, uint64_t number, uint32_t paths)
{
	uint32_t *depths = calloc(paths, sizeof(*depths)), *ranks = calloc(paths, sizeof(*ranks));
	double sum = 0;
	snprintf(service->name, sizeof(service->name), "service%" PRIu64, number);
	service->paths = paths;
	service->parents = calloc(paths, sizeof(*service->parents));
	service->functions = calloc(paths, sizeof(*service->functions));
	service->until = calloc(paths, sizeof(*service->until));
	if (!depths || !ranks || !service->parents || !service->functions || !service->until)
		made_give_up("out of memory");
	for (uint32_t i = 1; i < paths; i++) {
		bool continues = chance_below(3) > 0;
		service->parents[i] = continues ? i - 1 : chance_below(i);
		while (depths[service->parents[i]] == DEPTH_MOST)
			service->parents[i] = chance_below(i);
		service->functions[i] = chance_below(FUNCTIONS);
		depths[i] = depths[service->parents[i]] + 1;
	}
	for (uint32_t i = 0; i < paths; i++) {
		uint32_t other = chance_below(i + 1);
		ranks[i] = ranks[other];
		ranks[other] = i;
	}
	for (uint32_t i = 0; i < paths; i++)
		service->until[i] = sum += 1.0 / (ranks[i] + 3);
	free(depths);
	free(ranks);
}

static uint32_t any_path(const struct service *service)
{
	double at = made_uniform() * service->until[service->paths - 1];
	uint32_t first = 0, end = service->paths - 1;
	while (first < end) {
		uint32_t middle = first + (end - first) / 2;
		if (service->until[middle] < at)
			first = middle + 1;
		else
			end = middle;
	}
	return first;
}

/* --- slices --- */

/* Returns the node of a path. `nodes` has those that the profile has, by path. */
static uint32_t node_of(struct profile *profile, const struct service *service, struct hash_map *nodes, uint32_t path)
{
	char name[48];
	uint32_t node = hash_map_get(nodes, path);
	if (node != HASH_MAP_NONE)
		return node;
	uint32_t above = path == 0 ? PROFILE_ROOT : node_of(profile, service, nodes, service->parents[path]);
	snprintf(name, sizeof(name), "%s_function%" PRIu32, service->name, service->functions[path]);
	node = made_node(profile, above, path == 0 ? "main" : name);
	if (hash_map_put(nodes, path, node) < 0)
		made_give_up("out of memory");
	return node;
}

static void add_owners(struct profile *profile, const struct service *service)
{
	uint32_t name = made_need(profile_add_string(profile, service->name));
	for (uint32_t i = 0; i < PROCESSES; i++)
		made_need(profile_add_process(profile, &(struct profile_process){ .pid = 1000 + i, .name = name }));
	for (uint32_t i = 0; i < THREADS; i++)
		made_need(profile_add_thread(
			profile, &(struct profile_thread){ .tid = 2000 + i, .process = i % PROCESSES, .name = name }));
}

static struct profile *make_slice(const struct fleet *fleet, const struct service *service, int64_t start_s)
{
	struct profile *profile = made_profile(service->name);
	struct hash_map nodes;
	hash_map_init(&nodes);
	profile->start_unix_ns = start_s * STORE_NS_PER_S;
	profile->start_ns = STORE_NS_PER_S;
	profile->end_ns = profile->start_ns + SLICE_S * STORE_NS_PER_S;
	made_need(profile_add_note(profile, "command", "agent"));
	add_owners(profile, service);
	for (uint64_t left = made_poisson(fleet->samples); left > 0; left--) {
		const struct profile_hit hit = {
			.time_ns = profile->start_ns + (uint64_t)(made_uniform() * (double)(SLICE_S * STORE_NS_PER_S)),
			.count = profile->resources[0].interval,
			.node = node_of(profile, service, &nodes, any_path(service)),
			.thread = chance_below(THREADS),
		};
		made_need(profile_add_hit_row(profile, &hit));
	}
	hash_map_release(&nodes);
	return profile;
}

/* --- machines --- */

static void add_slice(struct fleet *fleet, struct store *store, uint64_t host, uint64_t slice)
{
	char name[32];
	struct error error = { 0 };
	const struct service *service = &fleet->services[host % fleet->service_count];
	/* Machines do not begin at the same second. */
	int64_t start_s = fleet->start_s + (int64_t)(slice * SLICE_S + host * 7 % SLICE_S);
	struct profile *profile = make_slice(fleet, service, start_s);
	snprintf(name, sizeof(name), "host%" PRIu64, host);
	struct store_recording recording = { .profile = profile,
					     .name = name,
					     .service = service->name,
					     .host = name,
					     .start_unix_ns = profile->start_unix_ns };
	memcpy(recording.identity, &host, sizeof(host));
	memcpy(recording.identity + sizeof(host), &start_s, sizeof(start_s));
	if (store_add(store, &recording, &error) != 1)
		made_give_up(error.code ? error.message : "a recording was there already");
	fleet->recordings++;
	fleet->added += profile->hit_count;
	profile_free(profile);
}

static void add_host(struct fleet *fleet, uint64_t host)
{
	struct error error = { 0 };
	struct store *store = store_open(fleet->store, STORE_WRITE, &error);
	if (!store)
		made_give_up(error.message);
	for (uint64_t slice = 0; slice < fleet->slices; slice++)
		add_slice(fleet, store, host, slice);
	store_close(store);
}

static uint64_t number_of(const char *text)
{
	return strtoull(text, NULL, 10);
}

int main(int count, char **words)
{
	enum { STORE = 1, FIRST, HOSTS, SLICES, SERVICES, PATHS, SAMPLES, START, WORDS };
	if (count != WORDS)
		made_give_up("usage: fleet STORE FIRST HOSTS SLICES SERVICES PATHS SAMPLES START");
	struct fleet fleet = { .store = words[STORE],
			       .first = number_of(words[FIRST]),
			       .hosts = number_of(words[HOSTS]),
			       .slices = number_of(words[SLICES]),
			       .service_count = number_of(words[SERVICES]),
			       .paths = number_of(words[PATHS]),
			       .samples = atof(words[SAMPLES]) * SLICE_S / HOUR_S,
			       .start_s = atoll(words[START]) };
	if (fleet.service_count == 0 || fleet.paths == 0 || fleet.paths > UINT32_MAX)
		made_give_up("there must be a service and a path");
	fleet.services = calloc(fleet.service_count, sizeof(*fleet.services));
	if (!fleet.services)
		made_give_up("out of memory");
	for (uint64_t i = 0; i < fleet.service_count; i++)
		make_service(&fleet.services[i], i, (uint32_t)fleet.paths);
	for (uint64_t i = 0; i < fleet.hosts; i++)
		add_host(&fleet, fleet.first + i);
	for (uint64_t i = 0; i < fleet.service_count; i++) {
		free(fleet.services[i].parents);
		free(fleet.services[i].functions);
		free(fleet.services[i].until);
	}
	free(fleet.services);
	printf("{\"recordings\": %" PRIu64 ", \"samples\": %" PRIu64 "}\n", fleet.recordings, fleet.added);
	return 0;
}
