/*
 * Functions whose addresses are taken: passed on, stored, compared. `cpprof report --lexical` shows them under the function that
 * took them. What is found is no edit: it stands behind the end of the copy, and becomes a section of the object file that no
 * program loads, of texts that end with a NUL:
 *
 *     "compare" "ns::sort_rows" "src/rows.c" "31"      what, in which function, and where
 */
#ifndef COLLECT_SOURCE_INSTRUMENT_TAKEN_H
#define COLLECT_SOURCE_INSTRUMENT_TAKEN_H

#include "base/buffer.h"
#include "collect/source/instrument/source_points.h"

/* Appends the addresses that instrumented functions of the main file have
 * taken. Called after the decisions. */
void taken_append(struct source_points *points, struct buffer *text);

#endif
