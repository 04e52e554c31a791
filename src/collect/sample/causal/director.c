#include "collect/sample/causal/director.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/buffer.h"
#include "collect/sample/causal/paths.h"

enum { NS_PER_MS = 1000000 };
static const uint64_t REST_NS = 10 * NS_PER_MS;
static const uint64_t LONGEST_NS = 5000 * (uint64_t)NS_PER_MS;

struct causal_director {
	struct causal_options options;
	struct causal_paths paths;
	const struct profile *profile;
	const struct backend_vtable *vtable;
	struct backend *backend;
	struct experiment *items;
	size_t count, capacity;
	uint64_t random;

	bool is_running;           /* an experiment has begun in the target */
	bool is_chosen;            /* by_run: `present` has the run's path and percentage */
	struct experiment present; /* the experiment that runs */
	uint64_t start_ns, due_ns; /* its start, or the start of the run; the time of the next step */
	uint64_t start_amount;
	int failed; /* ERROR_MEMORY, once memory ran out */
};

struct causal_director *causal_director_new(const struct causal_options *options)
{
	struct causal_director *director = calloc(1, sizeof(*director));
	if (!director)
		return NULL;
	director->options = *options;
	director->random = options->random;
	causal_paths_init(&director->paths);
	return director;
}

void causal_director_free(struct causal_director *director)
{
	if (!director)
		return;
	causal_paths_release(&director->paths);
	free(director->items);
	free(director);
}

static uint64_t next_random(struct causal_director *director)
{
	uint64_t x = director->random;
	x ^= x << 13;
	x ^= x >> 7;
	x ^= x << 17;
	director->random = x;
	return hash_u64(x);
}

/* --- choosing --- */

/* Chooses a path and a percentage, which is 0 in each second experiment: each speed-up is
 * compared with the experiments directly before and after it, so that phases of the program and
 * other load change both alike. Returns false if there is no path yet. */
static bool choose(struct causal_director *director)
{
	uint32_t path = causal_paths_choose(&director->paths, next_random(director));
	uint64_t level = next_random(director) % EXPERIMENT_LEVELS;
	bool is_base = director->count % 2 == 0;
	if (path == PROFILE_NONE)
		return false;
	director->present = (struct experiment){
		.path = path,
		.percent = is_base                     ? 0
			   : director->options.percent ? director->options.percent
						       : (uint32_t)(level + 1) * EXPERIMENT_STEP,
	};
	return true;
}

/* Begins the chosen experiment in a process. Returns false if that does not have the path. */
static bool begin_in(struct causal_director *director, uint32_t pid)
{
	struct backend_function functions[BACKEND_EXPERIMENT_FRAMES];
	const struct backend_experiment experiment = {
		.pid = pid,
		.percent = director->present.percent,
		.path = functions,
		.frames = causal_paths_locate(&director->paths, director->present.path, pid, functions),
	};
	return experiment.frames > 0 && director->vtable->experiment(director->backend, &experiment);
}

static struct backend_progress progress(const struct causal_director *director)
{
	return director->vtable->progress(director->backend, director->options.request);
}

static void store(struct causal_director *director)
{
	if (ARRAY_RESERVE(director->items, director->capacity, director->count + 1) < 0)
		director->failed = ERROR_MEMORY;
	else
		director->items[director->count++] = director->present;
}

/* --- experiments in a run --- */

static void begin_next(struct causal_director *director, uint64_t now_ns)
{
	director->due_ns = now_ns + REST_NS;
	if (!choose(director) || !begin_in(director, director->paths.items[director->present.path].pid))
		return;
	director->is_running = true;
	director->start_amount = progress(director).amount;
	director->start_ns = now_ns;
	director->due_ns = now_ns + director->options.length_ns;
}

static void end_present(struct causal_director *director, uint64_t now_ns)
{
	enum { FEWEST_VISITS = 5 };
	struct backend_progress at = progress(director);
	director->present.duration_ns = (double)(now_ns - director->start_ns);
	director->present.delay_ns = (double)at.delay_ns;
	director->present.progress = (double)(at.amount - director->start_amount);
	director->vtable->experiment(director->backend, NULL);
	director->is_running = false;
	director->due_ns = now_ns + REST_NS;
	store(director);
	if (director->present.progress < FEWEST_VISITS && director->options.length_ns < LONGEST_NS)
		director->options.length_ns *= 2;
}

/* --- a run as an experiment --- */

