/*
 * The registry of the probe points (cpprof/profiler.h) that this process has reached.
 *
 *   probes/registry.c   the registry: a record of each in the tally, and the address of its descriptor
 *   probes/rules.c      which probe points are on: the user's rules, in their order
 *   probes/switch.c     applies rules: at start (CPPROF_PROBES), for the program and for `cpprof control`
 *   probes/throttle.c   probe points that switch themselves off
 */
#ifndef COLLECT_AGENT_PROBES_REGISTRY_H
#define COLLECT_AGENT_PROBES_REGISTRY_H

#include <cpprof/profiler.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "abi/tally.h"

/* Registers a probe point that code at `code` has reached first: writes its record into the tally and switches it
 * on, unless a rule switches it off. Several threads may call it at the same time: one of them registers it. If this
 * thread holds the lock already, it stays NEW. Async-signal-safe. */
void probes_register(struct cpprof_probe *descriptor, uint64_t code);

/* Called before the other functions of this header, when hooks.header is set: reads the rules, measures the cost of
 * a probe and starts the control thread. Only the first call has an effect. */
void probes_begin(void);

/* Called in the child of a fork: copies its parent's records. */
void probes_forked(void);

/* --- the registry --- */

/* A probe point that was reached. Entries are never moved or removed. */
struct probes_entry {
	struct cpprof_probe *descriptor; /* its library may be unloaded: see probes_switch */
	struct tally_probe *record; /* its record in this process's tally; NULL: there was no room, and it is off */
	uint64_t calls, ticks;      /* probes/throttle.c: calls since the last check, and their time; atomic */
};

/* Return the number of probe points, and one of them by its index from 0. Async-signal-safe, for any thread. */
uint32_t probes_count(void);
struct probes_entry *probes_at(uint32_t index);
/* Returns the entry of a probe point whose code runs, or NULL if it has none. */
struct probes_entry *probes_find(const struct cpprof_probe *descriptor);

/* Take and release the lock for adding and switching probe points and for adding rules. Signals are blocked while it
 * is held. */
void probes_lock(uint64_t *signals);
void probes_unlock(const uint64_t *signals);

/* Switches a probe point, in the program and in the tally. `flags`: further enum tally_probe_flags if it is switched
 * off. Does not write to an unloaded descriptor. Returns whether the state has changed. Locked. */
bool probes_switch(struct probes_entry *probe, bool on, uint32_t flags);

/* --- rules --- */

enum { PROBES_PATTERN_MAX = 240, PROBES_RULES_MAX = 256 };

/* A line: `on PATTERN`, `off PATTERN`, `group NAME on`, `group NAME off`, `level N`, `throttle CALLS NS`, `throttle
 * off`. */
struct probes_rule {
	enum probes_rule_kind { PROBES_NOTHING, PROBES_TURN, PROBES_GROUP, PROBES_LEVEL, PROBES_THROTTLE } kind;
	bool on;                          /* PROBES_TURN, PROBES_GROUP */
	uint64_t number, ns;              /* PROBES_LEVEL; PROBES_THROTTLE: calls (0: off) and ns per call */
	char pattern[PROBES_PATTERN_MAX]; /* PROBES_TURN, PROBES_GROUP */
};

/* Reads a line of `bytes` bytes, without its line break, into *rule (PROBES_NOTHING: blank, or a comment). Returns
 * NULL, or a static text of the error. */
const char *probes_rule_read(struct probes_rule *rule, const char *line, size_t bytes);

/* Appends a rule. Returns false if there are too many. Locked. */
bool probes_rule_add(const struct probes_rule *rule);
/* Returns whether the rules switch a probe point on. Locked. */
bool probes_is_on(const struct tally_probe *record);
/* Returns whether a rule applies to this probe point, on or off. */
bool probes_rule_matches(const struct probes_rule *rule, const struct tally_probe *record);
/* Returns whether a pattern matches the probe point: `*`, `?`, and `file:PATTERN`, `group:PATTERN`. */
bool probes_pattern_matches(const char *pattern, const struct tally_probe *record);

/* --- applying rules --- */

struct probes_turned {
	uint32_t known, matching,
		changed;     /* numbers of probe points: registered, to which the rule applies, switched */
	const char *refusal; /* NULL: none; else the error, and nothing was done */
};

/* Adds the line as a rule and applies it. Async-signal-safe, for any thread, also for one that the C library has not
 * created. */
struct probes_turned probes_apply(const char *line, size_t bytes);

/* Adds the rules of the file in CPPROF_PROBES. Locked, once in a process. Writes the first error into the tally. */
void probes_rules_begin(void);

/* Writes an error in a file, or in a line of it (0: none), into the tally, which keeps the first error of a run. */
void probes_report_refusal(const char *path, uint64_t line, const char *what);

/* --- throttling (probes/throttle.c) --- */

/* Enables throttling: a probe point with `calls` calls of less than `ns` each on average
 * switches itself off. `calls` 0: disables it. Locked. */
void probes_throttle(uint64_t calls, uint64_t ns);
/* Applies a probes_throttle that was called before the tally was open. */
void probes_throttle_begin(void);
/* Adds one call of the probe point at `address`, which took `ticks` of the time stamp. */
void probes_took(uint64_t address, uint64_t ticks);

/* cost.c: measures the cost of one entry and exit of a probe point, for reports to subtract. */

/* Measures the cost where each call is timed, and writes it into the tally's header; once in a run, in some 0.5 ms.
 * Changes no counts. Async-signal-safe. */
void probe_cost_measure(void);

#endif
