/*
 * The commands that the summary of `cpprof report` proposes: those that fit the profile, the most urgent first.
 *
 * Life cycle: next_commands_init, next_commands_release (also after an error).
 */
#ifndef REPORTS_SUMMARY_NEXT_H
#define REPORTS_SUMMARY_NEXT_H

#include "render/emit.h"

enum { NEXT_COMMANDS_MOST = 4 };

struct next_commands {
	char *texts[NEXT_COMMANDS_MOST];    /* each with its end of line */
	size_t heights[NEXT_COMMANDS_MOST]; /* lines of the terminal that each takes */
	size_t count;
};

/* `separator` stands between a command and its reason; control characters, such as a tab, are in neither. Returns 0 or ERROR_MEMORY. */
int next_commands_init(struct next_commands *next, const struct result *result, const struct render_options *options,
		       const char *separator);
void next_commands_release(struct next_commands *next);

#endif
