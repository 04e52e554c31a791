/* parallel.h where there are no threads: in the page. */
#include "base/parallel.h"

void parallel_run(void (*work)(void *item), void *items, size_t count, size_t bytes)
{
	for (size_t i = 0; i < count; i++)
		work((char *)items + i * bytes);
}
