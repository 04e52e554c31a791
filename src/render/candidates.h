/* Prints the call paths that deserve functions of their own (analyze/candidates.h). */
#ifndef RENDER_CANDIDATES_H
#define RENDER_CANDIDATES_H

#include <stdio.h>

#include "analyze/candidates.h"
#include "render/render.h"

/* Prints the best `options->limit` paths (0: all). The caller checks the stream. */
void render_candidates(FILE *out, const struct render_options *options, const struct view *view,
		       const struct candidate_list *list);

#endif
