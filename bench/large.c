/*
 * Measures how long it takes to load and to analyze a large profile.
 *
 *   large generate FILE [SHAPE [HITS [NODES]]]   writes one; default: 10 M hits over 1 M nodes
 *   large time FILE [RUNS]                       prints medians of RUNS (5) runs, as JSON, in ms
 *
 * The shapes of the tree, all below main:
 *   calls   a program's: a call graph of 5,000 functions with 10 call sites each,
 *           walked as a running program does, stacks about 25 deep
 *   bushy   each node below a random other node, in random order
 *   deep    each node below one of the last 40: 50,000 deep
 *
 * Hits arrive as in a recording of four threads at 1 kHz: paths are revisited, most often the
 * hot ones; times are jittered; a flush every 65,536 hits.
 *
 * Each run is a process of its own, because a user's command also starts with a fresh heap.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "analyze/analyses.h"
#include "made.h"
#include "profile/profile.h"
#include "profile_file/reader.h"
#include "profile_file/writer.h"

enum { FUNCTIONS = 5000, SITES = 10, LOCATIONS = FUNCTIONS * SITES, THREADS = 4, FLUSH_HITS = 65536 };
enum { USUAL_DEPTH = 25, DEPTH_MAX = 120, INLINED_EVERY = 8, RUNS_MAX = 99 };

static const uint64_t START_NS = 1000000000;

/* --- a profile to measure --- */

struct program {
	struct profile *profile;
	uint32_t site[LOCATIONS];   /* the location of a function's n-th call site: [function * SITES + n] */
	uint32_t callee[LOCATIONS]; /* per location: the function called there */
	uint32_t path[DEPTH_MAX];   /* nodes of the current stack: [0] is the root above main */
	size_t depth;
};

static uint32_t text(struct profile *profile, const char *string)
{
	return made_need(profile_add_string(profile, string));
}

/* 20 x 25 x 10 = FUNCTIONS different names; each fourth is a C++ name. */
static void function_name(uint32_t function, char *name, size_t size)
{
	static const char *const parts[20] = { "btree", "pager",  "vdbe",   "parser",  "lexer",   "cache", "journal",
					       "index", "schema", "cursor", "planner", "catalog", "lock",  "socket",
					       "http",  "json",   "utf8",   "crypto",  "timer",   "worker" };
	static const char *const verbs[25] = { "read",     "write",  "insert", "remove", "find",    "sort",   "merge",
					       "split",    "flush",  "open",   "close",  "compare", "decode", "encode",
					       "allocate", "free",   "copy",   "check",  "update",  "move",   "step",
					       "expand",   "reduce", "hash",   "balance" };
	static const char *const nouns[10] = { "page", "row",  "key",    "record", "buffer",
					       "node", "list", "column", "table",  "entry" };
	const char *part = parts[function % 20], *verb = verbs[function / 20 % 25], *noun = nouns[function / 500];
	if (function % 4 == 3)
		snprintf(name, size, "%s::%s<std::pair<int, char const*> >::%s(unsigned long, bool)", part, noun, verb);
	else
		snprintf(name, size, "%s_%s_%s", part, verb, noun);
}

static void add_functions(struct program *program)
{
	struct profile *profile = program->profile;
	for (uint32_t i = 0; i < FUNCTIONS; i++) {
		char name[96], file[32];
		function_name(i, name, sizeof(name));
		snprintf(file, sizeof(file), "src/part_%u.c", i / 40);
		struct profile_function function = { .name = text(profile, i ? name : "main"),
						     .file = text(profile, file),
						     .line = 1 + i % 40 * 50,
						     .role = i == 0 ? ROLE_MAIN : ROLE_NONE };
		function.linkage = function.name;
		made_need(profile_add_function(profile, &function));
	}
}

static void add_frame(struct profile *profile, uint32_t function, uint32_t line, bool inlined)
{
	const struct profile_function *of = &profile->functions[function];
	struct profile_frame frame = {
		.function = function, .file = of->file, .line = of->line + line, .inlined = inlined
	};
	made_need(profile_add_frame(profile, &frame));
}

/* Adds them in a scattered order of addresses, as a recorder meets them. main is called by no
 * other function. */
