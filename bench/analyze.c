/*
 * How fast a large profile is analyzed, in memory: 10 M hits over 1 M nodes, in
 * trees of three shapes.
 *
 *   bench_analyze [HITS [NODES]]     prints the best of five runs of each step, in ms
 */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "analyze/analyses.h"
#include "profile/profile.h"

enum { FUNCTIONS = 3000, LOCATIONS = 40000, RUNS = 5 };

static uint64_t next_random(void)
{
	static uint64_t state = 88172645463325252u;
	state ^= state << 13;
	state ^= state >> 7;
	state ^= state << 17;
	return state;
}

static double now_ms(void)
{
	struct timespec now;
	clock_gettime(CLOCK_MONOTONIC, &now);
	return (double)now.tv_sec * 1e3 + (double)now.tv_nsec / 1e6;
}

static void need(int64_t result)
{
	if (result < 0) {
		fputs("bench_analyze: out of memory\n", stderr);
		exit(1);
	}
}

static void add_things(struct profile *profile)
{
	struct profile_resource resource = { .kind = RESOURCE_SAMPLED, .interval = 1000000 };
	need(profile_add_resource(profile, &resource));
	struct profile_module module = { .path = (uint32_t)profile_add_string(profile, "/usr/bin/busy") };
	need(profile_add_module(profile, &module));
	for (uint32_t i = 0; i < FUNCTIONS; i++) {
		char name[32];
		snprintf(name, sizeof(name), "function_%u", i);
		struct profile_function function = { .name = (uint32_t)profile_add_string(profile, i ? name : "main") };
		need(profile_add_function(profile, &function));
	}
	for (uint32_t i = 0; i < LOCATIONS; i++) {
		struct profile_frame frame = { .function = i % FUNCTIONS, .line = i };
		need(profile_add_frame(profile, &frame));
		int64_t id = profile_add_location(profile, 0, 0x1000 + 16 * i);
		need(id);
		profile->locations[id].first_frame = i;
		profile->locations[id].frame_count = 1;
	}
}

/* All below main. Paths are new in runs, as when a stack is first seen below a
 * known caller: of `run` nodes on average, the first below one of the last `reach`
 * (0: any). (1, 0) is a bushy tree in no order at all, (1, 40) is 50,000 deep. */
static struct profile *make_profile(size_t hits, size_t nodes, size_t run, size_t reach)
{
	struct profile *profile = profile_new();
	if (!profile)
		need(-1);
	add_things(profile);
	need(profile_append_node(profile, PROFILE_ROOT, 0));
	while (profile->node_count < nodes) {
		uint64_t all = profile->node_count - 1;
		uint64_t back = next_random() % run ? 0 : next_random() % (reach && reach < all ? reach : all);
		uint32_t location = (uint32_t)(1 + next_random() % (LOCATIONS - 1));
		need(profile_append_node(profile, (uint32_t)(all - back), location));
	}
	for (size_t i = 0; i < hits; i++) {
		uint64_t node = next_random() % nodes, other = next_random() % nodes;
		need(profile_add_hit(profile, i, PROFILE_NONE, (uint32_t)(node < other ? node : other), 0, 1));
	}
	return profile;
}

struct times {
	double view, functions, body, down, up, what_if, lines;
};

static void keep_best(double *best, double *start)
{
	double now = now_ms();
	if (*best == 0 || now - *start < *best)
		*best = now - *start;
	*start = now_ms();
}

static uint32_t label_of(const struct view *view, const char *name)
{
	uint32_t label = 0;
	if (view_find(view, name, &label, 1) != 1)
		need(-1);
	return label;
}

/* Freeing a result counts: the user waits for it too. */
static size_t take(struct path_list *list)
{
	if (!list)
		need(-1);
	size_t count = list->count;
	path_list_free(list);
	return count;
}

static void run(const struct profile *profile, struct times *best, size_t *paths_down, size_t *paths_up)
{
	struct view_options options = { .process = VIEW_ANY, .thread = VIEW_ANY };
	double start = now_ms();
	struct view *view = view_new(profile, &options, NULL);
	if (!view)
		need(-1);
	keep_best(&best->view, &start);
	uint32_t path[2] = { label_of(view, "main"), label_of(view, "function_7") };
	struct what_if what_if = { .labels = path, .length = 2 };
	struct what_if_result result;
	start = now_ms();
	take(analyze_functions(view, NULL));
	keep_best(&best->functions, &start);
	take(analyze_body(view, NULL));
	keep_best(&best->body, &start);
	*paths_down = take(analyze_down(view, path[0], NULL));
	keep_best(&best->down, &start);
	*paths_up = take(analyze_up(view, path[1], NULL));
	keep_best(&best->up, &start);
	need(analyze_what_if(view, &what_if, 1, &result, NULL));
	free(result.affected);
	keep_best(&best->what_if, &start);
	line_list_free(analyze_lines(view, path[1], NULL));
	keep_best(&best->lines, &start);
	view_free(view);
}

static void measure(const char *shape, size_t hits, size_t nodes, size_t run_nodes, size_t reach)
{
	struct profile *profile = make_profile(hits, nodes, run_nodes, reach);
	struct times best = { 0 };
	size_t down = 0, up = 0;
	for (int i = 0; i < RUNS; i++)
		run(profile, &best, &down, &up);
	printf("%-8s view %.1f, functions %.1f, body %.1f, down %.1f (%zu paths), up %.1f (%zu paths), "
	       "what-if %.1f, lines %.1f\n",
	       shape, best.view, best.functions, best.body, best.down, down, best.up, up, best.what_if, best.lines);
	profile_free(profile);
}

int main(int argc, char **argv)
{
	size_t hits = argc > 1 ? strtoul(argv[1], NULL, 10) : 10000000;
	size_t nodes = argc > 2 ? strtoul(argv[2], NULL, 10) : 1000000;
	printf("%zu hits, %zu nodes, best of %d, ms:\n", hits, nodes, RUNS);
	measure("runs", hits, nodes, 6, 0);
	measure("bushy", hits, nodes, 1, 0);
	measure("deep", hits, nodes, 1, 40);
	return 0;
}
