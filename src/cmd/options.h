/* One parser for the options of all commands. */
#ifndef CMD_OPTIONS_H
#define CMD_OPTIONS_H

#include "base/error.h"
#include "cmd/command.h"

/* Reads the words behind the command's name (argc of them) by its table:
 * --name=value, --name value, -nvalue, -n value (where the value may be left out: only -nvalue), -abc, and `--`, behind which
 * everything is an argument. -h and --help are every command's. The invocation's
 * pointers go into argv; invocation_release frees what is its own.
 * Returns 0, ERROR_USAGE or ERROR_MEMORY. */
int options_parse(struct invocation *invocation, int argc, char **argv, struct error *error);
void invocation_release(struct invocation *invocation);

#endif
