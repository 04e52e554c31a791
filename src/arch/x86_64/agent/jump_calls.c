/* Jumps that leave frames behind: interpose/jumps.c is told where they go, and is gone before they do. */
#include "processor/agent/stands_before.h"

STANDS_BEFORE("longjmp", "jumping_by_longjmp");
STANDS_BEFORE("_longjmp", "jumping_by__longjmp");
STANDS_BEFORE("siglongjmp", "jumping_by_siglongjmp");
STANDS_BEFORE("__longjmp_chk", "jumping_by___longjmp_chk");
