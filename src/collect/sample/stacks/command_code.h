/*
 * Opens a command's code and builds its unwind tables before the command starts. A backend that unwinds
 * stacks itself needs them in the command's first moments, and reading a C library takes a millisecond.
 */
#ifndef COLLECT_SAMPLE_STACKS_COMMAND_CODE_H
#define COLLECT_SAMPLE_STACKS_COMMAND_CODE_H

#include "collect/sample/state/modules.h"

/* Opens the file `path`, its dynamic linker, and its libraries that we use too, such as the C
 * library. A file that cannot be read is no error; it is opened later. */
void command_code_open(struct modules *modules, const char *path);

#endif
