/* Units of the program's own resources, which the program declares while it runs. */
#include <string.h>

#include "collect/agent/hooks/hooks.h"

void hooks_unit_declared(uint32_t request, const char *unit, size_t bytes)
{
	if (!hooks.header || request >= TALLY_REQUESTS || bytes == 0)
		return;
	struct tally_request *declared = &hooks.header->requests[request];
	uint8_t undeclared = 0;
	if (!__atomic_compare_exchange_n(&declared->has_unit, &undeclared, 1, false, __ATOMIC_ACQ_REL,
					 __ATOMIC_RELAXED))
		return;
	char text[sizeof(declared->unit)] = "";
	memcpy(text, unit, bytes < sizeof(text) ? bytes : sizeof(text) - 1);
	memcpy(declared->unit, text, sizeof(text));
}