static void add_locations(struct program *program)
{
	struct profile *profile = program->profile;
	for (uint32_t i = 0; i < LOCATIONS; i++) {
		uint32_t at = (uint32_t)((uint64_t)i * 7919 % LOCATIONS), function = at / SITES;
		uint32_t id =
			made_need(profile_add_location(profile, 0, 0x1000 + 0x100 * function + 21 * (at % SITES)));
		uint32_t first = (uint32_t)profile->frame_count;
		if (function > 0 && at % INLINED_EVERY == 0)
			add_frame(profile, (uint32_t)(1 + made_random() % (FUNCTIONS - 1)), 3, true);
		add_frame(profile, function, 4 * (at % SITES), false);
		profile->locations[id].first_frame = first;
		profile->locations[id].frame_count = (uint32_t)profile->frame_count - first;
		program->site[at] = id;
		program->callee[id] = (uint32_t)(1 + made_random() % (FUNCTIONS - 1));
	}
}

static void add_things(struct program *program)
{
	struct profile *profile = program->profile;
	struct profile_resource cpu = { .name = text(profile, "cpu"),
					.title = text(profile, "CPU Time"),
					.unit = text(profile, "ns"),
					.backend = text(profile, "perf"),
					.kind = RESOURCE_SAMPLED,
					.interval = 1000000 };
	made_need(profile_add_resource(profile, &cpu));
	struct profile_process process = { .pid = 100, .name = text(profile, "busy"), .start_ns = START_NS };
	made_need(profile_add_process(profile, &process));
	for (uint32_t i = 0; i < THREADS; i++) {
		struct profile_thread thread = { .tid = 100 + i, .name = process.name, .start_ns = START_NS };
		made_need(profile_add_thread(profile, &thread));
	}
	struct profile_module module = { .path = text(profile, "/usr/bin/busy") };
	made_need(profile_add_module(profile, &module));
	made_need(profile_add_note(profile, "command", "busy"));
	add_functions(program);
	add_locations(program);
	profile->start_ns = START_NS;
	profile->symbolized = true;
	made_need(profile_add_node(profile, PROFILE_ROOT, program->site[0]));
	program->path[0] = PROFILE_ROOT;
	program->depth = 1;
}

/* --- trees: each function adds about one node --- */

/* The program returns from some calls and makes others. */
static void grow_calls(struct program *program)
{
	size_t back = 1;
	while (made_random() % 4 && back < program->depth)
		back++;
	program->depth -= back < program->depth ? back : program->depth - 1;
	size_t calls = program->depth < USUAL_DEPTH ? 1 : 0;
	while (made_random() % 4)
		calls++;
	for (; calls > 0 && program->depth < DEPTH_MAX; calls--, program->depth++) {
		uint32_t parent = program->path[program->depth - 1];
		uint32_t called =
			parent == PROFILE_ROOT ? 0 : program->callee[program->profile->nodes[parent].location];
		uint32_t at = called * SITES + (uint32_t)(made_random() % SITES);
		program->path[program->depth] =
			made_need(profile_add_node(program->profile, parent, program->site[at]));
	}
}

/* Adds a location outside main below one of the last `reach` nodes. */
static void grow_anywhere(struct profile *profile, uint64_t reach)
{
	uint64_t all = profile->node_count - 1;
	uint32_t parent = (uint32_t)(all - made_random() % (reach < all ? reach : all));
	uint32_t location = (uint32_t)(made_random() % LOCATIONS);
	if (profile->frames[profile->locations[location].first_frame].function != 0)
		made_need(profile_add_node(profile, parent, location));
}

static void grow_bushy(struct program *program)
{
	grow_anywhere(program->profile, UINT64_MAX);
}

static void grow_deep(struct program *program)
{
	grow_anywhere(program->profile, 40);
}

static const struct shape {
	const char *name;
	void (*grow)(struct program *program);
} shapes[] = { { "calls", grow_calls }, { "bushy", grow_bushy }, { "deep", grow_deep } };

