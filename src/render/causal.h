/* Prints the result of virtual speed-ups (analyze/causal.h). */
#ifndef RENDER_CAUSAL_H
#define RENDER_CAUSAL_H

#include <stdio.h>

#include "analyze/causal.h"
#include "render/render.h"

/* JSON has the experiments too. `progress` is what was counted: "orders", "run". The caller checks the stream. */
void render_causal(FILE *out, enum render_format format, const struct causal_result *result,
		   const struct experiments *experiments, const char *progress);

#endif
