/*
 * Serves clients of `cpprof control`: a client sends a line, and the agent answers with a line, or for `list` with
 * several lines.
 *
 *     list \t PATTERN ...            "ok KNOWN\n", then a line for each registered probe point that matches one of
 *                                    the patterns, or for each one if there is no pattern:
 *                                    STATE \t KIND \t LEVEL \t NAME \t SIGNATURE \t FILE \t LINE \t GROUP
 *                                    STATE is on, off or throttled; KIND and LEVEL are numbers; control characters
 *                                    in texts are replaced by '?'
 *     a rule (probes/registry.h)     "ok KNOWN MATCHING CHANGED\n", all of them numbers of probe points
 *     an invalid request             "error WHY\n"
 */
#ifndef COLLECT_AGENT_CONTROL_SERVE_H
#define COLLECT_AGENT_CONTROL_SERVE_H

/* Reads one request from the connected client and answers it. Gives up a slow or invalid client after some
 * seconds. Called by the control thread. */
void control_serve(long fd);

#endif
