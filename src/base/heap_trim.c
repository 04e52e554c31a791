#include "base/heap_trim.h"

#include <malloc.h>

void heap_trim(void)
{
	malloc_trim(0);
}
