/*
 * Exports what CPython exports, of the version VERSION, with structures that are all zero: a version that cpprof does not know, or one that it knows
 * in a state that it cannot walk. Half of the work is below the function that interprets.
 */
#include <stdint.h>

#include "burn.h"

#define EXPORTED __attribute__((visibility("default"), used))

EXPORTED const uint32_t Py_Version = VERSION;
EXPORTED uint64_t _PyRuntime[4096];
EXPORTED uint64_t PyCode_Type[64];

NOINLINE static void work(void)
{
	burn(20000);
	NOT_A_TAIL_CALL();
}

EXPORTED NOINLINE void _PyEval_EvalFrameDefault(void)
{
	work();
	NOT_A_TAIL_CALL();
}

NOINLINE static void directly(void)
{
	work();
	NOT_A_TAIL_CALL();
}

int main(void)
{
	_PyEval_EvalFrameDefault();
	directly();
	share("main;_PyEval_EvalFrameDefault;work", 0.5);
	share("main;directly;work", 0.5);
	return 0;
}
