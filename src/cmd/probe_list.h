/* What the instrumenter found in sources, and what became of it: as lines of text, JSON or CSV. */
#ifndef CMD_PROBE_LIST_H
#define CMD_PROBE_LIST_H

#include <stdio.h>

#include "cmd/command.h"
#include "collect/source/instrument/instrument.h"
#include "collect/source/instrument/selection.h"

enum probe_list_format { PROBE_LIST_TEXT, PROBE_LIST_JSON, PROBE_LIST_CSV };

struct probe_list {
	FILE *out;
	enum probe_list_format format;
	size_t row_count, instrumented_count, skipped_count, failed_count;
};

void probe_list_open(struct probe_list *list);
/* A file's probe points. `failure`: why the file is left as it is; NULL: it is not. */
void probe_list_add(struct probe_list *list, const char *source, const struct instrument_result *result,
		    const char *failure);
/* With a last line that counts, in text. */
void probe_list_close(struct probe_list *list);

/* The selection of --select, --rule and --headers, of these option ids, and of the files that the environment names. NULL:
 * the reason was said, and *status is the exit status. */
struct selection *probe_selection(const struct invocation *invocation, int id_select, int id_rule, int id_headers,
				  int *status);

#endif
