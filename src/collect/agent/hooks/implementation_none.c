/* For a statically linked program, which loads no libraries. */
#include "collect/agent/hooks/implementation.h"

bool implementation_is_named(const char *value)
{
	(void)value;
	return false;
}

void implementation_finish(void)
{
}

void implementation_forked(void)
{
}
