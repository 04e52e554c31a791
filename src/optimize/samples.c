#include "optimize/builds.h"

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/source_counts.h"
#include "profile_file/reader.h"

/* With 1000 hits, a line with one percent of the time has about 10: its share is known to a third. */
enum { HITS_NEEDED = 1000, RUNS_MAX = 100 };

static bool is_below(const char *path, const char *folder)
{
	size_t bytes = strlen(folder);
	return strncmp(path, folder, bytes) == 0 && path[bytes] == '/';
}

/* Returns the hits in lines of programs and libraries outside of the folder: debug information of the C library may be
 * installed, and any program spends some time in the dynamic linker. */
static uint64_t hits_elsewhere(const struct profile *profile, const char *folder)
{
	uint64_t hits = 0;
	for (size_t i = 0; i < profile->hit_count; i++) {
		const struct profile_hit *hit = &profile->hits[i];
		uint32_t id = profile->nodes[hit->node].location;
		const struct profile_location *location = id == PROFILE_NONE ? NULL : &profile->locations[id];
		if (hit->resource != 0 || !location || location->frame_count == 0 ||
		    location->first_frame == PROFILE_NONE)
			continue;
		const struct profile_frame *frame = &profile->frames[location->first_frame];
		const struct profile_module *module = &profile->modules[location->module];
		uint32_t first_line = profile->functions[frame->function].line;
		if (module->kind == MODULE_FILE && frame->kind == FRAME_NATIVE && first_line != 0 &&
		    frame->line >= first_line && !is_below(profile_string(profile, module->path), folder))
			hits += hit->count;
	}
	return hits;
}

static int read_recording(struct optimize_samples *samples, const char *folder, const char *path, struct error *error)
{
	char real[PATH_MAX];
	if (!realpath(folder, real))
		return error_set(error, ERROR_SYSTEM, "cannot read the folder '%s': %s", folder, strerror(errno));
	samples->profile = reader_load(path, 0, error);
	struct source_counts *counts =
		samples->profile ? source_counts_new(samples->profile, 0, NEST_FILE, error) : NULL;
	if (!counts) {
		profile_free(samples->profile);
		samples->profile = NULL;
		return error->code;
	}
	samples->hits = counts->hits;
	samples->used =
		counts->hits - counts->losses.without_lines - counts->losses.line_zero - counts->losses.above_start;
	samples->used -= hits_elsewhere(samples->profile, real);
	if (samples->any_code)
		samples->used = samples->hits;
	source_counts_free(counts);
	return 0;
}

static int refuse_few(const struct optimize_samples *samples, struct error *error)
{
	if (samples->used == 0)
		return error_set(error, ERROR_NOT_FOUND,
				 "no sample of %" PRIu64
				 " is in code of the build: the workload does not run what was built, or is too "
				 "short (--run names a program by its path in the build, as './program')",
				 samples->hits);
	return error_set(error, ERROR_LIMIT,
			 "too few samples for a stable profile: %" PRIu64 " in %zu run%s, and %d are needed "
			 "(a workload that takes %.1f times as long)",
			 samples->used, samples->runs, samples->runs == 1 ? "" : "s", HITS_NEEDED,
			 (double)HITS_NEEDED / (double)samples->used);
}

int optimize_samples_take(struct optimize_samples *samples, const char *folder, const char *workload, const char *data,
			  struct error *error)
{
	bool is_fixed = samples->runs > 0;
	for (samples->runs += !is_fixed;;) {
		int code = optimize_record(folder, workload, samples->runs, data, error);
		if (code == 0)
			code = read_recording(samples, folder, data, error);
		if (code < 0 || is_fixed || samples->used >= HITS_NEEDED)
			return code;
		profile_free(samples->profile);
		samples->profile = NULL;
		/* A quarter more, because samples are random. */
		double runs = samples->used ? ceil((double)samples->runs * HITS_NEEDED * 1.25 / (double)samples->used)
					    : INFINITY;
		if (runs > RUNS_MAX || samples->runs >= RUNS_MAX)
			return refuse_few(samples, error);
		samples->runs = (size_t)runs > samples->runs ? (size_t)runs : samples->runs + 1;
	}
}
