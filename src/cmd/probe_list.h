/* Lists the probe points in sources, instrumented or skipped, as text, JSON or CSV. */
#ifndef CMD_PROBE_LIST_H
#define CMD_PROBE_LIST_H

#include <stdio.h>

#include "cmd/command.h"
#include "collect/source/instrument/instrument.h"
#include "collect/source/instrument/selection.h"
#include "render/emit.h"

struct probe_list {
	FILE *out;
	enum render_format format;
	struct sheet sheet; /* of JSON and CSV */
	size_t instrumented_count, skipped_count, failed_count;
};

void probe_list_open(struct probe_list *list);
/* Adds the probe points of a file. `failure` is the reason why the file was not instrumented, or NULL. */
void probe_list_add(struct probe_list *list, const char *source, const struct instrument_result *result,
		    const char *failure);
/* Ends the list; text and JSON end with the numbers of probe points. */
void probe_list_close(struct probe_list *list);

/* Reads the instrumentation filter of the options --select, --rule and --headers, which have these ids, and of the
 * file in the environment variable CPPROF_SELECT. On failure, prints a message, sets *status to the exit status and
 * returns NULL. */
struct selection *probe_selection(const struct invocation *invocation, int id_select, int id_rule, int id_headers,
				  int *status);

#endif
