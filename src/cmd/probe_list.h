/* What the instrumenter found in sources, and what became of it: as lines of text, JSON or CSV. */
#ifndef CMD_PROBE_LIST_H
#define CMD_PROBE_LIST_H

#include <stdio.h>

#include "cmd/command.h"
#include "collect/source/instrument/instrument.h"
#include "collect/source/instrument/selection.h"

enum place_format { PLACE_TEXT, PLACE_JSON, PLACE_CSV };

struct place_list {
	FILE *out;
	enum place_format format;
	size_t row_count, instrumented_count, skipped_count, failed_count;
};

void place_list_open(struct place_list *list);
/* A file's places. `failure`: why the file is left as it is; NULL: it is not. */
void place_list_add(struct place_list *list, const char *source, const struct instrument_result *result,
		    const char *failure);
/* With a last line that counts, in text. */
void place_list_close(struct place_list *list);

/* The selection of --select, --rule and --headers, of these option ids, and of the files that the environment names. NULL:
 * the reason was said, and *status is the exit status. */
struct selection *place_selection(const struct invocation *invocation, int id_select, int id_rule, int id_headers,
				  int *status);

#endif
