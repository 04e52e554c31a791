/* The rows of the command table, by file. */
#ifndef CMD_ROWS_H
#define CMD_ROWS_H

#include "cmd/command.h"

extern const struct command command_record, command_top, command_control, command_trace, command_resources;
extern const struct command command_report, command_html, command_browse, command_explore, command_whatif, command_diff,
	command_info, command_name;
extern const struct command command_gprof;
extern const struct command command_instrument, command_cc, command_cxx, command_optimize;
extern const struct command command_import, command_export;
extern const struct command command_help, command_man, command_completion;

#endif
