/* A program that is linked statically loads nothing. */
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
