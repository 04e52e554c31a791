/* The texts of causes. */
#include "unwind/cause.h"

#include <stdint.h>

const char *unwind_cause_text(enum unwind_cause cause)
{
	static const char *const texts[] = {
#define X(name, kind, text) text,
		UNWIND_CAUSE_LIST(X)
#undef X
	};
	return (unsigned)cause < UNWIND_CAUSE_COUNT ? texts[cause] : "an unknown cause";
}

enum unwind_cause_kind unwind_cause_kind(enum unwind_cause cause)
{
	static const uint8_t kinds[] = {
#define X(name, kind, text) kind,
		UNWIND_CAUSE_LIST(X)
#undef X
	};
	return (unsigned)cause < UNWIND_CAUSE_COUNT ? kinds[cause] : CAUSE_BROKEN;
}
