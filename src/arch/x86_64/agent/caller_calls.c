/*
 * dlopen, dlmopen and dlsym look at who calls them: its search path, its place among the
 * loaded objects. So what stands before them is none of their callers.
 */
#include "processor/agent/stands_before.h"

STANDS_BEFORE("dlopen", "loading_by_dlopen");
STANDS_BEFORE("dlmopen", "loading_by_dlmopen");
STANDS_BEFORE("dlsym", "loading_by_dlsym");
