#include "base/time_unit.h"

#include <stddef.h>
#include <string.h>
#include <time.h>

uint64_t time_unit_ns(const char *unit)
{
	static const struct {
		const char *name;
		uint64_t ns;
	} units[] = { { "ns", 1 }, { "us", 1000 }, { "ms", 1000 * 1000 }, { "s", 1000 * 1000 * 1000 } };
	for (size_t i = 0; i < sizeof(units) / sizeof(units[0]); i++)
		if (strcmp(unit, units[i].name) == 0)
			return units[i].ns;
	return 0;
}

bool time_unix_ns(const struct timespec *time, int64_t *ns)
{
	static const int64_t NS_PER_S = 1000 * 1000 * 1000;
	return !__builtin_mul_overflow((int64_t)time->tv_sec, NS_PER_S, ns) &&
	       !__builtin_add_overflow(*ns, (int64_t)time->tv_nsec, ns);
}
