/* Reports as options of `report` and `diff`: the rows come from reports/reports.c. */
#ifndef CMD_REPORT_OPTIONS_H
#define CMD_REPORT_OPTIONS_H

#include "cmd/command.h"
#include "reports/report.h"

/* The id of a report's option is this plus the report's index. */
enum { OPTION_REPORT = 1000 };

/* Number of rows for the options of all reports, `own` others and the last, empty row. */
#define REPORT_OPTION_ROWS(own) (REPORTS_MAX + sizeof(own) / sizeof((own)[0]))

/* Fills in `rows` [REPORT_OPTION_ROWS(own)]: the options of the reports that `offers` accepts, the first with the
 * help text `first_help`, then `own`, ended by a row without a name. Returns `rows`. */
const struct command_option *report_options_fill(struct command_option *rows, bool (*offers)(const struct report *),
						 const char *first_help, const struct command_option *own);

/* Returns the heading above an option in help: "reports" above the first report, "options" above the first other
 * option, NULL above the rest. `option` is a row of `options`. */
const char *report_options_heading(const struct command_option *options, const struct command_option *option);

/* Returns the report with an option's id, or NULL if the option is not a report. */
const struct report *report_of_option(int id);

#endif
