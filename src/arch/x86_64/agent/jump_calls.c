/* Jumps that leave frames behind. These functions pass the destination to interpose/jumps.c, and have left the stack
 * before the jump. */
#include "processor/agent/stands_before.h"

STANDS_BEFORE("longjmp", "jumping_by_longjmp");
STANDS_BEFORE("_longjmp", "jumping_by__longjmp");
STANDS_BEFORE("siglongjmp", "jumping_by_siglongjmp");
STANDS_BEFORE("__longjmp_chk", "jumping_by___longjmp_chk");
