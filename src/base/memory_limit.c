#include "base/memory_limit.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

static uint64_t limit_bytes; /* 0: none */

static const struct {
	char letter;
	uint64_t bytes;
} units[] = {
	{ 'T', UINT64_C(1) << 40 }, { 'G', UINT64_C(1) << 30 }, { 'M', UINT64_C(1) << 20 }, { 'K', UINT64_C(1) << 10 }
};
enum { UNITS = sizeof(units) / sizeof(units[0]) };

/* Returns the bytes of a unit, or 0 if the text is no unit. */
static uint64_t unit_bytes(const char *text)
{
	if (!*text)
		return 1;
	if (strcmp(text + 1, "") != 0 && strcmp(text + 1, "B") != 0 && strcmp(text + 1, "iB") != 0)
		return 0;
	for (size_t i = 0; i < UNITS; i++)
		if (*text == units[i].letter || (*text == 'k' && units[i].letter == 'K'))
			return units[i].bytes;
	return 0;
}

bool memory_limit_read(const char *text, uint64_t *bytes)
{
	static const double most = 1e18;
	size_t digits = strspn(text, "0123456789.");
	if (digits == 0 || text[0] == '.')
		return false;
	char *end;
	double number = strtod(text, &end);
	uint64_t unit = end == text + digits ? unit_bytes(end) : 0;
	if (unit == 0 || !isfinite(number) || number * (double)unit > most)
		return false;
	*bytes = (uint64_t)(number * (double)unit);
	return true;
}

/* Returns the bytes that the kernel counts for the limit already. A build with sanitizers maps terabytes at its start. Without
 * /proc, returns 0. */
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

const char *memory_text(uint64_t bytes, char *text)
{
	size_t unit = 0;
	while (unit < UNITS && bytes < units[unit].bytes)
		unit++;
	if (unit == UNITS)
		snprintf(text, MEMORY_TEXT_BYTES, "%" PRIu64 " bytes", bytes);
	else
		snprintf(text, MEMORY_TEXT_BYTES, "%.4g %ciB", (double)bytes / (double)units[unit].bytes,
			 units[unit].letter);
	return text;
}

void memory_limit_explain(struct error *error)
{
	size_t length = strlen(error->message);
	char text[MEMORY_TEXT_BYTES];
	if (error->code != ERROR_MEMORY || limit_bytes == 0)
		return;
	if (length == 0)
		length = (size_t)snprintf(error->message, sizeof(error->message), "%s", error_text(error->code));
	snprintf(error->message + length, sizeof(error->message) - length,
		 ": the limit is %s (--memory SIZE raises it)", memory_text(limit_bytes, text));
}