static const struct shape *find_shape(const char *name)
{
	for (size_t i = 0; i < sizeof(shapes) / sizeof(*shapes); i++)
		if (strcmp(shapes[i].name, name) == 0)
			return &shapes[i];
	made_give_up("the shapes are calls, bushy and deep");
	return NULL;
}

/* The minimum of three random numbers prefers old nodes, which are the hot nodes. 1 excludes the
 * root above main. */
static uint32_t visit(const struct profile *profile)
{
	uint64_t node = UINT64_MAX;
	for (int i = 0; i < 3; i++) {
		uint64_t other = 1 + made_random() % (profile->node_count - 1);
		node = other < node ? other : node;
	}
	return (uint32_t)node;
}

static void flush(struct writer *writer, struct profile *profile)
{
	struct error error;
	if (writer_flush(writer, profile, &error) < 0)
		made_give_up(error.message);
	profile_clear_hits(profile);
}

static void generate(const char *path, const struct shape *shape, size_t hits, size_t nodes)
{
	static struct program program;
	struct error error;
	struct writer *writer = writer_open(path, &error);
	if (!writer)
		made_give_up(error.message);
	struct profile *profile = program.profile = profile_new();
	if (!profile)
		made_give_up("out of memory");
	add_things(&program);
	uint64_t time_ns = START_NS;
	for (size_t i = 0; i < hits; i++) {
		/* The tree grows while hits arrive, and is complete shortly before the end. */
		double due = 2 + (double)i / (double)hits * 1.02 * (double)nodes;
		while (profile->node_count < nodes && (double)profile->node_count < due)
			shape->grow(&program);
		time_ns += 125000 + made_random() % 250000;
		uint32_t thread = (uint32_t)(made_random() % THREADS);
		made_need(
			profile_add_hit(profile, time_ns, thread, visit(profile), 0, made_random() % 50 == 0 ? 2 : 1));
		if (profile->hit_count == FLUSH_HITS)
			flush(writer, profile);
	}
	profile->end_ns = time_ns;
	if (writer_finish(writer, profile, &error) < 0 || writer_publish(writer, &error) < 0)
		made_give_up(error.message);
	printf("%zu hits, %zu nodes, %llu bytes\n", hits, profile->node_count, (unsigned long long)writer_size(writer));
	writer_free(writer);
	profile_free(profile);
}

/* --- the measurement --- */

enum step { READ, VIEW, FUNCTIONS_OF, BODY, DOWN, UP, STEPS };
static const char *const step_names[STEPS] = { "reader_load", "view", "functions", "body", "down", "up" };

struct figures {
	double ms[STEPS];
	size_t hits, nodes, depth, paths_down, paths_up;
	char up_of[128]; /* the function other than main with the most hits in its body */
	long peak_mb;
};

static double now_ms(void)
{
	struct timespec now;
	clock_gettime(CLOCK_MONOTONIC, &now);
	return (double)now.tv_sec * 1e3 + (double)now.tv_nsec / 1e6;
}

static double lap_ms(double *start)
{
	double from = *start;
	*start = now_ms();
	return *start - from;
}

/* Frees a result inside the measured time, because the user waits for that too. Returns its
 * number of entries. */
static size_t finish(struct path_list *list)
{
	if (!list)
		made_give_up("an analysis failed");
	size_t count = list->count;
	path_list_free(list);
	return count;
}

/* Returns the first label of a body profile that differs from `but`. */
static uint32_t hottest(struct path_list *body, uint32_t but)
{
	uint32_t label = but;
	for (size_t i = 0; body && i < body->count && label == but; i++)
		label = *path_labels(body, &body->entries[i]);
	return label;
}

