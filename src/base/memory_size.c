#include "base/memory_size.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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

bool memory_size_read(const char *text, uint64_t *bytes)
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

const char *memory_size_text(uint64_t bytes, char *text)
{
	size_t unit = 0;
	while (unit < UNITS && bytes < units[unit].bytes)
		unit++;
	if (unit == UNITS)
		snprintf(text, MEMORY_SIZE_TEXT_BYTES, "%" PRIu64 " bytes", bytes);
	else
		snprintf(text, MEMORY_SIZE_TEXT_BYTES, "%.4g %ciB", (double)bytes / (double)units[unit].bytes,
			 units[unit].letter);
	return text;
}
