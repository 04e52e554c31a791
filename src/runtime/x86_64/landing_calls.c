/* Where jumps lead: calls_landings.c is told, and is gone before the C library looks where it was called. */
#include "runtime/x86_64/stands_before.h"

STANDS_BEFORE("setjmp", "landing_by_setjmp");
STANDS_BEFORE("_setjmp", "landing_by__setjmp");
STANDS_BEFORE("__sigsetjmp", "landing_by___sigsetjmp");
