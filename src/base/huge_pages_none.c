#include "base/huge_pages.h"

void huge_pages_advise(void *memory, size_t bytes)
{
	(void)memory;
	(void)bytes;
}

void huge_pages_keep_freed(void)
{
}
