/*
 * What of a program is to be instrumented: a file in the spirit of the 1993 tool's command file (docs/source.md), or the
 * lists that users of TAU and Score-P have.
 */
#ifndef COLLECT_SOURCE_INSTRUMENT_SELECTION_H
#define COLLECT_SOURCE_INSTRUMENT_SELECTION_H

#include "collect/source/instrument/instrument.h"

struct selection;

/* By default: functions of the main file, but for tiny ones and those that are always_inline. NULL: no memory. */
struct selection *selection_new(void);
void selection_free(struct selection *selection);

/* Adds the rules of a file, whatever of the three it is. 0; ERROR_FORMAT with "FILE:LINE: what" in *error. */
int selection_read(struct selection *selection, const char *path, struct error *error);
/* ... of one line, as --select has it. */
int selection_add(struct selection *selection, const char *line, struct error *error);
/* What begins in that line of a file stays out: the compiler did not take it. 0 or ERROR_MEMORY. */
int selection_except(struct selection *selection, const char *file, uint32_t line);

/* Sets point->skipped, ->group and ->level by the rules. Those that the language forbids are decided already. */
void selection_decide(const struct selection *selection, struct source_point *point);
/* The finest level that is asked for: INSTRUMENT_LEVEL_FUNCTION by default. */
int selection_level(const struct selection *selection);

#endif
