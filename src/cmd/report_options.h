/* Reports as options of `report` and `diff`: the rows come from reports/reports.c. */
#ifndef CMD_REPORT_OPTIONS_H
#define CMD_REPORT_OPTIONS_H

#include "cmd/command.h"
#include "reports/report.h"

/* The id of a report's option: this and the report's number. */
enum { OPTION_REPORT = 1000 };

/* Room for the options of all reports and `own` others, with the last, empty row. */
#define REPORT_OPTION_ROWS(own) (REPORTS_MAX + sizeof(own) / sizeof((own)[0]))

/* Fills in `rows` (REPORT_OPTION_ROWS(own) of them): the options of those reports
 * that `offers` chooses, the first with a help of the command's own, then `own`,
 * ended by a row without a name. Returns `rows`. */
const struct command_option *report_options_fill(struct command_option *rows, bool (*offers)(const struct report *),
						 const char *first_help, const struct command_option *own);

/* The heading above an option in help: "reports" above the first report, "options"
 * above the first other one; NULL above the rest. `option` is a row of `options`. */
const char *report_options_heading(const struct command_option *options, const struct command_option *option);

/* The report of an option's id; NULL: the option is no report. */
const struct report *report_of_option(int id);

#endif
