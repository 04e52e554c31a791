/* The rows of a digest, by section. Private to digest.c and digest_rows.c. */
#ifndef REPORTS_DIGEST_ROWS_H
#define REPORTS_DIGEST_ROWS_H

#include "analyze/short_names.h"
#include "render/render.h"

enum digest_section {
	DIGEST_RECORDED,
	DIGEST_QUALITY,
	DIGEST_FINDINGS,
	DIGEST_FUNCTIONS,
	DIGEST_PATH,
	DIGEST_LINES,
	DIGEST_RESOURCES,
	DIGEST_PROCESSES,
	DIGEST_NEXT,
	DIGEST_SECTIONS,
};

enum { DIGEST_ROWS = 10 };

/* A row without its separator: a line without a newline, or a JSON object. */
struct digest_row {
	char *text; /* owned */
	size_t size;
};

struct digest {
	const struct results *results;
	const struct render_options *options;
	struct short_names *names; /* of the first result's view */
	bool json;
	struct digest_row rows[DIGEST_SECTIONS][DIGEST_ROWS];
	size_t counts[DIGEST_SECTIONS];
	size_t beyond; /* rows that DIGEST_ROWS leaves out */
	bool failed;   /* memory is exhausted */
};

/* Makes the rows of all sections. The caller releases them. */
void digest_make_rows(struct digest *digest);

#endif
