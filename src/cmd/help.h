/* Help, printed from the command table. */
#ifndef CMD_HELP_H
#define CMD_HELP_H

#include <stdio.h>

#include "cmd/command.h"

void help_print_overview(FILE *out);
void help_print_command(FILE *out, const struct command *command);

#endif
