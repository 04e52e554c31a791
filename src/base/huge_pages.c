#include "base/huge_pages.h"

#include <errno.h>
#include <malloc.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>

/* Below a few of them, the calls cost more than the faults. */
enum { HUGE_PAGE = 2 * 1024 * 1024, PAGES_LEAST = 2 };
/* Clearing one huge page takes about as long as 256 page faults, and a tenth of that where faults are dear. */
enum { NEW_LEAST = 1024 * 1024 };

/* `memory` is aligned to huge pages, and `bytes` are whole huge pages. */
static void advise(char *memory, size_t bytes)
{
	int number = errno;
	madvise(memory, bytes, MADV_HUGEPAGE);
	errno = number;
}

void huge_pages_advise(void *memory, size_t bytes)
{
	size_t lead = -(uintptr_t)memory & (HUGE_PAGE - 1);
	if (memory && bytes >= lead && (bytes - lead) / HUGE_PAGE >= PAGES_LEAST)
		advise((char *)memory + lead, (bytes - lead) / HUGE_PAGE * HUGE_PAGE);
}

static size_t whole_pages(size_t bytes)
{
	return (bytes + HUGE_PAGE - 1) & ~(size_t)(HUGE_PAGE - 1);
}

void *huge_pages_new(size_t bytes)
{
	if (bytes < NEW_LEAST)
		return calloc(1, bytes ? bytes : 1);
	if (bytes > SIZE_MAX / 2)
		return NULL;
	/* Kernels before 6.7 do not align large mappings, so we map a huge page more and return
	 * what is outside of the whole huge pages. */
	size_t size = whole_pages(bytes), all = size + HUGE_PAGE;
	char *mapped = mmap(NULL, all, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (mapped == MAP_FAILED)
		return NULL;
	size_t lead = -(uintptr_t)mapped & (HUGE_PAGE - 1);
	if (lead > 0)
		munmap(mapped, lead);
	munmap(mapped + lead + size, HUGE_PAGE - lead);
	advise(mapped + lead, size);
	return mapped + lead;
}

void huge_pages_free(void *memory, size_t bytes)
{
	if (bytes < NEW_LEAST)
		free(memory);
	else if (memory)
		munmap(memory, whole_pages(bytes));
}

void huge_pages_keep_freed(void)
{
	enum { BYTES = 32 << 20 };
	mallopt(M_MMAP_THRESHOLD, BYTES);
	mallopt(M_TRIM_THRESHOLD, 2 * BYTES);
}
