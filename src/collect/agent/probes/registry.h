/*
 * The places that the program's source tells of (cpprof/profiler.h), as this process knows them.
 *
 *   probes/registry.c   the registry: a record of each in the tally, and where it is
 *   probes/rules.c      which are to be on: the user's rules, in their order
 *   probes/switch.c     rules are applied, at start (CPPROF_SITES), by the program and by `cpprof control`
 *   probes/throttle.c   places that turn themselves off
 */
#ifndef COLLECT_AGENT_PROBES_REGISTRY_H
#define COLLECT_AGENT_PROBES_REGISTRY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <cpprof/profiler.h>

#include "abi/tally.h"

/* A place is reached first, by code at `code`: it is written into the tally, and on unless a rule says otherwise. Another thread
 * may be about to do the same: once is enough. Where that is done in this thread already it stays NEW. Async-signal-safe. */
void sites_register(struct cpprof_site *site, uint64_t code);

/* Before all else of this header, where hooks.header is known: the rules, what a probe costs, and who may switch places. Once. */
void sites_begin(void);

/* The child of a fork: what its parent knows is written again for it. */
void sites_forked(void);

/* --- the registry --- */

/* A place that was reached. None is ever moved or taken out. */
struct sites_place {
	struct cpprof_site *site; /* its library may be unloaded: see sites_store */
	struct tally_site *told;  /* its record in this process's tally; NULL: there was no room, and it is off */
	uint64_t calls, tsc;      /* probes/throttle.c: since it was looked at last, and how long they took; atomic */
};

/* How many there are; and one of them, from 0. Async-signal-safe, by any thread. */
uint32_t sites_count(void);
struct sites_place *sites_at(uint32_t index);
/* That of a place whose code runs; NULL: it is not there. */
struct sites_place *sites_find(const struct cpprof_site *site);

/* Who holds it alone adds places and rules and switches places. Signals are blocked meanwhile. */
void sites_lock(uint64_t *signals);
void sites_unlock(const uint64_t *signals);

/* Switches a place, in the program and in the tally; `flags` of enum tally_site_flags are what is said of it when it is off. What was
 * unloaded is left alone. True: it was not so before. Locked. */
bool sites_switch(struct sites_place *place, bool on, uint32_t flags);

/* --- rules --- */

enum { SITES_PATTERN_MAX = 240, SITES_RULES_MAX = 256 };

/* What a line says: `on PATTERN`, `off PATTERN`, `group NAME on`, `level N`, `throttle CALLS NS`, `throttle off`. */
struct sites_rule {
	enum sites_rule_kind { SITES_NOTHING, SITES_TURN, SITES_GROUP, SITES_LEVEL, SITES_THROTTLE } kind;
	bool on;                         /* SITES_TURN, SITES_GROUP */
	uint64_t number, ns;             /* SITES_LEVEL; SITES_THROTTLE: calls, 0: off, and ns a call */
	char pattern[SITES_PATTERN_MAX]; /* SITES_TURN, SITES_GROUP */
};

/* Reads a line, of `bytes` bytes without its end. NULL: *rule is filled in (SITES_NOTHING: blank, or a comment); else what is
 * wrong with it. */
const char *sites_rule_read(struct sites_rule *rule, const char *line, size_t bytes);

/* It is the last one from now on. False: there are too many. Locked. */
bool sites_rule_add(const struct sites_rule *rule);
/* What the rules say of a place. Locked. */
bool sites_wanted(const struct tally_site *told);
/* Whether a rule is about this place, whatever it says of it. */
bool sites_rule_matches(const struct sites_rule *rule, const struct tally_site *told);
/* Whether its names are of this pattern: `*`, `?`, and `file:PATTERN`, `group:PATTERN`. */
bool sites_pattern_matches(const char *pattern, const struct tally_site *told);

/* --- applied --- */

struct sites_turned {
	uint32_t known, matching, changed; /* places: so far, those that the rule is about, those that it switched */
	const char *trouble;               /* NULL: none, else nothing was done */
};

/* The line is a rule from now on. Async-signal-safe, by any thread, also by one that the C library does not know. */
struct sites_turned sites_obey(const char *line, size_t bytes);

/* The rules of the file in CPPROF_SITES are there from now on. Locked, once in a process. What is wrong with one is said in the tally. */
void sites_rules_begin(void);

/* The tally says what was wrong with a file, or a line of it (0: none); the first such thing of a run is kept. */
void sites_say_trouble(const char *path, uint64_t line, const char *what);

/* --- places that turn themselves off (probes/throttle.c) --- */

/* From so many calls on, of which each took less than that; 0: none does any more. Locked. */
void sites_throttle(uint64_t calls, uint64_t ns);
/* The same as was said before it was known that anything is counted. */
void sites_throttle_begin(void);
/* A call of a place took so long. */
void sites_took(uint64_t address, uint64_t tsc);

#endif
