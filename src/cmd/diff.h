/* The options of `diff` that `regress` has too. */
#ifndef CMD_DIFF_H
#define CMD_DIFF_H

#include "cmd/command.h"
#include "cmd/view_options.h"
#include "reports/diff.h"

enum { OPTION_FAIL_ABOVE = OPTION_OWN, DIFF_OPTIONS_END };

/* Sets the lists to compare: of the report that the command line names, or the two default ones. Returns EXIT_DONE, or prints a message and
 * returns another status; so does the function below. */
int diff_choose_sections(const struct invocation *invocation, struct diff_request *request);

/* Sets `limit` to the value of --fail-above, if it is given: "5" or "5%" is 0.05. */
int diff_read_limit(const struct invocation *invocation, struct diff_request *request);

/* Sets `views` to one with these settings for each recording of both sides, in an array that the caller frees. Returns 0 or ERROR_MEMORY, with
 * `error` set. */
int diff_set_views(struct diff_request *request, const struct view_options *options, struct error *error);

#endif
