/* A program that is linked statically loads nothing. */
#include "runtime/implementation.h"

void implementation_finish(void)
{
}

void implementation_forked(void)
{
}
