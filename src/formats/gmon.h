/*
 * gmon.out, what gprof reads: calls and samples of one object, by address.
 *
 * Import: each arc is two frames, the call site and the function called, as hits of `calls` (exact); each bin of the
 * histogram is one frame, as merged hits of `cpu`; each block one of `blocks`. gprof knows no more of who called whom, and so
 * neither does the profile. Addresses are not named yet.
 *
 * Export: gprof/from_profile.h.
 */
#ifndef FORMATS_GMON_H
#define FORMATS_GMON_H

#include "formats/format.h"

struct profile *gmon_import(FILE *in, const char *name, const char *object, struct error *error);

int gmon_export(const struct profile *profile, const struct convert_selection *selection, FILE *out,
		struct error *error);

#endif
