#include "base/memory_limit.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/memory_size.h"

static uint64_t limit_bytes; /* 0: none */

/* Returns the bytes that the kernel counts for the limit already. A build with sanitizers maps
 * terabytes at its start. Without /proc, returns 0. */
static uint64_t bytes_in_use(void)
{
	uint64_t pages = 0;
	FILE *file = fopen("/proc/self/statm", "re");
	/* size resident shared text lib data+stack */
	if (file && fscanf(file, "%*u %*u %*u %*u %*u %" SCNu64, &pages) != 1)
		pages = 0;
	if (file)
		fclose(file);
	return pages * (uint64_t)sysconf(_SC_PAGESIZE);
}

int memory_limit_set(uint64_t bytes, struct error *error)
{
	struct rlimit limit;
	limit_bytes = 0;
	if (bytes == 0)
		return 0;
	if (getrlimit(RLIMIT_DATA, &limit) < 0)
		return error_set_errno(error, "cannot read the limit of memory");
	uint64_t wanted = bytes_in_use() + bytes;
	/* A lower limit of the user's stays. */
	if (limit.rlim_cur != RLIM_INFINITY && wanted >= limit.rlim_cur)
		return 0;
	limit.rlim_cur = wanted;
	if (setrlimit(RLIMIT_DATA, &limit) < 0)
		return error_set_errno(error, "cannot limit memory (--memory 0 runs without a limit)");
	limit_bytes = bytes;
	return 0;
}

uint64_t memory_limit(void)
{
	return limit_bytes;
}

void memory_limit_explain(struct error *error)
{
	size_t length = strlen(error->message);
	char text[MEMORY_SIZE_TEXT_BYTES];
	if (error->code != ERROR_MEMORY || limit_bytes == 0)
		return;
	if (length == 0)
		length = (size_t)snprintf(error->message, sizeof(error->message), "%s", error_text(error->code));
	snprintf(error->message + length, sizeof(error->message) - length,
		 ": the limit is %s (--memory SIZE raises it)", memory_size_text(limit_bytes, text));
}