static struct figures run(const char *path)
{
	struct figures figures = { 0 };
	struct error error;
	struct view_options options = { .thread = VIEW_ANY };
	double start = now_ms();
	struct profile *profile = reader_load(path, 0, &error);
	if (!profile)
		made_give_up(error.message);
	figures.ms[READ] = lap_ms(&start);
	struct view *view = view_new(profile, &options, &error);
	if (!view)
		made_give_up(error.message);
	figures.ms[VIEW] = lap_ms(&start);
	struct label_set main_labels;
	if (view_find(view, "main", &main_labels) != 1)
		made_give_up("no main in this profile, or several");
	start = now_ms();
	finish(analyze_functions(view, NULL));
	figures.ms[FUNCTIONS_OF] = lap_ms(&start);
	struct path_list *body = analyze_body(view, NULL);
	uint32_t hot = hottest(body, main_labels.labels[0]);
	finish(body);
	figures.ms[BODY] = lap_ms(&start);
	figures.paths_down = finish(analyze_down(view, &main_labels, NULL));
	figures.ms[DOWN] = lap_ms(&start);
	figures.paths_up = finish(analyze_up(view, &(struct label_set){ .labels = &hot, .count = 1 }, NULL));
	figures.ms[UP] = lap_ms(&start);
	label_set_release(&main_labels);
	snprintf(figures.up_of, sizeof(figures.up_of), "%s", view->labels[hot].text);
	figures.hits = profile->hit_count;
	figures.nodes = profile->node_count;
	figures.depth = view->depth;
	struct rusage usage;
	getrusage(RUSAGE_SELF, &usage);
	figures.peak_mb = usage.ru_maxrss / 1024;
	view_free(view);
	profile_free(profile);
	return figures;
}

static struct figures run_in_child(const char *path)
{
	struct figures figures;
	int ends[2], status;
	if (pipe(ends) < 0)
		made_give_up("no pipe");
	pid_t child = fork();
	if (child < 0)
		made_give_up("cannot fork");
	if (child == 0) {
		figures = run(path);
		_exit(write(ends[1], &figures, sizeof(figures)) == (ssize_t)sizeof(figures) ? 0 : 1);
	}
	close(ends[1]);
	bool whole = read(ends[0], &figures, sizeof(figures)) == (ssize_t)sizeof(figures);
	close(ends[0]);
	if (waitpid(child, &status, 0) < 0 || status != 0 || !whole)
		made_give_up("a run failed");
	return figures;
}

static int compare_doubles(const void *left, const void *right)
{
	double a = *(const double *)left, b = *(const double *)right;
	return (a > b) - (a < b);
}

static double median(double *values, size_t count)
{
	qsort(values, count, sizeof(*values), compare_doubles);
	return count % 2 ? values[count / 2] : (values[count / 2 - 1] + values[count / 2]) / 2;
}

static void time_all(const char *path, size_t runs)
{
	double values[STEPS][RUNS_MAX], loads[RUNS_MAX];
	struct figures figures = { 0 };
	if (runs < 1 || runs > RUNS_MAX)
		made_give_up("1 to 99 runs");
	for (size_t i = 0; i < runs; i++) {
		figures = run_in_child(path);
		for (int step = 0; step < STEPS; step++)
			values[step][i] = figures.ms[step];
		loads[i] = figures.ms[READ] + figures.ms[VIEW];
	}
	printf("{\n \"runs\": %zu, \"hits\": %zu, \"nodes\": %zu, \"depth\": %zu, \"paths_down\": %zu, "
	       "\"paths_up\": %zu,\n \"up_of\": \"%s\", \"peak_mb\": %ld,\n \"ms\": {\"load\": %.1f",
	       runs, figures.hits, figures.nodes, figures.depth, figures.paths_down, figures.paths_up, figures.up_of,
	       figures.peak_mb, median(loads, runs));
	for (int step = 0; step < STEPS; step++)
		printf(", \"%s\": %.1f", step_names[step], median(values[step], runs));
	printf("}\n}\n");
}

static size_t number(int argc, char **argv, int at, size_t otherwise)
{
	return argc > at ? strtoul(argv[at], NULL, 10) : otherwise;
}

int main(int argc, char **argv)
{
	if (argc >= 3 && strcmp(argv[1], "generate") == 0)
		generate(argv[2], find_shape(argc > 3 ? argv[3] : "calls"), number(argc, argv, 4, 10000000),
			 number(argc, argv, 5, 1000000));
	else if (argc >= 3 && strcmp(argv[1], "time") == 0)
		time_all(argv[2], number(argc, argv, 3, 5));
	else
		return fprintf(stderr, "usage: large generate FILE [SHAPE [HITS [NODES]]] | large time FILE [RUNS]\n"),
		       2;
	return 0;
}
