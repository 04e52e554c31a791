/* Measures the cost of one entry and exit of a probe point, for reports to subtract. */
#ifndef COLLECT_AGENT_PROBES_COST_H
#define COLLECT_AGENT_PROBES_COST_H

/* Measures the cost where each call is timed, and writes it into the tally's header; once in a run, in some 0.5 ms.
 * Changes no counts. Async-signal-safe. */
void probe_cost_measure(void);

#endif
