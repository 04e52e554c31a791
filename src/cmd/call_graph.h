/* Prints the call graph of a profile in gprof's layout, with the times of the call paths: gprof --true. */
#ifndef CMD_CALL_GRAPH_H
#define CMD_CALL_GRAPH_H

#include "analyze/view.h"
#include "cmd/command.h"
#include "gprof/print.h"

/* Prints the call graph and its index to standard output. `has_output`: another report was printed before. Returns
 * an exit status. */
int call_graph_print(const struct invocation *invocation, const struct profile *profile,
		     const struct view_options *options, const struct print_options *print, bool has_output);

/* Prints one line on standard error: the largest error of gprof's assumption that all calls of a function cost the
 * same. Prints nothing if calls were not counted. Returns an exit status. */
int call_graph_judge(const struct invocation *invocation, const struct profile *profile,
		     const struct view_options *options);

#endif
