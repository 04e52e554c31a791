/* The call graph of a profile in gprof's layout, with the times of the call paths: gprof --true. */
#ifndef CMD_CALL_GRAPH_H
#define CMD_CALL_GRAPH_H

#include "analyze/view.h"
#include "cmd/command.h"
#include "gprof/print.h"

/* Prints it and its index to standard output; `has_output`: behind another report. Returns an exit status. */
int call_graph_print(const struct invocation *invocation, const struct profile *profile,
		     const struct view_options *options, const struct print_options *print, bool has_output);

/* Says how far gprof's assumption that all calls of a function cost the same is from what they cost: a line on
 * standard error; none if calls were not counted. Returns an exit status. */
int call_graph_judge(const struct invocation *invocation, const struct profile *profile,
		     const struct view_options *options);

#endif
