/*
 * Subtracts the time that probes take from the times that they measure. For each call of a probe point, `inside`
 * falls between the two time stamps and was counted for the probe point's path; `outside` was counted for the path
 * that called it.
 *
 *     caller   ... ][ enter: outside | stamp | inside ][ the probe point ... ][ leave: inside | stamp | outside ][ caller ...
 *
 * A probe adds least_ps to most_ps to each, depending on how far the processor executes it together with the function's
 * own instructions. So a path's true time is between two limits. Their middle is its time, half their distance its
 * error:
 *
 *     0 |-------|======== time ========|-----------| as measured
 *               measured - most        measured - least
 *
 * The lower limit is at least 0, so an error is at most as large as its time.
 */
#include <stdlib.h>

#include "collect/count/parts.h"

/* The time that the probes added to a path, in ns. */
struct added {
	double least, most;
};

static void add(struct added *added, uint64_t calls, const struct tally_cost *cost)
{
	added->least += (double)calls * (double)cost->least_ps / 1000;
	added->most += (double)calls * (double)cost->most_ps / 1000;
}

static uint64_t whole(double ns)
{
	static const uint64_t most = UINT64_C(1) << 62;
	return ns <= 0 ? 0 : ns < (double)most ? (uint64_t)(ns + 0.5) : most;
}

/* If even the least is more than was measured, these probes took less than the probes of the calibration: then all of the
 * measured time may be theirs. */
static void correct(struct tally *tally, struct count_path *path, const struct added *added)
{
	double measured = (double)path->exclusive_ns;
	double low = measured > added->most ? measured - added->most : 0;
	double high = measured >= added->least ? measured - added->least : measured;
	path->measured_ns = path->exclusive_ns;
	path->exclusive_ns = whole((low + high) / 2);
	path->error_ns = whole((high - low) / 2);
	path->error_ns = path->error_ns < path->exclusive_ns ? path->error_ns : path->exclusive_ns;
	tally->is_compensated = tally->is_compensated || path->error_ns > 0;
}

static void compensate_tree(struct tally *tally, const struct count_thread *thread, struct added *added)
{
	const struct count_tree *tree = &thread->tree;
	for (size_t i = 0; i < tree->call_count; i++) {
		const struct count_call *call = &tree->calls[i];
		if (call->child == TALLY_NONE || !tally_probe_at(tally, thread->process, call->function))
			continue;
		add(&added[call->child], call->count, &tally->header.probe_inside);
		add(&added[call->path], call->count, &tally->header.probe_outside);
	}
	for (size_t i = 0; i < tree->path_count; i++)
		correct(tally, &tree->paths[i], &added[i]);
}

/* A probe takes some ns. A file with more than 100 us is corrupt: subtract nothing. */
static bool is_plausible(const struct tally_cost *cost)
{
	static const int64_t limit_ps = 100 * 1000 * 1000;
	return cost->least_ps <= cost->most_ps && cost->least_ps > -limit_ps && cost->most_ps < limit_ps;
}

static bool is_measured(const struct tally_header *header)
{
	return header->probe_inside.most_ps != 0 && is_plausible(&header->probe_inside) &&
	       is_plausible(&header->probe_outside);
}

int tally_compensate(struct tally *tally)
{
	if (!is_measured(&tally->header) ||
	    (tally->header.measurement != TALLY_PATHS_TIMED && tally->header.measurement != TALLY_TRACE))
		return 0;
	for (size_t i = 0; i < tally->thread_count; i++) {
		struct added *added = calloc(tally->threads[i].tree.path_count, sizeof(*added));
		if (!added)
			return ERROR_MEMORY;
		compensate_tree(tally, &tally->threads[i], added);
		free(added);
	}
	return 0;
}
