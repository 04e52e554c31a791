/* The parser for the options of all commands. */
#ifndef CMD_OPTIONS_H
#define CMD_OPTIONS_H

#include "base/error.h"
#include "cmd/command.h"

/* Reads the `argc` words behind the command's name by the command's table: --name=value, --name value, -nvalue, -n
 * value (not if the value is optional: only -nvalue), -abc, and `--`, behind which all words are arguments. Every
 * command has -h and --help. The invocation points into argv; invocation_release frees what it owns. Returns 0,
 * ERROR_USAGE or ERROR_MEMORY. */
int options_parse(struct invocation *invocation, int argc, char **argv, struct error *error);
void invocation_release(struct invocation *invocation);

#endif
