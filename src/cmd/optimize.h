/* An option that `optimize` and `contextualize` share. */
#ifndef CMD_OPTIMIZE_H
#define CMD_OPTIMIZE_H

#include <stdbool.h>
#include <stddef.h>

/* Reads the value of --turns. Returns false if it is not a number of runs: then print OPTIMIZE_TURNS_ERROR, with the text. */
bool optimize_read_turns(const char *text, size_t *turns);
#define OPTIMIZE_TURNS_ERROR "'%s' is not a number of runs (--turns 10; from 2 to 1000)"

#endif
