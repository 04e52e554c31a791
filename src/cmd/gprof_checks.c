/* Warnings about an image and its GMONs that gprof does not print. */
#include "cmd/gprof.h"
#include "cmd/message.h"
#include "gprof/build_check.h"

static void check_build(const struct gprof_run *run)
{
	const struct gmon *gmon = &run->gmon;
	size_t odd = gmon_odd_arcs(gmon, &run->image);
	if (odd > 0)
		warning(run->invocation,
			"%zu of %zu calls go to addresses in '%s' where no function counts them: gmon.out is from "
			"another program or build, so its figures are of wrong functions",
			odd, gmon->arc_count, run->image.path);
}

static void check_addresses(const struct gprof_run *run)
{
	const struct graph *graph = &run->graph;
	if (graph->samples_outside > 0)
		warning(run->invocation, "%llu of %llu samples lie outside of the functions of '%s'",
			(unsigned long long)graph->samples_outside, (unsigned long long)graph->samples,
			run->image.path);
	if (graph->calls_from_outside > 0)
		warning(run->invocation,
			"skipped %llu calls from code outside of '%s', as gprof does: their callees appear too cheap "
			"per call",
			(unsigned long long)graph->calls_from_outside, run->image.path);
}

/* If an option's SPEC matches nothing, gprof prints everything, as without the option. */
static void check_choices(const struct gprof_run *run)
{
	for (size_t i = 0; i < run->choices.count; i++)
		if (run->choices.items[i].matched == 0)
			warning(run->invocation, "'%s' has no function '%s'", run->image.path,
				run->choices.items[i].spec);
}

static void check_data(const struct gprof_run *run)
{
	if (run->gmon.histogram_count > 0 && run->gmon.histograms[0].rate == 0)
		warning(run->invocation, "gmon.out has a sampling rate of 0: times are printed in samples");
	if (run->gmon.histogram_count > 0 && run->graph.samples == 0)
		notice(run->invocation,
		       "nothing was sampled: the run was too short for its timer, or its time went into libraries");
	if (run->gmon.histogram_count > 0 && run->gmon.arc_count == 0)
		notice(run->invocation, "no calls were counted (compile with -pg)");
}

void gprof_check(const struct gprof_run *run)
{
	check_choices(run);
	check_data(run);
	if (run->profile_count == 0)
		check_build(run);
	check_addresses(run);
}
