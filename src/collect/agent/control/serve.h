/*
 * What `cpprof control` asks, and what it is answered: a line each way, and for `list` more.
 *
 *     list \t PATTERN ...     "ok KNOWN\n", then a line for each probe point that was reached, of any of the patterns if there are some:
 *                             STATE \t KIND \t LEVEL \t NAME \t SIGNATURE \t FILE \t LINE \t GROUP
 *                             STATE is on, off or throttled; KIND and LEVEL are numbers; control characters in texts are '?'
 *     a rule (probes/registry.h)        "ok KNOWN MATCHING CHANGED\n", all of them numbers of probe points
 *     what is wrong           "error WHY\n"
 */
#ifndef COLLECT_AGENT_CONTROL_SERVE_H
#define COLLECT_AGENT_CONTROL_SERVE_H

/* Serves the connected client. Limits the time for a slow or invalid one to
 * some seconds. Called by the control thread. */
void control_serve(long fd);

#endif
