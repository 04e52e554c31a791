/* What one entry and exit of a probe point costs by itself, for reports to subtract. */
#ifndef COLLECT_AGENT_PROBES_COST_H
#define COLLECT_AGENT_PROBES_COST_H

/* Measures it where each call is timed, and writes it into the tally's header; once in a run, some 0.1 ms. Nothing that is counted
 * changes. Async-signal-safe. */
void probe_cost_measure(void);

#endif
