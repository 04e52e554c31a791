/* Destinations of jumps. These functions call interpose/landings.c, and have left the stack before the C library
 * saves the caller's registers. */
#include "processor/agent/stands_before.h"

STANDS_BEFORE("setjmp", "landing_by_setjmp");
STANDS_BEFORE("_setjmp", "landing_by__setjmp");
STANDS_BEFORE("__sigsetjmp", "landing_by___sigsetjmp");
