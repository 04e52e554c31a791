/* The instrumentation filter: chooses the functions of a program to instrument. It is read from a file in the form
 * of the 1993 tool's command file (docs/instrumented.md), or from the lists of TAU and Score-P. */
#ifndef COLLECT_SOURCE_INSTRUMENT_SELECTION_H
#define COLLECT_SOURCE_INSTRUMENT_SELECTION_H

#include "base/error.h"
#include "collect/source/instrument/source_point.h"

struct selection;

/* Returns a filter with the defaults: all functions of the main file, except tiny and always_inline functions. NULL: no
 * memory. */
struct selection *selection_new(void);
void selection_free(struct selection *selection);

/* Adds the rules of a file in any of the three forms. Returns 0, or ERROR_FORMAT with "FILE:LINE: reason" in
 * *error, or the error of opening the file. */
int selection_read(struct selection *selection, const char *path, struct error *error);
/* Adds a rule of one line, as of --rule. Returns 0 or an error. */
int selection_add(struct selection *selection, const char *line, struct error *error);
/* Excludes the probe point in this line of a file, because the compiler rejected its copy. Returns 0 or
 * ERROR_MEMORY. */
int selection_except(struct selection *selection, const char *file, uint32_t line);
/* The same for the hook of that probe point. `mistake` is copied: a sentence for struct source_point. */
int selection_except_hook(struct selection *selection, const char *file, uint32_t line, const char *mistake);

/* Sets point->skipped and ->group by the rules, and removes an excluded hook. Probe points that
 * the language forbids are skipped already, and not changed. */
void selection_decide(const struct selection *selection, struct source_point *point);
/* Returns the finest requested level: PROBE_LEVEL_FUNCTION by default. */
int selection_level(const struct selection *selection);
/* Returns whether a rule needs the functions' linker names. */
bool selection_needs_linker_names(const struct selection *selection);

#endif
