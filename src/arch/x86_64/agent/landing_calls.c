/* Where jumps lead: interpose/landings.c is told, and is gone before the C library looks where it was called. */
#include "processor/agent/stands_before.h"

STANDS_BEFORE("setjmp", "landing_by_setjmp");
STANDS_BEFORE("_setjmp", "landing_by__setjmp");
STANDS_BEFORE("__sigsetjmp", "landing_by___sigsetjmp");
