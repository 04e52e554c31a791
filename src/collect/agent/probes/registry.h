/*
 * The probe points that the program's source tells of (cpprof/profiler.h), as this process knows them.
 *
 *   probes/registry.c   the registry: a record of each in the tally, and where it is
 *   probes/rules.c      which are to be on: the user's rules, in their order
 *   probes/switch.c     rules are applied, at start (CPPROF_SITES), by the program and by `cpprof control`
 *   probes/throttle.c   probe points that turn themselves off
 */
#ifndef COLLECT_AGENT_PROBES_REGISTRY_H
#define COLLECT_AGENT_PROBES_REGISTRY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <cpprof/profiler.h>

#include "abi/tally.h"

/* A probe point is reached first, by code at `code`: it is written into the tally, and on unless a rule says otherwise. Another thread
 * may be about to do the same: once is enough. Where that is done in this thread already it stays NEW. Async-signal-safe. */
void probes_register(struct cpprof_site *descriptor, uint64_t code);

/* Before all else of this header, where hooks.header is known: the rules, what a probe costs, and who may switch probe points. Once. */
void probes_begin(void);

/* The child of a fork: what its parent knows is written again for it. */
void probes_forked(void);

/* --- the registry --- */

/* A probe point that was reached. None is ever moved or taken out. */
struct probes_entry {
	struct cpprof_site *descriptor; /* its library may be unloaded: see probes_store */
	struct tally_probe *told;       /* its record in this process's tally; NULL: there was no room, and it is off */
	uint64_t calls, ticks; /* probes/throttle.c: since it was looked at last, and how long they took; atomic */
};

/* How many there are; and one of them, from 0. Async-signal-safe, by any thread. */
uint32_t probes_count(void);
struct probes_entry *probes_at(uint32_t index);
/* That of a probe point whose code runs; NULL: it is not there. */
struct probes_entry *probes_find(const struct cpprof_site *descriptor);

/* Who holds it alone adds probe points and rules and switches probe points. Signals are blocked meanwhile. */
void probes_lock(uint64_t *signals);
void probes_unlock(const uint64_t *signals);

/* Switches a probe point, in the program and in the tally; `flags` of enum tally_probe_flags are what is said of it when it is off. What was
 * unloaded is left alone. True: it was not so before. Locked. */
bool probes_switch(struct probes_entry *probe, bool on, uint32_t flags);

/* --- rules --- */

enum { PROBES_PATTERN_MAX = 240, PROBES_RULES_MAX = 256 };

/* What a line says: `on PATTERN`, `off PATTERN`, `group NAME on`, `level N`, `throttle CALLS NS`, `throttle off`. */
struct probes_rule {
	enum probes_rule_kind { PROBES_NOTHING, PROBES_TURN, PROBES_GROUP, PROBES_LEVEL, PROBES_THROTTLE } kind;
	bool on;                          /* PROBES_TURN, PROBES_GROUP */
	uint64_t number, ns;              /* PROBES_LEVEL; PROBES_THROTTLE: calls, 0: off, and ns a call */
	char pattern[PROBES_PATTERN_MAX]; /* PROBES_TURN, PROBES_GROUP */
};

/* Reads a line, of `bytes` bytes without its end. NULL: *rule is filled in (PROBES_NOTHING: blank, or a comment); else what is
 * wrong with it. */
const char *probes_rule_read(struct probes_rule *rule, const char *line, size_t bytes);

/* It is the last one from now on. False: there are too many. Locked. */
bool probes_rule_add(const struct probes_rule *rule);
/* What the rules say of a probe point. Locked. */
bool probes_wanted(const struct tally_probe *told);
/* Whether a rule is about this probe point, whatever it says of it. */
bool probes_rule_matches(const struct probes_rule *rule, const struct tally_probe *told);
/* Whether its names are of this pattern: `*`, `?`, and `file:PATTERN`, `group:PATTERN`. */
bool probes_pattern_matches(const char *pattern, const struct tally_probe *told);

/* --- applied --- */

struct probes_turned {
	uint32_t known, matching,
		changed;     /* probe points: so far, those that the rule is about, those that it switched */
	const char *refusal; /* NULL: none, else nothing was done */
};

/* The line is a rule from now on. Async-signal-safe, by any thread, also by one that the C library does not know. */
struct probes_turned probes_obey(const char *line, size_t bytes);

/* The rules of the file in CPPROF_SITES are there from now on. Locked, once in a process. What is wrong with one is said in the tally. */
void probes_rules_begin(void);

/* The tally says what was wrong with a file, or a line of it (0: none); the first such thing of a run is kept. */
void probes_report_refusal(const char *path, uint64_t line, const char *what);

/* --- probe points that turn themselves off (probes/throttle.c) --- */

/* From so many calls on, of which each took less than that; 0: none does any more. Locked. */
void probes_throttle(uint64_t calls, uint64_t ns);
/* The same as was said before it was known that anything is counted. */
void probes_throttle_begin(void);
/* A call of a probe point took so long. */
void probes_took(uint64_t address, uint64_t ticks);

#endif
