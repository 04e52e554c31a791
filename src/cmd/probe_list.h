/* Lists the probe points in sources, instrumented or skipped: as lines of text,
 * JSON or CSV. */
#ifndef CMD_PROBE_LIST_H
#define CMD_PROBE_LIST_H

#include <stdio.h>

#include "cmd/command.h"
#include "collect/source/instrument/instrument.h"
#include "collect/source/instrument/selection.h"
#include "render/render.h"

struct probe_list {
	FILE *out;
	enum render_format format;
	size_t row_count, instrumented_count, skipped_count, failed_count;
};

void probe_list_open(struct probe_list *list);
/* A file's probe points. `failure`: why the file is left as it is; NULL: it is not. */
void probe_list_add(struct probe_list *list, const char *source, const struct instrument_result *result,
		    const char *failure);
/* With a last line that counts, in text. */
void probe_list_close(struct probe_list *list);

/* Reads the instrumentation filter of the options --select, --rule and
 * --headers, with these ids, and of the files in the environment. Returns NULL
 * after a message, with the exit status in *status. */
struct selection *probe_selection(const struct invocation *invocation, int id_select, int id_rule, int id_headers,
				  int *status);

#endif
