/* The commands that the summary of `cpprof report` proposes: those that fit the profile. */
#ifndef RENDER_SUMMARY_NEXT_H
#define RENDER_SUMMARY_NEXT_H

#include "render/emit.h"

void summary_next_print(FILE *out, const struct result *result, const struct render_options *options);

#endif
