#include "base/plural.h"

#include <stddef.h>
#include <string.h>

#include "base/time_unit.h"

const char *plural_ending(const char *noun, double amount)
{
	size_t length = strlen(noun);
	if (amount == 1 || length == 0 || time_unit_ns(noun) > 0)
		return "";
	const char *last = noun + length - 1;
	if (*last == 's' || *last == 'x' || (*last == 'h' && length > 1 && (last[-1] == 'c' || last[-1] == 's')))
		return "es";
	return "s";
}
