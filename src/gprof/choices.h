/*
 * The symbols and arcs that options select: -pSYM, -QSYM, -k FROM/TO and so on.
 *
 * A SPEC is NAME, FILE.c, FILE.c:NAME, FILE.c:LINE or LINE; the caller warns about a SPEC that matches no symbol. If
 * a SPEC includes a symbol or arc of a kind, all others of that kind are excluded; otherwise all are included,
 * except what is excluded.
 *
 * Life cycle: zeroed, choices_add*, choices_resolve, questions, choices_release.
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
	CHOICE_TIME,   /* -n -N -F -E: functions that pass their time on in the call graph */
	CHOICE_COUNTS, /* -C -Z */
	CHOICE_SOURCE, /* -A -J */
	CHOICE_ARCS,   /* -q -Q -k with a slash */
	CHOICES,
};

struct choice {
	enum choice_kind kind;
	bool excludes;
	const char *spec; /* not owned */
	size_t matched;   /* number of matching symbols (CHOICE_ARCS: of the side with fewer) */
	uint64_t *from;   /* both owned: CHOICE_ARCS: the symbols of each side, a bit each */
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
/* Looks up the specs. The image must have its source files if a spec has a file or a line. Returns 0 or
 * ERROR_MEMORY. */
int choices_resolve(struct choices *choices, const struct image *image);
void choices_release(struct choices *choices);

bool choices_include(const struct choices *choices, enum choice_kind kind, uint32_t symbol);
bool choices_exclude(const struct choices *choices, enum choice_kind kind, uint32_t symbol);
/* Whether a symbol is included; or, if the kind includes no symbols, whether it is not excluded. */
bool choices_allow(const struct choices *choices, enum choice_kind kind, uint32_t symbol);
bool choices_allow_arc(const struct choices *choices, uint32_t from, uint32_t to);

#endif
