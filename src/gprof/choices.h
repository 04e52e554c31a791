/*
 * Which symbols and arcs the options name: -pSYM, -QSYM, -k FROM/TO and so on.
 *
 * A SPEC is NAME, FILE.c, FILE.c:NAME, FILE.c:LINE or LINE; the caller warns of
 * one that names nothing. If a SPEC includes something of a kind, everything else
 * of that kind is excluded; otherwise everything is included except the excluded.
 *
 * Life cycle: zeroed, choices_add*, choices_settle, questions, choices_release.
 */
#ifndef GPROF_CHOICES_H
#define GPROF_CHOICES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "gprof/image.h"

enum choice_kind {
	CHOICE_FLAT,   /* -p -P: lines of the flat profile */
	CHOICE_GRAPH,  /* -q -Q -f -F -e -E: entries of the call graph */
	CHOICE_TIME,   /* -n -N -F -E: functions whose time the call graph passes on */
	CHOICE_COUNTS, /* -C -Z */
	CHOICE_SOURCE, /* -A -J */
	CHOICE_ARCS,   /* -q -Q -k with a slash */
	CHOICES,
};

struct choice {
	enum choice_kind kind;
	bool excludes;
	const char *spec; /* not owned */
	size_t matched;   /* number of symbols that it names (CHOICE_ARCS: the smaller number of the two sides) */
	uint64_t *from;   /* owned: CHOICE_ARCS: which symbols, a bit each */
	uint64_t *to;
};

struct choices {
	struct choice *items; /* owned, in the order in which they were added */
	size_t count, capacity;
	uint16_t *marks;          /* owned, per symbol: bit 2 * kind: included, the next one: excluded */
	size_t included[CHOICES]; /* symbols, or arc specs that match */
	const struct image *image;
};

int choices_add(struct choices *choices, enum choice_kind kind, bool excludes, const char *spec);
/* Looks the specs up; the image must have its source files if a spec names one. ERROR_MEMORY. */
int choices_settle(struct choices *choices, const struct image *image);
void choices_release(struct choices *choices);

/* Some spec names a file or a line. */
bool choices_need_source(const struct choices *choices);

bool choices_include(const struct choices *choices, enum choice_kind kind, uint32_t symbol);
bool choices_exclude(const struct choices *choices, enum choice_kind kind, uint32_t symbol);
/* Included, or not excluded and nothing is. */
bool choices_allow(const struct choices *choices, enum choice_kind kind, uint32_t symbol);
bool choices_allow_arc(const struct choices *choices, uint32_t from, uint32_t to);

#endif
