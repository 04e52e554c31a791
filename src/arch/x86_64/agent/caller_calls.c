/*
 * dlopen, dlmopen and dlsym depend on their caller: its search path, and its position in the list of loaded objects.
 * The functions that come before them therefore leave no frame.
 */
#include "processor/agent/stands_before.h"

STANDS_BEFORE("dlopen", "loading_by_dlopen");
STANDS_BEFORE("dlmopen", "loading_by_dlmopen");
STANDS_BEFORE("dlsym", "loading_by_dlsym");
