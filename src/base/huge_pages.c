#include "base/huge_pages.h"

#include <errno.h>
#include <stdint.h>
#include <sys/mman.h>

/* Below a few of them, the calls cost more than the faults. */
enum { HUGE_PAGE = 2 * 1024 * 1024, PAGES_LEAST = 2 };

void huge_pages_advise(void *memory, size_t bytes)
{
	size_t lead = -(uintptr_t)memory & (HUGE_PAGE - 1);
	if (!memory || bytes < lead || (bytes - lead) / HUGE_PAGE < PAGES_LEAST)
		return;
	int number = errno;
	madvise((char *)memory + lead, (bytes - lead) / HUGE_PAGE * HUGE_PAGE, MADV_HUGEPAGE);
	errno = number;
}
