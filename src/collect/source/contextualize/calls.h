/* The calls in a function, and the uses of its parameters. */
#ifndef COLLECT_SOURCE_CONTEXTUALIZE_CALLS_H
#define COLLECT_SOURCE_CONTEXTUALIZE_CALLS_H

#include "collect/source/contextualize/program.h"

/* Fills in calls, uses, is_modified and, if a static variable of the function forbids a copy, the refusal. The code of
 * lambdas is left out. Sets program->error. */
void calls_take(struct program *program, struct program_function *function, CXCursor body);

#endif
