/*
 * A command's code, opened and its unwind tables built before it starts: a backend
 * that walks stacks itself needs them in the command's first moments, and reading a
 * C library takes a millisecond.
 */
#ifndef COLLECT_SAMPLE_STACKS_COMMAND_CODE_H
#define COLLECT_SAMPLE_STACKS_COMMAND_CODE_H

#include "collect/sample/state/modules.h"

/* The file `path` itself, its dynamic linker, and those of its libraries that we use
 * too, the C library for one. What cannot be read is left for later; nothing fails. */
void command_code_open(struct modules *modules, const char *path);

#endif
