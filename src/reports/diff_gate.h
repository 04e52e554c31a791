/* The end of a comparison with a gate, and a comparison as Markdown. */
#ifndef REPORTS_DIFF_GATE_H
#define REPORTS_DIFF_GATE_H

#include "render/render.h"

/* Returns the number of entries that exceed the limit of the gate (diff_gate). */
size_t render_exceeding(const struct results *results);

/* Ends a document instead of render_end: prints the entries that exceed `limit` (0.05: 5 %). In JSON, they are the member "gate". */
void render_gate_end(struct render_document *document, const struct results *results, double limit);

/* Prints a comparison for a comment on a web page: a table of the totals, and one of the marked entries that reach
 * options->threshold, at most options->limit of each result. `limit`: as above; NAN: there is no gate. */
void render_diff_markdown(FILE *out, const struct results *results, double limit, const struct render_options *options);

#endif