/* The present run has ended. A run in which the path was not found counts for nothing, one that had no pauses for all. */
static void end_run(struct causal_director *director, uint64_t now_ns)
{
	if (director->is_chosen && (director->is_running || director->present.percent == 0)) {
		director->present.duration_ns = (double)(now_ns - director->start_ns);
		director->present.delay_ns = (double)progress(director).delay_ns;
		director->present.progress = 1;
		store(director);
	}
	director->is_running = director->is_chosen = false;
}

/* --- calls of the monitor --- */

void causal_director_begins(struct causal_director *director, const struct profile *profile,
			    const struct backend_vtable *vtable, struct backend *backend)
{
	director->profile = profile;
	director->vtable = vtable;
	director->backend = backend;
	director->is_running = director->is_chosen = false;
	causal_paths_begin(&director->paths);
	if (director->options.by_run)
		director->is_chosen = choose(director);
}

void causal_director_starts(struct causal_director *director, uint64_t now_ns)
{
	director->start_ns = now_ns;
	director->due_ns = now_ns + REST_NS;
}

void causal_director_code(struct causal_director *director, uint32_t pid, const struct backend_code *code, size_t count)
{
	if (causal_paths_code(&director->paths, pid, director->profile, code, count) < 0)
		director->failed = ERROR_MEMORY;
	if (director->is_chosen && !director->is_running)
		director->is_running = begin_in(director, pid);
}

void causal_director_event(void *context, const struct backend_sample *sample,
			   const struct sample_sink_position *position)
{
	struct causal_director *director = context;
	if (sample->request == 0 && causal_paths_add(&director->paths, director->profile, sample, position->node) < 0)
		director->failed = ERROR_MEMORY;
}

uint64_t causal_director_turn(struct causal_director *director, uint64_t now_ns, bool is_done)
{
	if (director->options.by_run) {
		if (is_done)
			end_run(director, now_ns);
		return UINT64_MAX;
	}
	if (is_done || now_ns < director->due_ns)
		return director->due_ns;
	if (director->is_running)
		end_present(director, now_ns);
	else
		begin_next(director, now_ns);
	return director->due_ns;
}

/* --- results --- */

int causal_director_name(struct causal_director *director, const struct profile *profile, struct error *error)
{
	if (director->failed < 0 || causal_paths_name(&director->paths, profile) < 0)
		return error_memory(error);
	return 0;
}

/* Returns the names of a path's functions, or NULL if memory ran out. */
static char *name_of(const struct causal_paths *paths, uint32_t path)
{
	uint32_t chain[BACKEND_EXPERIMENT_FRAMES];
	size_t count = 0;
	struct buffer name;
	buffer_init(&name);
	for (; path != PROFILE_NONE && count < BACKEND_EXPERIMENT_FRAMES; path = paths->items[path].parent)
		chain[count++] = path;
	while (count > 0) {
		const char *function = paths->items[chain[--count]].name;
		if (!function || !function[0])
			continue;
		if (name.size > 0)
			buffer_append_byte(&name, '\n');
		buffer_append_string(&name, function);
	}
	buffer_append_byte(&name, 0);
	char *copy = buffer_error(&name) ? NULL : strdup((const char *)name.bytes);
	buffer_release(&name);
	return copy;
}

int causal_director_take(struct causal_director *director, struct experiments *experiments, struct error *error)
{
	const struct causal_paths *paths = &director->paths;
	*experiments = (struct experiments){ .hits = paths->hits };
	experiments->paths = calloc(paths->count + 1, sizeof(experiments->paths[0]));
	if (!experiments->paths)
		return error_memory(error);
	for (; experiments->path_count < paths->count; experiments->path_count++) {
		struct experiment_path *to = &experiments->paths[experiments->path_count];
		to->hits = paths->items[experiments->path_count].hits;
		to->name = name_of(paths, (uint32_t)experiments->path_count);
		if (!to->name) {
			experiments_release(experiments);
			return error_memory(error);
		}
	}
	experiments->items = director->items;
	experiments->count = director->count;
	experiments->capacity = director->capacity;
	director->items = NULL;
	director->count = director->capacity = 0;
	return 0;
}

void experiments_release(struct experiments *experiments)
{
	for (size_t i = 0; i < experiments->path_count; i++)
		free(experiments->paths[i].name);
	free(experiments->paths);
	free(experiments->items);
	*experiments = (struct experiments){ 0 };
}
