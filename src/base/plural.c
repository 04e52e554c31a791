#include "base/plural.h"

#include <stddef.h>
#include <string.h>

static int is_time(const char *noun)
{
	static const char *const units[] = { "ns", "us", "ms", "s" };
	for (size_t i = 0; i < sizeof(units) / sizeof(units[0]); i++)
		if (strcmp(noun, units[i]) == 0)
			return 1;
	return 0;
}

const char *plural_ending(const char *noun, double amount)
{
	size_t length = strlen(noun);
	if (amount == 1 || length == 0 || is_time(noun))
		return "";
	const char *last = noun + length - 1;
	if (*last == 's' || *last == 'x' || (*last == 'h' && length > 1 && (last[-1] == 'c' || last[-1] == 's')))
		return "es";
	return "s";
}
