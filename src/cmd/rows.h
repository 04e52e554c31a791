/* The rows of the command table, by file. */
#ifndef CMD_ROWS_H
#define CMD_ROWS_H

#include "cmd/command.h"

extern const struct command command_record, command_top, command_control, command_trace, command_resources;
extern const struct command command_report, command_html, command_browse, command_explore, command_whatif,
	command_causal, command_diff, command_info, command_name, command_explain, command_mcp;
extern const struct command command_gprof;
extern const struct command command_instrument, command_cc, command_cxx, command_optimize, command_contextualize;
extern const struct command command_import, command_export, command_push, command_store, command_merge;
extern const struct command command_help, command_man, command_completion, command_complete;

#endif
