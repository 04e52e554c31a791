/*
 * Folded stacks: one call path a line, outermost frame first, then its hits.
 *
 *     main;uniquify_db;qsort 12
 *
 * The count stands after the last blank, so names may contain blanks; a ';'
 * inside a name is written as ':'. Empty lines mean nothing, nor do lines that
 * begin with '#' and a blank or do not end in a count. Functions are as in formats/format.h.
 */
#ifndef FORMATS_FOLDED_H
#define FORMATS_FOLDED_H

#include "formats/format.h"

struct profile *folded_import(FILE *in, const char *name, const char *object, struct error *error);

/* One line per distinct path that has hits of its own, sorted by the path's
 * bytes. Start code above `main` is left out unless asked for; a sample of
 * nothing but start code keeps its innermost frame. A path without any frame
 * is "[no stack]". */
int folded_export(const struct profile *profile, const struct convert_selection *selection, FILE *out,
		  struct error *error);

#endif
