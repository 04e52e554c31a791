#include "cmd/gprof.h"

#include "base/plural.h"
#include "cmd/message.h"

int call_graph_print(const struct invocation *invocation, const struct profile *profile,
		     const struct view_options *options, const struct print_options *print, bool has_output)
{
	struct truth truth;
	struct error error = { 0 };
	if (truth_init(&truth, profile, options, &error) < 0)
		return failure_of(invocation, &error);
	if (!truth.calls)
		notice(invocation, "%s", TRUTH_NO_CALLS);
	int code = print_truth(&truth, stdout, print, has_output, &error);
	truth_release(&truth);
	return code < 0 ? failure_of(invocation, &error) : EXIT_DONE;
}

static void print_worst(const struct invocation *invocation, const struct truth *truth, const struct truth_worst *worst)
{
	enum { PERCENT = 100 };
	if (worst->child == TRUTH_NONE || worst->error < 0.005) {
		notice(invocation, "gprof's assumption that all calls of a function cost the same holds here: "
				   "no caller's time is off by 0.5 %% of all or more");
		return;
	}
	double real = worst->real / truth->rate;
	notice(invocation,
	       "gprof's assumption that all calls of a function cost the same puts up to %.1f %% of all time "
	       "at the wrong caller: '%s' called by '%s' has %.2f there, but truly %.2f %s%s (--true prints the true "
	       "times)",
	       PERCENT * worst->error, truth->functions[worst->child].name, truth->functions[worst->parent].name,
	       worst->averaged / truth->rate, real, truth->is_time ? "seconds" : truth->unit,
	       truth->is_time ? "" : plural_ending(truth->unit, real));
}

int call_graph_print_error(const struct invocation *invocation, const struct profile *profile,
			   const struct view_options *options)
{
	struct truth truth;
	struct truth_worst worst;
	struct error error = { 0 };
	if (truth_init(&truth, profile, options, &error) < 0)
		return failure_of(invocation, &error);
	int code = truth_worst(&truth, &worst);
	if (code == 0 && truth.all_calls > 0)
		print_worst(invocation, &truth, &worst);
	truth_release(&truth);
	return code < 0 ? failure(invocation, "%s", error_text(code)) : EXIT_DONE;
}
