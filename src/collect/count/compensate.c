/*
 * Subtracts the time that probes take from the times that they measure. For each call of a probe point, `inside`
 * falls between the two time stamps and was counted for the probe point's path; `outside` was counted for the path
 * that called it.
 *
 *     caller   ... ][ enter: outside | stamp | inside ][ the probe point ... ][ leave: inside | stamp | outside ][ caller ...
 */
#include "collect/count/parts.h"

struct probe {
	uint64_t inside_ps, outside_ps;
};

static uint64_t cost_ns(uint64_t calls, uint64_t ps)
{
	double ns = (double)calls * (double)ps / 1000;
	return ns < (double)(UINT64_C(1) << 62) ? (uint64_t)ns : UINT64_C(1) << 62;
}

/* Subtracts `ns` from a path's own time, which does not become negative. Returns how much was subtracted. */
static uint64_t take(struct count_path *path, uint64_t ns)
{
	uint64_t taken = ns < path->exclusive_ns ? ns : path->exclusive_ns;
	path->exclusive_ns -= taken;
	return taken;
}

static void compensate_tree(struct tally *tally, struct count_thread *thread, const struct probe *probe)
{
	struct count_tree *tree = &thread->tree;
	for (size_t i = 0; i < tree->call_count; i++) {
		const struct count_call *call = &tree->calls[i];
		if (call->child == TALLY_NONE || !tally_probe_at(tally, thread->process, call->function))
			continue;
		tally->compensated_calls += call->count;
		tally->compensated_ns += take(&tree->paths[call->child], cost_ns(call->count, probe->inside_ps));
		tally->compensated_ns += take(&tree->paths[call->path], cost_ns(call->count, probe->outside_ps));
	}
}

void tally_compensate(struct tally *tally)
{
	const struct probe probe = { tally->header.probe_inside_ps, tally->header.probe_outside_ps };
	/* A probe takes some ns. A file with more than 100 us is corrupt: subtract nothing. */
	static const uint64_t most_ps = 100 * 1000 * 1000;
	if ((probe.inside_ps == 0 && probe.outside_ps == 0) || probe.inside_ps > most_ps || probe.outside_ps > most_ps)
		return;
	if (tally->header.measurement != TALLY_PATHS_TIMED && tally->header.measurement != TALLY_TRACE)
		return;
	for (size_t i = 0; i < tally->thread_count; i++)
		compensate_tree(tally, &tally->threads[i], &probe);
}
