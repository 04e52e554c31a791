/* Executions of source lines, for annotated source and execution counts. Blocks are counted only with -l, as in
 * gprof. A block belongs to the symbol in which it begins. */
#ifndef GPROF_EXECUTIONS_H
#define GPROF_EXECUTIONS_H

#include "gprof/print.h"

/* The blocks that begin in a symbol, by address; none without -l. They point into the memory of the gmon. */
struct executions {
	const struct gmon_block *blocks;
	size_t count;
};
struct executions executions_of(const struct gprof_report *report, uint32_t symbol);

/* Whether a symbol's first block begins with its first instruction, so that all of its code belongs to its own
 * blocks. */
bool executions_begin(const struct gprof_report *report, uint32_t symbol);

/* Returns the block that begins before a symbol and continues into it, within one function. In front of a function's
 * first block it is that first block, because the compiler puts its hook behind the function's first instructions.
 * Returns NULL if there is none. */
const struct gmon_block *executions_around(const struct gprof_report *report, uint32_t symbol);

#endif
