/* Executions of source lines: shared by annotated source and execution counts.
 * Blocks are counted only with -l, as in gprof. A block belongs to the symbol
 * that it begins in. */
#ifndef GPROF_EXECUTIONS_H
#define GPROF_EXECUTIONS_H

#include "gprof/print.h"

/* The blocks that begin in a symbol, by address; none without -l. Into the gmon's own memory. */
struct executions {
	const struct gmon_block *blocks;
	size_t count;
};
struct executions executions_of(const struct gprof_report *report, uint32_t symbol);

/* Whether all that a symbol runs is of blocks that begin in it: the first of them begins with its first instruction. */
bool executions_begin(const struct gprof_report *report, uint32_t symbol);

/* The block that runs on into a symbol from before it, within the same function; in front of its first block that one, whose
 * hook the compiler has put behind the function's beginning. NULL: not known. */
const struct gmon_block *executions_around(const struct gprof_report *report, uint32_t symbol);

#endif
