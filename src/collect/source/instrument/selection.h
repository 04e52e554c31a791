/* The instrumentation filter: the functions of a program to instrument. Read
 * from a file in the form of the 1993 tool's command file (docs/source.md), or
 * from the lists of TAU and Score-P. */
#ifndef COLLECT_SOURCE_INSTRUMENT_SELECTION_H
#define COLLECT_SOURCE_INSTRUMENT_SELECTION_H

#include "collect/source/instrument/instrument.h"

struct selection;

/* Returns the default selection: functions of the main file, except tiny ones and always_inline ones. Returns NULL
 * if there is no memory. */
struct selection *selection_new(void);
void selection_free(struct selection *selection);

/* Adds the rules of a file in any of the three forms. Returns 0, or
 * ERROR_FORMAT with "FILE:LINE: reason" in *error. */
int selection_read(struct selection *selection, const char *path, struct error *error);
/* ... and the rule of one line, as of --rule. */
int selection_add(struct selection *selection, const char *line, struct error *error);
/* Excludes the function that begins in that line of a file, because the
 * compiler rejected its copy. Returns 0 or ERROR_MEMORY. */
int selection_except(struct selection *selection, const char *file, uint32_t line);

/* Sets point->skipped, ->group and ->level by the rules. Points that the language forbids must have been skipped
 * before. */
void selection_decide(const struct selection *selection, struct source_point *point);
/* Returns the finest requested level: PROBE_LEVEL_FUNCTION by default. */
int selection_level(const struct selection *selection);

#endif
