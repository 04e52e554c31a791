/* A library that steered loads and unloads. */
#include <cpprof/profiler.h>

__attribute__((visibility("default"))) void plugged(void);

void plugged(void)
{
	CPPROF_FUNCTION;
}
